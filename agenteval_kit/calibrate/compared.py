"""One labelled transcript beside its verdict, and all of a run: who differs, and by how much.

May not join them: `disagreements` does; and may not say who is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Key
from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records import VerdictRow
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.verdicts import Evidence
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Compared", "Disagreements", "Scale"]


@dataclass(frozen=True, slots=True)
class Scale:
    """One dimension as the judge read it, or as the rubric has it where no judge did.

    Attributes
    ----------
    judge, judge_digest : str
        Empty where nobody judged it.
    anchors : mapping of int to str
        A level that has no words of its own is not there.
    scores : mapping of (case, repeat) to int or None
        What the judge gave every transcript of the run.
    """

    name: str
    layer: str
    levels: tuple[int, ...]
    definition: str
    anchors: Mapping[int, str]
    judge: str = ""
    judge_digest: str = ""
    dimension_digest: str = ""
    scripted: bool = False
    scores: Mapping[Key, int | None] = field(default_factory=dict, repr=False, compare=False)

    def anchor(self, level: int) -> str:
        """What stands at a level, or that nothing does."""
        return self.anchors.get(level, "(no anchor of its own)")

    def steps(self, one: int, other: int) -> int:
        """How many levels apart."""
        return abs(self.levels.index(one) - self.levels.index(other))


@dataclass(frozen=True, slots=True)
class Compared:
    """One transcript on one dimension: what people said, and what the judge said.

    Attributes
    ----------
    labels : tuple of LabelRow
        Labels with a score, one a rater.
    remarks : tuple of LabelRow
        Notes and failure modes that raters wrote of this transcript, on this dimension or on all.
    verdict : VerdictRow or None
        None where it was not judged.
    """

    case_id: str
    repeat: int
    scale: Scale
    labels: tuple[LabelRow, ...]
    remarks: tuple[LabelRow, ...]
    verdict: VerdictRow | None

    @property
    def key(self) -> Key:
        """Case and repeat."""
        return (self.case_id, self.repeat)

    @property
    def humans(self) -> dict[str, int]:
        """The score of each rater."""
        return {row.rater: row.score for row in self.labels if row.score is not None}

    @property
    def judge(self) -> int | None:
        """The judge's score; None is unscored or not judged."""
        return None if self.verdict is None else self.verdict.score

    @property
    def difference(self) -> float | None:
        """Judge minus the mean of the people: above 0 the judge is milder."""
        return None if self.judge is None else self.judge - fmean(self.humans.values())

    @property
    def people_differ(self) -> bool:
        """Whether two people gave different levels."""
        return len(set(self.humans.values())) > 1

    @property
    def differs(self) -> bool:
        """Whether anybody, person or judge, gave another level than somebody else."""
        return self.people_differ or self.judge_apart > 0

    @property
    def judge_apart(self) -> float:
        """The share of the people whose level is not the judge's; 0 without a judge's score."""
        scores = list(self.humans.values())
        return 0.0 if self.judge is None else sum(one != self.judge for one in scores) / len(scores)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What raters wrote, each with its rater: beside a score, and as notes."""
        said = [(row.rater, row.note) for row in (*self.labels, *self.remarks) if row.note]
        return tuple(dict.fromkeys(said))

    @property
    def failures(self) -> tuple[tuple[str, str], ...]:
        """What went wrong in the words of the raters, each with its rater."""
        return tuple(dict.fromkeys((row.rater, row.failure) for row in self.remarks if row.failure))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the seats point at that gave the judge's score; of a split panel, all of them."""
        seats = () if self.verdict is None else self.verdict.seats
        found = [item for seat in seats if seat.score == self.judge or self.judge is None
                 for item in seat.evidence]  # fmt: skip
        return tuple(dict.fromkeys(found))

    @property
    def justification(self) -> str:
        """The sentence of the first seat that gave the judge's score."""
        for seat in () if self.verdict is None else self.verdict.seats:
            if seat.score == self.judge and seat.justification:
                return seat.justification
        return ""


