"""Is the judge trusted on a dimension: the ceiling gap, and the chance of the decision.

It may not use labels that were read to tune the rubric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats import measures
from agenteval_kit.stats.anchored import Floats, Points, as_levels, gamma_blocks, quantiles
from agenteval_kit.stats.decision import (
    State,
    Statistic,
    TrustDecision,
    TrustRule,
    trust_decision,
)
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean, gaffke_guarded
from agenteval_kit.stats.observed import Clusters, Scores, observe
from agenteval_kit.stats.sizes import FEW_MOVED

__all__ = ["TrustDecision", "TrustRule", "ceiling_gap", "chance_trusted", "kappa_gap",
           "trust_decision"]  # fmt: skip

_RUN = 20_000
_GAP_LEVELS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def ceiling_gap(
    judge: Scores,
    first_human: Scores,
    second_human: Scores,
    *,
    within_one: bool = False,
    weights: Sequence[float] | npt.NDArray[np.floating] | None = None,
    clusters: Clusters | None = None,
    level: float = 0.90,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """How much better the judge agrees with people than people with each other.

    Per transcript: half of [judge = first] + [judge = second], minus [first = second], and every
    transcript has its weight's say, however many its scenario has. Below 0 the judge is worse than
    a second person. Each end of the 90 % interval is a one-sided 95 % bound. Where fewer than ten
    transcripts (scenarios, where given) have a gap at all, the lower one reaches at least to
    Gaffke's: a judge that is far off now and then hides from few second readings.

    Parameters
    ----------
    judge, first_human, second_human
        Scores in one order of transcripts; None or NaN anywhere leaves the transcript out.
    within_one
        Count scores at most 1 apart as agreeing, instead of equal ones.
    weights, clusters, level, draws, seed
        As in `mean.anchored_mean`, by case.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined ("ceiling unknown") without doubly labelled transcripts.

    Raises
    ------
    ConfigError
        If lengths differ or a score is infinite.

    References
    ----------
    For three or more raters see Calderon, Reichart and Dror (2025), arXiv:2501.10970. At 11 points
    below the ceiling 50 transcripts show it 40 % of the time, 200 show it 91 %.
    """
    j, a, b = (np.asarray(x, dtype=float) for x in (judge, first_human, second_human))
    if not j.shape == a.shape == b.shape:
        raise ConfigError(f"ceiling_gap: {len(j)} judge, {len(a)} and {len(b)} human scores.")
    for name, side in (("judge", j), ("first_human", a), ("second_human", b)):
        if np.isinf(side).any():
            at = int(np.flatnonzero(np.isinf(side))[0])
            raise ConfigError(f"{name}: item {at} is {side[at]:g}, wanted a score or None.")
    reach = 1.0 if within_one else 0.0

    def agree(x: Floats, y: Floats) -> Floats:
        return np.asarray(np.abs(x - y) <= reach + 1e-9, dtype=float)

    gap = (agree(j, a) + agree(j, b)) / 2 - agree(a, b)
    gap[np.isnan(j) | np.isnan(a) | np.isnan(b)] = np.nan
    if np.isnan(gap).all():
        return Estimate.undefined("ceiling unknown: no doubly labelled transcripts", level=level)
    found = anchored_mean(
        gap, levels=_GAP_LEVELS, clusters=clusters, weights=weights, estimand="case", level=level,
        draws=draws, seed=seed,
    )  # fmt: skip
    if found.value is not None:
        kept = observe(gap, clusters=clusters, weights=weights)
        points = kept.points(as_levels(_GAP_LEVELS), by_case=True)
        if _moved(points) < FEW_MOVED:
            found = gaffke_guarded(found, points, worst=-1.0, draws=draws)
    return Estimate(
        found.value, found.low, found.high, found.n, found.level, found.method, found.seed,
        found.diag.replace("unscored", "not doubly labelled"), found.reason,
    )  # fmt: skip


def _moved(points: Points) -> float:
    # Of units with unlike masses as many as would tell as much (Kish).
    mass = points.mass[points.value != 0]
    count = points.count[points.value != 0]
    return float((count @ mass) ** 2 / (count @ mass**2)) if len(mass) else 0.0


def kappa_gap(
    judge: Scores,
    first_human: Scores,
    second_human: Scores,
    *,
    levels: Sequence[float],
    statistic: Statistic = "kappa_quadratic",
    level: float = 0.90,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The same gap in a chance-corrected statistic: secondary, shown beside `ceiling_gap`.

    Judge with people (mean of both) minus people with each other, over transcripts that all three
    scored; the draws are of the cells of the three-way table (Dirichlet, one pseudo-transcript).
    Not for scenarios with several transcripts.

    Returns
    -------
    Estimate
        Undefined without such transcripts, or where a pair of raters shows no variation.

    Raises
    ------
    ConfigError
        If lengths differ or a score is no level of the scale.

    References
    ----------
    As in `ceiling_gap`. Checked by arithmetic where the judge copies one person.
    """
    scale = as_levels(levels)
    k = len(scale)
    raters = [np.asarray(x, dtype=float) for x in (judge, first_human, second_human)]
    if len({len(x) for x in raters}) != 1:
        raise ConfigError(f"kappa_gap: {', '.join(str(len(x)) for x in raters)} scores.")
    kept = ~np.isnan(np.sum(raters, axis=0))
    n = int(kept.sum())
    if n < 2:
        reason = "ceiling unknown: fewer than two doubly labelled transcripts"
        return Estimate.undefined(reason, n=n, level=level)
    names = ("judge", "first_human", "second_human")
    j, a, b = (
        measures.level_slots(x[kept], levels=scale, what=name)
        for x, name in zip(raters, names, strict=True)
    )
    cells = np.bincount((j * k + a) * k + b, minlength=k**3).astype(float)
    measure = measures.named(statistic)

    def gap(cube: Floats) -> Floats:
        cube = cube.reshape(-1, k, k, k)
        with_people = (measure(cube.sum(axis=3)) + measure(cube.sum(axis=2))) / 2
        return np.asarray(with_people - measure(cube.sum(axis=1)))

    value, drawn = float(gap(cells)[0]), np.empty(draws)
    if math.isnan(value):
        return Estimate.undefined("no variation between two of the raters", n=n, level=level)
    rng = np.random.default_rng(seed)
    for rows, gammas in gamma_blocks(rng, cells + 1 / k**3, draws=draws):
        drawn[rows] = gap(gammas)
    low, high = quantiles(drawn, at=((1 - level) / 2, (1 + level) / 2))
    method = f"gap in {statistic}, Dirichlet on the cells"
    return Estimate(value, min(low, value), max(high, value), n, level, method, seed)


