"""Did the judge change: a frozen set of transcripts, scored by both versions of it.

May not compare judges that scored different transcripts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.records import VerdictRow

if TYPE_CHECKING:
    from agenteval_kit.stats.drift import Drift

__all__ = ["AnchorDrift", "anchor_drift"]


@dataclass(frozen=True, slots=True)
class AnchorDrift:
    """Two versions of a judge on the anchor set of one dimension."""

    dimension: str
    found: Drift


def anchor_drift(
    old: Iterable[VerdictRow], new: Iterable[VerdictRow], *, dimension: str, seed: int = 0
) -> AnchorDrift:
    """Whether a judge scores a frozen set of transcripts as it did before."""
    raise NotImplementedError
