"""What people said of the verdicts of a run: which flags they resolved, and whom `never` hears.

May not mix a label into a mean: what people read was not picked at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.runs import wordings_of

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

    See `labels.hear_people`; "cannot tell" says no level and resolves nothing.
    """
    if evidence.labels is None:
        return People()
    # Late: the formats of labels, which a bar without labels has no use for.
    from agenteval_kit.labels import hear_people

    found = hear_people(
        evidence.said_by_people,
        dimension=dimension.name,
        wordings=wordings_of(dimension.stamp, evidence.run.judge_stamps()),
    )
    levels = {
        key: {rater: level for rater, row in raters.items() if (level := row.level) is not None}
        for key, raters in found.said.items()
    }
    return People(levels, found.older)


def by_whom(each: Iterable[Mapping[str, int]]) -> str:
    """Who said how often something: "ana 2, ben 1"."""
    counted = Counter(rater for raters in each for rater in raters)
    return ", ".join(f"{rater} {count}" for rater, count in sorted(counted.items()))
