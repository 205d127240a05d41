"""A dimension with its panel, and the verdict on one transcript while its seats are being asked.

May not send anything or write a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agenteval_kit.errors import AgentEvalError, StampError
from agenteval_kit.files import digest
from agenteval_kit.judge.judges import judge_digest, judge_name, panel_of, seats_independent
from agenteval_kit.judge.panel import decide, orders_a_judge
from agenteval_kit.judge.prompt import build_messages
from agenteval_kit.judge.seat import Seat
from agenteval_kit.models.bench import Judge, Judges
from agenteval_kit.models.names import is_same_model
from agenteval_kit.records import AgentStamps, Dimension, JudgeStamp, Rubric, Transcript, VerdictRow
from agenteval_kit.rubrics import dimension_digest, rubric_digest
from agenteval_kit.shown import Item

__all__ = ["Pending", "Question", "make_question", "refuse_same_model"]

AGAIN = 2
"""How often a level that the bar never allows is asked for again."""


@dataclass(frozen=True, slots=True)
class Question:
    """One dimension, who judges it, and the digests of both.

    Attributes
    ----------
    clock : str or None
        The run's; part of the judge digest.
    never : int or None
        A level that is asked for twice more where a single judge scores it, or a lower one.
    scales : mapping of str to tuple of int
        Every dimension of the rubric with its levels, asked or not.
    """

    dimension: Dimension
    panel: tuple[Judge, ...]
    judge: str
    judge_digest: str
    rubric: str
    rubric_digest: str
    dimension_digest: str
    independent: bool
    clock: str | None
    never: int | None = None
    scales: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def applies(self, item: Item | None) -> bool:
        """Whether this is asked of a case: it lists the dimension or none, and has a sentence of
        its own where that is what is judged.
        """
        if item is None:
            return "rubric" not in self.dimension.inputs
        if item.dimensions is not None and self.dimension.name not in item.dimensions:
            return False
        return "rubric" not in self.dimension.inputs or bool(item.rubric)

    def stamp(self, *, wanted: int, transcripts: int, at: str) -> JudgeStamp:
        """What the run notes of it."""
        dimension = self.dimension
        return JudgeStamp(
            judge_digest=self.judge_digest,
            judge=self.judge,
            dimension=dimension.name,
            layer=dimension.layer,
            definition=dimension.definition,
            anchors=dimension.anchors,
            levels=dimension.levels,
            rubric=self.rubric,
            rubric_digest=self.rubric_digest,
            dimension_digest=self.dimension_digest,
            seats=tuple(one.stamp() for one in self.panel),
            clock=self.clock,
            independent=self.independent,
            wanted=wanted,
            transcripts=transcripts,
            scales=dict(self.scales),
            at=at,
        )


def make_question(
    rubric: Rubric,
    dimension: Dimension,
    judges: Judges,
    *,
    clock: str | None,
    never: int | None = None,
    with_cases: bool = True,
) -> Question:
    """A dimension of a rubric with the judges that sit on its panel.

    Without the cases a judge sees no expected outcome: that is another judge digest.

    Raises
    ------
    ConfigError
        If its prompt cannot be rendered.
    """
    panel = panel_of(dimension, judges)
    own = dimension_digest(dimension)
    if not with_cases and dimension.inputs != ["expected_outcome"]:
        shown = [name for name in dimension.inputs if name != "expected_outcome"]
        dimension = dimension.model_copy(update={"inputs": shown})
    return Question(
        dimension=dimension,
        panel=panel,
        judge=judge_name(panel),
        judge_digest=judge_digest(dimension, panel, clock=clock),
        rubric=f"{rubric.name} {rubric.version}",
        rubric_digest=rubric_digest(rubric),
        dimension_digest=own,
        independent=seats_independent(panel),
        clock=clock,
        never=never,
        scales={one.name: one.levels for one in rubric.absolute()},
    )


def refuse_same_model(name: str, agent: AgentStamps) -> None:
    """Refuse a judge that is the agent's own model.

    Raises
    ------
    StampError
        If it is.
    """
    if is_same_model(name, agent):
        raise StampError(
            f'judge "{name}" is the agent\'s own model ({agent.model}), and this suite says '
            "allow_same_model: false; name another judge"
        )


@dataclass(slots=True)
class Pending:
    """One transcript on one dimension, until every seat has answered.

    Attributes
    ----------
    error : AgentEvalError or None
        An infrastructure failure of a seat: there will be no row, and the next call asks again.
    nothing : str
        Why there is nothing to judge; empty where there is.
    ordered : bool
        Whether the transcript holds what reads like an order to a judge.
    agent_digest : str
        Of the agent's stamps.
    """

    question: Question
    transcript: Transcript
    item: Item | None
    agent: AgentStamps
    seats: list[Seat] = field(default_factory=list)
    again: list[Seat] = field(default_factory=list)
    error: AgentEvalError | None = None
    nothing: str = ""
    ordered: bool | None = None
    agent_digest: str = ""

    def __post_init__(self) -> None:
        self.nothing = _nothing_to_judge(self.transcript)
        if self.ordered is None:
            self.ordered = orders_a_judge(self.transcript)
        if not self.agent_digest:
            self.agent_digest = digest(self.agent.model_dump(exclude={"model_served"}))
        if not self.nothing:
            self.seats = self._seats(range(len(self.question.panel)), self.question.panel)

    @property
    def parts(self) -> tuple[Seat, ...]:
        """Every seat that is asked."""
        return (*self.seats, *self.again)

    def ask_again(self) -> list[Seat]:
        """Two more seats where a single judge scored a level that the bar never allows."""
        never = self.question.never
        alone = len(self.seats) == 1 and not self.again and self.error is None
        record = self.seats[0].record if alone else None
        if never is None or record is None or record.score is None or record.score > never:
            return []
        judge = self.question.panel[0]
        self.again = self._seats(range(1, 1 + AGAIN), [judge] * AGAIN)
        return self.again

    def row(self) -> VerdictRow:
        """The verdict."""
        question, transcript = self.question, self.transcript
        seats = tuple(seat.record for seat in self.seats if seat.record is not None)
        decided = decide(seats)
        flags = list(decided.flags)
        if self.ordered:
            flags.append("instruction_in_transcript")
        score = None if self.nothing else decided.score
        return VerdictRow(
            case_id=transcript.case_id,
            repeat=transcript.repeat,
            dimension=question.dimension.name,
            layer=question.dimension.layer,
            score=score,
            status="unscored" if score is None else "scored",
            reason=self.nothing or decided.reason,
            levels=question.dimension.levels,
            seats=seats,
            again=tuple(seat.record for seat in self.again if seat.record is not None),
            flags=tuple(flags),
            judge=question.judge,
            judge_digest=question.judge_digest,
            rubric=question.rubric,
            rubric_digest=question.rubric_digest,
            dimension_digest=question.dimension_digest,
            same_model=self.same_model,
            independent=question.independent,
            agent_digest=self.agent_digest,
        )

    @property
    def same_model(self) -> bool:
        """Whether a seat is the agent's own model, by any name it was asked or served under."""
        names = [one.model.name for one in self.question.panel]
        names += [
            seat.record.model_served
            for seat in self.seats
            if seat.record is not None and seat.record.model_served is not None
        ]
        return any(is_same_model(name, self.agent) for name in names)

    def _seats(self, numbers: Sequence[int], judges: Sequence[Judge]) -> list[Seat]:
        question = self.question
        messages = build_messages(
            question.dimension,
            self.transcript,
            self.item,
            clock=self.transcript.now or question.clock,
        )
        return [
            Seat(number, judge, question.dimension, self.transcript, messages)
            for number, judge in zip(numbers, judges, strict=True)
        ]


def _nothing_to_judge(transcript: Transcript) -> str:
    """Why there is nothing to judge; empty where the agent said or did something."""
    failure = transcript.failure
    if failure is not None and failure.kind in ("infrastructure", "simulator"):
        return f"not judged: {failure.kind} failure: {failure.type}"
    acted = any(
        turn.role == "assistant" and (turn.text or turn.refusal or turn.calls)
        for turn in transcript.turns
    )
    if acted or transcript.output is not None:
        return ""
    if failure is not None:
        return f"not judged: the agent failed before it said anything: {failure.type}"
    return "not judged: the agent said and did nothing"
