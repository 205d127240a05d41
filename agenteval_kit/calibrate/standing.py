"""Which labelled transcripts stand for a run, and how much of it each does.

May not look at what people said: only at how transcripts were drawn and what the judge gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.calibrate.weighing import Weighed
from agenteval_kit.records.labels import LabelRow

__all__ = ["DRAWN", "Standing", "standing"]

DRAWN = ("uniform", "by_judge")
"""Designs whose labels stand for the run; no weight can mend the others."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The transcripts that are put together, with the weight of each.

    Attributes
    ----------
    weights : mapping of (case, repeat) to float
        Those drawn from the run where any were, else all of them alike.
    known : bool
        Whether they stand for the run.
    notes : tuple of str
        What was left out, and what of the run none of them stands for.
    """

    weights: Mapping[Key, float]
    known: bool
    notes: tuple[str, ...] = ()


def standing(
    labels: Mapping[Key, Sequence[LabelRow]], scores: Mapping[Key, int | None]
) -> Standing:
    """Weigh labelled transcripts by 1 over the chance of the draw, each score getting its share.

    Two samples of one run have chances of two frames: only that each score of the judge gets the
    share that it has of the run makes one figure of both. Where a chance is not known, transcripts
    of one score weigh the same.

    Parameters
    ----------
    labels : mapping of (case, repeat) to sequence of LabelRow
        What says how a transcript was drawn.
    scores : mapping of (case, repeat) to int or None
        The judge's, over the whole run; empty where nobody judged.
    """
    drawn = {key: [row for row in rows if row.design in DRAWN] for key, rows in labels.items()}
    drawn = {key: rows for key, rows in drawn.items() if rows}
    if not drawn:
        return Standing(dict.fromkeys(labels, 1.0), known=False)
    chance = {
        key: next((float(row.inclusion) for row in rows if row.inclusion is not None), None)
        for key, rows in drawn.items()
    }
    blind = any(
        chance[key] is None and any(row.design == "by_judge" for row in rows)
        for key, rows in drawn.items()
    )
    sure = {key: one for key, one in chance.items() if one is not None}
    if len(sure) < len(chance):
        sure = dict.fromkeys(chance, 1.0)
    given = {key: scores.get(key) for key in drawn}
    # A stratum of their own, where a person labelled what the judge gave no score.
    without = min((one for one in scores.values() if one is not None), default=0) - 1
    suite = Counter(one for one in scores.values() if one is not None)
    if None in given.values():
        listed = sum(one is None for one in scores.values())
        suite[without] = listed + sum(key not in scores for key in given)
    found = Weighed.of(
        {key: without if one is None else one for key, one in given.items()},
        sure,
        suite if scores else None,
    )
    notes = (
        times(
            len(labels) - len(drawn),
            "transcript was",
            "transcripts were",
            "not drawn from the run and left out beside those that were",
        ),
        found.words("has a judge score without such a transcript"),
    )
    return Standing(found.mass, known=not blind, notes=tuple(one for one in notes if one))
