"""Which turns of a transcript are shown, and how much of each, when there is not room for all.

May not render: `transcript` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.records.transcripts import ToolCall, Turn

__all__ = [
    "Window",
    "call_text",
    "choose_window",
    "find_spans",
    "focus_turns",
    "quoted_words",
    "text_size",
]

_LEAST = 160
_SHORTEST = 2
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


def focus_turns(rows: Sequence[CheckRow]) -> tuple[int, ...]:
    """Turns at which a check failed, in order."""
    return tuple(sorted({row.turn for row in rows if row.passed is False and row.turn is not None}))


def text_size(transcript: Transcript) -> int:
    """Characters of all texts and arguments: about what the transcript takes on the page."""
    size = 0
    for turn in transcript.turns:
        size += len(turn.text) + len(turn.refusal or "") + 60
        for call in turn.calls:
            size += len(call_text(call))
    return size


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
