"""Takes a person's data out of a run: the one exception to "runs are only added to".

May not touch labels, which lie elsewhere, nor another run that holds the same conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.files import Appender, read_jsonl, repair_tail, write_atomic

__all__ = ["withdraw_case", "withdrawn_cases"]

ROWS = ("transcripts.jsonl", "checks.jsonl", "verdicts.jsonl", "preferences.jsonl")
TAPE = "calls.jsonl"
NOTE = "withdrawn.jsonl"


def withdraw_case(folder: Path, case_id: str, *, by: str, reason: str, at: str) -> dict[str, int]:
    """Remove every row of a case, with the replies on the tape that it was made of; note it.

    A reply on the tape is known by its text or its tool calls, since requests are kept as digests
    only: a reply that another case shares word for word goes too, and is asked for again if that
    case is ever run anew.

    What goes is found and noted before any of it goes: a kill in between leaves a case that no
    command runs again, and the same call takes out the rest.

    Returns
    -------
    dict of str to int
        Rows removed by file, those of a call that was killed too.

    Raises
    ------
    ConfigError
        If a file cannot be read; then nothing is removed.
    """
    record = Appender(folder / NOTE, sync=True)
    for name in (TAPE, *ROWS):
        repair_tail(folder / name)
    said = set(_said(folder, case_id))
    # The tape goes first: what it holds of the case is known by the rows alone.
    gone = {TAPE: _lines(folder / TAPE, lambda row: _is_of(row, said))}
    for name in ROWS:
        gone[name] = _lines(folder / name, lambda row: row.get("case_id") == case_id)
    rows = {name: len(lines) for name, lines in gone.items()}
    record.append([{"case_id": case_id, "by": by, "reason": reason, "at": at, "rows": rows}])
    record.close()
    for name, lines in gone.items():
        if lines:
            _cut(folder / name, lines)
    noted = [note.get("rows", {}) for note in _notes(folder) if note.get("case_id") == case_id]
    return {name: max(note.get(name, 0) for note in noted) for name in gone}


def withdrawn_cases(folder: Path) -> set[str]:
    """Ids of the cases that were taken out of a run."""
    return {str(note.get("case_id")) for note in _notes(folder)}


def _notes(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / NOTE
    for row in read_jsonl(path, torn="drop") if path.exists() else ():
        yield row.value


def _lines(path: Path, mine: Callable[[dict[str, Any]], bool]) -> set[int]:
    """Lines of a file, from 1, that hold the case."""
    rows = read_jsonl(path) if path.exists() else ()
    return {row.line for row in rows if mine(row.value)}


def _cut(path: Path, lines: Container[int]) -> None:
    """Take lines out of a file; not a byte of the others changes."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        kept = [line for number, line in enumerate(stream, start=1) if number not in lines]
    write_atomic(path, "".join(kept))


def _said(folder: Path, case_id: str) -> Iterator[str]:
    """What agent, simulated user and judges said of a case, and the ids of its tool calls."""
    for name in (ROWS[0], ROWS[2], ROWS[3]):
        path = folder / name
        for row in read_jsonl(path) if path.exists() else ():
            if row.value.get("case_id") == case_id:
                yield from _words(row.value)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("text", "refusal", "reply", "id") and isinstance(item, str):
                yield item
            else:
                yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)


def _is_of(row: dict[str, Any], said: set[str]) -> bool:
    """Whether a row of the tape is a reply that stands among what was said."""
    message = (row.get("reply") or {}).get("message") or {}
    calls = [call.get("id") for call in message.get("tool_calls") or [] if isinstance(call, dict)]
    if any(name in said for name in calls):
        return True
    content = message.get("content") or message.get("refusal")
    if not isinstance(content, str):
        return False
    if content in said:
        return True
    try:
        # A played user says its line inside of a record.
        line = json.loads(content)
    except ValueError:
        return False
    return isinstance(line, dict) and line.get("say") in said
