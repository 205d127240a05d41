"""The judged dimensions: where each stands, what could not be told, and whether the judge is known.

May not average over dimensions, and may not show a mean without what is doubted of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agenteval_kit.records.rubrics import span
from agenteval_kit.report.calibrated import (
    ceiling_mark,
    corrected_words,
    show_calibrated,
    trust_marks,
    why_not_corrected,
)
from agenteval_kit.report.judged_marks import distribution_mark
from agenteval_kit.report.marks import interval_mark
from agenteval_kit.report.markup import Html, Part, badge, join, tag, with_code
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import listed, minus
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.pairing import PairedDimension
    from agenteval_kit.judge.scores import DimensionScores

__all__ = ["dimension_bars", "scripted_note", "show_dimensions"]

_NAMED = 3
"""How many dimensions a heading names; of more it says how many."""
_ORDER = ("pass", "cannot tell", "fail")


def show_dimensions(release: Release) -> Html:
    """One row a dimension: verdict, mean with interval, distribution, unscored, trust, change."""
    judged = release.judgements
    if not judged.dimensions:
        said = "Dimensions: not judged in this run."
        if not judged:
            said = "Dimensions and win rate: not judged in this run."
        return tag("p", {"class": "lead", "id": "judged"}, said)
    compared = any(not pair.refused for pair in judged.pairs.values())
    rows = [_row(one, release, compared=compared) for one in judged.dimensions]
    columns: list[Column | str] = [
        "dimension",
        Column("mean, 95 %", "number"),
        Column("on its scale", "figure"),
        Column("verdicts", "figure"),
        "clause and judge",
        Column("what to know", "prose"),
    ]
    return join(
        [
            tag("h2", {"id": "judged"}, _finding(release)),
            scripted_note(release),
            table(columns, rows, caption=_caption(release, compared=compared)),
            show_calibrated(release),
        ]
    )


def scripted_note(release: Release) -> Part:
    """Says that judges are scripts, wherever a number of theirs is shown."""
    names = release.judgements.scripted
    if not names:
        return None
    return tag(
        "p",
        {"class": "banner"},
        tag("b", None, "SCRIPTED judge: " if len(names) == 1 else "SCRIPTED judges: "),
        f"what {listed(names)} {'says' if len(names) == 1 else 'say'} was written beforehand. "
        "Such numbers show this page, and say nothing of how good the agent is.",
    )


def _finding(release: Release) -> str:
    dimensions = release.judgements.dimensions
    status = {one.name: _status(one.name, release) for one in dimensions}
    parts = []
    failed = [name for name, found in status.items() if found == "fail"]
    untold = [name for name, found in status.items() if found == "cannot tell"]
    under = [
        one.name
        for one in dimensions
        if (bar := _bar(one.name, release)) is not None
        and one.judged.estimate.value is not None
        and one.judged.estimate.value < bar - 1e-9
    ]
    if failed:
        parts.append(f"{_names(failed)} {'fails' if len(failed) == 1 else 'fail'} the bar")
    rest = [name for name in under if name not in failed]
    if rest:
        parts.append(f"{_names(rest)} {'lies' if len(rest) == 1 else 'lie'} under the bar")
    fell = [pair.dimension for pair in _moved(release) if (pair.difference.value or 0) < 0]
    rose = [pair.dimension for pair in _moved(release) if (pair.difference.value or 0) > 0]
    if fell:
        parts.append(f"{_names(fell)} fell")
    if rose:
        parts.append(f"{_names(rose)} rose")
    known = [release.judgements.trust_of(one) for one in dimensions]
    unclear = [one.dimension for one in known if one.rubric_state == "rubric ambiguous"]
    if unclear:
        # Before any number of a judge: people do not agree on what these ask for.
        parts.insert(0, f"the rubric of {_names(unclear)} is ambiguous")
    states = {one.state for one in known}
    if states == {"never calibrated"}:
        parts.append("no judge here was ever calibrated")
    elif "trusted" in states:
        sure = sum(one.trusted for one in known)
        parts.append(f"the judge is trusted on {sure} of {len(known)}")
    elif untold:
        parts.append(f"{len(untold)} of {len(dimensions)} cannot be told")
    return f"Judged dimensions: {'; '.join(parts)}" if parts else "Judged dimensions"


def _names(dimensions: list[str]) -> str:
    if len(dimensions) > _NAMED:
        return f"{len(dimensions)} dimensions"
    return listed([name.replace("_", " ") for name in dimensions])


def _caption(release: Release, *, compared: bool) -> str:
    said = [
        "Means over cases with an anchored interval: a trend over the suite, not a verdict on one "
        "transcript. Round and thick: this release."
    ]
    if compared:
        said.append("Diamond and thin: the baseline under the same judge. Change: paired by case.")
    if any(_bar(one.name, release) is not None for one in release.judgements.dimensions):
        said.append("Dashed: the bar.")
    said.append("Corrected: what people would have scored, which takes labels" + _without(release))
    said.append(f"Judges: {', '.join(release.judgements.seated)}.")
    return " ".join(said)


def _without(release: Release) -> str:
    judged = release.judgements
    if not judged.calibrated:
        return "; there are none yet."
    transported = any(one.transported for one in judged.corrected.values())
    said = "; transported: of another agent's transcripts" if transported else ""
    return f"{said}."


def _row(one: DimensionScores, release: Release, *, compared: bool) -> list[Part]:
    judged = one.judged
    levels = one.stamp.levels
    pair = release.judgements.pairs.get(one.name)
    paired = pair is not None and not pair.refused
    before = release.judgements.before.get(one.name)
    old = before.judged.estimate if before is not None and paired else None
    trust = release.judgements.trust_of(one)
    status = _status(one.name, release)
    people = release.judgements.corrected.get(one.name)
    n = counted(judged.estimate.n, "case")
    if people is not None and people.found is not None:
        n += f"; {people.found.labels:,} of {counted(judged.n, 'transcript')} labelled"
    corrected = corrected_words(people)
    seats = len(one.stamp.seats)
    who = "one seat" if seats == 1 else f"panel of {seats}"
    mark = interval_mark(
        judged.estimate, old, bar=_bar(one.name, release), low=levels[0], high=levels[-1]
    )
    return [
        join(
            [
                one.name.replace("_", " "),
                tag("div", {"class": "note"}, judged.layer),
                ceiling_mark(trust.rubric_state),
            ]
        ),
        join(
            [
                _mean(judged.estimate),
                tag("div", {"class": "note"}, n),
                tag("div", {"class": "note"}, corrected),
                tag("div", {"class": "note"}, f"change {_change(pair)}") if compared else None,
            ]
        ),
        join([mark, _ends(levels)]),
        distribution_mark(judged.distribution, unscored=judged.unscored + one.open),
        tag(
            "div",
            {"class": "stack"},
            badge(status) if status else None,
            *trust_marks(trust),
            tag("span", {"class": "note"}, who),
        ),
        _to_know(
            one,
            pair,
            # Where the judge is trusted, the table of agreement below holds what that rests on.
            ["" if trust.trusted else minus(trust.reason), why_not_corrected(people)],
        ),
    ]


def _mean(estimate: Estimate) -> Part:
    return "n/a" if estimate.value is None else estimate.text()


def _ends(levels: tuple[int, ...]) -> Html:
    return tag(
        "div",
        {"class": "ends note", "aria-hidden": "true"},
        tag("span", None, str(levels[0])),
        tag("span", None, str(levels[-1])),
    )


def _change(pair: PairedDimension | None) -> Part:
    if pair is None or pair.refused or pair.difference.value is None:
        return "–"
    return minus(pair.difference.text())


def _to_know(one: DimensionScores, pair: PairedDimension | None, doubts: list[str]) -> Html:
    judged = one.judged
    said = []
    if judged.estimate.value is None:
        said.append(judged.estimate.reason)
    if judged.unscored:
        why = ", ".join(f"{what} {count:,}" for what, count in judged.reasons.items())
        said.append(f"{judged.unscored:,} unscored ({why})")
        if judged.worst is not None:
            said.append(f"mean {judged.worst:.2f} if each of those were a {one.stamp.levels[0]}")
    if one.open:
        said.append(f"{one.open:,} not judged yet")
    if judged.disagreement is not None:
        said.append(f"seats disagree in {judged.disagreement.text(percent=True)}")
    if judged.splits:
        said.append(f"{judged.splits} without a majority")
    if one.same_model:
        said.append("judge = agent model")
    if not one.stamp.independent:
        said.append("seats not independent")
    if one.note:
        said.append(one.note)
    if pair is not None and pair.refused:
        said.append(f"not compared: {pair.refused}")
    elif pair is not None and pair.shown is not None:
        said.append("beyond noise" if pair.shown else "within noise")
        if pair.dropped:
            said.append(f"{counted(len(pair.dropped), 'case')} not scored in both")
    said += [doubt for doubt in doubts if doubt]
    return with_code("; ".join(said) or f"all scored, {span(one.stamp.levels)}")


def _status(name: str, release: Release) -> str:
    """The worst of the clauses about a dimension; empty without one."""
    if release.decision is None:
        return ""
    found = [
        row.status
        for row in release.decision.rows
        if row.target == name and row.clause in ("mean", "never", "no_worse") and row.trust
    ]
    return max(found, key=_ORDER.index, default="")


def _bar(name: str, release: Release) -> float | None:
    if release.decision is None:
        return None
    return next(
        (
            row.threshold
            for row in release.decision.rows
            if row.clause == "mean" and row.target == name
        ),
        None,
    )


def _moved(release: Release) -> list[PairedDimension]:
    return [pair for pair in release.judgements.pairs.values() if pair.shown]


def dimension_bars(release: Release) -> dict[str, float]:
    """The mean that the bar wants of each dimension, where it wants one."""
    found = {one.name: _bar(one.name, release) for one in release.judgements.dimensions}
    return {name: bar for name, bar in found.items() if bar is not None}
