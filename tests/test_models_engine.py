"""The engine, through the real openai client over HTTP against the scripted server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from agenteval_kit.errors import (
    BudgetReached,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.limits import Limits
from agenteval_kit.models.openai_model import OpenAIModel, endpoint_of
from agenteval_kit.models.prices import Price
from agenteval_kit.models.retries import Retries, retry_after
from agenteval_kit.models.tape import Tape
from agenteval_kit.testing import (
    Answer,
    Asked,
    call_tools,
    cut,
    drop,
    fail,
    html,
    out_of_quota,
    raw,
    refuse,
    refuse_parameter,
    say,
    too_many,
)
from agenteval_kit.testing.server import ScriptedServer

QUICK = Retries(first=0.01)
SCHEMA = {
    "type": "object",
    "properties": {"score": {"enum": [1, 2, 3, 4]}},
    "required": ["score"],
    "additionalProperties": False,
}


def request(text: str = "hello", **changed: object) -> ChatRequest:
    fields = {"model": "m-1", "messages": ({"role": "user", "content": text},), **changed}
    return ChatRequest(**fields)  # type: ignore[arg-type]


def requests(count: int) -> Iterator[ChatRequest]:
    return (request(f"question {number}") for number in range(count))


def model(server: ScriptedServer, **given: object) -> OpenAIModel:
    return OpenAIModel("m-1", base_url=server.base_url, **{"retries": QUICK, **given})  # type: ignore[arg-type]


def test_a_reply_comes_back_with_its_facts() -> None:
    with ScriptedServer([say("hi", model="m-1-2026-01-01", tokens=(20, 5))]) as server:
        reply = model(server).complete(request(parameters={"temperature": 0}))

    assert reply.text == "hi"
    assert (reply.finish, reply.model) == ("stop", "m-1-2026-01-01")
    assert (reply.input_tokens, reply.output_tokens) == (20, 5)
    assert reply.seconds is not None
    assert not reply.from_tape
    assert reply.notes == ()
    assert server.asked[0].body == {
        "model": "m-1",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0,
    }


def test_unknown_usage_is_unknown_and_not_zero() -> None:
    with ScriptedServer([say("hi", tokens=None)]) as server:
        reply = model(server).complete(request())

    assert (reply.input_tokens, reply.output_tokens) == (None, None)


def test_refusals_cuts_and_tool_calls_come_back_as_they_are() -> None:
    answers = [refuse("No."), cut(""), call_tools(("f", {"a": 1}), ("g", '{"b":'))]
    with ScriptedServer(answers) as server:
        asked = model(server)
        refused, short, called = (asked.complete(one) for one in requests(3))

    assert (refused.refusal, refused.text) == ("No.", "")
    assert (short.finish, short.text) == ("length", "")
    calls = called.message["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"a": 1}', '{"b":']


# Trouble that passes: asked again, and in the end answered.


@pytest.mark.parametrize(
    "trouble",
    [
        fail(500), fail(503), fail(408), fail(409), html(), html(502), drop(), raw('{"choices": ['),
        raw("{}"), raw("null"), raw(""), raw('{"choices": []}'), raw('{"choices": [{}]}'),
        raw('{"choices": [{"message": {"content": NaN}}]}'), too_many(), too_many(0),
        too_many("0.05"), too_many(-5), too_many("soon"), too_many("nan"),
        raw('{"error": {"message": "upstream", "code": 502}}'),
    ],
)  # fmt: skip
def test_trouble_that_passes_is_asked_again(trouble: Answer) -> None:
    with ScriptedServer([trouble, trouble, say("well again")]) as server:
        reply = model(server).complete(request())

    assert reply.text == "well again"
    assert len(server.asked) == 3


def test_a_server_that_is_late_is_asked_again() -> None:
    with ScriptedServer([say("late").after(5), say("in time")]) as server:
        reply = model(server, timeout=0.3).complete(request())

    assert reply.text == "in time"


# Retry-After, in every form that is in use; the arithmetic is without a network.

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 02 Mar 2026 08:59:00 GMT"}, None),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 -0000"}, 30.0),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=NOW) == seconds


def test_retry_after_is_honoured_up_to_the_ceiling() -> None:
    patience = Retries(first=0.5, longest=60)

    assert patience.wait(2, asked=3600, seed="a") == 60
    assert patience.wait(2, asked=7, seed="a") == 7
    # 0.5 s, doubled each time, a quarter of jitter either way, never above the ceiling.
    assert all(0.375 <= patience.wait(2, asked=None, seed=str(i)) <= 0.625 for i in range(50))
    assert 1.5 <= patience.wait(4, asked=None, seed="a") <= 2.5
    assert patience.wait(30, asked=None, seed="a") <= 75


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_delays_the_next_request(form: str) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.n:
            return say("ok")
        until = datetime.now(UTC) + timedelta(seconds=2)
        return too_many(1 if form == "seconds" else format_datetime(until, usegmt=True))

    with ScriptedServer(answer) as server:
        began = time.perf_counter()
        model(server).complete(request())
        took = time.perf_counter() - began

    assert 0.9 <= took < 3


def test_a_provider_that_fails_for_ever_is_an_infrastructure_error_with_the_remedy() -> None:
    with (
        ScriptedServer([fail(500, "boom")]) as server,
        pytest.raises(InfrastructureError) as raised,
    ):
        model(server).complete(request())

    assert str(raised.value) == (
        f"m-1 at {endpoint_of(server.base_url)}: HTTP 500: boom (5 attempts). What arrived is "
        "kept; when the provider is well again, run the same command to resume"
    )
    assert len(server.asked) == 5


def test_one_request_finds_out_for_the_others_that_the_provider_is_down() -> None:
    with ScriptedServer([fail(500)]) as server:
        asked = model(server)
        for one in requests(3):
            with pytest.raises(InfrastructureError):
                asked.complete(one)

    assert len(server.asked) == 5 + 2 + 2


def test_a_closed_port_is_infrastructure() -> None:
    with ScriptedServer() as server:
        address = server.base_url

    with pytest.raises(InfrastructureError, match="the connection failed"):
        OpenAIModel("m-1", base_url=address, retries=QUICK).complete(request())


def test_429_for_ever_ends_as_infrastructure() -> None:
    with ScriptedServer([too_many(0)]) as server, pytest.raises(InfrastructureError, match="429"):
        model(server, retries=Retries(first=0.01, attempts_refused=3)).complete(request())

    assert len(server.asked) == 3


# Trouble that does not pass: told at once.


@pytest.mark.parametrize(
    "answer",
    [
        out_of_quota(),
        fail(402, "payment required"),
        fail(429, "Quota exhausted for this month"),
        fail(403, "no credit", code="billing_not_active"),
    ],
)
def test_a_used_up_quota_stops_at_once(answer: Answer) -> None:
    with ScriptedServer([answer]) as server, pytest.raises(QuotaExhausted, match="to resume"):
        model(server).complete(request())

    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "check the key"), (403, "check the key"), (404, "model name")]
)
def test_a_refused_key_or_name_is_configuration(status: int, remedy: str) -> None:
    with ScriptedServer([fail(status)]) as server, pytest.raises(ConfigError, match=remedy):
        model(server).complete(request())

    assert len(server.asked) == 1


def test_another_400_is_charged_to_whoever_asked() -> None:
    too_long = fail(400, "This model's maximum context length is 8192 tokens.")
    with ScriptedServer([too_long]) as server, pytest.raises(ModelError, match="maximum context"):
        model(server).complete(request(parameters={"temperature": 0}))

    assert len(server.asked) == 1


def test_a_value_out_of_range_is_not_silently_dropped() -> None:
    answer = fail(400, "Invalid 'temperature': must be between 0 and 2.")
    with ScriptedServer([answer]) as server, pytest.raises(ModelError, match="between 0 and 2"):
        model(server).complete(request(parameters={"temperature": 3}))


# What a model does not take is learnt once.


def refuses(name: str, message: str | None = None, status: int = 400) -> object:
    def answer(asked: Asked) -> Answer:
        if name in asked.body:
            refusal = refuse_parameter(name, message)
            return Answer(status, refusal.body)
        return say("ok")

    return answer


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (None, 400),
        ("Unsupported value: 'temperature' does not support 0 with this model. Only the default "
         "(1) value is supported.", 400),
        ("Extra inputs are not permitted: temperature", 422),
    ],
)  # fmt: skip
def test_a_model_that_refuses_temperature_is_asked_without_it_ever_after(
    message: str | None, status: int
) -> None:
    with ScriptedServer(refuses("temperature", message, status)) as server:
        asked = model(server)
        replies = [
            asked.complete(request(str(number), parameters={"temperature": 0, "top_p": 1}))
            for number in range(3)
        ]

    assert [reply.notes for reply in replies] == [("temperature refused, dropped",)] * 3
    assert server.statuses == {status: 1, 200: 3}
    assert all(one.body["top_p"] == 1 for one in server.asked)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")],
)
def test_the_other_name_of_the_token_limit_is_learnt(sent: str, taken: str) -> None:
    message = f"Unsupported parameter: '{sent}' is not supported. Use '{taken}' instead."
    with ScriptedServer(refuses(sent, message)) as server:
        asked = model(server)
        replies = [asked.complete(request(str(n), parameters={sent: 99})) for n in range(2)]

    assert replies[1].notes == (f"{sent} refused, sent as {taken}",)
    assert [one.body.get(taken) for one in server.asked] == [None, 99, 99]


def test_a_server_that_takes_neither_name_ends_in_an_error() -> None:
    def answer(asked: Asked) -> Answer:
        name = "max_tokens" if "max_tokens" in asked.body else "max_completion_tokens"
        return refuse_parameter(name)

    with ScriptedServer(answer) as server, pytest.raises(ModelError):
        model(server).complete(request(parameters={"max_tokens": 5}))

    assert len(server.asked) == 2


def test_structured_output_goes_down_the_ladder_once() -> None:
    def answer(asked: Asked) -> Answer:
        kind = asked.body.get("response_format", {}).get("type")
        if kind is not None:
            return fail(400, f"response_format of type {kind} is not supported")
        return say({"score": 3})

    with ScriptedServer(answer) as server:
        asked = model(server)
        replies = [asked.complete(request(str(n), schema=SCHEMA)) for n in range(2)]

    assert [reply.notes for reply in replies] == [("structured output: plain",)] * 2
    kinds = [one.body.get("response_format", {}).get("type") for one in server.asked]
    assert kinds == ["json_schema", "json_object", None, None]


def test_a_schema_is_strict_only_where_strict_mode_would_take_it() -> None:
    loose = {"type": "object", "properties": {"score": {"type": "integer"}}}
    with ScriptedServer([say({"score": 3})]) as server:
        asked = model(server)
        replies = [asked.complete(request(schema=one)) for one in (SCHEMA, loose)]

    formats = [one.body["response_format"]["json_schema"] for one in server.asked]
    assert [one["strict"] for one in formats] == [True, False]
    assert replies[0].notes == ("structured output: json_schema",)


# The tape in front.


def test_a_reply_that_arrived_is_never_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ScriptedServer() as server:
        first = model(server, tape=Tape(path)).complete(request())
        second = model(server, tape=Tape(path)).complete(request())

    assert not first.from_tape
    assert second.from_tape
    assert second.seconds == pytest.approx(first.seconds, abs=1e-4)
    assert len(server.asked) == 1


def test_a_replay_wants_no_key_and_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = tmp_path / "calls.jsonl"
    with ScriptedServer() as server:
        list(model(server, tape=Tape(path)).complete_many(requests(30)))
    away = OpenAIModel("m-1", tape=Tape(path))

    replayed = list(away.complete_many(requests(30)))

    assert all(one.reply is not None and one.reply.from_tape for one in replayed)
    assert away.requests_sent == 0
    with pytest.raises(ConfigError, match="set the environment variable OPENAI_API_KEY"):
        away.complete(request("not on the tape"))


def test_the_same_question_from_two_threads_is_paid_for_once(tmp_path: Path) -> None:
    with ScriptedServer(latency=0.2) as server:
        asked = model(server, tape=Tape(tmp_path / "calls.jsonl"))
        replies: list[bool] = []
        threads = [
            threading.Thread(target=lambda: replies.append(asked.complete(request()).from_tape))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(replies) == [False, True, True, True]
    assert len(server.asked) == 1


def test_a_disk_that_is_full_is_infrastructure_and_not_the_agents_fault(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    tape = Tape(tmp_path / "in the way" / "calls.jsonl")
    with ScriptedServer() as server, pytest.raises(InfrastructureError, match="cannot be kept"):
        model(server, tape=tape).complete(request())


# Many at once.


def test_every_request_is_answered_once_in_whatever_order() -> None:
    with ScriptedServer(lambda asked: say(asked.text.upper()), latency=0.01) as server:
        answers = list(model(server, max_concurrency=20).complete_many(requests(100)))

    assert sorted(one.index for one in answers) == list(range(100))
    assert {one.reply.text for one in answers if one.reply} == {
        f"QUESTION {number}" for number in range(100)
    }
    assert 1 < server.most_in_flight <= 20


def test_requests_are_drawn_as_there_is_room() -> None:
    drawn = 0

    def draw() -> Iterator[ChatRequest]:
        nonlocal drawn
        for one in requests(1000):
            drawn += 1
            yield one

    with ScriptedServer(latency=0.02) as server:
        stream = model(server, max_concurrency=5).complete_many(draw())
        next(stream)
        stream.close()

    assert drawn <= 11


def test_one_bad_request_does_not_stop_the_others() -> None:
    def answer(asked: Asked) -> Answer:
        return fail(400, "too long") if asked.text == "question 3" else say("ok")

    with ScriptedServer(answer) as server:
        answers = list(model(server).complete_many(requests(10)))

    bad = [one for one in answers if one.error is not None]
    assert [(one.index, type(one.error)) for one in bad] == [(3, ModelError)]


def test_the_concurrency_settles_near_what_the_server_bears() -> None:
    with ScriptedServer(latency=0.05, limit=20) as server:
        asked = model(server, max_concurrency=100)
        answers = list(asked.complete_many(requests(600)))

    assert all(one.error is None for one in answers)
    assert 15 <= asked.settled_at <= 24
    wasted = server.statuses[429] / sum(server.statuses.values())
    assert wasted < 0.10


def test_a_hundred_are_in_flight_where_the_server_bears_them() -> None:
    with ScriptedServer(latency=0.3) as server:
        answers = list(model(server, max_concurrency=100).complete_many(requests(300)))

    assert len(answers) == 300
    assert server.most_in_flight == 100


def test_a_used_up_quota_stops_the_rest_after_giving_out_what_arrived() -> None:
    def answer(asked: Asked) -> Answer:
        return say("ok") if asked.n < 10 else out_of_quota()

    arrived = []
    with ScriptedServer(answer, latency=0.01) as server:
        stream = model(server, max_concurrency=4).complete_many(requests(500))
        with pytest.raises(QuotaExhausted):
            arrived.extend(stream)

    assert len(arrived) == 10
    assert len(server.asked) < 30


def test_a_provider_that_is_down_stops_the_rest() -> None:
    with ScriptedServer([fail(500)]) as server:
        stream = model(server, max_concurrency=2).complete_many(requests(1000))
        with pytest.raises(InfrastructureError, match="run the same command to resume"):
            list(stream)

    assert len(server.asked) < 60


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
