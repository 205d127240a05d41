"""The claim that a run is no worse than its baseline: by checks, by scores, or by preferences.

May not compare cases that were edited in between, nor call "within noise" what was not shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.preferred import no_lower_rate, preferred, unclear
from agenteval_kit.gate.rows import STATUS, ClauseRow, Status
from agenteval_kit.gate.scored import no_lower_score, unpaired
from agenteval_kit.records.bars import NoWorseClause
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import PairedLayer, Summary, pair_layer
from agenteval_kit.summary.scores import Counts
from agenteval_kit.text import counted

__all__ = ["no_worse"]


def no_worse(evidence: Evidence) -> Iterator[ClauseRow]:
    """A drop beyond the margin is ruled out, shown, or neither: three answers."""
    for layer, clause in evidence.bar.no_worse.items():
        bar = _bar(clause)
        if clause.unit == "score":
            yield from no_lower_score(evidence, layer, clause, bar)
            continue
        found = preferred(evidence, layer) if clause.unit == "win_rate" else None
        if found is not None and not evidence.no_baseline:
            yield no_lower_rate(evidence, layer, clause, found, bar)
            continue
        why = evidence.no_baseline
        if not why and clause.unit == "win_rate":
            why = unclear(evidence, layer)
        if not why and evidence.summary.layer(layer) is None:
            why = evidence.not_run(layer)
        if why or evidence.before is None:
            yield ClauseRow(
                "no_worse", layer, "cannot tell", why, bar=bar, threshold=clause.margin,
                layer=layer,
            )  # fmt: skip
            continue
        pair = pair_layer(evidence.before, evidence.summary, layer)
        status, reason = _claim(evidence, pair, clause, evidence.before)
        if evidence.in_part:
            reason += f"; {evidence.in_part}"
        yield ClauseRow(
            "no_worse", layer, status, reason, bar=bar, threshold=clause.margin,
            estimate=_in_unit(pair.difference, clause), layer=layer, ids=pair.worse,
        )  # fmt: skip


def _claim(
    evidence: Evidence, pair: PairedLayer, clause: NoWorseClause, before: Summary
) -> tuple[Status, str]:
    if pair.difference.value is None:
        return "cannot tell", pair.difference.reason
    by_rate = clause.unit == "win_rate"
    answer, reason = pair.claim(clause.margin, unit="win rate" if by_rate else "pass share")
    parts = [
        reason,
        f"in pass share {pair.finding}" if by_rate else pair.finding,
        f"{len(pair.worse):,} {'worse' if pair.repeated else 'broken'}, "
        f"{len(pair.better):,} {'better' if pair.repeated else 'fixed'}",
    ]
    if by_rate:
        parts.append("win rate of check outcomes: a case lost moves it by half of its share")
    status, lost = unpaired(
        evidence, STATUS[answer], cases=pair.n + len(pair.dropped), dropped=len(pair.dropped),
        here=_unscored(pair, evidence.summary), before=_unscored(pair, before),
    )  # fmt: skip
    return status, "; ".join([*parts, *lost])


def _unscored(pair: PairedLayer, summary: Summary) -> tuple[int, int]:
    """Transcripts without a score in the layer, and all, of the cases that both runs hold."""
    both = {*pair.ids, *pair.dropped}
    found = [one.counts.get(pair.layer, Counts()) for one in summary.cases if one.case_id in both]
    lost = sum(one.unscored for one in found)
    return lost, lost + sum(one.n for one in found)


def _in_unit(change: Estimate, clause: NoWorseClause) -> Estimate:
    if change.value is None or change.low is None or change.high is None:
        return change
    if clause.unit != "win_rate":
        return change
    return Estimate(
        change.value / 2, change.low / 2, change.high / 2, change.n,
        level=change.level, method=f"{change.method}, in win rate", seed=change.seed,
        diag=change.diag,
    )  # fmt: skip


def _bar(clause: NoWorseClause) -> str:
    unit = {"pass_share": "pass share", "win_rate": "win rate", "score": "score"}[clause.unit]
    if clause.unit == "score":
        return f"a drop of {clause.margin:g} in {unit} ruled out"
    return f"a drop of {counted(100 * clause.margin, 'point')} in {unit} ruled out"
