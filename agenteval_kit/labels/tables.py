"""Labels in tables, long or wide: CSV, TSV and data frames in; CSV out.

May not decide whether a value is a label: `agenteval_kit.labels.said` does.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_text, write_atomic
from agenteval_kit.labels.said import CANNOT_TELL, Said, Wanted
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_said", "read_table", "write_labels_table"]

_COLUMNS = ("run", "case_id", "repeat", "dimension", "score", "rater", "note", "turn", "at",
            "transcript_digest", "sample", "design", "purpose", "stratum", "inclusion", "rubric",
            "rubric_digest", "dimension_digest", "origin")  # fmt: skip
_OTHER_NAMES = {"annotator": "rater", "updated_at": "at", "notes": "note", "comment": "note",
                "comments": "note"}  # fmt: skip
_PLACES = ("case_id", "repeat", "rater", "at")
_MORE = frozenset(_COLUMNS) - {*_PLACES, "dimension", "score", "note"}
_DELIMITERS = (",", ";", "\t")

Line = tuple[int, Sequence[Any]]
Score = tuple[str | None, str | None, int, int | None]
"""Dimension and rater, where the row does not name them; the column, and that of its note."""


def read_table(path: Path, *, wanted: Wanted, problems: Problems) -> Iterator[Said]:
    """What a CSV or TSV file says, one cell with a score after the other.

    Raises
    ------
    ConfigError
        If it is no table, or its header does not say where the labels stand.
    """
    text = read_text(path)
    first = next(iter(text.splitlines()), "")
    delimiter = max(_DELIMITERS, key=lambda sign: (_named(first, sign), first.count(sign)))
    lines = _lines(text, delimiter, str(path))
    number, header = next(lines, (1, ()))
    if not header:
        raise ConfigError(Problem("is empty; there is nothing to import", str(path)))
    columns = _header(header, str(path), number, wanted)
    return _said(columns, _whole(lines, len(header), str(path), problems))


def frame_said(frame: pd.DataFrame, *, wanted: Wanted) -> Iterator[Said]:
    """What a data frame says; its rows count from 1.

    Raises
    ------
    ConfigError
        If its columns do not say where the labels stand.
    """
    if "case_id" in frame.index.names:
        frame = frame.reset_index()
    columns = _header([str(name) for name in frame.columns], "frame", None, wanted)
    return _said(
        columns,
        (
            (number, [_plain(value) for value in row])
            for number, row in enumerate(frame.itertuples(index=False, name=None), start=1)
        ),
    )


def write_labels_table(path: Path, rows: Iterable[LabelRow]) -> Path:
    """Write labels as a long CSV that `import_labels` reads back: one row a label.

    Lines that are no labels are left out. Where a rater could not tell, the score says so in
    words: an empty cell would be a label that was not given.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        if row.kind == "label":
            values = [getattr(row, name) for name in _COLUMNS]
            if row.undated:
                values[_COLUMNS.index("at")] = ""
            values[_COLUMNS.index("score")] = CANNOT_TELL if row.score is None else row.score
            writer.writerow([_cell(value) for value in values])
    write_atomic(path, out.getvalue())
    return path


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    return "" if value is None else value


def _named(first: str, delimiter: str) -> int:
    cells = {cell.strip(' "') for cell in first.split(delimiter)}
    return len({*_COLUMNS, *_OTHER_NAMES} & cells)


