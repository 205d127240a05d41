"""Any OpenAI-compatible server as a chat model: synchronous outside, asynchronous inside.

May not write its key anywhere: not into a digest, an error, or a tape.
"""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import json
import os
import queue
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from agenteval_kit.errors import (
    AgentEvalError,
    BudgetReached,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.background import background_loop
from agenteval_kit.models.blame import blame_of
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.models.engine import Answered, Engine, Refused
from agenteval_kit.models.limits import Limits, Meter
from agenteval_kit.models.prices import Price, price_of
from agenteval_kit.models.retries import Retries
from agenteval_kit.models.secrets import scrub
from agenteval_kit.models.tape import Tape

__all__ = ["OpenAIModel", "endpoint_of"]

OPENAI = "https://api.openai.com/v1"
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
        except BaseException:
            future.cancel()
            asyncio.run_coroutine_threadsafe(engine.settle(), loop).result(10)
            raise

    def complete_many(
        self,
        requests: Iterable[ChatRequest],
        *,
        progress: Callable[[Meter], None] | None = None,
        on_reply: Callable[[Answered], None] | None = None,
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
        on_reply : callable, optional
            Called with each `Answered` before it is given out.

        Raises
        ------
        ConfigError, QuotaExhausted, BudgetReached
            After everything that arrived was given out.
        InfrastructureError
            The same, where several requests in a row failed: the provider is down.
        KeyboardInterrupt
            What is in flight is cancelled; everything that arrived is on the tape.
        """
        job = _Job(self, self.max_concurrency)
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
                if on_reply is not None:
                    on_reply(answered)
                if progress is not None:
                    progress(self.meter)
                yield answered
        finally:
            job.end()
        if fatal is not None:
            raise fatal

    def close(self) -> None:
        """Close the connections; they open again when needed."""
        if self._engine is not None:
            self._closer()
            self._engine = None

    def _ready(self) -> tuple[Engine, asyncio.AbstractEventLoop]:
        loop = background_loop("models")
        # Connections live on a loop; after a fork there is another loop.
        if self._engine is None or self._loop is not loop:
            client, errors = self._client()
            self._closer = weakref.finalize(self, _close, client, loop)
            self._loop = loop
            self._engine = Engine(
                _Sender(client, errors, self._key()),
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
        if _on_this_machine(self._base_url):
            return "unused"
        raise ConfigError(
            f"{self.name} at {self.endpoint}: there is no key; set the environment variable "
            f"{self._api_key_env}"
        )

    def _client(self) -> tuple[Any, Any]:
        import openai  # half a second: only who asks a served model pays for it

        try:
            transport: Any = openai.DefaultAioHttpClient()
        except RuntimeError:
            transport = None
        client = openai.AsyncOpenAI(
            api_key=self._key(),
            base_url=self._base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=transport,
        )
        return client, openai


def _close(client: Any, loop: asyncio.AbstractEventLoop) -> None:
    if loop.is_running():
        future = asyncio.run_coroutine_threadsafe(client.close(), loop)
        try:
            future.result(2)
        except Exception:
            future.cancel()


class _Sender:
    """Sends one body and gives the bytes of a 200."""

    def __init__(self, client: Any, errors: Any, key: str) -> None:
        self._client = client
        self._errors = errors
        self._key = key
        # The raw answer in the client's own HTTP library, whichever that is in this version:
        # our own reading takes half the time of the client's models and gives our own errors.
        roots = [kind.__module__.split(".")[0] for kind in type(client._client).__mro__]
        library = next(root for root in roots if root.startswith("httpx") and root.isidentifier())
        self._raw = importlib.import_module(library).Response

    async def __call__(self, body: dict[str, Any]) -> bytes:
        try:
            answer = await self._client.post("/chat/completions", cast_to=self._raw, body=body)
            return bytes(answer.content)
        except self._errors.APIStatusError as error:
            raise self._refused(error) from None
        except self._errors.APITimeoutError:
            raise Refused("late", "the provider did not answer in time") from None
        except self._errors.APIConnectionError as error:
            cause = error.__cause__ or error
            text = scrub(f"{type(cause).__name__}: {cause}", also=(self._key,))
            raise Refused("connection", f"the connection failed ({text})") from None
        except Exception as error:
            if blame_of(error) != "infrastructure":
                raise
            text = scrub(f"{type(error).__name__}: {error}", also=(self._key,))
            raise Refused("connection", f"the connection failed ({text})") from None

    def _refused(self, error: Any) -> Refused:
        body: Any = error.body
        if isinstance(body, dict) and "error" not in body:
            body = {"error": body}
        inner = body.get("error") if isinstance(body, dict) else None
        said = inner.get("message") if isinstance(inner, dict) else inner or body
        text = said if isinstance(said, str) else json.dumps(said, default=str)
        text = scrub(" ".join(text.split())[:300], also=(self._key,))
        return Refused(
            "status",
            f"HTTP {error.status_code}: {text}",
            status=error.status_code,
            headers=dict(error.response.headers),
            body=body,
        )


class _Job:
    """Many requests of one caller: a bounded number of workers on the loop, one queue back."""

    def __init__(self, model: OpenAIModel, workers: int) -> None:
        self._model = model
        self._most = workers
        self._todo: deque[tuple[int, ChatRequest]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._back: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self._outstanding = 0
        self._stopped = False
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, requests: Iterable[ChatRequest]) -> Iterator[Answered]:
        tape = self._model.tape
        for index, request in enumerate(requests):
            found = tape.get(request.digest()) if tape is not None else None
            if found is not None:
                yield Answered(index, request, found)
            else:
                self._submit(index, request)
            while self._outstanding >= 2 * self._most:
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

    def _submit(self, index: int, request: ChatRequest) -> None:
        if self._engine is None:
            self._engine, self._loop = self._model._ready()
        assert self._loop is not None
        self._outstanding += 1
        self._todo.append((index, request))
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
                index, request = self._todo.popleft()
            except IndexError:
                return
            reply, error = None, None
            try:
                reply = await self._engine.ask(request)
            except AgentEvalError as raised:
                error = raised
            except Exception as raised:
                error = InfrastructureError(f"{type(raised).__name__}: {raised}")
            self._back.put(Answered(index, request, reply, error))

    def _next(self) -> Answered:
        answered = self._back.get()
        self._outstanding -= 1
        return answered


def _on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint_of(url: str) -> str:
    """Host, port and path of a server: no scheme, no user info, no query.

    Raises
    ------
    ConfigError
        If it is no http or https address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = scrub(url.split("?")[0])
        raise ConfigError(f'base URL "{shown}" is no address; write it like {OPENAI}')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
