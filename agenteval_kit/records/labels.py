"""What people say of transcripts: samples of what to read, and a line for each thing that is said.

May not decide which line counts: `agenteval_kit.labels` does.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

__all__ = [
    "LABELLED_BEFORE",
    "LABEL_KINDS",
    "Design",
    "LabelKind",
    "LabelRow",
    "Purpose",
    "Review",
    "Sample",
    "SampledItem",
    "Stratum",
]

# Built when first used: checking a suite imports this package and needs none of them.
FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)

Design = Literal["uniform", "by_judge", "by_human", "external"]
"""How transcripts were chosen: at random; by a judge's verdict or anything else that was known
before people looked; because a person had said fail; or elsewhere."""

Purpose = Literal["tuning", "calibration"]
"""Read to mend the rubric, or kept apart to measure the judge."""

LabelKind = Literal["label", "note", "failure", "read", "skip", "undo", "review"]

LABELLED_BEFORE = "asked to be left out: labelled before"
"""Why a sample left transcripts out that `skip` had named."""

LABEL_KINDS: dict[str, str] = {
    "label": "a level of a dimension, or that it cannot be told",
    "note": "words on a dimension or on a transcript",
    "failure": "what went wrong, in the words of the reader",
    "read": "the transcript was read to its end; what was to be said of it has been said",
    "skip": "the transcript was passed over for now",
    "undo": "the rater's line before this one, not undone yet, does not count",
    "review": "a person confirms or overrules one verdict",
}
"""What a line of a label file can be."""


def _composed(name: str) -> str:
    if name != name.strip():
        raise ValueError("has blanks at its ends, which would make another person of it")
    # One person, however the keyboard makes an "ë".
    return unicodedata.normalize("NFC", name)


def _time(text: str) -> str:
    try:
        known = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        known = False
    if not known:
        raise ValueError("is no time with its zone, like 2026-03-31T14:05:00Z")
    return text


Chance = Annotated[StrictFloat | StrictInt, Field(gt=0, le=1)]
Count = Annotated[StrictInt, Field(ge=0)]


class Stratum(BaseModel):
    """A part of a run that transcripts are drawn from.

    `total` transcripts lie in it, `drawn` of them are in the sample.
    """

    model_config = FROZEN

    name: StrictStr
    total: Count
    drawn: Count


class SampledItem(BaseModel):
    """One transcript of a sample, with the probability that it was drawn."""

    model_config = FROZEN

    case_id: StrictStr
    repeat: Count = 0
    stratum: StrictStr = ""
    inclusion: Chance = 1.0
    transcript_digest: StrictStr = ""


class Sample(BaseModel):
    """Which transcripts of a run are to be labelled, and how they were chosen.

    Attributes
    ----------
    name : str
        The file's name without its ending; every label carries it.
    run, run_path
        Which run; the path is as it was when the sample was drawn.
    design, purpose
        See `Design` and `Purpose`.
    by : str
        What the strata are made of, in words ("verdicts on groundedness"); empty for "uniform".
    judge_digest : str
        Whose verdicts the strata are made of; empty where none.
    strata : tuple of Stratum
        With the totals, which the estimators need.
    items : tuple of SampledItem
        In the order in which they were drawn; each rater reads them in an order of their own.
    seed : int
        Of the draw.
    left_out : dict of str to int
        Transcripts of the run that could not be drawn, by why; strata do not count them.
    apart : tuple of str, or None
        Cases that were left out as asked, so that the labels do not stand for them; None where the
        draw did not keep them.
    """

    model_config = FROZEN

    format: Literal[1] = 1
    name: StrictStr
    run: StrictStr
    run_path: StrictStr = ""
    suite: StrictStr = ""
    suite_digest: StrictStr = ""
    agent_digest: StrictStr = ""
    design: Design
    purpose: Purpose = "calibration"
    by: StrictStr = ""
    judge_digest: StrictStr = ""
    strata: tuple[Stratum, ...] = ()
    items: Annotated[tuple[SampledItem, ...], Field(min_length=1)]
    seed: StrictInt = 0
    left_out: dict[StrictStr, Count] = {}
    apart: tuple[StrictStr, ...] | None = None
    at: StrictStr

    @model_validator(mode="after")
    def _each_once(self) -> Sample:
        keys = [(one.case_id, one.repeat) for one in self.items]
        if len(set(keys)) != len(keys):
            raise ValueError("holds a transcript twice")
        return self


class Review(BaseModel):
    """A person's answer to one verdict, which itself is never edited.

    `verdict` is the score that the judge gave (None: unscored).
    """

    model_config = FROZEN

    judge_digest: StrictStr
    verdict: StrictInt | None = None
    answer: Literal["confirm", "overrule"]


class LabelRow(BaseModel):
    """One line of a rater's file.

    Attributes
    ----------
    kind : str
        See `LABEL_KINDS`.
    run, case_id, repeat, transcript_digest
        Which transcript, and its content when it was read ("" where that is not known).
    dimension : str
        Empty where the line is about the whole transcript.
    score : int or None
        A level of the dimension; None on a "label" or "review" means "cannot tell".
    levels, rubric, rubric_digest, dimension_digest
        The scale as the rater read it.
    rater, at
        Who, and when (ISO 8601, UTC).
    note, failure : str
        In the rater's words.
    turn : int or None
        The turn that the rater marked.
    sample, design, purpose, stratum, inclusion
        How the transcript was chosen (see `Sample`).
    review : Review or None
        On a "review": the verdict that it is about.
    origin : str
        Where an imported label comes from; empty where it was given here.
    undated : bool
        Where it comes from has no time: `at` is when it was imported, not when it was given.
    """

    model_config = FROZEN

    kind: LabelKind = "label"
    run: StrictStr
    case_id: StrictStr
    repeat: Count = 0
    transcript_digest: StrictStr = ""
    dimension: StrictStr = ""
    score: StrictInt | None = None
    levels: tuple[StrictInt, ...] = ()
    rubric: StrictStr = ""
    rubric_digest: StrictStr = ""
    dimension_digest: StrictStr = ""
    rater: Annotated[StrictStr, Field(min_length=1), AfterValidator(_composed)]
    at: Annotated[StrictStr, AfterValidator(_time)]
    note: StrictStr = ""
    failure: StrictStr = ""
    turn: Count | None = None
    sample: StrictStr = ""
    design: Design = "external"
    purpose: Purpose = "calibration"
    stratum: StrictStr = ""
    inclusion: Chance | None = None
    review: Review | None = None
    origin: StrictStr = ""
    undated: StrictBool = False

    @model_validator(mode="after")
    def _is_whole(self) -> LabelRow:
        if self.kind in ("label", "review"):
            if not self.dimension:
                raise ValueError(f"a {self.kind} names its dimension")
            if self.score is not None and self.levels and self.score not in self.levels:
                raise ValueError(f"score {self.score} is no level of {list(self.levels)}")
        elif self.score is not None:
            raise ValueError(f"a {self.kind} has no score")
        if (self.kind == "review") != (self.review is not None):
            raise ValueError('a review, and nothing else, has "review"')
        if self.kind == "failure" and not self.failure:
            raise ValueError('a failure says in "failure" what went wrong')
        return self

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Run, case, repeat and dimension: what the line is about."""
        return (self.run, self.case_id, self.repeat, self.dimension)

    @property
    def level(self) -> int | None:
        """The level that a label or a review gives; None where it says none, or cannot tell."""
        if self.score is None and self.review is not None and self.review.answer == "confirm":
            return self.review.verdict
        return self.score
