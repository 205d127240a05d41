"""A calibration as it is read in a notebook: the ceiling, then the judge, then what follows.

May not compute: `agenteval_kit.calibrate` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.report.calibrated import ceiling_mark, trust_badge, why_no_gap
from agenteval_kit.report.markup import Html, Part, join, note, tag, with_code
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import minus, sentence
from agenteval_kit.text import counted

if TYPE_CHECKING:
    # numpy, which a page without labels has no use for.
    from agenteval_kit.calibrate.corrected import CorrectedRun
    from agenteval_kit.calibrate.next import NextLabels
    from agenteval_kit.calibrate.result import CalibrationResult, DimensionResult
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["show_beside", "show_ceiling", "show_confusion", "show_corrected", "show_next",
           "show_trust"]  # fmt: skip

_FIGURES: tuple[Column | str, ...] = (
    Column("exact", "number"),
    Column("within one", "number"),
    Column("quadratic kappa", "number"),
    Column("Gwet's AC2", "number"),
)


def show_ceiling(result: CalibrationResult) -> Html:
    """One row a dimension: how far people agree with each other, and whether that is enough."""
    rows: list[list[Part]] = []
    for one in result.dimensions:
        people = one.ceiling
        read = f"{people.doubly:,} of {people.labelled:,} read by two or more of {_people(people)}"
        rows.append(
            [
                join([one.dimension, ceiling_mark(people.state)]),
                read,
                *_figures(people.agreement),
                _figure(people.alpha),
            ]
        )
    caption = (
        "People with each other, 95 % intervals. Two people: Cohen's kappa; more: every pair, "
        "each transcript counting once. Within one is generous on a short scale, so what chance "
        "gives stands beside it. Ambiguous: the upper bound of exact agreement is 0.70 or less, or "
        "that of kappa below 0.4, unless other limits were set."
    )
    columns: list[Column | str] = ["dimension", Column("transcripts", "note"), *_FIGURES,
                                    Column("alpha", "number")]  # fmt: skip
    told = {one.dimension: (one.ceiling.reason, *one.ceiling.notes) for one in result.dimensions}
    return join(
        [
            table(columns, rows, caption=caption),
            *_remarks(told),
            *(note(f"{sentence(one)}.") for one in result.notes),
        ]
    )


def show_beside(result: CalibrationResult) -> Html:
    """One row a dimension: the judge with people on what was held out, and the gap."""
    rows: list[list[Part]] = [
        [
            join([one.dimension, ceiling_mark(one.ceiling.state)]),
            f"{one.stamp.judge if one.stamp else 'no judge'}, {one.held_out} held out",
            *_figures(one.agreement),
            _gap(one),
        ]
        for one in result.dimensions
    ]
    caption = (
        "The judge with people, on held-out transcripts only; several people on one transcript "
        "count one together. The gap is "
        "exact agreement of the judge with people minus that of people with each other: each end "
        "is a one-sided bound. Intervals are 95 %, wider where the held-out labels were looked at "
        "before."
    )
    columns: list[Column | str] = [
        "dimension",
        Column("judge", "note"),
        *_FIGURES,
        Column("gap", "number"),
    ]
    told = {
        one.dimension: (
            one.dominated,
            *(each for each in one.notes if each not in one.ceiling.notes),
        )
        for one in result.dimensions
    }
    return join([table(columns, rows, caption=caption), *_remarks(told)])


def show_confusion(result: CalibrationResult, dimension: str | None = None) -> Html:
    """Held-out labels of one dimension: the judge's level in rows, people's in columns.

    Without a name it is the first that was judged and labelled.
    """
    compared = [each.dimension for each in result.dimensions if each.entry is not None]
    if dimension is None and not compared:
        return note("No dimension was both judged and labelled.")
    dimension = compared[0] if dimension is None else dimension
    one = result.of(dimension)
    cells: dict[int, list[int]] = {
        level: [int(count) for count in row]
        for level, row in zip(
            one.levels, result.confusion_frame(dimension).to_numpy().tolist(), strict=True
        )
    }
    total = sum(map(sum, cells.values()))
    rows: list[list[Part]] = []
    for level in one.levels:
        counts = cells[level]
        shown: list[Part] = [
            tag("strong", None, f"{count:,}") if other == level else f"{count:,}"
            for other, count in zip(one.levels, counts, strict=True)
        ]
        rows.append([f"judge {level}", *shown, str(sum(counts))])
    every = [str(sum(column)) for column in zip(*cells.values(), strict=True)]
    rows.append(["people, all", *every, f"{total:,}"])
    columns: list[Column | str] = [
        dimension,
        *(Column(f"people {level}", "number") for level in one.levels),
        Column("judge, all", "number"),
    ]
    caption = (
        f"{counted(total, 'label')} on {counted(one.held_out, 'held-out transcript')}, "
        "as they are and without weights; where both agree in bold."
    )
    said = note(f"{sentence(one.dominated)}.") if one.dominated else None
    return join([table(columns, rows, caption=caption, compact=True), said])


def show_trust(result: CalibrationResult) -> Html:
    """One row a dimension: whether the judge is trusted, why, and what could settle it."""
    rows: list[list[Part]] = []
    for one in result.dimensions:
        chance = one.chance
        rows.append(
            [
                one.dimension,
                trust_badge(one.state),
                with_code(sentence(minus(one.reason))),
                f"about {one.more_labels:,}" if one.more_labels else "–",
                chance.reason
                if chance.value is None
                else join([chance.text(percent=True), tag("div", {"class": "note"}, chance.diag)]),
            ]
        )
    columns: list[Column | str] = [
        "dimension",
        "judge",
        Column("why", "prose"),
        Column("further labels", "number"),
        Column("chance for a judge as good as a person", "note"),
    ]
    rule = next((one.entry.rule for one in result.dimensions if one.entry is not None), None)
    caption = "Whether a gate may rest on the judge."
    if rule is not None:
        caption += (
            f" The rule: {rule.statistic} at least {rule.at_least:g} and a gap above "
            f"-{rule.gap_margin:g}, on the {rule.on}; {rule.min_labels:,} transcripts, "
            f"{rule.raters} {'people' if rule.raters > 1 else 'person'} on each."
        )
    return table(columns, rows, caption=minus(caption))


def show_corrected(found: CorrectedRun) -> Html:
    """One row a dimension: the mean the judge gave, and the one people would have given."""
    rows: list[list[Part]] = []
    for one in found.dimensions.values():
        if one.found is None:
            rows.append([one.dimension, None, one.reason, None, sentence("; ".join(one.notes))])
            continue
        drawn = f"{one.found.labels:,} of {one.found.suite:,}, {one.found.design}"
        doubts = (*one.notes, one.found.diag)
        rows.append(
            [
                one.dimension,
                _shown(one.found.raw_mean),
                _shown(one.found.mean),
                drawn,
                sentence("; ".join(part for part in doubts if part)),
            ]
        )
    columns: list[Column | str] = [
        "dimension",
        Column("the judge's mean", "number"),
        Column("people's mean, estimated", "number"),
        Column("labels", "note"),
        Column("doubts", "prose"),
    ]
    caption = (
        "Means over the whole run, 95 %. People's is estimated from the held-out labels and the "
        "judge's scores of everything, by how the labels were drawn; what was read for tuning "
        "counts as people said."
    )
    return table(columns, rows, caption=caption)


def show_next(found: NextLabels) -> Html:
    """One row a transcript worth a label, and why."""
    items = found.sample.items if found.sample else ()
    rows: list[list[Part]] = [
        [one.case_id, str(one.repeat), one.stratum, f"{one.inclusion:.3g}",
         sentence(found.reasons[one.stratum])]
        for one in items
    ]  # fmt: skip
    columns: list[Column | str] = [
        "case",
        Column("repeat", "number"),
        "the judge gave",
        Column("chance of being drawn", "number"),
        Column("why", "prose"),
    ]
    caption = f"Transcripts whose labels would tell most about {found.dimension}."
    told = [line for line in found.lines() if not line.startswith(f"{found.dimension}, score")]
    return join(
        [
            table(columns, rows, caption=caption, empty="everything that was judged is labelled"),
            *(note(f"{sentence(line)}.") for line in told if items or not line.startswith("only")),
        ]
    )


def _people(people: object) -> str:
    count = len(getattr(people, "raters", ()))
    return "one person" if count == 1 else f"{count} people"


def _remarks(told: Mapping[str, Sequence[str]]) -> list[Html]:
    """What is to be known of each dimension, a line each under the table."""
    made = []
    for name, remarks in told.items():
        said = "; ".join(dict.fromkeys(one for one in remarks if one))
        if said:
            made.append(note(f"{name}: {minus(said)}."))
    return made


def _gap(one: DimensionResult) -> Part:
    why = why_no_gap(one.held_out, one.gap)
    return tag("div", {"class": "why"}, why) if why else _figure(one.gap)


def _figures(found: Agreement) -> list[Part]:
    chance = found.within_one_chance
    return [
        _figure(found.exact),
        _figure(found.within_one, "" if chance is None else f"by chance {chance:.2f}"),
        _figure(found.kappa_quadratic),
        _figure(found.ac2_quadratic),
    ]


def _figure(one: Estimate, under: str = "") -> Part:
    """The value over its interval, so that a row of five of them fits a page."""
    if one.value is None or one.low is None:
        return _shown(one)
    value, interval = minus(one.text()).split(" ", 1)
    lines = (interval.strip("()"), under)
    return join([value, *(tag("div", {"class": "note"}, line) for line in lines if line)])


def _shown(one: Estimate) -> Part:
    if one.value is None:
        # A reason is a sentence, where a number would not be broken.
        return tag("div", {"class": "why"}, one.reason) if one.reason else None
    return minus(one.text())
