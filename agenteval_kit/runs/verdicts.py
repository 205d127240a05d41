"""Verdicts in a run folder: who judged, and what came of it.

May not mix the rows of two judges, and may not score anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit.files import read_jsonl
from agenteval_kit.records import JudgeStamp, VerdictRow
from agenteval_kit.runs.newest import newest_rows, newest_stamps

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "choose_judge",
    "first_asked",
    "read_judges",
    "read_verdicts",
    "verdicts_frame",
    "wordings_of",
]


def read_judges(folder: Path, *, warn: list[str]) -> list[JudgeStamp]:
    """The newest stamp of each judge digest; the one that was written last stands last.

    Raises
    ------
    ConfigError
        If a line is no stamp.
    """
    return newest_stamps(
        folder / "judges.jsonl",
        JudgeStamp,
        lambda stamp: stamp.judge_digest,
        what="stamp of a judge",
        warn=warn,
    )


def first_asked(folder: Path) -> dict[str, str]:
    """When each judge digest was asked for the first time; asking again does not make it new."""
    found: dict[str, str] = {}
    path = folder / "judges.jsonl"
    for row in read_jsonl(path, torn="drop") if path.exists() else ():
        found.setdefault(str(row.value.get("judge_digest")), str(row.value.get("at")))
    return found


def choose_judge(stamps: Sequence[JudgeStamp], verdicts: Mapping[str, int]) -> JudgeStamp:
    """The judge that speaks for a dimension, of several.

    The last of those that judged all; else of those that gave a verdict; else of those asked.

    Parameters
    ----------
    stamps : sequence of JudgeStamp
        Of one dimension, who was asked last standing last.
    verdicts : mapping of str to int
        How many verdicts there are, by judge digest.
    """
    complete = [one for one in stamps if verdicts[one.judge_digest] >= max(one.wanted, 1)]
    # A judge whose server never answered has a stamp and nothing to say.
    heard = [one for one in stamps if verdicts[one.judge_digest]]
    return (complete or heard or stamps)[-1]


def wordings_of(stamp: JudgeStamp, stamps: Iterable[JudgeStamp]) -> frozenset[str]:
    """The digests of a dimension that read, to a person, as one judge reads it.

    Another panel or prompt gives a dimension another digest, and people the same words.
    """

    def words(one: JudgeStamp) -> tuple[object, ...]:
        return (one.dimension, one.definition, one.anchors, one.levels)

    alike = {one.dimension_digest for one in stamps if words(one) == words(stamp)}
    return frozenset(alike | {stamp.dimension_digest})


def read_verdicts(folder: Path, *, warn: list[str]) -> Iterator[VerdictRow]:
    """Verdicts, streamed: of one case, repeat, dimension and judge the last one counts.

    Raises
    ------
    ConfigError
        If a line is no verdict.
    """
    names = ("case_id", "repeat", "dimension", "judge_digest")
    return newest_rows(folder / "verdicts.jsonl", VerdictRow, names, what="verdict", warn=warn)


def verdicts_frame(rows: Iterable[VerdictRow]) -> pd.DataFrame:
    """One row per case, repeat, dimension and judge.

    Columns: case_id (str), repeat (int), layer, dimension (str), score (int, or <NA>: unscored),
    status, reason (str), seats (int), flags, diag (str), judge, judge_digest, rubric (str).
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    columns = ["case_id", "repeat", "layer", "dimension", "score", "status", "reason", "seats",
               "flags", "diag", "judge", "judge_digest", "rubric"]  # fmt: skip
    frame = pd.DataFrame.from_records(
        [
            {
                **{name: getattr(row, name) for name in columns if name not in ("seats", "flags")},
                "seats": len(row.seats),
                "flags": ", ".join(row.flags),
            }
            for row in rows
        ],
        columns=columns,
    )
    return frame.astype({"score": "Int64", "repeat": "int64", "seats": "int64"})
