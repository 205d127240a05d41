"""What people said of transcripts before they could go over to the judge.

May not decide which labels count: it tells what would have been found of those given first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agenteval_kit.calibrate.join import times
from agenteval_kit.calibrate.result import DimensionResult
from agenteval_kit.calibrate.seen import Label
from agenteval_kit.calibrate.split import given_after
from agenteval_kit.labels import LabelSet
from agenteval_kit.records.labels import LabelRow

__all__ = ["as_first_said", "said_first", "stand_by_first"]


def said_first(labels: LabelSet, lines: Sequence[LabelRow], *, since: str) -> dict[Label, LabelRow]:
    """What each rater had said of each transcript when the judge had spoken, or said first then.

    Parameters
    ----------
    labels : LabelSet
        With all that raters wrote, for what they took back.
    lines : sequence of LabelRow
        Every label of one run and dimension under one wording, in the order of the files. One
        whose time cannot be read is taken to be older than the judge.
    since : str
        When the judge was first asked, ISO 8601.
    """
    older = tuple(row for row in labels.rows if not given_after(row.at, since))
    stood = set(LabelSet(None, older).by_wording)
    found = {_label(row): row for row in lines if row in stood}
    for row in lines:
        if given_after(row.at, since):
            found.setdefault(_label(row), row)
    return found


def as_first_said(
    labels: LabelSet, lines: Sequence[LabelRow], first: Mapping[Label, LabelRow]
) -> LabelSet:
    """The same labels, with what was said first in place of these lines."""
    replaced = set(lines)
    others = (row for row in labels.by_wording if row not in replaced)
    return LabelSet(labels.folder, (*others, *first.values()))


def stand_by_first(now: DimensionResult, first: DimensionResult) -> DimensionResult:
    """What was found, open where the labels that were given first would settle it otherwise."""
    said, before = _held(now), _held(first)
    many = sum(said.get(key) != before.get(key) for key in said.keys() | before.keys())
    if not many:
        return now
    changed = times(
        many, "label was", "labels were", "changed or taken back after the judge had spoken"
    )
    state, reason, more = now.state, now.reason, now.more_labels
    if state not in ("provisional", first.state):
        state, more = "provisional", None
        reason = (
            f"{changed}, and as first given they find it {first.state}: have another person read "
            f"those transcripts, or label others; {reason}"
        )
    entry = now.entry and now.entry.model_copy(
        update={"state": state, "reason": reason, "more_labels": more,
                "notes": (*now.notes, changed)}
    )  # fmt: skip
    return replace(
        now, state=state, reason=reason, more_labels=more, notes=(*now.notes, changed), entry=entry
    )


def _label(row: LabelRow) -> Label:
    return (row.case_id, row.repeat, row.rater)


def _held(found: DimensionResult) -> dict[Label, int]:
    return {
        (pair.case_id, pair.repeat, pair.rater): pair.human
        for pair in found.pairs
        if pair.half == "held out"
    }
