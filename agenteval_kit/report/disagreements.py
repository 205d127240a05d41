"""Where people and judges differ, as tables: how often, in which cells, in whose words.

May not say who is right, nor count: `agenteval_kit.calibrate` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.cells import Cell, PeopleCell, cells_of, people_cells
from agenteval_kit.calibrate.compared import Compared, Disagreements
from agenteval_kit.calibrate.said import group_notes
from agenteval_kit.calibrate.spread import OPEN, Spread, spread_of
from agenteval_kit.report.markup import Html, Part, join, note, tag
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import clip, in_shares, sentence
from agenteval_kit.text import counted

if TYPE_CHECKING:
    # numpy, which a page without labels has no use for.
    from agenteval_kit.calibrate.again import Recalibration

__all__ = [
    "show_anchors",
    "show_cells",
    "show_disagreements",
    "show_overruled",
    "show_recalibration",
    "show_shared_notes",
]

_LONGEST, _NAMED = 300, 3


def show_disagreements(found: Disagreements) -> Html:
    """One row a dimension: how often people differ, then how often the judge differs from them."""
    spreads = [spread_of(found, name) for name in found.scales]
    columns: list[Column | str] = [
        "dimension",
        Column("people differ from each other", "note"),
        Column("rubric", "note"),
        Column("the judge differs from a person", "note"),
        Column("milder than the person", "note"),
        Column("harsher", "note"),
        Column("transcripts", "number"),
        Column("judge and doubts", "note"),
    ]
    rows = [_spread_row(one) for one in spreads]
    caption = (
        "Shares with 95 % intervals, people first. Of a transcript's labels (its pairs of labels "
        "for people), the share that differs, averaged over transcripts: each transcript counts "
        "once, however many people read it. Wilson's interval where one label is one transcript, "
        "else the anchored Bayesian bootstrap, by scenario where cases repeat."
    )
    return join(
        [
            note(found.data_note) if found.data_note else None,
            note("These judges are SCRIPTED: no model gave these scores.")
            if found.scripted
            else None,
            table(columns, rows, caption=caption),
            *(note(f"{sentence(warning)}.") for warning in found.warnings),
        ]
    )


def _spread_row(one: Spread) -> list[Part]:
    doubts = [one.scale.judge or "no judge", one.differs.diag.removesuffix(OPEN).rstrip("; ")]
    if one.only is not None:
        doubts.insert(1, f"gave {one.only} to every one of them")
    if one.unscored:
        doubts.insert(1, f"{one.unscored:,} unscored by the judge")
    return [
        one.scale.name,
        in_shares(one.people) if one.people.value is not None else one.people.reason,
        one.state.removeprefix("rubric "),
        in_shares(one.differs),
        in_shares(one.milder),
        in_shares(one.harsher),
        f"{one.labelled:,}",
        "; ".join(doubt for doubt in doubts if doubt),
    ]


def show_anchors(found: Disagreements, dimension: str, *, most: int = 2) -> Html:
    """The cells that weigh most: the two anchors to read against each other, and whose fault.

    Parameters
    ----------
    found : Disagreements
        Of a run.
    dimension : str
        Which.
    most : int
        How many cells.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    cells = cells_of(found, dimension)[:most]
    if not cells:
        people = people_cells(found, dimension)
        if not people:
            return note(f"{dimension}: nobody differs on any transcript.")
        return _people_card(people[0])
    only = spread_of(found, dimension).only
    stuck = None
    if only is not None:
        stuck = note(
            f"The judge gave {only} to every transcript, so nothing shows that it tells levels "
            "apart. Read its replies first: another wording helps only a judge that reads it."
        )
    return join([stuck, *map(_card, cells)])


