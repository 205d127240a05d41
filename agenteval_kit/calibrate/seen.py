"""Labels that were looked at beside the judge count as they were then.

May not forget a label because somebody changed it once the verdict was known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.files import digest
from agenteval_kit.records.calibrations import DimensionCalibration, LabelPair, Look
from agenteval_kit.records.labels import LabelRow

__all__ = ["AsSeen", "Label", "pairs_digest", "stand_as_seen"]

Label = tuple[str, int, str]
"""Case, repeat and rater."""


@dataclass(frozen=True, slots=True)
class AsSeen:
    """The pairs that count, and what was held to of earlier looks, in words.

    `withdrawn` says that labels are gone from the files since they were looked at; empty where
    none is, or as many people as then have said something of their transcripts.
    """

    pairs: tuple[LabelPair, ...]
    notes: tuple[str, ...]
    withdrawn: str = ""


def stand_as_seen(
    pairs: Sequence[LabelPair],
    *,
    entries: Iterable[DimensionCalibration],
    looks: Iterable[Look],
    lines: Iterable[LabelRow],
    scores: Mapping[Key, int | None],
) -> AsSeen:
    """Put back what people had said when their labels were first held against the judge.

    A label that was changed, taken back or given under another wording since then counts as it
    was. One whose every line is gone from the files was withdrawn, and is left out; by whom, and
    whether for what it said, nobody can tell. New labels of a scenario that was looked at count,
    and make this a further look.

    Parameters
    ----------
    pairs : sequence of LabelPair
        Of the labels that count now.
    entries : iterable of DimensionCalibration
        Earlier ones of this run and this dimension as it is asked, the oldest first.
    looks : iterable of Look
        Earlier ones at this dimension as it is asked, those that have to be paid for.
    lines : iterable of LabelRow
        Every line that raters wrote of this run and dimension.
    scores : mapping of (case, repeat) to int or None
        The judge's now.
    """
    seen: dict[Label, LabelPair] = {}
    for entry in entries:
        for pair in entry.pairs:
            if pair.half == "held out":
                seen.setdefault(_label(pair), pair)
    written = {(line.case_id, line.repeat, line.rater) for line in lines}
    now = {_label(pair): pair for pair in pairs}
    made, changed, unknown = dict(now), 0, 0
    gone: set[Label] = set()
    for key, then in seen.items():
        if key[:2] not in scores:
            continue
        if key not in written:
            made.pop(key, None)
            gone.add(key)
            continue
        current = now.get(key, then)
        differs = (current.human, current.half) != (then.human, then.half)
        # A file of before it was kept does not say what the person read who said otherwise.
        read = then.dimension_digest or ("" if differs else current.dimension_digest)
        update = {"human": then.human, "half": "held out", "judge": scores[key[:2]],
                  "dimension_digest": read}  # fmt: skip
        made[key] = current.model_copy(update=update)
        changed += key not in now or differs
        unknown += bool(current.dimension_digest) and not read
    before = {case for look in looks for case in look.cases}
    late = _late(made, seen, before)
    notes = (
        times(
            changed,
            "label was",
            "labels were",
            "changed or taken back after a look beside the judge: what was said then counts",
        ),
        times(
            unknown,
            "of them was",
            "of them were",
            "looked at before a calibration kept under which wording a label was given",
        ),
        times(len(gone), "label", "labels", "that had been looked at withdrawn and left out"),
        times(
            late,
            "label was",
            "labels were",
            "first given after a look at the same scenario: that makes this a further look",
        ),
    )
    ordered = tuple(made[key] for key in sorted(made))
    return AsSeen(ordered, tuple(note for note in notes if note), _withdrawn(made, seen, gone))


def pairs_digest(pairs: Iterable[LabelPair]) -> str:
    """Digest of what people said of the held-out transcripts."""
    held = (pair for pair in pairs if pair.half == "held out")
    return digest(sorted([*map(str, _label(pair)), str(pair.human)] for pair in held))


def _withdrawn(
    made: Mapping[Label, LabelPair], seen: Collection[Label], gone: Collection[Label]
) -> str:
    # Who takes a label back writes a line that says so; here a line is not there any more.
    then = Counter(key[:2] for key in seen)
    now = Counter(key[:2] for key, pair in made.items() if pair.half == "held out")
    missing = sum(max(0, then[place] - now[place]) for place in {key[:2] for key in gone})
    return times(
        missing,
        "label is",
        "labels are",
        "no longer in the files though looked at beside the judge, and nobody can tell whether for "
        "what was said: put the lines back, all in one folder, or have other people read those "
        "transcripts",
    )


def _late(made: Mapping[Label, LabelPair], seen: Collection[Label], before: Collection[str]) -> int:
    return sum(
        pair.half == "held out" and key[0] in before and key not in seen
        for key, pair in made.items()
    )


def _label(pair: LabelPair) -> Label:
    return (pair.case_id, pair.repeat, pair.rater)
