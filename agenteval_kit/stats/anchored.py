"""The engine of uncertainty on bounded scales: the anchored Bayesian bootstrap, on counts.

It may not know what the numbers mean, and no array here grows with cases times draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError

Floats = npt.NDArray[np.float64]

# Gamma draws held at once: 2 million doubles are 16 MB, whatever n and the number of draws.
_BLOCK = 2_000_000
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Points:
    """Weighted observations with equal ones merged: value, mass, and how many share it."""

    value: Floats
    mass: Floats
    count: Floats

    @property
    def mean(self) -> float:
        """Mean weighted by mass."""
        weight = self.count * self.mass
        # Summed about a centre, so that equal values give that value to the last digit.
        centre = self.value[0]
        return float(centre + weight @ (self.value - centre) / weight.sum())

    @property
    def total(self) -> int:
        """Number of observations."""
        return round(float(self.count.sum()))

    @property
    def effective(self) -> float:
        """Of observations with unlike masses: as many with one mass would tell as much (Kish)."""
        return float((self.count @ self.mass) ** 2 / (self.count @ self.mass**2))


def merge(values: Floats, *, masses: Floats | None = None) -> Points:
    """Merge equal observations: the draws then cost the distinct ones, not all of them."""
    if masses is None:
        value, count = np.unique(values, return_counts=True)
        return Points(value, np.ones(len(value)), count.astype(float))
    pair, count = np.unique(np.column_stack([values, masses]), axis=0, return_counts=True)
    return Points(pair[:, 0], pair[:, 1], count.astype(float))


def merge_on_levels(values: Floats, *, levels: Floats) -> Points:
    """Merge observations; those on a level of the scale are counted without a sort."""
    slot = np.searchsorted(levels, values)
    slot = np.minimum(slot, len(levels) - 1)
    if not np.array_equal(levels[slot], values):
        return merge(values)
    count = np.bincount(slot, minlength=len(levels)).astype(float)
    kept = count > 0
    return Points(levels[kept], np.ones(int(kept.sum())), count[kept])


def anchored_draws(points: Points, *, levels: Floats, draws: int, seed: int) -> Floats:
    """Draws of the mean: Gamma(1) weight an observation, Gamma(1/K) on each level of the scale.

    With every observation on a level this is the mean under Dirichlet(count + 1/K). Where masses
    differ the anchors carry the average mass, else they would be too light.

    References
    ----------
    Rubin, D. B. (1981), The Bayesian bootstrap, Annals of Statistics 9, 130-134,
    doi:10.1214/aos/1176345338; Perks, W. (1947), Journal of the Institute of Actuaries 73,
    285-334. Checked against the exact moments of the Dirichlet distribution and by simulation.
    """
    rng = np.random.default_rng(seed)
    average_mass = float(points.count @ points.mass / points.count.sum())
    share = 1.0 / len(levels)
    if np.all(points.mass == points.mass[0]) and np.isin(points.value, levels).all():
        # One gamma a level serves both the observations on it and its anchor.
        shape = np.full(len(levels), share)
        shape[np.searchsorted(levels, points.value)] += points.count
        return _weighted_means(rng, shape, levels, np.ones(len(levels)), draws)
    shape = np.concatenate([points.count, np.full(len(levels), share)])
    value = np.concatenate([points.value, levels])
    mass = np.concatenate([points.mass, np.full(len(levels), average_mass)])
    return _weighted_means(rng, shape, value, mass, draws)


def gaffke_draws(points: Points, *, worst: float, draws: int, seed: int) -> Floats:
    """Draws of the mean with Exp(1) weight an observation and Exp(1) on the worst possible value.

    References
    ----------
    Gaffke, N. (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean
    of a nonnegative variable, Mathematical Methods of Statistics 14, 451-467. Checked by
    simulation where few observations are far out.
    """
    rng = np.random.default_rng(seed)
    average_mass = float(points.count @ points.mass / points.count.sum())
    shape = np.append(points.count, 1.0)
    value = np.append(points.value, worst)
    mass = np.append(points.mass, average_mass)
    return _weighted_means(rng, shape, value, mass, draws)


def quantiles(drawn: Floats, *, at: Sequence[float]) -> list[float]:
    """Quantiles of draws, by selection rather than a whole sort."""
    return [float(q) for q in np.quantile(drawn, list(at))]


def draw_blocks(draws: int, *, width: int) -> Iterator[slice]:
    """Row ranges that split `draws` rows of `width` numbers so that memory stays flat."""
    check_draws(draws)
    rows = max(1, min(draws, _BLOCK // max(width, 1)))
    for start in range(0, draws, rows):
        yield slice(start, min(start + rows, draws))


def check_draws(draws: int) -> None:
    """Refuse no draws: an interval of none would not be one.

    Raises
    ------
    ConfigError
        If there is not at least one.
    """
    if draws < 1:
        raise ConfigError(f"draws: needs 1 or more, got {draws}. 10,000 is usual.")


def gamma_blocks(
    rng: np.random.Generator, shape: Floats, *, draws: int
) -> Iterator[tuple[slice, Floats]]:
    """Gamma draws (rows: draws; columns: shape) block by block, with the rows each block fills."""
    for rows in draw_blocks(draws, width=len(shape)):
        yield rows, rng.standard_gamma(shape, size=(rows.stop - rows.start, len(shape)))


def as_levels(levels: Sequence[float]) -> Floats:
    """The levels of a scale, sorted and without repeats.

    Raises
    ------
    ConfigError
        If there are fewer than two, or one is not a finite number.
    """
    scale = np.unique(np.asarray(levels, dtype=float))
    if len(scale) < 2 or not np.isfinite(scale).all():
        raise ConfigError(
            f"levels: needs at least two finite numbers, got {list(levels)!r}. "
            "Pass the levels of the rubric's scale, for example (1, 2, 3, 4)."
        )
    return scale


def check_on_scale(values: Floats, *, low: float, high: float, what: str) -> None:
    """Refuse values outside the scale: nothing is clamped.

    Raises
    ------
    ConfigError
        If a value lies outside [low, high]; the first one is named with its position.
    """
    outside = np.flatnonzero((values < low - _CLOSE) | (values > high + _CLOSE))
    if len(outside):
        at = int(outside[0])
        raise ConfigError(
            f"{what}: item {at} is {float(values[at]):g}, outside the scale {low:g} to {high:g}. "
            "Pass the levels the scores were given on."
        )


def _weighted_means(
    rng: np.random.Generator, shape: Floats, value: Floats, mass: Floats, draws: int
) -> Floats:
    drawn = np.empty(draws)
    columns = np.column_stack([value * mass, mass])
    for rows, gammas in gamma_blocks(rng, shape, draws=draws):
        # A bounded scale with a prior on each level keeps the sum of weights above zero.
        both = gammas @ columns
        drawn[rows] = both[:, 0] / both[:, 1]
    return drawn
