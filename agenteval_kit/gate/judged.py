"""The clauses on judged dimensions: mean, never, open flags.

May not pass on what no judge scored: "not judged" is a reason, never a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import ClauseRow
from agenteval_kit.gate.thresholds import in_words

__all__ = ["mean", "never", "not_judged", "open_flags"]


def mean(evidence: Evidence) -> Iterator[ClauseRow]:
    """The mean of a dimension reaches its bar."""
    for name, least in evidence.bar.mean.items():
        yield not_judged(
            evidence, "mean", name, bar=f"mean at least {in_words(least)}", threshold=least
        )


def never(evidence: Evidence) -> Iterator[ClauseRow]:
    """No single case may score this level."""
    for name, level in evidence.bar.never.items():
        yield not_judged(
            evidence, "never", name, bar=f"no case scores {level}", threshold=float(level)
        )


def open_flags(evidence: Evidence) -> Iterator[ClauseRow]:
    """Flags that a person has not resolved; asked only where the bar has a judged clause."""
    bar = evidence.bar
    if not (bar.mean or bar.never):
        return
    yield ClauseRow(
        "open_flags", "", "cannot tell", _why(evidence), bar="no open flag",
        if_untold="report" if "report" in (bar.open_flags, bar.untrusted) else "review",
    )  # fmt: skip


def not_judged(
    evidence: Evidence, clause: str, target: str, *, bar: str, threshold: float
) -> ClauseRow:
    """The row of a judged clause in a run without verdicts."""
    reason = _why(evidence)
    if evidence.bar.untrusted == "report":
        reason += "; reported, not counted"
    return ClauseRow(
        clause, target, "cannot tell", reason, bar=bar, threshold=threshold,
        if_untold=evidence.bar.untrusted, trust="not judged",
    )  # fmt: skip


def _why(evidence: Evidence) -> str:
    return f"not judged: run {evidence.summary.run_id} has no verdicts; `agenteval judge RUN` first"
