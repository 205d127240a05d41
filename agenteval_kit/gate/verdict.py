"""From rows to SHIP, HOLD or REVIEW: the page and the exit code read the same function.

May not know what a clause measures: each clause kind is one function that gives rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.gate import against, checked, flags, preferred
from agenteval_kit.gate import judged as on_judges
from agenteval_kit.gate.bars import LoadedBar, loaded
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.never import never
from agenteval_kit.gate.rows import NO_SUBSTANCE, ClauseRow, Decision, Verdict
from agenteval_kit.records.bars import Bar
from agenteval_kit.records.trust import DimensionTrust
from agenteval_kit.runs import Run, release_of
from agenteval_kit.summary import Summary, summarise
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.pairing import JudgedPair
    from agenteval_kit.labels import LabelSet

__all__ = ["CLAUSES", "decide", "verdict_of"]

CLAUSES: tuple[Callable[[Evidence], Iterator[ClauseRow]], ...] = (
    checked.hard_layers,
    checked.critical,
    checked.pass_rate,
    on_judges.mean,
    never,
    preferred.win_rate,
    against.no_worse,
    checked.max_unscored,
    on_judges.max_unscored,
    checked.whole_suite,
    flags.open_flags,
)
"""One function a key of the bar; hard fails first."""


def decide(
    run: Run,
    bar: Bar | LoadedBar,
    *,
    baseline: Run | None = None,
    summary: Summary | None = None,
    trust: Sequence[DimensionTrust] = (),
    labels: LabelSet | None = None,
    judged: JudgedPair | None = None,
) -> Decision:
    """Apply a bar to a run.

    Parameters
    ----------
    run : Run
        A run whose checks were written.
    bar : Bar or LoadedBar
        From `load_bar`, or made in code.
    baseline : Run, optional
        What clauses with ``against: baseline`` compare with.
    summary : Summary, optional
        The run's, if it was summed up before.
    trust : sequence of DimensionTrust
        What calibrations found, by judge digest (see `read_known`). A dimension that stands in
        none was never calibrated: its clauses cannot tell.
    labels : LabelSet, optional
        What people said of this run's transcripts: a label resolves the flag on its verdict, and
        is heard by `never`. No mean counts it.
    judged : JudgedPair, optional
        What judges said of both runs, if it was read before.

    Returns
    -------
    Decision
        A row a clause. A layer, case or dimension without evidence never passes.

    Raises
    ------
    ConfigError
        If the bar has no clause, a row of a run cannot be read, or a bar lies outside the scale
        of its dimension.
    """
    with_stamps = loaded(bar)
    evidence = Evidence(
        run=run,
        bar=with_stamps.bar,
        summary=summary if summary is not None else summarise(run),
        baseline=baseline,
        before=None if baseline is None else summarise(baseline),
        bar_file=with_stamps.file,
        trust=trust,
        scores=judged,
        labels=labels,
    )
    rows = tuple(row for clause in CLAUSES for row in clause(evidence))
    release = None if baseline is None else release_of(baseline)
    notes = [*([release.doubt] if release and release.doubt else []), *evidence.summary.warnings]
    if any(row.clause == "open_flags" for row in rows):
        notes += _unheard(evidence)
    if run.info.data_note:
        notes.append(run.info.data_note)
    return Decision(
        verdict=verdict_of(rows),
        rows=rows,
        hard_fails=checked.hard_fails(evidence),
        bar=with_stamps,
        summary=evidence.summary,
        stamps={**_stamps(run), "judges": list(_judges(evidence, rows))},
        baseline_summary=evidence.before,
        baseline_stamps={
            **({} if baseline is None else _stamps(baseline)),
            **({} if release is None else {"release": release.name, "verdict": release.verdict}),
        },
        notes=tuple(notes),
        refused="" if baseline is None else evidence.no_baseline,
        in_part="" if evidence.no_baseline else evidence.in_part,
    )


def verdict_of(rows: Iterable[ClauseRow]) -> Verdict:
    """HOLD if a row holds, else REVIEW if one cannot be told, else SHIP.

    Rows that are reported and not counted change nothing; a release that nothing else speaks for
    is not shipped on them.
    """
    listed = list(rows)
    effects = {row.effect for row in listed}
    if "HOLD" in effects:
        return "HOLD"
    spoken_for = any(row.status == "pass" and row.clause not in NO_SUBSTANCE for row in listed)
    return "SHIP" if "REVIEW" not in effects and spoken_for else "REVIEW"


def _unheard(evidence: Evidence) -> Iterator[str]:
    """Which labels nobody heard, for a bar that hears people."""
    if evidence.labels is None:
        heard = ", or is heard by “never”" if evidence.bar.never else ""
        yield f"no labels of people were there to read: nobody resolves a flag{heard}"
        return
    yield from evidence.labels.warnings
    said = evidence.of_people
    there = evidence.run.done() if said.rows else set()
    gone = sum((row.case_id, row.repeat) not in there for row in said.rows)
    silent = sum(not row.transcript_digest for row in said.rows if row.kind == "label")
    for count, what, why in (
        (said.other_text, "label", "of a transcript that reads otherwise, or is not there"),
        (gone, "line", "of people about transcripts that the run has not"),
        (said.unsaid, "review", "that confirms what no judge of the run says"),
    ):
        if count:
            yield f"{counted(count, what)} {why}: not heard"
    if silent:
        say = "label does" if silent == 1 else "labels do"
        yield f"{silent:,} {say} not say which text was read, and are taken to be of this run"


def _judges(evidence: Evidence, rows: Iterable[ClauseRow]) -> Iterator[dict[str, Any]]:
    """Who gave the scores and preferences that a clause read; none where checks alone decided."""
    if not any(row.trust for row in rows):
        return
    for name, one in evidence.judged.items():
        stamp = one.stamp
        yield {
            "of": name,
            "judge": stamp.judge,
            "judge_digest": stamp.judge_digest,
            "rubric": stamp.rubric,
            "dimension_digest": stamp.dimension_digest,
            "scripted": one.scripted,
        }
    summary = evidence.preferences
    for found in () if summary is None else summary.comparisons:
        yield {
            "of": found.criterion,
            "judge": found.judge,
            "judge_digest": found.judge_digest,
            "scripted": found.judge.startswith("scripted"),
        }


def _stamps(run: Run) -> dict[str, Any]:
    info = run.info
    return {
        "run": run.id,
        "created": info.created,
        "kind": info.kind,
        "suite": info.suite,
        "suite_version": info.suite_version,
        "suite_digest": info.suite_digest,
        "agent": info.agent.model_dump(mode="json", exclude_none=True),
        "clock": info.clock,
        "repeats": info.repeats,
        "simulator": info.simulator,
        "package": info.package,
        "commit": info.commit,
    }
