"""More than two versions: Bradley-Terry strengths against a reference, ties as half-wins.

It may not rank versions that the pairs do not connect; two versions are a win rate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, draw_blocks, quantiles
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html
from agenteval_kit.stats.observed import Clusters, cluster_codes
from agenteval_kit.stats.proportion import normal_quantile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Ranking:
    """Strength of each version.

    Attributes
    ----------
    log_strength
        By version: log odds of beating the reference (0 for the reference itself, without an
        interval). Undefined, with the reason, where the pairs do not settle it.
    strength
        By version: strength with a geometric mean of 1; empty where undefined.
    reference
        The version the others are measured against.
    n
        Pairs.
    diag
        "half a win and half a loss added" where asked for.
    """

    log_strength: dict[str, Estimate]
    strength: dict[str, float]
    reference: str
    n: int
    diag: str

    def frame(self) -> pd.DataFrame:
        """One row a version."""
        return estimates_frame(self.log_strength)

    def _repr_html_(self) -> str:
        return estimates_html(self.log_strength)


def bradley_terry(
    first: Sequence[str],
    second: Sequence[str],
    scores: Sequence[float | None] | npt.NDArray[np.floating],
    *,
    reference: str,
    cases: Clusters | None = None,
    add_half: bool = False,
    level: float = 0.95,
    draws: int = 1_000,
    seed: int = 0,
) -> Ranking:
    """Strengths of several versions from pairwise outcomes.

    Parameters
    ----------
    first, second
        The two versions of each pair.
    scores
        1 where the first won, 0.5 tie, 0 where the second won; None or NaN is left out.
    reference
        The version that gets strength 0 on the log scale.
    cases
        Case or scenario of each pair: pairs of one case are weighted together in the draws.
    add_half
        Add half a win and half a loss to every pair of versions that met, and say so; it makes a
        version that won or lost everything identifiable.
    level, draws, seed
        Nominal level; number and seed of the Bayesian bootstrap over cases.

    Returns
    -------
    Ranking
        Undefined where the graph of wins is not connected both ways.

    Raises
    ------
    ConfigError
        If lengths differ, the reference is unknown, or a score is none of 0, 0.5, 1.

    References
    ----------
    Bradley and Terry (1952), doi:10.2307/2334029; Ford (1957), doi:10.2307/2308513, for what makes
    it identifiable. Wraps evalica; checked against statsmodels GLM.
    """
    normal_quantile(level)
    value = np.asarray(scores, dtype=float)
    if not len(first) == len(second) == len(value):
        raise ConfigError(f"pairs: {len(first)} first, {len(second)} second, {len(value)} scores.")
    kept = ~np.isnan(value)
    if not np.isin(value[kept], (0.0, 0.5, 1.0)).all():
        raise ConfigError("scores: 1 (the first won), 0.5 (tie) or 0 (the second won).")
    names = sorted({*first, *second})
    if names and reference not in names:
        raise ConfigError(f"reference: {reference!r} is not among {', '.join(names)}.")
    pairs, group = _distinct(first, second, value, kept, cases, names)
    n = int(kept.sum())
    diag = "half a win and half a loss added to each pair of versions" if add_half else ""
    wins = _wins(pairs, np.ones(len(pairs.winner)), len(names), add_half)
    problem = _problem(wins, n)
    method = "Bradley-Terry, ties as half; Bayesian bootstrap over cases"
    if problem:
        nothing = {
            name: Estimate.undefined(problem, n=n, level=level, method=method) for name in names
        }
        return Ranking(nothing, {}, reference, n, diag)
    base = names.index(reference)
    logs = _fit(wins)
    rng = np.random.default_rng(seed)
    units = int(group.max()) + 1
    drawn = np.empty((draws, len(names)))
    for rows in draw_blocks(draws, width=units):
        for at in range(rows.start, rows.stop):
            weight = rng.standard_exponential(units)[group]
            one = _fit(_wins(pairs, weight, len(names), add_half))
            drawn[at] = one - one[base]
    tail = (1 - level) / 2
    found = {}
    for i, name in enumerate(names):
        point = float(logs[i] - logs[base])
        if i == base:
            found[name] = Estimate(0.0, None, None, n, level, method, reason="the reference")
            continue
        low, high = quantiles(drawn[:, i], at=(tail, 1 - tail))
        found[name] = Estimate(
            point, min(low, point), max(high, point), n, level, method, seed, diag
        )
    strength = {name: math.exp(float(x)) for name, x in zip(names, logs, strict=True)}
    return Ranking(found, strength, reference, n, diag)


@dataclass(frozen=True, slots=True)
class _Pairs:
    winner: npt.NDArray[np.intp]
    loser: npt.NDArray[np.intp]
    share: Floats


def _distinct(
    first: Sequence[str],
    second: Sequence[str],
    value: Floats,
    kept: npt.NDArray[np.bool_],
    cases: Clusters | None,
    names: list[str],
) -> tuple[_Pairs, npt.NDArray[np.intp]]:
    # A tie is half a win each way round: two half-entries of the same case.
    slot = {name: i for i, name in enumerate(names)}
    a = np.array([slot[one] for one in first], dtype=np.intp)[kept]
    b = np.array([slot[one] for one in second], dtype=np.intp)[kept]
    value = value[kept]
    labels: Sequence[Hashable] | npt.NDArray[Any] = (
        np.flatnonzero(kept)
        if cases is None
        else [c for c, keep in zip(cases, kept, strict=True) if keep]
    )
    code = cluster_codes(labels)
    both = _Pairs(
        np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([value, 1 - value])
    )
    return both, np.concatenate([code, code])


def _wins(pairs: _Pairs, weight: Floats, k: int, add_half: bool) -> Floats:
    flat = np.bincount(
        pairs.winner * k + pairs.loser, weights=pairs.share * weight, minlength=k * k
    )
    wins = flat.reshape(k, k).astype(float)
    if add_half:
        wins += 0.5 * ((wins + wins.T) > 0)
    return wins


def _problem(wins: Floats, n: int) -> str:
    if n == 0:
        return "no pairs"
    k = len(wins)
    reach = (wins > 0) | np.eye(k, dtype=bool)
    for _ in range(k):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    if reach.all():
        return ""
    joined = reach | reach.T
    for _ in range(k):
        joined = (joined.astype(int) @ joined.astype(int)) > 0
    if not joined.all():
        return "not identifiable: some versions never met, even through others"
    return "not identifiable: some versions won or lost every pair against the rest"


def _fit(wins: Floats) -> Floats:
    import evalica  # heavy: loads pandas

    winner, loser = np.nonzero(wins)
    found = evalica.bradley_terry(
        winner.tolist(),
        loser.tolist(),
        [evalica.Winner.X] * len(winner),
        weights=wins[winner, loser].tolist(),
        tolerance=1e-10,
        limit=10_000,
    )
    logs: Floats = np.log(np.asarray(found.scores.sort_index(), dtype=float))
    return np.asarray(logs - logs.mean())
