"""What a model does not take is learnt once, through the real openai client."""

from __future__ import annotations

import pytest

from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.retries import Retries
from agenteval_kit.testing import (
    Answer,
    Asked,
    fail,
    refuse_parameter,
    say,
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


def model(server: ScriptedServer, **given: object) -> OpenAIModel:
    return OpenAIModel("m-1", base_url=server.base_url, **{"retries": QUICK, **given})  # type: ignore[arg-type]


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


def test_half_a_character_in_a_prompt_does_not_break_the_call() -> None:
    with ScriptedServer() as server:
        reply = model(server).complete(request("half \ud83d and whole \ud83d\ude00"))

    assert reply.text == "ok"
    assert server.asked[0].text == "half \ufffd and whole \U0001f600"
