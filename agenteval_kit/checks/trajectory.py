"""Checks of the way: which tools were called, in which order, how often, with which arguments.

May not judge an answer. Malformed calls stay calls; parallel calls count each.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agenteval_kit.checks.outcome import schema_faults
from agenteval_kit.checks.reading import Reading, call_failure
from agenteval_kit.checks.result import CheckResult, Item, clip, show
from agenteval_kit.records import ToolCall
from agenteval_kit.text import MISSING, counted, lookup, tidy

__all__ = [
    "Approved",
    "Arguments",
    "Before",
    "ForbiddenTools",
    "Markers",
    "MaxCalls",
    "MaxIdenticalCalls",
    "NoTools",
    "NotNull",
    "Tools",
    "ToolsAnyOrder",
    "ToolsExact",
]


@dataclass(frozen=True, slots=True)
class Tools:
    """These tools are called in this order; other calls may lie between."""

    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        actual = [call.name for _, call in reading.calls]
        return _in_order(self.names, actual, shown=_shown_calls(reading), turn=_last_turn(reading))


@dataclass(frozen=True, slots=True)
class Markers:
    """The environment reported these events in this order; others may lie between."""

    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        events = reading.transcript.events
        actual = [event.name for event in events]
        turn = events[-1].turn if events else None
        return _in_order(self.names, actual, shown=_listed(actual), turn=turn)


def _in_order(
    wanted: Sequence[str], actual: Sequence[str], *, shown: str, turn: int | None
) -> CheckResult:
    rest = iter(actual)
    if all(name in rest for name in wanted):
        return CheckResult(True, _listed(wanted), shown, turn)
    why = _missing(wanted, actual)
    if not why:
        # `any(name in rest ...)` style matching stops at the first name out of place.
        rest = iter(actual)
        stuck = next(name for name in wanted if name not in rest)
        why = f"all of them occur, but in another order: {stuck} comes too early"
    return CheckResult(False, _listed(wanted), shown, turn, why)


def _missing(wanted: Sequence[str], actual: Sequence[str]) -> str:
    lacking = Counter(wanted) - Counter(actual)
    if not lacking:
        return ""
    return "missing " + " and ".join(
        f"{_COUNT.get(count, str(count))} {name}" for name, count in lacking.items()
    )


_COUNT = {1: "one", 2: "two", 3: "three"}


def _listed(names: Sequence[str]) -> str:
    return clip(f"[{', '.join(names)}]", limit=600)


def _shown_calls(reading: Reading) -> str:
    return _listed(
        [
            call.name if call.malformed is None else f"{call.name} (malformed)"
            for _, call in reading.calls
        ]
    )


def _last_turn(reading: Reading) -> int | None:
    return reading.calls[-1][0] if reading.calls else None


@dataclass(frozen=True, slots=True)
class ToolsExact:
    """These tools are called in this order, and nothing else."""

    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        actual = [call.name for _, call in reading.calls]
        wanted, shown = _listed(self.names), _shown_calls(reading)
        if actual == list(self.names):
            return CheckResult(True, wanted, shown, _last_turn(reading))
        lacking = _missing(self.names, actual)
        extra = _missing(actual, self.names).replace("missing", "not wanted:", 1)
        why = "; ".join(part for part in (lacking, extra) if part) or "in another order"
        allowed, turn = Counter(self.names), _last_turn(reading)
        for at, call in reading.calls:
            allowed[call.name] -= 1
            if allowed[call.name] < 0:
                turn = at
                break
        return CheckResult(False, wanted, shown, turn, why)


@dataclass(frozen=True, slots=True)
class ToolsAnyOrder:
    """These tools are called, as often as they are named, in whatever order."""

    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        why = _missing(self.names, [call.name for _, call in reading.calls])
        wanted = f"{_listed(self.names)} in any order"
        return CheckResult(not why, wanted, _shown_calls(reading), _last_turn(reading), why)


@dataclass(frozen=True, slots=True)
class NoTools:
    """No tool is called."""

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        if not reading.calls:
            return CheckResult(True, "no tool called", "[]")
        turn, call = reading.calls[0]
        why = f"{call.name} was called"
        return CheckResult(False, "no tool called", _shown_calls(reading), turn, why)


@dataclass(frozen=True, slots=True)
class ForbiddenTools:
    """None of these tools is called, not even with malformed arguments."""

    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"none of {_listed(self.names)}"
        for turn, call in reading.calls:
            if call.name in self.names:
                shown = f"{call.name}({_shown_arguments(call)})"
                return CheckResult(False, wanted, shown, turn, f"{call.name} was called")
        return CheckResult(True, wanted)


def _shown_arguments(call: ToolCall) -> str:
    return clip(call.raw or "") if call.malformed is not None else show(call.arguments)


@dataclass(frozen=True, slots=True)
class MaxCalls:
    """A tool, or with ``*`` all tools together, is called at most so often."""

    tool: str
    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        turns = [turn for turn, call in reading.calls if self.tool in ("*", call.name)]
        wanted, count = f"at most {self.most}", len(turns)
        if count <= self.most:
            return CheckResult(True, wanted, str(count))
        what = "tools were" if self.tool == "*" else f"{self.tool} was"
        times = "once" if count == 1 else f"{count} times"
        return CheckResult(False, wanted, str(count), turns[self.most], f"{what} called {times}")


@dataclass(frozen=True, slots=True)
class MaxIdenticalCalls:
    """No call is made more than so often with the very same arguments."""

    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"at most {self.most} of a kind"
        seen: Counter[tuple[str, str]] = Counter()
        worst = 0
        for turn, call in reading.calls:
            key = (call.name, _identity(call))
            seen[key] += 1
            worst = max(worst, seen[key])
            if seen[key] > self.most:
                shown = f"{call.name}({_shown_arguments(call)})"
                why = f"call {seen[key]} of {call.name} with the same arguments"
                return CheckResult(False, wanted, shown, turn, why)
        return CheckResult(True, wanted, str(worst))


def _identity(call: ToolCall) -> str:
    if call.arguments is None:
        return call.raw or ""
    return json.dumps(call.arguments, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Before:
    """Each call of `second` has a call of `first` in an earlier turn.

    A call beside it in the same turn is not earlier: its result was not known yet. Nor does a
    call count that was malformed or ended in an error.
    """

    first: str
    second: str

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"{self.first} before {self.second}"
        ready: int | None = None
        note = f"{self.first} was not called before"
        for turn, call in reading.calls:
            if call.name == self.second and (ready is None or ready >= turn):
                if ready is not None:
                    note = f"{self.first} was called in the same turn, so its result was not known"
                return CheckResult(False, wanted, _shown_calls(reading), turn, note)
            if call.name == self.first and ready is None:
                if call_failure(call) is None or _unanswered(call):
                    ready = turn
                else:
                    note = f"{self.first} was called at turn {turn}, but {call_failure(call)}"
        return CheckResult(True, wanted, _shown_calls(reading))


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of each call of a tool (``*``: of every tool) follow a JSON Schema."""

    tool: str
    validator: Any

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = "arguments that follow the schema"
        count = 0
        for turn, call in reading.calls:
            if self.tool not in ("*", call.name):
                continue
            count += 1
            fault = call.malformed
            if fault is None:
                fault = schema_faults(self.validator, call.arguments)
            if fault:
                shown = f"{call.name}({_shown_arguments(call)})"
                return CheckResult(False, wanted, shown, turn, fault)
        return CheckResult(True, wanted, counted(count, "call"))


