"""The work of one call of `judge_run`: what is wanted, what is there, what is asked and written.

May not know who called it, and prints nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agenteval_kit.errors import BudgetReached, ConfigError, InfrastructureError, StampError
from agenteval_kit.judge.judges import Judges
from agenteval_kit.judge.question import Pending, Question
from agenteval_kit.judge.seat import Seat
from agenteval_kit.models.chat import ModelError
from agenteval_kit.models.desk import Ask, Desk, Told
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.names import is_same_model
from agenteval_kit.records import AgentStamps, Transcript, VerdictRow
from agenteval_kit.runs import Run, RunWriter
from agenteval_kit.shown import Item

__all__ = ["JudgeProgress", "Work", "ask_seats", "refuse_same_model", "take"]

TOGETHER = 50
SECONDS = 0.5
"""Verdicts are written at the latest after so many, or so long."""

Key = tuple[str, int, str, str]
"""Case, repeat, dimension, judge digest."""


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """How far the judging is: told after each verdict.

    Attributes
    ----------
    done, total, unscored : int
        Verdicts.
    replies, from_tape : int
        Replies of judges, and those of them that were not paid for again.
    tokens : int
        Paid for by this call, as far as known.
    usd : float or None
        What they cost; None where a price is unknown.
    seconds, left : float
        Since the start; and, at this pace, to the end.
    """

    done: int
    total: int
    unscored: int
    replies: int
    from_tape: int
    tokens: int
    usd: float | None
    seconds: float
    left: float


@dataclass(slots=True)
class Work:
    """What one call of `judge_run` has to do and keeps count of."""

    run: Run
    items: Mapping[str, Item]
    questions: Sequence[Question]
    judges: Judges
    progress: Callable[[JudgeProgress], None] | None
    wanted: Counter[str] = field(default_factory=Counter)
    there: set[Key] = field(default_factory=set)
    kept: int = 0
    made: int = 0
    unscored: int = 0
    replies: int = 0
    from_tape: int = 0
    failed: int = 0
    stopped: str = ""
    rows: list[VerdictRow] = field(default_factory=list)
    written: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.monotonic)

    def look(self, *, again: bool = False) -> None:
        """Count what is wanted and what is there; with `again`, as if no verdict were.

        Raises
        ------
        ConfigError
            If there is nothing to judge.
        """
        by_digest = {question.judge_digest: question for question in self.questions}
        for row in () if again else self.run.verdict_rows():
            question = by_digest.get(row.judge_digest)
            if question is None:
                continue
            doubtful = (
                question.never is not None
                and row.score is not None
                and row.score <= question.never
                and row.confirmed(question.never) is None
            )
            if not doubtful:
                self.there.add((row.case_id, row.repeat, row.dimension, row.judge_digest))
        for _, question, key in self._wanted():
            self.wanted[question.judge_digest] += 1
            self.kept += key in self.there
        if not self.wanted:
            raise ConfigError(
                f"nothing was judged: run {self.run.id} has no transcript that any dimension of "
                "the rubric applies to"
            )

    def pending(self) -> Iterator[Pending]:
        """Every verdict that is still to be made."""
        before: Pending | None = None
        for transcript, question, key in self._wanted():
            if key in self.there:
                continue
            agent = transcript.stamps or self.run.info.agent
            item = self.items.get(transcript.case_id)
            same = before if before is not None and before.transcript is transcript else None
            before = Pending(
                question,
                transcript,
                item,
                agent,
                # What the dimensions of one transcript share is found out once.
                ordered=same.ordered if same else None,
                agent_digest=same.agent_digest if same else "",
            )
            yield before

    def go(self, desk: Desk, writer: RunWriter) -> None:
        """Ask until everything is there, or something stops it."""

        def asks() -> Iterator[Ask]:
            for pending in self.pending():
                if pending.seats:
                    yield from ask_seats(pending)
                else:
                    self._finish(pending, writer)

        try:
            # Closed here, so that an interrupt at any line cancels what is in flight.
            with contextlib.closing(desk.run(asks())) as answers:
                for told in answers:
                    self._hear(told, desk, writer)
        except (BudgetReached, InfrastructureError) as error:
            self.stopped = str(error)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            self._flush(writer)

    def _hear(self, told: Told, desk: Desk, writer: RunWriter) -> None:
        pending = take(told, desk)
        if told.reply is not None:
            self.replies += 1
            self.from_tape += told.reply.from_tape
            if not self.judges.allow_same_model and told.reply.model is not None:
                refuse_same_model(told.reply.model, pending.agent)
        if not pending.settled:
            return
        more = pending.ask_again()
        for seat in more:
            desk.push(Ask(seat.judge.model, seat.request(), (pending, seat)))
        if not more:
            self._finish(pending, writer)

    def _wanted(self) -> Iterator[tuple[Transcript, Question, Key]]:
        for transcript in self.run.transcripts():
            item = self.items.get(transcript.case_id)
            for question in self.questions:
                if question.applies(item):
                    yield transcript, question, _key(transcript, question)

    def _finish(self, pending: Pending, writer: RunWriter) -> None:
        if pending.error is not None:
            # No row: the same call asks again, and the tape holds what the other seats said.
            self.failed += 1
            return
        row = pending.row()
        self.rows.append(row)
        self.made += 1
        self.unscored += row.score is None
        # The replies are on the tape: rows may wait a moment to be written together.
        if len(self.rows) >= TOGETHER or time.monotonic() - self.written > SECONDS:
            self._flush(writer)
        if self.progress is not None:
            self.progress(self._told())

    def _flush(self, writer: RunWriter) -> None:
        rows, self.rows = self.rows, []
        try:
            writer.add_verdicts(rows)
        except OSError as error:
            raise InfrastructureError(
                f"{self.run.path}: verdicts cannot be written ({error.strerror}); make room and "
                "run the same command to resume: the replies are on the tape"
            ) from None
        self.written = time.monotonic()

    def _told(self) -> JudgeProgress:
        meter = self.judges.meter or Meter()
        total, done = sum(self.wanted.values()), self.kept + self.made
        seconds = time.monotonic() - self.began
        return JudgeProgress(
            done=done,
            total=total,
            unscored=self.unscored,
            replies=self.replies,
            from_tape=self.from_tape,
            tokens=meter.input_tokens + meter.output_tokens,
            usd=None if meter.unpriced else meter.usd,
            seconds=seconds,
            left=seconds * (total - done) / self.made,
        )


def _key(transcript: Transcript, question: Question) -> Key:
    return (
        transcript.case_id,
        transcript.repeat,
        question.dimension.name,
        question.judge_digest,
    )


def ask_seats(pending: Pending) -> Iterator[Ask]:
    """The first question to every seat of a verdict."""
    for seat in pending.seats:
        yield Ask(seat.judge.model, seat.request(), (pending, seat))


def take(told: Told, desk: Desk) -> Pending:
    """Give one answer to its seat, and ask on where the seat has more to ask."""
    pending: Pending = told.tag[0]
    seat: Seat = told.tag[1]
    if told.reply is not None:
        seat.take(told.reply)
    elif isinstance(told.error, ModelError):
        seat.refuse(told.error)
    else:
        seat.failed = True
        pending.error = told.error
    if seat.record is None and not seat.failed:
        desk.push(Ask(seat.judge.model, seat.request(), told.tag))
    return pending


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
