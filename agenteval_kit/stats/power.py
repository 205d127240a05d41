"""How many cases, how many labels, what change can be seen, and will an unchanged agent ship.

It may not promise: every figure here assumes the spread it was given.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.arguments import finite, whole
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
        If sd is negative, change is 0, effect is not above 0, power is not between 0 and 1, or one
        of them is not finite.

    References
    ----------
    Miller (2024), arXiv:2411.00640, equation for n; his example gives 969.

    Examples
    --------
    >>> [cases_needed(0.8, change) for change in (0.1, 0.2, 0.3, 0.5)]
    [503, 126, 56, 21]
    """
    if finite("change", change) == 0:
        raise ConfigError("change: needs a change other than 0, got 0.")
    _check_design(sd, power, effect)
    z = normal_quantile(level) + _NORMAL.inv_cdf(power)
    times = z * sd / change
    if not math.isfinite(effect * times * times):
        raise ConfigError(f"change: {change:g} is too small against a spread of {sd:g}.")
    return max(1, math.ceil(effect * times * times - 1e-9))


def detectable_change(
    sd: float, n: int, *, level: float = 0.95, power: float = 0.8, effect: float = 1.0
) -> float | None:
    """The smallest change that n paired cases see with the given power; None without cases.

    Arguments, errors and reference as in `cases_needed`.
    """
    _check_design(sd, power, effect)
    if n < 1:
        return None
    z = normal_quantile(level) + _NORMAL.inv_cdf(power)
    return z * sd * math.sqrt(effect / n)


def _check_design(sd: float, power: float, effect: float) -> None:
    finite("sd", sd, low=0)
    if not 0 < power < 1:
        raise ConfigError(f"power: needs a number between 0 and 1, got {power:g}.")
    if not (math.isfinite(effect) and effect > 0):
        raise ConfigError(f"effect: needs a finite number above 0, got {effect:g}.")


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

    Raises
    ------
    ConfigError
        If a variance is negative or not finite, or there are no repeats.
    """
    within = finite("within", within, low=0)
    # A difference of two estimates may round to just below 0: only the whole must not be.
    total = finite("between", between) + within / whole("repeats", repeats, least=1)
    return math.sqrt(finite("between and within", total, low=0))


def chance_all_pass(rate: float, cases: int, *, repeats: int = 1) -> float:
    """The chance that every repeat of every critical case passes, at one true rate each.

    Examples
    --------
    >>> round(chance_all_pass(0.99, 20, repeats=3), 2)
    0.55

    Raises
    ------
    ConfigError
        If the rate lies outside [0, 1], or a number is negative or not whole.
    """
    rate = finite("rate", rate, low=0, high=1)
    cases, repeats = whole("cases", cases), whole("repeats", repeats, least=1)
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
    finite("sd", sd, low=0)
    finite("margin", margin)
    finite("drop", drop)
    if n < 1:
        return 0.0
    if sd == 0:
        return float(drop < margin)
    z = normal_quantile(2 * level - 1)
    return _NORMAL.cdf((margin - drop) / (sd / math.sqrt(n)) - z)
