"""Asks several models at once from one thread; each answer comes back under its asker's tag.

May not know what the questions are for, and leaves nothing running when it ends.
"""

from __future__ import annotations

import contextlib
import queue
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agenteval_kit.errors import (
    AgentEvalError,
    BudgetReached,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest
from agenteval_kit.models.engine import Answered
from agenteval_kit.models.many import Job
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

__all__ = ["Ask", "Desk", "Told"]

DOWN_AFTER = 5


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, whom it goes to, and what the asker knows it by."""

    model: ChatModel
    request: ChatRequest
    tag: Any


@dataclass(frozen=True, slots=True)
class Told:
    """What became of an `Ask`: a reply or an error."""

    tag: Any
    reply: ChatReply | None = None
    error: AgentEvalError | None = None


class Desk:
    """One place to ask models of any kind, with one tape.

    Served models are asked side by side, as many requests at once as they bear; a model of
    another kind is asked in the calling thread.

    Parameters
    ----------
    tape : Tape
        Looked at first; every reply is on it before it is given out.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._back: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self._jobs: dict[int, Job] = {}
        self._open: dict[int, tuple[Ask, Job]] = {}
        self._pushed: deque[Ask] = deque()
        self._tickets = 0
        self._failed_in_a_row: Counter[int] = Counter()
        self._fatal: AgentEvalError | None = None

    def push(self, ask: Ask) -> None:
        """Ask this next, while `run` is being read."""
        self._pushed.append(ask)

    def run(self, asks: Iterable[Ask]) -> Generator[Told]:
        """Give out what comes back, in no particular order; asks are drawn as there is room.

        Raises
        ------
        ConfigError, QuotaExhausted, BudgetReached
            After everything that arrived was given out.
        InfrastructureError
            The same, where several requests in a row failed: the provider is down.
        KeyboardInterrupt
            What is in flight is cancelled; everything that arrived is on the tape.
        """
        source = iter(asks)
        waiting: Ask | None = None
        drawn = False
        try:
            while True:
                if self._fatal is None and waiting is None:
                    if self._pushed:
                        waiting = self._pushed.popleft()
                    elif not drawn:
                        waiting = next(source, None)
                        drawn = waiting is None
                if self._fatal is None and waiting is not None and not self._full(waiting):
                    yield from self._send(waiting)
                    waiting = None
                    while not self._back.empty():
                        yield from self._take()
                elif any(job.outstanding for job in self._jobs.values()):
                    yield from self._take()
                elif self._fatal is not None or (waiting is None and drawn and not self._pushed):
                    break
        finally:
            with contextlib.ExitStack() as ends:
                for job in self._jobs.values():
                    ends.callback(job.end)
        if self._fatal is not None:
            raise self._fatal

    def _full(self, ask: Ask) -> bool:
        job = self._jobs.get(id(ask.model))
        return job is not None and job.full

    def _send(self, ask: Ask) -> Iterator[Told]:
        key = ask.request.digest()
        found = self.tape.get(key)
        if found is not None:
            yield Told(ask.tag, found)
        elif isinstance(ask.model, OpenAIModel):
            job = self._jobs.setdefault(id(ask.model), ask.model.job(self._back))
            self._tickets += 1
            self._open[self._tickets] = (ask, job)
            job.submit(self._tickets, ask.request, key)
        else:
            reply, error = None, None
            try:
                reply = ask.model.complete(ask.request)
            except AgentEvalError as raised:
                error = raised
            yield from self._heard(ask, reply, error)

    def _take(self) -> Iterator[Told]:
        answered = self._back.get()
        ask, job = self._open.pop(answered.index)
        job.taken()
        yield from self._heard(ask, answered.reply, answered.error)

    def _heard(
        self, ask: Ask, reply: ChatReply | None, error: AgentEvalError | None
    ) -> Iterator[Told]:
        if isinstance(error, ConfigError | QuotaExhausted | BudgetReached):
            self._stop(error)
            return
        if reply is not None and getattr(ask.model, "tape", None) is not self.tape:
            self.tape.put(ask.request, replace(reply, from_tape=False))
        # Of one model: that another is well says nothing about this one.
        failed = self._failed_in_a_row
        failed[id(ask.model)] = (
            failed[id(ask.model)] + 1 if isinstance(error, InfrastructureError) else 0
        )
        if failed[id(ask.model)] >= DOWN_AFTER and error is not None:
            self._stop(error)
        yield Told(ask.tag, reply, error)

    def _stop(self, error: AgentEvalError) -> None:
        if self._fatal is None:
            self._fatal = error
            for job in self._jobs.values():
                job.stop()
