"""From a transcript to the shape of a case or a scenario: who says what, and what is known.

May not say what is right: that is drafted apart, and confirmed by a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agenteval_kit.records import Case, Scenario, Transcript, Turn
from agenteval_kit.simulate import first_messages
from agenteval_kit.suite.items import Item
from agenteval_kit.text import contains

__all__ = ["Step", "as_case", "as_scenario", "breaking_step", "is_conversation"]

KNOWN_AT_MOST = 20
ASKED = ("input", "messages", "thread")
COPIED = ("critical", "rubric", "expected_outcome", "reference", "dimensions", "state", "clock")
"""What a draft takes over from the case that it grows from."""


@dataclass(frozen=True, slots=True)
class Step:
    """The reply in which a conversation broke.

    Attributes
    ----------
    asked : int
        The user turn before it: what comes earlier is the thread.
    end : int
        The turn after it.
    """

    asked: int
    end: int


def is_conversation(transcript: Transcript, item: Item | None) -> bool:
    """Whether the user spoke again after what the case says at first."""
    if isinstance(item, Scenario):
        return True
    first = 1
    if item is not None:
        first = sum(message.get("role") == "user" for message in first_messages(item)) or 1
    return len(_said(transcript)) > first


def breaking_step(transcript: Transcript, turn: int | None) -> Step:
    """The user turn before the failing turn, and where the reply to it ends."""
    users = _said(transcript)
    at = len(transcript.turns) if turn is None else turn
    asked = max((user for user in users if user < at), default=users[0] if users else 0)
    end = min((user for user in users if user > asked), default=len(transcript.turns))
    return Step(asked, end)


def as_case(transcript: Transcript, item: Item | None, step: Step | None) -> dict[str, Any]:
    """What the agent is asked: as the case asked it, or the thread up to the breaking step."""
    made = _taken_over(item)
    if step is None and isinstance(item, Case):
        given = item.model_dump(mode="json", exclude_unset=True)
        return {**{key: given[key] for key in ASKED if key in given}, **made}
    if step is None:
        step = breaking_step(transcript, None)
    turns = transcript.turns
    thread = [_message(turn) for turn in turns[: step.asked]]
    asked: dict[str, Any] = {"thread": thread} if thread else {}
    said = [turn.text for turn in turns[step.asked : step.asked + 1] if turn.role == "user"]
    return {**asked, "input": said[0] if said else "", **made}


def as_scenario(
    transcript: Transcript, item: Item | None, *, others: Iterable[Item]
) -> dict[str, Any]:
    """Persona, goal, opening, known facts and what the user says, as far as they were seen.

    A scenario among `others` that has the very origin of the case knows the same user.
    """
    made = _taken_over(item)
    made.pop("reference", None)  # a scenario has none
    if isinstance(item, Scenario):
        given = item.model_dump(mode="json", exclude_unset=True)
        keys = ("persona", "goal", "opening", "known", "user", "max_turns")
        told = {key: given[key] for key in keys if key in given}
        if item.user.script is None:
            told["user"] = {"script": _lines(transcript)[1:]}
        return {**told, **made}
    lines = _lines(transcript) or [""]
    twin = _twin(item, others)
    made = {
        "persona": twin.persona if twin else "A user who says what this one said, in these words.",
        "goal": twin.goal if twin else f"What the first message asks for: {lines[0]}",
        "opening": lines[0],
        "known": {**(twin.known if twin else {}), **_known(transcript)},
        "user": {"script": lines[1:]},
        **made,
    }
    if len(transcript.turns) > 20:
        made["max_turns"] = min(2 * len(transcript.turns), 500)
    return made


def _twin(item: Item | None, others: Iterable[Item]) -> Scenario | None:
    if item is None or item.origin is None:
        return None
    found = (one for one in others if isinstance(one, Scenario) and one.origin == item.origin)
    return next((one for one in found if one.persona and one.goal), None)


def _taken_over(item: Item | None) -> dict[str, Any]:
    if item is None:
        return {}
    given = item.model_dump(mode="json", exclude_unset=True)
    return {key: given[key] for key in COPIED if key in given}


def _said(transcript: Transcript) -> list[int]:
    return [index for index, turn in enumerate(transcript.turns) if turn.role == "user"]


def _lines(transcript: Transcript) -> list[str]:
    """What the user said and the agent answered: a last word that nobody heard is left out."""
    heard = [index for index, turn in enumerate(transcript.turns) if turn.role == "assistant"]
    return [
        transcript.turns[index].text
        for index in _said(transcript)
        if transcript.turns[index].text and heard and index < heard[-1]
    ]


def _known(transcript: Transcript) -> dict[str, Any]:
    """Arguments of calls that the user had said before: the facts that the agent took up."""
    found: dict[str, Any] = {}
    for turn, call in transcript.calls():
        said = [one.text for one in transcript.turns[:turn] if one.role == "user"]
        for name, value in (call.arguments or {}).items():
            plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            if name in found or not plain or len(str(value)) < 2:
                continue
            if any(contains(text, str(value)) is not None for text in said):
                found[name] = value
    return dict(list(found.items())[:KNOWN_AT_MOST])


def _message(turn: Turn) -> dict[str, Any]:
    """A turn as the chat message that it was read from."""
    message: dict[str, Any] = {"role": turn.role, "content": turn.text}
    if turn.role == "tool":
        return {**message, "tool_call_id": turn.reply_to or "", "name": turn.name or ""}
    if turn.refusal:
        message["refusal"] = turn.refusal
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": (call.raw or "")
                    if call.arguments is None
                    else json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in turn.calls
        ]
    return message
