"""Reads label files: whose line counts after undo and changes of mind, and as a frame.

May not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import digest, read_jsonl
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.parsing import parse_record

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CLOCK_AHEAD", "LabelSet", "current_rows", "labels_frame", "read_labels"]

CLOCK_AHEAD = timedelta(days=1)
"""How far the clock of a rater may be ahead: a label of a later time is a mistake."""


@dataclass(frozen=True)
class LabelSet:
    """Everything that raters have said, every line of it.

    Attributes
    ----------
    folder : Path or None
        Where it was read from.
    rows : tuple of LabelRow
        Every line, a rater after the other, in the order of their files.
    warnings : tuple of str
        Torn lines that were dropped.
    """

    folder: Path | None
    rows: tuple[LabelRow, ...]
    warnings: tuple[str, ...] = ()

    @cached_property
    def current(self) -> tuple[LabelRow, ...]:
        """The lines that count: nothing undone, and of each label, review and skip the last."""
        return tuple(current_rows(self.rows))

    @cached_property
    def by_wording(self) -> tuple[LabelRow, ...]:
        """As `current`, but of each label the last under each wording of its dimension.

        Where an anchor is put back as it was, what was said under it speaks again.
        """
        return tuple(current_rows(self.rows, by_wording=True))

    @property
    def raters(self) -> tuple[str, ...]:
        """Who said something, in the order of the files."""
        return tuple(dict.fromkeys(row.rater for row in self.rows))

    def labels(self, dimension: str | None = None) -> tuple[LabelRow, ...]:
        """The labels that count, of one dimension or of all; "cannot tell" among them."""
        return tuple(
            row
            for row in self.current
            if row.kind == "label" and dimension in (None, row.dimension)
        )

    def reviews(self) -> tuple[LabelRow, ...]:
        """The reviews that count."""
        return tuple(row for row in self.current if row.kind == "review")

    def failures(self) -> tuple[LabelRow, ...]:
        """What went wrong, in the words of the readers."""
        return tuple(row for row in self.current if row.kind == "failure")

    @cached_property
    def digest(self) -> str:
        """Digest of the lines that count, whatever file or order they stand in."""
        lines = sorted(row.model_dump_json() for row in self.current)
        return digest(lines)

    def frame(self) -> pd.DataFrame:
        """The labels that count, as `labels_frame`."""
        return labels_frame(self.labels())

    def wide(self) -> pd.DataFrame:
        """One row per transcript and dimension, one column a rater.

        Columns: run, case_id (str), repeat (int), dimension (str), then a level by each rater
        (int, or <NA>: not labelled, or could not tell).
        """
        about = ["run", "case_id", "repeat", "dimension"]
        made = self.frame().pivot(index=about, columns="rater", values="score").reset_index()
        return made.rename_axis(columns=None)


def read_labels(place: str | Path | Sequence[Path], *, now: str | None = None) -> LabelSet:
    """Read a folder of label files, or some files.

    Parameters
    ----------
    place : path, or sequence of Path
        A folder of ``<rater>.jsonl``, or the files themselves.
    now : str, optional
        ISO 8601 with its zone; by default this moment. No line may be more than a day (see
        `CLOCK_AHEAD`) later: it would pass for one given after the judge for ever.

    Returns
    -------
    LabelSet
        Empty where the folder holds no label yet.

    Raises
    ------
    ConfigError
        If there is no such folder or file, or a line is no label or of a time to come: all faulty
        lines together. And if two raters differ by capitals or blanks alone: trust takes two
        people.
    """
    folder: Path | None = None
    if isinstance(place, str | Path):
        one = Path(place)
        if one.is_dir():
            folder, files = one, sorted(one.glob("*.jsonl"))
        else:
            files = [one]
    else:
        files = list(place)
    moment = datetime.fromisoformat(now) if now is not None else datetime.now(UTC)
    warnings: list[str] = []
    rows: list[LabelRow] = []
    problems = Problems()
    known: dict[str, tuple[str, Path]] = {}
    for path in files:
        if path.is_dir():
            problems.add("is a folder; a file of labels was wanted: rename it", file=str(path))
            continue
        if not path.is_file():
            raise ConfigError(Problem("there is no such file or folder of labels", str(path)))
        try:
            mine = list(_read(path, warnings, problems, moment))
            rows += mine
            for name in dict.fromkeys(row.rater for row in mine):
                other, there = known.setdefault(" ".join(name.casefold().split()), (name, path))
                if other != name:
                    problems.add(
                        f'rater "{name}" differs from "{other}" in {there} by capitals or blanks '
                        "alone; give one person one name, or two people names that differ by more",
                        file=str(path),
                    )
        except ConfigError as error:
            problems.extend(error)
    problems.raise_any()
    return LabelSet(folder, tuple(rows), tuple(warnings))


def _read(path: Path, warnings: list[str], problems: Problems, now: datetime) -> Iterator[LabelRow]:
    for row in read_jsonl(path, torn="drop", warn=warnings):
        at = row.line
        made = parse_record(
            LabelRow,
            row.value,
            file=str(path),
            line=lambda _, at=at: at,  # type: ignore[misc]
            what="label",
            problems=problems,
        )
        if made is not None and datetime.fromisoformat(made.at) > now + CLOCK_AHEAD:
            problems.add(
                f'"at" in label: {made.at} is more than a day ahead of the clock here '
                f"({now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}); correct the time in the line, or the "
                "clock",
                file=str(path),
                line=at,
            )
        elif made is not None:
            yield made


def current_rows(rows: Iterable[LabelRow], *, by_wording: bool = False) -> list[LabelRow]:
    """What counts of the lines of raters, in the order in which it was said last.

    An "undo" takes back the line of that rater before it that is not undone yet. Of one rater's
    labels on one transcript and dimension the last counts, and so of reviews and notes; a skip
    stands until that transcript is labelled or read. Failures add up. With `by_wording` the last
    label under each wording of the dimension counts.
    """
    by_rater: dict[str, list[LabelRow]] = {}
    for row in rows:
        mine = by_rater.setdefault(row.rater, [])
        if row.kind != "undo":
            mine.append(row)
        elif mine:
            mine.pop()
    kept: list[LabelRow] = []
    for mine in by_rater.values():
        last: dict[tuple[object, ...], LabelRow] = {}
        for row in mine:
            key: tuple[object, ...] = (row.kind, *row.key)
            if row.kind == "failure":
                key = (*key, row.failure, row.turn)
            elif row.kind == "review" and row.review is not None:
                key = (*key, row.review.judge_digest)
            elif row.kind in ("label", "read"):
                last.pop(("skip", *row.key[:3], ""), None)
            if by_wording and row.kind == "label":
                key = (*key, row.dimension_digest)
            last.pop(key, None)
            last[key] = row
        kept += last.values()
    return kept


def labels_frame(rows: Iterable[LabelRow]) -> pd.DataFrame:
    """One row a label.

    Columns: run, case_id (str), repeat (int), dimension, rater (str), score (int, or <NA>: cannot
    tell), note (str), turn (int or <NA>), at, sample, design, purpose, stratum (str), inclusion
    (float, or missing), rubric, dimension_digest, origin (str).
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    columns = ["run", "case_id", "repeat", "dimension", "rater", "score", "note", "turn", "at",
               "sample", "design", "purpose", "stratum", "inclusion", "rubric", "dimension_digest",
               "origin"]  # fmt: skip
    frame = pd.DataFrame.from_records(
        [{name: getattr(row, name) for name in columns} for row in rows], columns=columns
    )
    return frame.astype(
        {"score": "Int64", "turn": "Int64", "repeat": "int64", "inclusion": "float64"}
    )
