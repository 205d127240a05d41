"""Preferences in a run folder: who compared it with which other run, and what came of it.

May not mix the rows of two judges, and may not score anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import read_jsonl
from agenteval_kit.records.preferences import ComparisonStamp, PreferenceRow

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
    found: dict[tuple[str, ...], ComparisonStamp] = {}
    path = folder / "comparisons.jsonl"
    for row in read_jsonl(path, torn="drop", warn=warn) if path.exists() else ():
        made = _made(ComparisonStamp, row.value, path, row.line)
        key = (made.old, made.new, made.criterion, made.judge_digest)
        found.pop(key, None)
        found[key] = made
    return list(found.values())


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
    path = folder / "preferences.jsonl"
    if not path.exists():
        return
    last: dict[tuple[Any, ...], int] = {}
    for row in read_jsonl(path, torn="drop", warn=warn):
        last[_key(row.value)] = row.line
    # A second pass in place of all rows in memory: each holds the judge's whole replies.
    for row in read_jsonl(path, torn="drop"):
        if last.get(_key(row.value)) == row.line and old in (None, row.value.get("old")):
            yield _made(PreferenceRow, row.value, path, row.line)


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


def _key(value: dict[str, Any]) -> tuple[Any, ...]:
    names = ("case_id", "repeat", "criterion", "old", "new", "judge_digest")
    return tuple(str(value.get(name, 0)) for name in names)


def _made(kind: Any, value: dict[str, Any], path: Path, line: int) -> Any:
    try:
        return kind.model_validate(value)
    except ValueError as error:
        what = "preference" if kind is PreferenceRow else "stamp of a comparison"
        first = " ".join(str(error).splitlines()[1:3])
        raise ConfigError(Problem(f"is not a {what}: {first}", str(path), line)) from None
