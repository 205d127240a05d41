"""What people said of the verdicts of a run: which flags they resolved, and whom `never` hears.

May not mix a label into a mean: what people read was not picked at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.records.labels import LabelRow

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import DimensionScores, VerdictScore

__all__ = ["People", "by_whom", "said_by_people"]

Key = tuple[str, int]


@dataclass(frozen=True)
class People:
    """What people said of one dimension of a run.

    Attributes
    ----------
    said : mapping
        By case and repeat: the level that each rater gave.
    older : int
        Labels that were given under another wording of the dimension; they are not heard.
    """

    said: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    older: int = 0

    def of(self, verdict: VerdictScore) -> Mapping[str, int]:
        """Each rater with the level that was given to the transcript of a verdict."""
        return self.said.get((verdict.case_id, verdict.repeat), {})

    @property
    def older_in_words(self) -> str:
        """How many labels are not heard, and why; empty where all are."""
        if not self.older:
            return ""
        given = "label was" if self.older == 1 else "labels were"
        return f"{self.older} {given} given under an older wording and not heard"


def said_by_people(evidence: Evidence, dimension: DimensionScores) -> People:
    """The labels and reviews of this run on one dimension, under the wording that was judged.

    A rater who labelled and reviewed one transcript is heard once, with what was said last.
    "Cannot tell" says no level and resolves nothing.
    """
    said: dict[Key, dict[str, int]] = {}
    older = 0
    for row in evidence.labels.current if evidence.labels is not None else ():
        if row.kind not in ("label", "review") or row.run != evidence.run.id:
            continue
        if row.dimension != dimension.name:
            continue
        if row.dimension_digest not in ("", dimension.stamp.dimension_digest):
            older += 1
            continue
        level = _level(row)
        raters = said.setdefault((row.case_id, row.repeat), {})
        raters.pop(row.rater, None)
        if level is not None:
            raters[row.rater] = level
    return People({key: raters for key, raters in said.items() if raters}, older)


def _level(row: LabelRow) -> int | None:
    if row.score is None and row.review is not None and row.review.answer == "confirm":
        return row.review.verdict
    return row.score


def by_whom(each: Iterable[Mapping[str, int]]) -> str:
    """Who said how often something: "ana 2, ben 1"."""
    counted = Counter(rater for raters in each for rater in raters)
    return ", ".join(f"{rater} {count}" for rater, count in sorted(counted.items()))
