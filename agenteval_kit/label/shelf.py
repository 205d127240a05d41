"""The transcripts of a run that can be read, each fetched from the file when it is asked for.

May not know of labels or verdicts.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.records import Transcript
from agenteval_kit.runs import Run

__all__ = ["Key", "Shelf"]

Key = tuple[str, int]
"""Case and repeat."""

KEPT = 8


class Shelf:
    """Where each transcript of a run stands in its file; a few are kept in memory.

    Attributes
    ----------
    keys : tuple of (str, int)
        Case and repeat of every transcript that has a turn or an output, in the order of the file.
    empty : dict of (str, int) to str
        Transcripts with nothing to read: the kind of their failure, or "".

    Raises
    ------
    ConfigError
        If a line of the run is no transcript.
    """

    def __init__(self, run: Run) -> None:
        self._path: Path = run.path / "transcripts.jsonl"
        self._places: dict[Key, int] = {}
        self.empty: dict[Key, str] = {}
        # In place of all transcripts in memory: a run may hold ten thousand, a sample a hundred.
        self._kept: OrderedDict[Key, Transcript] = OrderedDict()
        for key, place, value in self._lines():
            if key in self._places or key in self.empty:
                continue
            if value.get("turns") or value.get("output") is not None:
                self._places[key] = place
            else:
                failure = value.get("failure")
                self.empty[key] = str(failure.get("kind", "")) if isinstance(failure, dict) else ""
        self.keys: tuple[Key, ...] = tuple(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def fetch(self, key: Key) -> Transcript:
        """One transcript.

        Raises
        ------
        ConfigError
            If there is none, or the file has changed so that it stands there no more.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        case_id, repeat = key
        if key not in self._places:
            near = did_you_mean(case_id, {one for one, _ in self.keys} - {case_id})
            raise ConfigError(
                Problem(
                    f'has no transcript to read of case "{case_id}", repeat {repeat}.{near}',
                    str(self._path),
                )
            )
        with self._path.open("rb") as stream:
            stream.seek(self._places[key])
            raw = stream.readline()
        try:
            made = Transcript.model_validate_json(raw)
            found = (made.case_id, made.repeat) == key
        except ValueError:
            found = False
        if not found:
            raise ConfigError(
                Problem(
                    f'case "{case_id}", repeat {repeat} cannot be read where it stood: the line is '
                    "no transcript, or the file was changed meanwhile; open the session again",
                    str(self._path),
                )
            )
        self._kept[key] = made
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made

    def _lines(self) -> Iterator[tuple[Key, int, dict[str, object]]]:
        if not self._path.exists():
            return
        place = 0
        with self._path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    value = json.loads(raw)
                    key = (str(value["case_id"]), int(value.get("repeat", 0)))
                except (ValueError, KeyError, TypeError, AttributeError):
                    if raw.endswith(b"\n"):
                        raise ConfigError(
                            Problem("is not a transcript", str(self._path), number)
                        ) from None
                    return  # a killed process left half a line
                yield key, place, value
                place += len(raw)
