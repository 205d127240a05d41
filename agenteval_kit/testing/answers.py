"""What the scripted server answers: good replies, and every bad one that providers send.

May not send them: `agenteval_kit.testing.server` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agenteval_kit.models.scripted import assistant_message

__all__ = [
    "Answer",
    "Asked",
    "call_tools",
    "cut",
    "drop",
    "fail",
    "html",
    "out_of_quota",
    "raw",
    "read_answer",
    "refuse",
    "refuse_parameter",
    "say",
    "too_many",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server saw it.

    Attributes
    ----------
    n : int
        Counted from 0 over all requests.
    path : str
        Like ``/v1/chat/completions``.
    body : dict
        The JSON body.
    digest : str
        Of the body.
    in_flight : int
        Requests being answered when it came, itself included.
    times : int
        How often this very body had been asked before.
    """

    n: int
    path: str
    body: dict[str, Any]
    digest: str
    in_flight: int
    times: int

    @property
    def text(self) -> str:
        """The content of the last message."""
        messages = self.body.get("messages") or [{}]
        return str(messages[-1].get("content") or "")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer.

    Attributes
    ----------
    status : int
        HTTP status.
    body : bytes
        What is sent.
    headers : dict
        Beside Content-Type and Content-Length.
    latency : float or None
        Seconds before it is sent; None is the server's own.
    drop : bool
        Whether the connection is closed in place of an answer.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float | None = None
    drop: bool = False

    def after(self, seconds: float) -> Answer:
        """The same answer, sent so much later."""
        return replace(self, latency=seconds)


def say(
    said: str | Mapping[str, Any],
    *,
    finish: str = "stop",
    model: str = "scripted-1",
    tokens: tuple[int, int] | None = (20, 5),
) -> Answer:
    """A good reply: a text, an assistant message, or a record as JSON text.

    `tokens` is what the usage says; None leaves usage out, as some servers do.
    """
    body: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": assistant_message(said), "finish_reason": finish}],
    }
    if tokens is not None:
        body["usage"] = {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        }
    return _json(200, body)


def call_tools(*calls: tuple[str, Mapping[str, Any] | str], model: str = "scripted-1") -> Answer:
    """A reply that calls tools, in parallel if several; arguments as text are sent as they are."""
    made = [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for index, (name, given) in enumerate(calls)
    ]
    return say({"content": None, "tool_calls": made}, finish="tool_calls", model=model)


def cut(text: str = "") -> Answer:
    """A reply that ends at the token limit."""
    return say(text, finish="length")


def refuse(text: str = "I can't help with that.") -> Answer:
    """A refusal in place of an answer."""
    return say({"content": None, "refusal": text})


def fail(status: int, message: str = "scripted failure", *, code: str | None = None) -> Answer:
    """An error in OpenAI's shape: 400, 401, 404, 500 and so on."""
    return _json(status, {"error": {"message": message, "type": "scripted", "code": code}})


def too_many(retry_after: str | int | float | None = None) -> Answer:
    """A 429; `retry_after` is sent as it is: seconds, an HTTP date, a negative number."""
    answer = fail(429, "Rate limit reached", code="rate_limit_exceeded")
    if retry_after is None:
        return answer
    return replace(answer, headers={"Retry-After": str(retry_after)})


def out_of_quota() -> Answer:
    """A 429 that says that the quota is used up."""
    return fail(429, "You exceeded your current quota", code="insufficient_quota")


def refuse_parameter(name: str, message: str | None = None) -> Answer:
    """A 400 on one parameter, in OpenAI's words."""
    said = message or f"Unsupported parameter: '{name}' is not supported with this model."
    error = {"message": said, "type": "invalid_request_error", "param": name,
             "code": "unsupported_parameter"}  # fmt: skip
    return _json(400, {"error": error})


def raw(body: str, *, status: int = 200, content_type: str = "application/json") -> Answer:
    """Any bytes: half a JSON document, an empty body."""
    return Answer(status, body.encode("utf-8"), {"Content-Type": content_type})


def html(status: int = 200) -> Answer:
    """The page of a proxy where JSON was due."""
    return raw("<html><body>Bad gateway</body></html>", status=status, content_type="text/html")


def drop() -> Answer:
    """The connection closes without an answer."""
    return Answer(drop=True)


def _json(status: int, body: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(body).encode("utf-8"))


def read_answer(value: Any) -> Answer:
    """An answer from what a script file can hold.

    A text or a record is said. A mapping with one of ``text``, ``json``, ``tools``, ``cut``,
    ``refuse``, ``status``, ``raw``, ``html``, ``drop``, ``quota``, ``refuse_parameter`` is that
    answer; with it may stand ``latency``, ``retry_after``, ``code``, ``model``.
    """
    if isinstance(value, Answer):
        return value
    if not isinstance(value, Mapping):
        return say(str(value))
    answer = _read_mapping(value)
    latency = value.get("latency")
    return answer if latency is None else answer.after(float(latency))


def _read_mapping(value: Mapping[str, Any]) -> Answer:
    model = str(value.get("model", "scripted-1"))
    if "tools" in value:
        calls: Sequence[Mapping[str, Any]] = value["tools"]
        return call_tools(*((one["name"], one.get("arguments", {})) for one in calls), model=model)
    if "cut" in value:
        return cut(str(value["cut"] or ""))
    if "refuse" in value:
        return refuse(str(value["refuse"]))
    if "refuse_parameter" in value:
        return refuse_parameter(str(value["refuse_parameter"]))
    if value.get("quota"):
        return out_of_quota()
    if value.get("drop"):
        return drop()
    if value.get("html"):
        return html()
    if "raw" in value:
        return raw(str(value["raw"]), status=int(value.get("status", 200)))
    if int(value.get("status", 200)) == 429:
        return too_many(value.get("retry_after"))
    if int(value.get("status", 200)) >= 400:
        return fail(int(value["status"]), code=value.get("code"))
    if "json" in value:
        return say(json.dumps(value["json"]), model=model)
    return say(str(value["text"]) if "text" in value else value, model=model)
