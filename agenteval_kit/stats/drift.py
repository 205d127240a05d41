"""Did the judge change: a frozen anchor set, scored by both versions of the judge.

It may not compare judges that scored different items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.observed import Clusters, Scores
from agenteval_kit.stats.paired import PairedScores, paired_scores
from agenteval_kit.stats.proportion import wilson


@dataclass(frozen=True, slots=True)
class Drift:
    """Two versions of a judge on one anchor set.

    Attributes
    ----------
    comparable
        Whether both scored at least two common items.
    change
        Paired change of the mean.
    exact
        Share of items with the same score: Wilson, or by scenario where those are given.
    own
        Share of items that the old version scored alike twice; undefined where it did not.
    drifted
        Whether the interval of the change excludes 0, or the two agree less often than the old
        version with itself, as a bound. None where not comparable, and where the mean is unchanged
        and nothing says how often the judge repeats itself: scores may have moved both ways.
    reason
        "runs not comparable" with why.
    """

    comparable: bool
    change: PairedScores
    exact: Estimate
    own: Estimate
    drifted: bool | None
    reason: str


def judge_drift(
    old: Scores,
    new: Scores,
    *,
    levels: Sequence[float],
    again: Scores | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Drift:
    """Whether a new judge scores the anchor set as the old one did.

    Parameters
    ----------
    old, new
        Scores of the same anchor items; None or NaN where a version has none.
    levels
        Levels of the scale.
    again
        Scores of the old version asked a second time.
    clusters
        Scenario of each item.
    level, seed
        Nominal level, seed.

    Returns
    -------
    Drift
        Not comparable without common items.

    Raises
    ------
    ConfigError
        As `paired.paired_scores`; if `again` has not as many scores as `old`.
    """
    change = paired_scores(old, new, levels=levels, clusters=clusters, level=level, seed=seed)
    exact = _alike(old, new, clusters=clusters, level=level, seed=seed)
    own = Estimate.undefined("the judge scored nothing twice", level=level)
    less = None
    if again is not None:
        if len(again) != len(old):
            raise ConfigError(
                f"again: {len(again)} scores for {len(old)} items. Pair them by item id first, "
                "with None where one is missing."
            )
        own = _alike(old, again, clusters=clusters, level=level, seed=seed)
        # Item by item, as the change of the mean is: both agreements are with the same scores.
        less = paired_scores(
            _same(old, again), _same(old, new), levels=(0, 1), clusters=clusters, estimand="case",
            level=level, seed=seed,
        ).difference.high  # fmt: skip
    comparable = change.n >= 2 and change.within_noise is not None
    reason = "" if comparable else "runs not comparable: no anchor items that both judges scored"
    drifted: bool | None = None
    if comparable and not change.within_noise:
        drifted = True
    elif comparable and less is not None:
        drifted = less < 0
    return Drift(comparable, change, exact, own, drifted, reason)


def _same(one: Scores, other: Scores) -> Floats:
    first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return np.where(np.isnan(first) | np.isnan(second), np.nan, first == second)


def _alike(
    one: Scores, other: Scores, *, clusters: Clusters | None, level: float, seed: int
) -> Estimate:
    same = _same(one, other)
    if clusters is None:
        return wilson(int(np.nansum(same)), int((~np.isnan(same)).sum()), level=level)
    # A judge that moved on a scenario moved on its repeats: they are one observation.
    return anchored_mean(
        same, levels=(0.0, 1.0), clusters=clusters, estimand="case", level=level, seed=seed
    )
