"""Is a better score just a longer answer: win rates and scores by length.

It may not adjust away a win below a hundred pairs: then it only describes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, check_on_scale, draw_blocks, quantiles
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.observed import Clusters, Scores, cluster_codes
from agenteval_kit.stats.pairwise import win_rate_clustered
from agenteval_kit.stats.proportion import normal_quantile
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 100
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How a win rate depends on the difference in length.

    Attributes
    ----------
    shorter, alike, longer
        Win rate of A in the third of pairs where A is shortest, in between, and longest.
    at_equal_length
        Win rate at a difference of 0, by logistic regression; undefined below 100 pairs or where
        length alone separates wins from losses, without an interval where it all but does.
    n, dropped
        Pairs used, and left out.
    """

    shorter: Estimate
    alike: Estimate
    longer: Estimate
    at_equal_length: Estimate
    n: int
    dropped: int

    def frame(self) -> pd.DataFrame:
        """One row an estimate."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def length_bias(scores: Scores, longer_by: Scores, *, level: float = 0.95) -> LengthBias:
    """The win rate of A by how much longer A's answer is than B's.

    Parameters
    ----------
    scores
        1 where A won, 0.5 tie, 0 where A lost; None or NaN is left out.
    longer_by
        Length of A minus length of B, in any unit.
    level
        Nominal level.

    Returns
    -------
    LengthBias
        Undefined without pairs.

    Raises
    ------
    ConfigError
        If lengths differ or a score lies outside [0, 1].

    References
    ----------
    Dubois et al. (2024), Length-controlled AlpacaEval, arXiv:2404.04475: the idea, not the model.
    The regression is statsmodels GLM (binomial) with its robust error.
    """
    z = normal_quantile(level)
    won, gap = np.asarray(scores, dtype=float), np.asarray(longer_by, dtype=float)
    if won.shape != gap.shape:
        raise ConfigError(f"scores and longer_by: {len(won)} and {len(gap)} pairs.")
    check_on_scale(won, low=0, high=1, what="scores")
    kept = np.isfinite(won) & np.isfinite(gap)
    dropped = int((~kept).sum())
    won, gap = won[kept], gap[kept]
    n = len(won)
    order = np.argsort(gap, kind="stable")
    shorter, alike, longer = (
        win_rate_clustered(won[part], level=level) for part in np.array_split(order, 3)
    )
    equal = _at_equal_length(won, gap, z, level)
    return LengthBias(shorter, alike, longer, equal, n, dropped)


def length_correlation(
    scores: Scores,
    lengths: Scores,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 4_000,
    seed: int = 0,
) -> Estimate:
    """Spearman's rank correlation of scores with lengths: do longer ones score higher.

    It says that both rise together, not why: put what people gave beside what the judge gave. It is
    not weighted: of labels drawn with more failures it is that of these transcripts.

    Parameters
    ----------
    scores, lengths
        In one order; None or NaN in either leaves the item out.
    clusters
        Scenario of each item; whole scenarios are drawn, since repeats are not independent.
    level, draws, seed
        Nominal level, resamples, their seed.

    Returns
    -------
    Estimate
        In [-1, 1], with a percentile interval over resampled scenarios; n counts scenarios.
        Undefined below four of them, or where all scores or all lengths are equal; without an
        interval where every resample has one order.

    Raises
    ------
    ConfigError
        If lengths differ.

    References
    ----------
    Spearman (1904), doi:10.2307/1412159. Ruscio (2008), Constructing confidence intervals for
    Spearman's rank correlation with ordinal data, Journal of Modern Applied Statistical Methods
    7, 416-434, doi:10.22237/jmasm/1225512360: with few levels resampling covers as well as the
    closed formulas or better. Points checked against scipy `spearmanr`; the interval by simulation
    on a skewed scale of four levels, true values 0 to 0.69: it covers 0.93 to 0.96 at 20 to 100;
    on one of 2, 4, 4 and 90 %, true values 0 to 0.41, 0.89 to 0.98 where it is given, and at 20
    items it is not given 71 % of the time.

    Examples
    --------
    >>> length_correlation([1, 2, 2, 3, 4, 4], [10, 20, 15, 40, 30, 60]).text()
    '0.88 (0.32 to 1.00)'
    """
    normal_quantile(level)
    score, size = np.asarray(scores, dtype=float), np.asarray(lengths, dtype=float)
    for name, other in (("lengths", size), ("clusters", clusters)):
        if other is not None and len(other) != len(score):
            raise ConfigError(f"{name}: {len(other)} for {len(score)} scores. Pair them by id.")
    kept = np.isfinite(score) & np.isfinite(size)
    score, size = score[kept], size[kept]
    codes = np.arange(len(score))
    if clusters is not None:
        codes = cluster_codes([one for one, keep in zip(clusters, kept, strict=True) if keep])
    n = int(codes.max(initial=-1)) + 1
    method = "Spearman, percentile bootstrap" + ("" if clusters is None else " over scenarios")
    left = int((~kept).sum())
    note = f"{left:,} left out: no score or no length" if left else ""
    flat = len(np.unique(score)) < 2 or len(np.unique(size)) < 2
    if n < _FEWEST or flat:
        which = "scores" if len(np.unique(score)) < 2 else "lengths"
        reason = f"n = {n}" if n < _FEWEST else f"no variation: all {which} are equal"
        return Estimate.undefined(reason, n=n, level=level, method=method, diag=note)
    value = float(_spearman(score, size, np.ones((1, len(score))))[0])
    rng = np.random.default_rng(seed)
    drawn = np.empty(draws)
    for rows in draw_blocks(draws, width=len(score)):
        times = rng.multinomial(n, np.full(n, 1 / n), size=rows.stop - rows.start)
        drawn[rows] = _spearman(score, size, times[:, codes].astype(float))
    known = drawn[np.isfinite(drawn)]
    lost = 1 - len(known) / draws
    if lost > 0.05:
        reason = f"{100 * lost:.0f} % of the resamples show no variation"
        return Estimate(value, None, None, n, level, method, seed, note, reason)
    low, high = quantiles(known, at=((1 - level) / 2, (1 + level) / 2))
    if high - low < 1e-9:
        # Items in one order stay so however they are resampled: that shows no noise, not none.
        reason = "all resamples are in the same order: they do not show how much it may vary"
        return Estimate(value, None, None, n, level, method, seed, note, reason)
    few = f"only {n} scenarios" if n < 10 else ""
    found = Estimate(value, min(low, value), max(high, value), n, level, method, seed, note)
    return found.noted(few)


def _spearman(score: Floats, size: Floats, times: Floats) -> Floats:
    """Correlation of ranks, ties sharing theirs, where item i stands times[row, i] times."""
    one, two = _ranks(score, times), _ranks(size, times)
    total = times.sum(axis=1, keepdims=True)
    one = one - (times * one).sum(axis=1, keepdims=True) / total
    two = two - (times * two).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((times * one**2).sum(axis=1) * (times * two**2).sum(axis=1))
    # A resample of one level has no spread: not a number, counted by the caller.
    found = np.full(len(times), np.nan)
    np.divide((times * one * two).sum(axis=1), spread, out=found, where=spread > 1e-9)
    return found


def _ranks(value: Floats, times: Floats) -> Floats:
    order = np.argsort(value, kind="stable")
    first = np.flatnonzero(np.diff(value[order], prepend=-np.inf))
    many = np.add.reduceat(times[:, order], first, axis=1)
    middle = np.cumsum(many, axis=1) - many / 2
    return np.asarray(middle[:, np.searchsorted(value[order][first], value)])


def _at_equal_length(won: Floats, gap: Floats, z: float, level: float) -> Estimate:
    n, method = len(won), "logistic regression on length, robust error"
    if n < ENOUGH:
        reason = f"{counted(n, 'pair')}, below {ENOUGH}: the thirds only describe"
        return Estimate.undefined(reason, n=n, level=level, method=method)
    spread = float(gap.std())
    better, worse = gap[won > 0.5], gap[won < 0.5]
    apart = len(better) == 0 or len(worse) == 0
    apart = apart or better.min() >= worse.max() or better.max() <= worse.min()
    if spread == 0 or apart:
        reason = (
            "lengths do not differ" if spread == 0 else "length alone separates wins from losses"
        )
        return Estimate.undefined(reason, n=n, level=level, method=method)
    import statsmodels.api as sm  # heavy: seconds to import
    from scipy.special import expit

    design = np.column_stack([np.ones(n), gap / spread])
    model = sm.GLM(won, design, family=sm.families.Binomial())
    # Where length all but separates wins from losses the fit runs off and its error is no number.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fitted = model.fit(cov_type="HC1")
        logit, error = float(fitted.params[0]), float(fitted.bse[0])
    if not math.isfinite(logit):
        reason = "length all but separates wins from losses"
        return Estimate.undefined(reason, n=n, level=level, method=method)
    value, low, high = (float(x) for x in expit([logit, logit - z * error, logit + z * error]))
    if not (fitted.converged and low < high):
        reason = "length all but separates wins from losses: no error can be given"
        return Estimate(value, None, None, n, level, method, reason=reason)
    return Estimate(value, low, high, n, level, method)
