"""What an agent would do if a suite were run again, as far as its checks go.

May not apply a bar. What was seen is drawn from as whole trials, so that layers move together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.plan.urn import Urn, concentration
from agenteval_kit.runs import CasePlan
from agenteval_kit.summary import ALL_CHECKS, CaseScore, Summary, TranscriptScore
from agenteval_kit.summary.scores import Scored, Status
from agenteval_kit.text import counted

__all__ = ["Behaviour", "Group", "Outcome", "assumed_behaviour", "observed_behaviour"]


class Outcome(NamedTuple):
    """One way in which a trial ended: by layer, with the failed checks of each.

    `critical` is that of invariants; a critical case takes its own status instead.
    """

    status: Status
    layers: tuple[tuple[str, Scored], ...]
    failing: tuple[tuple[str, int], ...] = ()
    critical: Scored | None = None

    def broken(self, layer: str) -> Outcome:
        """The same trial, had it failed in this layer too."""
        layers = tuple((name, "failed" if name == layer else was) for name, was in self.layers)
        failing = {layer: 1, **dict(self.failing)}
        return Outcome("failed", layers, tuple(sorted(failing.items())), self.critical)


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that are checked in the same layers.

    Attributes
    ----------
    plans : tuple of CasePlan
        A case each.
    assertions : tuple of mapping
        Check rows of one trial by layer, a case each.
    outcomes : tuple of Outcome
        The columns of the urn.
    urn : Urn
        What each case would do.
    """

    plans: tuple[CasePlan, ...]
    assertions: tuple[Mapping[str, int], ...]
    outcomes: tuple[Outcome, ...]
    urn: Urn


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What every case of a suite would do.

    Attributes
    ----------
    groups : tuple of Group
        All cases, by the layers that they are checked in.
    rates : mapping of str to float
        Share of trials that passed, by layer: seen, or assumed.
    repeats : int
        Repeats a case behind it.
    alpha : float
        See `Urn`; infinite where cases are not told apart.
    source, assumption : str
        In words.
    """

    groups: tuple[Group, ...]
    rates: Mapping[str, float]
    repeats: int
    alpha: float
    source: str
    assumption: str

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(len(group.plans) for group in self.groups)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that something is checked in."""
        return tuple(self.rates)


def observed_behaviour(*summaries: Summary) -> Behaviour:
    """What runs of one agent show of how it would do again.

    Repeats of a case tell a hard case from an unlucky trial. Two runs do too, if they are taken as
    two trials of one agent: whatever changed between them then counts as noise.

    Parameters
    ----------
    *summaries : Summary
        Of runs of one suite, the newest last.

    Raises
    ------
    ConfigError
        If no case was checked by code.
    """
    trials: dict[str, list[TranscriptScore]] = {}
    plans: dict[str, CasePlan] = {}
    checks: dict[str, dict[str, float]] = {}
    for summary in summaries:
        for case in summary.cases:
            seen = [one for one in case.transcripts if one.status not in ("judge only", "missing")]
            if seen:
                plans[case.case_id] = case.plan
                trials.setdefault(case.case_id, []).extend(seen)
                checks[case.case_id] = _assertions(case, len(seen))
    if not trials:
        raise ConfigError(
            "nothing to plan with: no case of these runs was checked by code; see `agenteval check`"
        )
    alpha = concentration(_by_layer(trials))
    groups = tuple(
        _observed_group(
            [(plans[name], trials[name], checks[name]) for name in names],
            alpha,
            # One pseudo-case for the whole suite: many small groups are no more uncertain.
            anchor=len(names) / len(trials),
        )
        for names in _alike(trials)
    )
    most = max(len(each) for each in trials.values())
    names = " and ".join(summary.run_id for summary in summaries)
    return Behaviour(
        groups=groups,
        rates=_rates(trials),
        repeats=max(summary.repeats for summary in summaries),
        alpha=alpha,
        source=f"{counted(sum(map(len, trials.values())), 'trial')} of "
        f"{counted(len(trials), 'case')} in {names}",
        assumption=_assumption(alpha, most, runs=len(summaries)),
    )


def assumed_behaviour(
    rates: Mapping[str, float], *, cases: int, critical: int = 0, alike: float = 0.0
) -> Behaviour:
    """An agent with given pass rates: what to plan with while there is no run.

    Parameters
    ----------
    rates : mapping of str to float
        Chance that a trial passes, by layer; layers are independent of each other.
    cases, critical : int
        Cases, and how many of them are critical.
    alike : float
        Intraclass correlation of repeats, 0 to below 1: 0 where every trial of every case has the
        same chance; near 1 where a case always does the same.

    Raises
    ------
    ConfigError
        If a rate or the correlation is outside its range, or there are more critical cases than
        cases.
    """
    if not rates or not all(0 <= rate <= 1 for rate in rates.values()):
        raise ConfigError(f"rates: {dict(rates)}; wanted a share from 0 to 1 for each layer.")
    if not 0 <= alike < 1:
        raise ConfigError(f"alike: got {alike:g}, wanted a correlation from 0 to below 1.")
    if cases < 1 or not 0 <= critical <= cases:
        raise ConfigError(f"cases: {cases} with {critical} critical; wanted 1 case or more.")
    outcomes = []
    pool = []
    for passed in product((True, False), repeat=len(rates)):
        found = dict(zip(rates, passed, strict=True))
        outcomes.append(_outcome_of(found))
        pool.append(
            math.prod(rates[name] if yes else 1 - rates[name] for name, yes in found.items())
        )
    alpha = math.inf if alike == 0 else (1 - alike) / alike
    plans = tuple(
        CasePlan(id=f"case-{at + 1}", critical=at < critical, layers=tuple(rates))
        for at in range(cases)
    )
    urn = Urn(np.zeros((cases, len(pool))), alpha, np.zeros(len(pool)), np.asarray(pool))
    shown = ", ".join(f"{name} {100 * rate:g} %" for name, rate in rates.items())
    return Behaviour(
        groups=(Group(plans, (dict.fromkeys(rates, 1),) * cases, tuple(outcomes), urn),),
        rates=dict(rates),
        repeats=1,
        alpha=alpha,
        source=f"assumed pass rates: {shown}",
        assumption=(
            "every trial of every case has these chances"
            if alike == 0
            else f"two trials of a case are alike with correlation {alike:g}"
        )
        + (", layers independent" if len(rates) > 1 else ""),
    )


