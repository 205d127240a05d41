"""Intervals on 100,000 scores, side by side with scipy's bootstrap and evalica's alpha.

May not change what is compared: the same data, the same number of draws, one process.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import evalica
import numpy as np
import pandas as pd
from scipy.stats import bootstrap

from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.paired import paired_scores

N = 100_000
DRAWS = 10_000
LEVELS = (1, 2, 3, 4)
REPEATS = 5


def rows() -> list[dict[str, Any]]:
    rng = np.random.default_rng(7)
    scores = rng.choice(LEVELS, size=N, p=(0.03, 0.07, 0.25, 0.65))
    scenarios = np.repeat(np.arange(N // 5), 5)
    later = np.clip(scores + rng.choice((-1, 0, 1), size=N, p=(0.1, 0.8, 0.1)), 1, 4)
    raters = np.clip(scores[:, None] + rng.choice((-1, 0, 0, 0, 1), size=(N, 3)), 1, 4)

    plain = best(lambda: anchored_mean(scores, levels=LEVELS, draws=DRAWS))
    # One batch of scipy's is batch x n numbers: 100 keeps it at 80 MB.
    by_rows = once(
        lambda: bootstrap(
            (scores,), np.mean, n_resamples=DRAWS, batch=100, method="percentile",
            rng=np.random.default_rng(0),
        )
    )  # fmt: skip
    grouped = best(lambda: anchored_mean(scores, levels=LEVELS, clusters=scenarios, draws=DRAWS))
    paired = best(lambda: paired_scores(scores, later, levels=LEVELS, draws=DRAWS))
    agreed = best(lambda: agreement(scores, later, levels=LEVELS, draws=DRAWS))
    coefficient = best(lambda: alpha(raters, levels=LEVELS, draws=DRAWS))
    frame = pd.DataFrame(raters[: N // 10].T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's own deprecations
        point = once(lambda: evalica.alpha(pd.DataFrame(raters.T), distance="ordinal"))
        resampled = once(
            lambda: evalica.alpha_bootstrap(
                frame, distance="ordinal", n_resamples=DRAWS // 10, random_state=0
            )
        )
    peak = megabytes(lambda: anchored_mean(scores, levels=LEVELS, draws=DRAWS))
    return [
        line("mean with interval, 100,000 scores, 10,000 draws", plain, 0.02, "s"),
        line("times faster than scipy's percentile bootstrap on it", by_rows / plain, 100, "x"),
        line("the same by 20,000 scenarios of 5", grouped, 0.05, "s"),
        line("paired change with intervals and p, 100,000 pairs", paired, 0.25, "s"),
        line("agreement, 8 figures with intervals, 100,000 items", agreed, 0.25, "s"),
        line("alpha with interval, 100,000 items x 3 raters", coefficient, 0.1, "s"),
        line("evalica's alpha of the same, point only", point, "beside", "s"),
        line("evalica's bootstrap, a tenth of items and draws", resampled, "beside", "s"),
        line("memory for the mean, at its highest", peak, 16, "MB"),
    ]


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest of several calls, the first (imports) left out."""
    work()
    return min(once(work) for _ in range(REPEATS))


def once(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def megabytes(work: Callable[[], object]) -> float:
    """Memory that a call needs at its highest, beyond what was there before."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def line(workload: str, measured: float, target: float | str, unit: str) -> dict[str, Any]:
    more_is_better = unit == "x"
    ok = isinstance(target, str) or (measured >= target if more_is_better else measured <= target)
    return {
        "workload": workload, "measured": measured, "target": target, "unit": unit, "ok": ok
    }  # fmt: skip
