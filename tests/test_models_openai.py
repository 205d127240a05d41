"""Limits, places to call from, addresses and keys of an OpenAI-compatible model."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenteval_kit.errors import (
    BudgetReached,
    ConfigError,
    InfrastructureError,
)
from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.limits import Limits
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.prices import Price
from agenteval_kit.models.retries import Retries
from agenteval_kit.models.tape import Tape
from agenteval_kit.testing import (
    fail,
    say,
)
from agenteval_kit.testing.server import ScriptedServer

QUICK = Retries(first=0.01)


def request(text: str = "hello", **changed: object) -> ChatRequest:
    fields = {"model": "m-1", "messages": ({"role": "user", "content": text},), **changed}
    return ChatRequest(**fields)  # type: ignore[arg-type]


def requests(count: int) -> Iterator[ChatRequest]:
    return (request(f"question {number}") for number in range(count))


def model(server: ScriptedServer, **given: object) -> OpenAIModel:
    return OpenAIModel("m-1", base_url=server.base_url, **{"retries": QUICK, **given})  # type: ignore[arg-type]


# Limits.


def test_a_limit_on_calls_is_exact_and_resumable(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")
    with ScriptedServer() as server:
        arrived = []
        limited = model(server, limits=Limits(calls=7), tape=tape, max_concurrency=3)
        with pytest.raises(BudgetReached, match="the limit of 7 calls is reached"):
            arrived.extend(limited.complete_many(requests(20)))
        rest = list(model(server, tape=tape).complete_many(requests(20)))

    assert len(arrived) == 7
    assert len(server.asked) == 20
    assert sum(one.reply.from_tape for one in rest if one.reply) == 7


def test_a_limit_in_money_stops_by_the_price() -> None:
    # 20 input and 5 output tokens a call: (20 * 1000 + 5 * 2000) / 1e6 = 0.03 dollars.
    with ScriptedServer([say("ok", tokens=(20, 5))]) as server:
        asked = model(server, price=Price(1000, 2000, "2026-01-01"), limits=Limits(usd=0.08))
        for one in requests(3):
            asked.complete(one)
        with pytest.raises(BudgetReached, match="0.08 US dollars"):
            asked.complete(request("one more"))

    assert asked.meter.usd == pytest.approx(0.09)


def test_a_limit_in_money_without_a_price_is_refused() -> None:
    with ScriptedServer() as server, pytest.raises(ConfigError, match='price of "m-1" is unknown'):
        model(server, limits=Limits(usd=1)).complete(request())


def test_a_limit_on_tokens_holds_where_the_server_does_not_count() -> None:
    with ScriptedServer([say("word " * 300, tokens=None)]) as server:
        asked = model(server, limits=Limits(tokens=600))
        with pytest.raises(BudgetReached, match="600 tokens"):
            list(map(asked.complete, requests(50)))

    assert 1 <= len(server.asked) < 5
    assert asked.meter.unpriced == len(server.asked)


# Anywhere it is called from.


@pytest.mark.asyncio
async def test_it_answers_inside_a_running_loop_as_in_a_notebook_cell() -> None:
    with ScriptedServer() as server:
        assert asyncio.get_running_loop().is_running()
        assert model(server).complete(request()).text == "ok"
        assert len(list(model(server).complete_many(requests(5)))) == 5


def test_it_answers_under_asyncio_run_and_in_threads() -> None:
    with ScriptedServer() as server:
        asked = model(server)

        async def inside() -> str:
            return asked.complete(request()).text

        assert asyncio.run(inside()) == "ok"
        assert asyncio.run(inside()) == "ok"


INTERRUPTED = """
import sys
from agenteval_kit.models.chat import ChatRequest
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

model = OpenAIModel("m-1", base_url=sys.argv[1], tape=Tape(sys.argv[2]), max_concurrency=8)
requests = (ChatRequest("m-1", ({"role": "user", "content": str(n)},)) for n in range(400))
try:
    for answered in model.complete_many(requests):
        print("arrived", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("where", ["many", "one"])
def test_an_interrupt_cancels_what_is_in_flight_and_keeps_what_arrived(
    tmp_path: Path, where: str
) -> None:
    code = INTERRUPTED
    if where == "one":
        code = code.replace("for answered in model.complete_many(requests):",
                            "for one in requests:\n        model.complete(one)")  # fmt: skip
    with ScriptedServer(latency=0.05) as server:
        child = subprocess.Popen(
            [sys.executable, "-c", code, server.base_url, str(tmp_path / "calls.jsonl")],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
        )  # fmt: skip
        assert child.stdout is not None
        for _ in range(20):
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        time.sleep(0.1)
        asked = len(server.asked)

    assert out.splitlines()[-1] == "interrupted"
    kept = len(Tape(tmp_path / "calls.jsonl"))
    assert kept >= 20
    assert asked - kept <= 8
    assert asked < 400


# Where things point, and what stays out of sight.


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("https://api.openai.com/v1", "api.openai.com/v1"),
        ("https://user:secret@Host.example:8443/x/v1/?key=abc", "host.example:8443/x/v1"),
        ("http://[::1]:80/v1", "[::1]:80/v1"),
        ("http://localhost", "localhost"),
    ],
)
def test_an_endpoint_is_host_port_and_path(url: str, endpoint: str) -> None:
    assert endpoint_of(url) == endpoint


@pytest.mark.parametrize("url", ["ftp://x", "api.openai.com", "http://", "http://h:port"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        OpenAIModel("m-1", base_url=url)


@pytest.mark.parametrize("given", ["argument", "environment"])
def test_a_planted_key_is_in_no_error_no_digest_and_no_tape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    secret = "sk-planted-0123456789abcdef"
    if given == "environment":
        monkeypatch.setenv("PLANTED_API_KEY", secret)
        key: dict[str, object] = {"api_key_env": "PLANTED_API_KEY"}
    else:
        key = {"api_key": secret}
    answers = [say("ok"), fail(401, f"Incorrect API key provided: {secret}"),
               fail(500, f"while calling with {secret}"), fail(400, f"bad {secret}")]  # fmt: skip
    log = tmp_path / "log.jsonl"
    with ScriptedServer(answers, log=log) as server:
        asked = model(server, tape=Tape(tmp_path / "calls.jsonl"),
                      retries=Retries(attempts=1), **key)  # fmt: skip
        asked.complete(request("one"))
        told = []
        for one in requests(3):
            with contextlib.suppress(ConfigError, InfrastructureError, ModelError):
                asked.complete(one)
                continue
            with pytest.raises((ConfigError, InfrastructureError, ModelError)) as raised:
                asked.complete(one)
            told.append(str(raised.value))

    assert told
    everything = "".join([*told, (tmp_path / "calls.jsonl").read_text(), log.read_text()])
    assert secret not in everything
