"""How many paired units rule out a drop, by the very bound that decides: Gaffke's where few moved.

It may not look at a run: it is asked what would happen if nothing had changed.
"""

from __future__ import annotations

import math

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, Points
from agenteval_kit.stats.proportion import normal_quantile

__all__ = [
    "FEW_MOVED",
    "MANY_MOVED",
    "guard_weight",
    "quantile_above_zero",
    "units_for_margin",
    "units_to_rule_out",
]

FEW_MOVED, MANY_MOVED = 10, 14
"""Whole units' worth of change up to which Gaffke's bound speaks alone, and from which not at all.

In between its share falls, so that one more loss never turns "not ruled out" into "ruled out".
"""
_RUNS, _LARGEST = 2000, 1 << 22


def guard_weight(points: Points, *, worst: float) -> float:
    """The share of Gaffke's bound, 1 to 0, by how many whole units' worth of change was seen.

    A unit that flickers by a third of the scale tells a third as much about far drops as one that
    falls to the bottom: with repeats nearly every unit moves a little, and the few that fall far
    hide as well as before.
    """
    moved = float(points.count @ np.abs(points.value)) / abs(worst)
    return min(1.0, max(0.0, (MANY_MOVED - moved) / (MANY_MOVED - FEW_MOVED)))


def units_for_margin(sd: float, margin: float, *, level: float = 0.95, power: float = 0.8) -> int:
    """Paired units that pass if nothing changed: ((z_level + z_power) sd / margin)^2.

    Raises
    ------
    ConfigError
        If the margin is not above 0, or the spread is no number of at least 0.

    References
    ----------
    Statistics of ICH E9 non-inferiority designs under the normal approximation.
    """
    _check(sd, margin)
    z = normal_quantile(2 * level - 1) if level > 0.5 else 0.0
    return math.ceil(((z + normal_quantile(2 * power - 1)) * sd / margin) ** 2)


def units_to_rule_out(
    sd: float,
    margin: float,
    *,
    worst: float,
    size: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
    seed: int = 0,
) -> int | None:
    """Paired units with which a drop of the margin is ruled out this often if nothing changed.

    `units_for_margin` where so many units move that Gaffke's bound is silent. Where few do, the
    chance to pass is counted over 2,000 simulated runs in which a unit moves up or down by `size`;
    whether a bound passes is read from the first four cumulants of its draws (Cornish and Fisher).

    Parameters
    ----------
    sd
        Spread of the paired differences.
    margin
        The drop to rule out, above 0.
    worst
        The worst possible difference: -1 for shares, -3 on a 1-4 scale.
    size
        How far a unit moves when it moves; the more often the larger the spread.
    level, power
        Of the one-sided bound, and how often it has to pass.

    Returns
    -------
    int or None
        None where the margin is as large as the scale, so that nothing could fail.

    Raises
    ------
    ConfigError
        If the margin is not above 0, or the spread is no number of at least 0.

    References
    ----------
    Gaffke (2005), as in `noninferiority`; Cornish, E. A. and Fisher, R. A. (1938), Revue de
    l'Institut International de Statistique 5, 307-320. Checked against the bounds themselves.
    """
    _check(sd, margin)
    if margin >= -worst:
        return None
    # Even with no unit moved, Gaffke's bound stays at worst * (1 - alpha^(1/n)).
    unmoved = math.ceil(math.log(1 - level) / math.log1p(margin / worst))
    size = max(size, sd)
    often = (sd / size) ** 2 if sd else 0.0
    by_formula = max(unmoved, units_for_margin(sd, margin, level=level, power=power))
    if not often or by_formula * often * size / -worst >= MANY_MOVED:
        return by_formula

    def enough(n: int) -> bool:
        return _passes(n, often, size, margin, worst, level, seed) >= power

    low, high = unmoved - 1, unmoved
    while not enough(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return None
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _passes(
    n: int, often: float, size: float, margin: float, worst: float, level: float, seed: int
) -> float:
    """The share of simulated runs of n units, nothing changed, that rule the drop out."""
    rng = np.random.default_rng(seed)
    seen = rng.multinomial(n, [often / 2, 1 - often, often / 2], size=_RUNS).astype(float)
    # The bound lies above -margin where nearly all of its draws, weighted sums of these, do.
    apart = np.array([-size, 0.0, size]) + margin
    gaffke = quantile_above_zero(seen, apart, np.array([worst + margin]), 1.0, level)
    ends = np.array([worst, 0.0, -worst]) + margin
    anchored = quantile_above_zero(seen, apart, ends, 1 / 3, level)
    moved = (seen[:, 0] + seen[:, 2]) * size / -worst
    guarded = moved < (FEW_MOVED + MANY_MOVED) / 2
    return float(np.where(guarded, gaffke & anchored, anchored).mean())


def quantile_above_zero(
    seen: Floats, apart: Floats, anchors: Floats, share: float, level: float
) -> np.ndarray:
    """Whether the low quantile of sums of gamma-weighted distances lies above 0, a run each."""
    first, second, third, fourth = (
        factor * (seen @ apart**power + share * float((anchors**power).sum()))
        for power, factor in ((1, 1.0), (2, 1.0), (3, 2.0), (4, 6.0))
    )
    skew, excess = third / second**1.5, fourth / second**2
    z = -normal_quantile(2 * level - 1) if level > 0.5 else 0.0
    at = (
        z + (z**2 - 1) * skew / 6 + (z**3 - 3 * z) * excess / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
    )
    return np.asarray(first + at * np.sqrt(second) > 0)


def _check(sd: float, margin: float) -> None:
    if not (math.isfinite(margin) and margin > 0):
        raise ConfigError(f"margin: got {margin!r}, wanted a number above 0.")
    if not (math.isfinite(sd) and sd >= 0):
        raise ConfigError(f"sd: got {sd!r}, wanted the spread of the differences, 0 or more.")
