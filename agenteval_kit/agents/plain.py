"""Whatever a program returns, as plain JSON values and OpenAI messages.

May not call the program.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from agenteval_kit.files import canonical_json
from agenteval_kit.models.agent import AgentReply
from agenteval_kit.models.wire import sound_text
from agenteval_kit.records import Transcript

__all__ = ["plain", "plain_mapping", "read_return", "tool_text"]


def plain(value: Any) -> Any:
    """The value as JSON can hold it; what JSON has no word for becomes text."""
    if isinstance(value, str):
        return sound_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        # Strict JSON has no NaN; as text it fails a comparison and cannot spoil a file.
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {sound_text(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain({one.name: getattr(value, one.name) for one in dataclasses.fields(value)})
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=canonical_json)
    if isinstance(value, Sequence | Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(item) for item in value]
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else str(value)


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
        A dict is the structured record; its text is canonical JSON. A list may begin with the
        messages that were given; those are left out.
    given : sequence of dict
        The messages that the callable was given.

    Raises
    ------
    TypeError
        For anything else; the agent's own failure.
    """
    if isinstance(value, AgentReply):
        return dataclasses.replace(
            value,
            messages=tuple(plain(value.messages)),
            output=plain(value.output),
            state=None if value.state is None else plain_mapping(value.state, "the agent's state"),
        )
    if isinstance(value, Transcript):
        return AgentReply(transcript=value)
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
    message = {"role": "assistant", "content": canonical_json(record)}
    return AgentReply(messages=(message,), output=record)


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
