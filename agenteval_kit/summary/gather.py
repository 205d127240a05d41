"""Streams a run's rows and transcripts once and adds them up.

May not hold a transcript, and may not lose one: what is missing is counted and said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agenteval_kit.records import LAYERS, CheckRow, Failure
from agenteval_kit.runs import CasePlan, Run, Selection, waiting
from agenteval_kit.runs.withdraw import withdrawn_cases
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.summary.scores import (
    ALL_CHECKS,
    CaseScore,
    Counts,
    LayerScore,
    Scored,
    Status,
    TranscriptScore,
)
from agenteval_kit.summary.total import Summary
from agenteval_kit.text import counted

__all__ = ["summarise"]

CRASHES = ("agent", "timeout")
COMPLETED = "agent_completed"
"""Name of the row that checks write for an agent that crashed, timed out or said nothing."""


def summarise(run: Run) -> Summary:
    """Everything that a run's check rows say, by transcript, case and layer.

    Parameters
    ----------
    run : Run
        Complete or not; its check rows must have been written.

    Returns
    -------
    Summary
        What could not be scored and what is missing is counted apart, never as passed.

    Raises
    ------
    ConfigError
        If a row or a transcript of the run cannot be read.
    """
    tallies: dict[tuple[str, int], _Tally] = {}
    for row in run.check_rows():
        tallies.setdefault((row.case_id, row.repeat), _Tally()).add(row)
    plans = {plan.id: plan for plan in run.info.cases}
    seen: dict[tuple[str, int], Failure | None] = {}
    for transcript in run.transcripts():
        seen[transcript.case_id, transcript.repeat] = transcript.failure
    withdrawn = withdrawn_cases(run.path)
    # A transcript that the run did not plan is scored all the same: nothing is silently dropped.
    wanted = set(run.wanted())
    keys = dict.fromkeys([*run.wanted(), *seen, *tallies])
    by_case: dict[str, list[TranscriptScore]] = {}
    counts: dict[str, dict[str, Counts]] = {}
    for case_id, repeat in keys:
        plan = plans.setdefault(case_id, CasePlan(id=case_id))
        tally = tallies.get((case_id, repeat), _EMPTY)
        there = (case_id, repeat) in seen
        scored = _score(
            plan, repeat, tally, there=there, failure=seen.get((case_id, repeat)),
            withdrawn=case_id in withdrawn,
        )  # fmt: skip
        by_case.setdefault(case_id, []).append(scored)
        mine = counts.setdefault(case_id, {})
        for layer, one in _counts(scored, tally).items():
            mine[layer] = mine[layer].plus(one) if layer in mine else one
    cases = tuple(
        CaseScore(plans[case_id], counts[case_id], tuple(scores))
        for case_id, scores in by_case.items()
    )
    warnings = list(dict.fromkeys(run.warnings))
    if len(keys) > len(wanted):
        warnings.append(
            f"scored too, not planned by the run: {counted(len(keys) - len(wanted), 'transcript')}"
        )
    if withdrawn:
        warnings.append(f"withdrawn from this run: {', '.join(sorted(withdrawn))}")
    if run.info.drafts:
        warnings.append(waiting(run.info.drafts))
    every = [item for case in cases for item in case.transcripts]
    names = {layer for case in cases for layer in case.counts} - {ALL_CHECKS}
    ordered = [name for name in LAYERS if name in names] + sorted(names - set(LAYERS))
    return Summary(
        run_id=run.id,
        suite_digest=run.info.suite_digest,
        repeats=max((case.repeats for case in cases), default=run.repeats),
        cases=cases,
        layers=tuple(_layer(name, cases) for name in ordered),
        overall=_layer(ALL_CHECKS, cases),
        judge_only=sum(item.status == "judge only" for item in every),
        missing=sum(item.status == "missing" for item in every),
        crashes=sum(item.crashed for item in every),
        infrastructure=sum(
            failure is not None and failure.kind not in CRASHES for failure in seen.values()
        ),
        partial=_partial(run.info.selection),
        warnings=tuple(warnings),
    )


@dataclass(slots=True)
class _Tally:
    """Rows of one transcript by layer: passed, failed, unscored; the failing ones are kept.

    The row of a crash is no check: it puts the case into no layer that it is not checked in.
    """

    layers: dict[str, list[int]] = field(default_factory=dict)
    failing: list[CheckRow] = field(default_factory=list)
    critical: list[int] = field(default_factory=lambda: [0, 0, 0])
    why: str = ""

    def add(self, row: CheckRow) -> None:
        slot = 2 if row.passed is None else 0 if row.passed else 1
        if row.name != COMPLETED:
            self.layers.setdefault(row.layer, [0, 0, 0])[slot] += 1
        if row.critical:
            self.critical[slot] += 1
        if row.passed is None:
            self.why = self.why or f"{row.name}: {row.why}"
        elif not row.passed:
            self.failing.append(row)


_EMPTY = _Tally()


def _score(
    plan: CasePlan,
    repeat: int,
    tally: _Tally,
    *,
    there: bool,
    failure: Failure | None,
    withdrawn: bool,
) -> TranscriptScore:
    failing = tuple(tally.failing)
    # The rows say what was checked; without rows, the plan says what would have been.
    names = dict.fromkeys(tally.layers or plan.layers)
    crash = _crash(plan, repeat, failing, failure)
    if crash is not None:
        if crash not in failing:
            failing = (crash, *failing)
        layers: dict[str, Scored] = dict.fromkeys(names, "failed")
        critical = _critical(plan, tally, "failed")
        why = crash.received.partition("\n")[0]
        return TranscriptScore(plan.id, repeat, "failed", layers, failing, critical, True, why)
    layers = {name: _of_rows(tally.layers.get(name)) for name in names}
    status: Status
    if failing:
        status, why = "failed", ""
    elif not there:
        status, why = "missing", "withdrawn" if withdrawn else "no transcript yet"
    elif failure is not None:
        status, why = "unscored", f"{failure.kind}: {failure.message}"
        layers = dict.fromkeys(names, "unscored")
    elif any(item[2] for item in tally.layers.values()):
        status, why = "unscored", tally.why
    elif tally.layers:
        status, why = "passed", ""
    elif plan.judge_only:
        status, why = "judge only", ""
    else:
        status, why = "unscored", "no check ran"
    critical = _critical(plan, tally, status)
    return TranscriptScore(plan.id, repeat, status, layers, failing, critical, False, why)


def _critical(plan: CasePlan, tally: _Tally, status: Status) -> Scored | None:
    if plan.critical:
        return status if status in ("passed", "failed") else "unscored"
    if not any(tally.critical):
        return None
    return _of_rows(tally.critical)


def _of_rows(rows: list[int] | None) -> Scored:
    if rows is None or (rows[2] and not rows[1]):
        return "unscored"
    return "failed" if rows[1] else "passed"


def _crash(
    plan: CasePlan, repeat: int, failing: tuple[CheckRow, ...], failure: Failure | None
) -> CheckRow | None:
    """The row that says that the agent did not come to its end, or None if it did."""
    for row in failing:
        if row.name == COMPLETED:
            return row
    if failure is None or failure.kind not in CRASHES:
        return None
    # A killed run may lack the rows, a case may have no checks; the crash stays a failure.
    told = f"{failure.type}: {failure.message}"
    return CheckRow(
        plan.id, repeat, "outcome", COMPLETED, False,
        expected="the agent runs to its end", received=told, why="the agent crashed",
        critical=plan.critical,
    )  # fmt: skip


def _counts(score: TranscriptScore, tally: _Tally) -> dict[str, Counts]:
    found = {}
    sums = [0, 0, 0]
    for layer, status in score.layers.items():
        rows = tally.layers.get(layer, [0, 0, 0])
        found[layer] = _one(status, rows)
        sums = [left + right for left, right in zip(sums, rows, strict=True)]
    if score.crashed:
        # The row that stands for the crash is an assertion like any other, of the whole case and
        # of the layer that it is written under, where the case is checked there.
        sums[1] += 1
        if "outcome" in found:
            found["outcome"] = found["outcome"]._replace(
                assertions_failed=found["outcome"].assertions_failed + 1
            )
    overall: Scored | None = None
    if score.status in ("passed", "failed"):
        overall = "passed" if score.status == "passed" else "failed"
    elif score.status != "judge only":
        overall = "unscored"
    found[ALL_CHECKS] = _one(overall, sums)
    return found


def _one(status: Scored | None, rows: list[int]) -> Counts:
    return Counts(
        int(status == "passed"), int(status == "failed"), int(status == "unscored"),
        rows[0], rows[1], rows[2],
    )  # fmt: skip


def _layer(name: str, cases: Iterable[CaseScore]) -> LayerScore:
    mine = [case for case in cases if name in case.counts]
    total = Counts()
    for case in mine:
        total = total.plus(case.counts[name])
    scored = [case.counts[name] for case in mine if case.counts[name].n]
    wanted = total.n + total.unscored
    return LayerScore(
        layer=name,
        passed=total.passed,
        n=total.n,
        unscored=total.unscored,
        cases=len(scored),
        estimate=_share(scored, total),
        worst=total.passed / wanted if wanted else None,
        assertions_passed=total.assertions_passed,
        assertions=total.assertions_passed + total.assertions_failed,
        assertions_unscored=total.assertions_unscored,
        crashed=sum(
            item.crashed and (name == ALL_CHECKS or item.layers.get(name) == "failed")
            for case in mine
            for item in case.transcripts
        ),
        failing=tuple(case.case_id for case in mine if case.counts[name].failed),
        unscored_ids=tuple(case.case_id for case in mine if case.counts[name].unscored),
    )


def _share(scored: list[Counts], total: Counts) -> Estimate:
    note = f"{total.unscored:,} unscored" if total.unscored else ""
    if not scored:
        return Estimate.undefined("nothing was scored", method="Wilson", diag=note)
    if all(item.n == 1 for item in scored):
        return wilson(total.passed, total.n).noted(note)
    from agenteval_kit.stats.mean import anchored_mean  # numpy: one repeat needs none

    # Repeats of a case are not independent: each case counts once, with its own share.
    return anchored_mean([item.passed / item.n for item in scored], levels=(0, 1)).noted(note)


def _partial(selection: Selection) -> str:
    parts = []
    if selection.only is not None:
        parts.append(f"--only {','.join(selection.only)}")
    if selection.tag is not None:
        parts.append(f"--tag {selection.tag}")
    if selection.shard is not None:
        parts.append(f"--shard {selection.shard}")
    return " ".join(parts)
