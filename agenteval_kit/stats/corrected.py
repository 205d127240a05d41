"""What people would have scored: the suite's mean and pass rate, corrected for judge error.

It may not correct without knowing how the labels were drawn: the wrong design covers 0 to 34 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agenteval_kit.stats import measures
from agenteval_kit.stats.agreement import table_estimate
from agenteval_kit.stats.anchored import Floats, as_levels, quantiles
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html, estimates_in
from agenteval_kit.stats.joint import (
    Design,
    Labels,
    LabelTable,
    human_draws,
    label_table,
    pool_levels,
    share_draws,
    sum_groups,
)
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.observed import Clusters, Observed, Scores, observe
from agenteval_kit.stats.proportion import normal_quantile, wilson
from agenteval_kit.stats.rogan_gladen import rogan_gladen
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Corrected", "Labels", "corrected"]

FEW_BY_JUDGE = 60
_MATERIAL = 0.05
_BY_CHANCE = 0.001
_METHOD = "post-stratified on the judge's score, Dirichlet posterior"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The suite as people would have scored it, beside the judge's own figures.

    Attributes
    ----------
    mean, raw_mean
        Corrected mean, and the judge's mean over the same suite.
    pass_rate, raw_pass_rate
        The same for the share at or above `pass_at`; undefined without a threshold.
    exact, within_one, kappa_quadratic, ac2_quadratic
        Agreement of judge and people over the whole suite, from the joint table.
    labels, dropped
        Labelled transcripts used; labels left out because a score is missing.
    suite
        Scored transcripts of the suite.
    pooled
        Judge levels that borrowed the labels of a neighbour, in words; empty if none.
    provisional
        Fewer than 60 labels drawn by the judge's verdict: in the simulations behind the rule such
        intervals covered 0.88 to 0.93, with the misses mostly low.
    design, diag
        How the labels were drawn; doubts in plain words.
    """

    mean: Estimate
    raw_mean: Estimate
    pass_rate: Estimate
    raw_pass_rate: Estimate
    exact: Estimate
    within_one: Estimate
    kappa_quadratic: Estimate
    ac2_quadratic: Estimate
    labels: int
    dropped: int
    suite: int
    pooled: str
    provisional: bool
    design: Design
    diag: str

    def frame(self) -> pd.DataFrame:
        """One row an estimate."""
        return estimates_frame(estimates_in(self))

    def _repr_html_(self) -> str:
        return estimates_html(estimates_in(self))


