"""What judges returned: one row per case, repeat, dimension and judge, with every seat's reply.

May not decide anything: `agenteval_kit.judge` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = [
    "FLAGS",
    "Evidence",
    "JudgeStamp",
    "SeatRecord",
    "SeatStamp",
    "VerdictRow",
    "parted_seats",
]

# Built when first used: checking a suite imports these and needs none of them.
FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)

FLAGS: dict[str, str] = {
    "panel_disagreement": "the seats that scored do not agree",
    "panel_split": "no level has the majority of the seats that scored",
    "seat_missing": "a seat gave no score; those present decided",
    "evidence_not_found": "a seat cited a turn or words that are not there",
    "instruction_in_transcript": "the transcript holds what reads like an order to a judge",
}
"""The named states that a verdict can be in beside its score."""


class Evidence(BaseModel):
    """One thing that a judge points at: a turn, words from it, or both."""

    model_config = FROZEN

    turn: int | None = None
    quote: str | None = None


class SeatRecord(BaseModel):
    """What one seat of a panel returned.

    Attributes
    ----------
    seat : int
        From 0; a judge alone sits on seat 0.
    model, model_served : str
        What was asked for, and what the reply named.
    score : int or None
        None is unscored; `reason` says why.
    repaired : str
        What had to be looked past to read the reply ("fence"); empty where it was plain.
    attempts : int
        Requests that it took.
    reply : str
        The last reply as it came.
    notes : tuple of str
        What had to be learnt on the way ("temperature refused, dropped").

    Notes
    -----
    Whether a reply was read from the tape is not held here: a replay gives the same rows.
    """

    model_config = FROZEN

    seat: int
    model: str
    model_served: str | None = None
    score: int | None = None
    status: Literal["scored", "unscored"]
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    justification: str = ""
    repaired: str = ""
    attempts: int = 1
    reply: str = ""
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _status_and_score_agree(self) -> SeatRecord:
        _agree(self.status, self.score)
        return self


class VerdictRow(BaseModel):
    """What a judge, or the majority of a panel, says of one transcript on one dimension.

    Attributes
    ----------
    case_id, repeat
        Which transcript.
    score : int or None
        None is unscored; `reason` says why.
    levels : tuple of int
        The scale, lowest first.
    seats : tuple of SeatRecord
        Every seat that was asked; none where there was nothing to judge.
    again : tuple of SeatRecord
        Asked twice more because the score is a level that the bar never allows; they confirm or
        doubt it, and change no mean.
    flags : tuple of str
        See `FLAGS`.
    judge : str
        The models of the seats.
    judge_digest, rubric_digest, dimension_digest : str
        Rows under another judge digest are never mixed with these.
    same_model : bool
        A judge is the agent's own model.
    independent : bool
        False where seats are one model at temperature 0.
    agent_digest : str
        Of the agent's stamps.
    """

    model_config = FROZEN

    case_id: str
    repeat: int = 0
    dimension: str
    layer: str
    score: int | None = None
    status: Literal["scored", "unscored"]
    reason: str = ""
    levels: tuple[int, ...]
    seats: tuple[SeatRecord, ...] = ()
    again: tuple[SeatRecord, ...] = ()
    flags: tuple[str, ...] = ()
    judge: str
    judge_digest: str
    rubric: str
    rubric_digest: str
    dimension_digest: str
    same_model: bool = False
    independent: bool = True
    agent_digest: str = ""

    @model_validator(mode="after")
    def _score_is_a_level(self) -> VerdictRow:
        _agree(self.status, self.score)
        if self.score is not None and self.score not in self.levels:
            raise ValueError(f"score {self.score} is no level of {self.levels}")
        return self

    @property
    def diag(self) -> str:
        """Doubts in plain words."""
        told = ["judge = agent model"] if self.same_model else []
        if not self.independent:
            told.append("seats not independent")
        return "; ".join(told)

    @property
    def scores(self) -> tuple[int, ...]:
        """What the seats that scored say; those on both sides of a bar are a flag for the gate."""
        return tuple(seat.score for seat in self.seats if seat.score is not None)

    def confirmed(self, level: int) -> bool | None:
        """Whether the majority of three askings or more say `level`; None if asked but once."""
        asked = self.seats if len(self.seats) > 1 else (*self.seats, *self.again)
        if len(asked) < 3:
            return None
        return [seat.score for seat in asked].count(level) * 2 > len(asked)


def parted_seats(
    score: int | None, seats: Sequence[int], *, least: float | None, never: int | None
) -> Iterator[Literal["majority", "bar", "level"]]:
    """What of a panel's verdict a person has to read: no majority, or both sides of a threshold.

    Parameters
    ----------
    score : int or None
        The panel's.
    seats : sequence of int
        What the seats that scored say; a judge alone is never parted.
    least : float or None
        The mean that a bar wants of the dimension.
    never : int or None
        The level that a bar never allows.
    """
    if not seats:
        return
    low, high = min(seats), max(seats)
    if score is None:
        yield "majority"
    if least is not None and low < least <= high:
        yield "bar"
    if never is not None and low <= never < high:
        yield "level"


def _agree(status: str, score: int | None) -> None:
    if (status == "scored") != (score is not None):
        raise ValueError(f"is {status} and has the score {score}")


class SeatStamp(BaseModel):
    """Who sits on a seat, and how it is asked."""

    model_config = FROZEN

    model: str
    endpoint: str = ""
    parameters: dict[str, Any] = {}


class JudgeStamp(BaseModel):
    """Who judged one dimension of a run, on which scale, and how much there was to judge.

    Attributes
    ----------
    wanted : int
        Transcripts that this dimension applies to, among those there were when it was asked.
    transcripts : int or None
        Transcripts there were when it was asked; None in runs judged before this was noted.
    scales : dict of str to tuple of int
        Every dimension of the rubric with its levels, asked or not.
    anchors : dict of int to str
        The scale as the judge read it.
    """

    model_config = FROZEN

    judge_digest: str
    judge: str
    dimension: str
    layer: str
    definition: str
    anchors: dict[int, str]
    levels: tuple[int, ...]
    rubric: str
    rubric_digest: str
    dimension_digest: str
    seats: tuple[SeatStamp, ...]
    clock: str | None = None
    independent: bool = True
    wanted: int
    transcripts: int | None = None
    scales: dict[str, tuple[int, ...]] = {}
    at: str
