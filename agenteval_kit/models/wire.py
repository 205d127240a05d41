"""Between requests and what goes over the wire: bodies, replies, and what a server refuses.

May not send anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agenteval_kit.models.chat import ChatReply, ChatRequest

__all__ = ["Malformed", "Manners", "read_reply", "sound", "sound_text"]

RUNGS = ("json_schema", "json_object", "plain")
_NOT_TAKEN = re.compile(
    r"unsupported|not support|unknown|unrecognized|unrecognised|unexpected|not permitted|"
    r"not allowed|not available|not compatible|extra (?:inputs|fields)|only the default",
)
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|structured output|json mode")
_CAPS = ("max_tokens", "max_completion_tokens")
_ESSENTIAL = frozenset({"model", "messages", "tools", *_CAPS})
_KEPT = ("tool_calls", "function_call", "refusal", "name")


class Malformed(Exception):
    """A reply that is none, though its status is 200."""


class Manners:
    """What one model on one server was found not to take; learnt once, noted in each reply.

    Structured output goes down a ladder: json_schema, json_object, plain text. Whoever asks
    states the shape in the prompt as well and validates the reply, since a server may ignore
    the schema without a word.
    """

    def __init__(self) -> None:
        self.dropped: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.rung = 0
        self.version = 0

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The JSON body of a request."""
        body: dict[str, Any] = {"model": request.model, "messages": list(request.messages)}
        for name, value in request.parameters.items():
            if name not in self.dropped:
                body[self.renamed.get(name, name)] = value
        if request.tools:
            body["tools"] = list(request.tools)
        if request.schema is not None and RUNGS[self.rung] == "json_schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": "reply",
                    "strict": _is_strict(request.schema),
                    "schema": request.schema,
                },
            }
        elif request.schema is not None and RUNGS[self.rung] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def learn(self, error: Any, body: Mapping[str, Any]) -> bool:
        """Read a refusal (400, 422); whether the request may be sent again, changed."""
        text = (error if isinstance(error, str) else json.dumps(error, default=str)).lower()
        param = ""
        if isinstance(error, Mapping):
            inner = error.get("error")
            holder = inner if isinstance(inner, Mapping) else error
            param = str(holder.get("param") or "").split(".")[0].lower()
        if self._learn_format(text, param, body) or self._learn_cap(text, body):
            self.version += 1
            return True
        for name in body:
            if name in _ESSENTIAL or name == "response_format" or name in self.dropped:
                continue
            named = param == name or re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", text)
            if named and _NOT_TAKEN.search(text):
                self.dropped.add(name)
                self.version += 1
                return True
        return False

    def _learn_format(self, text: str, param: str, body: Mapping[str, Any]) -> bool:
        if "response_format" not in body or self.rung == len(RUNGS) - 1:
            return False
        if param == "response_format" or _FORMAT_WORDS.search(text):
            self.rung = RUNGS.index(body["response_format"]["type"]) + 1
            return True
        return False

    def _learn_cap(self, text: str, body: Mapping[str, Any]) -> bool:
        for name, other in (_CAPS, _CAPS[::-1]):
            # Once only: a server that takes neither name would send it round for ever.
            if name not in body or other in body or name in self.renamed.values():
                continue
            refused = re.search(rf"(?<!\w){name}(?!\w)", text) and _NOT_TAKEN.search(text)
            if refused:
                self.renamed[name] = other
                return True
        return False

    def notes(self, request: ChatRequest) -> tuple[str, ...]:
        """What of all this applied to a request."""
        told = [f"{name} refused, dropped" for name in request.parameters if name in self.dropped]
        told += [
            f"{name} refused, sent as {self.renamed[name]}"
            for name in request.parameters
            if name in self.renamed
        ]
        if request.schema is not None:
            told.append(f"structured output: {RUNGS[self.rung]}")
        return tuple(told)


def _is_strict(schema: Any) -> bool:
    """Whether every object closes itself and requires all it has, as strict mode wants."""
    if isinstance(schema, list):
        return all(_is_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema or schema.get("type") == "object":
        names = set(schema.get("properties") or ())
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required") or ()) != names:
            return False
    return all(_is_strict(item) for item in schema.values())


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def read_reply(
    content: bytes, *, seconds: float | None = None, notes: tuple[str, ...] = ()
) -> ChatReply:
    """The reply in the body of a 200.

    Raises
    ------
    Malformed
        If there is none: HTML, half a document, no choices.
    """
    try:
        value = json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        start = content[:60].decode("utf-8", "replace").strip()
        raise Malformed(f"the reply is not JSON; it begins with {start!r}") from None
    if not isinstance(value, dict):
        raise Malformed(f"the reply is a JSON {type(value).__name__}, not an object")
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        said = value.get("error")
        told = f"; it says {json.dumps(said, default=str)[:300]}" if said else ""
        raise Malformed(f"the reply has no choices{told}")
    raw = choices[0].get("message")
    if not isinstance(raw, dict):
        raise Malformed("the reply has no message")
    message = {"role": "assistant", "content": raw.get("content")}
    message |= {name: raw[name] for name in _KEPT if raw.get(name)}
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ChatReply(
        message=message,
        finish=_text(choices[0].get("finish_reason")),
        model=_text(value.get("model")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        seconds=seconds,
        notes=notes,
    )


def sound_text(text: str) -> str:
    """The text without lone surrogates, which models do send and no file or wire can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Two halves that belong together become the character that they are.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def sound(value: Any) -> Any:
    """A JSON value with every text in it sound."""
    if isinstance(value, str):
        return sound_text(value)
    if isinstance(value, Mapping):
        return {sound_text(str(key)): sound(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
