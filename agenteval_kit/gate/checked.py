"""The clauses that checks alone decide: hard layers, critical cases, pass rates, completeness.

May not look at a verdict or a baseline. Each function gives the rows of one key of the bar.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import ClauseRow, Status, unique
from agenteval_kit.gate.thresholds import held_against, in_words, not_ruled_out, reaches
from agenteval_kit.records import CheckRow
from agenteval_kit.records.bars import PassRateClause
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import LayerScore, TranscriptScore
from agenteval_kit.text import counted

__all__ = ["critical", "hard_fails", "hard_layers", "max_unscored", "pass_rate", "whole_suite"]


def hard_layers(evidence: Evidence) -> Iterator[ClauseRow]:
    """One failing check of a hard layer holds the release, whatever the averages say."""
    for layer in evidence.bar.hard_layers:
        score = evidence.summary.layer(layer)
        if score is None:
            yield ClauseRow(
                "hard_layers", layer, "cannot tell", evidence.not_run(layer), layer=layer,
                bar="no failing check",
            )  # fmt: skip
            continue
        failed: list[str] = []
        untold: list[str] = []
        for item in _transcripts(evidence):
            if layer not in item.layers:
                continue
            if any(row.layer == layer for row in item.failing):
                failed.append(item.case_id)
            elif item.layers[layer] != "passed":
                # A crash fails the pass rate of each layer; here it only shows nothing.
                untold.append(item.case_id)
        wanted = score.n + score.unscored
        status: Status
        if failed:
            status, ids = "fail", failed
            reason = f"a check failed in {_of(len(failed), wanted)}"
        elif untold:
            status, ids = "cannot tell", untold
            reason = f"nothing failed, but {_of(len(untold), wanted)} could not be scored"
        else:
            status, ids = "pass", []
            seen = counted(wanted, "transcript")
            reason = f"no check failed in {seen}; {not_ruled_out(wanted, score.cases)}"
        yield ClauseRow(
            "hard_layers", layer, status, reason, bar="no failing check",
            estimate=score.estimate, layer=layer, ids=unique(ids),
        )  # fmt: skip


def critical(evidence: Evidence) -> Iterator[ClauseRow]:
    """Every critical case, and every invariant, passes on every repeat."""
    if evidence.bar.critical is None:
        return
    bar = "all pass, on every repeat"
    items = [item for item in _transcripts(evidence) if item.critical is not None]
    if not items:
        yield ClauseRow(
            "critical", "all", "cannot tell",
            'this run has no critical case; mark cases with "critical": true', bar=bar,
        )  # fmt: skip
        return
    failed = [item.case_id for item in items if item.critical == "failed"]
    untold = [item.case_id for item in items if item.critical == "unscored"]
    m, cases = len(items), len({item.case_id for item in items})
    runs = counted(cases, "critical case") + ("" if m == cases else f", {m:,} runs")
    status: Status
    if failed:
        status, ids = "fail", failed
        reason = f"{len(failed):,} of {m:,} failed ({runs})"
    elif untold:
        status, ids = "cannot tell", untold
        reason = f"none failed, but {len(untold):,} of {m:,} could not be scored ({runs})"
    else:
        status, ids = "pass", []
        reason = f"all passed ({runs}); {not_ruled_out(m, cases)}"
    yield ClauseRow("critical", "all", status, reason, bar=bar, ids=unique(ids))


def pass_rate(evidence: Evidence) -> Iterator[ClauseRow]:
    """At least this share passes: cases over their repeats, assertions, or k repeats in a row."""
    for layer, clause in evidence.bar.pass_rate.items():
        bar = f"at least {in_words(clause.at_least, percent=True)} of {_unit(clause)}"
        score = evidence.summary.layer(layer)
        if score is None:
            yield ClauseRow(
                "pass_rate", layer, "cannot tell", evidence.not_run(layer), layer=layer, bar=bar,
                threshold=clause.at_least,
            )  # fmt: skip
            continue
        estimate = _rate(evidence, score, clause)
        status, reason = held_against(
            estimate, clause.at_least, applies_to=evidence.bar.bar_applies_to, percent=True
        )
        status, lost = _lost(evidence, score, clause, status)
        named = _measured(clause) if estimate.value is not None else ""
        reason = f"{named}{reason}{lost}"
        if score.crashed:
            reason += f"; {score.crashed} crashed"
        yield ClauseRow(
            "pass_rate", layer, status, reason, bar=bar, threshold=clause.at_least,
            estimate=estimate, layer=layer,
            ids=score.failing if status != "pass" else (),
        )  # fmt: skip


def max_unscored(evidence: Evidence) -> Iterator[ClauseRow]:
    """More than this share without a score, or a transcript missing: nothing can be told."""
    limit = evidence.bar.max_unscored
    total = evidence.summary.overall
    wanted = total.n + total.unscored
    bar = f"at most {in_words(limit, percent=True)} unscored, none missing"
    if not wanted and evidence.judged:
        return  # judge only: each judged dimension has a row of its own
    if not wanted:
        yield ClauseRow(
            "max_unscored", "", "cannot tell", "no case is checked by code", bar=bar,
            threshold=limit,
        )  # fmt: skip
        return
    missing = evidence.summary.missing
    if missing:
        yield ClauseRow(
            "max_unscored", "", "cannot tell",
            # Of all that the run wants, as `check` counts: what is missing may be for judges alone.
            f"the run is incomplete: {_of(missing, missing + evidence.summary.transcripts)} "
            "missing; "
            + _remedy(evidence),
            bar=bar, threshold=limit, ids=total.unscored_ids,
        )  # fmt: skip
        return
    share = total.unscored_share
    what = "checked transcript" if evidence.summary.judge_only else "transcript"
    reason = f"{total.unscored:,} of {counted(wanted, what)} unscored ({100 * share:.3g} %)"
    if total.unscored and total.estimate.value is not None and total.worst is not None:
        reason += (
            f"; {100 * total.estimate.value:.3g} % of the scored pass every check, "
            f"{100 * total.worst:.3g} % if each unscored one were a failure"
        )
    yield ClauseRow(
        "max_unscored", "", "pass" if reaches(limit, share) else "cannot tell", reason, bar=bar,
        threshold=limit, ids=total.unscored_ids,
    )  # fmt: skip


def whole_suite(evidence: Evidence) -> Iterator[ClauseRow]:
    """A part of a suite says nothing about the rest of it."""
    if evidence.summary.partial:
        yield ClauseRow(
            "whole_suite", "", "cannot tell",
            f"the run covers a part of the suite only ({evidence.summary.partial}); decide a "
            "release on the whole",
            bar="the whole suite",
        )  # fmt: skip


def hard_fails(evidence: Evidence) -> tuple[CheckRow, ...]:
    """The failed checks that no score buys back: of hard layers, critical cases and invariants.

    Where the bar has a clause on what is critical, that comes first.
    """
    hard = set(evidence.bar.hard_layers)
    strict = evidence.bar.critical is not None
    found = [
        (not (strict and (case.plan.critical or row.critical)), row)
        for case in evidence.summary.cases
        for item in case.transcripts
        for row in item.failing
    ]
    found = [(later, row) for later, row in found if not later or row.layer in hard]
    return tuple(row for _, row in sorted(found, key=lambda each: each[0]))


def _transcripts(evidence: Evidence) -> Iterator[TranscriptScore]:
    for case in evidence.summary.cases:
        yield from case.transcripts


def _rate(evidence: Evidence, score: LayerScore, clause: PassRateClause) -> Estimate:
    if clause.unit == "assertions":
        return evidence.summary.assertion_rate(score.layer)
    if clause.pass_all is not None:
        return evidence.summary.pass_hat(clause.pass_all, layer=score.layer)
    return score.estimate


def _lost(
    evidence: Evidence, score: LayerScore, clause: PassRateClause, status: Status
) -> tuple[Status, str]:
    """What the share leaves out, in words; too much of it keeps the clause from passing."""
    limit = evidence.bar.max_unscored
    told, shares = [], [score.unscored_share]
    if score.unscored:
        worst = ""
        if score.worst is not None and clause.unit == "cases" and clause.pass_all is None:
            worst = f" (were each of them a failure: {100 * score.worst:.3g} %)"
        told.append(f"{score.unscored:,} unscored{worst}")
    if clause.unit == "assertions" and score.assertions_unscored:
        wanted = score.assertions + score.assertions_unscored
        shares.append(score.assertions_unscored / wanted)
        told.append(f"{score.assertions_unscored:,} of {counted(wanted, 'assertion')} unscored")
    if clause.pass_all is not None:
        found = [one.counts.get(score.layer) for one in evidence.summary.cases]
        each = [one.n for one in found if one is not None and one.n + one.unscored]
        short = sum(n < clause.pass_all for n in each)
        if 0 < short < len(each):
            shares.append(short / len(each))
            told.append(
                f"left out, with fewer than {counted(clause.pass_all, 'scored repeat')}: "
                f"{short:,} of {counted(len(each), 'case')}"
            )
    if told and status == "pass" and not reaches(limit, max(shares)):
        status = "cannot tell"
        told[-1] += f", more than {in_words(limit, percent=True)}"
    return status, "".join(f"; {one}" for one in told)


def _measured(clause: PassRateClause) -> str:
    """What the figure of the reason is, where it is not the share of cases."""
    if clause.pass_all is not None:
        return f"pass^{clause.pass_all} "
    return "assertions " if clause.unit == "assertions" else ""


def _unit(clause: PassRateClause) -> str:
    if clause.pass_all is not None:
        return f"cases pass {clause.pass_all} times in a row (pass^{clause.pass_all})"
    return "assertions" if clause.unit == "assertions" else "cases"


def _remedy(evidence: Evidence) -> str:
    withdrawn = [text for text in evidence.summary.warnings if text.startswith("withdrawn")]
    if withdrawn:
        return f"{withdrawn[0]}; a run anew, without that case, can be decided"
    if evidence.run.info.kind == "recorded":
        return "its recording lacks them; check one that holds them"
    return "finish it with the command that began it"


def _of(k: int, n: int) -> str:
    return f"{k:,} of {counted(n, 'transcript')}"
