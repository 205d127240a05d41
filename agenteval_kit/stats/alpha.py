"""Do several raters agree, with labels missing: Krippendorff's alpha.

It may not fill a missing label: items with fewer than two labels say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, draw_blocks, quantiles
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.observed import Clusters, Codes, cluster_codes
from agenteval_kit.stats.proportion import normal_quantile
from agenteval_kit.text import counted

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
Ratings = Sequence[Sequence[float | None]] | npt.NDArray[np.floating] | npt.NDArray[np.integer]

_MOST_CODES = 2_000_000


def alpha(
    ratings: Ratings,
    *,
    metric: Metric = "ordinal",
    levels: Sequence[float] | None = None,
    weights: Sequence[float] | npt.NDArray[np.floating] | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Krippendorff's alpha of any number of raters, with labels missing anywhere.

    Parameters
    ----------
    ratings
        One row an item, one column a rater; None or NaN is a missing label. A data frame will do.
    metric
        How far apart two scores are: "ordinal" for rubric levels; "nominal", "interval", "ratio".
    levels
        Levels of the scale; by default the scores that occur.
    weights
        Sampling weight of each item (1 over its inclusion probability), above 0: its coincidences
        count so often.
    clusters
        Scenario of each item; whole scenarios are drawn, since repeats are not independent.
    level, draws, seed
        Nominal level, number and seed of the draws over items or scenarios.

    Returns
    -------
    Estimate
        At most 1; 0 is chance. n counts items with two labels or more, or their scenarios.
        Undefined without such items, with one scenario, or where all labels are the same, and then
        `diag` gives the exact agreement.

    Raises
    ------
    ConfigError
        If the rows differ in length, the metric is unknown, a label is no level of the scale, or a
        weight is not above 0.

    References
    ----------
    Hayes and Krippendorff (2007), doi:10.1080/19312450709336664; Krippendorff (2011), Computing
    alpha-reliability. Checked against his 4 by 12 example and evalica `alpha`. The interval is a
    Bayesian bootstrap over items or scenarios, anchored by one pseudo-item spread over the pairs of
    levels. Over 40 scenarios of 3 and of 8 like repeats it covers 0.95 in simulation; drawn by item
    0.81 and 0.59. On 100 labels drawn half from low verdicts, the weighted one covers 0.96 on a
    scale of 3, 7, 25 and 65 % and about 0.9 on one of 1, 2, 7 and 90 %; the unweighted one hardly
    ever.
    """
    normal_quantile(level)
    if metric not in ("nominal", "ordinal", "interval", "ratio"):
        raise ConfigError(f"metric: got {metric!r}, wanted nominal, ordinal, interval or ratio.")
    unit = "items" if clusters is None else "scenarios"
    method = f"Krippendorff, {metric}; anchored Bayesian bootstrap over {unit}"
    table = as_table(ratings)
    for name, other in (("clusters", clusters), ("weights", weights)):
        if other is not None and len(other) != len(table):
            raise ConfigError(f"{name}: {len(other)} for {len(table)} items. Give each item one.")
    scale = _scale(table, levels)
    if len(scale) == 0:
        return Estimate.undefined("no labels", level=level, method=method)
    many = (~np.isnan(table)).sum(axis=1)
    single = int((many == 1).sum())
    note = f"{counted(single, 'item')} with one label left out" if single else ""
    paired = many >= 2
    if not paired.any():
        return Estimate.undefined("no item has two labels", level=level, method=method, diag=note)
    codes = None
    if clusters is not None:
        codes = cluster_codes([one for one, keep in zip(clusters, paired, strict=True) if keep])
    mass = None if weights is None else _mean_one(np.asarray(weights, dtype=float)[paired])
    pairs, count = _units(table if paired.all() else table[paired], scale, codes, mass)
    n = int(count.sum())
    observed = count @ pairs
    value = float(_alpha(observed[None, :], scale, metric)[0])
    if math.isnan(value):
        return Estimate.undefined(
            "no variation: every label is the same", n=n, level=level, method=method, diag=note
        ).noted("exact agreement 100 %")
    if n == 1 and paired.sum() > 1:
        reason = "one scenario only: no interval between scenarios"
        return Estimate.undefined(reason, n=1, level=level, method=method, diag=note)
    k = len(scale)
    rng = np.random.default_rng(seed)
    anchor = np.full(k * k, 1 / k**2)
    average = float(observed.sum() / n)
    drawn = np.empty(draws)
    for rows in draw_blocks(draws, width=len(count) + k * k):
        size = rows.stop - rows.start
        weights = rng.standard_gamma(count, size=(size, len(count)))
        pseudo = rng.standard_gamma(anchor, size=(size, k * k)).reshape(-1, k, k)
        # A pseudo-unit of two labels counts both ways round, and as many labels as a real one.
        both = (pseudo + pseudo.transpose(0, 2, 1)).reshape(size, k * k) * (average / 2)
        drawn[rows] = _alpha(weights @ pairs + both, scale, metric)
    # Draws of few labels in all may pass 1, which no coefficient can.
    low, high = quantiles(np.minimum(drawn, 1.0), at=((1 - level) / 2, (1 + level) / 2))
    return Estimate(value, min(low, value), max(high, value), n, level, method, seed, note)


