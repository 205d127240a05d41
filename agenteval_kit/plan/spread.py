"""How far two runs lie apart, case by case: what every question about sizes starts from.

May not guess silently: a spread says where it comes from, and carries an interval where measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import gamma_blocks, merge, quantiles
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.power import repeats_spread, spread_of_differences
from agenteval_kit.stats.repeats import variance_components
from agenteval_kit.summary import Summary, pair_layer
from agenteval_kit.text import counted

__all__ = [
    "ASSUMED",
    "STEPS",
    "Spread",
    "Unit",
    "assumed_spreads",
    "spread_of_changes",
    "spread_of_repeats",
    "spread_of_runs",
]

Unit = Literal["pass share", "win rate", "score"]

ASSUMED: Mapping[Unit, tuple[tuple[float, str], ...]] = {
    "pass share": (
        (math.sqrt(0.1), "one case in ten passes in one run and fails in the other"),
        (math.sqrt(0.2), "one case in five does"),
        (math.sqrt(0.4), "two cases in five do"),
    ),
    "win rate": ((0.4, "about 35 % ties"),),
    "score": (
        (0.5, "scores seldom move by a level"),
        (0.8, "a usual planning value on a 1 to 4 scale"),
        (1.0, "scores often move by a level"),
    ),
}
"""Standard deviations of per-case differences to plan with while there is no history."""

STEPS: Mapping[Unit, float] = {"pass share": 1.0, "win rate": 0.5, "score": 1.0}
"""How far one trial of a case moves at least, if it moves: a level of a scale of whole levels."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of per-case differences between two runs.

    Attributes
    ----------
    unit : str
        "pass share", "win rate" or "score".
    target : str
        The layer or dimension; empty where it is assumed for any.
    sd : Estimate
        In that unit, n is the number of cases (scenarios where clustered); no interval where it
        was assumed.
    source : str
        Where it comes from, in words.
    measured : bool
        Whether it rests on runs.
    changes : tuple of float
        The differences themselves; empty unless two runs were compared.
    reach : float
        The largest difference that there can be.
    noise : float or None
        The part of `sd` squared that repeats would shrink, for one repeat a run; None unmeasured.
    repeats : int
        Repeats a case behind `sd`.
    size : float
        How far a case moves when it moves: the root mean square of those that did, else the least
        step there is.
    """

    unit: Unit
    target: str
    sd: Estimate
    source: str
    measured: bool
    changes: tuple[float, ...] = ()
    reach: float = 1.0
    noise: float | None = None
    repeats: int = 1
    size: float = 1.0

    def with_repeats(self, repeats: int) -> float | None:
        """The spread if each case were run this often in both runs; None where unmeasured.

        What is left when the noise of repeats is taken out is taken as real change of cases. Where
        two runs happen to lie closer than their repeats do, all of the spread is noise: with the
        repeats behind it this gives the spread itself.
        """
        if self.noise is None or self.sd.value is None:
            return None
        # Where nothing moved, 0 would promise too much: see `plan_cases`.
        spread = self.sd.value or self.sd.high or 0.0
        noise = min(self.noise, self.repeats * spread**2)
        return repeats_spread(spread**2 - noise / self.repeats, noise, repeats)

    def size_at(self, repeats: int) -> float:
        """How far a case would move with another number of repeats: wholly where it has one."""
        if repeats == self.repeats:
            return self.size
        if repeats == 1:
            return STEPS[self.unit]
        return min(STEPS[self.unit], self.size * math.sqrt(self.repeats / repeats))

    def at(self, repeats: int) -> Spread:
        """The same with another number of repeats; as it is where repeats were not measured."""
        value, sd = self.with_repeats(repeats), self.sd
        if value is None or not sd.value or repeats == self.repeats:
            return self
        ratio = value / sd.value
        scaled = Estimate(
            value,
            None if sd.low is None else sd.low * ratio,
            None if sd.high is None else sd.high * ratio,
            sd.n, sd.level, sd.method, sd.seed, sd.diag, sd.reason,
        )  # fmt: skip
        source = f"{self.source}, carried over to {repeats} repeats a case"
        return replace(
            self, sd=scaled, source=source, changes=(), repeats=repeats, size=self.size_at(repeats)
        )


def spread_of_changes(
    changes: Sequence[float],
    *,
    unit: Unit,
    target: str,
    source: str,
    reach: float = 1.0,
    clusters: Sequence[str] | None = None,
    noise: float | None = None,
    repeats: int = 1,
    draws: int = 10_000,
    seed: int = 0,
) -> Spread:
    """The spread of given per-case differences, with an interval that never collapses.

    Parameters
    ----------
    changes
        New minus old, a case each, in [-reach, reach].
    unit, target, source
        As in `Spread`.
    clusters
        Scenario of each case: differences are averaged within it.
    noise, repeats
        As in `Spread`.
    draws, seed
        Of the interval: weights of a Bayesian bootstrap over cases, with one pseudo-case spread
        over the lowest, middle and highest possible difference.

    Returns
    -------
    Spread
        Its `sd` is undefined below two cases.

    Raises
    ------
    ConfigError
        If lengths differ.
    """
    values = np.asarray(changes, dtype=float)
    method = "standard deviation of per-case differences, anchored Bayesian bootstrap"
    if clusters is not None:
        if len(clusters) != len(values):
            raise ConfigError(f"clusters: {len(clusters)} for {len(values)} cases.")
        names = list(dict.fromkeys(clusters))
        place = np.array([names.index(one) for one in clusters])
        values = np.bincount(place, weights=values) / np.bincount(place)
    n = len(values)
    value = spread_of_differences([0.0] * n, values) if n else None
    if value is None:
        sd = Estimate.undefined(f"{counted(n, 'case')}: a spread wants two", n=n, method=method)
    else:
        low, high = _sd_bounds(values, reach, draws, seed)
        sd = Estimate(
            value, min(low, value), max(high, value), n, method=method, seed=seed,
            diag="nothing moved" if value == 0 else "",
        )  # fmt: skip
    moved = values[values.round(12) != 0]
    size = float(np.sqrt(np.mean(moved**2))) if len(moved) else STEPS[unit] / repeats
    changed = tuple(values.tolist())
    return Spread(unit, target, sd, source, True, changed, reach, noise, repeats, size)


def spread_of_runs(
    before: Summary, after: Summary, layer: str, *, clusters: Mapping[str, str] | None = None
) -> Spread:
    """The spread between two runs of one suite in one layer, paired by case.

    `clusters` names the scenario of a case; a case that it leaves out is its own.
    """
    pair = pair_layer(before, after, layer)
    within = [_within(summary, layer) for summary in (before, after)]
    noise = None if None in within else math.fsum(one for one in within if one is not None)
    return spread_of_changes(
        pair.changes,
        unit="pass share",
        target=layer,
        source=f"differences of {counted(pair.n, 'case')} between runs {before.run_id} and "
        f"{after.run_id}",
        clusters=None if clusters is None else [clusters.get(one, one) for one in pair.ids],
        noise=noise,
        repeats=min(before.repeats, after.repeats),
    )


def spread_of_repeats(summary: Summary, layer: str) -> Spread | None:
    """The spread that repeats of one run alone would give two runs; None without repeats.

    It is noise only: a change that helps some cases and harms others spreads them further.
    """
    within = _within(summary, layer)
    if within is None:
        return None
    counts = [case.counts[layer] for case in summary.cases if layer in case.counts]
    n = sum(one.n > 0 for one in counts)
    value = math.sqrt(2 * within / summary.repeats)
    sd = Estimate(
        value, None, None, n, method="from the variance within cases over repeats",
        reason="one run: the change itself adds to it",
    )  # fmt: skip
    cases = counted(n, "case")
    source = f"{summary.repeats} repeats of {cases} in run {summary.run_id}, were nothing changed"
    return Spread(
        "pass share", layer, sd, source, True, noise=2 * within, repeats=summary.repeats,
        size=STEPS["pass share"] / summary.repeats,
    )  # fmt: skip


def assumed_spreads(unit: Unit) -> tuple[Spread, ...]:
    """What to plan with while there is no history, smallest first; see `ASSUMED`."""
    return tuple(
        Spread(
            unit, "", Estimate(sd, None, None, 0, method="assumed", reason="assumed"),
            f"assumed: {words}", False,
            reach=3.0 if unit == "score" else 0.5 if unit == "win rate" else 1.0,
            size=STEPS[unit],
        )
        for sd, words in ASSUMED[unit]
    )  # fmt: skip


def _sd_bounds(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], reach: float, draws: int, seed: int
) -> tuple[float, float]:
    points = merge(values.round(12))
    at = np.concatenate([points.value, [-reach, 0.0, reach]])
    shape = np.concatenate([points.count, [1 / 3] * 3])
    drawn = np.empty(draws)
    rng = np.random.default_rng(seed)
    for rows, gammas in gamma_blocks(rng, shape, draws=draws):
        weight = gammas / gammas.sum(axis=1, keepdims=True)
        drawn[rows] = np.sqrt(np.maximum(weight @ at**2 - (weight @ at) ** 2, 0.0))
    low, high = quantiles(drawn, at=(0.025, 0.975))
    return low, high


def _within(summary: Summary, layer: str) -> float | None:
    """Variance between repeats of a case; None where no case has two."""
    outcomes: list[float] = []
    cases: list[str] = []
    for case in summary.cases:
        counts = case.counts.get(layer)
        if counts is not None:
            outcomes += [1.0] * counts.passed + [0.0] * counts.failed
            cases += [case.case_id] * counts.n
    return variance_components(outcomes, cases=cases, draws=2).within
