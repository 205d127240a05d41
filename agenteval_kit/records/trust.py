"""Whether a judge is trusted on a dimension, as a calibration found it for one judge digest.

May not decide it, and never passes what was found for one judge on to another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["DimensionTrust", "TrustState", "trust_in"]

TrustState = Literal["trusted", "not trusted", "provisional", "stale", "never calibrated"]


class DimensionTrust(BaseModel):
    """What a calibration says of one dimension under one judge.

    Attributes
    ----------
    dimension, judge_digest : str
        What it was found for.
    state : str
        trusted, not trusted, provisional (too few labels), stale (found for another judge), or
        never calibrated.
    reason : str
        In plain words.
    rubric_state : str
        What people's agreement with each other says of the dimension: "", "rubric ambiguous", or
        "ceiling low, not settled". It is said before any number of the judge.
    more_labels : int or None
        Further labelled transcripts that could settle it; None where that is not known.
    note : str
        What could not be looked at; it is said wherever a clause rests on the judge.
    """

    # Built when first used: checking a suite imports this and needs it not.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    dimension: str
    judge_digest: str
    state: TrustState
    reason: str = ""
    rubric_state: str = ""
    more_labels: int | None = None
    note: str = ""

    @property
    def trusted(self) -> bool:
        """Whether a clause may rest on this judge."""
        return self.state == "trusted"


def trust_in(dimension: str, judge_digest: str, known: Iterable[DimensionTrust]) -> DimensionTrust:
    """What is known of a dimension under a judge; of another judge's calibration: stale."""
    mine = [one for one in known if one.dimension == dimension]
    for one in reversed(mine):
        if one.judge_digest == judge_digest:
            return one
    if mine:
        return DimensionTrust(
            dimension=dimension,
            judge_digest=judge_digest,
            state="stale",
            reason=f"calibrated as judge {mine[-1].judge_digest}; this one is {judge_digest}",
        )
    return DimensionTrust(
        dimension=dimension,
        judge_digest=judge_digest,
        state="never calibrated",
    )
