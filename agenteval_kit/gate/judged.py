"""The clauses on judged dimensions: their mean, and how much could not be scored.

May not pass on what no judge scored: "not judged" is a reason, never a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agenteval_kit.gate.dimensions import (
    DEFAULT,
    Bound,
    bound_by_mean,
    judged_row,
    judged_targets,
    not_judged,
    unscored_part,
)
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import ClauseRow, unique
from agenteval_kit.gate.thresholds import held_against, in_words, reaches
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import DimensionScores

__all__ = ["max_unscored", "mean"]


def mean(evidence: Evidence) -> Iterator[ClauseRow]:
    """The mean of a dimension reaches its bar."""
    for one in bound_by_mean(evidence):
        bar = f"mean at least {in_words(one.least)}"
        if one.by_default and one.name != DEFAULT:
            bar += " (default)"
        if one.found is None or one.why:
            yield not_judged(
                evidence, "mean", one.name, bar=bar, threshold=one.least, why=one.why,
                estimate=None if one.found is None else one.found.judged.estimate,
            )  # fmt: skip
        else:
            yield _mean(evidence, one, one.found, bar)


def max_unscored(evidence: Evidence) -> Iterator[ClauseRow]:
    """More than this share of a dimension's verdicts without a score: nothing can be told."""
    limit = evidence.bar.max_unscored
    for one in judged_targets(evidence):
        judged = one.judged
        wanted = judged.n + judged.unscored + one.open
        reason = f"{judged.unscored:,} of {counted(wanted, 'verdict')} unscored"
        if judged.reasons:
            why = ", ".join(f"{what} {count:,}" for what, count in judged.reasons.items())
            reason += f" ({why})"
        if one.open:
            reason += f"; {one.open:,} not judged yet"
        if judged.estimate.value is not None and judged.worst is not None and judged.unscored:
            reason += (
                f"; mean {judged.estimate.value:.2f}, or {judged.worst:.2f} if each unscored one "
                f"were a {one.stamp.levels[0]}"
            )
        if one.same_model:
            reason += "; judge = agent model"
        told = wanted and not one.open and reaches(limit, one.unscored_share)
        reported = evidence.bar.untrusted == "report" and not evidence.trust_of(one).trusted
        yield ClauseRow(
            "max_unscored", one.name, "pass" if told else "cannot tell", reason,
            bar=f"at most {in_words(limit, percent=True)} of verdicts unscored, none missing",
            threshold=limit, layer=judged.layer,
            ids=unique(item.case_id for item in one.verdicts if item.score is None),
            if_untold="report" if reported else "review",
        )  # fmt: skip


def _mean(evidence: Evidence, one: Bound, found: DimensionScores, bar: str) -> ClauseRow:
    judged = found.judged
    status, reason = held_against(
        judged.estimate, one.least, applies_to=evidence.bar.bar_applies_to
    )
    status, rest = unscored_part(evidence, found, status)
    low = [
        item.case_id
        for item in found.verdicts
        if item.score is not None and not reaches(item.score, one.least)
    ]
    row = ClauseRow(
        "mean", one.name, status, "; ".join(part for part in (reason, rest) if part), bar=bar,
        threshold=one.least, estimate=judged.estimate,
        ids=() if status == "pass" else unique(low),
    )  # fmt: skip
    return judged_row(evidence, found, row)
