"""Takes a person's data out of a run: the one exception to "runs are only added to".

May not touch labels, which lie elsewhere, nor another run that holds the same conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.files import Appender, read_jsonl, write_atomic

__all__ = ["withdraw_case", "withdrawn_cases"]

ROWS = ("transcripts.jsonl", "checks.jsonl", "verdicts.jsonl", "preferences.jsonl")
TAPE = "calls.jsonl"
NOTE = "withdrawn.jsonl"


def withdraw_case(folder: Path, case_id: str, *, by: str, reason: str, at: str) -> dict[str, int]:
    """Remove every row of a case, with the replies on the tape that it was made of; note it.

    A reply on the tape is known by its text or its tool calls, since requests are kept as digests
    only: a reply that another case shares word for word goes too, and is asked for again if that
    case is ever run anew.

    Returns
    -------
    dict of str to int
        Rows removed, by file.
    """
    said = set(_said(folder, case_id))
    removed = {
        name: _drop(folder / name, lambda row: row.get("case_id") == case_id) for name in ROWS
    }
    removed[TAPE] = _drop(folder / TAPE, lambda row: _is_of(row, said))
    note = {"case_id": case_id, "by": by, "reason": reason, "at": at, "rows": removed}
    record = Appender(folder / NOTE, sync=True)
    record.append([note])
    record.close()
    return removed


def withdrawn_cases(folder: Path) -> set[str]:
    """Ids of the cases that were taken out of a run."""
    path = folder / NOTE
    if not path.exists():
        return set()
    return {str(row.value.get("case_id")) for row in read_jsonl(path, torn="drop")}


def _drop(path: Path, mine: Callable[[dict[str, Any]], bool]) -> int:
    if not path.exists():
        return 0
    kept = []
    removed = 0
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        if mine(json.loads(line)):
            removed += 1
        else:
            kept.append(line)
    if removed:
        write_atomic(path, "".join(f"{line}\n" for line in kept))
    return removed


def _said(folder: Path, case_id: str) -> Iterator[str]:
    """What agent, simulated user and judges said of a case, and the ids of its tool calls."""
    for name in (ROWS[0], ROWS[2], ROWS[3]):
        path = folder / name
        if not path.exists():
            continue
        for row in read_jsonl(path, torn="drop"):
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
