"""The plan of a suite: every question about sizes, from its last runs or from assumptions.

May not run, judge or decide anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agenteval_kit.calibrate.trust import stats_rule
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import canonical_json
from agenteval_kit.gate.bars import LoadedBar, load_bar, loaded
from agenteval_kit.pairwise.summary import PreferenceSummary, preference_summary
from agenteval_kit.plan.behaviour import Behaviour, assumed_behaviour, observed_behaviour
from agenteval_kit.plan.cases import plan_cases
from agenteval_kit.plan.costs import plan_costs
from agenteval_kit.plan.judged import JudgedBehaviour, observed_judging
from agenteval_kit.plan.labels import ACCURACY, SHAPES, LabelsNeeded, plan_labels
from agenteval_kit.plan.result import Plan
from agenteval_kit.plan.ship import TIES, chance_to_ship
from agenteval_kit.plan.sized import sized_spreads, with_outcome
from agenteval_kit.records import JudgeSpec, Rubric
from agenteval_kit.records.bars import Bar
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.stats.raters import true_shares
from agenteval_kit.stats.trust import TrustRule
from agenteval_kit.suite import Suite
from agenteval_kit.summary import Summary, summarise
from agenteval_kit.text import counted

__all__ = ["plan_suite"]

TRIES = 200
"""Simulated calibrations for each number of labels: the chance to within 7 points."""


def plan_suite(
    suite: Suite | None = None,
    *,
    runs: Sequence[Run] = (),
    bar: Bar | LoadedBar | None = None,
    rubric: Rubric | None = None,
    judges: JudgeSpec | Sequence[str] | None = None,
    cases: int | None = None,
    repeats: int | None = None,
    rates: Mapping[str, float] | None = None,
    drop: float = 0.05,
    labels: Sequence[int] = (50, 100, 200),
    clusters: Mapping[str, str] | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Plan:
    """How many cases and labels, what they cost, what they can see, and whether a bar would ship.

    Parameters
    ----------
    suite : Suite, optional
        Its size, bar, rubric and judges are planned with; without it, those of the last run.
    runs : sequence of Run
        History, oldest first, as `list_runs` gives it. Of those with the suite's digest the last
        two are compared; without any the plan rests on assumptions, and says so.
    bar, rubric, judges : optional
        In place of the suite's own.
    cases, repeats : int, optional
        Of the planned suite, in place of the suite's own.
    rates : mapping of str to float, optional
        Assumed pass rate by layer, to simulate the bar with while there is no run.
    drop : float
        The drop, as a share, that the bar should catch.
    labels : sequence of int
        Numbers of labels to try.
    clusters : mapping of str to str, optional
        Scenario of a case, where scenarios hold several cases.
    replicates, seed : int
        Of the simulation of the bar.

    Returns
    -------
    Plan
        A frozen answer to each question, with what it assumes and how it was made.

    Raises
    ------
    ConfigError
        If there is neither a suite nor a run, or a file that the suite names cannot be read.
    """
    known, notes = _same_suite(suite, runs)
    if suite is None and not known:
        raise ConfigError("nothing to plan: give a suite, or a run of one")
    with_bar = _bar_of(suite, bar)
    rubric = rubric if rubric is not None else _rubric_of(suite)
    judges = judges if judges is not None else _judges_of(suite)
    last = [summarise(run) for run in known[-2:]]
    n = cases if cases is not None else _cases_of(suite, last)
    if repeats is None:
        repeats = suite.repeats if suite is not None else last[-1].repeats
    judged = observed_judging(known[-1]) if known else ()
    preferences = _preferences(known)
    plain = with_bar.bar if with_bar is not None else None
    behaviour = _behaviour(last, rates, n=n, suite=suite)
    sizes = tuple(
        plan_cases(
            one.spread,
            margin=one.margin,
            cases=one.of(n) if clusters is None else None,
            repeats=repeats,
        )
        for one in sized_spreads(known, last, plain, rubric, clusters, preferences)
    )
    if behaviour is None:
        notes.append("no run and no assumed rates: the chance that the bar ships is not known")
    elif with_bar is None:
        notes.append("no bar: the chance that it ships is not known")
    asks_judges = rubric is not None or judged
    return Plan(
        suite=suite.spec.name if suite is not None else known[-1].info.suite,
        cases=n,
        repeats=repeats,
        runs=tuple(run.id for run in known[-2:]),
        sizes=sizes,
        labels=_labels(judged, plain, labels, seed) if asks_judges else (),
        cost=None
        if rubric is None
        else plan_costs(
            rubric,
            cases=n,
            repeats=repeats,
            judges=judges,
            # Another version of the suite has prompts of about the same length.
            transcripts=(known or runs)[-1].transcripts() if runs else (),
            items=suite.items if suite is not None else (),
            pairwise=plain is not None and bool(plain.win_rate),
        ),
        ship=()
        if with_bar is None or behaviour is None
        else tuple(
            chance_to_ship(
                behaviour,
                with_bar,
                judged=judged,
                cases=n,
                repeats=repeats,
                drop=fall,
                ties=_ties(preferences),
                preferences=preferences,
                replicates=replicates,
                seed=seed,
            )
            for fall in _drops(with_bar.bar, behaviour, drop)
        ),
        notes=tuple(notes),
    )


def _same_suite(suite: Suite | None, runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs that measure the same, oldest first; and what was left out."""
    if not runs:
        return [], ["no history: sizes rest on assumed spreads"]
    digest = suite.digest if suite is not None else runs[-1].info.suite_digest
    same = [run for run in runs if run.info.suite_digest == digest]
    whole = [run for run in same if not any(run.info.selection.model_dump().values())]
    whole = [run for run in whole if run.complete]
    # A recording that is read twice is not two trials.
    newest = {canonical_json(run.info.agent.model_dump()): run.id for run in whole}
    fresh = [
        run
        for run in whole
        if run.info.kind != "recorded"
        or newest[canonical_json(run.info.agent.model_dump())] == run.id
    ]
    notes = []
    if len(same) < len(runs):
        notes.append(
            f"left out, of other versions of the suite: {counted(len(runs) - len(same), 'run')}"
        )
    if len(whole) < len(same):
        notes.append(f"left out, incomplete or partial: {counted(len(same) - len(whole), 'run')}")
    if len(fresh) < len(whole):
        notes.append(
            f"left out, the same recording again: {counted(len(whole) - len(fresh), 'run')}"
        )
    if not fresh:
        notes.append("no history: sizes rest on assumed spreads")
    elif len(fresh) == 1:
        notes.append("one run only: two would show how far cases move from run to run")
    return fresh, notes


