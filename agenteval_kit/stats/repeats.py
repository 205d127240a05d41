"""How steady: pass^k, pass@k, flips between repeats, and how much of the spread is chance.

It may not score a case by another case's number of trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.arguments import whole
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.mean import Estimand, anchored_mean
from agenteval_kit.stats.observed import Clusters, Codes, cluster_codes
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

Counts = Sequence[int] | npt.NDArray[np.integer]


def pass_hat_k(
    successes: Counts,
    trials: Counts,
    k: int,
    *,
    clusters: Clusters | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The chance that k trials of a case all pass, averaged over cases (pass^k).

    Parameters
    ----------
    successes, trials
        Passed trials and all trials, a case each.
    k
        Trials that must all pass; at k = 1 this is the pass rate.
    clusters, estimand, level, draws, seed
        As in `mean.anchored_mean`.

    Returns
    -------
    Estimate
        In [0, 1]; n counts cases (scenarios where clustered). A case with fewer than k trials is
        left out and counted. Undefined where no case has k trials.

    Raises
    ------
    ConfigError
        If k < 1, lengths differ, a count is not whole, or successes exceed trials.

    References
    ----------
    Yao et al. (2024), tau-bench, arXiv:2406.12045. Checked against exact fractions.

    Examples
    --------
    >>> round(pass_hat_k([6], [8], 4).value, 4)
    0.2143
    """
    return _over_cases("hat", successes, trials, k, clusters, estimand, level, draws, seed)


