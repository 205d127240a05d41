"""The joint table of judge and people over a whole suite, from labels drawn by a known design.

It may not guess how labels were drawn, and says which judge levels had to borrow labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, gamma_blocks
from agenteval_kit.stats.measures import level_slots
from agenteval_kit.stats.observed import Clusters, Codes, Observed, Scores, cluster_codes

Design = Literal["uniform", "by_judge", "by_human", "external"]
DESIGNS: tuple[Design, ...] = ("uniform", "by_judge", "by_human", "external")


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled transcripts: the judge's score, the people's, and how they were chosen.

    Attributes
    ----------
    judge, human
        One entry a label; a transcript stands once for each of its raters.
    design
        "uniform"; "by_judge" (chosen by the judge's verdict, or by anything else known before
        people looked); "by_human" (chosen because a person had said fail); "external" (another
        set).
    items
        Transcript of each label; two raters on one transcript then count half each.
    inclusion
        Probability with which each label's transcript was drawn; "by_judge" needs it.
    clusters
        Scenario of each label.
    """

    judge: Scores
    human: Scores
    design: Design
    items: Clusters | None = None
    inclusion: Sequence[float] | npt.NDArray[np.floating] | None = None
    clusters: Clusters | None = None


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Labels as counts, each transcript counting one.

    Attributes
    ----------
    counts
        Transcripts by judge level (rows) and human level (columns), shrunk to their effective
        number where inclusion probabilities differ within a judge level.
    per_level
        Distinct transcripts at each judge level.
    by_cluster
        The same cells a scenario, None without scenarios.
    items, dropped
        Distinct transcripts used; labels left out because a score is missing.
    """

    counts: Floats
    per_level: npt.NDArray[np.intp]
    by_cluster: Floats | None
    items: int
    dropped: int


def label_table(labels: Labels, *, levels: Floats) -> LabelTable:
    """Count labels by judge and human level.

    Raises
    ------
    ConfigError
        If the design is unknown, "by_judge" lacks inclusion probabilities, lengths differ, or a
        score is no level of the scale.
    """
    _check(labels)
    judge, human = np.asarray(labels.judge, dtype=float), np.asarray(labels.human, dtype=float)
    kept = ~(np.isnan(judge) | np.isnan(human))
    k = len(levels)
    row = level_slots(judge[kept], levels=levels, what="judge")
    column = level_slots(human[kept], levels=levels, what="human")
    items = np.arange(len(row)) if labels.items is None else _codes(labels.items, kept)
    count = len(np.unique(items))
    if len(row) == 0:
        return LabelTable(np.zeros((k, k)), np.zeros(k, dtype=np.intp), None, 0, int((~kept).sum()))
    mass = 1.0 / np.bincount(items)[items]
    if labels.inclusion is not None:
        mass = mass / np.asarray(labels.inclusion, dtype=float)[kept]
    cell = row * k + column
    counts = np.bincount(cell, weights=mass, minlength=k * k).reshape(k, k).astype(float)
    first = np.unique(items, return_index=True)[1]
    per_level = np.bincount(row[first], minlength=k)
    scale = _effective(row[first], (mass * np.bincount(items)[items])[first], per_level)
    counts *= scale[:, None]
    by_cluster: Floats | None = None
    if labels.clusters is not None:
        group = _codes(labels.clusters, kept)
        flat = group * k * k + cell
        total = (int(group.max()) + 1) * k * k
        cells = np.bincount(flat, weights=mass * scale[row], minlength=total)
        by_cluster = cells.reshape(-1, k, k).astype(float)
    return LabelTable(counts, per_level, by_cluster, count, int((~kept).sum()))


def pool_levels(per_level: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Group of each judge level: a level with fewer than two labels joins a neighbour.

    It joins the neighbour with fewer labels, so that what is not known does not come to look
    well known. A single group with fewer than two labels is left for the caller to refuse.
    """
    groups = [[level] for level in range(len(per_level))]
    while len(groups) > 1:
        size = [int(per_level[group].sum()) for group in groups]
        short = next((i for i, labels in enumerate(size) if labels < 2), None)
        if short is None:
            break
        beside = [i for i in (short - 1, short + 1) if 0 <= i < len(groups)]
        into = min(beside, key=lambda i: size[i])
        first, second = sorted((short, into))
        groups[first : second + 1] = [groups[first] + groups[second]]
    group_of = np.empty(len(per_level), dtype=np.intp)
    for number, group in enumerate(groups):
        group_of[group] = number
    return group_of


