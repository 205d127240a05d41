"""What agreement means: exact, within one, kappa, AC1 and AC2 of a table of two raters.

It may not add an interval: tables in, plain numbers out, any number of tables at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.stats.anchored import Floats

Weighting = Literal["none", "linear", "quadratic", "ordinal"]
Measure = Callable[[Floats], Floats]


def agreement_weights(k: int, weighting: Weighting) -> Floats:
    """Weight of each pair of levels, 1 on the diagonal, by distance in steps of the scale.

    "ordinal" is Gwet's, by the number of level pairs in between; it is not the ordinal metric of
    Krippendorff's alpha.

    Raises
    ------
    ConfigError
        If the weighting is unknown.
    """
    apart: Floats = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    if weighting == "none":
        return np.eye(k)
    if weighting == "linear":
        return np.asarray(1 - apart / (k - 1))
    if weighting == "quadratic":
        return np.asarray(1 - (apart / (k - 1)) ** 2)
    if weighting == "ordinal":
        return np.asarray(1 - (apart + 1) * apart / (k * (k - 1)))
    raise ConfigError(f"weighting: got {weighting!r}, wanted none, linear, quadratic or ordinal.")


def exact(table: Floats) -> Floats:
    """Share on the diagonal; tables stand in the last two axes and sum to any total."""
    share = np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1))
    return np.asarray(share, dtype=float)


def within_one(table: Floats) -> Floats:
    """Share at most one step of the scale apart."""
    return _weighted_share(table, _near(table.shape[-1]))


def within_one_chance(table: Floats) -> Floats:
    """Share at most one step apart that two independent raters with these margins would reach."""
    return _weighted_chance(table, _near(table.shape[-1]))


def kappa(table: Floats, *, weighting: Weighting = "none") -> Floats:
    """Cohen's kappa; NaN where the expected agreement is 1 (no variation)."""
    weight = agreement_weights(table.shape[-1], weighting)
    observed, chance = _weighted_share(table, weight), _weighted_chance(table, weight)
    return _beyond_chance(observed, chance)


def gwet_ac(table: Floats, *, weighting: Weighting = "none") -> Floats:
    """Gwet's AC1 (no weights) or AC2 (weights)."""
    k = table.shape[-1]
    weight = agreement_weights(k, weighting)
    total = table.sum(axis=(-2, -1))
    share = (table.sum(axis=-1) + table.sum(axis=-2)) / (2 * total[..., None])
    chance = weight.sum() / (k * (k - 1)) * (share * (1 - share)).sum(axis=-1)
    return _beyond_chance(_weighted_share(table, weight), chance)


def named(statistic: str) -> Measure:
    """The measure that a rule names, for example "kappa_quadratic".

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    known: dict[str, Measure] = {
        "exact": exact,
        "within_one": within_one,
        "kappa": kappa,
        "kappa_linear": partial(kappa, weighting="linear"),
        "kappa_quadratic": partial(kappa, weighting="quadratic"),
        "ac1": gwet_ac,
        "ac2_linear": partial(gwet_ac, weighting="linear"),
        "ac2_quadratic": partial(gwet_ac, weighting="quadratic"),
    }
    if statistic not in known:
        raise ConfigError(f"statistic: got {statistic!r}.{did_you_mean(statistic, known)}")
    return known[statistic]


def cross_table(first: Floats, second: Floats, *, levels: Floats, mass: Floats | None) -> Floats:
    """Table of two raters over the levels of the scale, rows first, columns second.

    Raises
    ------
    ConfigError
        If a score is none of the levels.
    """
    k = len(levels)
    row, column = (
        level_slots(scores, levels=levels, what=what)
        for scores, what in ((first, "first"), (second, "second"))
    )
    return np.bincount(row * k + column, weights=mass, minlength=k * k).reshape(k, k).astype(float)


def level_slots(
    scores: Floats, *, levels: Floats, what: str
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Position of each score among the levels.

    Raises
    ------
    ConfigError
        If a score is none of the levels; the first one is named with its position.
    """
    slot = np.minimum(np.searchsorted(levels, scores), len(levels) - 1)
    wrong = np.flatnonzero(levels[slot] != scores)
    if len(wrong):
        at, scale = int(wrong[0]), ", ".join(f"{one:g}" for one in levels)
        raise ConfigError(
            f"{what}: item {at} is {float(scores[at]):g}, not a level of the scale {scale}. "
            "Agreement needs single scores, not averages."
        )
    return slot


def _near(k: int) -> Floats:
    return (np.abs(np.subtract.outer(np.arange(k), np.arange(k))) <= 1).astype(float)


def _weighted_share(table: Floats, weight: Floats) -> Floats:
    total = table.sum(axis=(-2, -1))
    return np.asarray((table * weight).sum(axis=(-2, -1)) / total, dtype=float)


def _weighted_chance(table: Floats, weight: Floats) -> Floats:
    total = table.sum(axis=(-2, -1))
    row, column = table.sum(axis=-1), table.sum(axis=-2)
    together = ((row @ weight) * column).sum(axis=-1)
    return np.asarray(together / total**2, dtype=float)


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    left = np.asarray(1 - chance)
    # Rounding leaves 1e-16 where it should be 0: that is no variation, not a huge kappa.
    room = np.where(left > 1e-12, left, math.nan)
    return np.asarray((observed - chance) / room, dtype=float)
