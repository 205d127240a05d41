"""How many requests may be in flight: as many as the provider bears, found out by asking.

May not send anything, and lives on one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque

__all__ = ["Pace"]

START = 16
RAMP_SECONDS = 0.025
RAMP_FACTOR = 1.6
SHRINK = 0.9
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 60.0


class Pace:
    """A semaphore whose size follows the provider.

    A refusal (429) comes back at once while an answer takes its time, so the start is a ramp on
    the clock: some sixteen at once, more every few milliseconds, until the maximum or the first
    refusal. From then on it is additive increase, multiplicative decrease (Chiu and
    Jain, 1989, doi:10.1016/0169-7552(89)90019-6): one more for each full round of answers, and
    on a refusal nine tenths of what was not refused.

    Parameters
    ----------
    most : int
        The largest number in flight.

    Attributes
    ----------
    size : float
        How many may be in flight now.
    in_flight, most_in_flight : int
        How many are, and the most there were.
    refusals : int
        Answers 429 so far.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = float(min(START, most))
        self.in_flight = 0
        self.most_in_flight = 0
        self.refusals = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._ramping = False
        self._paused_until = 0.0
        self._silent_refusals = 0
        self._pauses = 0

    async def enter(self, *, again: bool = False) -> None:
        """Wait for a place; a request that comes `again` goes to the front."""
        loop = asyncio.get_running_loop()
        if not self._waiting and self._free(loop):
            self._take()
            return
        place: asyncio.Future[None] = loop.create_future()
        if again:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        self._ramp(loop)
        self._wake(loop)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave(loop)
            raise

    def left(self) -> None:
        """A request ended in a way that says nothing about the load."""
        self._leave(asyncio.get_running_loop())

    def answered(self) -> None:
        """A request was answered."""
        self._silent_refusals = self._pauses = 0
        if self.refusals and self.in_flight >= int(self.size) - 1:
            self.size = min(float(self.most), self.size + 1 / self.size)
        self.left()

    def refused(self, retry_after: float | None) -> None:
        """A request was refused with 429.

        Where nothing is left to shrink, or refusals come one upon the other without an answer in
        between, it is the account that is limited and not the number in flight: then everything
        waits, for `retry_after` or for a pause that doubles.
        """
        loop = asyncio.get_running_loop()
        self.refusals += 1
        self._silent_refusals += 1
        smallest = self.size < 2
        self.size = max(1.0, min(self.size, SHRINK * (self.in_flight - 1)))
        if smallest or self._silent_refusals > max(4, self.in_flight):
            # Refusals of one burst are one piece of news.
            if loop.time() >= self._paused_until:
                self._pauses += 1
            doubled = FIRST_PAUSE * 2.0 ** (self._pauses - 1)
            pause = doubled if retry_after is None else retry_after
            self._paused_until = max(self._paused_until, loop.time() + min(pause, LONGEST_PAUSE))
        self._leave(loop)

    def _free(self, loop: asyncio.AbstractEventLoop) -> bool:
        return self.in_flight < int(self.size) and loop.time() >= self._paused_until

    def _take(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        self.in_flight -= 1
        self._wake(loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        pause = self._paused_until - loop.time()
        if pause > 0:
            if self._waiting:
                loop.call_later(pause + 0.001, self._wake, loop)
            return
        while self._waiting and self._free(loop):
            place = self._waiting.popleft()
            if not place.done():
                self._take()
                place.set_result(None)

    def _ramp(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ramping or self.refusals or self.size >= self.most:
            return
        self._ramping = True
        loop.call_later(RAMP_SECONDS, self._step, loop, loop.time() + RAMP_SECONDS)

    def _step(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._ramping = False
        if self.refusals:
            return
        if loop.time() - due > RAMP_SECONDS:
            # A busy machine is late with everything: refusals may be waiting to be read.
            self._ramp(loop)
            return
        self.size = min(float(self.most), self.size * RAMP_FACTOR)
        self._wake(loop)
        if self._waiting:
            self._ramp(loop)
