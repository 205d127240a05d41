"""Several raters by the textbook: Fleiss and Gwet with their analytic errors, and the ICC.

It may not replace `alpha` or `agreement`: these are named alternatives for readers who ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.alpha import Ratings, as_table
from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.measures import Weighting, agreement_weights
from agenteval_kit.stats.proportion import normal_quantile

Coefficient = Literal["gwet", "fleiss"]


@dataclass(frozen=True, slots=True)
class Analytic:
    """A chance-corrected coefficient with its large-sample standard error.

    Attributes
    ----------
    estimate
        Value with its analytic interval.
    error
        Standard error; None where undefined.
    error_null
        Standard error under no agreement beyond chance; None where the method has none.
    """

    estimate: Estimate
    error: float | None
    error_null: float | None = None


def analytic_kappa(
    table: Floats,
    *,
    weighting: Weighting = "none",
    disagreement: Floats | None = None,
    level: float = 0.95,
) -> Analytic:
    """Cohen's kappa with the large-sample error of Fleiss, Cohen and Everitt.

    Not below 100 items on a skewed scale: at 20 to 50 it covers 0.66 to 0.82 there.

    Parameters
    ----------
    table
        Counts, rows one rater, columns the other.
    weighting
        "none", "linear" or "quadratic".
    disagreement
        Weights of disagreement (0 on the diagonal, more is worse) instead of `weighting`.
    level
        Nominal level.

    Returns
    -------
    Analytic
        Undefined without items or without variation.

    References
    ----------
    Fleiss, Cohen and Everitt (1969), doi:10.1037/h0028106. Wraps statsmodels `cohens_kappa`.
    """
    from statsmodels.stats.inter_rater import cohens_kappa  # heavy: a second to import

    counts = np.asarray(table, dtype=float)
    method = "kappa, analytic error"
    n = round(float(counts.sum()))
    single = (counts.sum(axis=0) > 0).sum() == 1 and (counts.sum(axis=1) > 0).sum() == 1
    if n == 0 or (single and np.trace(counts) > 0):
        reason = "no items" if n == 0 else "no variation"
        return Analytic(Estimate.undefined(reason, n=n, level=level, method=method), None)
    wt = None if weighting == "none" else weighting
    # statsmodels reads a matrix as weights of disagreement; agreement weights would be wrong.
    found = cohens_kappa(counts, weights=disagreement, wt=None if disagreement is not None else wt)
    value, error = float(found.kappa), float(found.std_kappa)
    half = normal_quantile(level) * error
    one = Estimate(value, value - half, value + half, n, level, method)
    if half == 0:
        one = Estimate(value, None, None, n, level, method, reason="the analytic error is 0")
    return Analytic(one, error, float(found.std_kappa0))


def analytic_ac(table: Floats, *, weighting: Weighting = "none", level: float = 0.95) -> Analytic:
    """Gwet's AC1 or AC2 of two raters with its large-sample error and t interval.

    Parameters
    ----------
    table
        Counts, rows one rater, columns the other.
    weighting
        "none" (AC1), "linear", "quadratic" or "ordinal" (AC2).
    level
        Nominal level of the t interval.

    Returns
    -------
    Analytic
        Undefined below two items.

    References
    ----------
    Gwet (2008), doi:10.1348/000711006X126600, equation for the variance of AC1, with weights as
    in his handbook (2014). Checked against irrCAC 0.4.4 `table.CAC`.
    """
    from scipy.special import stdtrit  # heavy: only the analytic intervals need t

    counts = np.asarray(table, dtype=float)
    n, k = round(float(counts.sum())), len(counts)
    method = "Gwet, analytic error"
    if n < 2:
        return Analytic(
            Estimate.undefined("needs two items", n=n, level=level, method=method), None
        )
    weight = agreement_weights(k, weighting)
    cell = counts / n
    share = (cell.sum(axis=0) + cell.sum(axis=1)) / 2
    factor = weight.sum() / (k * (k - 1))
    observed, chance = float((weight * cell).sum()), float(factor * (share * (1 - share)).sum())
    value = (observed - chance) / (1 - chance)
    through = factor * (1 - (share[:, None] + share[None, :]) / 2)
    pull = weight - 2 * (1 - value) * through
    centre = observed - 2 * (1 - value) * chance
    variance = (float((cell * pull**2).sum()) - centre**2) / (n * (1 - chance) ** 2)
    error = math.sqrt(max(variance, 0.0))
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    if half <= 1e-12:
        one = Estimate(value, None, None, n, level, method, reason="the analytic error is 0")
        return Analytic(one, error)
    return Analytic(Estimate(value, value - half, min(1.0, value + half), n, level, method), error)


def multirater(
    ratings: Ratings,
    *,
    coefficient: Coefficient = "gwet",
    weighting: Weighting = "none",
    level: float = 0.95,
) -> Analytic:
    """Gwet's AC1/AC2 or Fleiss' kappa for any number of raters, with labels missing.

    Parameters
    ----------
    ratings
        One row an item, one column a rater; None or NaN is a missing label.
    coefficient
        "gwet" or "fleiss".
    weighting
        "none", "linear", "quadratic" or "ordinal" (Gwet's).
    level
        Nominal level of the t interval.

    Returns
    -------
    Analytic
        Undefined without two items, without an item of two labels, or without variation.

    References
    ----------
    Gwet (2014), Handbook of inter-rater reliability, 4th edition, chapters 3 to 5; Fleiss (1971),
    doi:10.1037/h0031619. Checked against the values of irrCAC 0.4.4.
    """
    from scipy.special import stdtrit  # heavy: only the analytic intervals need t

    labels = as_table(ratings)
    scale = np.unique(labels[~np.isnan(labels)])
    counts = (labels[:, :, None] == scale).sum(axis=1).astype(float)
    counts = counts[counts.sum(axis=1) > 0]
    each = counts.sum(axis=1)
    n, k = counts.shape
    method = f"{'Gwet' if coefficient == 'gwet' else 'Fleiss'} {weighting}, analytic error"
    many = each >= 2
    if n < 2 or not many.any() or k < 2:
        reason = "no variation" if n >= 2 and k == 1 else "needs two items, one with two labels"
        return Analytic(Estimate.undefined(reason, n=n, level=level, method=method), None)
    weight = agreement_weights(k, weighting)
    pairs = np.where(many, each * (each - 1), 1.0)
    agreed = (counts * (counts @ weight - 1)).sum(axis=1) / pairs * many
    observed = agreed.sum() / many.sum()
    share = (counts / each[:, None]).mean(axis=0)
    if coefficient == "gwet":
        factor = weight.sum() / (k * (k - 1))
        chance = float(factor * (share * (1 - share)).sum())
        own = factor * (counts @ (1 - share)) / each
    else:
        chance = float(share @ weight @ share)
        own = (counts @ (weight + weight.T) @ share) / (2 * each)
    value = float((observed - chance) / (1 - chance))
    # Each item's pull on the coefficient, its pull through the chance term included.
    pull = n / many.sum() * (agreed - chance * many) / (1 - chance)
    pull = pull - 2 * (1 - value) * (own - chance) / (1 - chance)
    error = math.sqrt(float(((pull - value) ** 2).sum()) / (n * (n - 1)))
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    if half <= 1e-12:
        one = Estimate(value, None, None, n, level, method, reason="the analytic error is 0")
        return Analytic(one, error)
    # An interval past 1 says nothing more than 1.
    return Analytic(Estimate(value, value - half, min(1.0, value + half), n, level, method), error)


def fleiss_of_counts(
    counts: Floats, *, margins: Literal["fixed", "free"] = "fixed"
) -> float | None:
    """Fleiss' kappa (fixed margins) or Randolph's (free) of complete ratings; None if undefined.

    Parameters
    ----------
    counts
        One row an item, one column a score, how many raters gave it; equal row sums.
    margins
        "fixed" for Fleiss, "free" for Randolph.

    Raises
    ------
    ConfigError
        If the items have different numbers of raters.

    References
    ----------
    Fleiss (1971), doi:10.1037/h0031619; Randolph (2005). Wraps statsmodels `fleiss_kappa`.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa  # heavy: a second to import

    table = np.asarray(counts, dtype=float)
    if table.size == 0 or ((table.sum(axis=0) > 0).sum() < 2 and margins == "fixed"):
        return None
    if len(set(table.sum(axis=1).tolist())) > 1:
        raise ConfigError("counts: items with different numbers of raters. Use `alpha`.")
    return float(fleiss_kappa(table, method="fleiss" if margins == "fixed" else "randolph"))


@dataclass(frozen=True, slots=True)
class Icc:
    """The six intraclass correlations of Shrout and Fleiss; None where undefined."""

    icc1: float | None
    icc2: float | None
    icc3: float | None
    icc1k: float | None
    icc2k: float | None
    icc3k: float | None
    reason: str = ""


def intraclass_correlation(ratings: Ratings) -> Icc:
    """How much of the spread of complete ratings lies between the items.

    Parameters
    ----------
    ratings
        One row an item, one column a rater; no missing labels.

    Returns
    -------
    Icc
        One-way, two-way random and two-way mixed, of one rating and of the mean of all.

    Raises
    ------
    ConfigError
        If a label is missing.

    References
    ----------
    Shrout and Fleiss (1979), doi:10.1037/0033-2909.86.2.420, tables 2 to 4.
    """
    table = as_table(ratings)
    if np.isnan(table).any():
        raise ConfigError("ratings: a label is missing. Use `alpha`, or leave the item out.")
    n, k = table.shape
    if n < 2 or k < 2:
        return Icc(None, None, None, None, None, None, "needs two items and two raters")
    grand = table.mean()
    rows = k * float(((table.mean(axis=1) - grand) ** 2).sum()) / (n - 1)
    columns = n * float(((table.mean(axis=0) - grand) ** 2).sum()) / (k - 1)
    total = float(((table - grand) ** 2).sum())
    if total <= 1e-12:
        return Icc(None, None, None, None, None, None, "no variation")
    within = (total - rows * (n - 1)) / (n * (k - 1))
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))

    def share(part: float, whole: float) -> float | None:
        return part / whole if whole > 1e-12 else None

    return Icc(
        icc1=share(rows - within, rows + (k - 1) * within),
        icc2=share(rows - error, rows + (k - 1) * error + k * (columns - error) / n),
        icc3=share(rows - error, rows + (k - 1) * error),
        icc1k=share(rows - within, rows),
        icc2k=share(rows - error, rows + (columns - error) / n),
        icc3k=share(rows - error, rows),
    )
