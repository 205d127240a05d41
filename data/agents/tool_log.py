"""Calls tools for a program and writes the calls down as OpenAI chat messages.

May not decide which tool is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class ToolLike(Protocol):
    """What a tool looks like from here."""

    @property
    def name(self) -> str:
        """The name that a model would call."""

    @property
    def function(self) -> Callable[..., Any]:
        """What is called with the arguments."""


class ToolLog:
    """The messages of one reply, in the making.

    Parameters
    ----------
    tools : sequence
        The environment's tools.
    earlier : sequence of dict
        The conversation so far; call ids go on counting from it.
    """

    def __init__(self, tools: Sequence[ToolLike], *, earlier: Sequence[dict[str, Any]]) -> None:
        self.messages: list[dict[str, Any]] = []
        self._functions = {tool.name: tool.function for tool in tools}
        self._count = sum(len(message.get("tool_calls") or ()) for message in earlier)

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool; give its result, or None if it answered with an error."""
        self._count += 1
        call_id = f"call-{self._count}"
        text = json.dumps(arguments, ensure_ascii=False)
        function = {"name": name, "arguments": text}
        self.messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            }
        )
        result: Any = None
        try:
            result = self._functions[name](**arguments)
            content = json.dumps(result, ensure_ascii=False)
        except LookupError as error:
            content = f"error: {error.args[0]}"
        self.messages.append(
            {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}
        )
        return result

    def called(self, name: str) -> bool:
        """Whether a tool was called in this reply."""
        return any(message.get("name") == name for message in self.messages)

    def say(self, text: str) -> list[dict[str, Any]]:
        """End the reply with a text; give all its messages."""
        return [*self.messages, {"role": "assistant", "content": text}]
