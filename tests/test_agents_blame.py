"""Whose fault an exception is, and the scripted model's own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agenteval_kit.agents import ProgramAgent, load_agent
from agenteval_kit.agents.plain import read_return
from agenteval_kit.errors import ConfigError, InfrastructureError, QuotaExhausted
from agenteval_kit.models.blame import blame_of
from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.records import AgentSpec, AgentStamps, Case
from agenteval_kit.simulate import converse
from agenteval_kit.testing import out_of_quota
from agenteval_kit.testing.server import ScriptedServer

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much leave do I have?")


def spec(**given: object) -> AgentSpec:
    return AgentSpec(**{"model": "rules", "prompt": "v1", **given})  # type: ignore[arg-type]


# Whose fault it is.


def provider_error(status: int, code: str | None = None) -> Exception:
    import httpx2
    import openai

    answer = httpx2.Response(status, request=httpx2.Request("POST", "http://x"))
    body = {"message": "said", "code": code}
    kinds = {401: openai.AuthenticationError, 404: openai.NotFoundError,
             400: openai.BadRequestError, 429: openai.RateLimitError}  # fmt: skip
    kind = kinds.get(status, openai.InternalServerError)
    return kind("said", response=answer, body=body)


def wrapped() -> Exception:
    try:
        raise ValueError("outer") from ConnectionResetError("inner")
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "blame"),
    [
        (ValueError("x"), "agent"), (KeyError("x"), "agent"), (ModelError("400"), "agent"),
        (AssertionError(), "agent"), (FileNotFoundError("x"), "agent"),
        (ConnectionRefusedError(), "infrastructure"), (TimeoutError(), "infrastructure"),
        (InfrastructureError("mine"), "infrastructure"), (wrapped(), "infrastructure"),
        (QuotaExhausted("x"), "quota"), (ConfigError("x"), "config"),
    ],
)  # fmt: skip
def test_blame_of_ordinary_errors(error: Exception, blame: str) -> None:
    assert blame_of(error) == blame


@pytest.mark.parametrize(
    ("status", "code", "blame"),
    [(401, None, "config"), (404, None, "config"), (400, None, "agent"),
     (429, None, "infrastructure"), (500, None, "infrastructure"),
     (429, "insufficient_quota", "quota")],
)  # fmt: skip
def test_blame_of_a_providers_own_client(status: int, code: str | None, blame: str) -> None:
    assert blame_of(provider_error(status, code)) == blame


def test_a_page_that_an_agent_asked_for_and_does_not_exist_is_the_agents_own() -> None:
    import urllib.error

    gone = urllib.error.HTTPError("http://x", 404, "gone", {}, None)  # type: ignore[arg-type]
    busy = urllib.error.HTTPError("http://x", 503, "busy", {}, None)  # type: ignore[arg-type]
    lost = urllib.error.URLError("no route")

    assert [blame_of(one) for one in (gone, busy, lost)] == [
        "agent", "infrastructure", "infrastructure",
    ]  # fmt: skip
    for one in (gone, busy):
        one.close()


def test_a_used_up_quota_stops_the_run_whoever_met_it() -> None:
    with pytest.raises(QuotaExhausted), ScriptedServer([out_of_quota()]) as server:
        converse(
            load_agent(spec(model="m", base_url=server.base_url), folder=Path()), CASE, now=NOW
        )

    def own_client(messages: object) -> str:
        raise provider_error(429, "insufficient_quota")

    with pytest.raises(QuotaExhausted, match="quota is used up"):
        converse(ProgramAgent(own_client, stamps=STAMPS), CASE, now=NOW)


def test_a_scripted_model_that_is_exhausted_says_so() -> None:
    model = ScriptedModel(["one"])
    ask = ChatRequest("scripted-1", ({"role": "user", "content": "x"},))
    model.complete(ask)

    with pytest.raises(ConfigError, match="has 1 reply and was asked for one more"):
        model.complete(ask)


def test_one_message_is_read_as_a_message_and_another_mapping_as_a_record() -> None:
    said = {"role": "assistant", "content": "Thirty days."}
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    person = {"role": "admin", "content": "x"}

    assert read_return(said, (said,)).messages == (said,)
    assert read_return(said, ()).output is None
    assert read_return(called, ()).messages == ({"role": "assistant", "tool_calls": [{"id": "1"}]},)
    assert read_return(person, ()).output == person


def test_read_return_keeps_a_reply_as_it_is() -> None:
    reply = read_return("x", ())

    assert read_return(reply, ()) == reply
