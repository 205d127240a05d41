"""Which scenarios of a run no held-out label can stand for, because they were spent before.

May not look at what people said: only at what was drawn, read for tuning and looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from agenteval_kit.calibrate.join import Key
from agenteval_kit.records.calibrations import Look
from agenteval_kit.records.labels import LABELLED_BEFORE, LabelRow, Sample

__all__ = ["of_what", "set_apart", "used_up"]

_MATERIAL = 0.05
_LEAST = 0.2


def set_apart(
    held: Collection[str],
    *,
    tuned_on: Collection[str],
    looks: Iterable[Look],
    dimension_digest: str,
    drawn: Iterable[Sample | None],
    lines: Sequence[LabelRow],
) -> frozenset[str]:
    """The scenarios that could not be held out: what was held out does not stand for them.

    They were labelled for tuning, looked at under another wording or prompt, or left out of every
    draw that held-out labels come from. The other half of labels that were parted by lot is not
    among them: what was held out stands for both halves.

    Parameters
    ----------
    held : collection of str
        Scenarios that are held out.
    tuned_on : collection of str
        Those labelled for tuning, in any run.
    looks : iterable of Look
        Earlier looks at this dimension, the oldest first.
    dimension_digest : str
        Of the dimension as this judge was asked.
    drawn : iterable of Sample or None
        The samples that held-out labels come from; None for one that is not there, which may have
        left out nothing.
    lines : sequence of LabelRow
        All that was said of the run, for samples that do not say which cases they left out.
    """
    first: dict[str, str] = {}
    for look in looks:
        for case in look.cases:
            first.setdefault(case, look.dimension_digest)
    skipped = [_left_out(one, lines) if one is not None else frozenset[str]() for one in drawn]
    # What one draw left out and another one did not had its chance.
    never = frozenset.intersection(*skipped) if skipped else frozenset[str]()
    spent = {case for case, digest in first.items() if digest != dimension_digest}
    return (never | spent | frozenset(tuned_on)) - frozenset(held)


def _left_out(sample: Sample, lines: Iterable[LabelRow]) -> frozenset[str]:
    if sample.apart is not None:
        return frozenset(sample.apart)
    if LABELLED_BEFORE not in sample.left_out:
        return frozenset()
    items = {one.case_id for one in sample.items}
    # ISO 8601 in UTC sorts as text.
    return frozenset(row.case_id for row in lines if row.at <= sample.at) - items


def of_what(scores: Mapping[Key, int | None], apart: Collection[str]) -> str:
    """Which part of the run agreement is of, in words; empty where it is of all of it."""
    judged = [case for case, _ in (key for key, score in scores.items() if score is not None)]
    left = sum(case not in apart for case in judged)
    if left == len(judged):
        return ""
    return f"of the {left:,} of {len(judged):,} judged transcripts that were not read for tuning"


def used_up(scores: Mapping[Key, int | None], apart: Collection[str]) -> str:
    """That scores of the judge were all but used up for tuning, in words; or empty.

    Agreement on what is left is then agreement on another kind of transcript than the run's.
    """
    run = Counter(score for score in scores.values() if score is not None)
    left = Counter(
        score for (case, _), score in scores.items() if score is not None and case not in apart
    )
    gone = sorted(level for level, count in run.items() if left[level] < _LEAST * count)
    share = sum(run[level] for level in gone) / max(sum(run.values()), 1)
    if share <= _MATERIAL:
        return ""
    kept = sum(left[level] for level in gone)
    return (
        f"{share:.0%} of the run has judge score {' or '.join(map(str, gone))}, and all but "
        f"{kept:,} of these transcripts were read for tuning: held-out labels do not speak for them"
    )
