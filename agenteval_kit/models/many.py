"""Many requests of one caller: a bounded number of workers on the loop, one queue back.

May not grow with the number of requests, and leaves nothing running when it ends.
"""

from __future__ import annotations

import asyncio
import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from agenteval_kit.errors import AgentEvalError, InfrastructureError
from agenteval_kit.models.chat import ChatRequest
from agenteval_kit.models.engine import Answered, Engine
from agenteval_kit.models.tape import Tape

__all__ = ["Job"]


class Job:
    """Asks many requests through an engine that is made when the first is not on the tape.

    Parameters
    ----------
    ready : callable
        Gives the engine and its loop.
    tape : Tape or None
        Read in the calling thread: a replay never meets the loop.
    workers : int
        Requests at once.
    back : queue.SimpleQueue, optional
        Where answers come back, if several jobs share one queue; whoever takes one from it calls
        `taken`.
    """

    def __init__(
        self,
        ready: Callable[[], tuple[Engine, asyncio.AbstractEventLoop]],
        *,
        tape: Tape | None,
        workers: int,
        back: queue.SimpleQueue[Answered] | None = None,
    ) -> None:
        self._ready = ready
        self._tape = tape
        self._most = workers
        self._todo: deque[tuple[int, ChatRequest, str]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._back: queue.SimpleQueue[Answered] = queue.SimpleQueue() if back is None else back
        self._outstanding = 0
        self._stopped = False
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, requests: Iterable[ChatRequest]) -> Iterator[Answered]:
        """Draw requests as there is room; give out what arrives."""
        tape = self._tape
        for index, request in enumerate(requests):
            key = request.digest() if tape is not None else ""
            found = tape.get(key) if tape is not None else None
            if found is not None:
                yield Answered(index, request, found)
            else:
                self.submit(index, request, key)
            while self.full:
                yield self._next()
            while not self._back.empty():
                yield self._next()
            if self._stopped:
                break
        while self._outstanding:
            yield self._next()

    def stop(self) -> None:
        """Ask for nothing more; what is in flight may arrive."""
        if not self._stopped:
            self._stopped = True
            dropped = len(self._todo)
            # The loop may take one of them at this moment; it then simply arrives.
            for _ in range(dropped):
                try:
                    self._todo.popleft()
                except IndexError:
                    break
                self._outstanding -= 1

    def end(self) -> None:
        """Leave nothing running: cancel what is in flight, wait for the tape."""
        if self._loop is None or self._engine is None:
            return
        self._todo.clear()
        if self._workers:
            asyncio.run_coroutine_threadsafe(self._cancel(), self._loop).result(10)
        asyncio.run_coroutine_threadsafe(self._engine.settle(), self._loop).result(30)

    async def _cancel(self) -> None:
        for worker in list(self._workers):
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    @property
    def full(self) -> bool:
        """Whether so much is waiting that more would only fill memory."""
        return self._outstanding >= 2 * self._most

    def taken(self) -> None:
        """Note that an answer of this job was taken from the shared queue."""
        self._outstanding -= 1

    @property
    def outstanding(self) -> int:
        """Requests whose answers were not taken yet."""
        return self._outstanding

    def submit(self, index: int, request: ChatRequest, key: str) -> None:
        """Have one request asked that is not on the tape; `key` is its digest."""
        if self._engine is None:
            self._engine, self._loop = self._ready()
        assert self._loop is not None
        self._outstanding += 1
        self._todo.append((index, request, key))
        self._loop.call_soon_threadsafe(self._staff)

    def _staff(self) -> None:
        if self._todo and len(self._workers) < self._most:
            worker = asyncio.ensure_future(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        assert self._engine is not None
        while self._todo:
            try:
                index, request, key = self._todo.popleft()
            except IndexError:
                return
            reply, error = None, None
            try:
                reply = await self._engine.ask(request, key)
            except AgentEvalError as raised:
                error = raised
            except Exception as raised:
                error = InfrastructureError(f"{type(raised).__name__}: {raised}")
            self._back.put(Answered(index, request, reply, error))

    def _next(self) -> Answered:
        answered = self._back.get()
        self.taken()
        return answered
