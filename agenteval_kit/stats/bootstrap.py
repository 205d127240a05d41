"""BCa for statistics that no count table holds: scipy's bootstrap with its failures in words.

It may not be used for means, shares and agreement: those have engines a thousand times cheaper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, check_draws
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import normal_quantile


def bca(
    columns: Sequence[Sequence[float] | npt.NDArray[np.floating]],
    statistic: Callable[..., Floats],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Efron's BCa interval of any vectorised statistic of paired columns.

    Parameters
    ----------
    columns
        Arrays of equal length, resampled together.
    statistic
        Called with the columns and `axis`, as scipy asks.
    level, draws, seed
        Nominal level, resamples, seed.

    Returns
    -------
    Estimate
        Without an interval where all values are equal, n is 1, or BCa is not defined.

    Raises
    ------
    ConfigError
        If the columns differ in length.

    References
    ----------
    Efron (1987), doi:10.1080/01621459.1987.10478410. Wraps scipy `bootstrap`; checked against
    Efron and Tibshirani's spatial test and law-school data.
    """
    from scipy.stats import DegenerateDataWarning, bootstrap  # heavy: only exotic statistics

    normal_quantile(level)
    check_draws(draws)
    data = [np.asarray(column, dtype=float) for column in columns]
    if len({len(column) for column in data}) != 1:
        raise ConfigError("columns: pairs are resampled together, so lengths must be equal.")
    n, method = len(data[0]), "BCa bootstrap"
    if n == 0:
        return Estimate.undefined("no values", level=level, method=method)
    if n == 1 or all(np.ptp(column) == 0 for column in data):
        reason = "n = 1" if n == 1 else "all values equal: BCa is not defined"
        return Estimate.undefined(reason, n=n, level=level, method=method)
    value = float(statistic(*data, axis=0))
    if not math.isfinite(value):
        return Estimate.undefined("the statistic is not defined here", n=n, level=level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        found = bootstrap(
            data, statistic, paired=True, vectorized=True, axis=0, n_resamples=draws,
            # A batch of resamples at a time: memory stays flat.
            batch=max(1, 2_000_000 // n), confidence_level=level, method="BCa",
            rng=np.random.default_rng(seed),
        )  # fmt: skip
    low, high = float(found.confidence_interval.low), float(found.confidence_interval.high)
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        reason = "BCa is not defined on these values"
        return Estimate(value, None, None, n, level, method, seed, reason=reason)
    return Estimate(value, min(low, value), max(high, value), n, level, method, seed)
