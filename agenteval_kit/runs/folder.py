"""A run is a folder: opened, read row by row, and turned into frames.

May not score anything. What is missing is derived from what is there, never noted.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.files import read_jsonl, read_record, write_atomic
from agenteval_kit.places import own_name
from agenteval_kit.records import (
    CheckRow,
    ComparisonStamp,
    JudgeStamp,
    PreferenceRow,
    Transcript,
    VerdictRow,
)
from agenteval_kit.runs.info import RunInfo, now_text
from agenteval_kit.runs.preferences import preferences_frame, read_comparisons, read_preferences
from agenteval_kit.runs.verdicts import read_judges, read_verdicts, verdicts_frame
from agenteval_kit.runs.withdraw import withdraw_case, withdrawn_cases
from agenteval_kit.runs.writer import RunWriter

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run"]


class Run:
    """A run folder. Rows are only ever added; what is missing is derived, never noted.

    Parameters
    ----------
    path : pathlib.Path
        An existing run folder (see `Run.create` and `Run.open`).
    """

    def __init__(self, path: Path, info: RunInfo) -> None:
        self.path = own_name(path)
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
        return cls(path, read_record(file, RunInfo, what="run"))

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
            Problem(
                f'has no transcript of case "{case_id}", repeat {repeat}.'
                f"{did_you_mean(case_id, {case.id for case in self.info.cases} - {case_id})}",
                str(self.path),
            )
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
            if made.passed is not None and not isinstance(made.passed, bool):
                raise ConfigError(
                    Problem(
                        f'"passed" holds {made.passed!r}; it wants true, false or null (unscored)',
                        str(path),
                        row.line,
                    )
                )
            key = (made.case_id, made.repeat, made.name)
            if key not in seen:
                seen.add(key)
                yield made

    def judge_stamps(self) -> list[JudgeStamp]:
        """Who judged what; who was asked last stands last."""
        return read_judges(self.path, warn=self.warnings)

    def verdict_rows(self) -> Iterator[VerdictRow]:
        """Verdicts of all judges, one at a time; of one that stands twice, the newer."""
        return read_verdicts(self.path, warn=self.warnings)

    def comparison_stamps(self) -> list[ComparisonStamp]:
        """Who compared this run with which; who was asked last stands last."""
        return read_comparisons(self.path, warn=self.warnings)

    def preference_rows(self, *, old: str | None = None) -> Iterator[PreferenceRow]:
        """Preferences against the run `old`, or against any, one at a time."""
        return read_preferences(self.path, warn=self.warnings, old=old)

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
        withdrawn = withdrawn_cases(self.path)
        return [key for key in self.wanted() if key not in done and key[0] not in withdrawn]

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
        return RunWriter(self.path)

    def withdraw(self, case_id: str, *, by: str, reason: str) -> int:
        """Remove a person's data: all rows and replies of one case; and note that it was done.

        The one exception to "runs are never edited". A resumed run does not ask for the case again.
        Labels are not in the run folder: `agenteval_kit.labels.withdraw_labels` takes them out.

        Returns
        -------
        int
            How many rows were removed.
        """
        with self.lock():
            removed = withdraw_case(self.path, case_id, by=by, reason=reason, at=now_text())
        return sum(removed.values())

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

    def verdicts_frame(self) -> pd.DataFrame:
        """One row per case, repeat, dimension and judge; see `verdicts.verdicts_frame`."""
        return verdicts_frame(self.verdict_rows())

    def preferences_frame(self) -> pd.DataFrame:
        """One row per pair, criterion and judge; see `preferences.preferences_frame`."""
        return preferences_frame(self.preference_rows())

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
