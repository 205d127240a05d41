"""Asks a server many things at once, patiently: pace, retries, the tape; all on one event loop.

May not know what a request means. `agenteval_kit.models.openai_model` is its face.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agenteval_kit.errors import (
    AgentEvalError,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.blame import QUOTA_CODES
from agenteval_kit.models.chat import ChatReply, ChatRequest, ModelError
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.pace import Pace
from agenteval_kit.models.prices import Price
from agenteval_kit.models.retries import Retries, retry_after
from agenteval_kit.models.tape import Tape
from agenteval_kit.models.wire import Malformed, Manners, read_reply
from agenteval_kit.text import counted

__all__ = ["Answered", "Engine", "Refused"]

Send = Callable[[dict[str, Any]], Awaitable[bytes]]


class Refused(Exception):
    """What went wrong with one attempt, in the engine's own words.

    Attributes
    ----------
    kind : str
        "status", "connection" or "late".
    status : int or None
        HTTP status.
    headers : mapping
        Of the answer.
    body : object
        Parsed JSON of the answer, or text.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.headers = headers or {}
        self.body = body


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one of many requests.

    Attributes
    ----------
    index : int
        Position of the request, from 0.
    request : ChatRequest
        What was asked.
    reply : ChatReply or None
        None where it failed.
    error : AgentEvalError or None
        Why it failed.
    """

    index: int
    request: ChatRequest
    reply: ChatReply | None = None
    error: AgentEvalError | None = None


class Engine:
    """Asks one model on one server; every method runs on the models' event loop.

    Parameters
    ----------
    send : callable
        ``await send(body) -> bytes`` of a 200, or raises `Refused`.
    name : str
        For messages: model and endpoint.
    tape : Tape or None
        Where replies are kept before they are given to anyone.
    """

    def __init__(
        self,
        send: Send,
        *,
        name: str,
        tape: Tape | None,
        meter: Meter,
        price: Price | None,
        retries: Retries,
        most_in_flight: int,
    ) -> None:
        self.pace = Pace(most_in_flight)
        self.manners = Manners()
        self.meter = meter
        self.sent = 0
        self._send = send
        self._name = name
        self._tape = tape
        self._price = price
        self._retries = retries
        # Replies that wait to be written together, and requests that are being asked now.
        self._unwritten: deque[tuple[ChatRequest, ChatReply, str, asyncio.Future[None]]] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._asking: dict[str, asyncio.Future[ChatReply]] = {}
        self._failed_in_a_row = 0

    async def ask(self, request: ChatRequest, key: str = "") -> ChatReply:
        """Answer one request from the tape or the server; `key` is its digest, if it is at hand.

        Raises
        ------
        InfrastructureError
            After all retries.
        QuotaExhausted, BudgetReached, ConfigError, ModelError
            At once.
        """
        if self._tape is None:
            return await self._ask_server(request, "")
        key = key or request.digest()
        found = self._tape.get(key)
        if found is not None:
            return found
        while key in self._asking:
            # The same question is on its way: it is not paid for twice.
            other = self._asking[key]
            try:
                return replace(await asyncio.shield(other), from_tape=True)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not other.cancelled() or (task is not None and task.cancelling()):
                    raise
        future = asyncio.get_running_loop().create_future()
        self._asking[key] = future
        try:
            reply = await self._ask_server(request, key)
            future.set_result(reply)
            return reply
        except BaseException as error:
            if isinstance(error, AgentEvalError):
                future.set_exception(error)
                future.exception()  # read, so that nobody warns when nobody else waited
            else:
                future.cancel()
            raise
        finally:
            del self._asking[key]

    async def settle(self) -> None:
        """Wait until every reply that has arrived is on the tape."""
        if self._writer is not None:
            await asyncio.shield(self._writer)

    async def _ask_server(self, request: ChatRequest, key: str) -> ChatReply:
        self.meter.begin(request.model, self._price)
        try:
            reply = await self._until_answered(request, key)
        except BaseException:
            self.meter.give_back()
            raise
        self.meter.end(request, reply, self._price)
        await self._keep(request, reply, key)
        return reply

    async def _until_answered(self, request: ChatRequest, key: str) -> ChatReply:
        failed = refused = late = 0
        while True:
            await self.pace.enter(again=bool(failed or refused or late))
            version = self.manners.version
            body = self.manners.body(request)
            notes = self.manners.notes(request)
            began = time.perf_counter()
            try:
                content = await self._sent(body)
                reply = read_reply(content, seconds=time.perf_counter() - began, notes=notes)
                self.pace.answered()
                self._failed_in_a_row = 0
                return reply
            except Malformed as error:
                self.pace.left()
                trouble = Refused("status", f"HTTP 200, but {error}", status=502)
            except Refused as error:
                trouble = error
                if error.status == 429 and not _out_of_quota(error):
                    self.pace.refused(retry_after(error.headers))
                else:
                    self.pace.left()
            except BaseException:
                self.pace.left()
                raise
            if self._may_change(trouble, body, version):
                continue
            self._raise_final(trouble)
            retries = self._retries
            if trouble.status == 429:
                refused += 1
                over = refused >= retries.attempts_refused
            elif trouble.kind == "late":
                late += 1
                over = late >= self._patience(retries.attempts_late)
            else:
                failed += 1
                over = failed >= self._patience(retries.attempts)
            if over:
                self._failed_in_a_row += 1
                raise InfrastructureError(
                    f"{self._name}: {trouble} "
                    f"({counted(failed + refused + late, 'attempt')}). "
                    "What arrived is kept; when the provider is well again, run the same command "
                    "to resume"
                ) from None
            await asyncio.sleep(
                retries.wait(
                    failed + refused + late + 1,
                    asked=retry_after(trouble.headers),
                    seed=key or str(id(request)),
                )
            )

    def _patience(self, attempts: int) -> int:
        # While a provider is down, one request finds it out for the others.
        return min(attempts, 2) if self._failed_in_a_row else attempts

    async def _sent(self, body: dict[str, Any]) -> bytes:
        self.sent += 1
        return await self._send(body)

    def _may_change(self, trouble: Refused, body: dict[str, Any], version: int) -> bool:
        if trouble.status not in (400, 422):
            return False
        # Another request may have learnt it while this one was on its way.
        return version != self.manners.version or self.manners.learn(trouble.body, body)

    def _raise_final(self, trouble: Refused) -> None:
        """Raise where asking again would not help."""
        status = trouble.status
        if trouble.kind != "status" or status is None:
            return
        if _out_of_quota(trouble):
            raise QuotaExhausted(
                f"{self._name}: {trouble}. The quota is used up; what arrived is kept. Fill it "
                "and run the same command to resume"
            ) from None
        if status in (401, 403):
            raise ConfigError(
                f"{self._name}: {trouble}. The key was refused; check the key's variable and the "
                "base URL"
            ) from None
        if status == 404:
            raise ConfigError(
                f"{self._name}: {trouble}. Check the model name and that the base URL ends where "
                "/chat/completions begins (often in /v1)"
            ) from None
        if status not in (408, 409, 425, 429) and 300 <= status < 500:
            raise ModelError(f"{self._name}: the request was refused: {trouble}") from None

    async def _keep(self, request: ChatRequest, reply: ChatReply, key: str) -> None:
        if self._tape is None:
            return
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unwritten.append((request, reply, key, written))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.ensure_future(self._write())
        # An interrupt may end the waiting, never the writing.
        await asyncio.shield(written)

    async def _write(self) -> None:
        """Write what has gathered while the disk was busy, in one go, until nothing is left."""
        loop = asyncio.get_running_loop()
        assert self._tape is not None
        while self._unwritten:
            batch = list(self._unwritten)
            self._unwritten.clear()
            rows = [(request, reply, key) for request, reply, key, _ in batch]
            try:
                await loop.run_in_executor(None, self._tape.put_many, rows)
                failure = None
            except (OSError, ValueError) as error:
                failure = InfrastructureError(
                    f"{self._tape.path}: the reply cannot be kept ({error}); make room and run "
                    "the same command to resume"
                )
            for *_, written in batch:
                if written.done():
                    continue
                if failure is None:
                    written.set_result(None)
                else:
                    written.set_exception(failure)


def _out_of_quota(trouble: Refused) -> bool:
    if trouble.status == 402:
        return True
    if trouble.status not in (403, 429):
        return False
    body = trouble.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    inner = inner if isinstance(inner, Mapping) else body if isinstance(body, Mapping) else {}
    if {inner.get("code"), inner.get("type")} & QUOTA_CODES:
        return True
    text = json.dumps(body, default=str).lower()
    return "exceeded your current quota" in text or "quota exhausted" in text
