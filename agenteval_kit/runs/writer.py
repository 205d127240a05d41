"""Adds rows to a run folder, each batch in one write.

May not read rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic_core import to_json

from agenteval_kit.files import Appender
from agenteval_kit.records import (
    CheckRow,
    ComparisonStamp,
    JudgeStamp,
    PreferenceRow,
    Transcript,
    VerdictRow,
)

__all__ = ["RunWriter"]


class RunWriter:
    """Adds transcripts, check rows, verdicts and preferences to a run, each batch in one write.

    `warnings` says what was torn by an earlier kill and dropped.
    """

    def __init__(self, folder: Path) -> None:
        self._transcripts = Appender(folder / "transcripts.jsonl")
        self._checks = Appender(folder / "checks.jsonl")
        self._judges = Appender(folder / "judges.jsonl")
        self._verdicts = Appender(folder / "verdicts.jsonl")
        self._comparisons = Appender(folder / "comparisons.jsonl")
        self._preferences = Appender(folder / "preferences.jsonl")
        self._all = (self._transcripts, self._checks, self._judges, self._verdicts,
                     self._comparisons, self._preferences)  # fmt: skip
        self.warnings = [one.warning for one in self._all if one.warning is not None]

    def add_transcripts(self, transcripts: Iterable[Transcript]) -> None:
        """Append transcripts."""
        self._transcripts.append_lines(
            item.model_dump_json(exclude_defaults=True) for item in transcripts
        )

    def add_checks(self, rows: Iterable[CheckRow]) -> None:
        """Append check rows."""
        self._checks.append_block(b"".join(map(_row_json, rows)))

    def add_judges(self, stamps: Iterable[JudgeStamp]) -> None:
        """Append who judges what, before anything is judged."""
        self._judges.append(item.model_dump(mode="json") for item in stamps)

    def add_verdicts(self, rows: Iterable[VerdictRow]) -> None:
        """Append verdicts."""
        self._verdicts.append(item.model_dump(mode="json", exclude_defaults=True) for item in rows)

    def add_comparisons(self, stamps: Iterable[ComparisonStamp]) -> None:
        """Append who compares what with what, before anything is compared."""
        self._comparisons.append(item.model_dump(mode="json") for item in stamps)

    def add_preferences(self, rows: Iterable[PreferenceRow]) -> None:
        """Append preferences."""
        self._preferences.append(
            item.model_dump(mode="json", exclude_defaults=True) for item in rows
        )

    def close(self) -> None:
        """Close the files."""
        for one in self._all:
            one.close()


def _row_json(row: CheckRow) -> bytes:
    try:
        # Four times as fast as json, and the same bytes: a row holds no float.
        return to_json(row.as_dict()) + b"\n"
    except ValueError:  # a lone surrogate, which an agent may well return
        text = json.dumps(row.as_dict(), ensure_ascii=False, separators=(",", ":"))
        return f"{text}\n".encode("utf-8", "backslashreplace")
