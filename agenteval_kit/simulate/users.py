"""What a user of a scenario does next, and the user that follows a script.

May not talk to the agent: it only says what the user says next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenteval_kit.records import Scenario, parse_messages
from agenteval_kit.text import tidy

__all__ = ["Said", "ScriptedUser", "User", "matches", "text_of"]


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern of the scenario is found in what the agent said; blind to case."""
    return re.search(pattern, tidy(text), re.IGNORECASE) is not None


def text_of(message: Mapping[str, Any]) -> str:
    """What is heard of a message: its text, joined from its parts, or its refusal."""
    content = message.get("content")
    if isinstance(content, str) and content:
        return content
    turn = parse_messages([message]).turns[0]
    return turn.text or turn.refusal or ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the user does next: says something, or ends the conversation.

    Attributes
    ----------
    text : str or None
        What is said; None ends the conversation.
    stop : str
        Why it ends: one of `STOP_REASONS`.
    fault : str
        What a simulated user did wrong; then the conversation is not charged to the agent.
    """

    text: str | None
    stop: str = ""
    fault: str = ""


class User(Protocol):
    """Says what the user says next."""

    def next(self, messages: Sequence[Mapping[str, Any]], last_text: str) -> Said:
        """The next thing said, after the agent's `last_text`."""
        ...


@dataclass(slots=True)
class ScriptedUser:
    """Says the lines of a script in order.

    A line with `when` waits until the agent's last text matches; lines after it go on. When no
    line can be said, the script is exhausted.
    """

    scenario: Scenario
    left: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.left = list(range(len(self.scenario.user.script or ())))

    def next(self, messages: Sequence[Mapping[str, Any]], last_text: str) -> Said:
        """The first line left that may be said now."""
        lines = self.scenario.user.script or []
        for index in self.left:
            line = lines[index]
            if line.when is None or matches(line.when, last_text):
                self.left.remove(index)
                return Said(line.say)
        return Said(None, "script_exhausted")
