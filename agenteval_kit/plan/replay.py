"""Turns drawn trials into the summaries that the gate reads, without a run on disk.

May not apply a bar, and may not count otherwise than `agenteval_kit.summary` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agenteval_kit.plan.behaviour import Group, Outcome
from agenteval_kit.plan.urn import Counts as Drawn
from agenteval_kit.records import CheckRow
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.summary import (
    ALL_CHECKS,
    CaseScore,
    Counts,
    LayerScore,
    Summary,
    TranscriptScore,
)

__all__ = ["Replay", "summary_of"]


@dataclass(slots=True)
class Replay:
    """Case scores from drawn outcomes; each is built once, however often it is drawn."""

    groups: Sequence[Group]
    _known: dict[tuple[int, int, bytes, tuple[str, ...]], CaseScore] = field(default_factory=dict)

    def case(
        self, group: int, case: int, drawn: Drawn, *, broken: tuple[str, ...] = ()
    ) -> CaseScore:
        """One case with the outcomes of its repeats; in the `broken` layers all of them fail."""
        key = (group, case, drawn.tobytes(), broken)
        if key not in self._known:
            self._known[key] = self._build(self.groups[group], case, drawn, broken)
        return self._known[key]

    def _build(self, group: Group, case: int, drawn: Drawn, broken: tuple[str, ...]) -> CaseScore:
        plan, checks = group.plans[case], group.assertions[case]
        transcripts: list[TranscriptScore] = []
        counts: dict[str, Counts] = {}
        for at in drawn.nonzero()[0].tolist():
            outcome = group.outcomes[at]
            for layer in broken:
                outcome = outcome.broken(layer)
            each = _counts(outcome, checks)
            for _ in range(int(drawn[at])):
                transcripts.append(_transcript(plan.id, len(transcripts), outcome, plan.critical))
                for name, one in each.items():
                    counts[name] = counts[name].plus(one) if name in counts else one
        return CaseScore(plan, counts, tuple(transcripts))


def summary_of(
    cases: Sequence[CaseScore], layers: Sequence[str], *, repeats: int, intervals: bool
) -> Summary:
    """The summary of a whole run with these cases.

    Parameters
    ----------
    cases : sequence of CaseScore
        As drawn.
    layers : sequence of str
        In the order of the page.
    repeats : int
        Repeats a case.
    intervals : bool
        Whether shares get their interval where cases were repeated; it costs milliseconds, and
        only a bar that applies to a bound reads it.
    """
    return Summary(
        run_id="simulated",
        suite_digest="",
        repeats=repeats,
        cases=tuple(cases),
        layers=tuple(_layer(name, cases, intervals=intervals) for name in layers),
        overall=_layer(ALL_CHECKS, cases, intervals=False),
        judge_only=0,
        missing=0,
        crashes=0,
        infrastructure=0,
    )


def _transcript(case_id: str, repeat: int, outcome: Outcome, critical: bool) -> TranscriptScore:
    held = outcome.critical
    if critical:
        held = "unscored"
        if outcome.status == "passed" or outcome.status == "failed":
            held = outcome.status
    rows = tuple(
        CheckRow(case_id, repeat, layer, f"{layer}, drawn {at + 1}", False)
        for layer, many in outcome.failing
        for at in range(many)
    )
    return TranscriptScore(case_id, repeat, outcome.status, dict(outcome.layers), rows, held)


def _counts(outcome: Outcome, checks: Mapping[str, int]) -> dict[str, Counts]:
    failing = dict(outcome.failing)
    found: dict[str, Counts] = {}
    total = Counts()
    for name, status in outcome.layers:
        known = checks.get(name, 1)
        failed = failing.get(name, 0)
        passed = 0 if status == "unscored" else max(0, known - failed)
        found[name] = Counts(
            int(status == "passed"), int(status == "failed"), int(status == "unscored"),
            passed, failed, known if status == "unscored" else 0,
        )  # fmt: skip
        total = total.plus(found[name])
    found[ALL_CHECKS] = Counts(
        int(outcome.status == "passed"), int(outcome.status == "failed"),
        int(outcome.status not in ("passed", "failed")),
        total.assertions_passed, total.assertions_failed, total.assertions_unscored,
    )  # fmt: skip
    return found


def _layer(name: str, cases: Sequence[CaseScore], *, intervals: bool) -> LayerScore:
    found = [case.counts[name] for case in cases if name in case.counts]
    # Added up column by column: this runs for every layer of every draw.
    total = Counts(*map(sum, zip(*found, strict=True))) if found else Counts()
    scored = [counts for counts in found if counts.n]
    failing = [case.case_id for case in cases if name in case.counts and case.counts[name].failed]
    wanted = total.n + total.unscored
    return LayerScore(
        layer=name,
        passed=total.passed,
        n=total.n,
        unscored=total.unscored,
        cases=len(scored),
        estimate=_share(scored, total, intervals=intervals),
        worst=total.passed / wanted if wanted else None,
        assertions_passed=total.assertions_passed,
        assertions=total.assertions_passed + total.assertions_failed,
        assertions_unscored=total.assertions_unscored,
        crashed=0,
        failing=tuple(failing),
        unscored_ids=(),
    )


def _share(scored: Sequence[Counts], total: Counts, *, intervals: bool) -> Estimate:
    if not scored:
        return Estimate.undefined("nothing was scored")
    if all(one.n == 1 for one in scored):
        return wilson(total.passed, total.n)
    shares = [one.passed / one.n for one in scored]
    if intervals:
        return anchored_mean(shares, levels=(0, 1))
    return Estimate(sum(shares) / len(shares), None, None, len(shares), reason="not asked for")