def corrected(
    labels: Labels,
    suite: Scores,
    *,
    levels: Sequence[float],
    pass_at: float | None = None,
    suite_clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Corrected:
    """The mean and pass rate that people would have given the whole suite.

    For "uniform" and "by_judge" labels the joint table T[j, h] = W_j P(h | j) is estimated, with
    W_j the share of the suite at judge score j: the same point as inverse-probability weighting.
    The posterior is Dirichlet, with one pseudo-label for each judge score, half of it spread evenly
    over the scale and half as people scored the suite on the whole.
    "by_human" and "external" labels fix the classes, so that only the pass rate can be corrected,
    by Rogan and Gladen.

    Parameters
    ----------
    labels
        Labelled transcripts with their design.
    suite
        The judge's score of every transcript of the suite, the labelled ones included; None or NaN
        is unscored, left out and counted.
    levels
        Levels of the scale, the same for judge and people.
    pass_at
        Lowest score that passes.
    suite_clusters
        Scenario of each transcript of the suite.
    level, draws, seed
        Nominal level, number of draws, seed.

    Returns
    -------
    Corrected
        Undefined estimates say why ("fewer than two labels", "judge not informative", a judge
        score with more than 5 % of the suite that had no chance of being labelled).

    Raises
    ------
    ConfigError
        If "by_judge" labels come without inclusion probabilities, a score is no level of the
        scale, or lengths differ.

    References
    ----------
    Cochran (1977), Sampling techniques, chapter 12; Tenenbein (1970),
    doi:10.1080/01621459.1970.10481170; Rogan and Gladen (1978),
    doi:10.1093/oxfordjournals.aje.a112510. Checked by the identity with the Hajek estimator, and
    by simulation.
    """
    normal_quantile(level)
    scale = as_levels(levels)
    seen = observe(suite, clusters=suite_clusters)
    known = label_table(labels, levels=scale)
    cut = len(scale) if pass_at is None else int(np.searchsorted(scale, pass_at))
    passed = None if pass_at is None else (seen.scores >= pass_at).astype(float)
    raw_mean = anchored_mean(
        suite, levels=levels, clusters=suite_clusters, level=level, draws=draws, seed=seed
    )
    raw_rate = Estimate.undefined("no pass threshold given", level=level)
    if passed is not None and seen.codes is None:
        raw_rate = wilson(int(passed.sum()), len(passed), level=level)
    elif passed is not None:
        raw_rate = anchored_mean(
            passed, levels=(0, 1), clusters=seen.codes, level=level, draws=draws, seed=seed
        )
    shared = _Shared(level, draws, seed)
    few = labels.design == "by_judge" and known.items < FEW_BY_JUDGE
    pooled = ""
    if labels.design in ("by_human", "external"):
        found = _classes_fixed(known, seen, passed, cut, labels.design, shared)
    elif len(seen.scores) == 0 or known.items < 2:
        reason = "no scored transcripts" if len(seen.scores) == 0 else "fewer than two labels"
        found = _all_undefined(reason, known.items, shared)
    elif seen.codes is not None and seen.groups == 1 and len(seen.scores) > 1:
        found = _all_undefined("one scenario only", known.items, shared)
    else:
        point, drawn = share_draws(seen, levels=scale, draws=draws, seed=seed)
        hole = _never_drawn(known, point, labels.design, scale)
        if hole:
            found = _all_undefined(hole, known.items, shared)
        else:
            groups = pool_levels(known.per_level)
            pooled = _pooled_words(groups, known.per_level, point, scale)
            found = _post_stratified(known, point, drawn, groups, scale, cut, shared)
    diag = "; ".join(
        part
        for part in (
            "provisional: fewer than 60 labels drawn by the judge's verdict; such intervals cover "
            "0.88 to 0.93 and miss mostly low"
            if few
            else "",
            pooled,
            f"{counted(known.dropped, 'label')} left out: a score is missing"
            if known.dropped
            else "",
            seen.diag,
        )
        if part
    )
    return Corrected(
        mean=found["mean"].noted(diag),
        raw_mean=raw_mean,
        pass_rate=found["pass_rate"].noted(diag if pass_at is not None else ""),
        raw_pass_rate=raw_rate,
        exact=found["exact"],
        within_one=found["within_one"],
        kappa_quadratic=found["kappa_quadratic"],
        ac2_quadratic=found["ac2_quadratic"],
        labels=known.items,
        dropped=known.dropped,
        suite=len(seen.scores),
        pooled=pooled,
        provisional=few,
        design=labels.design,
        diag=diag,
    )


@dataclass(frozen=True, slots=True)
class _Shared:
    level: float
    draws: int
    seed: int


_MEASURES = ("exact", "within_one", "kappa_quadratic", "ac2_quadratic")


def _post_stratified(
    known: LabelTable,
    point: Floats,
    drawn: Floats,
    groups: npt.NDArray[np.intp],
    scale: Floats,
    cut: int,
    shared: _Shared,
) -> dict[str, Estimate]:
    found = {"mean": _stratified_mean(known, point, drawn, groups, scale, None, shared)}
    found["pass_rate"] = Estimate.undefined("no pass threshold given", level=shared.level)
    if cut < len(scale):
        ends = np.array([0.0, 1.0])
        found["pass_rate"] = _stratified_mean(known, point, drawn, groups, ends, cut, shared)
    k = len(scale)
    human = human_draws(
        known.counts,
        known.by_cluster,
        prior=np.full(k, 1 / k**2),
        draws=shared.draws,
        seed=shared.seed + 3,
    )
    rows = known.counts.sum(axis=1)
    seen = rows > 0
    table = np.where(seen, point / np.where(seen, rows, 1.0), 0.0)[:, None] * known.counts
    hole = float(point[~seen].sum())
    note = f"{hole:.0%} of the suite has a judge score without labels" if hole > 0 else ""
    tables = drawn[:, :, None] * human
    for name in _MEASURES:
        found[name] = table_estimate(
            table,
            tables,
            measures.named(name),
            n=known.items,
            level=shared.level,
            seed=shared.seed,
            method="joint table of judge and people",
        ).noted(note)
    return found


def _stratified_mean(
    known: LabelTable,
    point: Floats,
    drawn: Floats,
    groups: npt.NDArray[np.intp],
    values: Floats,
    cut: int | None,
    shared: _Shared,
) -> Estimate:
    # With a cut the people's scores fold to fail and pass.
    cells = _fold(sum_groups(known.counts, groups=groups, axis=0), cut)
    by_cluster = known.by_cluster
    if by_cluster is not None:
        by_cluster = _fold(sum_groups(by_cluster, groups=groups, axis=1), cut)
    said = cells / cells.sum(axis=1, keepdims=True)
    overall = np.bincount(groups, weights=point) @ said
    # One pseudo-label a group: half of it evenly over the scale, half as people scored the suite.
    # All of it evenly pulls each group to the middle and covers 0.82 to 0.89 on skewed scales.
    prior = (1 / len(values) + overall / overall.sum()) / 2
    human = human_draws(cells, by_cluster, prior=prior, draws=shared.draws, seed=shared.seed + 1)
    value = float(point @ (said @ values)[groups])
    thetas = (drawn * (human @ values)[:, groups]).sum(axis=1)
    tail = (1 - shared.level) / 2
    low, high = quantiles(thetas, at=(tail, 1 - tail))
    return Estimate(
        value, min(low, value), max(high, value), known.items, shared.level, _METHOD, shared.seed
    )


def _fold(cells: Floats, cut: int | None) -> Floats:
    if cut is None:
        return cells
    return np.stack([cells[..., :cut].sum(axis=-1), cells[..., cut:].sum(axis=-1)], axis=-1)


def _classes_fixed(
    known: LabelTable, seen: Observed, passed: Floats | None, cut: int, design: Design,
    shared: _Shared,
) -> dict[str, Estimate]:  # fmt: skip
    reason = f"labels are {design}: they fix what people said, so only a pass rate can be corrected"
    found = _all_undefined(reason, known.items, shared)
    if passed is None:
        return found
    cells = _four(known.counts, cut)
    suite = None
    if seen.codes is not None:
        suite = np.bincount(seen.codes, weights=passed) / np.bincount(seen.codes)
    found["pass_rate"] = rogan_gladen(
        float(passed.sum()),
        len(passed),
        true_passes=float(cells[0]),
        false_fails=float(cells[1]),
        true_fails=float(cells[2]),
        false_passes=float(cells[3]),
        label_scenarios=None if known.by_cluster is None else _four(known.by_cluster, cut),
        suite_scenarios=suite,
        level=shared.level,
        draws=shared.draws,
        seed=shared.seed,
    )
    return found


def _four(cells: Floats, cut: int) -> Floats:
    # People passed: judged pass, fail; people failed: judged fail, pass.
    low, high = slice(cut), slice(cut, None)
    places = ((high, high), (low, high), (low, low), (high, low))
    return np.stack([cells[..., j, h].sum(axis=(-2, -1)) for j, h in places], axis=-1)


def _all_undefined(reason: str, n: int, shared: _Shared) -> dict[str, Estimate]:
    names = ("mean", "pass_rate", *_MEASURES)
    return {name: Estimate.undefined(reason, n=n, level=shared.level) for name in names}


def _never_drawn(known: LabelTable, point: Floats, design: Design, scale: Floats) -> str:
    """Why labels do not speak for the suite: a share of it that they cannot have been drawn from.

    An even draw misses a level by chance now and then, and a neighbour's labels may stand in;
    labels drawn by a verdict, or an even draw that all but surely would have met it, left it out.
    """
    without = (known.per_level == 0) & (point > 0)
    share = float(point[without].sum())
    if share <= _MATERIAL or (design == "uniform" and (1 - share) ** known.items >= _BY_CHANCE):
        return ""
    levels = " and ".join(f"{level:g}" for level in scale[without])
    return f"{share:.0%} of the suite has judge score {levels}, and no label was drawn from there"


def _pooled_words(
    groups: npt.NDArray[np.intp], per_level: npt.NDArray[np.intp], point: Floats, scale: Floats
) -> str:
    lent = []
    for at in np.flatnonzero((per_level < 2) & (point > 0)):
        partners = [f"{scale[i]:g}" for i in np.flatnonzero(groups == groups[at]) if i != at]
        if partners:
            lent.append(f"judge score {scale[at]:g} pooled with {' and '.join(partners)}")
    return "; ".join(lent)
