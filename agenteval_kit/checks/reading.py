"""A transcript as checks read it: who said what, which calls, which record.

May not decide anything, and may not raise for any transcript.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from agenteval_kit.records import ToolCall, Transcript
from agenteval_kit.text import MISSING

__all__ = ["Reading", "Where", "call_failure"]

Where = Literal["final", "every"]
Texts = list[tuple[int | None, str]]

_FENCE = re.compile(r"\A\s*```[a-zA-Z0-9]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


_UNREAD = object()
"""A record that was not looked up yet; not None, which a record may be, and not the reading itself,
which would be a cycle that only the garbage collector ends."""


class Reading:
    """One pass over a transcript, shared by all checks of a case.

    Attributes
    ----------
    transcript : Transcript
    agent, user : list of (turn, text)
        Turns with text. A refusal counts as text. An agent without any text that returned a
        record is read as having said the record, as JSON.
    calls : list of (turn, ToolCall)
        In order; parallel calls count each.
    """

    __slots__ = ("_record", "agent", "calls", "transcript", "user")

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.agent: Texts = []
        self.user: Texts = []
        self.calls: list[tuple[int, ToolCall]] = []
        self._record: Any = _UNREAD
        for index, turn in enumerate(transcript.turns):
            if turn.role == "assistant":
                text = turn.text
                if turn.refusal:
                    text = f"{text}\n{turn.refusal}" if text else turn.refusal
                if text:
                    self.agent.append((index, text))
                for call in turn.calls:
                    self.calls.append((index, call))
            elif turn.role == "user" and turn.text:
                self.user.append((index, turn.text))
        if not self.agent and transcript.output is not None:
            output = transcript.output
            self.agent.append((None, output if isinstance(output, str) else _as_json(output)))

    @property
    def blank(self) -> bool:
        """Whether the agent neither said nor did anything."""
        return not self.calls and not any(text.strip() for _, text in self.agent)

    @property
    def answer(self) -> str:
        """The final answer, or ""."""
        return self.agent[-1][1] if self.agent else ""

    @property
    def answer_turn(self) -> int | None:
        """Where the final answer stands."""
        return self.agent[-1][0] if self.agent else None

    @property
    def record(self) -> Any:
        """The structured record: `output`, or the final answer where that is JSON, or MISSING."""
        if self._record is _UNREAD:
            output = self.transcript.output
            self._record = _parse_record(self.answer) if output is None else output
        return self._record

    def texts(self, where: Where) -> Texts:
        """Agent texts with their turns: every one, or only the final answer."""
        return self.agent if where == "every" else self.agent[-1:]


def call_failure(call: ToolCall) -> str | None:
    """Why a call is not known to have succeeded, or None if it is.

    A reply that starts with "Error" is an error, as many tools say it.
    """
    if call.malformed is not None:
        return f"its arguments were malformed: {call.malformed}"
    if call.error is not None:
        return f"it ended in an error: {call.error[:120]}"
    if call.result is None:
        return "it got no reply"
    if call.result[:6].lower().startswith("error"):
        return f"it ended in an error: {call.result[:120]}"
    return None


def _parse_record(answer: str) -> Any:
    fenced = _FENCE.match(answer)
    text = (fenced[1] if fenced else answer).strip()
    if text[:1] not in ("{", "["):
        return MISSING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
