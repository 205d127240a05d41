"""The claim that a run is no worse than its baseline: by checks, by scores, or by preferences.

May not compare cases that were edited in between, nor call "within noise" what was not shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.preferred import no_lower_rate, preferred, unclear
from agenteval_kit.gate.rows import STATUS, ClauseRow, Status
from agenteval_kit.gate.scored import no_lower_score
from agenteval_kit.gate.thresholds import reaches
from agenteval_kit.records.bars import NoWorseClause
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import PairedLayer, pair_layer
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
        status, reason = _claim(pair, clause, max_unscored=evidence.bar.max_unscored)
        if evidence.in_part:
            reason += f"; {evidence.in_part}"
        yield ClauseRow(
            "no_worse", layer, status, reason, bar=bar, threshold=clause.margin,
            estimate=_in_unit(pair.difference, clause), layer=layer, ids=pair.worse,
        )  # fmt: skip


def _claim(pair: PairedLayer, clause: NoWorseClause, *, max_unscored: float) -> tuple[Status, str]:
    if pair.difference.value is None:
        return "cannot tell", pair.difference.reason
    answer, reason = pair.claim(clause.margin, scale=_scale(clause))
    status = STATUS[answer]
    parts = [
        reason,
        pair.finding,
        f"{len(pair.worse)} {'worse' if pair.repeated else 'broken'}, "
        f"{len(pair.better)} {'better' if pair.repeated else 'fixed'}",
    ]
    if clause.unit == "win_rate":
        parts.append("win rate of check outcomes: a case lost moves it by half of its share")
    lost = len(pair.dropped) / (pair.n + len(pair.dropped))
    if pair.dropped:
        parts.append(f"{counted(len(pair.dropped), 'case')} not scored in both runs")
        if status == "pass" and not reaches(max_unscored, lost):
            status = "cannot tell"
            parts[-1] += f", more than {100 * max_unscored:g} %"
    return status, "; ".join(parts)


def _scale(clause: NoWorseClause) -> float:
    return 0.5 if clause.unit == "win_rate" else 1.0


def _in_unit(change: Estimate, clause: NoWorseClause) -> Estimate:
    scale = _scale(clause)
    if change.value is None or change.low is None or change.high is None or scale == 1.0:
        return change
    return Estimate(
        scale * change.value, scale * change.low, scale * change.high, change.n,
        level=change.level, method=f"{change.method}, in win rate", seed=change.seed,
        diag=change.diag,
    )  # fmt: skip


def _bar(clause: NoWorseClause) -> str:
    unit = {"pass_share": "pass share", "win_rate": "win rate", "score": "score"}[clause.unit]
    if clause.unit == "score":
        return f"a drop of {clause.margin:g} in {unit} ruled out"
    return f"a drop of {counted(100 * clause.margin, 'point')} in {unit} ruled out"
