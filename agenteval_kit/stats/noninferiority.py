"""No worse than the last release: a bound against a margin chosen in advance, three answers.

It may not choose the margin, and no point estimate decides here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import (
    Floats,
    Points,
    anchored_draws,
    as_levels,
    check_on_scale,
    gaffke_draws,
    quantiles,
)
from agenteval_kit.stats.observed import Clusters, Scores, observe
from agenteval_kit.stats.proportion import normal_quantile
from agenteval_kit.stats.sizes import guard_weight, units_to_rule_out

Answer = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a drop beyond the margin is ruled out, shown, or neither.

    Attributes
    ----------
    answer
        "pass": a drop of the margin is ruled out. "fail": the drop is beyond the margin.
        "undecided": neither, and `n_needed` says how many units it would take.
    difference
        Mean difference after - before; None without pairs.
    lower, upper
        One-sided bounds of the difference, each at `level`; None without an answer.
    drop_not_ruled_out
        The largest drop the data allow: -lower, at least 0; None without bounds.
    n, moved
        Units (scenarios where clustered), and those whose difference is not 0.
    n_needed
        Units for 80 % power if nothing changed; None where it cannot be known.
    margin, level, method, seed, diag, reason
        As asked, how it was bounded, what was left out, and why the answer is what it is.
    """

    answer: Answer
    difference: float | None
    lower: float | None
    upper: float | None
    drop_not_ruled_out: float | None
    n: int
    moved: int
    n_needed: int | None
    margin: float
    level: float
    method: str
    seed: int | None
    diag: str
    reason: str


def non_inferiority(
    differences: Scores,
    margin: float,
    *,
    low: float,
    high: float,
    levels: Sequence[float] | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 40_000,
    seed: int = 0,
) -> NonInferiority:
    """Whether paired differences rule out, or show, a drop beyond the margin.

    "Within noise" is not this claim: a point within the noise passes half the time when the true
    drop equals the noise. Here the lower one-sided bound must stay above -margin to pass, and the
    upper one must fall below it to fail. Where units moved by what fourteen of them falling to the
    bottom would move, the bounds are the anchored Bayesian bootstrap's. Up to ten, Gaffke's bound
    guards the pass, because a few units that drop far hide from small samples, and from repeats
    that flicker: the anchored bound alone would pass falsely up to one time in five. In between
    its share falls from all to nothing. The fail stays with the anchored bound: in simulation at
    the margin it fails falsely .00 to .07 of the time; Gaffke's would need 11 of 60 tasks broken
    before it spoke.

    Parameters
    ----------
    differences
        After minus before, a pair each; None or NaN is a pair that was not scored on both sides.
    margin
        Largest drop that would be accepted, in the units of the differences; above 0.
    low, high
        Worst and best possible difference (-3 and 3 on a 1-4 scale, -1 and 1 for pass or fail).
    levels
        Possible differences; by default whole steps from low to high, or low, middle, high where
        the ends are no whole numbers.
    clusters
        Scenario of each pair; differences are averaged within it.
    level
        Level of each one-sided bound.
    draws, seed
        Number and seed of the draws.

    Returns
    -------
    NonInferiority
        Answer with bounds. "undecided" without pairs or with one scenario, and the reason.

    Raises
    ------
    ConfigError
        If the margin is not above 0, or a difference lies outside [low, high].

    References
    ----------
    ICH E9 (1998), section 3.3.2; Gaffke, N. (2005), Mathematical Methods of Statistics 14,
    451-467; Tango (1998). Checked by simulation of false passes and false fails at the margin.

    Examples
    --------
    >>> non_inferiority([-1] * 9 + [0] * 51, 0.05, low=-1, high=1).answer
    'fail'
    >>> non_inferiority([-1] * 2 + [0] * 58, 0.05, low=-1, high=1).answer
    'undecided'
    """
    normal_quantile(level)
    if not (math.isfinite(margin) and margin > 0):
        raise ConfigError(
            f"margin: got {margin!r}, wanted a number above 0, the largest drop to accept. "
            "Set it in the bar before looking at the runs."
        )
    if not low < 0 < high:
        raise ConfigError(f"low, high: needs low < 0 < high, got {low:g} and {high:g}.")
    pairs = observe(differences, clusters=clusters)
    check_on_scale(pairs.scores, low=low, high=high, what="differences")
    diag = pairs.diag.replace("unscored", "pairs not scored on both sides")
    if pairs.groups == 0 or (pairs.codes is not None and pairs.groups == 1):
        reason = "no pairs scored on both sides" if pairs.groups == 0 else "one scenario only"
        return NonInferiority(
            "undecided", None, None, None, None, pairs.groups, 0, None, margin, level,
            "", None, diag, reason,
        )  # fmt: skip
    scale = as_levels(levels) if levels is not None else _difference_levels(low, high)
    points = pairs.points(None, by_case=False)
    moved = round(float(points.count[points.value != 0].sum()))
    alpha = 1 - level
    anchored = anchored_draws(points, levels=scale, draws=draws, seed=seed)
    lower, upper = quantiles(anchored, at=(alpha, 1 - alpha))
    method = "anchored Bayesian bootstrap"
    weight = guard_weight(points, worst=low)
    if weight:
        guard = gaffke_draws(points, worst=low, draws=draws, seed=seed)
        (guarded,) = quantiles(guard, at=(alpha,))
        lower += weight * (min(lower, guarded) - lower)
        both = "Gaffke" if weight == 1 else "between Gaffke and the anchored"
        method = f"{both} below, {method} above"
    difference = points.mean
    lower, upper = min(lower, difference), max(upper, difference)
    needed = _needed(points, margin, low, scale, alpha)
    answer, reason = _decide(lower, upper, margin, points.total, needed)
    return NonInferiority(
        answer=answer,
        difference=difference,
        lower=lower,
        upper=upper,
        drop_not_ruled_out=max(0.0, -lower),
        n=points.total,
        moved=moved,
        n_needed=needed,
        margin=margin,
        level=level,
        method=method,
        seed=seed,
        diag=diag,
        reason=reason,
    )