def as_table(ratings: Ratings) -> Floats:
    """Ratings as an array, one row an item, one column a rater, NaN where a label is missing.

    Raises
    ------
    ConfigError
        If the rows differ in length.
    """
    if hasattr(ratings, "to_numpy"):
        # A data frame iterates over its columns' names, not over its rows.
        table = np.asarray(ratings.to_numpy(dtype=float, na_value=np.nan))
    elif isinstance(ratings, np.ndarray):
        table = ratings.astype(float)
    else:
        widths = {len(row) for row in ratings}
        if len(widths) > 1:
            raise ConfigError(
                f"ratings: rows of {min(widths)} and {max(widths)} labels. "
                "Give each item one column a rater, with None where a label is missing."
            )
        table = np.array(ratings, dtype=float).reshape(len(ratings), widths.pop() if widths else 0)
    if table.ndim != 2:
        raise ConfigError(f"ratings: needs items by raters, got {table.ndim} dimensions.")
    return table


def _scale(table: Floats, levels: Sequence[float] | None) -> Floats:
    if levels is None:
        seen = table[~np.isnan(table)]
        return np.unique(seen)
    scale = np.unique(np.asarray(levels, dtype=float))
    wrong = ~np.isnan(table) & ~np.isin(table, scale)
    if wrong.any():
        item, rater = (int(at[0]) for at in np.nonzero(wrong))
        shown = ", ".join(f"{one:g}" for one in scale)
        raise ConfigError(
            f"ratings: item {item}, rater {rater} is {table[item, rater]:g}, not a level of the "
            f"scale {shown}."
        )
    return scale


def _mean_one(weights: Floats) -> Floats:
    # Weights tell how items compare; alpha's correction for few labels wants as many as there are.
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ConfigError("weights: needs finite numbers above 0. Leave out what has no weight.")
    return np.asarray(weights / weights.mean())


def _units(
    table: Floats, scale: Floats, codes: Codes | None, mass: Floats | None
) -> tuple[Floats, Floats]:
    # The coincidences of what is drawn, equal ones merged: an item, or all items of a scenario.
    patterns, count, which = _patterns(table, scale)
    labels = patterns.sum(axis=1)
    pairs = _coincidences(patterns, labels)
    if codes is None:
        if mass is None:
            return pairs, count
        alike, many = np.unique(np.column_stack([which, mass]), axis=0, return_counts=True)
        return alike[:, 1:] * pairs[alike[:, 0].astype(np.intp)], many.astype(float)
    scenarios = int(codes.max()) + 1
    holds = np.bincount(
        codes * len(patterns) + which, weights=mass, minlength=scenarios * len(patterns)
    )
    alike, many = np.unique(holds.reshape(scenarios, -1), axis=0, return_counts=True)
    return alike @ pairs, many.astype(float)


def _patterns(table: Floats, scale: Floats) -> tuple[Floats, Floats, Codes]:
    # Who gave which score does not matter to alpha, only how often each score was given: merging
    # equal items makes the draws as cheap for 100,000 items as for 100. The third is each item's.
    items, raters = table.shape
    k = len(scale)
    if (raters + 1) ** k > _MOST_CODES:
        counts = np.zeros((items, k))
        for column in table.T:
            known = np.flatnonzero(~np.isnan(column))
            counts[known, np.searchsorted(scale, column[known])] += 1
        rows, which, many = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
        return rows, many.astype(float), which
    # Position k, past the last level, is "missing" and adds nothing; NaN sorts there by itself.
    step = np.append((raters + 1) ** np.arange(k), 0)
    code = np.zeros(items, dtype=np.int64)
    for column in table.T:
        code += step[np.searchsorted(scale, column)]
    many = np.bincount(code)
    present = np.flatnonzero(many)
    rows = present[:, None] // step[None, :k] % (raters + 1)
    slot = np.empty(len(many), dtype=np.intp)
    slot[present] = np.arange(len(present))
    return rows.astype(float), many[present].astype(float), slot[code]


def _coincidences(patterns: Floats, labels: Floats) -> Floats:
    k = patterns.shape[1]
    ordered = patterns[:, :, None] * patterns[:, None, :]
    ordered[:, np.arange(k), np.arange(k)] -= patterns
    return np.asarray((ordered / (labels - 1)[:, None, None]).reshape(len(patterns), k * k))


def _alpha(pairs: Floats, scale: Floats, metric: Metric) -> Floats:
    k = len(scale)
    square = pairs.reshape(-1, k, k)
    each = square.sum(axis=2)
    total = each.sum(axis=1)
    if metric == "ordinal":
        upto = np.cumsum(each, axis=1)
        # Labels from one score to the other, each end counted half.
        centre = upto - each / 2
        apart = (centre[:, :, None] - centre[:, None, :]) ** 2
    else:
        apart = _fixed_metric(scale, metric)[None, :, :]
    observed = (square * apart).sum(axis=(1, 2))
    expected = (each[:, :, None] * each[:, None, :] * apart).sum(axis=(1, 2))
    room = np.where(expected > 1e-12 * total, expected, np.nan)
    return np.asarray(1 - (total - 1) * observed / room)


def _fixed_metric(scale: Floats, metric: Metric) -> Floats:
    gap = scale[:, None] - scale[None, :]
    if metric == "nominal":
        return 1 - np.eye(len(scale))
    if metric == "interval":
        return np.asarray(gap**2)
    whole = scale[:, None] + scale[None, :]
    return np.asarray((gap / np.where(whole == 0, 1.0, whole)) ** 2)
