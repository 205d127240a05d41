"""P(SHIP): how often a whole bar lets a release through, if nothing changed or if it dropped.

May not decide: the gate's own functions do, on runs that are drawn and never written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.gate.bars import LoadedBar, loaded
from agenteval_kit.gate.dimensions import DEFAULT
from agenteval_kit.gate.rows import Status
from agenteval_kit.gate.verdict import verdict_of
from agenteval_kit.pairwise.summary import PreferenceSummary
from agenteval_kit.plan.behaviour import Behaviour
from agenteval_kit.plan.chances import ClauseChance, ShipChance
from agenteval_kit.plan.draws import Draws
from agenteval_kit.plan.judged import JudgedBehaviour
from agenteval_kit.records.bars import Bar
from agenteval_kit.stats.proportion import wilson

__all__ = ["TIES", "chance_to_ship"]

TIES = 0.35
"""Share of ties to plan a win rate with while there are no preferences."""


def chance_to_ship(
    behaviour: Behaviour,
    bar: Bar | LoadedBar,
    *,
    judged: Sequence[JudgedBehaviour] = (),
    cases: int | None = None,
    repeats: int | None = None,
    drop: Mapping[str, float] | None = None,
    ties: float = TIES,
    preferences: PreferenceSummary | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> ShipChance:
    """How often a release would pass the whole bar, simulated clause by clause.

    In each replicate a baseline and a new run of one agent are drawn, case by case, and the gate's
    own functions decide; nothing is written. With `drop` some cases of the new run break.

    Parameters
    ----------
    behaviour : Behaviour
        From `observed_behaviour`, or from `assumed_behaviour` while there is no run.
    bar : Bar or LoadedBar
        The whole bar.
    judged : sequence of JudgedBehaviour
        From `observed_judging`; clauses on other dimensions are listed and not simulated.
    cases, repeats : int, optional
        Of the planned suite: other cases are drawn with replacement from those that there are.
    drop : mapping of str to float, optional
        By layer, how far the new run's share falls (0.05 is 5 points): each case breaks, in all
        its repeats, with the chance that gives this on average. By dimension, the share of cases
        that fall by a level.
    ties : float
        Share of ties where preferences decide.
    preferences : PreferenceSummary, optional
        What judges preferred between the last two runs: it says which `no_worse` clauses in win
        rate are about preferences, as in the gate. The others are about checks.
    replicates, seed : int
        Draws and their seed.

    Returns
    -------
    ShipChance
        With Wilson's interval of the simulation.

    Raises
    ------
    ConfigError
        If the bar has no clause or lies outside a scale, a number is not above 0, or a drop names
        no layer or dimension or is more than there is to lose.

    References
    ----------
    Checked against the binomial for critical cases (20 cases, 3 repeats, 0.99 each: 0.55) and
    pass rates, and against normal theory for non-inferiority.

    Examples
    --------
    >>> from agenteval_kit.plan import assumed_behaviour
    >>> agent = assumed_behaviour({"outcome": 0.99}, cases=20, critical=20)
    >>> chance_to_ship(agent, Bar(critical="all"), repeats=3, replicates=2000).ship.text()
    '0.555 (0.534 to 0.577)'
    """
    with_stamps = loaded(bar)
    repeats = behaviour.repeats if repeats is None else repeats
    cases = behaviour.cases if cases is None else cases
    if min(repeats, cases, replicates) < 1:
        raise ConfigError(
            f"cases {cases}, repeats {repeats}, replicates {replicates}: wanted 1 or more of each."
        )
    if not 0 <= ties <= 1:
        raise ConfigError(f"ties: got {ties:g}, wanted a share from 0 to 1.")
    fall = {name: by for name, by in (drop or {}).items() if by}
    _check_drop(fall, behaviour, judged)
    known, skipped = _simulated(with_stamps.bar, judged)
    draws = Draws(behaviour, judged, known, cases, repeats, fall, ties, seed, preferences)
    tally: dict[str, Counter[Status]] = {}
    verdicts: Counter[str] = Counter()
    for _ in range(replicates):
        rows = list(draws.rows())
        for row in rows:
            tally.setdefault(row.name, Counter())[row.status] += 1
        verdicts[verdict_of(rows)] += 1
    return ShipChance(
        bar=with_stamps.name,
        drop=fall,
        ship=wilson(verdicts["SHIP"], replicates),
        review=wilson(verdicts["REVIEW"], replicates),
        hold=wilson(verdicts["HOLD"], replicates),
        clauses=tuple(
            ClauseChance(
                name,
                wilson(found["pass"], replicates),
                found["fail"] / replicates,
                found["cannot tell"] / replicates,
            )
            for name, found in tally.items()
        ),
        not_simulated=skipped,
        cases=cases,
        repeats=repeats,
        replicates=replicates,
        seed=seed,
        assumption=_assumption(behaviour, known, judged, fall, ties, draws.preferred),
        method=(
            f"{replicates} pairs of runs drawn case by case from {behaviour.source}, seed {seed}; "
            "decided by the gate's own clauses; Wilson's interval of the simulation"
        ),
    )


def _check_drop(
    drop: Mapping[str, float], behaviour: Behaviour, judged: Sequence[JudgedBehaviour]
) -> None:
    dimensions = [one.dimension for one in judged]
    for name, fall in drop.items():
        known = [*behaviour.rates, *dimensions]
        if name not in known:
            raise ConfigError(f'drop: no layer or dimension "{name}".{did_you_mean(name, known)}')
        most = behaviour.rates.get(name, 1.0)
        if not 0 <= fall <= most:
            raise ConfigError(f'drop: "{name}" cannot fall by {fall:g}; wanted 0 to {most:.3g}.')


def _simulated(bar: Bar, judged: Sequence[JudgedBehaviour]) -> tuple[Bar, tuple[str, ...]]:
    """The bar without the clauses that no verdict is known for, and their names."""
    by_name = {one.dimension: one for one in judged}
    layers = {one.stamp.layer for one in judged}
    on_scale = any(
        one.levels[0] <= bar.mean.get(DEFAULT, one.levels[0]) <= one.levels[-1]
        for name, one in by_name.items()
        if name not in bar.mean
    )
    mean = {x: y for x, y in bar.mean.items() if x in by_name or (x == DEFAULT and on_scale)}
    never = {name: level for name, level in bar.never.items() if name in by_name}
    no_worse = {
        name: one
        for name, one in bar.no_worse.items()
        if one.unit != "score" or name in by_name or name in layers
    }
    left = [f"mean {name}" for name in bar.mean if name not in mean]
    left += [f"never {name}" for name in bar.never if name not in never]
    left += [f"no_worse {name}" for name in bar.no_worse if name not in no_worse]
    known = bar.model_copy(update={"mean": mean, "never": never, "no_worse": no_worse})
    # Rows that are reported and not counted keep no release.
    return known, () if bar.untrusted == "report" else tuple(left)


def _assumption(
    behaviour: Behaviour,
    bar: Bar,
    judged: Sequence[JudgedBehaviour],
    drop: Mapping[str, float],
    ties: float,
    preferred: Collection[str],
) -> str:
    told = [behaviour.assumption]
    if judged and (bar.mean or bar.never):
        told.append("judges stay trusted, and verdicts are drawn apart from checks")
    if bar.win_rate or preferred:
        told.append(f"preferences are drawn even, {100 * ties:.3g} % of them ties")
    if any(name in behaviour.rates for name in drop):
        told.append("a drop breaks whole cases, in all their repeats")
    return "; ".join(told)
