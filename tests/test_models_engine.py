"""One request through the real openai client: every way in which a provider fails."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agenteval_kit.errors import (
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.retries import Retries, retry_after
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
    say,
    too_many,
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


def test_a_retry_after_date_is_read_against_the_servers_own_clock() -> None:
    headers = {
        "date": "Fri, 01 Jan 1999 00:00:00 GMT",
        "retry-after": "Fri, 01 Jan 1999 00:00:09 GMT",
    }

    assert retry_after(headers) == 9.0


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
