"""What a case would do if it were asked again: an urn for each, learnt from its own trials.

May not know what the outcomes mean: counts in, counts out, and all randomness is handed in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.observed import Clusters
from agenteval_kit.stats.repeats import variance_components

__all__ = ["Counts", "Urn", "Worlds", "concentration"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Urn:
    """Trials of cases that are checked alike, by outcome.

    In one world every case has its own chances: its own trials, and `alpha` more that are drawn
    from the pool of all cases. The pool itself is uncertain: each case has a random weight, and
    the anchors stand for what was not seen. With `alpha` infinite all cases have the pool's
    chances; at 0 each repeats its own trials for ever.

    Attributes
    ----------
    own : array, cases × outcomes
        Trials of each case with each outcome.
    alpha : float
        How much a case is like the others, in trials.
    anchors : array of outcomes
        Pseudo-cases at each outcome (1 over a suite, as in the anchored Bayesian bootstrap); all 0
        where the pool is known.
    pool : array of outcomes or None
        The pool where it is known: assumed rates are not uncertain.

    References
    ----------
    Ferguson (1973), A Bayesian analysis of some nonparametric problems, doi:10.1214/aos/1176342360;
    Rubin (1981), doi:10.1214/aos/1176345338.
    """

    own: Floats
    alpha: float
    anchors: Floats
    pool: Floats | None = None

    @property
    def cases(self) -> int:
        """Number of cases."""
        return len(self.own)

    def world(self, rng: np.random.Generator) -> Floats:
        """The chances of every outcome (columns), a case each (rows), in one possible world."""
        pool = self.pool if self.pool is not None else self._draw_pool(rng)
        if math.isinf(self.alpha):
            return np.broadcast_to(pool, self.own.shape)
        drawn = rng.standard_gamma(self.own + self.alpha * pool)
        total = drawn.sum(axis=1, keepdims=True)
        # A case without trials and a tiny alpha can underflow to nothing: it then is as the pool.
        return np.where(total > 0, drawn / np.where(total > 0, total, 1.0), pool)

    def _draw_pool(self, rng: np.random.Generator) -> Floats:
        tried = self.own.sum(axis=1, keepdims=True)
        shares = np.divide(self.own, tried, out=np.zeros_like(self.own), where=tried > 0)
        weight = rng.standard_exponential(len(self.own)) @ shares
        weight = weight + rng.standard_gamma(self.anchors)
        return np.asarray(weight / weight.sum())


@dataclass(frozen=True, slots=True)
class Worlds:
    """Draws of runs from one world after another; the same seed gives the same ones."""

    rng: np.random.Generator

    def run(self, chances: Floats, repeats: int) -> Counts:
        """Repeats of each case by outcome."""
        return np.asarray(self.rng.multinomial(repeats, chances), dtype=np.int64)

    def chosen(self, cases: int, among: int) -> npt.NDArray[np.intp]:
        """Places of the cases of a suite: all of them, or as many drawn with replacement."""
        if cases == among:
            return np.arange(among)
        return np.asarray(self.rng.integers(among, size=cases), dtype=np.intp)


def concentration(scores: Sequence[tuple[Sequence[float], Clusters]]) -> float:
    """How many trials of the pool a case's own chances are worth: within over between variance.

    Parameters
    ----------
    scores
        For each layer or dimension the trials and the case of each.

    Returns
    -------
    float
        Infinite where no case was tried twice, or where cases differ no more than repeats do.

    References
    ----------
    For a Beta-binomial the intraclass correlation is 1 / (1 + alpha).
    """
    within = between = 0.0
    repeated = False
    for trials, cases in scores:
        found = variance_components(trials, cases=cases, draws=2)
        if found.within is None or found.between is None:
            continue
        repeated = True
        spare = found.trials - found.cases
        # One pseudo-case that changed its mind, at half weight: no flip seen is not no flips.
        within += (found.within * spare + 0.25) / (spare + 0.5)
        between += found.between
    return within / between if repeated and between > 0 else math.inf
