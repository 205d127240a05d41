"""Shows a transcript to a judge as data: numbered, delimited, escaped.

May not leave anything out, and may let nothing in it pass for a delimiter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from agenteval_kit.records import Case, Scenario, ToolCall, Transcript, Turn

__all__ = ["Item", "block", "escape", "expected_outcomes", "quoted", "show_input", "shown_lines",
           "turn_text"]  # fmt: skip

Item = Case | Scenario

# Lone surrogates cannot be sent; other controls are shown, since a reader would not see them.
_UNSENDABLE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def escape(text: str) -> str:
    """Text that can hold no tag: < > and & as entities, control characters in words."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _UNSENDABLE.sub("\ufffd", text)
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def block(name: str, lines: list[str]) -> str:
    """Lines between ``<name>`` and ``</name>``."""
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def show_input(name: str, transcript: Transcript, item: Item | None) -> str | None:
    """The block of one input (see `records.rubrics.INPUTS`); None where there is nothing of it."""
    lines = shown_lines(name, transcript, item)
    return None if lines is None else block(name, lines)


def shown_lines(name: str, transcript: Transcript, item: Item | None) -> list[str] | None:
    """The lines of one input, for a block of another name; None where there is nothing of it."""
    return _SHOW[name](transcript, item)


def turn_text(transcript: Transcript, turn: int) -> str:
    """All that a judge was shown of one turn, unescaped: what a quotation is looked up in."""
    shown = transcript.turns[turn]
    calls = [f"{call.name} {_arguments(call)}" for call in shown.calls]
    # A result with a turn of its own is looked up there.
    results = [call.result for call in shown.calls if call.result and call.result_turn is None]
    return "\n".join([shown.text, shown.refusal or "", *calls, *results])


def expected_outcomes(items: Iterable[Item]) -> dict[str, str]:
    """The expected outcome of each case that has one: what a person is shown as judges are."""
    return {item.id: said for item in items if (said := _expected_outcome(item))}


def quoted(text: str) -> list[str]:
    """Text as lines behind a bar, so that none of them can pass for a header."""
    # splitlines knows every line break there is; a forged header would stand behind the bar.
    return [f"| {line}" for line in escape(text).splitlines()] or ["| "]


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()))


def _transcript(transcript: Transcript, _: Item | None) -> list[str]:
    lines: list[str] = []
    for number, turn in enumerate(transcript.turns):
        lines += _turn(number, turn)
    if transcript.failure is not None:
        lines.append("[the agent failed here and gave no further reply]")
    elif transcript.stop == "turn_budget":
        lines.append("[the conversation was ended here: it reached its limit of turns]")
    return lines or ["[no turn at all]"]


def _turn(number: int, turn: Turn) -> list[str]:
    if turn.role == "tool":
        name = f" {_one_line(turn.name)}" if turn.name else ""
        return [f"[turn {number}] result of tool{name}:", *quoted(turn.text)]
    who = "agent" if turn.role == "assistant" else "user"
    lines = []
    if turn.text or not (turn.calls or turn.refusal):
        lines += [f"[turn {number}] {who}:", *(quoted(turn.text) if turn.text else ["(no text)"])]
    if turn.refusal:
        lines += [f"[turn {number}] {who} refuses:", *quoted(turn.refusal)]
    for call in turn.calls:
        lines += [
            f"[turn {number}] {who} calls tool {_one_line(call.name)}:",
            *quoted(_arguments(call)),
        ]
        # A reply that has no turn of its own is shown with its call.
        if call.result is not None and call.result_turn is None:
            lines += [f"[turn {number}] its result:", *quoted(call.result)]
    return lines


def _arguments(call: ToolCall) -> str:
    if call.arguments is None:
        return f"{call.raw or ''} (malformed)" if call.malformed else call.raw or ""
    return json.dumps(call.arguments, ensure_ascii=False)


def _question(transcript: Transcript, item: Item | None) -> list[str] | None:
    for number, turn in enumerate(transcript.turns):
        if turn.role == "user":
            return [f"[turn {number}] user:", *quoted(turn.text)]
    said = item.opening if isinstance(item, Scenario) else item.input if item else None
    return None if said is None else quoted(said if isinstance(said, str) else _json(said))


def _answer(transcript: Transcript, _: Item | None) -> list[str]:
    at = transcript.answer_turn
    return ["(none)"] if at is None else [f"[turn {at}] agent:", *quoted(transcript.answer)]


def _output(transcript: Transcript, _: Item | None) -> list[str]:
    return ["(none)"] if transcript.output is None else quoted(_json(transcript.output))


def _sources(transcript: Transcript, _: Item | None) -> list[str]:
    lines: list[str] = []
    for source in transcript.sources:
        lines += [f"[passage {_one_line(source.id)}]", *quoted(source.text)]
    return lines or ["(nothing was retrieved)"]


def _expected(_: Transcript, item: Item | None) -> list[str] | None:
    said = _expected_outcome(item) if item is not None else None
    return quoted(said) if said else None


def _expected_outcome(item: Item) -> str | None:
    said = item.expected_outcome
    return item.reference if said is None and isinstance(item, Case) else said


def _rubric(_: Transcript, item: Item | None) -> list[str] | None:
    return quoted(item.rubric) if item is not None and item.rubric else None


def _system(transcript: Transcript, _: Item | None) -> list[str] | None:
    return quoted(transcript.system) if transcript.system else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


_SHOW: dict[str, Callable[[Transcript, Item | None], list[str] | None]] = {
    "transcript": _transcript,
    "question": _question,
    "answer": _answer,
    "output": _output,
    "sources": _sources,
    "expected_outcome": _expected,
    "rubric": _rubric,
    "system": _system,
}
