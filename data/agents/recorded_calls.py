"""What the recordings hold: each call of an agent, the changes before it, and its result.

May not answer for a call that they do not hold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).resolve().parent.parent / "recorded"

FLIGHT = {"flight_number", "date"}

Change = tuple[str, str]
"""Name of a tool that changes something, and its arguments in their canonical form."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of a recording.

    Attributes
    ----------
    task : str
        Case id of the task, like ``task-007``.
    name : str
        The tool.
    key : str
        Its arguments in their canonical form.
    before : collections.Counter
        The changes that had been made in the recording until then.
    result : str
        What the back end answered.
    """

    task: str
    name: str
    key: str
    before: Counter[Change]
    result: str

    @property
    def refused(self) -> bool:
        """Whether the back end did not carry it out."""
        return self.result.startswith(("Error", "Unknown action"))


def canonical(arguments: Mapping[str, Any]) -> str:
    """Arguments in the one form in which equal calls are equal texts.

    The order of keys, 5 or 5.0, and blanks around a text make no difference; nor does the order
    in which items are named, as long as each keeps the new item that it is exchanged for; nor
    what is said of a flight beside its number and date.
    """
    made = {name: _plain(value) for name, value in arguments.items()}
    old, new = made.get("item_ids"), made.get("new_item_ids")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = sorted(zip(old, new, strict=True), key=str)
        made["item_ids"], made["new_item_ids"] = map(list, zip(*pairs, strict=True)) or ([], [])
    elif isinstance(old, list) and new is None:
        made["item_ids"] = sorted(old, key=str)
    return json.dumps(made, ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        # Some calls name a flight's airports too; the back end takes them from the flight.
        names = FLIGHT if value.keys() >= FLIGHT else value
        return {name: _plain(value[name]) for name in names}
    return value


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a recording: one trial of one task each."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def task_of(row: Mapping[str, Any]) -> str:
    """Case id of a row's task."""
    return f"task-{row['task_id']:03d}"


def read_calls(row: Mapping[str, Any], *, changing: Collection[str]) -> Iterator[RecordedCall]:
    """The calls of one row in order; those whose arguments are no JSON object are left out.

    Parameters
    ----------
    row : dict
        From `read_rows`.
    changing : collection of str
        Tools that change something, where they succeed.
    """
    done: Counter[Change] = Counter()
    said = row["traj"]
    for place, message in enumerate(said):
        for call in message.get("tool_calls") or ():
            arguments = _arguments(call["function"]["arguments"])
            result = _reply(said[place + 1 :], call["id"])
            if arguments is None or result is None:
                continue
            name, key = call["function"]["name"], canonical(arguments)
            one = RecordedCall(task_of(row), name, key, done.copy(), result)
            yield one
            if name in changing and not one.refused:
                done[name, key] += 1


def _reply(later: Sequence[Mapping[str, Any]], call_id: str) -> str | None:
    # Some trials use an id twice, so only the replies next to the call are looked at.
    for message in later:
        if message["role"] != "tool":
            return None
        if message["tool_call_id"] == call_id:
            return str(message["content"])
    return None


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def read_references(path: Path, *, changing: Collection[str]) -> dict[str, Counter[Change]]:
    """By task, the changes that its reference actions make.

    A reference action that the back end refused when a recorded agent began with it changes
    nothing, and is left out.
    """
    rows = list(read_rows(path))
    refused = {
        (call.name, call.key)
        for row in rows
        for call in read_calls(row, changing=changing)
        if call.refused and not call.before
    }
    found: dict[str, Counter[Change]] = {}
    for row in rows:
        actions = row["info"]["task"]["actions"]
        changes = [(one["name"], canonical(one["kwargs"])) for one in actions
                   if one["name"] in changing]  # fmt: skip
        found[task_of(row)] = Counter(change for change in changes if change not in refused)
    return found
