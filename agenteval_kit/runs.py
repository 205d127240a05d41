"""A run is a folder: stamps, append-only rows, the tape; opened, resumed, and read into frames.

May not score anything. The wall clock is read here, and nowhere above.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, StrictStr
from pydantic_core import to_json

from agenteval_kit.errors import ConfigError, Problem, Problems, StampError
from agenteval_kit.files import Appender, canonical_json, read_json, read_jsonl, write_atomic
from agenteval_kit.records import AgentStamps, CheckRow, Transcript
from agenteval_kit.records.parsing import parse_record

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CasePlan", "Run", "RunInfo", "Selection", "find_resumable", "list_runs"]

FROZEN = ConfigDict(frozen=True, extra="forbid")
FORMAT = 1


class CasePlan(BaseModel):
    """What a run has to evaluate of one case, and what coverage tables need to know of it.

    `tools` are the tools that the case lists or forbids; None where it lists none, so that a call
    of any tool is nothing to be read.
    """

    model_config = FROZEN

    id: str
    tags: tuple[str, ...] = ()
    critical: bool = False
    judge_only: bool = False
    origin: str | None = None
    broke: str | None = None
    layers: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None


class Selection(BaseModel):
    """Which part of the suite a run covers; all None is the whole suite."""

    model_config = FROZEN

    only: tuple[str, ...] | None = None
    tag: str | None = None
    shard: str | None = None


class RunInfo(BaseModel):
    """The stamps of a run, written once when it starts.

    `kind` says what the agent's side is: "live" (an agent ran), "recorded" (transcripts were
    read) or "simulated" (made for a demonstration); `data_note` is the suite's own sentence;
    `tools` are the tools that the suite lists, None where it lists none.
    """

    model_config = FROZEN

    format: Literal[1] = 1
    id: str
    created: str
    suite: StrictStr
    suite_version: StrictStr
    suite_digest: StrictStr
    suite_file: str | None = None
    agent: AgentStamps
    clock: str | None = None
    frozen_clock: bool = False
    repeats: int = 1
    selection: Selection = Selection()
    cases: tuple[CasePlan, ...]
    tools: tuple[str, ...] | None = None
    kind: Literal["live", "recorded", "simulated"] = "live"
    data_note: str | None = None
    package: str
    commit: str | None = None
    simulator: str | None = None
    prompt_text: str | None = None

    def stamps(self) -> dict[str, Any]:
        """What must be equal for a run to be resumed or merged."""
        return {
            "suite": self.suite,
            "suite_version": self.suite_version,
            "suite_digest": self.suite_digest,
            "agent": self.agent.model_dump(exclude={"model_served"}),
            "clock": self.clock,
            "repeats": self.repeats,
            "selection": self.selection.model_dump(),
            "simulator": self.simulator,
        }


class Run:
    """A run folder. Rows are only ever added; what is missing is derived, never noted.

    Parameters
    ----------
    path : pathlib.Path
        An existing run folder (see `Run.create` and `Run.open`).
    """

    def __init__(self, path: Path, info: RunInfo) -> None:
        self.path = path
        self.info = info
        self.warnings: list[str] = []

    @classmethod
    def create(cls, root: Path, info: RunInfo, *, at: Path | None = None) -> Run:
        """Start a new run folder under `root`, or exactly `at` that path.

        Raises
        ------
        ConfigError
            If the folder holds a run already, or cannot be made.
        """
        path = at if at is not None else root / info.id
        if (path / "run.json").exists():
            raise ConfigError(Problem("holds a run already; name another folder", str(path)))
        try:
            path.mkdir(parents=True, exist_ok=True)
            write_atomic(path / "run.json", info.model_dump_json(indent=1) + "\n")
        except OSError as error:
            raise ConfigError(
                Problem(f"the run folder cannot be made: {error.strerror}", str(path))
            ) from None
        return cls(path, info)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a run folder for reading or for adding.

        Raises
        ------
        ConfigError
            If there is no run, or run.json is not one.
        """
        file = path / "run.json"
        if not file.exists():
            raise ConfigError(
                Problem("is not a run folder: it has no run.json; see `agenteval run`", str(path))
            )
        problems = Problems()
        info = parse_record(
            RunInfo,
            read_json(file),
            file=str(file),
            line=lambda _: 1,
            what="run",
            problems=problems,
        )
        problems.raise_any()
        assert info is not None
        return cls(path, info)

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def tape_path(self) -> Path:
        """Where every model reply of this run is appended."""
        return self.path / "calls.jsonl"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for writing; a second process is refused instead of mixed in.

        Raises
        ------
        ConfigError
            If another process holds it.
        """
        handle = (self.path / ".lock").open("w")
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ConfigError(
                    Problem(
                        "another process is writing this run; wait for it, or name another "
                        "folder with --out",
                        str(self.path),
                    )
                ) from None
            yield
        finally:
            handle.close()

    # Reading: rows stream; a key that stands twice counts once, the first (a resumed writer may
    # have been killed between its write and the next look).

    def transcripts(self) -> Iterator[Transcript]:
        """Transcripts in the order of the file, one at a time."""
        seen: set[tuple[str, int]] = set()
        for transcript in self._read(self.path / "transcripts.jsonl", Transcript):
            key = (transcript.case_id, transcript.repeat)
            if key not in seen:
                seen.add(key)
                yield transcript

    def transcript(self, case_id: str, *, repeat: int = 0) -> Transcript:
        """One transcript.

        Raises
        ------
        ConfigError
            If the run has none of that case and repeat.
        """
        for transcript in self.transcripts():
            if transcript.case_id == case_id and transcript.repeat == repeat:
                return transcript
        raise ConfigError(
            Problem(f'has no transcript of case "{case_id}", repeat {repeat}', str(self.path))
        )

    def check_rows(self) -> Iterator[CheckRow]:
        """Check rows in the order of the file, one at a time."""
        seen: set[tuple[str, int, str]] = set()
        path = self.path / "checks.jsonl"
        if not path.exists():
            return
        for row in read_jsonl(path, torn="drop", warn=self.warnings):
            try:
                made = CheckRow(**row.value)
            except TypeError:
                raise ConfigError(Problem("is not a check row", str(path), row.line)) from None
            key = (made.case_id, made.repeat, made.name)
            if key not in seen:
                seen.add(key)
                yield made

    def wanted(self) -> list[tuple[str, int]]:
        """Every case and repeat that a complete run has, in order."""
        return [(case.id, repeat) for case in self.info.cases for repeat in range(self.repeats)]

    @property
    def repeats(self) -> int:
        """How often each case is run."""
        return self.info.repeats

    def done(self) -> set[tuple[str, int]]:
        """Case and repeat of every transcript that arrived."""
        return {(item.case_id, item.repeat) for item in self.transcripts()}

    def missing(self) -> list[tuple[str, int]]:
        """What a resumed run still has to do, in order."""
        done = self._keys()
        return [key for key in self.wanted() if key not in done]

    @property
    def complete(self) -> bool:
        """Whether every case and repeat has a transcript."""
        return not self.missing()

    def _keys(self) -> set[tuple[str, int]]:
        path = self.path / "transcripts.jsonl"
        if not path.exists():
            return set()
        return {
            (str(row.value.get("case_id")), int(row.value.get("repeat", 0)))
            for row in read_jsonl(path, torn="drop")
        }

    def _read(self, path: Path, kind: type[Transcript]) -> Iterator[Transcript]:
        if not path.exists():
            return
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    yield kind.model_validate_json(raw)
                except ValueError as error:
                    if not raw.endswith(b"\n"):
                        self.warnings.append(f"{path}:{number}: the last line was torn; dropped")
                        return
                    first = str(error).splitlines()[1:3]
                    raise ConfigError(
                        Problem(f"is not a transcript: {' '.join(first)}", str(path), number)
                    ) from None

    # Writing.

    def writer(self) -> RunWriter:
        """Appenders for this run; hold `lock` while you use it."""
        return RunWriter(self)

    def withdraw(self, case_id: str, *, by: str, reason: str) -> int:
        """Remove a person's data: all rows of one case; and write down that it was done.

        The one exception to "runs are never edited". Labels are not in the run folder.

        Returns
        -------
        int
            How many rows were removed.
        """
        removed = 0
        for name in ("transcripts.jsonl", "checks.jsonl", "verdicts.jsonl", "preferences.jsonl"):
            path = self.path / name
            if not path.exists():
                continue
            kept = []
            for line in path.read_text(encoding="utf-8").splitlines():
                if json.loads(line).get("case_id") == case_id:
                    removed += 1
                else:
                    kept.append(line)
            write_atomic(path, "".join(f"{line}\n" for line in kept))
        note = {"case_id": case_id, "by": by, "reason": reason, "at": now_text(), "rows": removed}
        record = Appender(self.path / "withdrawn.jsonl", sync=True)
        record.append([note])
        record.close()
        return removed

    # Frames, built from rows on demand.

    def checks_frame(self) -> pd.DataFrame:
        """One row per case, repeat and check.

        Columns: case_id (str), repeat (int), layer, name (str), passed (bool, or <NA>: unscored),
        expected, received (str), turn (int or <NA>), why (str), critical (bool).
        """
        import pandas as pd  # heavy: half a second that the check command must not pay

        frame = pd.DataFrame.from_records(
            [row.as_dict() for row in self.check_rows()], columns=list(CheckRow.__slots__)
        )
        return frame.astype({"passed": "boolean", "turn": "Int64", "repeat": "int64"})

    def transcripts_frame(self) -> pd.DataFrame:
        """One row per transcript: case_id, repeat, stop, failure, turns, calls, seconds, cost."""
        import pandas as pd  # heavy, see checks_frame

        return pd.DataFrame.from_records(
            [
                {
                    "case_id": item.case_id,
                    "repeat": item.repeat,
                    "stop": item.stop,
                    "failure": item.failure.kind if item.failure else None,
                    "turns": len(item.turns),
                    "calls": sum(len(turn.calls) for turn in item.turns),
                    "input_tokens": item.usage.input_tokens,
                    "output_tokens": item.usage.output_tokens,
                    "from_tape": item.usage.from_tape,
                    "cost_usd": item.cost_usd,
                    "seconds": item.seconds,
                    "reward": item.reward,
                }
                for item in self.transcripts()
            ]
        )


class RunWriter:
    """Adds transcripts and check rows to a run, each batch in one write.

    `warnings` says what was torn by an earlier kill and dropped.
    """

    def __init__(self, run: Run) -> None:
        self._transcripts = Appender(run.path / "transcripts.jsonl")
        self._checks = Appender(run.path / "checks.jsonl")
        self.warnings = [
            text for text in (self._transcripts.warning, self._checks.warning) if text is not None
        ]

    def add_transcripts(self, transcripts: Iterable[Transcript]) -> None:
        """Append transcripts."""
        self._transcripts.append_lines(
            item.model_dump_json(exclude_defaults=True) for item in transcripts
        )

    def add_checks(self, rows: Iterable[CheckRow]) -> None:
        """Append check rows."""
        self._checks.append_lines(_row_json(row) for row in rows)

    def close(self) -> None:
        """Close both files."""
        self._transcripts.close()
        self._checks.close()


def _row_json(row: CheckRow) -> str:
    try:
        # Four times as fast as json, and the same bytes: a row holds no float.
        return to_json(row.as_dict()).decode()
    except ValueError:  # a lone surrogate, which an agent may well return
        return json.dumps(row.as_dict(), ensure_ascii=False, separators=(",", ":"))


def now_text() -> str:
    """This moment, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id(suite: str) -> str:
    """A folder name that sorts by time and is not taken twice by two processes."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")[:19]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', suite)}-{stamp}-{os.getpid() % 10000:04d}"


def list_runs(root: Path, *, suite: str | None = None) -> list[Run]:
    """Runs under a folder, oldest first; folders that are no run are passed over."""
    if not root.is_dir():
        return []
    found = []
    for file in root.glob("*/run.json"):
        try:
            run = Run.open(file.parent)
        except ConfigError:
            continue
        if suite is None or run.info.suite == suite:
            found.append(run)
    return sorted(found, key=lambda run: (run.info.created, run.id))


def find_resumable(root: Path, info: RunInfo) -> Run | None:
    """The latest incomplete run with the same stamps, or None."""
    wanted = canonical_json(info.stamps())
    for run in reversed(list_runs(root, suite=info.suite)):
        if canonical_json(run.info.stamps()) == wanted and not run.complete:
            return run
    return None


def require_same_stamps(run: Run, info: RunInfo) -> None:
    """Refuse to resume a run under other stamps.

    Raises
    ------
    StampError
        Naming the first stamps that differ.
    """
    old, new = run.info.stamps(), info.stamps()
    differing = [
        f"{key} was {_short(old[key])}, is {_short(new[key])}"
        for key in old
        if old[key] != new[key]
    ]
    if differing:
        raise StampError(
            Problem(
                "was made under other stamps and is not resumed: "
                + "; ".join(differing)
                + ". Name a new folder with --out",
                str(run.path),
            )
        )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= 90 else text[:87] + "..."