@dataclass(frozen=True, slots=True)
class NotNull:
    """In each call of a tool (``*``: of every tool) these arguments hold something."""

    tool: str
    names: tuple[str, ...]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"a value for {', '.join(self.names)}"
        count = 0
        for turn, call in reading.calls:
            if self.tool not in ("*", call.name):
                continue
            count += 1
            why = call.malformed or self._lacking(call)
            if why:
                shown = f"{call.name}({_shown_arguments(call)})"
                return CheckResult(False, wanted, shown, turn, why)
        return CheckResult(True, wanted, counted(count, "call"))

    def _lacking(self, call: ToolCall) -> str:
        for name in self.names:
            value = lookup(call.arguments, name)
            if value is MISSING:
                return f"{name} is absent"
            if value is None:
                return f"{name} is null"
            if isinstance(value, str) and not value.strip():
                return f"{name} is an empty text"
        return ""


@dataclass(frozen=True, slots=True)
class Approved:
    """Each call of these tools has an approval of its own: a user turn since the last such call.

    A call that failed uses nothing up: its approval still stands for the next attempt.
    """

    tools: tuple[str, ...]
    when: re.Pattern[str]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"a user turn that matches {self.when.pattern}"
        used = -1
        for turn, call in reading.calls:
            if call.name not in self.tools:
                continue
            since = [(at, text) for at, text in reading.user if at is not None and used < at < turn]
            if not any(self.when.search(tidy(text)) for _, text in since):
                last = f'user: "{clip(since[-1][1])}"' if since else "no user turn"
                what = f"after the call at turn {used}" if used >= 0 else "before it"
                why = f"{call.name} was called without an approval {what}"
                return CheckResult(False, wanted, last, turn, why)
            if call_failure(call) is None or _unanswered(call):
                used = turn
        return CheckResult(True, wanted)


def _unanswered(call: ToolCall) -> bool:
    # Many recordings leave replies out: such a call may well have succeeded.
    return call.malformed is None and call.error is None and call.result is None
