"""A transcript for a terminal: plain text that no terminal can be steered by.

May not colour or fold; the page does that.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.records.transcripts import FINDINGS
from agenteval_kit.report.excerpt import call_text, headline
from agenteval_kit.text import counted
from agenteval_kit.visible import printable

__all__ = ["transcript_text"]

_WHO = {"user": "user", "assistant": "agent", "tool": "tool"}
_MARGIN = 11


def transcript_text(
    transcript: Transcript,
    rows: Sequence[CheckRow] = (),
    *,
    width: int = 100,
    encoding: str = "utf-8",
    longest: int | None = 1200,
) -> str:
    r"""One transcript with its check rows, as lines of text.

    Control and bidi characters, and whatever the terminal's encoding lacks, are written as
    ``\x1b`` or ``\u202e``.

    Parameters
    ----------
    transcript : Transcript
        What happened.
    rows : sequence of CheckRow
        Its check rows: listed first, and failed ones named again at their turn.
    width : int
        Columns of the terminal.
    encoding : str
        What the terminal can print (``sys.stdout.encoding``).
    longest : int, optional
        Characters of a tool's reply that are shown; None is all.
    """
    lines = [f"{transcript.case_id}, repeat {transcript.repeat}: {headline(transcript)}"]
    if transcript.stamps is not None:
        lines.append(f"agent {transcript.stamps.model}, prompt {transcript.stamps.prompt}")
    lines.append("")
    for row in rows:
        lines.extend(_row(row, width))
    if rows:
        lines.append("")
    at_turn: dict[int, list[str]] = {}
    for row in rows:
        if row.passed is False and row.turn is not None:
            at_turn.setdefault(row.turn, []).append(f"FAIL {row.layer}: {row.name}")
    for finding in transcript.findings:
        if finding.turn is not None:
            words = FINDINGS.get(finding.state, finding.state)
            at_turn.setdefault(finding.turn, []).append(f"finding: {words}")
    for index, turn in enumerate(transcript.turns):
        said = []
        if turn.text:
            text = turn.text
            if turn.role == "tool":
                text = f"<- {turn.name or '?'} {_clip(text, longest)}"
            said.append(text)
        if turn.refusal:
            said.append(f"[refused] {turn.refusal}")
        for call in turn.calls:
            bad = f"  [malformed: {call.malformed}]" if call.malformed is not None else ""
            said.append(f"-> {call_text(call)}{bad}")
            if call.error is not None:
                said.append(f"   error: {call.error}")
        said.extend(f"** {note}" for note in at_turn.get(index, ()))
        lines.extend(_block(f"{index} {_WHO[turn.role]}", said or ["(empty)"], width))
    if not transcript.turns:
        lines.append("No turn at all.")
    if transcript.failure is not None:
        failure = transcript.failure
        lines.extend(["", f"{failure.kind} failure: {failure.type}: {failure.message}"])
        lines.extend(failure.traceback.splitlines())
    if transcript.output is not None:
        shown = json.dumps(transcript.output, ensure_ascii=False, indent=1, default=str)
        lines.extend(["", "the record that it returned:", *shown.splitlines()])
    return printable("\n".join(lines) + "\n", encoding=encoding)


def _row(row: CheckRow, width: int) -> list[str]:
    word = {True: "pass", False: "FAIL", None: "????"}[row.passed]
    where = "" if row.turn is None else f" (turn {row.turn})"
    lines = [f"{word}  {row.layer}: {row.name}{where}{f': {row.why}' if row.why else ''}"]
    if row.passed is False:
        for name, value in (("expected", row.expected), ("received", row.received)):
            if value:
                lines.extend(_block(f"  {name}", [_clip(value, 600)], width))
    return lines


def _block(label: str, texts: Sequence[str], width: int) -> list[str]:
    """A label in the margin and wrapped text beside it."""
    room = max(30, width - _MARGIN)
    wrapped = [
        piece
        for text in texts
        for line in text.replace("\r\n", "\n").split("\n")
        for piece in (
            textwrap.wrap(line, room, break_on_hyphens=False, replace_whitespace=False) or [""]
        )
    ]
    lines = [f"{label:<{_MARGIN - 1}} {wrapped[0]}".rstrip()]
    lines.extend(f"{'':<{_MARGIN}}{piece}".rstrip() for piece in wrapped[1:])
    return lines


def _clip(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]} ... ({counted(len(text) - longest, 'more character')})"
