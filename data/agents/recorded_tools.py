"""Tools that answer as a back end once did: from recordings of the same task.

May not invent a result: a call that no recording holds is answered by an error, and is told.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from arithmetic import calculate
from recorded_calls import RECORDED, Change, RecordedCall, canonical, read_calls, read_rows

from agenteval_kit.agents import Tool

NOT_RECORDED = "error: not in the recordings"

SUBJECTS = ("order_id", "reservation_id", "user_id")
"""Arguments that name what a call is about."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """What all conversations read: the tools, and every recorded call by name and arguments."""

    tools: tuple[dict[str, Any], ...]
    calls: Mapping[Change, Sequence[RecordedCall]]


@cache
def load_recordings(folder: str, *files: str) -> Recordings:
    """The recordings of a folder of ``data/recorded``, with its ``tools.json``; read once."""
    tools = json.loads((RECORDED / folder / "tools.json").read_text(encoding="utf-8"))
    changing = {tool["name"] for tool in tools if tool["kind"] == "changes"}
    calls: dict[Change, list[RecordedCall]] = defaultdict(list)
    for file in files:
        for row in read_rows(RECORDED / folder / file):
            for call in read_calls(row, changing=changing):
                calls[call.name, call.key].append(call)
    return Recordings(tuple(tools), dict(calls))


class RecordedTools:
    """The back end of one conversation, as far as the recordings hold it.

    The kind of a tool, in ``tools.json``, says how it answers:

    - ``reads``: with what was recorded for the same call, in the same task or else in another;
    - ``changes``: with what was recorded for the same call in the same task;
    - ``computes``: by arithmetic;
    - ``says``: always the same, whatever the arguments; ``hands_over`` too, and every recording
      ends there.

    A recorded result is given where the same changes had been made by then, or others that name
    neither the order, nor the reservation, nor the user that the call is about.
    """

    def __init__(self, recordings: Recordings) -> None:
        self._calls = recordings.calls
        self._begin("")
        self.tools = [
            Tool(
                one["name"],
                one["description"],
                deepcopy(one["parameters"]),
                self._function(one["name"], one["kind"], one.get("result", "")),
            )
            for one in recordings.tools
        ]

    def reset(self, case: Any, now: datetime) -> None:
        """Begin anew; the case's id says which task it is."""
        self._begin(case.id)

    def state(self) -> dict[str, Any]:
        """Give what was changed, where the answers came from, and what had none."""
        return {
            "changes": deepcopy(self._done),
            "answers": dict(self._answers),
            "not_in_recordings": deepcopy(self._missed),
            "handed_over": self._handed_over,
        }

    def events(self) -> list[dict[str, Any]]:
        """Give what happened, in order."""
        return deepcopy(self._said)

    def _begin(self, task: str) -> None:
        self._task = task
        self._changes: Counter[Change] = Counter()
        self._done: list[dict[str, Any]] = []
        self._missed: list[dict[str, Any]] = []
        self._said: list[dict[str, Any]] = []
        self._handed_over = False
        self._answers = {
            "same_task": 0, "other_task": 0, "other_moment": 0, "computed": 0,
            "not_in_recordings": 0,
        }  # fmt: skip

    def _function(self, name: str, kind: str, result: str) -> Callable[..., str]:
        def answer(**arguments: Any) -> str:
            if self._handed_over:
                return self._miss(name, arguments, "they all end when a person takes over")
            if kind == "computes":
                self._answers["computed"] += 1
                return calculate(arguments.get("expression"))
            if kind == "hands_over":
                self._handed_over = True
                self._note("handed_over", arguments)
            if kind in ("says", "hands_over"):
                return result
            return self._look_up(name, arguments, changes=kind == "changes")

        return answer

    def _look_up(self, name: str, arguments: dict[str, Any], *, changes: bool) -> str:
        key, call = canonical(arguments), {"tool": name, "arguments": arguments}
        found = self._nearest(name, key, here=changes)
        if found is None:
            return self._miss(name, arguments, "no recorded run made this call at this point")
        where = "same_task" if found.task == self._task else "other_task"
        if found.before != self._changes:
            where = "other_moment"
            self._note("other_moment", call)
        self._answers[where] += 1
        if found.refused:
            # This package's word for an error of a tool, so that checks know it for one.
            return f"error: {found.result.removeprefix('Error:').strip()}"
        if changes:
            self._changes[name, key] += 1
            self._done.append(call)
            self._note("changed", call)
        return found.result

    def _nearest(self, name: str, key: str, *, here: bool) -> RecordedCall | None:
        given = json.loads(key)
        about = [json.dumps(given[one], ensure_ascii=False) for one in SUBJECTS if one in given]
        best: tuple[int, bool] | None = None
        nearest = None
        for one in self._calls.get((name, key), ()):
            elsewhere = one.task != self._task
            apart = (self._changes - one.before) + (one.before - self._changes)
            touched = any(named in change for _, change in apart for named in about)
            if touched or (here and elsewhere):
                continue
            distance = (apart.total(), elsewhere)
            if best is None or distance < best:
                best, nearest = distance, one
        return nearest

    def _miss(self, name: str, arguments: dict[str, Any], why: str) -> str:
        self._answers["not_in_recordings"] += 1
        call = {"tool": name, "arguments": arguments}
        self._missed.append(call)
        self._note("not_in_recordings", call)
        return f"{NOT_RECORDED}: {why}, so its result is not known"

    def _note(self, name: str, data: dict[str, Any]) -> None:
        self._said.append({"name": name, "data": deepcopy(data)})
