"""Model calls through the engine, beside a bare asyncio loop on the same client and transport.

May not leave this machine: a scripted server in a process of its own answers on loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.models.chat import ChatRequest
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

CONCURRENCY = 100
PROMPT = "x" * 3300
ROUNDS = 3


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            *_beside_a_bare_loop(Path(folder)),
            *_at_one_second(Path(folder)),
            *_ten_thousand(Path(folder)),
            _replay(Path(folder)),
            *_under_a_limit(Path(folder)),
        ]


def _beside_a_bare_loop(folder: Path) -> Iterator[dict[str, Any]]:
    ours, bare = [], []
    with _server("--latency", "0.05") as url:
        for number in range(ROUNDS):
            bare.append(_timed(lambda: asyncio.run(_bare(url, 1000))))
            tape = Tape(folder / f"fast-{number}.jsonl")
            ours.append(_timed(lambda: _engine(url, 1000, tape)))  # noqa: B023
    yield _row("1,000 calls at 50 ms, a bare loop on the same client", min(bare), None, "s")
    yield _row("the same through the engine, with the tape", min(ours), None, "s")
    yield _row("engine / bare loop", min(ours) / min(bare), 1.3, "x")


def _at_one_second(folder: Path) -> Iterator[dict[str, Any]]:
    with _server("--latency", "1") as url:
        bare = _timed(lambda: asyncio.run(_bare(url, 1000)))
        ours = _timed(lambda: _engine(url, 1000, Tape(folder / "slow.jsonl")))
    yield _row("1,000 calls at 1 s, a bare loop / the limit of 10 s", bare / 10, None, "x")
    yield _row("the same through the engine / the limit", ours / 10, 1.03, "x")


def _ten_thousand(folder: Path) -> Iterator[dict[str, Any]]:
    with _server("--latency", "0.05") as url:
        thousand = _timed(lambda: _engine(url, 1000, Tape(folder / "a.jsonl")))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        many = _timed(lambda: _engine(url, 10_000, Tape(folder / "b.jsonl")))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield _row("10,000 calls / ten times 1,000 calls", many / (10 * thousand), 1.2, "x")
    yield _row("memory at its highest, 10,000 calls", after, 250, "MB")
    yield _row("of that, grown since 1,000 calls", after - before, 40, "MB")


def _replay(folder: Path) -> dict[str, Any]:
    def replay() -> None:
        model = OpenAIModel("m-1", tape=Tape(folder / "a.jsonl"), max_concurrency=CONCURRENCY)
        arrived = list(model.complete_many(_requests(1000)))
        assert len(arrived) == 1000
        assert model.requests_sent == 0

    return _row("1,000 replies from the tape", min(_timed(replay) for _ in range(5)), 0.15, "s")


def _under_a_limit(folder: Path) -> Iterator[dict[str, Any]]:
    with _server("--latency", "0.05", "--limit", "20") as url:
        model = OpenAIModel("m-1", base_url=url, api_key="unused", max_concurrency=CONCURRENCY)
        arrived = sum(one.reply is not None for one in model.complete_many(_requests(1000)))
        assert arrived == 1000
    wasted = 1 - 1000 / model.requests_sent
    yield _row("settles at, where 20 are borne (15 to 24)", model.settled_at, 24, "in flight")
    yield _row("requests wasted there", 100 * wasted, 10, "%")


def _engine(url: str, count: int, tape: Tape) -> None:
    model = OpenAIModel(
        "m-1", base_url=url, api_key="unused", tape=tape, max_concurrency=CONCURRENCY
    )
    arrived = sum(one.reply is not None for one in model.complete_many(_requests(count)))
    assert arrived == count
    model.close()


async def _bare(url: str, count: int) -> None:
    import openai

    client = openai.AsyncOpenAI(
        api_key="unused", base_url=url, max_retries=0, http_client=openai.DefaultAioHttpClient()
    )
    free = asyncio.Semaphore(CONCURRENCY)

    async def one(number: int) -> str | None:
        async with free:
            reply = await client.chat.completions.create(
                model="m-1", messages=[{"role": "user", "content": f"{number} {PROMPT}"}]
            )
            return reply.choices[0].message.content

    texts = await asyncio.gather(*(one(number) for number in range(count)))
    assert all(text == "ok" for text in texts)
    await client.close()


def _requests(count: int) -> Iterator[ChatRequest]:
    for number in range(count):
        yield ChatRequest("m-1", ({"role": "user", "content": f"{number} {PROMPT}"},))


@contextlib.contextmanager
def _server(*arguments: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "agenteval_kit.testing.server", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def _timed(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _row(workload: str, measured: float, target: float | None, unit: str) -> dict[str, Any]:
    return {
        "workload": workload,
        "measured": measured,
        "target": target,
        "unit": unit,
        "ok": target is None or measured <= target,
    }


if __name__ == "__main__":
    for row in rows():
        print(row)
