"""What people said of a run: the lines that are about its transcripts as they read, said last.

May not weigh one person against another, nor hear what was said under another wording.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from agenteval_kit.labels.content import transcript_digest
from agenteval_kit.labels.reading import LabelSet
from agenteval_kit.records import Transcript, VerdictRow
from agenteval_kit.records.labels import LabelRow

__all__ = ["Heard", "SaidOfRun", "hear_people", "names_of_run", "one_each", "said_of_run"]


@dataclass(frozen=True)
class SaidOfRun:
    """The lines that count of one run.

    Attributes
    ----------
    rows : tuple of LabelRow
        Of every kind, in the order of the label set; of a label the last under each wording, see
        `one_each`.
    twice : int
        Labels that were given again under another name of the run; the newer one counts.
    other_text : int
        Labels of a transcript that reads otherwise than the one that was labelled, or is not
        there; they are left out.
    unsaid : int
        Reviews that confirm what no judge of the run says; they are left out.
    other_runs : int
        Labels of other runs.
    names : frozenset of str
        What the run was called in the labels.
    """

    rows: tuple[LabelRow, ...] = ()
    twice: int = 0
    other_text: int = 0
    unsaid: int = 0
    other_runs: int = 0
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Heard:
    """What people said of one dimension of a run.

    Attributes
    ----------
    said : mapping
        By case and repeat: by rater, the line that holds the level.
    older : int
        Labels that were given under another wording of the dimension alone; they are not heard.
    off_scale : int
        Labels and reviews that are no level of the scale; they are not heard.
    """

    said: Mapping[tuple[str, int], Mapping[str, LabelRow]] = field(default_factory=dict)
    older: int = 0
    off_scale: int = 0


def said_of_run(
    labels: LabelSet,
    names: Collection[str],
    *,
    transcripts: Iterable[Transcript],
    verdicts: Iterable[VerdictRow] | None = None,
) -> SaidOfRun:
    """What the labels say of one run.

    Of what a rater said of one transcript under two names of the run, the newest counts.

    Parameters
    ----------
    names : collection of str
        Its id, and the name of its folder: labels may go by either, or by an earlier name of the
        folder, see `names_of_run`.
    transcripts : iterable of Transcript
        Those of the run; read only where a label knows the text that was read.
    verdicts : iterable of VerdictRow, optional
        Those of the run, against which reviews that confirm one are held; read only for these.
    """
    every = labels.by_wording
    there = _texts(every, transcripts)
    known = _names(every, names, there)
    # Two run folders may have one name; a label that knows its text is held against it.
    own = [row for row in every if row.run in known]
    kept = [row for row in own if row.transcript_digest in ("", there.get(_place(row)))]
    unsaid = [] if verdicts is None else _unsaid(kept, verdicts)
    if unsaid:
        gone = set(map(id, unsaid))
        kept = [row for row in kept if id(row) not in gone]
    last: dict[tuple[object, ...], int] = {}
    for at, row in enumerate(kept):
        key = _once(row, at)
        # ISO 8601 in UTC sorts as text.
        if key not in last or kept[last[key]].at <= row.at:
            last[key] = at
    rows = tuple(kept[at] for at in sorted(last.values()))
    return SaidOfRun(
        rows,
        twice=_labels(kept) - _labels(rows),
        other_text=_labels(own) - _labels(kept),
        unsaid=len(unsaid),
        other_runs=_labels(labels.current) - _labels(r for r in labels.current if r.run in known),
        names=known,
    )


def names_of_run(
    rows: Iterable[LabelRow], names: Collection[str], *, transcripts: Iterable[Transcript]
) -> frozenset[str]:
    """The names of a run, and those under which its transcripts were labelled word for word.

    A folder that was copied or renamed has another name than its labels. A name is an earlier one
    of this run if every text that was read under it stands here as it was read.
    """
    every = list(rows)
    strange = [row for row in every if row.run not in names]
    return _names(every, names, _texts(strange, transcripts))


def one_each(rows: Iterable[LabelRow], *, wordings: Collection[str]) -> list[LabelRow]:
    """One label a rater, transcript and dimension: under these wordings if there is one.

    Else, and among several of them, the one that was given last.
    """
    found: dict[tuple[object, ...], LabelRow] = {}

    def rank(row: LabelRow) -> tuple[bool, str]:
        return (not row.dimension_digest or row.dimension_digest in wordings, row.at)

    for row in rows:
        key = (*_place(row), row.dimension, row.rater)
        if key not in found or rank(found[key]) <= rank(row):
            found[key] = row
    return list(found.values())


def hear_people(
    rows: Iterable[LabelRow],
    *,
    dimension: str,
    wordings: Collection[str],
    levels: Collection[int],
) -> Heard:
    """The labels and reviews of a run on one dimension, under one wording of it.

    A rater who labelled and reviewed one transcript is heard once, with what was said last.
    "Cannot tell" says no level, and nobody is heard with what is none. A label that does not say
    its wording is heard.

    Parameters
    ----------
    rows : iterable of LabelRow
        Of the run, see `said_of_run`.
    wordings : collection of str
        The digests of the dimension under which people read the words that the judge reads, see
        `runs.wordings_of`.
    levels : collection of int
        The scale that was judged on.
    """
    said: dict[tuple[str, int], dict[str, LabelRow]] = {}
    older: set[tuple[tuple[str, int], str]] = set()
    off_scale: set[tuple[tuple[str, int], str]] = set()
    for row in rows:
        if row.kind not in ("label", "review") or row.dimension != dimension:
            continue
        if row.dimension_digest and row.dimension_digest not in wordings:
            older.add((_place(row), row.rater))
            continue
        raters = said.setdefault(_place(row), {})
        raters.pop(row.rater, None)
        off_scale.discard((_place(row), row.rater))
        if row.level in levels:
            raters[row.rater] = row
        elif row.level is not None:
            off_scale.add((_place(row), row.rater))
    return Heard(
        {key: raters for key, raters in said.items() if raters},
        sum(rater not in said.get(key, {}) for key, rater in older),
        len(off_scale),
    )


def _place(row: LabelRow) -> tuple[str, int]:
    return (row.case_id, row.repeat)


def _unsaid(rows: Iterable[LabelRow], verdicts: Iterable[VerdictRow]) -> list[LabelRow]:
    """The reviews that confirm a verdict which the judge they name does not give."""
    confirmed = [
        (row, (row.review.judge_digest, row.dimension, *_place(row)))
        for row in rows
        if row.review is not None and row.review.answer == "confirm"
    ]
    if not confirmed:
        return []
    asked = {about for _, about in confirmed}
    given = {
        about: one.score
        for one in verdicts
        if (about := (one.judge_digest, one.dimension, one.case_id, one.repeat)) in asked
    }
    return [
        row
        for row, about in confirmed
        if row.review is not None
        and (about not in given or not given[about] == row.review.verdict == row.level)
    ]


def _labels(rows: Iterable[LabelRow]) -> int:
    return sum(row.kind == "label" for row in rows)


def _texts(
    rows: Iterable[LabelRow], transcripts: Iterable[Transcript]
) -> dict[tuple[str, int], str]:
    """The digests of the transcripts that these lines know the text of."""
    asked = {_place(row) for row in rows if row.transcript_digest}
    if not asked:
        return {}
    return {
        (one.case_id, one.repeat): transcript_digest(one)
        for one in transcripts
        if (one.case_id, one.repeat) in asked
    }


def _names(
    rows: Iterable[LabelRow], names: Collection[str], there: Mapping[tuple[str, int], str]
) -> frozenset[str]:
    alike: dict[str, bool] = {}
    for row in rows:
        if row.run not in names and row.transcript_digest:
            here = there.get(_place(row)) == row.transcript_digest
            alike[row.run] = alike.get(row.run, True) and here
    return frozenset(names) | {name for name, all_alike in alike.items() if all_alike}


def _once(row: LabelRow, at: int) -> tuple[object, ...]:
    """What only one line can say; notes and failures add up."""
    if row.kind not in ("label", "review"):
        return (at,)
    judge = row.review.judge_digest if row.review is not None else ""
    about = (row.case_id, row.repeat, row.dimension, row.dimension_digest)
    return (row.kind, *about, row.rater, judge)
