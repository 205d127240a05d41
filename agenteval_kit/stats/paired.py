"""Did it change from one run to the next: pass or fail, and scores, paired by case.

It may not judge by the overlap of two separate intervals, and p-values never decide alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import (
    Floats,
    as_levels,
    check_on_scale,
)
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.mean import Estimand, anchored_mean, gaffke_guarded, t_mean
from agenteval_kit.stats.noninferiority import NonInferiority, non_inferiority
from agenteval_kit.stats.observed import Clusters, Scores, observe
from agenteval_kit.stats.permutation import sign_flip_p
from agenteval_kit.stats.score_interval import exact_p, mcnemar_p, tango
from agenteval_kit.stats.sizes import guard_weight

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "NonInferiority",
    "PairedBinary",
    "PairedScores",
    "exact_p",
    "mcnemar_p",
    "non_inferiority",
    "paired_binary",
    "paired_scores",
    "sign_flip_p",
    "tango",
]

FEW_MOVED = 6


@dataclass(frozen=True, slots=True)
class PairedBinary:
    """Pass or fail before and after, counted by pair.

    Attributes
    ----------
    n, dropped
        Pairs with both outcomes; pairs left out because one side is missing.
    both_passed, broken, fixed, both_failed
        The four cells; broken passed before and fails now.
    broken_at, fixed_at
        Positions of the broken and fixed pairs in the input, to name their cases.
    difference
        Change of the share passed (after - before), Tango's interval. It decides.
    p_mcnemar
        McNemar's two-sided p, which agrees with the interval.
    p_exact
        Exact two-sided p: conservative, shown, never deciding.
    diag
        "too few changes to tell" below six changed pairs; pairs left out.
    """

    n: int
    dropped: int
    both_passed: int
    broken: int
    fixed: int
    both_failed: int
    broken_at: tuple[int, ...]
    fixed_at: tuple[int, ...]
    difference: Estimate
    p_mcnemar: float
    p_exact: float
    diag: str

    def frame(self) -> pd.DataFrame:
        """One row: the difference."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def paired_binary(
    before: Sequence[bool | int | None] | npt.NDArray[np.generic],
    after: Sequence[bool | int | None] | npt.NDArray[np.generic],
    *,
    level: float = 0.95,
) -> PairedBinary:
    """The change in the share that passed, paired by case, with the broken and fixed ones.

    Not for repeats of one case: average them and use `paired_scores` with clusters.

    Parameters
    ----------
    before, after
        Passed (True, 1) or failed (False, 0) in the same order of cases; None is missing, and the
        pair is left out and counted.
    level
        Nominal level of the interval.

    Returns
    -------
    PairedBinary
        The difference is undefined without pairs.

    Raises
    ------
    ConfigError
        If lengths differ or a value is neither pass nor fail.

    References
    ----------
    Tango (1998); McNemar (1947), doi:10.1007/BF02295996. Checked against statsmodels `mcnemar`.
    """
    old, new = _pair(before, after)
    outside = ~np.isnan(old) & (old != 0) & (old != 1) | ~np.isnan(new) & (new != 0) & (new != 1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise ConfigError(
            f"paired_binary: pair {at} is {old[at]:g} and {new[at]:g}, wanted pass (1) or "
            "fail (0). For scores use paired_scores."
        )
    known = ~(np.isnan(old) | np.isnan(new))
    broken = np.flatnonzero(known & (old == 1) & (new == 0))
    fixed = np.flatnonzero(known & (old == 0) & (new == 1))
    n, b, c = int(known.sum()), len(broken), len(fixed)
    dropped = len(old) - n
    difference = tango(b, c, n, level=level).noted(_left_out(dropped), _too_few(b + c, n))
    return PairedBinary(
        n=n,
        dropped=dropped,
        both_passed=int((known & (old == 1) & (new == 1)).sum()),
        broken=b,
        fixed=c,
        both_failed=int((known & (old == 0) & (new == 0)).sum()),
        broken_at=tuple(broken.tolist()),
        fixed_at=tuple(fixed.tolist()),
        difference=difference,
        p_mcnemar=mcnemar_p(b, c),
        p_exact=exact_p(b, c),
        diag=difference.diag,
    )


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Scores before and after, compared pair by pair.

    Attributes
    ----------
    n, dropped
        Pairs scored on both sides; pairs left out.
    units, moved, worse, better
        Independent units (scenarios where clustered) and how many changed, fell, rose.
    before, after
        Mean of each side over the same pairs, anchored interval.
    difference
        Mean of after - before, anchored interval on the possible differences. It decides. Its
        lower end reaches to Gaffke's bound where units moved by less than ten whole scales
        (`sizes.guard_weight`), its upper end too where fewer than six moved: a few cases that move
        far hide from small samples.
    t, t_statistic, p_t
        The same with the t interval, by name, with its statistic and two-sided p; None where
        nothing varies.
    p_sign_flip
        Two-sided p of the sign-flip permutation test over units; None without pairs.
    p_exact_sign
        Exact two-sided sign-test p on the units that moved; None without pairs.
    drop_not_ruled_out
        The largest drop inside the interval, at least 0; None without an interval.
    within_noise
        Whether the interval holds 0; None without an interval.
    diag
        "too few changes to tell" below six moved units; pairs left out.
    """

    n: int
    dropped: int
    units: int
    moved: int
    worse: int
    better: int
    before: Estimate
    after: Estimate
    difference: Estimate
    t: Estimate
    t_statistic: float | None
    p_t: float | None
    p_sign_flip: float | None
    p_exact_sign: float | None
    drop_not_ruled_out: float | None
    within_noise: bool | None
    diag: str

    def frame(self) -> pd.DataFrame:
        """One row an estimate: before, after, difference, t."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def paired_scores(
    before: Scores,
    after: Scores,
    *,
    levels: Sequence[float],
    clusters: Clusters | None = None,
    estimand: Estimand = "scenario",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PairedScores:
    """The change in the mean score, paired by case.

    Parameters
    ----------
    before, after
        Scores in the same order of cases; None or NaN is unscored, and the pair is left out and
        counted.
    levels
        Levels of the scale, of one side.
    clusters
        Scenario of each pair.
    estimand, level, draws, seed
        As in `mean.anchored_mean`.

    Returns
    -------
    PairedScores
        Undefined estimates without pairs, or with one scenario.

    Raises
    ------
    ConfigError
        If lengths differ or a score lies outside the scale.

    References
    ----------
    Miller (2024), arXiv:2411.00640; Fisher (1935), The design of experiments, section 21. Checked
    against scipy `ttest_1samp` and `permutation_test`, and by simulation.
    """
    scale = as_levels(levels)
    old, new = _pair(before, after)
    for name, side in (("before", old), ("after", new)):
        check_on_scale(side, low=scale[0], high=scale[-1], what=name)
    change = new - old
    steps = as_levels((scale[:, None] - scale[None, :]).round(12).ravel().tolist())
    known = ~np.isnan(change)
    n = int(known.sum())
    dropped = len(change) - n
    kept = None if clusters is None else [c for c, k in zip(clusters, known, strict=True) if k]
    shared = {"clusters": kept, "estimand": estimand, "level": level}
    difference, left, right = (
        anchored_mean(x[known], levels=of, draws=draws, seed=seed, **shared)  # type: ignore[arg-type]
        for x, of in ((change, steps), (old, scale), (new, scale))
    )
    unit = observe(change[known].round(12), clusters=kept)
    means = unit.scores if unit.codes is None else unit.cluster_means().round(12)
    worse, better = int((means < 0).sum()), int((means > 0).sum())
    moved = worse + better
    if difference.value is not None:
        points = unit.points(None, by_case=estimand == "case")
        weight = guard_weight(points, worst=float(steps[0]))
        if weight:
            difference = gaffke_guarded(
                difference, points, worst=float(steps[0]), weight=weight, draws=draws,
                best=float(steps[-1]) if moved < FEW_MOVED else None,
            )  # fmt: skip
    remarks = (_left_out(dropped), _too_few(moved, len(means)))
    difference = difference.noted(*remarks)
    by_t = t_mean(change[known], **shared)  # type: ignore[arg-type]
    statistic, p_t = _t_test(by_t)
    drop, noise = None, None
    if difference.low is not None and difference.high is not None:
        drop, noise = max(0.0, -difference.low), difference.low <= 0 <= difference.high
    return PairedScores(
        n=n,
        dropped=dropped,
        units=len(means),
        moved=moved,
        worse=worse,
        better=better,
        before=left,
        after=right,
        difference=difference,
        t=by_t.noted(*remarks),
        t_statistic=statistic,
        p_t=p_t,
        p_sign_flip=sign_flip_p(means, seed=seed) if n else None,
        p_exact_sign=exact_p(worse, better) if n else None,
        drop_not_ruled_out=drop,
        within_noise=noise,
        diag=difference.diag,
    )


def _t_test(interval: Estimate) -> tuple[float | None, float | None]:
    # The interval is value -+ t(level) * error: read the error back rather than compute it twice.
    from scipy.special import stdtr, stdtrit  # heavy: the start-up path does not need t

    if interval.value is None or not interval.half_width:
        return None, None
    error = interval.half_width / float(stdtrit(interval.n - 1, 0.5 + interval.level / 2))
    statistic = interval.value / error
    return statistic, 2 * float(stdtr(interval.n - 1, -abs(statistic)))


def _pair(before: object, after: object) -> tuple[Floats, Floats]:
    old, new = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if old.shape != new.shape:
        raise ConfigError(
            f"before and after: {len(old)} and {len(new)} values. "
            "Pair them by case id first, with None where one side is missing."
        )
    return old, new


def _left_out(dropped: int) -> str:
    return f"{dropped} not scored on both sides" if dropped else ""


def _too_few(moved: int, n: int) -> str:
    return f"{moved} changed: too few changes to tell" if n and moved < FEW_MOVED else ""