def _outcome_of(passed: Mapping[str, bool]) -> Outcome:
    layers: tuple[tuple[str, Scored], ...] = tuple(
        (name, "passed" if yes else "failed") for name, yes in passed.items()
    )
    failing = tuple(sorted((name, 1) for name, yes in passed.items() if not yes))
    return Outcome("failed" if failing else "passed", layers, failing)


def _seen_outcome(trial: TranscriptScore) -> Outcome:
    failing = Counter(row.layer for row in trial.failing)
    return Outcome(
        trial.status,
        tuple(sorted(trial.layers.items())),
        tuple(sorted(failing.items())),
        trial.critical,
    )


def _observed_group(
    members: Sequence[tuple[CasePlan, list[TranscriptScore], dict[str, float]]],
    alpha: float,
    *,
    anchor: float,
) -> Group:
    seen = [[_seen_outcome(trial) for trial in trials] for _, trials, _ in members]
    invariants = any(one.critical is not None for each in seen for one in each)
    layers = sorted({name for each in seen for one in each for name, _ in one.layers})
    held: Scored | None = "passed" if invariants else None
    clean = Outcome("passed", tuple((name, "passed") for name in layers), (), held)
    broken = [
        clean.broken(name)._replace(critical="failed" if invariants else None) for name in layers
    ]
    outcomes = tuple(dict.fromkeys([clean, *broken, *(one for each in seen for one in each)]))
    place = {one: at for at, one in enumerate(outcomes)}
    own = np.zeros((len(members), len(outcomes)))
    for row, each in enumerate(seen):
        for one in each:
            own[row, place[one]] += 1
    # Half a pseudo-case that passes all, half one that fails in a single layer.
    anchors = np.zeros(len(outcomes))
    anchors[place[clean]] = anchor / 2
    for one in broken:
        anchors[place[one]] += anchor / 2 / len(broken)
    return Group(
        plans=tuple(plan for plan, _, _ in members),
        assertions=tuple(
            {name: round(many) for name, many in each.items()} for *_, each in members
        ),
        outcomes=outcomes,
        urn=Urn(own, alpha, anchors),
    )


def _alike(trials: Mapping[str, list[TranscriptScore]]) -> list[list[str]]:
    """Case ids by the layers that they are checked in, and whether they have invariants."""
    found: dict[tuple[frozenset[str], bool], list[str]] = {}
    for name, each in trials.items():
        layers = frozenset(layer for one in each for layer in one.layers)
        invariants = any(one.critical is not None for one in each)
        found.setdefault((layers, invariants), []).append(name)
    return list(found.values())


def _assertions(case: CaseScore, trials: int) -> dict[str, float]:
    return {
        name: (counts.assertions_passed + counts.assertions_failed + counts.assertions_unscored)
        / trials
        for name, counts in case.counts.items()
        if name != ALL_CHECKS
    }


def _by_layer(
    trials: Mapping[str, list[TranscriptScore]],
) -> list[tuple[list[float], list[str]]]:
    found: dict[str, tuple[list[float], list[str]]] = {}
    for name, layer, passed in _scored(trials):
        values, cases = found.setdefault(layer, ([], []))
        values.append(float(passed))
        cases.append(name)
    return list(found.values())


def _rates(trials: Mapping[str, list[TranscriptScore]]) -> dict[str, float]:
    found: dict[str, list[bool]] = {}
    for _, layer, passed in _scored(trials):
        found.setdefault(layer, []).append(passed)
    return {layer: sum(each) / len(each) for layer, each in found.items()}


def _scored(trials: Mapping[str, list[TranscriptScore]]) -> Iterable[tuple[str, str, bool]]:
    for name, each in trials.items():
        for trial in each:
            for layer, status in trial.layers.items():
                if status != "unscored":
                    yield name, layer, status == "passed"


def _assumption(alpha: float, most: int, *, runs: int) -> str:
    if most == 1:
        return (
            "one trial a case cannot tell a hard case from an unlucky one, so every case is given "
            "the rates of all of them: the most noise there can be; repeats would tell"
        )
    told = "the next runs are drawn from the same agent on the same cases"
    if runs > 1:
        told += "; the runs are taken as trials of one agent, so what changed counts as noise"
    if math.isinf(alpha):
        return f"{told}; cases differ no more than their repeats do"
    return f"{told}; two trials of a case are alike with correlation {1 / (1 + alpha):.2f}"