def _lines(text: str, delimiter: str, file: str) -> Iterator[Line]:
    """Rows with the line that each starts on; a quoted cell may hold line breaks."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise ConfigError(
            Problem(f"is no table: {error}; quote cells that hold quotes or commas", file, start)
        ) from None


def _whole(lines: Iterable[Line], width: int, file: str, problems: Problems) -> Iterator[Line]:
    for number, cells in lines:
        if len(cells) != width:
            problems.add(
                f"has {counted(len(cells), 'cell')}; the header has {width}: quote cells "
                "that hold the delimiter",
                file=file,
                line=number,
            )
            continue
        yield number, cells


def _plain(value: Any) -> Any:
    """A cell of a frame as a plain value; numpy has its own of each."""
    try:
        if value != value:
            return None
    except TypeError:  # pandas' NA does not say whether it is itself
        return None
    except ValueError:  # nor does an array, which is no label
        return str(value)
    return value.item() if getattr(value, "shape", None) == () else value


@dataclass(frozen=True)
class _Columns:
    """Where in a row what stands; `notes` is a column of notes on the whole transcript."""

    at: Mapping[str, int]
    scores: tuple[Score, ...]
    names: Sequence[str]
    rater: str | None
    notes: int | None = None


def _header(names: Sequence[str], file: str, line: int | None, wanted: Wanted) -> _Columns:
    names = [name.strip() for name in names]
    problems = Problems()

    def add(message: str) -> None:
        problems.add(message, file=file, line=line)

    at, rest = _named_columns(names, wanted, add)
    problems.raise_any()
    by_dimension = {name: number for name, number in rest.items() if name in wanted.levels}
    if "score" in at:
        scores = _long(at, by_dimension, wanted, add)
    elif by_dimension:
        scores = _wide(at, rest, by_dimension, wanted, add)
    elif "dimension" in at:
        scores = _a_column_a_rater(at, rest, add)
    else:
        close = next(filter(None, map(wanted.near, rest)), "")
        near = f' Did you mean "{close}"?' if close else ""
        add(
            f"holds no label that can be told: {', '.join(rest) or 'no other column'}. Wanted are "
            "the columns dimension and score, or a column called after each dimension. "
            f"Dimensions: {wanted.known()}.{near}"
        )
        scores = []
    told = "rater" in at or any(rater is not None for _, rater, _, _ in scores)
    if told and wanted.rater is not None:
        add(
            f"says itself who gave each label; leave --rater {wanted.rater} out, and rename "
            f"raters with --map THEIRS=OURS"
        )
    if scores and not told and wanted.rater is None:
        add("has no column rater; add it, or say who gave the labels with --rater NAME")
    problems.raise_any()
    whole = at.get("note") if "score" not in at and len(by_dimension) > 1 else None
    return _Columns(at, tuple(scores), names, wanted.rater, whole)


def _named_columns(
    names: Sequence[str], wanted: Wanted, add: Callable[[str], None]
) -> tuple[dict[str, int], dict[str, int]]:
    at: dict[str, int] = {}
    rest: dict[str, int] = {}
    for number, name in enumerate(names):
        ours = wanted.ours(name)
        # A dimension may be called like a column that other tools write.
        if ours not in _COLUMNS and ours not in wanted.levels:
            ours = _OTHER_NAMES.get(ours.lower(), ours)
        if not ours:
            continue  # an index that was written with the table
        place = at if ours in _COLUMNS else rest
        if ours in place:
            add(f'column "{ours}" stands twice; keep one, or rename it')
        place[ours] = number
    if "case_id" not in at:
        add(
            f"has no column case_id, but {', '.join(filter(None, names)) or 'no names'}; rename "
            "the column that holds the case, or name it with --map THEIRS=case_id"
        )
    for name in rest:
        near = get_close_matches(name, _COLUMNS, n=1, cutoff=0.85)
        if near and near[0] not in at and name not in wanted.levels:
            add(f'unknown column "{name}". Did you mean "{near[0]}"?')
    return at, rest


def _long(
    at: Mapping[str, int], by_dimension: Mapping[str, int], wanted: Wanted,
    add: Callable[[str], None],
) -> list[Score]:  # fmt: skip
    if by_dimension:
        add(
            f"has a column score and columns of dimensions ({', '.join(by_dimension)}); it is not "
            "clear which holds the labels: keep score and dimension, or the columns of dimensions"
        )
    only = next(iter(wanted.levels)) if len(wanted.levels) == 1 else None
    if "dimension" not in at and only is None:
        add(
            "has a column score and no column dimension; add it, or call the column score after "
            f"its dimension. Dimensions: {wanted.known()}"
        )
    return [(None if "dimension" in at else only, None, at["score"], at.get("note"))]


def _wide(
    at: Mapping[str, int], rest: Mapping[str, int], by_dimension: Mapping[str, int],
    wanted: Wanted, add: Callable[[str], None],
) -> list[Score]:  # fmt: skip
    if "dimension" in at:
        add(
            f"has a column dimension and columns of dimensions ({', '.join(by_dimension)}); it is "
            "not clear which say what was labelled: drop the one or the other"
        )
    for name in rest:
        near = "" if wanted.role(name) else wanted.near(name)
        if near:
            add(f'column "{name}" is no dimension. Did you mean "{near}"?')
    single = at.get("note") if len(by_dimension) == 1 else None
    return [
        (name, None, number, rest.get(f"{name}_note", single))
        for name, number in by_dimension.items()
    ]


def _a_column_a_rater(
    at: Mapping[str, int], rest: Mapping[str, int], add: Callable[[str], None]
) -> list[Score]:
    raters = {
        name: number
        for name, number in rest.items()
        if not (name.endswith("_note") and name[:-5] in rest)
    }
    if "rater" in at or not raters:
        add(
            "has a column dimension and no column score; add it, or give each rater a column and "
            "leave the column rater out"
        )
    if "note" in at:
        add('column "note" says not whose note it is; call it "<rater>_note"')
    return [(None, name, number, rest.get(f"{name}_note")) for name, number in raters.items()]


def _said(columns: _Columns, lines: Iterable[Line]) -> Iterator[Said]:
    at, names = columns.at, columns.names
    more_at = {name: number for name, number in at.items() if name in _MORE}
    place_at = {name: at[name] for name in _PLACES if name in at}
    for line, cells in lines:
        places = {name: cells[number] for name, number in place_at.items()}
        places.setdefault("rater", columns.rater)
        more = {
            name: _typed(name, cells[number])
            for name, number in more_at.items()
            if cells[number] not in ("", None)
        }
        for dimension, rater, number, note in columns.scores:
            yield Said(
                line=line,
                dimension=str(cells[at["dimension"]]).strip() if dimension is None else dimension,
                score=cells[number],
                place=names[number],
                note=_words(cells[note]) if note is not None else "",
                more=more,
                **(places if rater is None else {**places, "rater": rater}),
            )
        words = _words(cells[columns.notes]) if columns.notes is not None else ""
        if words:
            yield Said(line=line, kind="note", note=words, more=more, **places)


def _words(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _typed(name: str, cell: Any) -> Any:
    """A cell as its field wants it; what does not fit stays text, and is complained of."""
    if name not in ("turn", "inclusion"):
        return cell if isinstance(cell, str) else str(cell)
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return cell
    return int(number) if name == "turn" and number.is_integer() else number
