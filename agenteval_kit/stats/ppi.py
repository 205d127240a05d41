"""Prediction-powered means: the classical alternative to post-stratification, by name.

It may not be the default: unweighted it is biased under failure-weighted labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.arguments import finite
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import normal_quantile


def ppi_mean(
    human: Sequence[float] | npt.NDArray[np.floating],
    judge: Sequence[float] | npt.NDArray[np.floating],
    *,
    unlabelled: Sequence[float] | npt.NDArray[np.floating],
    power: float | Literal["auto"] = 1.0,
    weights: Sequence[float] | npt.NDArray[np.floating] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The people's mean over a suite, from a few labels and the judge's scores of the rest.

    Parameters
    ----------
    human, judge
        Scores of the labelled transcripts.
    unlabelled
        The judge's scores of the others; the labelled ones must not be among them.
    power
        How far the judge is used: 0 not at all (the human mean), 1 fully, "auto" tuned (PPI++).
    weights
        Sampling weight of each label.
    level
        Nominal level of the normal interval.

    Returns
    -------
    Estimate
        In scale units. Undefined below two labels or without other transcripts; without an
        interval where nothing varies.

    Raises
    ------
    ConfigError
        If lengths differ, a number is not finite, a weight is negative, or the power lies outside
        [0, 1].

    References
    ----------
    Angelopoulos et al. (2023), doi:10.1126/science.adi6000; Angelopoulos, Duchi and Zrnic (2023),
    PPI++, arXiv:2311.01453. Checked against ppi_py 0.2.3.
    """
    z = normal_quantile(level)
    y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    rest = np.asarray(unlabelled, dtype=float)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    for name, given in (("human", y), ("judge", f), ("unlabelled", rest), ("weights", w)):
        if not np.isfinite(given).all():
            raise ConfigError(f"{name}: needs finite numbers. Leave out what is not scored.")
    if (w < 0).any():
        raise ConfigError("weights: needs numbers of 0 or more.")
    if power != "auto":
        finite("power ('auto' or a number)", power, low=0, high=1)
    if not len(y) == len(f) == len(w):
        raise ConfigError(f"ppi_mean: {len(y)} human, {len(f)} judge scores, {len(w)} weights.")
    n, many, method = len(y), len(rest), f"PPI, power {power}, normal interval"
    if n < 2 or many == 0 or w.sum() <= 0:
        reason = "needs two labels and other transcripts"
        return Estimate.undefined(reason, n=n, level=level, method=method)
    w = w * n / w.sum()
    if power == "auto":
        together = float(np.mean((y - y.mean()) * (f - f.mean())))
        spread = float(np.concatenate([f, rest]).var(ddof=1))
        share = together / ((1 + n / many) * spread) if spread > 0 else 0.0
        used = min(1.0, max(0.0, share))
    else:
        used = float(power)
    rectified = w * (y - used * f)
    value = used * float(rest.mean()) + float(rectified.mean())
    error = math.sqrt(used**2 * float(rest.var()) / many + float(rectified.var()) / n)
    if error == 0:
        reason = "nothing varies: the normal interval has no width"
        return Estimate(value, None, None, n, level, method, reason=reason)
    return Estimate(value, value - z * error, value + z * error, n, level, method)
