"""A model that answers from a script: for tests, for wiring, for the first look.

May not pretend to be a real one: its endpoint is empty and its name is given.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.text import counted

__all__ = ["Scripted", "ScriptedModel", "assistant_message"]

Scripted = str | Mapping[str, Any] | ChatReply | Exception
"""A text, an assistant message, a whole reply, or an exception to raise."""


class ScriptedModel:
    """Answers in the order of a list, or by a function of the request.

    Parameters
    ----------
    replies : sequence or callable
        What to answer, one after the other; or ``answer(request) -> reply``. A text becomes an
        assistant message; a dict with "role" or "content" or "tool_calls" is a message; any
        other dict is answered as JSON text; an exception is raised.
    name : str
        The model's name in stamps.
    latency : float
        Seconds to sleep before each answer.

    Attributes
    ----------
    requests : list of ChatRequest
        What was asked, in order.
    """

    endpoint = ""

    def __init__(
        self,
        replies: Sequence[Scripted] | Callable[[ChatRequest], Scripted],
        *,
        name: str = "scripted-1",
        latency: float = 0.0,
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._replies = replies
        self._latency = latency
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatReply:
        """The next reply of the script.

        Raises
        ------
        ConfigError
            If the script is exhausted.
        """
        with self._lock:
            position = len(self.requests)
            self.requests.append(request)
        if self._latency:
            time.sleep(self._latency)
        if callable(self._replies):
            said = self._replies(request)
        elif position < len(self._replies):
            said = self._replies[position]
        else:
            raise ConfigError(
                f"the script of {self.name} has {counted(len(self._replies), 'reply')} and was "
                "asked for one more; add replies, or give a function"
            )
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ChatReply):
            return said
        message = assistant_message(said)
        words = sum(len(str(one.get("content") or "").split()) for one in request.messages)
        return ChatReply(
            message=message,
            finish="tool_calls" if message.get("tool_calls") else "stop",
            model=self.name,
            input_tokens=words,
            output_tokens=len(str(message.get("content") or "").split()),
            seconds=self._latency,
        )


def assistant_message(said: str | Mapping[str, Any]) -> dict[str, Any]:
    """An assistant message from a text, a message, or a record to be answered as JSON."""
    if isinstance(said, str):
        return {"role": "assistant", "content": said}
    if {"role", "content", "tool_calls", "refusal"} & set(said):
        return {"role": "assistant", "content": None, **said}
    return {"role": "assistant", "content": json.dumps(said, ensure_ascii=False)}
