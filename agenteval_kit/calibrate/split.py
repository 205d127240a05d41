"""Which scenarios are held out to measure the judge, and which are for reading.

May not let chance decide twice: the same labels are always split alike.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agenteval_kit.records.calibrations import Look
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.text import counted

__all__ = ["Split", "costs", "count_looks", "given_after", "split_scenarios"]


@dataclass(frozen=True, slots=True)
class Split:
    """The scenarios of the labels, each on one side.

    Attributes
    ----------
    why : mapping of str to str
        For each scenario the reason of its side, in words.
    """

    held_out: frozenset[str]
    tuning: frozenset[str]
    why: Mapping[str, str]

    def lines(self) -> tuple[str, ...]:
        """How many scenarios lie on each side, and why."""
        told: Counter[tuple[str, str]] = Counter()
        for case, why in self.why.items():
            told["held out" if case in self.held_out else "tuning", why] += 1
        return tuple(
            f"{counted(count, 'scenario')} {side}: {why}"
            for (side, why), count in sorted(told.items())
        )


def split_scenarios(
    rows: Iterable[LabelRow],
    *,
    tuned_on: Collection[str],
    read_before: Collection[str],
    looks: Sequence[Look],
    dimension_digest: str,
    judge_since: str,
    lines: Iterable[LabelRow] = (),
) -> Split:
    """Put each labelled scenario on one side; the first rule that applies decides.

    1. It was looked at as held out before: held out under the dimension as it was at that first
       look, its prompt included (the bound pays for each further look), tuning under every other.
    2. A label of it was given for tuning: tuning. Not before rule 1, or whoever has seen the
       verdicts could take out the scenarios that they do not like.
    3. It was in the tuning half of an earlier calibration: tuning.
    4. All its labels were given, and first given, after the judge last changed: held out. One that
       was imported without its time is not known to be.
    5. Else every other scenario, in hash order within its stratum, is held out.

    Parameters
    ----------
    rows : iterable of LabelRow
        Labels of one dimension, under the wording that the judge reads.
    tuned_on, read_before : collection of str
        Scenarios labelled for tuning in any run; those of earlier tuning halves.
    looks : sequence of Look
        Earlier looks at this dimension, the oldest first.
    dimension_digest : str
        Of the dimension with its prompt and panel, as this judge was asked.
    judge_since : str
        When this judge was first asked, ISO 8601.
    lines : iterable of LabelRow
        Every line that raters ever wrote of these scenarios, taken back or changed since or not.
    """
    first: dict[str, str] = {}
    for look in looks:
        for case in look.cases:
            first.setdefault(case, look.dimension_digest)
    by_case: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_case.setdefault(row.case_id, []).append(row)
    ever = {case: list(own) for case, own in by_case.items()}
    for line in lines:
        if line.case_id in ever:
            ever[line.case_id].append(line)
    # What was brought in without its time, and again with it, is one label of a known time.
    timed = {_said(row) for own in ever.values() for row in own if not row.undated}
    ever = {
        case: [row for row in own if not row.undated or _said(row) not in timed]
        for case, own in ever.items()
    }
    held: set[str] = set()
    why: dict[str, str] = {}
    open_: list[str] = []
    for case in by_case:
        if case in first and first[case] == dimension_digest:
            held.add(case)
            why[case] = "looked at before under this wording"
        elif case in first:
            why[case] = "looked at under another wording or prompt"
        elif case in tuned_on:
            why[case] = "labelled for tuning"
        elif case in read_before:
            why[case] = "in the tuning half of an earlier calibration"
        elif all(not row.undated and given_after(row.at, judge_since) for row in ever[case]):
            held.add(case)
            why[case] = "labelled after the judge last changed"
        else:
            open_.append(case)
    # Every other one of a list that is sorted by stratum first: half of each stratum, and half of
    # all, to within one.
    ordered = sorted(open_, key=lambda case: (_stratum(by_case[case]), _hash(case)))
    for index, case in enumerate(ordered):
        why[case] = "half of the labels given before the judge last changed"
        if index % 2 == 0:
            held.add(case)
    return Split(frozenset(held), frozenset(by_case) - held, why)


def count_looks(
    looks: Iterable[Look],
    *,
    cases: Collection[str],
    judge_digest: str,
    dimension_digest: str,
    labels: str,
    min_labels: int,
) -> int:
    """Looks that have to be paid for, the one that is being taken included.

    They are those at these scenarios, and those of this judge at any: whoever draws anew until a
    judge passes takes the best of the draws. The same judge on the same labels of the same
    scenarios is one look, however often it is taken. Looks that could not have found trust are free
    to their own judge, and one to every other: whoever watched several judges on few labels takes
    the best of them.

    Parameters
    ----------
    looks : iterable of Look
        Earlier ones at this dimension.
    cases, judge_digest, dimension_digest, labels
        Of the look that is being taken, see `Look`.
    min_labels : int
        What the rule that decides now asks for.
    """
    now, asked = (judge_digest, frozenset(cases), labels), set(cases)
    here = [
        look
        for look in looks
        if look.dimension_digest == dimension_digest
        and (asked & set(look.cases) or look.judge_digest == judge_digest)
    ]
    paid = {
        (look.judge_digest, frozenset(look.cases), look.labels or labels)
        for look in here
        if costs(look, min_labels)
    } | {now}
    watched = {look.judge_digest for look in here} - {judge for judge, _, _ in paid}
    return len(paid) + len(watched)


def costs(look: Look, min_labels: int) -> bool:
    """Whether a look could have found trust under a rule that asks for so many labels.

    Not whether it could under the rule of its own day: who looks under one that asks for more, or
    before there is a second reader, sees the same figures.
    """
    return look.transcripts is None or look.transcripts >= min_labels


def given_after(at: str, since: str) -> bool:
    """Whether a label of that time is surely not older than the judge."""
    try:
        given, judged = datetime.fromisoformat(at), datetime.fromisoformat(since)
        return given >= judged
    except (ValueError, TypeError):
        # A time that cannot be read, or lacks its zone, proves nothing.
        return False


def _said(row: LabelRow) -> tuple[object, ...]:
    return (row.rater, row.key, row.score)


def _stratum(rows: Sequence[LabelRow]) -> tuple[str, str]:
    return min((row.sample, row.stratum) for row in rows)


def _hash(case_id: str) -> str:
    return hashlib.sha256(case_id.encode()).hexdigest()
