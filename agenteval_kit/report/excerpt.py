"""Which turns of a transcript are shown, and how much of each, when there is not room for all.

May not render: `transcript` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.records.transcripts import STOP_REASONS, ToolCall, Turn
from agenteval_kit.text import counted

__all__ = [
    "Window",
    "call_text",
    "choose_window",
    "find_spans",
    "focus_turns",
    "headline",
    "quoted_words",
    "shown_turns",
    "text_size",
]

_LEAST = 160
_SHORTEST = 2
_ONE_LINE = 160
_QUOTED = re.compile(r'"([^"]{2,})"')


@dataclass(frozen=True, slots=True)
class Window:
    """What is shown of a transcript.

    Attributes
    ----------
    turns : frozenset of int or None
        Turns that are shown; None is all of them.
    chars : int or None
        Characters of each text that are shown; None is all of them.
    """

    turns: frozenset[int] | None = None
    chars: int | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.turns is None and self.chars is None


def choose_window(transcript: Transcript, *, focus: Collection[int], budget: int | None) -> Window:
    """The whole transcript if it fits in `budget` characters, else the turns that matter.

    Those are the turns in `focus` with their neighbours, the first turn and the final answer.
    """
    if budget is None or text_size(transcript) <= budget:
        return Window()
    last = len(transcript.turns) - 1
    kept = {0, last}
    if transcript.answer_turn is not None:
        kept.add(transcript.answer_turn)
    for turn in focus:
        kept.update((turn - 1, turn, turn + 1))
    shown = frozenset(turn for turn in kept if 0 <= turn <= last)
    return Window(shown, max(_LEAST, budget // max(1, len(shown))))


def shown_turns(transcript: Transcript, window: Window) -> frozenset[int]:
    """The window's turns, and those between them that take no more room than saying they are not.

    A gap of one turn with one line of text is shown: the note in its place would be as long.
    """
    every = range(len(transcript.turns))
    if window.turns is None:
        return frozenset(every)
    kept = window.turns
    # -1 and the end count as kept: a gap at either end has one neighbour there.
    near = kept | {-1, len(every)}
    alone = (at for at in every if at not in kept and near >= {at - 1, at + 1})
    return kept | {at for at in alone if _turn_size(transcript.turns[at]) <= _ONE_LINE}


def focus_turns(rows: Sequence[CheckRow]) -> tuple[int, ...]:
    """Turns at which a check failed, in order."""
    return tuple(sorted({row.turn for row in rows if row.passed is False and row.turn is not None}))


def headline(transcript: Transcript) -> str:
    """How long it is, and why it ended."""
    calls = sum(len(turn.calls) for turn in transcript.turns)
    many = f"{counted(len(transcript.turns), 'turn')}, {counted(calls, 'tool call')}"
    if transcript.stop == "answered":
        # Tool calls and their replies are turns too, so one question may take many.
        asked = sum(turn.role == "user" for turn in transcript.turns)
        return f"{'one question, ' if asked == 1 else ''}{many}; the agent answered"
    return f"{many}; {STOP_REASONS.get(transcript.stop, transcript.stop)}"


def text_size(transcript: Transcript) -> int:
    """Characters of all texts and arguments: about what the transcript takes on the page."""
    return sum(_turn_size(turn) + 60 for turn in transcript.turns)


def _turn_size(turn: Turn) -> int:
    return len(turn.text) + len(turn.refusal or "") + sum(len(call_text(one)) for one in turn.calls)


def call_text(call: ToolCall) -> str:
    """A call as people read it: ``get_order(order_id="A-77")``; malformed ones as they came."""
    if call.arguments is None:
        return f"{call.name}({call.raw or ''})"
    shown = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items()
    )
    return f"{call.name}({shown})"


def quoted_words(received: Sequence[str]) -> list[str]:
    """The words of the transcript that are quoted in what checks received.

    Checks cut and quote what they show; the pieces between the cuts are looked for.
    """
    pieces: list[str] = []
    for text in received:
        quoted = _QUOTED.findall(text) or [text]
        for one in quoted:
            pieces.extend(part.strip(" \"'") for part in one.split("…"))
    return [piece for piece in dict.fromkeys(pieces) if len(piece) >= _SHORTEST]


def find_spans(turn: Turn, quotes: Sequence[str]) -> list[tuple[int, int]]:
    """Where the quotes stand in a turn's text, merged and in order; one not found is no span.

    Case and the kind of white space do not count.
    """
    found: list[tuple[int, int]] = []
    for quote in quotes:
        words = quote.split()
        if not words:
            continue
        pattern = r"\s+".join(re.escape(word) for word in words)
        match = re.search(pattern, turn.text, re.IGNORECASE)
        if match is not None:
            found.append(match.span())
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
