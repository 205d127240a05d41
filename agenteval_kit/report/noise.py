"""Where a trend's latest value would not differ from the baseline's, by their paired interval.

May not compare: the paired differences were made elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from agenteval_kit.report.release import Release
from agenteval_kit.stats.estimate import Estimate

__all__ = ["judged_noise", "trend_noise"]

Band = tuple[float, float]
"""The latest value lies in it just where the interval of the change reaches no change."""


def trend_noise(release: Release) -> dict[str, Band]:
    """The band of each layer; none where it was not paired with a baseline."""
    if not release.trends:
        return {}
    now = release.trends[-1].layers
    changes = {name: pair.difference for name, pair in release.pairs.items()}
    return _bands({name: one.value for name, one in now.items()}, changes)


def judged_noise(release: Release) -> dict[str, Band]:
    """The band of each judged dimension, on its own scale; none where it was not paired."""
    if not release.trends:
        return {}
    now = release.trends[-1].dimensions
    pairs = release.judgements.pairs
    changes = {name: pair.difference for name, pair in pairs.items() if not pair.refused}
    return _bands({name: one.estimate.value for name, one in now.items()}, changes)


def _bands(values: Mapping[str, float | None], changes: Mapping[str, Estimate]) -> dict[str, Band]:
    found = {}
    for name, value in values.items():
        change = changes.get(name)
        if value is None or change is None or change.low is None or change.high is None:
            continue
        found[name] = (value - change.high, value - change.low)
    return found