@dataclass(frozen=True)
class Disagreements:
    """Everything that people labelled of a run beside what the judge said of it.

    Attributes
    ----------
    run : Run
        The run.
    data_note : str
        What the run says of its data ("RECORDED ...").
    scales : mapping of str to Scale
        The dimensions, with the judge that speaks for each.
    compared : tuple of Compared
        Every labelled transcript and dimension, also those where all agree: shares need them.
    overruled : tuple of LabelRow
        Reviews in which a person overruled a verdict of these judges. Who reviews has seen the
        score, so they are listed and counted nowhere.
    warnings : tuple of str
        Doubts in plain words.
    """

    run: Run
    data_note: str
    scales: Mapping[str, Scale]
    compared: tuple[Compared, ...]
    overruled: tuple[LabelRow, ...] = ()
    warnings: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """Those where somebody differs, the furthest from the people's mean first."""
        found = [one for one in self.compared if one.differs]
        return tuple(sorted(found, key=_furthest))

    def of(self, dimension: str) -> tuple[Compared, ...]:
        """What was labelled on one dimension.

        Raises
        ------
        ConfigError
            If nobody labelled it.
        """
        if dimension not in self.scales:
            raise ConfigError(
                f'nobody labelled "{dimension}" in run {self.run.id}; labelled are '
                f"{', '.join(self.scales)}.{did_you_mean(dimension, self.scales)}"
            )
        return tuple(one for one in self.compared if one.scale.name == dimension)

    @property
    def scripted(self) -> bool:
        """Whether a judge is a script: what it says was written beforehand."""
        return any(one.scripted for one in self.scales.values())

    def frame(self) -> pd.DataFrame:
        """One row per transcript and dimension where somebody differs, the furthest first.

        Columns: case_id (str), repeat (int), layer, dimension (str), judge (int, or <NA>: unscored
        or not judged), humans (str, "anna 2, ben 3"), human_mean (float), difference (float, judge
        minus mean of the people; missing without a judge's score), people_differ (bool), seats
        (str), flags, notes, failures, evidence, justification (str), judge_digest (str).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        rows = [
            {
                "case_id": one.case_id,
                "repeat": one.repeat,
                "layer": one.scale.layer,
                "dimension": one.scale.name,
                "judge": one.judge,
                "humans": ", ".join(f"{rater} {score}" for rater, score in one.humans.items()),
                "human_mean": fmean(one.humans.values()),
                "difference": one.difference,
                "people_differ": one.people_differ,
                "seats": _seats(one.verdict),
                "flags": "" if one.verdict is None else ", ".join(one.verdict.flags),
                "notes": "; ".join(f"{rater}: {note}" for rater, note in one.notes),
                "failures": "; ".join(f"{rater}: {what}" for rater, what in one.failures),
                "evidence": "; ".join(map(_pointed, one.evidence)),
                "justification": one.justification,
                "judge_digest": one.scale.judge_digest,
            }
            for one in self.rows
        ]
        names = ["case_id", "repeat", "layer", "dimension", "judge", "humans", "human_mean",
                 "difference", "people_differ", "seats", "flags", "notes", "failures", "evidence",
                 "justification", "judge_digest"]  # fmt: skip
        made = pd.DataFrame.from_records(rows, columns=names)
        return made.astype({"judge": "Int64", "repeat": "int64", "difference": "float64",
                            "human_mean": "float64", "people_differ": "bool"})  # fmt: skip

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(escape=True))


def _furthest(one: Compared) -> tuple[float, float, bool, Key]:
    # Without a judge's score, how far people are apart stands in for it.
    scores = list(one.humans.values())
    apart = max(scores) - min(scores)
    far = apart if one.difference is None else abs(one.difference)
    return (-far, -one.judge_apart, not one.people_differ, one.key)


def _seats(verdict: VerdictRow | None) -> str:
    if verdict is None:
        return ""
    return " ".join("?" if seat.score is None else str(seat.score) for seat in verdict.seats)


def _pointed(item: Evidence) -> str:
    where = "" if item.turn is None else f"turn {item.turn}"
    quoted = f'"{item.quote}"' if item.quote else ""
    return " ".join(part for part in (where, quoted) if part)
