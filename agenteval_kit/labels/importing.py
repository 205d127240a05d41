"""Labels from elsewhere: tables, Label Studio, Argilla; and into a folder of labels.

May not know a format: each has a module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import (
    ConfigError,
    Problem,
    Problems,
    did_you_mean,
)
from agenteval_kit.files import read_items, read_text
from agenteval_kit.labels.argilla import looks_like_argilla, read_argilla
from agenteval_kit.labels.folder import rater_file
from agenteval_kit.labels.label_studio import looks_like_label_studio, read_label_studio
from agenteval_kit.labels.merging import merge_rows
from agenteval_kit.labels.reading import current_rows, read_labels
from agenteval_kit.labels.rows import make_rows
from agenteval_kit.labels.said import Said, Wanted
from agenteval_kit.labels.tables import frame_said, read_table
from agenteval_kit.records.labels import Design, LabelRow, Sample
from agenteval_kit.records.rubrics import Rubric

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LABEL_FORMATS", "Added", "add_labels", "import_labels", "labels_from_frame"]

LABEL_FORMATS: dict[str, str] = {
    "csv": "a table with a header, long or wide; commas, semicolons or tabs",
    "label_studio": "Label Studio's JSON or JSON-MIN export",
    "argilla": "records of Argilla with their responses, JSON or JSON Lines",
}
"""What labels can be read from."""

_READERS: dict[str, Callable[..., Iterator[Said]]] = {
    "csv": read_table,
    "label_studio": read_label_studio,
    "argilla": read_argilla,
}
_TOOLS = {"csv": "table", "label_studio": "Label Studio", "argilla": "Argilla"}
_DRAW = ("sample", "design", "purpose", "stratum", "inclusion")
_WORDS = ("note", "turn", "transcript_digest", "rubric", "rubric_digest", "dimension_digest")


@dataclass(frozen=True)
class Added:
    """What `add_labels` did.

    Attributes
    ----------
    added : dict of str to int
        Lines written, by rater; a rater of whom all stood already has 0.
    known : int
        Lines left out because they stood already, or because they say what counts already.
    filled : dict of str to int
        Of the lines written, those that give a label again with what was not known of it: how
        many, by field.
    unlike : dict of str to int
        What a file says otherwise than the label that stands and counts: how many, by field.
    warnings : tuple of str
        Torn lines that were dropped.
    """

    added: dict[str, int]
    known: int
    filled: dict[str, int] = field(default_factory=dict)
    unlike: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def import_labels(
    paths: str | Path | Iterable[str | Path],
    run: str,
    *,
    now: str,
    rubric: Rubric | None = None,
    items: Collection[tuple[str, int]] | None = None,
    format: str | None = None,
    rater: str | None = None,
    mapping: Mapping[str, str | int] | None = None,
    design: Design = "external",
    samples: Iterable[Sample] = (),
    sample: str = "",
    texts: Mapping[tuple[str, int], str] | None = None,
) -> list[LabelRow]:
    """Read what people said elsewhere as lines of ours; `add_labels` keeps them.

    Parameters
    ----------
    paths : path or iterable of paths
        Tables or exports, see `LABEL_FORMATS`.
    run : str
        The id of the run whose transcripts were read.
    now : str
        ISO 8601, UTC; the time of labels whose file has none.
    rubric : Rubric, optional
        Names the dimensions and their levels. Without it only long tables and exports can be
        read, and a score is not held against a scale.
    items : collection of (str, int), optional
        Case and repeat of each transcript of the run, to find labels on transcripts that it has
        not.
    format : str, optional
        A key of `LABEL_FORMATS`; by default each file is sniffed.
    rater : str, optional
        Who gave the labels, for tables that do not say.
    mapping : mapping, optional
        Their words in ours: a column, control, question or rater (a text), or a choice (a level,
        or "cannot tell").
    design : str
        How the transcripts were chosen; a column of that name comes first.
    samples : iterable of Sample
        Of this run, as `list_samples` finds them beside the labels. A label on a transcript that
        its sample drew takes design, purpose, stratum and inclusion from there.
    sample : str
        The sample's name, where the files have no column of that name.
    texts : mapping of (str, int) to str, optional
        The digest of each transcript of the run, see `transcript_digest`; without it the labels
        are believed of whatever run has that name.

    Returns
    -------
    list of LabelRow
        In the order of the files; by time where a rater said two things of one transcript and
        dimension. `origin` names the file and the tool. Digests of the wording are left empty:
        the files do not say which wording was read.

    Raises
    ------
    ConfigError
        Everything that is wrong in all files, with file and line: an unknown case or dimension, a
        score that is no level, one rater twice on one transcript and dimension.
    """
    if format is not None and format not in LABEL_FORMATS:
        raise ConfigError(f'unknown format "{format}".{did_you_mean(format, LABEL_FORMATS)}')
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise ConfigError("no file to import; name at least one")
    wanted = replace(
        _wanted(run, now, rubric, items, rater, mapping, design),
        samples={one.name: one for one in samples},
        sample=sample,
        texts=texts or {},
    )
    problems = Problems()
    found: list[tuple[str, int, LabelRow]] = []
    for path in files:
        try:
            kind = format or _detect(path)
            if kind != "csv" and rater is not None:
                raise ConfigError(
                    Problem(
                        f"says itself who gave each label; leave --rater {rater} out, and rename "
                        f"its users with --map THEIRS={rater}",
                        str(path),
                    )
                )
            said = _READERS[kind](path, wanted=wanted, problems=problems)
            origin = f"{path.name} ({_TOOLS[kind]})"
            rows = make_rows(said, file=str(path), origin=origin, wanted=wanted, problems=problems)
            found += [(str(path), line, row) for line, row in rows]
        except ConfigError as error:
            problems.extend(error)
    made = _settled(found, problems)
    problems.raise_any()
    if not made:
        raise ConfigError(f"{', '.join(map(str, files))}: no label was found; nothing is imported")
    return made


def labels_from_frame(
    frame: pd.DataFrame,
    run: str,
    *,
    now: str,
    rubric: Rubric | None = None,
    items: Collection[tuple[str, int]] | None = None,
    rater: str | None = None,
    mapping: Mapping[str, str | int] | None = None,
    design: Design = "external",
    origin: str = "data frame",
) -> list[LabelRow]:
    """Read a data frame as `import_labels` reads a table; its rows count from 1.

    A missing score is a label that was not given. Where the rater could not tell, it says
    "cannot tell".

    Raises
    ------
    ConfigError
        As `import_labels`.
    """
    wanted = _wanted(run, now, rubric, items, rater, mapping, design)
    problems = Problems()
    said = frame_said(frame, wanted=wanted)
    rows = make_rows(said, file="frame", origin=origin, wanted=wanted, problems=problems)
    made = _settled([("frame", line, row) for line, row in rows], problems)
    problems.raise_any()
    return made


def add_labels(folder: Path, rows: Iterable[LabelRow]) -> Added:
    """Add lines to the files of their raters, and none that says what counts already.

    A line stays out if it stands there, or if its rater's last word on that transcript and
    dimension is the same: adding the same twice adds nothing. Where the same word was brought in
    before without its time, its draw or its wording, and is known now, it is written once more
    with all that is known, and that line counts. The others are put where they belong in time, so
    that the later of two words counts.

    Raises
    ------
    ConfigError
        If a file there is no label file, or somebody labels as that rater now. Then nothing is
        written.
    InfrastructureError
        If a file cannot be written: then no line of any rater is, or it says whose are.
    """
    by_rater: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_rater.setdefault(row.rater, []).append(row)
    new: list[LabelRow] = []
    # Lines that follow a line which stands, whatever the time they tell.
    after: dict[str, list[LabelRow]] = {}
    filled: Counter[str] = Counter()
    unlike: Counter[str] = Counter()
    known = 0
    for rater, mine in by_rater.items():
        path = rater_file(folder, rater)
        there = read_labels(path).rows if path.is_file() else ()
        lines = {_line(row) for row in there}
        read = {row.key[:3] for row in there if row.kind in ("label", "skip")}
        last = {(row.kind, row.key): row for row in current_rows(there)}
        for row in mine:
            before = last.get((row.kind, row.key))
            passed = row.kind == "skip" and row.key[:3] in read
            if passed or _line(row) in lines:
                known += 1
            elif before is not None and _same(before, row):
                more = _more(before, row)
                unlike.update(_unlike(before, row))
                filled.update({name: 1 for name in more if name != "undated"})
                known += not more
                if more:
                    fuller = before.model_copy(update={**more, "origin": row.origin})
                    after.setdefault(rater, []).append(fuller)
                    last[row.kind, row.key] = fuller
            else:
                follows = any(before is one for one in after.get(rater, ()))
                (after[rater] if follows else new).append(row)
                last[row.kind, row.key] = row
    merged = merge_rows(folder, new, raters=by_rater, after=after)
    added = {rater: merged.added.get(rater, 0) for rater in by_rater}
    return Added(added, known, dict(filled), dict(unlike), merged.warnings)


def _wanted(
    run: str,
    now: str,
    rubric: Rubric | None,
    items: Collection[tuple[str, int]] | None,
    rater: str | None,
    mapping: Mapping[str, str | int] | None,
    design: Design,
) -> Wanted:
    levels = {one.name: one.levels for one in rubric.absolute()} if rubric is not None else {}
    if rubric is not None and not levels:
        raise ConfigError(
            f'rubric "{rubric.name}" has no dimension with a scale, so there is nothing to label'
        )
    return Wanted(
        run=run,
        levels=levels,
        items=items,
        mapping=mapping or {},
        rater=rater,
        design=design,
        now=now,
    )


def _detect(path: Path) -> str:
    if path.suffix.lower() in (".csv", ".tsv") or not read_text(path).lstrip().startswith(
        ("[", "{")
    ):
        return "csv"
    for item in read_items(path):
        if looks_like_label_studio(item.value):
            return "label_studio"
        if looks_like_argilla(item.value):
            return "argilla"
    known = "; ".join(f"{name} ({text})" for name, text in LABEL_FORMATS.items())
    raise ConfigError(Problem(f"is in no format of labels that is known: {known}", str(path), 1))


def _settled(found: list[tuple[str, int, LabelRow]], problems: Problems) -> list[LabelRow]:
    """The lines in the order in which they were said; one said twice at one time is a mistake."""
    seen: dict[tuple[Any, ...], tuple[str, int]] = {}
    for file, line, row in found:
        key = (row.rater, row.kind, row.key, row.at)
        if key in seen:
            first_file, first = seen[key]
            about = f" on {row.dimension}" if row.dimension else ""
            problems.add(
                f'a {row.kind} of "{row.rater}" for case "{row.case_id}", repeat {row.repeat}'
                f"{about}, stands at {first_file}:{first} already; keep one, or give both their "
                "times in a column at: the later one counts",
                file=file,
                line=line,
            )
        seen.setdefault(key, (file, line))
    return sorted((row for _, _, row in found), key=lambda row: _time(row.at))


def _same(before: LabelRow, row: LabelRow) -> bool:
    """Whether a rater's last word on it is the same, as far as both say it."""
    if row.kind != "label":
        return (before.note, before.turn) == (row.note, row.turn)
    told = ("note", "turn", "dimension_digest")
    return before.score == row.score and not any(name in told for name in _unlike(before, row))


