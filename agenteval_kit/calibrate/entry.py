"""What is kept of a calibration in its file, so that a gate can read it without computing.

May not compute a statistic.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Joined
from agenteval_kit.calibrate.result import STATISTICS, DimensionResult
from agenteval_kit.files import digest
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import DimensionCalibration, Figure
from agenteval_kit.records.verdicts import JudgeStamp
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["make_entry", "wording_digest"]


def make_entry(
    found: DimensionResult,
    joined: Joined,
    run: Run,
    *,
    rule: TrustRule,
    apart: Collection[str],
    now: str,
) -> DimensionCalibration:
    """The entry of one dimension and judge."""
    stamp = found.stamp
    assert stamp is not None  # only what was judged has an entry
    return DimensionCalibration(
        dimension=found.dimension,
        layer=found.layer,
        levels=found.levels,
        judge=stamp.judge,
        judge_digest=stamp.judge_digest,
        seats=stamp.seats,
        rubric=stamp.rubric,
        rubric_digest=stamp.rubric_digest,
        dimension_digest=stamp.dimension_digest,
        wording_digest=wording_digest(stamp),
        run=run.info.id,
        agent_digest=joined.agent_digest,
        at=now,
        labels_digest=digest(sorted(row.model_dump_json() for row in joined.rows)),
        raters=found.ceiling.raters,
        labelled=found.ceiling.labelled,
        doubly=found.ceiling.doubly,
        held_out=found.held_out,
        ceiling=_figures(found.ceiling.agreement, found.ceiling.alpha, rule),
        rubric_state=found.ceiling.state,
        agreement=_figures(found.agreement, found.alpha, rule),
        gap=_figure(found.gap),
        chance=_figure(found.chance),
        looks=found.looks,
        rule=rule,
        state=found.state,
        reason=found.reason,
        more_labels=found.more_labels,
        pairs=found.pairs,
        apart=tuple(sorted(apart)),
        notes=found.notes,
    )


def wording_digest(stamp: JudgeStamp) -> str:
    """Digest of what people read of a dimension: no prompt, no panel."""
    anchors = {str(level): text for level, text in stamp.anchors.items()}
    return digest([stamp.definition, anchors, list(stamp.levels)])


def _figures(found: Agreement, alpha: Estimate, rule: TrustRule) -> dict[str, Figure]:
    named: dict[str, Estimate] = {name: getattr(found, name) for name in STATISTICS}
    if rule.statistic not in ("ac2", *named):
        named[rule.statistic] = getattr(found, rule.statistic)
    chance = found.within_one_chance
    if chance is not None:
        named["within_one"] = named["within_one"].noted(f"by chance {chance:.2f}")
    return {name: _figure(one) for name, one in (*named.items(), ("alpha", alpha))}


def _figure(one: Estimate) -> Figure:
    return Figure(**asdict(one))
