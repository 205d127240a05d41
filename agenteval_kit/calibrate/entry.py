"""What is kept of a calibration in its file, so that a gate can read it without computing.

May not compute a statistic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Joined
from agenteval_kit.calibrate.result import STATISTICS, DimensionResult
from agenteval_kit.files import digest
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration, Figure, Look
from agenteval_kit.records.verdicts import JudgeStamp
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["add_entries", "make_entry", "wording_digest"]


def make_entry(
    found: DimensionResult,
    joined: Joined,
    run: Run,
    *,
    rule: TrustRule,
    apart: Collection[str],
    untold: int,
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
        untold=untold,
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


def add_entries(
    known: Calibration, entries: Sequence[DimensionCalibration], looks: Sequence[Look]
) -> Calibration:
    """The file so far with what was found now, and no finding twice.

    The same judge on the same labels again is the same finding, and so it is where the run was
    copied, or made again from its tape, under another id: the entry then names both runs.
    """
    kept = list(known.dimensions)
    for entry in entries:
        entry = _of_both_runs(entry, kept)
        alike = [at for at, one in enumerate(kept) if _evidence(one) == _evidence(entry)]
        # Nor a newer one: it would hide what was found of the judge on another run since.
        kept.insert(alike[-1] + 1 if alike else len(kept), entry)
        kept = [left for one in kept if (left := _left(one, entry)) is not None]
    return known.model_copy(
        update={"dimensions": tuple(kept), "looks": (*known.looks, *looks)},
    )


def _of_both_runs(
    entry: DimensionCalibration, kept: Sequence[DimensionCalibration]
) -> DimensionCalibration:
    own = any(one.run == entry.run and _judge(one) == _judge(entry) for one in kept)
    for one in kept:
        # What was found otherwise of this run before must not come to stand behind it.
        if (one.run == entry.run or not own) and _finding(one) == _finding(entry):
            also = dict.fromkeys((*one.also, entry.run))
            also.pop(one.run, None)
            return entry.model_copy(update={"run": one.run, "also": tuple(also)})
    return entry


def _left(one: DimensionCalibration, entry: DimensionCalibration) -> DimensionCalibration | None:
    if one is entry or _same(one) != _same(entry):
        return one
    # Found otherwise now of its run; of the others that it speaks for nobody has looked again.
    others = [run for run in one.also if not entry.is_of(run)]
    if not others:
        return None
    return one.model_copy(update={"run": others[0], "also": tuple(others[1:])})


def _judge(entry: DimensionCalibration) -> tuple[str, str]:
    return (entry.dimension, entry.judge_digest)


def _finding(entry: DimensionCalibration) -> str:
    # Notes tell how often somebody has looked before, too.
    wording = {"__all__": {"dimension_digest"}}  # which older files did not keep
    return entry.model_dump_json(
        exclude={"run": True, "also": True, "at": True, "notes": True, "seal": True,
                 "pairs": wording}
    )  # fmt: skip


def _evidence(entry: DimensionCalibration) -> tuple[object, ...]:
    pairs = {(one.case_id, one.repeat, one.rater, one.human, one.judge) for one in entry.pairs}
    return (*_judge(entry), entry.run, frozenset(pairs))


def _same(entry: DimensionCalibration) -> tuple[str, ...]:
    return (*_judge(entry), entry.run, entry.labels_digest)


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