def _card(cell: Cell) -> Html:
    title = {
        "judge misreads": f"the judge gives {cell.judge} where people give {cell.human}",
        "anchor ambiguous": f"people too are of two minds between {cell.human} and {cell.judge}",
    }.get(cell.whose, f"{cell.human} by a person, {cell.judge} by the judge")
    where = {
        "judge misreads": "Say in the anchors what people see here and the judge does not",
        "anchor ambiguous": "Rewrite the line between the two anchors first: the judge cannot be "
        "surer than people are",
    }.get(cell.whose, "Have a second person read them before an anchor is changed")
    return tag(
        "div",
        {"class": "card"},
        tag("h3", None, f"{cell.scale.name}: {title}"),
        tag("p", {"class": "note"}, f"{_size(cell)}. {sentence(cell.why)}. {where}."),
        _both_anchors(cell.scale.name, [
            (cell.human, "people", cell.scale.anchor(cell.human)),
            (cell.judge, "the judge", cell.scale.anchor(cell.judge)),
        ]),
        _said(cell.rows),
    )  # fmt: skip


def _people_card(cell: PeopleCell) -> Html:
    pairs = counted(cell.pairs, "pair")
    return tag(
        "div",
        {"class": "card"},
        tag("h3", None, f"{cell.scale.name}: people part at {cell.low} and {cell.high}"),
        tag("p", {"class": "note"}, f"{pairs} of labels; of a transcript's pairs, on average "
            f"{in_shares(cell.share)}."),
        _both_anchors(cell.scale.name, [
            (cell.low, "one person", cell.scale.anchor(cell.low)),
            (cell.high, "another", cell.scale.anchor(cell.high)),
        ]),
        _said(cell.rows),
    )  # fmt: skip


def _size(cell: Cell) -> str:
    labels, on = counted(cell.labels, "label"), counted(len(cell.rows), "transcript")
    return f"{labels} on {on}; of a transcript's labels, on average {in_shares(cell.share)}"


def _both_anchors(name: str, each: Sequence[tuple[int, str, str]]) -> Html:
    rows: list[list[Part]] = [[str(level), who, words] for level, who, words in each]
    columns: list[Column | str] = [Column("level", "number"), "given by", "its anchor"]
    return table(columns, rows, caption=f"The two anchors of {name}.", compact=True)


def _said(rows: Sequence[Compared]) -> Html | None:
    notes = [
        join([tag("b", None, f"{one.case_id}, {rater}: "), clip(words, _LONGEST)])
        for one in rows
        for rater, words in (*one.failures, *one.notes)
    ]
    most = 8
    if not notes:
        return tag("p", {"class": "note"}, "No rater wrote a note on these.")
    more = f"and {len(notes) - most:,} more" if len(notes) > most else None
    items = [tag("li", {"dir": "auto"}, one) for one in notes[:most]]
    return join(
        [
            tag("p", {"class": "note"}, "What raters wrote:"),
            tag("ul", {"class": "note"}, *items, tag("li", None, more) if more else None),
        ]
    )


