"""What was observed: scores with the unscored left out and counted, scenarios, weights.

It may not estimate anything.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, Points, merge, merge_on_levels

Scores = Sequence[float | None] | npt.NDArray[np.floating] | npt.NDArray[np.integer]
Clusters = Sequence[Hashable] | npt.NDArray[np.generic]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Observed:
    """Scores that exist, the scenario code of each, its weight, and what was left out."""

    scores: Floats
    codes: Codes | None
    weights: Floats | None
    unscored: int
    weightless: int

    @property
    def diag(self) -> str:
        """What was left out, in words."""
        parts = []
        if self.unscored:
            parts.append(f"{self.unscored:,} unscored")
        if self.weightless:
            parts.append(f"{self.weightless} with weight 0")
        return "; ".join(parts)

    @property
    def empty(self) -> str:
        """Why nothing is left, where nothing is left."""
        if self.unscored and not self.weightless:
            return "all unscored"
        if self.weightless:
            return "all weights are 0"
        return "no scores"

    @property
    def groups(self) -> int:
        """Number of scenarios, or of scores where there are none."""
        return len(self.scores) if self.codes is None else int(self.codes.max(initial=-1)) + 1

    def cluster_means(self) -> Floats:
        """Mean score of each scenario, in order of first appearance."""
        mean, _ = self._per_cluster()
        return mean

    def points(self, scale: Floats | None, *, by_case: bool) -> Points:
        """The independent units: scores, or scenarios with their mean and their say.

        `by_case` gives a scenario the say of all its cases, else of one (of their average weight).
        """
        if self.codes is None:
            if self.weights is not None:
                return merge(self.scores, masses=self.weights)
            if scale is None:
                return merge(self.scores)
            return merge_on_levels(self.scores, levels=scale)
        mean, mass = self._per_cluster()
        if not by_case:
            mass = mass / np.bincount(self.codes)
        if np.all(mass == mass[0]):
            return merge(mean)
        return merge(mean, masses=mass)

    def _per_cluster(self) -> tuple[Floats, Floats]:
        assert self.codes is not None  # callers ask only where scenarios were given
        weights = np.ones(len(self.scores)) if self.weights is None else self.weights
        mass: Floats = np.bincount(self.codes, weights=weights).astype(float)
        # Summed about one score, so that equal scores keep their value to the last digit.
        lowest = self.scores[0] if len(self.scores) else 0.0
        mean = lowest + np.bincount(self.codes, weights=weights * (self.scores - lowest)) / mass
        return mean, mass


def observe(
    scores: Scores,
    *,
    clusters: Clusters | None = None,
    weights: Sequence[float] | npt.NDArray[np.floating] | None = None,
) -> Observed:
    """Leave out unscored (None, NaN) and weightless scores, and number the scenarios.

    Raises
    ------
    ConfigError
        If lengths differ, a score is infinite, or a weight is negative or not finite.
    """
    value = np.asarray(scores, dtype=float)
    if value.ndim != 1:
        raise ConfigError(
            f"scores: needs one list of numbers, got {value.ndim} dimensions. "
            "Pass repeats as further scores, with their scenario in `clusters`."
        )
    if np.isinf(value).any():
        at = int(np.flatnonzero(np.isinf(value))[0])
        raise ConfigError(f"scores: item {at} is {value[at]:g}. Pass None where there is no score.")
    for name, other in (("clusters", clusters), ("weights", weights)):
        if other is not None and len(other) != len(value):
            raise ConfigError(
                f"{name}: {len(other)} for {len(value)} scores. Pass one for each score."
            )
    scored = ~np.isnan(value)
    kept = scored
    weight = None
    if weights is not None:
        weight = np.asarray(weights, dtype=float)
        if not np.isfinite(weight).all() or (weight < 0).any():
            raise ConfigError(
                "weights: needs finite numbers of 0 or more. "
                "A sampling weight is 1 over the inclusion probability."
            )
        kept = scored & (weight > 0)
        weight = weight[kept]
    if clusters is None:
        codes = None
    elif kept.all():
        codes = cluster_codes(clusters)
    else:
        codes = cluster_codes([one for one, keep in zip(clusters, kept, strict=True) if keep])
    return Observed(
        value if kept.all() else value[kept],
        codes,
        weight,
        int(len(value) - scored.sum()),
        int(scored.sum() - kept.sum()),
    )


def cluster_codes(clusters: Clusters | Iterable[Hashable]) -> Codes:
    """Number clusters from 0 in order of first appearance; "1" and 1 stay apart."""
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        _, first, inverse = np.unique(clusters, return_index=True, return_inverse=True)
        order = np.empty(len(first), dtype=np.intp)
        order[np.argsort(first)] = np.arange(len(first))
        return order[inverse]
    seen: dict[Hashable, int] = {}
    return np.fromiter((seen.setdefault(one, len(seen)) for one in clusters), dtype=np.intp)