def _bar_of(suite: Suite | None, bar: Bar | LoadedBar | None) -> LoadedBar | None:
    if bar is not None:
        return loaded(bar)
    return load_bar(suite.bar) if suite is not None and suite.bar is not None else None


def _rubric_of(suite: Suite | None) -> Rubric | None:
    if suite is None or suite.spec.rubric is None:
        return None
    return load_rubric(suite.file.parent / suite.spec.rubric)


def _judges_of(suite: Suite | None) -> JudgeSpec | Sequence[str]:
    return suite.spec.judge or () if suite is not None else ()


def _cases_of(suite: Suite | None, last: Sequence[Summary]) -> int:
    if suite is not None and suite.items:
        return len(suite.items)
    if last:
        return len(last[-1].cases)
    raise ConfigError(
        "the suite takes its cases from a recording, and there is no run of it yet; run it once, "
        "or say how many cases to plan for"
    )


def _behaviour(
    last: Sequence[Summary], rates: Mapping[str, float] | None, *, n: int, suite: Suite | None
) -> Behaviour | None:
    if rates is not None:
        critical = sum(item.critical for item in suite.items) if suite is not None else 0
        return assumed_behaviour(rates, cases=n, critical=min(critical, n))
    if not last:
        return None
    # Repeats of one version show its noise; two versions are taken for one only for want of them.
    return observed_behaviour(*(last[-1:] if last[-1].repeats > 1 else last))


def _preferences(known: Sequence[Run]) -> PreferenceSummary | None:
    """What judges preferred between the last two runs, where one was asked."""
    return preference_summary(known[-1], known[-2].id) if len(known) > 1 else None


def _ties(preferences: PreferenceSummary | None) -> float:
    """The share of ties that a judge saw, else the one to plan with."""
    found = with_outcome(preferences)
    pairs = sum(one.n for one in found)
    return sum(one.ties for one in found) / pairs if pairs else TIES


def _labels(
    judged: Sequence[JudgedBehaviour], bar: Bar | None, labels: Sequence[int], seed: int
) -> tuple[LabelsNeeded, ...]:
    rule = stats_rule(bar.trust) if bar is not None else TrustRule()
    if not judged:
        return tuple(
            plan_labels(shape, labels=labels, rule=rule, replicates=TRIES, seed=seed)
            for shape in SHAPES
        )
    return tuple(
        plan_labels(
            true_shares(one.shares, ACCURACY).tolist(),
            labels=labels,
            accuracy=ACCURACY,
            rule=rule,
            dimension=one.dimension,
            source=f"as {one.stamp.judge} scored the last run, such errors taken out",
            replicates=TRIES,
            seed=seed,
        )
        for one in judged
    )


def _drops(bar: Bar, behaviour: Behaviour, drop: float) -> Iterator[dict[str, float]]:
    """Nothing, and then the drop in the first layer that the bar is about."""
    yield {}
    named = [*bar.no_worse, *bar.pass_rate, *bar.win_rate, *bar.hard_layers, *behaviour.layers]
    layer = next((name for name in named if name in behaviour.rates), None)
    if drop and layer is not None and drop <= behaviour.rates[layer]:
        yield {layer: drop}
