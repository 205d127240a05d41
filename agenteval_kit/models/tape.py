"""The tape: every reply that was paid for, kept before it is used, and never paid for again.

May not ask a model: `Taped` hands on to one that does. Failures are never taped.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import Appender, digest
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest

__all__ = ["Tape", "TapeModel", "Taped"]

_HEAD = b'{"digest":"'
_PARTS = ("model", "endpoint", "messages", "tools", "schema", "parameters", "seat", "repeat",
          "order", "attempt")  # fmt: skip


class Tape:
    """Replies by request digest, on an append-only file.

    Parameters
    ----------
    path : pathlib.Path
        ``calls.jsonl`` of a run, or a shipped recording; made on the first `put` if missing.
    max_age : datetime.timedelta, optional
        Replies older than this are asked for again.
    fresh : bool
        Whether everything that stood here before is asked for again (new samples); what is put
        from now on is served.

    Attributes
    ----------
    warnings : list of str
        What a person should know: a torn last line.

    Notes
    -----
    A row is ``{"digest", "model", "reply", "usage", "seconds", "at", "parts"}``. `parts` says
    what the request was made of, messages and schema as digests, so that a miss can say what
    differs. Only the places of rows are held in memory. Safe to use from several threads; two
    processes need the run's lock.
    """

    def __init__(
        self, path: str | Path, *, max_age: timedelta | None = None, fresh: bool = False
    ) -> None:
        self.path = Path(path)
        self.warnings: list[str] = []
        self.max_age = max_age
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._appender: Appender | None = None
        self._reader: int | None = None
        # A suite may freeze the process clock; the monotonic clock goes on.
        self._opened = datetime.now(UTC)
        self._ticks = time.monotonic()
        if not fresh:
            self._places = dict(self._index())

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def get(self, key: str) -> ChatReply | None:
        """The reply to the request of that digest, marked `from_tape`; None if there is none.

        Raises
        ------
        ConfigError
            If the row was damaged.
        """
        with self._lock:
            place = self._places.get(key)
            if place is None:
                return None
            row = self._row(*place)
        if self.max_age is not None and self._too_old(row):
            return None
        return _read_reply(row)

    def put(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep a reply; it is on disk when this returns.

        Raises
        ------
        OSError
            If the disk is full; then the reply is not to be used either.
        """
        self.put_many([(request, reply, request.digest())])

    def put_many(self, replies: Iterable[tuple[ChatRequest, ChatReply, str]]) -> None:
        """Keep several replies in one write: request, reply, and the request's digest.

        Raises
        ------
        OSError
            If the disk is full.
        """
        lines: list[tuple[str, str]] = []
        for request, reply, key in replies:
            # Escaped: a lone surrogate in a reply comes back as it was.
            lines.append((key, json.dumps(self._made_row(key, request, reply), allow_nan=False,
                                          separators=(",", ":"))))  # fmt: skip
        if not lines:
            return
        with self._lock:
            if self._appender is None:
                self._appender = Appender(self.path, sync=True)
            start = self.path.stat().st_size if self.path.exists() else 0
            try:
                self._appender.append_lines(line for _, line in lines)
            except OSError:
                # Half a line may stand there now; opening anew cuts it off.
                self._appender.close()
                self._appender = None
                raise
            for key, line in lines:
                self._places[key] = (start, len(line))
                start += len(line) + 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows that count, in the order in which they were asked for first."""
        for place in list(self._places.values()):
            with self._lock:
                row = self._row(*place)
            yield row

    def close(self) -> None:
        """Close the file; it opens again when needed."""
        with self._lock:
            if self._appender is not None:
                self._appender.close()
            if self._reader is not None:
                os.close(self._reader)
                self._reader = None

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_lock"):
            self.close()

    def _index(self) -> Iterator[tuple[str, tuple[int, int]]]:
        if not self.path.exists():
            return
        at = 0
        with self.path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                start, at = at, at + len(raw)
                if not raw.strip():
                    continue
                key = raw[len(_HEAD) : len(_HEAD) + 12] if raw.startswith(_HEAD) else b""
                whole = raw.endswith(b"\n")
                if whole and len(key) == 12 and raw[len(_HEAD) + 12 : len(_HEAD) + 13] == b'"':
                    yield key.decode("ascii", "replace"), (start, len(raw))
                    continue
                try:
                    row = json.loads(raw.decode("utf-8-sig"))
                    yield str(row["digest"]), (start, len(raw))
                except (ValueError, KeyError, TypeError):
                    if not whole:
                        self.warnings.append(
                            f"{self.path}:{number}: the last line was torn and is dropped"
                        )
                        continue
                    raise ConfigError(
                        Problem(
                            "is no row of a tape; restore the file, or remove the line to ask "
                            "for that reply again",
                            str(self.path),
                            number,
                        )
                    ) from None

    def _row(self, start: int, length: int) -> dict[str, Any]:
        if self._reader is None:
            self._reader = os.open(self.path, os.O_RDONLY)
        raw = os.pread(self._reader, length, start)
        try:
            row = json.loads(raw.decode("utf-8-sig"))
            row["reply"]["message"], row["digest"]
        except (ValueError, KeyError, TypeError):
            raise ConfigError(
                Problem(
                    f"the row at byte {start} is damaged; restore the file, or remove the line to "
                    "ask for that reply again",
                    str(self.path),
                )
            ) from None
        assert isinstance(row, dict)
        return row

    def _made_row(self, key: str, request: ChatRequest, reply: ChatReply) -> dict[str, Any]:
        return {
            "digest": key,
            "model": request.model,
            "reply": {
                "message": reply.message,
                "finish": reply.finish,
                "model": reply.model,
                "notes": list(reply.notes),
            },
            "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
            "seconds": None if reply.seconds is None else round(reply.seconds, 4),
            "at": self._now().isoformat(timespec="seconds"),
            "parts": _parts(request),
        }

    def _now(self) -> datetime:
        return self._opened + timedelta(seconds=time.monotonic() - self._ticks)

    def _too_old(self, row: dict[str, Any]) -> bool:
        try:
            at = datetime.fromisoformat(row["at"])
        except (KeyError, TypeError, ValueError):
            return True
        assert self.max_age is not None
        return self._now() - at > self.max_age


def _read_reply(row: dict[str, Any]) -> ChatReply:
    reply, usage = row["reply"], row.get("usage") or {}
    return ChatReply(
        message=reply["message"],
        finish=reply.get("finish"),
        model=reply.get("model"),
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        seconds=row.get("seconds"),
        from_tape=True,
        notes=tuple(reply.get("notes") or ()),
    )


def _parts(request: ChatRequest) -> dict[str, Any]:
    """What the request was made of: short things as they are, long things as digests."""
    return {
        "endpoint": request.endpoint,
        "messages": digest(list(request.messages)),
        "tools": digest(list(request.tools)) if request.tools else None,
        "schema": digest(request.schema) if request.schema is not None else None,
        "parameters": request.parameters,
        "seat": request.seat,
        "repeat": request.repeat,
        "order": request.order,
        "attempt": request.attempt,
    }


class Taped:
    """A model with a tape in front: what has been answered is read, what has not is asked.

    Parameters
    ----------
    model : ChatModel
        Asked on a miss.
    tape : Tape
        Where its replies are kept.
    """

    def __init__(self, model: ChatModel, tape: Tape) -> None:
        self.model = model
        self.tape = tape
        self.name = model.name
        self.endpoint = model.endpoint

    def complete(self, request: ChatRequest) -> ChatReply:
        """Answer from the tape, or ask and keep the answer before it is used.

        Raises
        ------
        InfrastructureError
            As the model raises it; nothing is taped then.
        """
        found = self.tape.get(request.digest())
        if found is not None:
            return found
        reply = self.model.complete(request)
        self.tape.put(request, replace(reply, from_tape=False))
        return reply


class TapeModel:
    """A model that only replays; it needs no key and no network.

    Parameters
    ----------
    tape : Tape
        A recording.
    name, endpoint : str, optional
        As they were when the tape was made; by default read from its first row.
    """

    def __init__(self, tape: Tape, *, name: str | None = None, endpoint: str | None = None) -> None:
        first = next(tape.rows(), {})
        self.tape = tape
        self.name = name if name is not None else str(first.get("model", ""))
        recorded = (first.get("parts") or {}).get("endpoint", "")
        self.endpoint = endpoint if endpoint is not None else str(recorded)

    def complete(self, request: ChatRequest) -> ChatReply:
        """The taped reply.

        Raises
        ------
        ConfigError
            If this request was not recorded; with what differs from the nearest one that was.
        """
        found = self.tape.get(request.digest())
        if found is not None:
            return found
        raise ConfigError(
            Problem(
                f"holds no reply to this request. {self._nearest(request)}", str(self.tape.path)
            )
        )

    def _nearest(self, request: ChatRequest) -> str:
        wanted = {"model": request.model, **_parts(request)}
        best: dict[str, Any] | None = None
        most = -1
        for row in self.tape.rows():
            had = {"model": row.get("model"), **(row.get("parts") or {})}
            # The messages weigh most: the same question under another setting is the near one.
            same = sum(had.get(part) == wanted[part] for part in _PARTS) + (
                len(_PARTS) if had.get("messages") == wanted["messages"] else 0
            )
            if same > most:
                best, most = had, same
        if best is None:
            return "The tape is empty; record one by running with a model."
        told: list[str] = []
        for part in _PARTS:
            if best.get(part) == wanted[part]:
                continue
            if part in ("messages", "tools", "schema"):
                told.append(f"its {part} differ")
            else:
                told.append(f"{part} was {best.get(part)!r} and is {wanted[part]!r}")
        return f"Of the nearest request on the tape {', '.join(told)}. Record it again."
