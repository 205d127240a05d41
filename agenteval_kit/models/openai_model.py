"""Any OpenAI-compatible server as a chat model: synchronous outside, asynchronous inside.

May not write its key anywhere: not into a digest, an error, or a tape.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator

from agenteval_kit.errors import (
    AgentEvalError,
    BudgetReached,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.background import background_loop
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.models.endpoint import OPENAI, endpoint_of, on_this_machine
from agenteval_kit.models.engine import Answered, Engine
from agenteval_kit.models.limits import Limits, Meter
from agenteval_kit.models.many import Job
from agenteval_kit.models.prices import Price, price_of
from agenteval_kit.models.retries import Retries
from agenteval_kit.models.sender import Sender, close_client
from agenteval_kit.models.tape import Tape

__all__ = ["OpenAIModel"]

DOWN_AFTER = 5


class OpenAIModel:
    """A model on an OpenAI-compatible server, asked through the `openai` client.

    Make one and share it: requests from all threads go through one pace, which grows while the
    provider is well and shrinks when it answers 429.

    Parameters
    ----------
    name : str
        The model's name.
    base_url : str, optional
        Where the server's ``/chat/completions`` begins; by default OpenAI's.
    api_key : str, optional
        The key; by default the value of the variable `api_key_env`, read when the first request
        is sent (a replay from the tape wants none). A server on this machine wants none either.
    tape : Tape, optional
        Read before anything is asked; every reply is on it before it is given out.
    timeout : float
        Seconds for one request.
    max_concurrency : int
        Requests in flight at most, 1 to 200.
    limits : Limits, optional
        What may be spent.
    meter : Meter, optional
        In place of `limits`: one meter for several models.
    retries : Retries, optional
        How patient it is.
    price : Price, optional
        By default from the shipped list; unknown stays unknown.

    Attributes
    ----------
    endpoint : str
        Host, port and path of the server: the part of the address that is in digests.
    meter : Meter
        What was spent so far.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        tape: Tape | None = None,
        timeout: float = 120.0,
        max_concurrency: int = 32,
        limits: Limits | None = None,
        meter: Meter | None = None,
        retries: Retries | None = None,
        price: Price | None = None,
    ) -> None:
        if not 1 <= max_concurrency <= 200:
            raise ConfigError(f"max_concurrency is {max_concurrency}; it wants to be 1 to 200")
        self.name = name
        self.endpoint = endpoint_of(base_url or OPENAI)
        self.tape = tape
        self.max_concurrency = max_concurrency
        self.price = price or price_of(name, endpoint=self.endpoint)
        self.meter = meter or Meter(limits)
        self._base_url = base_url or OPENAI
        self._api_key = api_key
        self._api_key_env = api_key_env
        self._timeout = timeout
        self._retries = retries or Retries()
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        return self._engine.pace.in_flight if self._engine else 0

    @property
    def settled_at(self) -> int:
        """How many requests may be in flight now."""
        return int(self._engine.pace.size) if self._engine else 0

    @property
    def requests_sent(self) -> int:
        """HTTP requests sent so far, with those that were refused."""
        return self._engine.sent if self._engine else 0

    def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request; from any thread, with or without a running event loop.

        Raises
        ------
        InfrastructureError
            The provider or the network failed after all retries.
        QuotaExhausted
            The quota is used up.
        BudgetReached
            A limit of this model's meter is reached.
        ConfigError
            The key or the model name is wrong (401, 403, 404).
        ModelError
            The request itself was refused (400).
        """
        if self.tape is not None:
            found = self.tape.get(request.digest())
            if found is not None:
                return found
        engine, loop = self._ready()
        future = asyncio.run_coroutine_threadsafe(engine.ask(request), loop)
        try:
            return future.result()
        except AgentEvalError:
            raise
        except BaseException:
            future.cancel()
            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(engine.settle(), loop).result(10)
            raise

    def complete_many(
        self,
        requests: Iterable[ChatRequest],
        *,
        progress: Callable[[Meter], None] | None = None,
    ) -> Iterator[Answered]:
        """Answer many requests, each given out as it arrives, in no particular order.

        Requests are drawn from the iterable as there is room, in the calling thread; memory does
        not grow with their number. A request that fails by itself comes with its error.

        Parameters
        ----------
        requests : iterable of ChatRequest
            What to ask.
        progress : callable, optional
            Called with the meter after each.

        Raises
        ------
        ConfigError, QuotaExhausted, BudgetReached
            After everything that arrived was given out.
        InfrastructureError
            The same, where several requests in a row failed: the provider is down.
        KeyboardInterrupt
            What is in flight is cancelled; everything that arrived is on the tape.
        """
        job = Job(self._ready, tape=self.tape, workers=self.max_concurrency)
        failed_in_a_row = 0
        fatal: AgentEvalError | None = None
        try:
            for answered in job.run(requests):
                error = answered.error
                if isinstance(error, ConfigError | QuotaExhausted | BudgetReached):
                    fatal = fatal or error
                    job.stop()
                    continue
                failed_in_a_row = (
                    failed_in_a_row + 1 if isinstance(error, InfrastructureError) else 0
                )
                if failed_in_a_row >= DOWN_AFTER and fatal is None:
                    fatal = error
                    job.stop()
                if progress is not None:
                    progress(self.meter)
                yield answered
        finally:
            job.end()
        if fatal is not None:
            raise fatal

    def with_tape(self, tape: Tape) -> OpenAIModel:
        """The same model with a tape; what is spent counts on the same meter."""
        return OpenAIModel(
            self.name,
            base_url=self._base_url,
            api_key=self._api_key,
            api_key_env=self._api_key_env,
            tape=tape,
            timeout=self._timeout,
            max_concurrency=self.max_concurrency,
            meter=self.meter,
            retries=self._retries,
            price=self.price,
        )

    def job(self, back: queue.SimpleQueue[Answered]) -> Job:
        """Requests of this model beside those of others, with one queue for all answers."""
        return Job(self._ready, tape=self.tape, workers=self.max_concurrency, back=back)

    def close(self) -> None:
        """Close the connections; they open again when needed."""
        with self._lock:
            if self._engine is not None:
                self._closer()
                self._engine = None

    def _ready(self) -> tuple[Engine, asyncio.AbstractEventLoop]:
        loop = background_loop("models")
        with self._lock:
            # Connections live on a loop; after a fork there is another loop.
            if self._engine is None or self._loop is not loop:
                sender = Sender(self._base_url, self._key(), timeout=self._timeout)
                self._closer = weakref.finalize(self, close_client, sender.client, loop)
                self._loop = loop
                self._engine = Engine(
                    sender,
                    name=f"{self.name} at {self.endpoint}",
                    tape=self.tape,
                    meter=self.meter,
                    price=self.price,
                    retries=self._retries,
                    most_in_flight=self.max_concurrency,
                )
            return self._engine, loop

    def _key(self) -> str:
        key = self._api_key or os.environ.get(self._api_key_env)
        if key:
            return key
        if on_this_machine(self._base_url):
            return "unused"
        raise ConfigError(
            f"{self.name} at {self.endpoint}: there is no key; set the environment variable "
            f"{self._api_key_env}"
        )
