"""A calibration at rest: who is trusted on what, for which digests, on which labels.

May not compute anything: `agenteval_kit.calibrate` does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.labels import Design
from agenteval_kit.records.trust import DimensionTrust, TrustState
from agenteval_kit.records.verdicts import SeatStamp

__all__ = ["Calibration", "DimensionCalibration", "Figure", "LabelPair", "Look"]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Figure(BaseModel):
    """An estimate as it is kept; `value` None means undefined, and `reason` says why."""

    model_config = FROZEN

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    level: float = 0.95
    method: str = ""
    seed: int | None = None
    diag: str = ""
    reason: str = ""


class LabelPair(BaseModel):
    """One label beside the verdict on the same transcript.

    `half` says whether the transcript was held out; `inclusion` is None where the design has none.
    `dimension_digest` is that of the wording that the person read: empty where the label does not
    say it, and in files that did not keep it.
    """

    model_config = FROZEN

    case_id: str
    repeat: int = 0
    rater: str
    human: int
    judge: int | None = None
    inclusion: float | None = None
    design: Design = "external"
    half: Literal["tuning", "held out"] = "held out"
    dimension_digest: str = ""


class Look(BaseModel):
    """One look at held-out labels: each further one is paid for by a wider bound.

    Attributes
    ----------
    cases : tuple of str
        The held-out scenarios that were looked at.
    judge_digest, dimension_digest
        Under which judge, and which wording and prompt of the dimension.
    labels : str
        Digest of what people had said of the scenarios; empty in files that did not keep it.
    transcripts : int or None
        Held-out scenarios with a label and a score (in older files transcripts, repeats too):
        under a rule that asks for more the look could not have found trust. None in files that did
        not keep it.
    could_decide : bool
        What files without `transcripts` hold of it, under the rule of that day; not believed.
    """

    model_config = FROZEN

    at: str
    dimension: str
    judge_digest: str
    dimension_digest: str
    cases: tuple[str, ...]
    labels: str = ""
    transcripts: int | None = None
    could_decide: bool = True


def _as_written(rule: Any) -> Any:
    # What is its default is not in the file; a bar has to say more.
    return {"at_least": TrustRule().at_least, **rule} if isinstance(rule, dict) else rule


class DimensionCalibration(BaseModel):
    """What labels say of one judge on one dimension.

    Attributes
    ----------
    wording_digest : str
        Of the definition and the anchors alone; empty in files that did not keep it.
    run, agent_digest
        The run that was labelled, and its agent.
    also : tuple of str
        Other ids of that run: copies of it, or made again from its tape, in which the same judge
        and the same labels were found to say the same.
    raters, labelled, doubly : tuple of str, int, int
        Who labelled; transcripts with a label; transcripts with labels of two people or more.
    held_out : int
        Labelled transcripts that trust rests on.
    untold : int
        Labels among them that do not say which text they were given on: they are taken to be of
        the run whose name they carry. 0 in files that did not keep it.
    ceiling : dict of str to Figure
        People with each other: exact, within_one, kappa_quadratic, ac2_quadratic, alpha.
    rubric_state : str
        "", "rubric ambiguous", or "ceiling low, not settled".
    agreement : dict of str to Figure
        The judge with people on held-out transcripts, by the same names.
    gap : Figure or None
        The judge with people minus people with each other.
    chance : Figure or None
        Chance that a judge as good as a person would be found trusted on so many labels.
    looks : int
        Looks at these held-out labels so far, this one included.
    rule : TrustRule
        What trust takes.
    state, reason, more_labels
        Whether the judge is trusted, why, and how many further labels could get it there; None
        where labels are not what is missing.
    pairs : tuple of LabelPair
        What all of it was computed from.
    apart : tuple of str, or None
        Scenarios that the held-out labels do not stand for, of this run or another, because they
        could not be held out; None in files that did not keep it.
    notes : tuple of str
        Doubts in plain words.
    seal : str
        Digest of all of it as it was written; an entry that was edited since is not believed.
    """

    model_config = FROZEN

    dimension: StrictStr
    layer: StrictStr = ""
    levels: tuple[int, ...]
    judge: StrictStr
    judge_digest: StrictStr
    seats: tuple[SeatStamp, ...] = ()
    rubric: StrictStr = ""
    rubric_digest: StrictStr = ""
    dimension_digest: StrictStr = ""
    wording_digest: StrictStr = ""
    run: StrictStr = ""
    also: tuple[str, ...] = ()
    agent_digest: StrictStr = ""
    at: StrictStr
    labels_digest: StrictStr = ""
    raters: tuple[str, ...] = ()
    labelled: int = 0
    doubly: int = 0
    held_out: int = 0
    untold: int = 0
    ceiling: dict[str, Figure] = {}
    rubric_state: Literal["", "rubric ambiguous", "ceiling low, not settled"] = ""
    agreement: dict[str, Figure] = {}
    gap: Figure | None = None
    chance: Figure | None = None
    looks: int = 0
    rule: Annotated[TrustRule, BeforeValidator(_as_written)] = TrustRule()
    state: TrustState
    reason: str = ""
    more_labels: int | None = None
    pairs: tuple[LabelPair, ...] = ()
    apart: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    seal: str = ""

    def is_of(self, run: str) -> bool:
        """Whether it was found of the run of that id."""
        return run == self.run or run in self.also

    @property
    def on_what_text(self) -> str:
        """That nobody could check which text labels were given on, in words; or empty."""
        if not self.untold:
            return ""
        say = "held-out label does" if self.untold == 1 else "held-out labels do"
        return (
            f"{self.untold:,} {say} not say which text was read: whether it reads so in this run "
            "nobody could check"
        )

    def trust(self) -> DimensionTrust:
        """What the gate reads of it."""
        return DimensionTrust(
            dimension=self.dimension,
            judge_digest=self.judge_digest,
            state=self.state,
            reason=self.reason,
            rubric_state=self.rubric_state,
            more_labels=self.more_labels,
        )


class Calibration(BaseModel):
    """The file of a set of labels: each judge on each dimension, the newest last.

    A judge that was calibrated before keeps its entry: when an anchor is restored, so is trust.

    Attributes
    ----------
    seal : str
        Digest of all of it as it was written: an entry or a look that was taken out speaks for a
        judge as much as one that was edited.
    """

    model_config = FROZEN

    format: Literal[1] = 1
    name: StrictStr
    note: StrictStr = ""
    dimensions: tuple[DimensionCalibration, ...] = ()
    looks: Annotated[tuple[Look, ...], Field()] = ()
    seal: StrictStr = ""

    def trust(self) -> list[DimensionTrust]:
        """What the gate reads: one entry a dimension and judge."""
        return [one.trust() for one in self.dimensions]

    def of(
        self, dimension: str, judge_digest: str, *, run: str = ""
    ) -> DimensionCalibration | None:
        """The newest entry of a dimension under a judge: of this run, where there is one."""
        mine = [
            one
            for one in self.dimensions
            if (one.dimension, one.judge_digest) == (dimension, judge_digest)
        ]
        own = [one for one in mine if one.is_of(run)]
        return next(reversed(own or mine), None)