def chance_trusted(
    shares: Sequence[float],
    accuracy: float,
    labels: int,
    *,
    doubly: int | None = None,
    judge_accuracy: float | None = None,
    chances: Sequence[float] | None = None,
    run: int = 1_000,
    rule: TrustRule | None = None,
    level: float = 0.95,
    replicates: int = 400,
    draws: int = 1_000,
    seed: int = 0,
) -> dict[State, float]:
    """How often a judge as good as a person would be trusted, not trusted, provisional.

    Parameters
    ----------
    shares
        Share of the transcripts at each true level; from labels, see `raters.true_shares`.
    accuracy
        How often a person gives the true level; errors go to the neighbours. The judge has the
        same unless `judge_accuracy` is given.
    labels
        Labelled, held-out transcripts, drawn evenly unless `chances` is given.
    doubly
        Of those, transcripts that two people read, whichever; all of them by default.
    chances
        For labels drawn by the judge's verdict: how likely a transcript is to be labelled at each
        score of the judge; only how they compare matters. Each is then weighed back.
    run
        Transcripts that such labels are drawn from; above 20,000 it makes no difference.
    rule
        By default `TrustRule()`; its `min_labels` applies.
    level
        Of the statistic's interval; the gap's errs as often at each end.
    replicates, draws, seed
        Simulated calibrations, draws of each interval, seed.

    Returns
    -------
    dict
        Chance of each state; they add up to 1.

    Raises
    ------
    ConfigError
        If the accuracy is not between 0 and 1, or a chance is not above 0.
    """
    rule = rule or TrustRule()
    judge_accuracy = accuracy if judge_accuracy is None else judge_accuracy
    if not (0 < accuracy <= 1 and 0 < judge_accuracy <= 1):
        raise ConfigError(f"accuracy: above 0 and up to 1, got {accuracy}, {judge_accuracy}.")
    k = len(shares)
    odds = None if chances is None else np.asarray(chances, dtype=float)
    if odds is not None and not (len(odds) == k and (odds > 0).all()):
        raise ConfigError(f"chances: {k} numbers above 0, one a level, got {list(odds)}.")
    levels = as_levels(range(1, k + 1))
    twice = labels if doubly is None else doubly
    if not 0 <= twice <= labels:
        raise ConfigError(f"doubly: from 0 to the {labels} labels, got {doubly}.")
    rng = np.random.default_rng(seed)
    p = np.asarray(shares, dtype=float) / sum(shares)
    counts: dict[State, int] = {"trusted": 0, "not trusted": 0, "provisional": 0}
    for replicate in range(replicates):
        weights = None
        if odds is None:
            truth = rng.choice(k, size=labels, p=p)
            first, second = (_rated(rng, truth, accuracy, k) for _ in range(2))
            judge = _rated(rng, truth, judge_accuracy, k)
        else:
            truth = rng.choice(k, size=max(labels, min(run, _RUN)), p=p)
            judge, weights, picked = _drawn(
                rng, _rated(rng, truth, judge_accuracy, k), labels, odds
            )
            first, second = (_rated(rng, truth[picked], accuracy, k) for _ in range(2))
        if twice < labels:
            second[rng.permutation(labels)[twice:]] = np.nan
        state = _simulated_state(
            judge, first, second, weights, levels, rule, level, draws, replicate
        )
        counts[state] += 1
    return {state: many / replicates for state, many in counts.items()}


