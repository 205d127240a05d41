"""Draws pairs of runs and has the gate decide each: what P(SHIP) is counted from.

May not give a clause another meaning than the gate does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agenteval_kit.gate.against import no_worse
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.preferred import win_rate
from agenteval_kit.gate.rows import ClauseRow
from agenteval_kit.gate.verdict import CLAUSES
from agenteval_kit.judge.scores import DimensionScores
from agenteval_kit.pairwise.summary import PreferenceSummary
from agenteval_kit.plan.behaviour import Behaviour
from agenteval_kit.plan.judged import JudgedBehaviour, JudgedDraws
from agenteval_kit.plan.preferred import as_preferences, by_preference, draw_tally
from agenteval_kit.plan.replay import Replay, summary_of
from agenteval_kit.plan.urn import Counts as Drawn
from agenteval_kit.plan.urn import Worlds
from agenteval_kit.records import AgentStamps
from agenteval_kit.records.bars import Bar
from agenteval_kit.records.trust import DimensionTrust
from agenteval_kit.runs import CasePlan, Run, RunInfo
from agenteval_kit.summary import CaseScore, Counts, Summary

__all__ = ["Draws"]

Clause = Callable[[Evidence], Iterator[ClauseRow]]


@dataclass(slots=True)
class Draws:
    """One pair of runs after the other, and what the bar says of each.

    Parameters
    ----------
    behaviour, judged, bar, cases, repeats, drop, ties, seed, preferences
        As in `ship.chance_to_ship`; judged clauses of `bar` that no verdict is known for are left
        out beforehand.
    """

    behaviour: Behaviour
    judged: Sequence[JudgedBehaviour]
    bar: Bar
    cases: int
    repeats: int
    drop: Mapping[str, float]
    ties: float
    seed: int
    preferences: PreferenceSummary | None = None
    preferred: tuple[str, ...] = field(init=False)
    _worlds: Worlds = field(init=False)
    _replay: Replay = field(init=False)
    _verdicts: list[JudgedDraws] = field(init=False)
    _trust: list[DimensionTrust] = field(init=False)
    _where: list[tuple[int, int]] = field(init=False)
    _plans: list[CasePlan] = field(init=False)
    _claims: dict[tuple[Any, ...], tuple[ClauseRow, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        intervals = self.bar.bar_applies_to == "bound"
        self.preferred = tuple(
            name
            for name, one in self.bar.no_worse.items()
            if one.unit == "win_rate" and by_preference(self.preferences, name)
        )
        self._worlds = Worlds(np.random.default_rng(self.seed))
        self._replay = Replay(self.behaviour.groups)
        self._verdicts = [JudgedDraws(one, intervals) for one in self.judged]
        self._trust = [
            DimensionTrust(
                dimension=one.dimension, judge_digest=one.stamp.judge_digest, state="trusted"
            )
            for one in self.judged
        ]
        self._plans = [CasePlan(id=str(at)) for at in range(self.cases)]
        self._where = [
            (group, case)
            for group, each in enumerate(self.behaviour.groups)
            for case in range(len(each.plans))
        ]

    def rows(self) -> Iterator[ClauseRow]:
        """The rows of the next pair of runs."""
        scored = {name for name, one in self.bar.no_worse.items() if one.unit == "score"}
        elsewhere = scored.union(self.preferred)
        compared = [name for name in self.bar.no_worse if name not in elsewhere]
        new, old = self._runs(paired=bool(compared))
        after, before = self._scores(paired=bool(scored))
        summary = summary_of(
            new,
            self.behaviour.layers,
            repeats=self.repeats,
            intervals=self.bar.bar_applies_to == "bound",
        )
        evidence = self._evidence(self.bar, summary, after)
        for clause in CLAUSES:
            # These two look at a pair of runs, and come below.
            if clause not in (no_worse, win_rate):
                yield from clause(evidence)
        for layer in compared:
            yield from self._claim_shares(layer, old, new)
        for name in scored:
            yield from self._claim_scores(name, before, after, summary)
        for name in self.preferred:
            yield from self._claim_no_lower(name, summary)
        for target in self.bar.win_rate:
            alone = self.bar.model_copy(update={"win_rate": {target: self.bar.win_rate[target]}})
            yield from self._claim_preferred(win_rate, alone, target, summary)

    def _runs(self, *, paired: bool) -> tuple[list[CaseScore], list[CaseScore]]:
        chances = [group.urn.world(self._worlds.rng) for group in self.behaviour.groups]
        chosen = self._worlds.chosen(self.cases, len(self._where)).tolist()
        new = self._run(chances, chosen, fall=True)
        return new, self._run(chances, chosen, fall=False) if paired else []

    def _run(self, chances: list[Any], chosen: list[int], *, fall: bool) -> list[CaseScore]:
        picked = [self._where[at] for at in chosen]
        drawn: dict[int, Iterator[Drawn]] = {}
        for group in range(len(chances)):
            rows = [case for of, case in picked if of == group]
            if rows:
                drawn[group] = iter(self._worlds.run(chances[group][rows], self.repeats))
        found = []
        for group, case in picked:
            broken = self._broken(group) if fall else ()
            found.append(self._replay.case(group, case, next(drawn[group]), broken=broken))
        return found

    def _broken(self, group: int) -> tuple[str, ...]:
        """The layers in which a case of the new run breaks."""
        if not self.drop:
            return ()
        checked = {name for name, _ in self.behaviour.groups[group].outcomes[0].layers}
        return tuple(
            layer
            for layer, fall in self.drop.items()
            if layer in checked and self._worlds.rng.random() * self.behaviour.rates[layer] < fall
        )

    def _scores(
        self, *, paired: bool
    ) -> tuple[dict[str, DimensionScores], dict[str, DimensionScores]]:
        after: dict[str, DimensionScores] = {}
        before: dict[str, DimensionScores] = {}
        for draws in self._verdicts:
            one = draws.behaviour
            chosen = self._worlds.chosen(self.cases, one.urn.cases)
            chances = one.urn.world(self._worlds.rng)[chosen]
            fall = self.drop.get(one.dimension, 0.0)
            fallen = (self._worlds.rng.random(len(chosen)) < fall).tolist()
            after[one.dimension] = draws.scores(self._worlds.run(chances, self.repeats), fallen)
            if paired:
                stays = [False] * len(chosen)
                again = self._worlds.run(chances, self.repeats)
                before[one.dimension] = draws.scores(again, stays)
        return after, before

    def _claim_shares(
        self, layer: str, old: list[CaseScore], new: list[CaseScore]
    ) -> tuple[ClauseRow, ...]:
        pairs = [
            (one.counts.get(layer, Counts()), two.counts.get(layer, Counts()))
            for one, two in zip(old, new, strict=True)
        ]
        # The claim rests on the differences of shares; equal sets need not be bounded twice.
        key = (layer, frozenset(Counter(_shares(pair) for pair in pairs).items()))
        if key not in self._claims:
            before, after = (
                summary_of(
                    [
                        CaseScore(plan, {layer: pair[side]}, ())
                        for plan, pair in zip(self._plans, pairs, strict=True)
                    ],
                    [layer],
                    repeats=self.repeats,
                    intervals=False,
                )
                for side in (0, 1)
            )
            evidence = self._evidence(self._alone(layer), after, {}, before=before)
            self._claims[key] = tuple(no_worse(evidence))
        return self._claims[key]

    def _claim_scores(
        self,
        name: str,
        before: dict[str, DimensionScores],
        after: dict[str, DimensionScores],
        summary: Summary,
    ) -> tuple[ClauseRow, ...]:
        old, new = ({at: x.by_case() for at, x in side.items()} for side in (before, after))
        moved = {
            at: Counter(
                round(score - old[at][case], 9) if case in old[at] else None
                for case, score in each.items()
            )
            for at, each in new.items()
        }
        key = (name, *((at, frozenset(each.items())) for at, each in moved.items()))
        if key not in self._claims:
            evidence = self._evidence(
                self._alone(name), summary, after, before=summary, judged_before=before
            )
            self._claims[key] = tuple(no_worse(evidence))
        return self._claims[key]

    def _claim_no_lower(self, name: str, summary: Summary) -> tuple[ClauseRow, ...]:
        found = self.preferences.find(name) if self.preferences is not None else None
        if found is not None and found.n:
            return self._claim_preferred(no_worse, self._alone(name), name, summary)
        # Nothing to draw from: the gate says of every pair of runs what it says of the last one.
        evidence = self._evidence(self._alone(name), summary, {}, preferences=self.preferences)
        return self._claims.setdefault((no_worse, name), tuple(no_worse(evidence)))

    def _claim_preferred(
        self, clause: Clause, alone: Bar, target: str, summary: Summary
    ) -> tuple[ClauseRow, ...]:
        fall = self.drop.get(target, 0.0)
        tally = draw_tally(self._worlds.rng, cases=self.cases, ties=self.ties, fall=fall)
        key = (clause, target, tally)
        if key not in self._claims:
            evidence = self._evidence(alone, summary, {}, preferences=as_preferences(target, tally))
            self._claims[key] = tuple(clause(evidence))
        return self._claims[key]

    def _alone(self, name: str) -> Bar:
        return self.bar.model_copy(update={"no_worse": {name: self.bar.no_worse[name]}})

    def _evidence(
        self,
        bar: Bar,
        summary: Summary,
        judged: dict[str, DimensionScores],
        *,
        before: Summary | None = None,
        judged_before: dict[str, DimensionScores] | None = None,
        preferences: PreferenceSummary | None = None,
    ) -> Evidence:
        evidence = Evidence(
            run=_stand_in("new"),
            bar=bar,
            summary=summary,
            baseline=_stand_in("old"),
            before=before,
            trust=self._trust,
        )
        # What it would read from the files of two runs is put in its place.
        vars(evidence).update(
            judged=judged,
            judged_before=judged_before or {},
            preferences=preferences,
            no_baseline="",
        )
        return evidence


def _shares(pair: tuple[Counts, Counts]) -> tuple[Any, ...]:
    one, two = pair
    first, second = one.rate, two.rate
    if first is None or second is None:
        return (None, one.unscored + one.n > 0, two.unscored + two.n > 0)
    return (round(second - first, 9), max(one.n, two.n) > 1)


def _stand_in(name: str) -> Run:
    """A run that is nowhere on disk: the gate looks at its stamps only."""
    info = RunInfo(
        id=name,
        created="",
        suite="simulated",
        suite_version="",
        suite_digest="",
        agent=AgentStamps(model="simulated", prompt="simulated"),
        cases=(),
        kind="simulated",
        package="",
    )
    return Run(Path("simulated") / name, info)
