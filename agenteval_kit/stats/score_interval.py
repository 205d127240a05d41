"""Tango's score interval for a paired difference, by finding its roots.

It may not load numpy or scipy: the gate uses it without them.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.arguments import whole
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import normal_quantile


def tango(b: int, c: int, n: int, *, level: float = 0.95) -> Estimate:
    """The change in a share over n pairs of which b got worse and c got better.

    The interval excludes 0 exactly when McNemar's z does at the same level, so the two never
    disagree. Not for clustered pairs: average within the scenario and use the anchored interval.

    Parameters
    ----------
    b
        Pairs that got worse (passed before, fail now; lost).
    c
        Pairs that got better (won).
    n
        All pairs, unchanged ones included.
    level
        Nominal level of the interval.

    Returns
    -------
    Estimate
        (c - b) / n in [-1, 1]. Undefined at n = 0.

    Raises
    ------
    ConfigError
        If a count is negative or not whole, or b + c exceeds n.

    References
    ----------
    Tango, T. (1998), Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design, Statistics in Medicine 17, 891-908,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B. Checked by its duality
    with McNemar's test, by numerical maximisation of the likelihood, and by simulation.
    """
    b, c, n = _counts(b, c, n)
    z = normal_quantile(level)
    if n == 0:
        return Estimate.undefined("no pairs", level=level, method="Tango")
    low, high = tango_bounds(b, c, n, z=z)
    diag = "no pair changed" if b + c == 0 else "n = 1" if n == 1 else ""
    return Estimate((c - b) / n, low, high, n, level=level, method="Tango", diag=diag)


def tango_bounds(b: int, c: int, n: int, *, z: float) -> tuple[float, float]:
    """Ends of Tango's interval for a given normal quantile; each is a one-sided bound by itself."""
    b, c, n = _counts(b, c, n)
    low = _lower_bound(c, b, n, z)
    high = -_lower_bound(b, c, n, z)
    return low, high


def mcnemar_p(b: int, c: int, *, continuity: bool = False) -> float:
    """McNemar's two-sided p: without continuity correction the test that Tango's interval inverts.

    1 where no pair changed. With the correction it agrees with no interval here; it is for
    readers who compare with other programs.

    References
    ----------
    McNemar, Q. (1947), Psychometrika 12, 153-157, doi:10.1007/BF02295996. Checked against
    statsmodels `mcnemar(exact=False)`.
    """
    b, c, _ = _counts(b, c)
    if b + c == 0:
        return 1.0
    distance = max(abs(b - c) - (1 if continuity else 0), 0)
    return 2 * NormalDist().cdf(-distance / math.sqrt(b + c))


def exact_p(b: int, c: int) -> float:
    """The exact two-sided sign-test p of b against c: conservative, shown but never deciding.

    1 where no pair changed. Checked against scipy `binomtest`.
    """
    b, c, _ = _counts(b, c)
    pairs, fewer = b + c, min(b, c)
    if pairs <= 1_000:
        tail = sum(math.comb(pairs, i) for i in range(fewer + 1))
        return min(1.0, float(2 * tail / 2**pairs))
    # Whole-number binomials of many thousand pairs take seconds; logarithms do not.
    shared = math.lgamma(pairs + 1) - pairs * math.log(2)
    logs = [shared - math.lgamma(i + 1) - math.lgamma(pairs - i + 1) for i in range(fewer + 1)]
    return min(1.0, 2 * math.fsum(map(math.exp, logs)))


def _lower_bound(wins: int, losses: int, n: int, z: float) -> float:
    # The score statistic falls as the supposed difference rises: halve [-1, point] until the
    # supposed difference is the one that is just rejected.
    rejected, kept = -1.0, (wins - losses) / n
    if kept <= -1.0:
        return -1.0
    while True:
        middle = (rejected + kept) / 2
        if not rejected < middle < kept:
            return rejected
        distance = wins - losses - n * middle
        if distance > z * math.sqrt(n * _spread(wins, losses, n, middle)):
            rejected = middle
        else:
            kept = middle


def _spread(wins: int, losses: int, n: int, difference: float) -> float:
    # Variance of one pair's score when the true difference is `difference` and the share of
    # losses takes its most likely value (the positive root of the likelihood's quadratic).
    slope = wins + losses - difference * (2 * n + losses - wins)
    inside = slope * slope + 8 * n * losses * difference * (1 - difference)
    loss_share = (slope + math.sqrt(max(inside, 0.0))) / (4 * n)
    return max(2 * loss_share + difference * (1 - difference), 0.0)


def _counts(b: int, c: int, n: int | None = None) -> tuple[int, int, int]:
    # Python's own integers: those of numpy wrap round in sums and powers.
    b, c = whole("b", b), whole("c", c)
    n = b + c if n is None else whole("n", n)
    if b + c > n:
        raise ConfigError(f"tango: needs b, c >= 0 and b + c <= n, got b={b}, c={c}, n={n}")
    return b, c, n