def _rated(
    rng: np.random.Generator, truth: np.ndarray[tuple[int], np.dtype[np.int64]], hit: float, k: int
) -> Floats:
    step = rng.choice((-1, 1), size=len(truth))
    step = np.where((truth + step < 0) | (truth + step >= k), -step, step)
    return np.asarray(truth + step * (rng.random(len(truth)) >= hit) + 1, dtype=float)


def _drawn(
    rng: np.random.Generator, judge: Floats, labels: int, odds: Floats
) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    # Who waits longest is left out: so transcripts come in by their odds, until there are enough.
    slot = judge.astype(np.intp) - 1
    picked = np.argsort(rng.exponential(size=len(judge)) / odds[slot])[:labels]
    share = np.bincount(slot, minlength=len(odds)) / len(judge)
    each = np.bincount(slot[picked], minlength=len(odds))
    weights = share[slot[picked]] / each[slot[picked]]
    return judge[picked], weights / weights.mean(), picked


def _simulated_state(
    judge: Floats, first: Floats, second: Floats, weights: Floats | None, levels: Floats,
    rule: TrustRule, level: float, draws: int, seed: int,
) -> State:  # fmt: skip
    k, n = len(levels), len(judge)
    alone = np.isnan(second)
    # Two raters on one transcript count half each, so one who read it alone counts for both.
    other = np.where(alone, first, second)
    both = [
        measures.cross_table(judge, human, levels=levels, mass=weights) for human in (first, other)
    ]
    table = (both[0] + both[1]) / 2
    common = int((table.sum(axis=0) + table.sum(axis=1)).argmax()) + 1
    outside = int(((judge != common) | (first != common) | (other != common)).sum())
    measure = measures.named(rule.statistic)
    value = float(measure(table))
    if math.isnan(value):
        return "provisional"
    rng = np.random.default_rng(seed)
    if weights is None:
        tables = rng.standard_gamma(table.ravel() + 1 / k**2, (draws, k * k))
    else:
        tables = _weighted(
            rng, [x.astype(int) - 1 for x in (judge, first, other)], weights, k, draws
        )
    drawn = measure(tables.reshape(-1, k, k))
    low, high = (float(q) for q in np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2)))
    statistic = Estimate(value, min(low, value), max(high, value), n)
    gap = ceiling_gap(
        judge, first, second, weights=weights, level=2 * level - 1, draws=draws, seed=seed
    )
    return trust_decision(
        statistic, gap, labels=n, outside_commonest=outside, doubly=int((~alone).sum()), rule=rule
    ).state


def _weighted(
    rng: np.random.Generator, said: Sequence[npt.NDArray[np.int64]], weights: Floats, k: int,
    draws: int,
) -> Floats:  # fmt: skip
    # As `agreement` draws them: a transcript with both its readings, and one pseudo-transcript.
    judge, first, second = said
    cells, at, count = np.unique(
        (judge * k + first) * k + second, return_index=True, return_counts=True
    )
    both = np.zeros((len(cells), k * k))
    for human in (first, second):
        # All transcripts at one score of the judge weigh the same.
        np.add.at(both, (np.arange(len(cells)), judge[at] * k + human[at]), weights[at] / 2)
    drawn = rng.standard_gamma(count, (draws, len(cells))) @ both
    return np.asarray(drawn + rng.standard_gamma(1 / k**2, (draws, k * k)))
