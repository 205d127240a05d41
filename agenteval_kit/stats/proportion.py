"""What share passed: exact counts with Wilson's interval, in closed form.

It may not load numpy or scipy: the pull-request command needs it in the first blink.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.arguments import whole
from agenteval_kit.stats.estimate import Estimate


def wilson(passed: int, n: int, *, level: float = 0.95) -> Estimate:
    """The share that passed, with Wilson's score interval.

    Not for repeats of one case, nor for labels drawn by the judge's verdict: those are not
    independent or not alike; use `mean.anchored_mean` with clusters or `corrected`.

    Parameters
    ----------
    passed
        Number that passed, 0 to n.
    n
        Number of independent cases.
    level
        Nominal level of the interval.

    Returns
    -------
    Estimate
        Share in [0, 1]. Undefined at n = 0.

    Raises
    ------
    ConfigError
        If not 0 <= passed <= n, a count is not whole, or level is not between 0 and 1.

    References
    ----------
    Newcombe, R. G. (1998), Two-sided confidence intervals for the single proportion, Statistics
    in Medicine 17, 857-872, method 3, doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>
    3.0.CO;2-E. Checked against its table and statsmodels `proportion_confint`.

    Examples
    --------
    >>> wilson(41, 43).text(percent=True)
    '95 % (85 to 99 %)'
    """
    passed, n = whole("wilson: passed", passed), whole("wilson: n", n)
    if passed > n:
        raise ConfigError(f"wilson: passed must lie between 0 and n, got {passed} of {n}")
    z = normal_quantile(level)
    method = "Wilson"
    if n == 0:
        return Estimate.undefined("no cases", level=level, method=method)
    share = passed / n
    centre = (passed + z * z / 2) / (n + z * z)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    diag = "n = 1" if n == 1 else f"none of {n}" if passed == 0 else ""
    return Estimate(
        share,
        # Rounding may carry a bound past the share itself or past the ends of the scale.
        0.0 if passed == 0 else min(share, max(0.0, centre - half)),
        1.0 if passed == n else max(share, min(1.0, centre + half)),
        n,
        level=level,
        method=method,
        diag=diag if passed < n or n == 1 else f"all of {n}",
    )


def clopper_pearson(passed: int, n: int, *, level: float = 0.95) -> Estimate:
    """The share that passed with the exact interval: never below its level, and wide.

    The named alternative to `wilson`, for readers who must not see less than 95 %. Arguments,
    result and errors as there.

    References
    ----------
    Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404. Wraps scipy `binomtest`.
    """
    from scipy.stats import binomtest  # heavy: the start-up path uses Wilson

    share = wilson(passed, n, level=level)
    method = "Clopper-Pearson"
    if share.value is None:
        return Estimate.undefined(share.reason, level=level, method=method)
    bounds = binomtest(whole("passed", passed), share.n).proportion_ci(level, method="exact")
    return Estimate(
        share.value, float(bounds.low), float(bounds.high), n, level, method, diag=share.diag
    )


def normal_quantile(level: float) -> float:
    """The z of a two-sided interval: 1.96 for 0.95.

    Raises
    ------
    ConfigError
        If level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ConfigError(f"level must lie between 0 and 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)
