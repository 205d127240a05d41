"""How many cases, how many labels, what change can be seen, and will an unchanged agent ship.

It may not promise: every figure here assumes the spread it was given.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.observed import Clusters, Scores, observe
from agenteval_kit.stats.proportion import normal_quantile
from agenteval_kit.stats.sizes import units_for_margin

__all__ = [
    "cases_needed",
    "chance_all_pass",
    "chance_no_worse",
    "detectable_change",
    "repeats_spread",
    "spread_of_differences",
    "units_for_margin",
]

_NORMAL = NormalDist()


def cases_needed(
    sd: float, change: float, *, level: float = 0.95, power: float = 0.8, effect: float = 1.0
) -> int:
    """Paired cases to see a change with the given power.

    Parameters
    ----------
    sd
        Standard deviation of the per-case differences (`spread_of_differences`).
    change
        True change to be seen, in the same units; not 0.
    level, power
        Level of the two-sided interval; chance that it excludes 0.
    effect
        Design effect of scenarios that hold several cases: 1 + (size - 1) icc (Kish 1965).

    Returns
    -------
    int
        (z_level + z_power)^2 sd^2 / change^2, times the design effect, rounded up.

    Raises
    ------
    ConfigError
        If sd is negative, change is 0, or power is not between 0 and 1.

    References
    ----------
    Miller (2024), arXiv:2411.00640, equation for n; his example gives 969.

    Examples
    --------
    >>> [cases_needed(0.8, change) for change in (0.1, 0.2, 0.3, 0.5)]
    [503, 126, 56, 21]
    """
    if change == 0 or sd < 0 or not 0 < power < 1 or effect <= 0:
        raise ConfigError(
            f"cases_needed: needs sd >= 0, a change other than 0 and 0 < power < 1, got sd {sd:g}, "
            f"change {change:g}, power {power:g}."
        )
    z = normal_quantile(level) + _NORMAL.inv_cdf(power)
    return max(1, math.ceil(effect * (z * sd / change) ** 2 - 1e-9))


def detectable_change(
    sd: float, n: int, *, level: float = 0.95, power: float = 0.8, effect: float = 1.0
) -> float | None:
    """The smallest change that n paired cases see with the given power; None without cases.

    Arguments and reference as in `cases_needed`.
    """
    if n < 1:
        return None
    z = normal_quantile(level) + _NORMAL.inv_cdf(power)
    return z * sd * math.sqrt(effect / n)


def spread_of_differences(
    before: Scores, after: Scores, *, clusters: Clusters | None = None
) -> float | None:
    """Standard deviation of per-case (per-scenario) differences of two runs; None below two.

    Two runs of one version (A against A) give the noise alone.

    Raises
    ------
    ConfigError
        If lengths differ.
    """
    old, new = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if old.shape != new.shape:
        raise ConfigError(f"before and after: {len(old)} and {len(new)} values. Pair them by id.")
    seen = observe(new - old, clusters=clusters)
    units = seen.scores if seen.codes is None else seen.cluster_means()
    return float(units.std(ddof=1)) if len(units) > 1 else None


def repeats_spread(between: float, within: float, repeats: int) -> float:
    """Standard deviation of a case's mean over repeats: sqrt(between + within / repeats).

    Arguments are the variances of `repeats.variance_components`. It shows what more repeats buy.
    """
    return math.sqrt(between + within / repeats)


def chance_all_pass(rate: float, cases: int, *, repeats: int = 1) -> float:
    """The chance that every repeat of every critical case passes, at one true rate each.

    Examples
    --------
    >>> round(chance_all_pass(0.99, 20, repeats=3), 2)
    0.55
    """
    return float(rate ** (cases * repeats))


def chance_no_worse(
    sd: float, n: int, *, margin: float, drop: float = 0.0, level: float = 0.95
) -> float:
    """The chance that non-inferiority passes when the true drop is `drop`, by normal theory.

    About 80 % at no change needs a margin of 2.5 standard errors.

    References
    ----------
    As in `sizes.units_for_margin`, which it inverts.
    """
    if n < 1:
        return 0.0
    if sd == 0:
        return float(drop < margin)
    z = normal_quantile(2 * level - 1)
    return _NORMAL.cdf((margin - drop) / (sd / math.sqrt(n)) - z)
