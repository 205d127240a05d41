"""Did the judge change: a frozen anchor set, scored by both versions of the judge.

It may not compare judges that scored different items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    drifted
        Whether the interval of the change excludes 0; None where not comparable.
    reason
        "runs not comparable" with why.
    """

    comparable: bool
    change: PairedScores
    exact: Estimate
    drifted: bool | None
    reason: str


def judge_drift(
    old: Scores,
    new: Scores,
    *,
    levels: Sequence[float],
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
        As `paired.paired_scores`.
    """
    change = paired_scores(old, new, levels=levels, clusters=clusters, level=level, seed=seed)
    one, two = np.asarray(old, dtype=float), np.asarray(new, dtype=float)
    exact = wilson(int((one == two).sum()), change.n, level=level)
    if clusters is not None:
        # A judge that moved on a scenario moved on its repeats: they are one observation.
        same = np.where(np.isnan(one) | np.isnan(two), np.nan, one == two)
        exact = anchored_mean(
            same, levels=(0.0, 1.0), clusters=clusters, estimand="case", level=level, seed=seed
        )
    comparable = change.n >= 2 and change.within_noise is not None
    reason = "" if comparable else "runs not comparable: no anchor items that both judges scored"
    drifted = None if change.within_noise is None or not comparable else not change.within_noise
    return Drift(comparable, change, exact, drifted, reason)
