"""How good on average: the mean of scores on a bounded scale, with and without scenarios.

It may not guess the scale: levels come from the rubric.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from agenteval_kit.stats.anchored import (
    Floats,
    Points,
    anchored_draws,
    as_levels,
    check_on_scale,
    gaffke_draws,
    quantiles,
)
from agenteval_kit.stats.arguments import one_of
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.observed import Clusters, Codes, Scores, observe
from agenteval_kit.stats.proportion import normal_quantile, wilson

Estimand = Literal["scenario", "case"]

_FEW_CLUSTERS = 10


def anchored_mean(
    scores: Scores,
    *,
    levels: Sequence[float],
    clusters: Clusters | None = None,
    weights: Sequence[float] | npt.NDArray[np.floating] | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The mean of scores on a bounded scale, with an interval that does not collapse.

    A Bayesian bootstrap with Perks' prior: one pseudo-case spread over the levels of the scale.
    It is a credible interval whose coverage was checked; at 20 cases that all scored 4 of 4 it
    still says 3.68 to 4. Not for scores without bounds.

    Parameters
    ----------
    scores
        Scores between the lowest and highest level; averages of repeats are welcome. None or NaN
        is unscored: left out and counted in `diag`.
    levels
        The levels of the scale.
    clusters
        Scenario of each score; repeats and turns of one scenario are not independent.
    weights
        Sampling weight of each score (inverse inclusion probability); a zero leaves it out.
    estimand
        "scenario" averages within each scenario first; "case" gives every score the same say.
        They differ only where scenarios differ in size; where a few of them hold most cases the
        interval by case is too short, and `diag` says so.
    level, draws, seed
        Nominal level, number of draws, seed of the draws.

    Returns
    -------
    Estimate
        Mean in scale units; n counts scenarios where clustered, else scores. Undefined without
        scores, or with one scenario.

    Raises
    ------
    ConfigError
        If a score lies outside the scale, lengths differ, a weight is negative, or the estimand
        is unknown.

    References
    ----------
    Perks (1947); Rubin (1981), doi:10.1214/aos/1176345338; why not the normal approximation:
    Bowyer, Aitchison and Ivanova (2025), arXiv:2503.01747. Checked against exact Dirichlet
    moments and by the coverage study.

    Examples
    --------
    >>> anchored_mean([4] * 20, levels=(1, 2, 3, 4)).text()
    '4.00 (3.68 to 4.00)'
    """
    normal_quantile(level)
    one_of("estimand", estimand, get_args(Estimand))
    scale = as_levels(levels)
    kept = observe(scores, clusters=clusters, weights=weights)
    check_on_scale(kept.scores, low=scale[0], high=scale[-1], what="scores")
    method = "anchored Bayesian bootstrap" + (", by scenario" if clusters is not None else "")
    if len(kept.scores) == 0:
        return Estimate.undefined(kept.empty, level=level, method=method, diag=kept.diag)
    points = kept.points(scale, by_case=estimand == "case")
    n = points.total
    if kept.codes is not None and n == 1 and len(kept.scores) > 1:
        return Estimate.undefined(
            f"one scenario only (mean of its {len(kept.scores)} scores: {points.mean:.2f}); "
            "scenarios vary, and one does not show how much",
            n=1,
            level=level,
            method=method,
            diag=kept.diag,
        )
    drawn = anchored_draws(points, levels=scale, draws=draws, seed=seed)
    tail = (1 - level) / 2
    low, high = quantiles(drawn, at=(tail, 1 - tail))
    value = points.mean
    few = f"only {n} scenarios" if kept.codes is not None and n < _FEW_CLUSTERS else ""
    unlike = unlike_sizes(points) if kept.codes is not None and estimand == "case" else ""
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        n,
        level=level,
        method=method,
        seed=seed,
        diag=kept.diag,
    ).noted("n = 1" if n == 1 else few, unlike)


def unlike_sizes(points: Points) -> str:
    """That a few scenarios hold so many of the cases that an interval is too short; or empty.

    Where every case has the same say, a scenario with many decides, and how far it lies from the
    others hardly shows. In simulation a nominal 95 % interval covers 0.75 to 0.92 where the sizes
    are worth less than half the scenarios, or less than ten.
    """
    n, worth = points.total, points.effective
    if worth >= max(0.5 * n, min(_FEW_CLUSTERS, 0.8 * n)) or n < 2:
        return ""
    return f"interval too short: {n:,} scenarios of unlike size tell as much as {worth:,.0f} alike"


