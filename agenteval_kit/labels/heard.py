"""What people said of a run: the lines that are about its transcripts as they read, said last.

May not weigh one person against another, nor hear what was said under another wording.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from agenteval_kit.labels.content import transcript_digest
from agenteval_kit.labels.reading import LabelSet
from agenteval_kit.records import Transcript
from agenteval_kit.records.labels import LabelRow

__all__ = ["Heard", "SaidOfRun", "hear_people", "said_of_run"]


@dataclass(frozen=True)
class SaidOfRun:
    """The lines that count of one run.

    Attributes
    ----------
    rows : tuple of LabelRow
        Of every kind, in the order of the label set.
    other_text : int
        Labels of a transcript that reads otherwise than the one that was labelled, or is not
        there; they are left out.
    """

    rows: tuple[LabelRow, ...] = ()
    other_text: int = 0


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


def said_of_run(
    labels: LabelSet, names: Collection[str], *, transcripts: Iterable[Transcript]
) -> SaidOfRun:
    """What the labels say of one run.

    Of what a rater said of one transcript under two names of the run, the newest counts.

    Parameters
    ----------
    names : collection of str
        Its id, and the name of its folder: labels may go by either.
    transcripts : iterable of Transcript
        Those of the run; read only where a label knows the text that was read.
    """
    # Two run folders may have one name; a label that knows its text is held against it.
    own = [row for row in labels.current if row.run in names]
    asked = {(row.case_id, row.repeat) for row in own if row.transcript_digest}
    there = (
        {
            (one.case_id, one.repeat): transcript_digest(one)
            for one in transcripts
            if (one.case_id, one.repeat) in asked
        }
        if asked
        else {}
    )
    kept = [
        row
        for row in own
        if not row.transcript_digest
        or there.get((row.case_id, row.repeat)) == row.transcript_digest
    ]
    last: dict[tuple[object, ...], int] = {}
    for at, row in enumerate(kept):
        key = _once(row, at)
        # ISO 8601 in UTC sorts as text.
        if key not in last or kept[last[key]].at <= row.at:
            last[key] = at
    gone = sum(row.kind == "label" for row in own) - sum(row.kind == "label" for row in kept)
    return SaidOfRun(tuple(kept[at] for at in sorted(last.values())), gone)


def hear_people(rows: Iterable[LabelRow], *, dimension: str, wordings: Collection[str]) -> Heard:
    """The labels and reviews of a run on one dimension, under one wording of it.

    A rater who labelled and reviewed one transcript is heard once, with what was said last.
    "Cannot tell" says no level. A label that does not say its wording is heard.

    Parameters
    ----------
    rows : iterable of LabelRow
        Of the run, see `said_of_run`.
    wordings : collection of str
        The digests of the dimension under which people read the words that the judge reads, see
        `runs.wordings_of`.
    """
    said: dict[tuple[str, int], dict[str, LabelRow]] = {}
    older = 0
    for row in rows:
        if row.kind not in ("label", "review") or row.dimension != dimension:
            continue
        if row.dimension_digest and row.dimension_digest not in wordings:
            older += 1
            continue
        raters = said.setdefault((row.case_id, row.repeat), {})
        raters.pop(row.rater, None)
        if row.level is not None:
            raters[row.rater] = row
    return Heard({key: raters for key, raters in said.items() if raters}, older)


def _once(row: LabelRow, at: int) -> tuple[object, ...]:
    """What only one line can say; notes and failures add up."""
    if row.kind not in ("label", "review"):
        return (at,)
    judge = row.review.judge_digest if row.review is not None else ""
    return (row.kind, row.case_id, row.repeat, row.dimension, row.rater, judge)