def _more(before: LabelRow, row: LabelRow) -> dict[str, Any]:
    """What a label says that was not known of the same label, when it was brought in before."""
    if row.kind != "label" or not before.origin:
        return {}
    more = {
        name: getattr(row, name)
        for name in _WORDS
        if getattr(before, name) in ("", None) and getattr(row, name) not in ("", None)
    }
    if before.undated and not row.undated:
        more |= {"at": row.at, "undated": False}
    named = row.sample and not before.sample
    if before.design == "external" and (row.design != "external" or named):
        more |= {name: getattr(row, name) for name in _DRAW
                 if getattr(row, name) != getattr(before, name)}  # fmt: skip
    return more


def _unlike(before: LabelRow, row: LabelRow) -> list[str]:
    """The fields in which both say something, and not the same."""
    if row.kind != "label":
        return []
    both = {name: (getattr(before, name), getattr(row, name)) for name in _WORDS}
    if not before.undated and not row.undated:
        both["at"] = (before.at, row.at)
    if "external" not in (before.design, row.design):
        both |= {name: (getattr(before, name), getattr(row, name)) for name in _DRAW}
    return [
        name
        for name, (old, new) in both.items()
        if old != new and old not in ("", None) and new not in ("", None)
    ]


def _line(row: LabelRow) -> str:
    return row.model_dump_json(exclude={"origin"})


def _time(text: str) -> datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
