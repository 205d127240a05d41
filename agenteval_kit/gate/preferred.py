"""The clauses on preferences: win_rate, the smoke alarm; no_worse by win rate, the claim.

May not call a win rate inside its noise a proof: a true drop as large as that passes half the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import STATUS, ClauseRow, Status
from agenteval_kit.gate.thresholds import in_words, reaches
from agenteval_kit.records.bars import NoWorseClause, WinRateClause
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.pairwise.result import Comparison
    from agenteval_kit.pairwise.summary import MeasuredMargin

__all__ = ["TRUST", "no_lower_rate", "preferred", "unclear", "win_rate"]

TRUST = "preferences: not calibrated"
"""Calibration is of scores on a dimension; how much the order decided stands beside instead."""


def win_rate(evidence: Evidence) -> Iterator[ClauseRow]:
    """Preferences between two runs: a fall beyond the noise margin."""
    for target, clause in evidence.bar.win_rate.items():
        why = evidence.no_baseline or _why_not(evidence, target)
        found = None if why else preferred(evidence, target)
        if found is None:
            yield ClauseRow(
                "win_rate", target, "cannot tell", why, bar=_bar(clause.margin), layer=target,
                threshold=None if clause.margin == "measured" else 0.5 - clause.margin,
            )  # fmt: skip
        else:
            yield _alarm(evidence, target, clause, found)


def preferred(evidence: Evidence, target: str) -> Comparison | None:
    """The comparison with the baseline that a clause names; None where there is none."""
    summary = evidence.preferences
    return None if summary is None else summary.find(target)


def unclear(evidence: Evidence, target: str) -> str:
    """Why a clause names no comparison although there are some in its layer; else empty."""
    summary = evidence.preferences
    if summary is None or not any(one.layer == target for one in summary.comparisons):
        return ""
    return summary.why_not(target)


def no_lower_rate(
    evidence: Evidence, target: str, clause: NoWorseClause, found: Comparison, bar: str
) -> ClauseRow:
    """Whether a drop of the win rate beyond the margin is ruled out, shown, or neither."""
    claim = found.claim(clause.margin)
    reason = f"{claim.reason}; {_told(evidence, found)}"
    status, rest = _untold(evidence, found, STATUS[claim.answer])
    return ClauseRow(
        "no_worse", target, status, "; ".join(part for part in (reason, rest) if part), bar=bar,
        threshold=clause.margin, estimate=found.win_rate, layer=found.layer, ids=_lost(found),
        trust=TRUST,
    )  # fmt: skip


def _alarm(evidence: Evidence, target: str, clause: WinRateClause, found: Comparison) -> ClauseRow:
    noise = evidence.measured_margin(found)
    margin = noise.value if clause.margin == "measured" else clause.margin
    status, reason = _rings(found, clause, margin, noise)
    status, rest = _untold(evidence, found, status)
    return ClauseRow(
        "win_rate", target, status,
        "; ".join(part for part in (reason, _told(evidence, found), rest) if part),
        bar=_bar(margin if margin is not None else clause.margin),
        threshold=None if margin is None else 0.5 - margin, estimate=found.win_rate,
        layer=found.layer, ids=_lost(found) if status != "pass" else (), trust=TRUST,
    )  # fmt: skip


def _rings(
    found: Comparison, clause: WinRateClause, margin: float | None, noise: MeasuredMargin
) -> tuple[Status, str]:
    rate = found.win_rate.value
    if rate is None:
        return "cannot tell", f"not computable: {found.win_rate.reason}"
    if margin is None:
        return "cannot tell", f"no margin could be measured: {noise.reason}"
    shown = f"{margin:.3g}"
    whence = f"margin {shown}"
    if clause.margin == "measured":
        whence += f", measured: {noise.source} over {counted(noise.cases, 'case')}"
        if noise.diag:
            whence += f", {noise.diag}"
    elif noise.value is not None and noise.value > margin:
        whence += f", and the noise of this set is {noise.value:.3g}: it may ring by chance"
    if not reaches(rate, 0.5 - margin):
        return "fail", f"{found.win_rate.text()} is under 0.5 - {shown} ({whence})"
    if not reaches(clause.max_margin, margin):
        needed = noise.cases_for(clause.max_margin)
        more = "" if needed is None else f"; about {counted(needed, 'case')} would do"
        return "cannot tell", (
            f"{found.win_rate.text()}, but the margin is wider than {in_words(clause.max_margin)} "
            f"({whence}){more}"
        )
    return "pass", (
        f"no drop shown: {found.win_rate.text()}, at or over 0.5 - {shown} ({whence}); a true drop "
        "as large as the margin is missed half of the time"
    )


def _untold(evidence: Evidence, found: Comparison, status: Status) -> tuple[Status, str]:
    """What has no outcome, in words; too much of it keeps a clause from passing."""
    told = []
    if found.unscored:
        worst = "" if found.worst is None else f" (rate {found.worst:.3g} if each were lost)"
        told.append(
            f"{found.unscored:,} of {counted(found.unscored + found.n, 'pair')} unscored{worst}"
        )
    if found.missing:
        told.append(
            f"{counted(found.missing, 'pair')} not compared yet; run `agenteval compare` again"
        )
        status = "cannot tell" if status == "pass" else status
    if not reaches(evidence.bar.max_unscored, found.unscored_share):
        limit = in_words(evidence.bar.max_unscored, percent=True)
        told.append(f"more than {limit} without an outcome")
        status = "cannot tell" if status == "pass" else status
    return status, "; ".join(told)


def _told(evidence: Evidence, found: Comparison) -> str:
    parts = [f"{found.wins:,} won, {found.ties:,} tied, {found.losses:,} lost by {found.judge}"]
    if found.flips.rate.value is not None:
        parts.append(f"the order of showing changed {found.flips.flips:,} of {found.flips.n:,}")
    # The counts of what is missing and unscored are told where they decide.
    doubts = [one for one in found.diag.split("; ") if one and "not compared yet" not in one]
    others = {} if evidence.preferences is None else evidence.preferences.others
    if found.criterion in others:
        parts.append(f"not mixed with what others said: {'; '.join(others[found.criterion])}")
    return "; ".join([*parts, *doubts])


def _why_not(evidence: Evidence, target: str) -> str:
    summary = evidence.preferences
    if summary is None:
        return (
            "no preferences in this run: checks do not prefer one answer to another; "
            "run `agenteval compare OLD NEW --judge MODEL` first, or use no_worse with "
            "unit: pass_share"
        )
    return summary.why_not(target)


def _lost(found: Comparison) -> tuple[str, ...]:
    return tuple(case_id for case_id, score in found.scores.items() if score < 0.5)


def _bar(margin: float | str) -> str:
    shown = margin if isinstance(margin, str) else f"{margin:.3g}"
    return f"at least 0.5 less the margin ({shown})"
