"""Asks what is still to be asked, hands on each row that comes of it, and keeps count.

May not know what is asked or where a row goes, and prints nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from agenteval_kit.errors import AgentEvalError, BudgetReached, InfrastructureError
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest, ModelError
from agenteval_kit.models.desk import Ask, Desk, Told
from agenteval_kit.models.estimate import CallEstimate, estimate_requests
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.tape import Tape

__all__ = ["Asking", "JudgeProgress", "Part", "Whole", "ask_parts", "estimate_wholes", "take"]

SECONDS = 0.5
"""Rows that are written together wait no longer than this."""


class Part(Protocol):
    """A question to one model until it is answered: a seat of a panel, one order of a pair.

    `record` is what came of it. `failed` is set where no reply came.
    """

    failed: bool

    @property
    def model(self) -> ChatModel:
        """Who is asked."""
        ...

    @property
    def record(self) -> object:
        """What came of it; None while there is more to ask."""
        ...

    def request(self) -> ChatRequest:
        """What to ask now."""
        ...

    def take(self, reply: ChatReply) -> None:
        """Read a reply."""
        ...

    def refuse(self, error: ModelError) -> None:
        """Note that the server refused the request itself."""
        ...


class Whole(Protocol):
    """What becomes one row when all its parts are answered.

    `error` is why there will be none: the next call asks again.
    """

    error: AgentEvalError | None

    @property
    def parts(self) -> Sequence[Part]:
        """All that was asked for it, or is to be."""
        ...

    def row(self) -> Any:
        """The row; without a `score` it is unscored."""
        ...


W = TypeVar("W", bound=Whole)


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """How far the judging is: told after each row.

    Attributes
    ----------
    done, total, unscored : int
        Rows: verdicts, or pairs under all criteria and judges.
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
class Asking(Generic[W]):
    """What one call has to do, and the count of what it did; the same call again resumes.

    Attributes
    ----------
    write : callable
        Gets finished rows.
    total, kept : int
        Rows that are wanted, and those that were there.
    meter : Meter or None
        What the models spend.
    progress : callable or None
        Gets a `JudgeProgress` after each row.
    heard : callable or None
        Gets the whole and the served model of each reply, before the row is made; may raise.
    more : callable or None
        Parts that are asked beside, once all of a whole are answered.
    together : int
        How many rows are written at once. The replies are on the tape, so rows may wait.
    """

    write: Callable[[list[Any]], None]
    total: int = 0
    meter: Meter | None = None
    progress: Callable[[JudgeProgress], None] | None = None
    heard: Callable[[W, str], None] | None = None
    more: Callable[[W], Sequence[Part]] | None = None
    together: int = 1
    kept: int = 0
    made: int = 0
    unscored: int = 0
    replies: int = 0
    from_tape: int = 0
    failed: int = 0
    stopped: str = ""
    _rows: list[Any] = field(default_factory=list)
    _written: float = field(default_factory=time.monotonic)
    _began: float = field(default_factory=time.monotonic)

    def go(self, wholes: Iterable[W], desk: Desk) -> None:
        """Ask until everything is there, or something stops it."""

        def asks() -> Iterator[Ask]:
            for whole in wholes:
                if whole.parts:
                    yield from ask_parts(whole)
                else:
                    self._finish(whole)

        try:
            # Closed here, so that an interrupt at any line cancels what is in flight.
            with contextlib.closing(desk.run(asks())) as answers:
                for told in answers:
                    self._hear(told, desk)
        except (BudgetReached, InfrastructureError) as error:
            self.stopped = str(error)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            self._flush()

    def _hear(self, told: Told, desk: Desk) -> None:
        whole: W = told.tag[0]
        take(told, desk)
        if told.reply is not None:
            self.replies += 1
            self.from_tape += told.reply.from_tape
            if self.heard is not None and told.reply.model is not None:
                self.heard(whole, told.reply.model)
        if any(part.record is None and not part.failed for part in whole.parts):
            return
        more = self.more(whole) if self.more is not None else ()
        for part in more:
            desk.push(Ask(part.model, part.request(), (whole, part)))
        if not more:
            self._finish(whole)

    def _finish(self, whole: W) -> None:
        if whole.error is not None:
            # No row: the same call asks again, and the tape holds what the other parts said.
            self.failed += 1
            return
        row = whole.row()
        self._rows.append(row)
        self.made += 1
        self.unscored += row.score is None
        if len(self._rows) >= self.together or time.monotonic() - self._written > SECONDS:
            self._flush()
        if self.progress is not None:
            self.progress(self._told())

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        self.write(rows)
        self._written = time.monotonic()

    def _told(self) -> JudgeProgress:
        meter = self.meter or Meter()
        done = self.kept + self.made
        seconds = time.monotonic() - self._began
        return JudgeProgress(
            done=done,
            total=self.total,
            unscored=self.unscored,
            replies=self.replies,
            from_tape=self.from_tape,
            tokens=meter.input_tokens + meter.output_tokens,
            usd=None if meter.unpriced else meter.usd,
            seconds=seconds,
            left=seconds * (self.total - done) / self.made,
        )


def ask_parts(whole: Whole) -> Iterator[Ask]:
    """The first question of every part."""
    for part in whole.parts:
        yield Ask(part.model, part.request(), (whole, part))


def take(told: Told, desk: Desk) -> None:
    """Give one answer to its part, and ask on where the part has more to ask."""
    whole: Whole = told.tag[0]
    part: Part = told.tag[1]
    if told.reply is not None:
        part.take(told.reply)
    elif isinstance(told.error, ModelError):
        part.refuse(told.error)
    else:
        part.failed = True
        whole.error = told.error
    if part.record is None and not part.failed:
        desk.push(Ask(part.model, part.request(), told.tag))


def estimate_wholes(wholes: Iterable[Whole], tape: Tape) -> tuple[int, CallEstimate]:
    """How many rows there will be, and what their parts would ask first."""
    count = 0

    def requests() -> Iterator[tuple[ChatModel, ChatRequest]]:
        nonlocal count
        for whole in wholes:
            count += 1
            for part in whole.parts:
                yield part.model, part.request()

    calls = estimate_requests(requests(), tape)
    return count, calls
