"""Preferences in a run folder: who compared it with which other run, and what came of it.

May not mix the rows of two judges, and may not score anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.records.preferences import ComparisonStamp, PreferenceRow
from agenteval_kit.runs.newest import newest_rows, newest_stamps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["preferences_frame", "read_comparisons", "read_preferences"]


def read_comparisons(folder: Path, *, warn: list[str]) -> list[ComparisonStamp]:
    """The newest stamp of each pair of versions, criterion and judge; the last written stands last.

    Raises
    ------
    ConfigError
        If a line is no stamp.
    """
    return newest_stamps(
        folder / "comparisons.jsonl",
        ComparisonStamp,
        lambda stamp: (stamp.old, stamp.new, stamp.criterion, stamp.judge_digest),
        what="stamp of a comparison",
        warn=warn,
    )


def read_preferences(
    folder: Path, *, warn: list[str], old: str | None = None
) -> Iterator[PreferenceRow]:
    """Preferences, streamed: of one pair, criterion and judge the last row counts.

    Parameters
    ----------
    folder : pathlib.Path
        A run folder, or one that `compare_pairs` filled.
    warn : list of str
        Receives one sentence a torn line.
    old : str, optional
        Only comparisons with this run.

    Raises
    ------
    ConfigError
        If a line is no preference.
    """
    return newest_rows(
        folder / "preferences.jsonl",
        PreferenceRow,
        ("case_id", "repeat", "criterion", "old", "new", "judge_digest"),
        what="preference",
        warn=warn,
        only={"old": old} if old is not None else None,
    )


def preferences_frame(rows: Iterable[PreferenceRow]) -> pd.DataFrame:
    """One row per case, repeat, criterion, judge and pair of versions.

    Columns: case_id (str), repeat (int), layer, criterion, old, new (str), outcome (old, new, tie
    or missing: unscored), score (0, 0.5, 1 of the new side, or missing), old_first, new_first
    (which side was preferred when that one was shown first, or missing), flipped (bool, or <NA>:
    not judged in both orders), by, reason, because, flags, judge, judge_digest (str).
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    columns = ["case_id", "repeat", "layer", "criterion", "old", "new", "outcome", "score",
               "old_first", "new_first", "flipped", "by", "reason", "because", "flags", "judge",
               "judge_digest"]  # fmt: skip
    frame = pd.DataFrame.from_records([_cells(row, columns) for row in rows], columns=columns)
    return frame.astype({"score": "float64", "repeat": "int64", "flipped": "boolean"})


def _cells(row: PreferenceRow, columns: list[str]) -> dict[str, Any]:
    by_first = {order.first: order for order in row.orders}
    made: dict[str, Any] = {
        "old_first": by_first["old"].preferred if "old" in by_first else None,
        "new_first": by_first["new"].preferred if "new" in by_first else None,
        "because": " / ".join(order.because for order in row.orders if order.because),
        "flags": ", ".join(row.flags),
    }
    return {name: made[name] if name in made else getattr(row, name) for name in columns}
