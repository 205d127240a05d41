"""What people said of a run's verdicts: the level that each rater gave a transcript, said last.

May not weigh one person against another, nor hear what was said under another wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agenteval_kit.labels.reading import LabelSet
from agenteval_kit.records.labels import LabelRow

__all__ = ["Heard", "hear_people"]


@dataclass(frozen=True)
class Heard:
    """What people said of one dimension of a run.

    Attributes
    ----------
    said : mapping
        By case and repeat: by rater, the line that holds the level.
    older : int
        Lines that were given under another wording of the dimension; they are not heard.
    """

    said: Mapping[tuple[str, int], Mapping[str, LabelRow]] = field(default_factory=dict)
    older: int = 0


def hear_people(labels: LabelSet, run: str, *, dimension: str, wording: str) -> Heard:
    """The labels and reviews of a run on one dimension, under one wording of it.

    A rater who labelled and reviewed one transcript is heard once, with what was said last.
    "Cannot tell" says no level.

    Parameters
    ----------
    run : str
        The id of the run.
    wording : str
        The digest of the dimension that was judged.
    """
    said: dict[tuple[str, int], dict[str, LabelRow]] = {}
    older = 0
    for row in labels.current:
        if row.kind not in ("label", "review") or row.run != run or row.dimension != dimension:
            continue
        if row.dimension_digest not in ("", wording):
            older += 1
            continue
        raters = said.setdefault((row.case_id, row.repeat), {})
        raters.pop(row.rater, None)
        if row.level is not None:
            raters[row.rater] = row
    return Heard({key: raters for key, raters in said.items() if raters}, older)
