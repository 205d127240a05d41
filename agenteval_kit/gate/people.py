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
from agenteval_kit.text import counted

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
    off_scale : int
        Labels that are no level of the scale; they are not heard.
    """

    said: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    older: int = 0
    off_scale: int = 0

    def of(self, verdict: VerdictScore) -> Mapping[str, int]:
        """Each rater with the level that was given to the transcript of a verdict."""
        return self.said.get((verdict.case_id, verdict.repeat), {})

    @property
    def unheard_in_words(self) -> str:
        """How many labels are not heard, and why; empty where all are."""
        why = {"given under an older wording": self.older, "no level of the scale": self.off_scale}
        return "; ".join(
            f"{counted(count, 'label')} {'was' if count == 1 else 'were'} {what} and not heard"
            for what, count in why.items()
            if count
        )


def said_by_people(evidence: Evidence, dimension: DimensionScores) -> People:
    """The labels and reviews of this run on one dimension, under the wording that was judged.

    See `labels.hear_people`; "cannot tell" says no level and resolves nothing.
    """
    if evidence.labels is None:
        return People()
    # Late: the formats of labels, which a bar without labels has no use for.
    from agenteval_kit.labels import hear_people

    found = hear_people(
        evidence.of_people.rows,
        dimension=dimension.name,
        wordings=wordings_of(dimension.stamp, evidence.run.judge_stamps()),
        levels=dimension.stamp.levels,
    )
    levels = {
        key: {rater: level for rater, row in raters.items() if (level := row.level) is not None}
        for key, raters in found.said.items()
    }
    return People(levels, found.older, found.off_scale)


def by_whom(each: Iterable[Mapping[str, int]], *, word: str = "") -> str:
    """Who said how often something: "ana 2, ben 1"; with the word "to", "ana to 2, ben to 1"."""
    before = f"{word} " if word else ""
    counted = Counter(rater for raters in each for rater in raters)
    return ", ".join(f"{rater} {before}{count:,}" for rater, count in sorted(counted.items()))