def show_cells(found: Disagreements, dimension: str, *, most: int = 10) -> Html:
    """Every (person, judge) cell of a dimension, the heaviest first; then where people differ.

    Parameters
    ----------
    found : Disagreements
        Of a run.
    dimension : str
        Which.
    most : int
        How many rows of each table; the captions say how many there are.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    cells, people = cells_of(found, dimension), people_cells(found, dimension)
    columns: list[Column | str] = [
        Column("person, judge", "number"),
        Column("labels", "number"),
        Column("of a transcript's labels", "note"),
        "reading",
        Column("second readers", "prose"),
        Column("transcripts", "note"),
    ]
    rows: list[list[Part]] = [
        [
            f"{one.human}, {one.judge}",
            f"{one.labels:,}",
            in_shares(one.share),
            one.whose,
            one.why,
            _names(one.rows),
        ]
        for one in cells[:most]
    ]
    caption = (
        f"{dimension}: {counted(len(cells), 'cell')} in which the judge's level is not the "
        f"person's{_first(len(cells), most)}, by share times levels apart. The share is taken of "
        "each transcript's labels and averaged over transcripts, so that each counts once."
    )
    pairs: list[Column | str] = [
        Column("two people", "number"),
        Column("pairs", "number"),
        Column("of a transcript's pairs", "note"),
        Column("transcripts", "note"),
    ]
    apart: list[list[Part]] = [
        [f"{one.low}, {one.high}", f"{one.pairs:,}", in_shares(one.share), _names(one.rows)]
        for one in people[:most]
    ]
    beside = (
        f"{dimension}: levels that two people gave one transcript{_first(len(people), most)}. What "
        "stands here too is no fault of the judge alone."
    )
    return join(
        [
            table(columns, rows, caption=caption, empty="the judge agrees with every person"),
            table(pairs, apart, caption=beside, empty="no two people differ")
            if any(len(one.labels) > 1 for one in found.of(dimension))
            else note("One rater only: whether people would agree is not known."),
        ]
    )


def _first(there: int, most: int) -> str:
    return f" (the first {most} of {there:,})" if there > most else ""


def _names(rows: Sequence[Compared]) -> str:
    names = list(dict.fromkeys(one.case_id for one in rows))
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def show_shared_notes(found: Disagreements, dimension: str | None = None) -> Html:
    """Transcripts on which somebody differs, grouped by what the notes of their readers share.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    if dimension is not None:
        found.of(dimension)
    rows = [one for one in found.rows if dimension in (None, one.scale.name)]
    shared = group_notes(rows)
    if len(shared.silent) == len(rows):
        return note("No rater wrote a note where somebody differs: nothing to group.")
    columns: list[Column | str] = [
        "shared",
        "is",
        Column("transcripts", "number"),
        Column("also in half of them", "note"),
        Column("which", "note"),
    ]
    made: list[list[Part]] = [
        [
            one.word,
            "a failure mode" if one.kind == "failure" else "a word",
            f"{len(one.rows):,}",
            ", ".join(one.also),
            _names(one.rows),
        ]
        for one in shared.groups
    ]
    caption = (
        "What notes on disagreements share: the failure mode or word of most transcripts first, "
        f"then of those left. {len(shared.alone):,} have a note that shares nothing, "
        f"{len(shared.silent):,} have none."
    )
    return table(columns, made, caption=caption, empty="no two notes share a word")


def show_overruled(found: Disagreements) -> Html:
    """Verdicts that a person overruled having seen them: listed, and counted in no share."""
    if not found.overruled:
        return note("No verdict was overruled by a person.")
    rows: list[list[Part]] = [
        [
            row.case_id,
            row.dimension,
            "unscored" if row.review is None or row.review.verdict is None
            else str(row.review.verdict),
            "cannot tell" if row.score is None else str(row.score),
            row.rater,
            clip(row.note, _LONGEST),
        ]
        for row in found.overruled
    ]  # fmt: skip
    columns: list[Column | str] = [
        "case", "dimension", Column("judge", "number"), Column("person", "number"), "by",
        Column("reason", "prose"),
    ]  # fmt: skip
    caption = (
        "Verdicts that a person overruled. Who reviews has seen the score: no share counts it."
    )
    return table(columns, rows, caption=caption)


def show_recalibration(need: Recalibration) -> Html:
    """What measuring the judge again takes, once an anchor is rewritten."""
    lines = need.lines()
    if not need.chances:
        return join(map(note, lines))
    columns: list[Column | str] = [
        Column("fresh transcripts", "number"),
        Column("found trusted", "note"),
    ]
    rows: list[list[Part]] = [[f"{n:,}", in_shares(one)] for n, one in need.chances]
    caption = (
        f"Chance that a judge as good as a person is found trusted: {need.rule.statistic} at least "
        f"{need.rule.at_least:g}, each transcript read by {need.rule.raters}; {need.source}. "
        "Simulated, with the interval of the simulation."
    )
    return join([*map(note, lines[:2]), table(columns, rows, caption=caption)])
