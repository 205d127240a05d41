"""Which of two is preferred: win rate with ties as half, position flips, the noise margin.

It may not drop a tie, and no p-value decides here: the interval does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, check_on_scale, draw_blocks, quantiles
from agenteval_kit.stats.arguments import whole
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.mean import Estimand, anchored_mean
from agenteval_kit.stats.observed import Clusters, Scores, observe
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.score_interval import exact_p, mcnemar_p, tango

if TYPE_CHECKING:
    import pandas as pd

_SETTLED = (0.0, 0.5, 1.0)


def win_rate(wins: int, ties: int, losses: int, *, level: float = 0.95) -> Estimate:
    """The share of pairs won, ties counting half, with Tango's interval.

    Not for several pairs of one scenario or repeats: pooled they cover 0.83 to 0.89; use
    `win_rate_clustered`. Wilson on wins and half the ties is a fifth to four fifths too wide.

    Parameters
    ----------
    wins, ties, losses
        Counts of pairs; a pair whose two orders disagree is a tie.
    level
        Nominal level of the interval.

    Returns
    -------
    Estimate
        In [0, 1]; `diag` prints the three counts. Undefined without pairs.

    Raises
    ------
    ConfigError
        If a count is negative or not whole.

    References
    ----------
    Tango (1998); Bonett and Price (2012), doi:10.3102/1076998611411915. Checked by the mirror
    law, by the duality with McNemar's test, and by simulation.

    Examples
    --------
    >>> win_rate(0, 20, 0).text()
    '0.50 (0.42 to 0.58)'
    """
    wins, ties, losses = (
        whole(f"win_rate: {name}", value)
        for name, value in (("wins", wins), ("ties", ties), ("losses", losses))
    )
    change = tango(losses, wins, wins + ties + losses, level=level)
    method = "Tango, ties as half"
    if change.value is None or change.low is None or change.high is None:
        return Estimate.undefined("no pairs", level=level, method=method)
    counts = f"{wins} won, {ties} tied, {losses} lost"
    return Estimate(
        (1 + change.value) / 2,
        (1 + change.low) / 2,
        (1 + change.high) / 2,
        change.n,
        level=level,
        method=method,
        diag=counts if wins or losses or not ties else f"{counts}: ties only",
    )


def win_rate_clustered(
    scores: Scores,
    *,
    clusters: Clusters | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The win rate where scenarios have several pairs, from scores 0, 0.5 and 1.

    Repeat i is paired with repeat i and averaged within the scenario. With one pair a scenario it
    is `win_rate`.

    Parameters
    ----------
    scores
        1 won, 0.5 tied, 0 lost, a pair each; None or NaN is a pair without an outcome.
    clusters
        Scenario of each pair.
    estimand, level, draws, seed
        As in `mean.anchored_mean`.

    Returns
    -------
    Estimate
        In [0, 1]; n counts scenarios. Undefined without pairs or with one scenario.

    Raises
    ------
    ConfigError
        If a score lies outside [0, 1] or lengths differ.
    """
    seen = observe(scores, clusters=clusters)
    check_on_scale(seen.scores, low=0, high=1, what="scores")
    settled = bool(np.isin(seen.scores, _SETTLED).all())
    if settled and (seen.codes is None or seen.groups == len(seen.scores)):
        w, t, x = (int((seen.scores == value).sum()) for value in (1.0, 0.5, 0.0))
        return win_rate(w, t, x, level=level).noted(seen.diag)
    return anchored_mean(
        scores,
        levels=_SETTLED,
        clusters=clusters,
        estimand=estimand,
        level=level,
        draws=draws,
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class DecisivePairs:
    """Tests of equal preference on one set of counts.

    Attributes
    ----------
    p_mcnemar
        Two-sided p that agrees with the interval of `win_rate`.
    p_exact
        Exact sign test on decisive pairs: conservative, shown, never deciding.
    """

    p_mcnemar: float
    p_exact: float


def preference_p(wins: int, losses: int) -> DecisivePairs:
    """Both p-values of "neither is preferred"; 1 where all pairs tie."""
    return DecisivePairs(mcnemar_p(losses, wins), exact_p(losses, wins))


def settle(a_first: Scores, b_first: Scores) -> Floats:
    """One score a pair from its two orders: 1 A won, 0.5 tie or the orders disagree, 0 A lost.

    Parameters
    ----------
    a_first, b_first
        A's score (1, 0.5, 0) when A was shown first, and when B was; None is unscored.

    Returns
    -------
    array
        NaN where an order is missing: one order alone does not settle a pair.

    Raises
    ------
    ConfigError
        If lengths differ or a score is none of 0, 0.5 and 1.
    """
    one, two = _orders(a_first, b_first)
    settled = np.where(one == two, one, 0.5)
    settled[np.isnan(one) | np.isnan(two)] = np.nan
    return settled


@dataclass(frozen=True, slots=True)
class PositionFlips:
    """How much the order of showing decides.

    Attributes
    ----------
    n, flips, dropped
        Pairs judged in both orders, those whose verdict changed with the order, pairs left out.
    rate
        Share of pairs that flipped, Wilson.
    toward_first
        Among flips, the share that went to whichever was shown first, Wilson; undefined without.
    p_first
        Exact two-sided p that flips favour neither slot; None without flips.
    diag
        "no flips: a rate up to 1 - 0.05^(1/n) is not ruled out" (about 3/n) where there are none.
    """

    n: int
    flips: int
    dropped: int
    rate: Estimate
    toward_first: Estimate
    p_first: float | None
    diag: str

    def frame(self) -> pd.DataFrame:
        """One row an estimate: rate, toward_first."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def position_flips(a_first: Scores, b_first: Scores, *, level: float = 0.95) -> PositionFlips:
    """How often swapping the order changes the verdict, and toward which slot.

    Parameters
    ----------
    a_first, b_first
        As in `settle`.
    level
        Nominal level of the intervals.

    Returns
    -------
    PositionFlips
        Undefined ("position bias not measurable") where no pair was judged in both orders.

    Raises
    ------
    ConfigError
        As in `settle`.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685; Shi et al. (2024), arXiv:2406.07791.
    """
    one, two = _orders(a_first, b_first)
    both = ~(np.isnan(one) | np.isnan(two))
    n, dropped = int(both.sum()), int((~both).sum())
    note = f"{dropped} not judged in both orders" if dropped else ""
    if n == 0:
        nothing = Estimate.undefined(
            "position bias not measurable: no pair was judged in both orders", level=level
        )
        return PositionFlips(0, 0, dropped, nothing, nothing, None, note)
    first = int((one[both] > two[both]).sum())
    flips = first + int((one[both] < two[both]).sum())
    rate = wilson(flips, n, level=level).noted(note)
    if flips == 0:
        rate = rate.noted(f"no flips: a rate up to {1 - 0.05 ** (1 / n):.2g} is not ruled out")
        toward = Estimate.undefined("no flips", level=level, method="Wilson")
        return PositionFlips(n, 0, dropped, rate, toward, None, rate.diag)
    toward = wilson(first, flips, level=level)
    return PositionFlips(n, flips, dropped, rate, toward, exact_p(first, flips - first), rate.diag)


@dataclass(frozen=True, slots=True)
class NoiseMargin:
    """Half-width of the noise band of a win rate, beside the interval it came from.

    Attributes
    ----------
    margin
        Half-width of the bootstrap interval (of Tango's where all pairs tie); None without pairs.
    bootstrap, tango
        Both intervals of the win rate; Tango's is the anchored one where scenarios repeat.
    diag
        "interval asymmetric" where the half-width alone would mislead.
    reason
        Why there is no margin.
    """

    margin: float | None
    bootstrap: Estimate
    tango: Estimate
    draws: int
    seed: int
    level: float
    diag: str
    reason: str

    def frame(self) -> pd.DataFrame:
        """One row an interval: bootstrap, tango."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def noise_margin(
    scores: Scores,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> NoiseMargin:
    """How far a win rate moves by the choice of cases alone, measured on this set.

    A smoke alarm, not a claim: a true drop as large as the margin passes half the time under
    "point within the margin". For the claim use `paired.non_inferiority`.

    Parameters
    ----------
    scores, clusters
        As in `win_rate_clustered`.
    level, draws, seed
        Level of the interval, bootstrap replicates, their seed.

    Returns
    -------
    NoiseMargin
        Undefined without pairs or with one scenario.

    Raises
    ------
    ConfigError
        As in `win_rate_clustered`.
    """
    checked = win_rate_clustered(scores, clusters=clusters, level=level, draws=draws, seed=seed)
    if checked.value is None or checked.half_width is None:
        return NoiseMargin(None, checked, checked, draws, seed, level, checked.diag, checked.reason)
    points = observe(scores, clusters=clusters).points(None, by_case=False)
    n = points.total
    rng = np.random.default_rng(seed)
    resampled = np.empty(draws)
    for rows in draw_blocks(draws, width=len(points.value)):
        counts = rng.multinomial(n, points.count / n, size=rows.stop - rows.start)
        resampled[rows] = counts @ points.value / n
    low, high = quantiles(resampled, at=((1 - level) / 2, (1 + level) / 2))
    value = points.mean
    if low == high:
        reason = "no variation to resample: Tango's half-width is used"
        flat = Estimate(value, None, None, n, level, "bootstrap", seed, reason=reason)
        return NoiseMargin(checked.half_width, flat, checked, draws, seed, level, reason, "")
    low, high = min(low, value), max(high, value)
    boot = Estimate(value, low, high, n, level, "percentile bootstrap over cases", seed)
    lopsided = max(high - value, value - low) > 1.25 * min(high - value, value - low)
    diag = f"interval asymmetric: {boot.text()}" if lopsided else ""
    return NoiseMargin((high - low) / 2, boot, checked, draws, seed, level, diag, "")


def _orders(a_first: Scores, b_first: Scores) -> tuple[Floats, Floats]:
    one, two = np.asarray(a_first, dtype=float), np.asarray(b_first, dtype=float)
    if one.shape != two.shape:
        raise ConfigError(f"a_first and b_first: {len(one)} and {len(two)} pairs.")
    for name, side in (("a_first", one), ("b_first", two)):
        wrong = ~np.isnan(side) & ~np.isin(side, _SETTLED)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise ConfigError(f"{name}: pair {at} is {side[at]:g}, wanted 1, 0.5 or 0 (A's score).")
    return one, two
