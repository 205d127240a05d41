"""The work of one comparison: what is wanted, what is there, what is asked and written.

May not know who called it, and prints nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agenteval_kit.errors import BudgetReached, InfrastructureError
from agenteval_kit.models.chat import ChatModel, ChatRequest, ModelError
from agenteval_kit.models.desk import Ask, Desk, Told
from agenteval_kit.models.estimate import CallEstimate, estimate_requests
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.tape import Tape
from agenteval_kit.pairwise.instrument import Instrument, refuse_same_model
from agenteval_kit.pairwise.pairs import Pair
from agenteval_kit.pairwise.pending import Pending, Versions
from agenteval_kit.records.preferences import PreferenceRow

__all__ = ["PairwiseEstimate", "PairwiseProgress", "Source", "Wanted", "Work", "Writer"]

Key = tuple[str, int, str, str, str, str]
"""See `PreferenceRow.key`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One pair under one instrument; `make` shows it, which costs more than to look it up."""

    instrument: Instrument
    versions: Versions
    case_id: str
    repeat: int
    make: Callable[[], Pair]

    @property
    def key(self) -> Key:
        """The key of its row."""
        return (
            self.case_id, self.repeat, self.instrument.criterion.name, self.versions.old,
            self.versions.new, self.instrument.judge_digest,
        )  # fmt: skip


class Source(Protocol):
    """Where pairs come from."""

    def pairs(self) -> Iterator[Wanted]:
        """Every pair under every instrument; may be called again."""
        ...


class Writer(Protocol):
    """Where rows go."""

    def add_preferences(self, rows: Iterable[PreferenceRow]) -> None:
        """Append rows."""
        ...


@dataclass(frozen=True, slots=True)
class PairwiseEstimate:
    """What a comparison would still ask, each pair twice.

    Attributes
    ----------
    pairs : int
        Rows to be made.
    calls : CallEstimate
        First requests; a cut reply comes on top.
    """

    pairs: int
    calls: CallEstimate

    def text(self) -> str:
        """The estimate in one line."""
        return f"{self.pairs} pairs in both orders: {self.calls.text()}"


@dataclass(frozen=True, slots=True)
class PairwiseProgress:
    """How far the comparison is: told after each pair.

    Attributes
    ----------
    done, total, unscored : int
        Pairs, under all criteria and judges.
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
    """What one comparison has to do and keeps count of.

    Attributes
    ----------
    there : mapping
        The flags of every row that was made before, by its key.
    total : int
        Pairs under all instruments.
    """

    source: Source
    there: Mapping[Key, tuple[str, ...]]
    total: int
    allow_same_model: bool = True
    meter: Meter | None = None
    progress: Callable[[PairwiseProgress], None] | None = None
    kept: int = 0
    made: int = 0
    unscored: int = 0
    replies: int = 0
    from_tape: int = 0
    failed: int = 0
    stopped: str = ""
    began: float = field(default_factory=time.monotonic)

    def estimate(self, tape: Tape) -> PairwiseEstimate:
        """What is still to be asked."""
        pairs = 0

        def requests() -> Iterator[tuple[ChatModel, ChatRequest]]:
            nonlocal pairs
            for pending in self.pending():
                pairs += 1
                for order in pending.orders:
                    yield pending.instrument.model, order.request()

        calls = estimate_requests(requests(), tape)
        return PairwiseEstimate(pairs, calls)

    def pending(self) -> Iterator[Pending]:
        """Every pair that has no row, or had a side missing that is there now."""
        self.kept = 0
        for wanted in self.source.pairs():
            found = self.there.get(wanted.key)
            if found is not None and "missing" not in found:
                self.kept += 1
                continue
            pair = wanted.make()
            if found is not None and "missing" in pair.flags:
                self.kept += 1
                continue
            yield Pending(wanted.instrument, pair, wanted.versions)

    def go(self, desk: Desk, writer: Writer) -> None:
        """Ask until everything is there, or something stops it."""

        def asks() -> Iterator[Ask]:
            for pending in self.pending():
                if not pending.orders:
                    self._finish(pending, writer)
                for order in pending.orders:
                    yield Ask(pending.instrument.model, order.request(), (pending, order))

        try:
            for told in desk.run(asks()):
                pending, _ = told.tag
                self._take(told, desk)
                if pending.settled:
                    self._finish(pending, writer)
        except (BudgetReached, InfrastructureError) as error:
            self.stopped = str(error)
        except KeyboardInterrupt:
            self.stopped = "interrupted"

    def _take(self, told: Told, desk: Desk) -> None:
        """Give one answer to its order, and ask on where there is more to ask."""
        pending, order = told.tag
        if told.reply is not None:
            self.replies += 1
            self.from_tape += told.reply.from_tape
            if not self.allow_same_model and told.reply.model is not None:
                refuse_same_model(told.reply.model, pending.versions.agents)
            order.take(told.reply)
        elif isinstance(told.error, ModelError):
            order.refuse(told.error)
        else:
            order.failed = True
            pending.error = told.error
        if order.record is None and not order.failed:
            desk.push(Ask(pending.instrument.model, order.request(), told.tag))

    def _finish(self, pending: Pending, writer: Writer) -> None:
        if pending.error is not None:
            # No row: the same call asks again, and the tape holds what the other order said.
            self.failed += 1
            return
        row = pending.row()
        writer.add_preferences([row])
        self.made += 1
        self.unscored += row.outcome is None
        if self.progress is not None:
            self.progress(self._told())

    def _told(self) -> PairwiseProgress:
        meter = self.meter or Meter()
        done = self.kept + self.made
        seconds = time.monotonic() - self.began
        return PairwiseProgress(
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