def share_by_case(
    hits: Sequence[bool],
    cases: Sequence[Hashable],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The share of rows of which something is so, with an interval over the cases they belong to.

    Wilson's where each case has one row, else the anchored one by case: repeats of a case are not
    independent. n counts cases. One case alone with several rows has a share and no interval.

    Raises
    ------
    ConfigError
        If lengths differ.
    """
    if len(set(cases)) == len(cases) == len(hits):
        return wilson(sum(hits), len(hits), level=level)
    found = anchored_mean(
        [float(hit) for hit in hits], levels=(0.0, 1.0), clusters=list(cases), estimand="case",
        level=level, draws=draws, seed=seed,
    )  # fmt: skip
    return found if found.value is not None else replace(found, value=sum(hits) / len(hits))


def gaffke_guarded(
    found: Estimate,
    points: Points,
    *,
    worst: float,
    best: float | None = None,
    weight: float = 1.0,
    draws: int,
) -> Estimate:
    """An anchored mean whose lower end reaches to Gaffke's bound; the upper one too.

    For means that a few far units move: such units hide from small samples. The upper end is
    guarded where `best`, the best possible value, is given; the lower one reaches the part
    `weight` of the way.
    """
    low, high, tail = found.low, found.high, (1 - found.level) / 2
    if low is None or high is None or found.seed is None:
        return found
    under = gaffke_draws(points, worst=worst, draws=draws, seed=found.seed)
    low += weight * (min(low, *quantiles(under, at=(tail,))) - low)
    if best is not None:
        over = gaffke_draws(points, worst=best, draws=draws, seed=found.seed)
        high = max(high, *quantiles(over, at=(1 - tail,)))
    method = f"{found.method}, Gaffke {'below' if best is None else 'at both ends'}"
    return replace(found, low=low, high=high, method=method)


def t_mean(
    scores: Scores,
    *,
    clusters: Clusters | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
) -> Estimate:
    """The mean with Student's t interval; by scenario, with the cluster-robust error.

    The named alternative to `anchored_mean`: on skewed scales it covers 0.86 to 0.88 at 20 to 30
    cases, and it has no interval where all scores are equal.

    Parameters
    ----------
    scores, clusters, estimand, level
        As in `anchored_mean`.

    Returns
    -------
    Estimate
        Mean; without an interval where there is no variation or n = 1, and the reason is given.

    Raises
    ------
    ConfigError
        If lengths differ.

    References
    ----------
    Miller, E. (2024), Adding error bars to evals, arXiv:2411.00640; Liang and Zeger (1986),
    doi:10.1093/biomet/73.1.13. Checked against statsmodels OLS with `cov_type="cluster"`.
    """
    from scipy.special import stdtrit  # heavy: the start-up path does not need t

    normal_quantile(level)
    one_of("estimand", estimand, get_args(Estimand))
    kept = observe(scores, clusters=clusters, weights=None)
    method = "t" + (", cluster-robust by scenario" if clusters is not None else "")
    if len(kept.scores) == 0:
        return Estimate.undefined(kept.empty, level=level, method=method, diag=kept.diag)
    if kept.codes is not None and estimand == "case":
        value = float(kept.scores.mean())
        n = int(kept.codes.max()) + 1
        error = clustered_error(kept.scores, kept.codes) if n > 1 else 0.0
    else:
        values = kept.scores if kept.codes is None else kept.cluster_means()
        value, n = float(values.mean()), len(values)
        error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    diag = Estimate(value, None, None, n, diag=kept.diag)
    if n == 1 or error <= 1e-12 * max(1.0, abs(value)):
        reason = "n = 1" if n == 1 else "all scores equal: t has no width, use the anchored mean"
        return Estimate(value, None, None, n, level, method, diag=kept.diag, reason=reason)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    few = kept.codes is not None and n < 30
    note = f"only {n} scenarios: t is too narrow below 30" if few else ""
    unlike = ""
    if kept.codes is not None and estimand == "case":
        unlike = unlike_sizes(kept.points(None, by_case=True))
    noted = diag.noted(note, unlike)
    return Estimate(value, value - half, value + half, n, level, method, diag=noted.diag)


def clustered_error(scores: Floats, codes: Codes, *, small_sample: bool = True) -> float:
    """Standard error of the plain mean with scenarios as clusters (CR1; CR0 by choice).

    With equal clusters CR1 is the standard error of the cluster means. Needs two clusters.

    References
    ----------
    Miller (2024), arXiv:2411.00640. Checked against statsmodels OLS `cov_type="cluster"`.
    """
    groups = int(codes.max()) + 1
    sums = np.bincount(codes, weights=scores - scores.mean(), minlength=groups)
    factor = groups / (groups - 1) if small_sample else 1.0
    return float(math.sqrt(factor * (sums @ sums)) / len(scores))
