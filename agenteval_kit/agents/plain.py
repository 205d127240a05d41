"""Whatever a program returns, as plain JSON values and OpenAI messages.

May not call the program.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

from pydantic import BaseModel

from agenteval_kit.files import canonical_json
from agenteval_kit.models.agent import AgentReply
from agenteval_kit.models.wire import sound_text
from agenteval_kit.records import Transcript, Usage

__all__ = ["plain", "plain_mapping", "read_return", "told_number", "tool_text"]

_LONGEST = 1325
"""Bits of a whole number that every reader of the package takes: 400 digits are 1,326."""
_MOST = 1e15
"""Beyond it a cost, a time or a count is a mistake, and a sum of them might overflow."""


def plain(value: Any) -> Any:
    """The value as JSON can hold it; what JSON has no word for becomes text.

    Raises
    ------
    ValueError
        Where a number is NaN, infinite, or too long for any reader: the agent's own failure. As
        null it would be another value once it was written, as text another than it was.
    """
    return _plain(value, "")


def _plain(value: Any, at: str) -> Any:
    if isinstance(value, str):
        return sound_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _LONGEST:
            raise ValueError(
                f"a whole number of more than 400 digits{_place(at)}; write it as text"
            )
        return value
    if isinstance(value, float | Decimal) and not _finite(value):
        raise ValueError(
            f"{value} is no number that JSON can hold{_place(at)}; leave it out or null"
        )
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return {sound_text(str(key)): _plain(item, f"{at}.{key}") for key, item in value.items()}
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(mode="json"), at)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return _plain(fields, at)
    if isinstance(value, set | frozenset):
        return sorted((_plain(item, at) for item in value), key=canonical_json)
    if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
        # One of numpy's numbers: the plain one, without loading numpy.
        return _plain(value.item(), at)
    if isinstance(value, Sequence | Iterable) and not isinstance(value, bytes | bytearray):
        return [_plain(item, f"{at}.{index}") for index, item in enumerate(value)]
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else str(value)


def _finite(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


def _place(at: str) -> str:
    return f" (at {at[1:]})" if at else ""


def told_number(value: Any, what: str, *, whole: bool = False) -> tuple[Any, tuple[str, ...]]:
    """A cost, a time or a count that an agent tells, and a note where it is none.

    What is not a number of 0 or more is unknown: true would be 1, and -5 pass any limit.
    """
    if value is None:
        return None, ()
    numeric = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    if numeric and _finite(value) and 0 <= value <= _MOST:
        if not whole:
            return float(value), ()
        if value == int(value):
            return int(value), ()
    kind = "whole number" if whole else "number"
    return None, (f"{what} came as {value!r:.40}, no {kind} of 0 or more, so it is unknown",)


def plain_mapping(value: Any, what: str) -> dict[str, Any]:
    """A mapping as plain values.

    Raises
    ------
    TypeError
        If it is none; the agent's own failure.
    """
    made = plain(value)
    if not isinstance(made, dict):
        raise TypeError(f"{what} returned {type(value).__name__}; a dict was wanted")
    return made


def tool_text(value: Any) -> str:
    """A tool's result as the text of its reply."""
    return (
        sound_text(value)
        if isinstance(value, str)
        else json.dumps(plain(value), ensure_ascii=False)
    )


def read_return(value: Any, given: Sequence[Mapping[str, Any]]) -> AgentReply:
    """What a callable returned, as a reply.

    Parameters
    ----------
    value : str, dict, dataclass, pydantic model, list of messages, or Transcript
        A dict is the structured record; its text is canonical JSON. With the role "assistant" and
        content or tool calls it is one message. A list may begin with the messages that were
        given; those are left out.
    given : sequence of dict
        The messages that the callable was given.

    Raises
    ------
    TypeError
        For anything else; the agent's own failure.
    ValueError
        For a number that JSON cannot hold, as `plain`; the same.
    """
    if isinstance(value, AgentReply):
        return _checked(value)
    if isinstance(value, Transcript):
        return AgentReply(transcript=_validated(value))
    if isinstance(value, str):
        message = {"role": "assistant", "content": sound_text(value)}
        return AgentReply(messages=(message,))
    if isinstance(value, list | tuple):
        return AgentReply(messages=_messages(value, given))
    is_record = isinstance(value, Mapping | BaseModel) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )
    if not is_record:
        raise TypeError(
            f"the agent returned {type(value).__name__}; wanted text, a dict, a list of "
            "messages, or a Transcript"
        )
    record = plain(value)
    if record.get("role") == "assistant" and ("content" in record or "tool_calls" in record):
        # One message as clients give it; what it leaves open is no field of ours.
        told = {name: item for name, item in record.items() if item is not None}
        return AgentReply(messages=_messages([told], ()))
    message = {"role": "assistant", "content": canonical_json(record)}
    return AgentReply(messages=(message,), output=record)


def _checked(value: AgentReply) -> AgentReply:
    """A reply that a program made itself: nothing has looked at its fields yet."""
    cost, about_cost = told_number(value.cost_usd, "cost_usd")
    seconds, about_time = told_number(value.seconds, "seconds")
    return dataclasses.replace(
        value,
        messages=tuple(plain(value.messages)),
        output=plain(value.output),
        state=None if value.state is None else plain_mapping(value.state, "the agent's state"),
        events=tuple(plain(value.events)),
        sources=tuple(plain(value.sources)),
        usage=Usage.model_validate(
            value.usage.model_dump() if isinstance(value.usage, Usage) else value.usage
        ),
        cost_usd=cost,
        seconds=seconds,
        notes=(*value.notes, *about_cost, *about_time),
        transcript=None if value.transcript is None else _validated(value.transcript),
    )


def _validated(value: Transcript) -> Transcript:
    # `model_copy` and `model_construct` check nothing.
    return Transcript.model_validate(plain(value.model_dump()))


def _messages(
    value: Sequence[Any], given: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], ...]:
    made: list[dict[str, Any]] = []
    for index, item in enumerate(value):
        dump = getattr(item, "model_dump", None)
        message = dump(mode="json", exclude_none=True) if callable(dump) else item
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise TypeError(
                f"item {index} of the list that the agent returned is no message: a dict with a "
                'role was wanted, like {"role": "assistant", "content": "..."}'
            )
        made.append(plain(message))
    before = [_key(message) for message in given]
    if before and [_key(message) for message in made[: len(before)]] == before:
        made = made[len(before) :]
    if not made:
        raise TypeError("the agent returned no message of its own")
    return tuple(made)


def _key(message: Mapping[str, Any]) -> tuple[Any, Any]:
    return message.get("role"), message.get("content")
