"""Judges beside people: the ceiling of each dimension first, then its judge, then what is trusted.

May not compute an agreement: the calibration file holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agenteval_kit.records.calibrations import DimensionCalibration, Figure
from agenteval_kit.report.markup import Html, Part, join, note, tag
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import in_points, minus, sentence
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.calibrate.corrected import CorrectedDimension
    from agenteval_kit.records.trust import DimensionTrust

__all__ = ["ceiling_mark", "corrected_words", "show_calibrated", "trust_badge", "trust_marks",
           "why_no_gap", "why_not_corrected"]  # fmt: skip

_TRUST = {"trusted": "ok", "not trusted": "no", "provisional": "mid", "stale": "no"}


def trust_badge(state: str) -> Html:
    """Whether a judge is trusted, as a word with its colour."""
    return tag("span", {"class": f"badge {_TRUST.get(state, 'mid')}"}, state)


def ceiling_mark(state: str) -> Part:
    """That people do not agree with each other, or may not; it stands before a judge's numbers."""
    kind = "no" if state == "rubric ambiguous" else "mid"
    return tag("div", None, tag("span", {"class": f"badge {kind}"}, state)) if state else None


def trust_marks(trust: DimensionTrust) -> list[Part]:
    """The judge's trust, and the labels that could still settle it."""
    wanted = None
    if trust.more_labels:
        wanted = tag("span", {"class": "note"}, f"about {counted(trust.more_labels, 'more label')}")
    return [trust_badge(trust.state), wanted]


def corrected_words(one: CorrectedDimension | None) -> str:
    """The mean that people would have given: "corrected 3.10 (2.90 to 3.30)"."""
    if one is None:
        return "corrected: no labels"
    if one.found is None or one.found.mean.value is None:
        return "corrected: not computable"
    said = f"corrected {one.found.mean.text()}"
    return f"{said}, transported" if one.transported else said


def why_not_corrected(one: CorrectedDimension | None) -> str:
    """Why there is no corrected mean although there are labels; empty where there is one."""
    if one is None or (one.found is not None and one.found.mean.value is not None):
        return ""
    why = one.reason or (one.found.mean.reason if one.found is not None else "")
    return f"no corrected mean: {why}"


def why_no_gap(held_out: int, gap: Figure | Estimate | None) -> str:
    """Why the judge was not set beside people on held-out labels; empty where it was."""
    if not held_out:
        return "no label held out"
    if gap is None or (gap.value is None and gap.reason.startswith("ceiling unknown")):
        # The ceiling may be known all the same: from transcripts that were not held out.
        return "nothing held out was labelled by two people"
    return gap.reason if gap.value is None else ""


def show_calibrated(release: Release) -> Part:
    """One row a dimension that was calibrated for the judge on this page; nothing without any."""
    judged = release.judgements
    entries = [
        entry for one in judged.dimensions if (entry := judged.calibrated.get(one.name)) is not None
    ]
    if not entries:
        return None
    shared = [text for text in entries[0].notes if all(text in one.notes for one in entries)]
    # What holds of every row is said once, under them.
    shared = list(dict.fromkeys(shared)) if len(entries) > 1 else []
    rows = [_row(entry, release, but=shared) for entry in entries]
    columns: list[Column | str] = [
        "dimension",
        Column("labels", "prose"),
        Column("people with each other", "number"),
        Column("judge with people", "number"),
        Column("judge minus people", "number"),
        Column("what follows", "prose"),
    ]
    caption = (
        "Exact agreement and, under it, quadratic kappa, each with its 95 % interval: people with "
        "each other, then judge with people on transcripts that were held out. The difference is "
        "in points of exact agreement, on held-out transcripts that two people labelled; each end "
        "of its interval is a one-sided bound. Exact agreement is "
        "high wherever one level is "
        "common: kappa asks what is left beyond that. Where people do not agree with each other, "
        "the anchors come before the judge."
    )
    return join(
        [
            table(columns, rows, caption=caption),
            note(f"On each of these dimensions: {'; '.join(shared)}.") if shared else None,
        ]
    )


def _row(entry: DimensionCalibration, release: Release, *, but: Sequence[str]) -> list[Part]:
    one = next(item for item in release.judgements.dimensions if item.name == entry.dimension)
    trust = release.judgements.trust_of(one)
    raters = "one rater" if len(entry.raters) == 1 else f"{len(entry.raters)} raters"
    without = why_no_gap(entry.held_out, entry.gap)
    said = [text for text in entry.notes if text not in but]
    if entry.looks > 1:
        said.append(f"look {entry.looks} at these held-out labels")
    return [
        join([entry.dimension.replace("_", " "), ceiling_mark(entry.rubric_state)]),
        join(
            [
                tag("div", None, f"{entry.labelled}, {entry.held_out} held out"),
                tag("div", None, f"{raters}, {entry.doubly} by two or more"),
            ]
        ),
        _agreement(entry.ceiling, "ceiling unknown"),
        _agreement(entry.agreement, "no label held out"),
        _why(without) if without else _stacked(in_points(_estimate(entry.gap or Figure()))),
        join(
            [
                tag("div", {"class": "stack"}, *trust_marks(trust)),
                sentence("; ".join(dict.fromkeys(said))),
            ]
        ),
    ]


def _agreement(found: dict[str, Figure], without: str) -> Part:
    exact, kappa = found.get("exact"), found.get("kappa_quadratic")
    if exact is None or exact.value is None:
        return _why(without)
    under = None if kappa is None else _stacked(f"kappa {minus(_estimate(kappa).text())}")
    return join([_stacked(minus(_estimate(exact).text(percent=True))), under and _soft(under)])


def _stacked(said: str) -> Html:
    """The interval under its value, so that three of them fit beside the words."""
    value, _, interval = said.partition(" (")
    return join([tag("div", None, value), _soft(f"({interval}") if interval else None])


def _soft(shown: Part) -> Html:
    return tag("div", {"class": "note"}, shown)


def _why(reason: str) -> Html:
    return tag("div", {"class": "why"}, reason)


def _estimate(figure: Figure) -> Estimate:
    if figure.value is None:
        return Estimate.undefined(figure.reason or "not known", n=figure.n)
    return Estimate(figure.value, figure.low, figure.high, figure.n, reason=figure.reason)
