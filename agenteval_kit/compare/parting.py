"""Where two transcripts of one case part: the first turn, and the first tool call, that differ.

May not say which of the two is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agenteval_kit.files import canonical_json
from agenteval_kit.records import ToolCall, Transcript, Turn

__all__ = ["Parting", "part_calls", "part_turns"]

What = Literal["role", "tool call", "tool result", "refusal", "text", "end"]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first place where two transcripts of one case differ.

    Attributes
    ----------
    turn : int
        Of the new transcript, from 0; where it has ended, the number of its turns.
    role : str
        Whose turn it is: user, assistant or tool.
    what : str
        Which part differs: role, tool call, tool result, refusal, text, or end (one of the two
        goes on where the other has ended).
    old, new : str
        What stands there; empty where that side has ended.
    """

    turn: int
    role: str
    what: What
    old: str
    new: str


def part_turns(old: Transcript, new: Transcript) -> Parting | None:
    """The first turn that differs; None if all are equal.

    White space at the ends of a text and ids of calls do not count.
    """
    for index, (one, two) in enumerate(zip(old.turns, new.turns, strict=False)):
        found = _differ(index, one, two)
        if found is not None:
            return found
    shorter = min(len(old.turns), len(new.turns))
    if len(old.turns) == len(new.turns):
        return None
    longer = old.turns if len(old.turns) > shorter else new.turns
    shown = _whole(longer[shorter])
    goes_on = longer is new.turns
    return Parting(
        shorter, longer[shorter].role, "end", "" if goes_on else shown, shown if goes_on else ""
    )


def part_calls(old: Transcript, new: Transcript) -> Parting | None:
    """The first tool call that differs in name or arguments; None if all are equal."""
    before, after = old.calls(), new.calls()
    for (_, one), (turn, two) in zip(before, after, strict=False):
        if _call(one) != _call(two):
            return Parting(turn, "assistant", "tool call", _call(one), _call(two))
    if len(before) > len(after):
        left = before[len(after)][1]
        return Parting(len(new.turns), "assistant", "end", _call(left), "")
    if len(after) > len(before):
        turn, more = after[len(before)]
        return Parting(turn, "assistant", "end", "", _call(more))
    return None


def _differ(index: int, one: Turn, two: Turn) -> Parting | None:
    if one.role != two.role:
        return Parting(index, two.role, "role", _whole(one), _whole(two))
    left, right = [_call(call) for call in one.calls], [_call(call) for call in two.calls]
    if left != right:
        return Parting(index, two.role, "tool call", "; ".join(left), "; ".join(right))
    if (one.refusal or "").strip() != (two.refusal or "").strip():
        return Parting(index, two.role, "refusal", one.refusal or one.text, two.refusal or two.text)
    if one.text.strip() != two.text.strip():
        what: What = "tool result" if two.role == "tool" else "text"
        return Parting(index, two.role, what, one.text, two.text)
    return None


def _whole(turn: Turn) -> str:
    said = turn.text or turn.refusal or ""
    return f"{turn.role}: " + "; ".join([*([said] if said else []), *map(_call, turn.calls)])


def _call(call: ToolCall) -> str:
    arguments = canonical_json(call.arguments) if call.arguments is not None else call.raw or ""
    return f"{call.name}({arguments})"
