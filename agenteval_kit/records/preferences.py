"""Which of two was preferred: one row per case, repeat, criterion, judge and pair of versions.

May not decide anything: `agenteval_kit.pairwise` does.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["PREFERENCE_FLAGS", "ComparisonStamp", "OrderRecord", "PreferenceRow"]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)

Side = Literal["old", "new"]
Outcome = Literal["old", "new", "tie"]

PREFERENCE_FLAGS: dict[str, str] = {
    "position_flip": "the two orders of showing disagree, so the pair is a tie",
    "identical": "both sides gave the same output: a tie without a call",
    "crash": "the agent of one side crashed, which loses without a call",
    "missing": "one side is not there",
    "instruction_in_candidate": "a candidate holds what reads like an order to a judge",
}
"""The named states that a pair can be in beside its outcome."""

_SCORES = {"new": 1.0, "tie": 0.5, "old": 0.0}


class OrderRecord(BaseModel):
    """What the judge said when the pair was shown in one order.

    Attributes
    ----------
    first : str
        Which side was shown first, as A.
    preferred : str or None
        Which side that makes the better one; None is unscored, and `reason` says why.
    because : str
        The sentence that decided.
    repaired : str
        What had to be looked past to read the reply ("fence"); empty where it was plain.
    attempts : int
        Requests that it took.
    reply : str
        The last reply as it came.
    model_served : str or None
        The model that the reply named.
    notes : tuple of str
        What had to be learnt on the way ("temperature refused, dropped").
    """

    model_config = FROZEN

    first: Side
    preferred: Outcome | None = None
    reason: str = ""
    because: str = ""
    repaired: str = ""
    attempts: int = 1
    reply: str = ""
    model_served: str | None = None
    notes: tuple[str, ...] = ()


class PreferenceRow(BaseModel):
    """Which side of one pair is better by one criterion.

    Attributes
    ----------
    case_id, repeat
        Which pair: repeat i of one side with repeat i of the other.
    old, new : str
        The two versions: run ids, or the names in what was imported.
    outcome : str or None
        Old, new or tie; None is unscored.
    reason : str
        Why it is unscored, or a tie, or was decided without a judge.
    by : str
        Who decided: the judge, code (identical outputs, a crash, a missing side), or the source
        of an import.
    orders : tuple of OrderRecord
        Old first, then new first; none where no judge was asked.
    flipped : bool or None
        Whether the two orders disagree; None where the pair was not judged in both.
    flags : tuple of str
        See `PREFERENCE_FLAGS`.
    judge, judge_digest : str
        Rows under another judge digest are never mixed with these.
    same_model : tuple of str
        The sides whose agent runs on the judge's own model.
    same_agent : bool
        Both sides wear the same stamps: A against A.
    """

    model_config = FROZEN

    case_id: str
    repeat: int = 0
    criterion: str
    layer: str
    old: str
    new: str
    outcome: Outcome | None = None
    reason: str = ""
    by: Literal["judge", "code", "source"] = "judge"
    orders: tuple[OrderRecord, ...] = ()
    flipped: bool | None = None
    flags: tuple[str, ...] = ()
    judge: str
    judge_digest: str
    criterion_digest: str = ""
    same_model: tuple[Side, ...] = ()
    same_agent: bool = False

    @model_validator(mode="after")
    def _says_why(self) -> PreferenceRow:
        if self.outcome is None and not self.reason:
            raise ValueError("a pair without an outcome needs a reason")
        return self

    @property
    def score(self) -> float | None:
        """What the new side gets: 1 won, 0.5 tied, 0 lost; None is unscored."""
        return None if self.outcome is None else _SCORES[self.outcome]

    @property
    def key(self) -> tuple[str, int, str, str, str, str]:
        """What makes two rows answers to the same question."""
        return (self.case_id, self.repeat, self.criterion, self.old, self.new, self.judge_digest)


class ComparisonStamp(BaseModel):
    """Who compared two versions, by what, and how many pairs there were to compare.

    Attributes
    ----------
    wanted : int
        Pairs that both runs plan.
    parameters : dict
        What was sent beside the messages.
    """

    model_config = FROZEN

    old: str
    new: str
    criterion: str
    layer: str
    definition: str
    criterion_digest: str
    judge: str
    judge_digest: str
    endpoint: str = ""
    parameters: dict[str, Any] = {}
    clock: str | None = None
    same_agent: bool = False
    wanted: int
    at: str
