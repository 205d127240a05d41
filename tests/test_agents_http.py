"""Agents behind an HTTP address."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agenteval_kit.agents import HTTPAgent
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import AgentStamps, Case
from agenteval_kit.simulate import converse
from agenteval_kit.testing import fail, html, raw, say, too_many
from agenteval_kit.testing.server import ScriptedServer

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much leave do I have?")


# HTTP agents.


def http(server: ScriptedServer, **given: object) -> HTTPAgent:
    return HTTPAgent(f"{server.base_url}/ask", stamps=STAMPS, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "answer", "output"),
    [
        ({"text": "18"}, "18", None),
        ({"messages": [{"role": "assistant", "content": "18"}]}, "18", None),
        ({"output": {"days": 18}}, '{"days":18}', {"days": 18}),
        ({"text": "18", "output": {"days": 18}}, "18", {"days": 18}),
    ],
)
def test_an_http_agent_answers_in_three_ways(
    body: dict[str, object], answer: str, output: object
) -> None:
    with ScriptedServer([raw(json.dumps(body))]) as server:
        transcript = converse(http(server), CASE, now=NOW, repeat=1)

    assert (transcript.answer, transcript.output) == (answer, output)
    assert server.asked[0].body == {
        "messages": [{"role": "user", "content": CASE.input}],
        "now": "2026-03-02T09:00:00+00:00",
        "case_id": "c1",
        "repeat": 1,
    }


def test_an_http_agent_may_tell_state_events_sources_and_usage() -> None:
    body = {
        "text": "ok", "state": {"a": 1}, "events": ["asked", {"name": "done", "turn": 0}],
        "sources": [{"id": "1.1", "text": "Thirty days."}],
        "usage": {"input_tokens": 7, "output_tokens": 2}, "cost_usd": 0.5, "model": "m-9",
    }  # fmt: skip
    with ScriptedServer([raw(json.dumps(body))]) as server:
        transcript = converse(http(server), CASE, now=NOW)

    assert transcript.state == {"a": 1}
    assert [(one.name, one.turn) for one in transcript.events] == [("asked", 1), ("done", 0)]
    assert [one.id for one in transcript.sources] == ["1.1"]
    assert transcript.usage.input_tokens == 7
    assert transcript.cost_usd == 0.5
    assert transcript.stamps is not None
    assert transcript.stamps.model_served == "m-9"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (fail(500), "infrastructure"), (fail(503), "infrastructure"),
        (too_many(), "infrastructure"),
        (html(), "infrastructure"), (say("late").after(5), "infrastructure"),
        (fail(400), "agent"), (fail(422), "agent"), (raw("not json"), "agent"),
        (raw("[1]"), "agent"), (raw("{}"), "agent"), (raw('{"messages": ["x"]}'), "agent"),
    ],
)  # fmt: skip
def test_an_http_agents_trouble_is_charged_where_it_belongs(answer: object, kind: str) -> None:
    with ScriptedServer([answer]) as server:
        transcript = converse(http(server, timeout=0.5), CASE, now=NOW)

    assert transcript.failure is not None
    assert transcript.failure.kind == kind


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_http_agent_with_a_wrong_address_or_key_is_configuration(status: int) -> None:
    with ScriptedServer([fail(status)]) as server, pytest.raises(ConfigError, match="headers_env"):
        converse(http(server), CASE, now=NOW)


def test_an_http_agent_that_does_not_listen_is_infrastructure() -> None:
    with ScriptedServer() as server:
        agent = http(server)

    transcript = converse(agent, CASE, now=NOW)

    assert transcript.failure is not None
    assert transcript.failure.kind == "infrastructure"


def test_a_header_comes_from_the_environment_or_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DESK_TOKEN", raising=False)
    with ScriptedServer([raw('{"text": "ok"}')]) as server:
        agent = http(server, headers_env={"Authorization": "DESK_TOKEN"})
        with pytest.raises(ConfigError, match="wants the environment variable DESK_TOKEN"):
            converse(agent, CASE, now=NOW)
        monkeypatch.setenv("DESK_TOKEN", "Bearer planted-0123456789")
        transcript = converse(agent, CASE, now=NOW)

    assert transcript.answer == "ok"
    assert "planted" not in transcript.model_dump_json()


def test_events_and_sources_of_any_shape_are_told_and_none_is_a_crash() -> None:
    body = {"text": "ok", "events": [3, None, {"turn": "x"}], "sources": ["a", {"turn": "y"}]}
    with ScriptedServer([raw(json.dumps(body))]) as server:
        transcript = converse(http(server), CASE, now=NOW)

    assert [(one.name, one.turn) for one in transcript.events] == [
        ("3", 1), ("None", 1), ("unnamed", 1),
    ]  # fmt: skip
    assert [(one.id, one.text) for one in transcript.sources] == [("0", "a"), ("1", "")]


def test_events_that_are_no_list_are_the_agents_failure() -> None:
    with ScriptedServer([raw('{"text": "ok", "events": "booked"}')]) as server:
        failure = converse(http(server), CASE, now=NOW).failure

    assert failure is not None
    assert failure.message.endswith("events is a JSON str, not a list")
