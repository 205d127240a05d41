"""A scripted OpenAI-compatible server on loopback, for wiring tests through the real client.

May not leave this machine: it listens on 127.0.0.1 only.

From a test::

    with ScriptedServer(["Hello.", too_many(1), "And again."]) as server:
        model = OpenAIModel("scripted-1", base_url=server.base_url, api_key="unused")

From a shell, so that it outlives a client that is killed::

    python -m agenteval_kit.testing.server --script script.yaml --port 8123 --log asked.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.files import Appender, digest, read_yaml
from agenteval_kit.targets import load_target
from agenteval_kit.testing.answers import Answer, Asked, fail, read_answer, say, too_many

__all__ = ["ScriptedServer", "main"]

Script = Callable[[Asked], Any] | Sequence[Any] | None


class ScriptedServer:
    """A server that answers from a script and remembers what it was asked.

    Parameters
    ----------
    script : callable, sequence or None
        ``answer(asked) -> answer``; or answers one after the other, the last for ever; or None,
        which says "ok". An answer is an `Answer`, a text, or a record.
    latency : float
        Seconds before each answer.
    limit : int, optional
        Above so many requests in flight the answer is 429, at once.
    log : path, optional
        JSON Lines, appended: one "asked" when a request came, one "answered" when its answer had
        been handed to the network. No header is ever written.
    port : int
        0 takes a free one.

    Attributes
    ----------
    asked : list of Asked
        What came, in order.
    statuses : collections.Counter
        How often each status was answered.
    most_in_flight : int
        The largest number of requests that were being answered at once.
    """

    def __init__(
        self,
        script: Script = None,
        *,
        latency: float = 0.0,
        limit: int | None = None,
        log: str | Path | None = None,
        port: int = 0,
    ) -> None:
        self.asked: list[Asked] = []
        self.statuses: Counter[int] = Counter()
        self.most_in_flight = 0
        self.script = script
        self.latency = latency
        self.limit = limit
        self._port = port
        self._log = Appender(Path(log)) if log is not None else None
        self._in_flight = 0
        self._bodies: Counter[str] = Counter()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._stop: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as `base_url`."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> ScriptedServer:
        self._thread = threading.Thread(target=self._run, name="scripted-server", daemon=True)
        self._thread.start()
        self._ready.wait(10)
        if self._error is not None:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None and self._stop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        if self._log is not None:
            self._log.close()

    def _run(self) -> None:
        try:
            asyncio.run(self.serve())
        except OSError:
            # Told by whoever waits for the server to be ready.
            if self._error is None:
                raise

    async def serve(self) -> None:
        """Serve until stopped.

        Raises
        ------
        OSError
            If the port is taken.
        """
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        talks: set[asyncio.Task[None]] = set()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            talks.add(task)
            task.add_done_callback(talks.discard)
            # asyncio reports a connection that ends by cancellation as an error of its own.
            with contextlib.suppress(asyncio.CancelledError):
                await self._talk(reader, writer)

        try:
            server = await asyncio.start_server(
                talk, "127.0.0.1", self._port, backlog=1024, limit=1 << 24
            )
        except OSError as error:
            self._error = error
            self._ready.set()
            raise
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            await self._stop.wait()
        finally:
            server.close()
            for task in list(talks):
                task.cancel()
            await asyncio.gather(*talks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                headers = {
                    name.strip().lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path = first.split(" ")[:2]
                if not await self._one(method, path, body, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        if method == "GET" and path.endswith("/models"):
            await _send(writer, Answer(body=b'{"object":"list","data":[{"id":"scripted-1"}]}'))
            return True
        try:
            read = json.loads(body)
        except ValueError:
            read = None
        if method != "POST" or not isinstance(read, dict):
            await _send(writer, fail(404, f"no such thing: {method} {path}"))
            return True
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        key = digest(read)
        asked = Asked(len(self.asked), path, read, key, self._in_flight, self._bodies[key])
        self.asked.append(asked)
        self._bodies[key] += 1
        self._note("asked", asked, body=read)
        try:
            answer = self._answer(asked)
            latency = self.latency if answer.latency is None else answer.latency
            if latency > 0:
                await asyncio.sleep(latency)
            self.statuses[0 if answer.drop else answer.status] += 1
            if answer.drop:
                return False
            await _send(writer, answer)
            self._note("answered", asked, status=answer.status)
            return True
        finally:
            self._in_flight -= 1

    def _answer(self, asked: Asked) -> Answer:
        if self.limit is not None and asked.in_flight > self.limit:
            return too_many().after(0)
        if self.script is None:
            return say("ok")
        if callable(self.script):
            try:
                return read_answer(self.script(asked))
            except Exception as error:
                # A mistake in a script must be seen, not hang the client.
                return fail(501, f"the script failed: {type(error).__name__}: {error}")
        if not self.script:
            return fail(501, "the script is empty")
        return read_answer(self.script[min(asked.n, len(self.script) - 1)])

    def _note(self, event: str, asked: Asked, **more: Any) -> None:
        if self._log is not None:
            row = {"event": event, "n": asked.n, "digest": asked.digest,
                   "in_flight": asked.in_flight, **more}  # fmt: skip
            self._log.append([row])


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    headers = {"Content-Type": "application/json", **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {answer.status} Scripted\r\nContent-Length: {len(answer.body)}\r\n{lines}\r\n"
    writer.write(head.encode("latin-1") + answer.body)
    await writer.drain()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a script file until interrupted.

    The script is YAML (or JSON) with ``replies`` (a list; the last one for ever), ``latency``
    and ``limit``; or a Python file with ``answer(asked)``.
    """
    parser = argparse.ArgumentParser(prog="python -m agenteval_kit.testing.server")
    parser.add_argument("--script", type=Path, help="YAML, JSON, or Python with answer(asked)")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="JSON Lines of what was asked and answered")
    parser.add_argument("--latency", type=float, help="seconds before each answer")
    parser.add_argument("--limit", type=int, help="429 above so many requests in flight")
    given = parser.parse_args(argv)
    try:
        script, latency, limit = _read_script(given.script)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    server = ScriptedServer(
        script,
        latency=latency if given.latency is None else given.latency,
        limit=limit if given.limit is None else given.limit,
        log=given.log,
        port=given.port,
    )
    with contextlib.suppress(KeyboardInterrupt), server:
        print(server.base_url, flush=True)
        threading.Event().wait()
    return 0


def _read_script(path: Path | None) -> tuple[Script, float, int | None]:
    if path is None:
        return None, 0.0, None
    if path.suffix == ".py":
        return load_target(f"{path.name}:answer", folder=path.parent, fresh=True), 0.0, None
    value = read_yaml(path).value
    if isinstance(value, list):
        value = {"replies": value}
    unknown = set(value or {}) - {"replies", "latency", "limit"}
    if not isinstance(value, dict) or unknown:
        raise ConfigError(f"{path}: wants replies, latency and limit, not {sorted(unknown)}")
    return value.get("replies"), float(value.get("latency", 0)), value.get("limit")


if __name__ == "__main__":
    sys.exit(main())
