"""The clauses on judged dimensions: mean, never, and how much could not be scored.

May not pass on what no judge scored: "not judged" is a reason, never a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agenteval_kit.gate.dimensions import (
    DEFAULT,
    Bound,
    bound_by_mean,
    is_level,
    judged_row,
    judged_targets,
    not_judged,
    unscored_part,
)
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import ClauseRow, Status, unique
from agenteval_kit.gate.thresholds import held_against, in_words, not_ruled_out, reaches
from agenteval_kit.stats.proportion import wilson

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import DimensionScores, VerdictScore

__all__ = ["max_unscored", "mean", "never"]


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


def never(evidence: Evidence) -> Iterator[ClauseRow]:
    """No single case may score this level, nor a lower one.

    Raises
    ------
    ConfigError
        If it is no level of its dimension.
    """
    for name, level in evidence.bar.never.items():
        found = evidence.judged.get(name)
        if found is None:
            bar = f"no case scores {level}"
            yield not_judged(evidence, "never", name, bar=bar, threshold=float(level))
        else:
            yield _never(evidence, found, level)


def max_unscored(evidence: Evidence) -> Iterator[ClauseRow]:
    """More than this share of a dimension's verdicts without a score: nothing can be told."""
    limit = evidence.bar.max_unscored
    for one in judged_targets(evidence):
        judged = one.judged
        wanted = judged.n + judged.unscored + one.open
        reason = f"{judged.unscored} of {wanted} verdicts unscored"
        if judged.reasons:
            counted = ", ".join(f"{what} {count}" for what, count in judged.reasons.items())
            reason += f" ({counted})"
        if one.open:
            reason += f"; {one.open} not judged yet"
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


def _never(evidence: Evidence, found: DimensionScores, level: int) -> ClauseRow:
    levels = found.stamp.levels
    is_level(evidence, f"never.{found.name}", level, levels)
    what = f"{level}" if level == levels[0] else f"{level} or less"
    hits = [one for one in found.verdicts if one.score is not None and one.score <= level]
    sure = [one for one in hits if one.at_most(level)]
    n = found.judged.n
    status: Status
    if sure:
        status, ids = "fail", [one.case_id for one in (*sure, *hits)]
        reason = f"{len(sure)} of {n} verdicts say {what}, each by the majority of its askings"
        if len(hits) > len(sure):
            reason += f"; {len(hits) - len(sure)} more without one"
    elif hits:
        status, ids = "cannot tell", [one.case_id for one in hits]
        reason = f"{len(hits)} of {n} verdicts say {what}, and {_doubt(hits, level)}"
    elif not n:
        status, ids, reason = "cannot tell", [], "no verdict has a score"
    else:
        cases = len({one.case_id for one in found.verdicts if one.score is not None})
        status, ids = "pass", []
        reason = f"none of {n} verdicts says {what}; {not_ruled_out(n, cases)}"
    status, rest = unscored_part(evidence, found, status)
    row = ClauseRow(
        "never", found.name, status, "; ".join(part for part in (reason, rest) if part),
        bar=f"no case scores {what}", threshold=float(level),
        estimate=wilson(len(hits), n).noted(f"share of verdicts at {what}") if n else None,
        ids=unique(ids),
    )  # fmt: skip
    return judged_row(evidence, found, row)


def _doubt(hits: list[VerdictScore], level: int) -> str:
    """Why none of these is sure."""
    once = sum(one.at_most(level) is None for one in hits)
    if once < len(hits):
        return "asked again, the majority did not say so"
    return "a single judge was asked once; judge under this bar, and it is asked twice more"