def share_draws(suite: Observed, *, levels: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Share of the suite at each judge level: the point (K), and its draws (draws, K).

    Raises
    ------
    ConfigError
        If a score is no level of the scale.
    """
    k = len(levels)
    slot = level_slots(suite.scores, levels=levels, what="suite")
    rng = np.random.default_rng(seed)
    if suite.codes is None:
        count = np.bincount(slot, minlength=k).astype(float)
        gammas = rng.standard_gamma(count + 1 / k, size=(draws, k))
        return count / count.sum(), gammas / gammas.sum(axis=1, keepdims=True)
    total = suite.groups * k
    each = np.bincount(suite.codes * k + slot, minlength=total).reshape(-1, k).astype(float)
    each /= each.sum(axis=1, keepdims=True)
    drawn = _cluster_cells(rng, each, prior=np.full(k, 1 / k), draws=draws)
    return each.mean(axis=0), drawn / drawn.sum(axis=1, keepdims=True)


def human_draws(
    counts: Floats, by_cluster: Floats | None, *, prior: Floats, draws: int, seed: int
) -> Floats:
    """Draws of P(human | judge group): (draws, groups, columns), with a prior for each column."""
    groups, columns = counts.shape
    rng = np.random.default_rng(seed)
    if by_cluster is None:
        drawn = rng.standard_gamma(counts + prior, size=(draws, groups, columns))
    else:
        # The pseudo-observation of a group weighs as much as its average scenario there.
        inside = (by_cluster.sum(axis=2) > 0).sum(axis=0)
        average = counts.sum(axis=1) / np.maximum(inside, 1)
        average = np.where(average > 0, average, 1.0)
        flat = by_cluster.reshape(len(by_cluster), -1)
        drawn = np.empty((draws, groups, columns))
        for rows, gammas in gamma_blocks(rng, np.ones(len(flat)), draws=draws):
            pseudo = rng.standard_gamma(prior, size=(len(gammas), groups, columns))
            drawn[rows] = (gammas @ flat).reshape(-1, groups, columns)
            drawn[rows] += pseudo * average[None, :, None]
    # A prior of 1/16 a cell may underflow to 0 in every cell of a group without labels.
    drawn += 1e-300
    return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))


def sum_groups(cells: Floats, *, groups: npt.NDArray[np.intp], axis: int) -> Floats:
    """Cells with the judge levels of one group added up along an axis."""
    number = int(groups.max()) + 1
    parts = [
        cells.take(np.flatnonzero(groups == g), axis=axis).sum(axis=axis) for g in range(number)
    ]
    return np.stack(parts, axis=axis)


def _cluster_cells(rng: np.random.Generator, cells: Floats, *, prior: Floats, draws: int) -> Floats:
    alike, count = np.unique(cells, axis=0, return_counts=True)
    drawn = np.empty((draws, cells.shape[1]))
    for rows, gammas in gamma_blocks(rng, count.astype(float), draws=draws):
        pseudo = rng.standard_gamma(prior, size=(len(gammas), len(prior)))
        drawn[rows] = gammas @ alike + pseudo
    return drawn


def _effective(row: npt.NDArray[np.intp], mass: Floats, per_level: npt.NDArray[np.intp]) -> Floats:
    # Kish: unequal weights within a level tell less than as many equal ones.
    k = len(per_level)
    total = np.bincount(row, weights=mass, minlength=k)
    squares = np.bincount(row, weights=mass**2, minlength=k)
    return np.asarray(np.divide(total, squares, out=np.ones(k), where=squares > 0))


def _codes(names: Clusters, kept: npt.NDArray[np.bool_]) -> Codes:
    return cluster_codes([one for one, keep in zip(names, kept, strict=True) if keep])


def _check(labels: Labels) -> None:
    if labels.design not in DESIGNS:
        raise ConfigError(
            f"design: got {labels.design!r}, wanted one of {', '.join(DESIGNS)}. "
            "Say how the labelled transcripts were chosen."
        )
    n = len(labels.judge)
    for name in ("human", "items", "inclusion", "clusters"):
        other = getattr(labels, name)
        if other is not None and len(other) != n:
            raise ConfigError(f"labels.{name}: {len(other)} for {n} labels. Join them by id first.")
    if labels.design == "by_judge" and labels.inclusion is None:
        raise ConfigError(
            "labels drawn by the judge's verdict need their inclusion probabilities. "
            "Pass Labels(inclusion=...); sampling writes them beside each label."
        )
    if labels.inclusion is not None:
        chance = np.asarray(labels.inclusion, dtype=float)
        if not ((chance > 0) & (chance <= 1)).all():
            raise ConfigError("labels.inclusion: probabilities above 0 and up to 1.")