def _difference_levels(low: float, high: float) -> Floats:
    if float(low).is_integer() and float(high).is_integer():
        return np.arange(low, high + 1, dtype=float)
    return as_levels([low, (low + high) / 2, high])


def _needed(points: Points, margin: float, low: float, scale: Floats, alpha: float) -> int | None:
    """Units for 80 % power if nothing changed, by the spread and the size of what was seen."""
    total, moved = points.total, points.value != 0
    if moved.any() and total > 1:
        apart = points.value - points.mean
        sd = math.sqrt(points.count @ apart**2 / (total - 1))
        squares = points.count[moved] @ points.value[moved] ** 2
        size = math.sqrt(squares / points.count[moved].sum())
    else:
        # Nothing moved is no proof that nothing can: as if half a unit had, by the least step.
        size = float(np.abs(scale[scale != 0]).min())
        sd = size * math.sqrt(0.5 / (total + 0.5))
    return units_to_rule_out(sd, margin, worst=low, size=size, level=1 - alpha)


def _decide(
    lower: float, upper: float, margin: float, n: int, needed: int | None
) -> tuple[Answer, str]:
    if lower > -margin:
        return "pass", f"a drop of {margin:g} is ruled out"
    if upper < -margin:
        return "fail", f"the drop is larger than {margin:g}"
    open_drop = f"a drop of up to {-lower:.3g} is not ruled out"
    if needed is None:
        return "undecided", open_drop
    if needed <= n:
        return "undecided", f"{open_drop}; {needed:,} pass four times in five if nothing changed"
    return "undecided", f"{open_drop}; it would take about {needed:,} instead of {n:,}"
