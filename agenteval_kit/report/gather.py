"""Reads two runs in one pass each and keeps what the page shows: facts and excerpts.

May not keep a transcript, and may not let the page grow with the run: there is a budget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.labels import LabelSet
from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.records.bars import Bar
from agenteval_kit.report.excerpt import choose_window, focus_turns, text_size
from agenteval_kit.report.facts import Key, read_facts
from agenteval_kit.report.hard import hard_excerpt, opened_rows
from agenteval_kit.report.judged import Judged, ShownVerdict
from agenteval_kit.report.markup import Html, anchor
from agenteval_kit.report.release import Release, Trend, layer_moves
from agenteval_kit.report.transcript import transcript_html, whole_link
from agenteval_kit.report.verdicts import evidence_turns
from agenteval_kit.report.views import ComparisonView, DecisionView
from agenteval_kit.report.whole import write_whole
from agenteval_kit.runs import Run
from agenteval_kit.summary import Summary, asked_alike

__all__ = ["PAGE_CHARACTERS", "gather_release"]

PAGE_CHARACTERS = 2_000_000
"""Characters of transcripts that a page may hold; beyond it excerpts stand in their place."""
_WEIGHT = 3
_LEAST = 700


def gather_release(
    run: Run,
    summary: Summary,
    *,
    decision: DecisionView | None = None,
    baseline: Run | None = None,
    before: Summary | None = None,
    comparison: ComparisonView | None = None,
    trends: tuple[Trend, ...] = (),
    left_out: tuple[str, ...] = (),
    old_bar: Bar | None = None,
    files: Path | None = None,
    judged: Judged | None = None,
    labels: LabelSet | None = None,
    characters: int = PAGE_CHARACTERS,
) -> Release:
    """Everything for the page of one run.

    Parameters
    ----------
    run, summary : Run, Summary
        What is shown.
    decision, baseline, before, comparison, trends, left_out, old_bar : optional
        See `Release`.
    files : pathlib.Path, optional
        Where whole transcripts are written if the page holds excerpts only; without it they stay
        in the run folder alone.
    judged : Judged, optional
        What judges said, from `read_judged`.
    labels : LabelSet, optional
        What people said.
    characters : int
        The page's budget for transcripts.
    """
    judged = judged if judged is not None else Judged()
    plain = Release(
        run, summary, {}, {}, decision=decision, baseline=baseline, before=before,
        comparison=comparison,
    )  # fmt: skip
    worth = _worth_reading(plain)
    told = _told(run)
    room = _Room.of(run, baseline, worth=worth, told=told, total=characters)
    shown: dict[Key, Html] = {}
    hard_shown: dict[Key, Html] = {}
    hard = opened_rows(plain)
    write = files if files is not None and room.short else None

    def keep(item: Transcript) -> None:
        key = (item.case_id, item.repeat)
        budget = room.of_transcript(key)
        said = judged.verdicts.get(key, ())
        shown[key] = _show(
            item, told.get(key, ()), place="t", budget=budget, files=write, verdicts=said
        )
        if key in hard:
            hard_shown[key] = hard_excerpt(item, hard[key])

    found = read_facts(run.transcripts(), also=keep)
    old_facts, old_shown = {}, {}
    if baseline is not None:
        old_told = _told(baseline, only=worth)

        def keep_old(item: Transcript) -> None:
            if item.case_id in worth:
                key = (item.case_id, item.repeat)
                old_shown[key] = _show(
                    item,
                    old_told.get(key, ()),
                    place="b",
                    budget=room.of_transcript(key),
                    files=write,
                    verdicts=judged.old_verdicts.get(key, ()),
                )

        old_facts = read_facts(baseline.transcripts(), also=keep_old if worth else None)
    return Release(
        run=run,
        summary=summary,
        facts=found,
        shown=shown,
        hard_shown=hard_shown,
        told=told,
        decision=decision,
        baseline=baseline,
        before=before,
        old_facts=old_facts,
        old_shown=old_shown,
        comparison=comparison,
        trends=trends,
        left_out=left_out,
        old_bar=old_bar,
        files=write,
        judgements=judged,
        labels=labels,
    )


def _worth_reading(release: Release) -> frozenset[str]:
    """Cases whose baseline transcript stands beside this run's: those in which something moved."""
    if not release.pairs or release.before is None:
        return frozenset()
    before = asked_alike(release.before, release.summary)
    return frozenset(
        case.case_id
        for case in release.summary.cases
        if release.states[case.case_id] in ("broken", "fixed", "flaky")
        or layer_moves(case, before.get(case.case_id))
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """How many characters a transcript may take: all it wants, or a share by what it is worth."""

    short: bool
    each: int
    worth: Collection[str]
    told: Collection[Key]

    @classmethod
    def of(
        cls,
        run: Run,
        baseline: Run | None,
        *,
        worth: Collection[str],
        told: Collection[Key],
        total: int,
    ) -> _Room:
        new = [(item.case_id, item.repeat, text_size(item)) for item in run.transcripts()]
        old = []
        if baseline is not None and worth:
            old = [text_size(item) for item in baseline.transcripts() if item.case_id in worth]
        heavy = sum(name in worth or (name, repeat) in told for name, repeat, _ in new) + len(old)
        weighed = _WEIGHT * heavy + len(new) + len(old) - heavy
        size = sum(item[2] for item in new) + sum(old)
        return cls(size > total, total // max(1, weighed), worth, told)

    def of_transcript(self, key: Key) -> int | None:
        if not self.short:
            return None
        return self.each * (_WEIGHT if key[0] in self.worth or key in self.told else 1)


def _told(run: Run, *, only: Collection[str] | None = None) -> dict[Key, list[CheckRow]]:
    rows: dict[Key, list[CheckRow]] = {}
    for row in run.check_rows():
        if row.passed is not True and (only is None or row.case_id in only):
            rows.setdefault((row.case_id, row.repeat), []).append(row)
    return rows


def _show(
    item: Transcript,
    rows: Sequence[CheckRow],
    *,
    place: str,
    budget: int | None,
    files: Path | None,
    verdicts: Sequence[ShownVerdict] = (),
) -> Html:
    name = f"{place}-{item.case_id}-{item.repeat}"
    if budget is not None and budget < _LEAST and files is not None:
        # So many transcripts that an excerpt of each would say nothing: a link alone.
        written = write_whole(item, rows, folder=files, name=anchor(name), verdicts=verdicts)
        return whole_link(f"{files.name}/{written.name}", excerpt=False)
    focus = (*focus_turns(rows), *evidence_turns(verdicts))
    window = choose_window(item, focus=focus, budget=budget)
    whole = None
    if files is not None and not window.whole:
        written = write_whole(item, rows, folder=files, name=anchor(name), verdicts=verdicts)
        whole = f"{files.name}/{written.name}"
    return transcript_html(
        item, rows=rows, place=name, window=window, whole=whole, verdicts=verdicts
    )