def pass_at_k(
    successes: Counts,
    trials: Counts,
    k: int,
    *,
    clusters: Clusters | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The chance that at least one of k trials of a case passes, averaged over cases (pass@k).

    Not a measure of reliability: for that use `pass_hat_k`. Arguments, result and errors as there.

    References
    ----------
    Chen et al. (2021), Evaluating large language models trained on code, arXiv:2107.03374.
    Checked against exact fractions.
    """
    return _over_cases("at", successes, trials, k, clusters, estimand, level, draws, seed)


def flip_rate(
    outcomes: Sequence[bool | int | None] | npt.NDArray[np.generic],
    *,
    cases: Clusters,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """How often two repeats of one case disagree on pass or fail, averaged over cases.

    Parameters
    ----------
    outcomes
        Passed (True, 1) or failed (False, 0), a trial each; None is left out.
    cases
        Case of each trial.
    level, draws, seed
        As in `mean.anchored_mean`.

    Returns
    -------
    Estimate
        Share of pairs of repeats that differ, in [0, 1]; n counts cases with two trials or more.
        Undefined ("not measured") where no case was repeated.

    Raises
    ------
    ConfigError
        If lengths differ, or an outcome is neither pass nor fail.
    """
    value, codes, size = _trials(outcomes, cases)
    neither = np.flatnonzero((value != 0) & (value != 1))
    if len(neither):
        raise ConfigError(
            f"outcomes: {value[neither[0]]:g} is neither pass (1) nor fail (0). "
            "For scores use variance_components."
        )
    passed = np.bincount(codes, weights=value, minlength=len(size))
    many = size >= 2
    method = "pairs of repeats, anchored Bayesian bootstrap over cases"
    if not many.any():
        return Estimate.undefined("not measured: no case was repeated", level=level, method=method)
    c, n = passed[many], size[many]
    flips = 2 * c * (n - c) / (n * (n - 1))
    # A rate of 1 is possible (two repeats, one each), so the scale is 0 to 1 whatever n.
    found = anchored_mean(flips, levels=(0, 1), level=level, draws=draws, seed=seed)
    return Estimate(
        found.value, found.low, found.high, found.n, level, method, seed, found.diag
    ).noted(_too_short(int((~many).sum()), 2))


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """How much of the spread lies between cases and how much between repeats of a case.

    Attributes
    ----------
    within
        Variance between repeats of one case (agent or judge randomness).
    between
        Variance of true case means (difficulty); floored at 0, and `diag` says so.
    mean_error
        Standard error of the mean over cases with the repeats at hand.
    icc
        Share of one trial's variance that lies between cases, ICC(1); None without variation.
    icc_mean
        The same for the mean of a case's repeats, ICC(1,k).
    exact_repeat
        How often two repeats of one case agree exactly.
    cases, trials
        Cases with two trials or more, and their trials.
    diag, reason
        Doubts; why nothing could be estimated.
    """

    within: float | None
    between: float | None
    mean_error: float | None
    icc: float | None
    icc_mean: float | None
    exact_repeat: Estimate
    cases: int
    trials: int
    diag: str
    reason: str

    def frame(self) -> pd.DataFrame:
        """One row: exact agreement of repeats."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def variance_components(
    scores: Sequence[float | None] | npt.NDArray[np.generic],
    *,
    cases: Clusters,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> VarianceComponents:
    """Split the spread of repeated scores into case difficulty and randomness between repeats.

    Parameters
    ----------
    scores
        Scores, a trial each; None or NaN is left out.
    cases
        Case of each trial.
    level, draws, seed
        For the interval of exact agreement between repeats.

    Returns
    -------
    VarianceComponents
        "not estimable from one trial" where no case was repeated.

    Raises
    ------
    ConfigError
        If lengths differ, or a score is infinite.

    References
    ----------
    Miller (2024), arXiv:2411.00640, for the components; Shrout and Fleiss (1979), Psychological
    Bulletin 86, 420-428, doi:10.1037/0033-2909.86.2.420, table 4 for ICC(1). Unequal numbers of
    repeats: the usual n0 of a one-way analysis of variance (Searle 1971).
    """
    value, codes, size = _trials(scores, cases)
    many = size >= 2
    kept = many[codes]
    value, codes, dropped = value[kept], codes[kept], int((~many).sum())
    if not many.any():
        reason = "not estimable from one trial" if len(size) else "no scores"
        nothing = Estimate.undefined(reason, level=level)
        return VarianceComponents(None, None, None, None, None, nothing, 0, 0, "", reason)
    codes = cluster_codes(codes)
    repeats = np.bincount(codes).astype(float)
    g, n = len(repeats), len(value)
    means = np.bincount(codes, weights=value) / repeats
    squares = np.bincount(codes, weights=(value - means[codes]) ** 2)
    within = float(squares.sum() / (n - g))
    agree = _repeat_agreement(value, codes, repeats, level, draws, seed)
    diag = _too_short(dropped, 2)
    if g < 2:
        return VarianceComponents(
            within, None, None, None, None, agree, g, n, diag,
            "one case: spread between cases unknown",
        )  # fmt: skip
    typical = (n - float(repeats @ repeats) / n) / (g - 1)
    mean_square = float(repeats @ (means - value.mean()) ** 2 / (g - 1))
    raw = (mean_square - within) / typical
    between = max(raw, 0.0)
    if raw < 0:
        diag = "; ".join(part for part in (diag, "between cases below 0, set to 0") if part)
    total = mean_square + (typical - 1) * within
    return VarianceComponents(
        within=within,
        between=between,
        mean_error=math.sqrt((between + within * float(np.mean(1 / repeats))) / g),
        icc=(mean_square - within) / total if total > 0 else None,
        icc_mean=(mean_square - within) / mean_square if mean_square > 0 else None,
        exact_repeat=agree,
        cases=g,
        trials=n,
        diag=diag,
        reason="" if total > 0 else "no variation",
    )


def _repeat_agreement(
    value: Floats, codes: Codes, repeats: Floats, level: float, draws: int, seed: int
) -> Estimate:
    _, kinds = np.unique(value, return_inverse=True)
    _, slot, many = np.unique(
        codes * (int(kinds.max()) + 1) + kinds, return_index=True, return_counts=True
    )
    same = np.bincount(codes[slot], weights=many * (many - 1.0))
    share = same / (repeats * (repeats - 1))
    return anchored_mean(share, levels=(0, 1), level=level, draws=draws, seed=seed)


def _over_cases(
    which: Literal["hat", "at"],
    successes: Counts,
    trials: Counts,
    k: int,
    clusters: Clusters | None,
    estimand: Estimand,
    level: float,
    draws: int,
    seed: int,
) -> Estimate:
    k = whole("k: the number of trials", k, least=1)
    passed, tried = _whole_counts("successes", successes), _whole_counts("trials", trials)
    if passed.shape != tried.shape:
        raise ConfigError(f"successes and trials: {len(passed)} and {len(tried)} cases.")
    if (passed > tried).any():
        at = int(np.flatnonzero(passed > tried)[0])
        raise ConfigError(f"case {at}: {passed[at]} successes of {tried[at]} trials.")
    enough = tried >= k
    symbol = f"pass^{k}" if which == "hat" else f"pass@{k}"
    method = f"{symbol}, anchored Bayesian bootstrap over cases"
    if not enough.any():
        reason = "no cases" if len(tried) == 0 else f"no case has {k} trials"
        return Estimate.undefined(reason, level=level, method=method)
    share = [
        _all_pass(int(c), int(n), k) if which == "hat" else 1 - _all_pass(int(n - c), int(n), k)
        for c, n in zip(passed[enough], tried[enough], strict=True)
    ]
    kept = None
    if clusters is not None:
        if len(clusters) != len(tried):
            raise ConfigError(f"clusters: {len(clusters)} for {len(tried)} cases.")
        kept = [one for one, keep in zip(clusters, enough, strict=True) if keep]
    found = anchored_mean(
        share, levels=(0, 1), clusters=kept, estimand=estimand, level=level, draws=draws, seed=seed
    )
    note = _too_short(int((~enough).sum()), k)
    if found.value is None:
        return found.noted(note)
    return Estimate(
        found.value, found.low, found.high, found.n, level, method, seed, found.diag
    ).noted(note)


def _whole_counts(name: str, counts: Counts) -> npt.NDArray[np.int64]:
    return np.array(
        [whole(f"{name}: case {at}", one) for at, one in enumerate(counts)], dtype=np.int64
    )


def _all_pass(passed: int, tried: int, k: int) -> float:
    # The share of k-subsets of the trials in which all passed; whole numbers stay exact.
    return math.comb(passed, k) / math.comb(tried, k)


def _trials(
    outcomes: Sequence[float | None] | npt.NDArray[np.generic], cases: Clusters
) -> tuple[Floats, Codes, npt.NDArray[np.int64]]:
    value = np.asarray(outcomes, dtype=float)
    if value.ndim != 1:
        raise ConfigError(
            f"trials: needs one list, got {value.ndim} dimensions. "
            "Pass one value a trial, with its case in `cases`."
        )
    if len(cases) != len(value):
        raise ConfigError(f"cases: {len(cases)} for {len(value)} trials. Pass one for each trial.")
    if np.isinf(value).any():
        at = int(np.flatnonzero(np.isinf(value))[0])
        raise ConfigError(f"trial {at} is {value[at]:g}. Pass None where there is no score.")
    known = ~np.isnan(value)
    codes = cluster_codes([case for case, keep in zip(cases, known, strict=True) if keep])
    return value[known], codes, np.bincount(codes) if len(codes) else np.zeros(0, dtype=np.int64)


def _too_short(cases: int, k: int) -> str:
    return (
        f"{counted(cases, 'case')} with fewer than {counted(k, 'trial')} left out" if cases else ""
    )
