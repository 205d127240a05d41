"""Is a better score just a longer answer: win rate by length, and at equal length.

It may not adjust away a win below a hundred pairs: then it only describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, check_on_scale
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.observed import Scores
from agenteval_kit.stats.pairwise import win_rate_clustered
from agenteval_kit.stats.proportion import normal_quantile

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 100


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How a win rate depends on the difference in length.

    Attributes
    ----------
    shorter, alike, longer
        Win rate of A in the third of pairs where A is shortest, in between, and longest.
    at_equal_length
        Win rate at a difference of 0, by logistic regression; undefined below 100 pairs or where
        length alone separates wins from losses.
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


def _at_equal_length(won: Floats, gap: Floats, z: float, level: float) -> Estimate:
    n, method = len(won), "logistic regression on length, robust error"
    if n < ENOUGH:
        reason = f"{n} pairs, below {ENOUGH}: the thirds only describe"
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

    design = np.column_stack([np.ones(n), gap / spread])
    fitted = sm.GLM(won, design, family=sm.families.Binomial()).fit(cov_type="HC1")
    logit, error = float(fitted.params[0]), float(fitted.bse[0])
    ends = 1 / (1 + np.exp(-np.array([logit, logit - z * error, logit + z * error])))
    value, low, high = (float(x) for x in ends)
    return Estimate(value, low, high, n, level, method)
