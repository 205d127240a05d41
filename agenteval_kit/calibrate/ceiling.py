"""How far people agree with each other: the most that can be asked of a judge.

May not look at a judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agenteval_kit.records.labels import LabelRow

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["Ceiling", "CeilingRule", "human_ceiling"]

RubricState = Literal["", "rubric ambiguous", "ceiling low, not settled"]


@dataclass(frozen=True, slots=True)
class CeilingRule:
    """Where a rubric is called ambiguous: an upper bound at `exact` or less, or below `kappa`."""

    exact: float = 0.70
    kappa: float = 0.4


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People with each other on one dimension.

    Attributes
    ----------
    agreement : Agreement
        Two raters: one against the other. More: every pair both ways, each transcript counting
        one, which makes kappa Fleiss' kappa.
    alpha : Estimate
        Krippendorff's, ordinal, over all raters.
    raters, doubly : tuple of str, int
        Who labelled; transcripts that two people or more gave a level.
    by_pair : dict
        Exact agreement of each two raters.
    state, reason : str
        "rubric ambiguous", "ceiling low, not settled", or empty; and why.
    notes : tuple of str
        Doubts in plain words.
    """

    agreement: Agreement
    alpha: Estimate
    raters: tuple[str, ...]
    doubly: int
    by_pair: Mapping[tuple[str, str], Estimate]
    state: RubricState
    reason: str
    notes: tuple[str, ...] = ()


def human_ceiling(
    rows: Sequence[LabelRow],
    levels: Sequence[int],
    *,
    rule: CeilingRule | None = None,
    seed: int = 0,
) -> Ceiling:
    """Agreement of people with each other; said before any number of a judge."""
    raise NotImplementedError
