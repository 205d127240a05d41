"""Everything that a release page shows, gathered once: two runs, what a bar said, the transcripts.

May not decide or compare: the decision and the partings are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from agenteval_kit.labels import LabelSet
from agenteval_kit.records import CheckRow
from agenteval_kit.records.bars import Bar
from agenteval_kit.report.facts import Facts, Key
from agenteval_kit.report.judged import Judged
from agenteval_kit.report.markup import Html, badge, join, tag
from agenteval_kit.report.views import ComparisonView, DecisionView, RecordView
from agenteval_kit.runs import Run
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import (
    ALL_CHECKS,
    CaseScore,
    PairedLayer,
    Summary,
    asked_alike,
)

__all__ = ["STATES", "JudgedPoint", "Release", "State", "Trend", "case_state", "layer_moves"]

State = Literal[
    "broken",
    "fell further",
    "fixed",
    "flaky",
    "steadily low",
    "unscored",
    "unchanged",
    "failing",
    "passing",
    "new",
]
STATES: dict[str, str] = {
    "broken": "passed in the baseline, fails now",
    "fell further": "fails in both runs, and in a layer that passed before",
    "fixed": "failed in the baseline, passes now",
    "flaky": "the repeats of a run disagree",
    "steadily low": "fails in both runs",
    "failing": "fails in every repeat",
    "unscored": "not scored, or missing, in one of the runs",
    "new": "stands in this run only, or was edited since the baseline",
    "unchanged": "passes in both runs",
    "passing": "passes in every repeat",
}
"""The states of a record, in the order in which they are worth reading."""


@dataclass(frozen=True, slots=True)
class JudgedPoint:
    """One judged dimension of one run, as a point of its trend.

    `series` counts up wherever the values before are not comparable, and `broke` says why.
    """

    estimate: Estimate
    levels: tuple[int, ...]
    judge: str
    series: int
    broke: str
    judge_digest: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """One earlier or present run, as a point of the trends.

    `label` is the name under which it was `published`, else its id. `failed` says of each case that
    was asked as it is now, and scored, whether a check failed.
    """

    run_id: str
    label: str
    created: str
    series: int
    broke: str
    layers: Mapping[str, Estimate]
    dimensions: Mapping[str, JudgedPoint] = field(default_factory=dict)
    failed: Mapping[str, bool] = field(default_factory=dict)
    published: bool = False
    prompt: str = "unknown"

    @property
    def named(self) -> Html:
        """What it is called, whether it was published, and under it its prompt."""
        mark = join([" ", badge("published")]) if self.published else None
        return join([self.label, mark, tag("div", {"class": "note"}, "prompt ", self.prompt)])


@dataclass(frozen=True)
class Release:
    """One run, and the baseline where there is one, ready to be shown.

    Attributes
    ----------
    run, summary : Run, Summary
        What is released, and what its checks add up to.
    facts : mapping
        By case and repeat, what is kept of each transcript.
    shown, hard_shown : mapping
        By case and repeat, the transcript as markup; and the turns about its hard fail.
    told : mapping
        By case and repeat, the check rows that did not pass.
    decision : DecisionView or None
        What the bar said; None where no bar was given.
    baseline, before, old_facts, old_shown
        The same of the baseline; None or empty where there is none.
    comparison : ComparisonView or None
        The two runs, paired by case; None without a baseline.
    trends : tuple of Trend
        Oldest first; empty without a history.
    left_out : tuple of str
        Runs of the history that are not drawn, each with the reason.
    old_bar : Bar or None
        The bar that the baseline was held to.
    files : path or None
        Folder of the whole transcripts, where excerpts stand in the page.
    judgements : Judged
        What judges said; empty where none was asked.
    labels : LabelSet or None
        What people said, of this run and of others; None where there is no label.
    """

    run: Run
    summary: Summary
    facts: Mapping[Key, Facts]
    shown: Mapping[Key, Html]
    hard_shown: Mapping[Key, Html] = field(default_factory=dict)
    told: Mapping[Key, Sequence[CheckRow]] = field(default_factory=dict)
    decision: DecisionView | None = None
    baseline: Run | None = None
    before: Summary | None = None
    old_facts: Mapping[Key, Facts] = field(default_factory=dict)
    old_shown: Mapping[Key, Html] = field(default_factory=dict)
    comparison: ComparisonView | None = None
    trends: tuple[Trend, ...] = ()
    left_out: tuple[str, ...] = ()
    old_bar: Bar | None = None
    files: Path | None = None
    judgements: Judged = field(default_factory=Judged)
    labels: LabelSet | None = None

    @property
    def judged(self) -> bool:
        """Whether a judge scored this run, or compared it with its baseline."""
        return bool(self.judgements)

    @property
    def not_comparable(self) -> str:
        """Why there is nothing to compare with; empty where there is."""
        return "no baseline was given" if self.comparison is None else self.comparison.refused

    @cached_property
    def pairs(self) -> dict[str, PairedLayer]:
        """Each layer, and `ALL_CHECKS`, paired by case with the baseline; empty without one."""
        if self.comparison is None or self.comparison.overall is None:
            return {}
        return {pair.layer: pair for pair in (*self.comparison.layers, self.comparison.overall)}

    @cached_property
    def records(self) -> dict[str, RecordView]:
        """What the comparison says of each case; empty without a baseline."""
        if self.comparison is None:
            return {}
        return {record.case_id: record for record in self.comparison.records}

    @cached_property
    def states(self) -> dict[str, State]:
        """The state of each case of this run."""
        before = asked_alike(self.before, self.summary) if self.before else {}
        comparable = bool(self.pairs)
        return {
            case.case_id: case_state(case, before.get(case.case_id), comparable=comparable)
            for case in self.summary.cases
        }

    def bars(self) -> dict[str, float]:
        """The pass rate that the bar wants of each layer, where it is one over cases."""
        if self.decision is None:
            return {}
        return {
            row.layer: row.threshold
            for row in self.decision.rows
            if row.clause == "pass_rate" and row.threshold is not None and row.layer
        }

    def margins(self) -> dict[str, float]:
        """The drop of the share passed that a `no_worse` clause allows a layer, where one does."""
        if self.decision is None:
            return {}
        clauses = self.decision.bar.bar.no_worse.items()
        return {layer: one.margin for layer, one in clauses if one.unit == "pass_share"}

    def margin(self, unit: Literal["pass_share", "win_rate"]) -> float | None:
        """The smallest drop that a `no_worse` clause in this unit allows; None without one."""
        if self.decision is None:
            return None
        clauses = self.decision.bar.bar.no_worse.values()
        return min((one.margin for one in clauses if one.unit == unit), default=None)


def case_state(case: CaseScore, old: CaseScore | None, *, comparable: bool) -> State:
    """What became of a case, by the share of its repeats in which every check passed."""
    now = case.counts[ALL_CHECKS].rate
    if now is None:
        return "unscored"
    if not comparable:
        return "flaky" if case.flaky else ("passing" if now == 1 else "failing")
    if old is None:
        return "new"
    was = old.counts[ALL_CHECKS].rate
    if was is None:
        return "unscored"
    if case.flaky or old.flaky:
        return "flaky"
    if now != was:
        return "broken" if now < was else "fixed"
    if now == 1:
        return "unchanged"
    return "fell further" if any(to < was for _, was, to in layer_moves(case, old)) else (
        "steadily low")  # fmt: skip


def layer_moves(case: CaseScore, old: CaseScore | None) -> list[tuple[str, float, float]]:
    """Layers of a case whose share of passed repeats changed: name, before, now."""
    if old is None:
        return []
    found = []
    for name, counts in case.counts.items():
        was = old.counts[name].rate if name in old.counts else None
        if name != ALL_CHECKS and was is not None and counts.rate not in (None, was):
            found.append((name, was, counts.rate or 0.0))
    return found
