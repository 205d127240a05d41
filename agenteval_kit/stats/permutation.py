"""Could random signs have done it: the sign-flip test of paired differences.

It may not decide: it is the p beside an interval.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from agenteval_kit.stats.anchored import Floats, check_draws
from agenteval_kit.stats.observed import Scores, observe

_EXACT_SUMS = 2_000_000


def sign_flip_p(differences: Scores, *, draws: int = 10_000, seed: int = 0) -> float:
    """Two-sided p that a sum of differences this large comes from random signs.

    Exact where the possible sums can be listed (any number of cases on a short scale), else by
    seeded random signs. 1 where nothing moved. Conservative at small n with many zeros.

    References
    ----------
    Fisher (1935), The design of experiments, section 21. Checked against his count for Darwin's
    maize (1,726 of 32,768) and scipy `permutation_test(permutation_type="samples")`.
    """
    check_draws(draws)
    seen = observe(differences).scores
    size, count = np.unique(np.abs(seen[seen != 0]).round(12), return_counts=True)
    if len(size) == 0:
        return 1.0
    reached = abs(float(seen.sum()))
    # Sums that differ by rounding only are the same sum.
    reached -= 1e-9 * max(1.0, reached)
    sums: Floats = np.zeros(1)
    chance: Floats = np.ones(1)
    for value, many in zip(size, count.tolist(), strict=True):
        if len(sums) * (many + 1) > _EXACT_SUMS:
            return _sampled_sign_flip(size, count, reached, draws, seed)
        every = (sums[:, None] + value * (2 * np.arange(many + 1) - many)).round(9)
        weight = chance[:, None] * _fair_coins(many)
        sums, slot = np.unique(every, return_inverse=True)
        chance = np.bincount(slot.ravel(), weights=weight.ravel()).astype(float)
    return min(1.0, float(chance[np.abs(sums) >= reached].sum()))


def _fair_coins(tosses: int) -> Floats:
    log_half = tosses * math.log(0.5)
    logs = [
        math.lgamma(tosses + 1) - math.lgamma(i + 1) - math.lgamma(tosses - i + 1) + log_half
        for i in range(tosses + 1)
    ]
    return np.exp(logs)


def _sampled_sign_flip(
    size: Floats, count: npt.NDArray[np.integer], reached: float, draws: int, seed: int
) -> float:
    rng = np.random.default_rng(seed)
    total = np.zeros(draws)
    for value, many in zip(size, count.tolist(), strict=True):
        total += value * (2 * rng.binomial(many, 0.5, size=draws) - many)
    return (1 + int((np.abs(total) >= reached).sum())) / (1 + draws)
