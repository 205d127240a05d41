"""Checks of what an answer rests on, as far as code can decide it.

May not look anything up: identifiers are handed in, figures are compared as they stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agenteval_kit.checks.figures import untraceable_figures
from agenteval_kit.checks.outcome import compare
from agenteval_kit.checks.reading import Reading, Where
from agenteval_kit.checks.result import CheckResult, Item, around, clip
from agenteval_kit.records import Scenario
from agenteval_kit.text import MISSING, fold, lookup

__all__ = ["CitedIds", "FiguresTraceable", "ReadBack", "given_before", "untraceable_figures"]


@dataclass(frozen=True, slots=True)
class CitedIds:
    """Every identifier in the answer is one that exists; the first group is it, if there is one."""

    pattern: re.Pattern[str]
    known: frozenset[str]  # folded
    where: Where = "final"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"one of {len(self.known)} known identifiers"
        cited: list[str] = []
        for turn, text in reading.texts(self.where):
            for found in self.pattern.finditer(text):
                name = next((group for group in found.groups() if group is not None), found[0])
                cited.append(name)
                if fold(name) not in self.known:
                    near = around(text, found.start(), found.end())
                    return CheckResult(False, wanted, near, turn, f'"{clip(name)}" does not exist')
        return CheckResult(True, wanted, clip(", ".join(cited)) or "no identifier cited")


@dataclass(frozen=True, slots=True)
class FiguresTraceable:
    """Every figure of two digits or more in the answer stands in something the agent was given.

    That is an earlier tool result, a source, an earlier user turn, or the system message; the
    numbers of a list and the date of the clock need no source. Arguments of calls are the
    agent's own words and count for nothing.
    """

    where: Where = "final"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = "every figure stands in a tool result, a source or a user turn"
        for turn, text in reading.texts(self.where):
            evidence = given_before(reading, turn)
            found = untraceable_figures(text, evidence, now=reading.transcript.now)
            if found:
                figures = ", ".join(dict.fromkeys(span.text for span in found))
                near = around(fold(text), found[0].start, found[0].end)
                why = f"no source for {clip(figures)}"
                return CheckResult(False, wanted, near, turn, why)
        return CheckResult(True, wanted)


def given_before(reading: Reading, turn: int | None) -> list[str]:
    """What the agent had been given before a turn (None: altogether), as texts."""
    transcript = reading.transcript
    before = transcript.turns if turn is None else transcript.turns[:turn]
    given = [each.text for each in before if each.role != "assistant" and each.text]
    for _, call in reading.calls:
        at = call.result_turn
        if call.result and (at is None or turn is None or at < turn):
            given.append(call.result)
    given.extend(
        f"{source.id} {source.text}"
        for source in transcript.sources
        if source.turn is None or turn is None or source.turn <= turn
    )
    if transcript.system:
        given.append(transcript.system)
    return given


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What the agent wrote down at a path equals the fact that the user gave.

    The path is looked up in the record, then in the state, then as ``tool.argument`` in the last
    call of that tool. In a scenario a fact that names one of `known` stands for its value.
    """

    path: str
    fact: Any

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        fact = self.fact
        if isinstance(item, Scenario) and isinstance(fact, str) and fact in item.known:
            fact = item.known[fact]
        found, turn = self._written(reading)
        return compare(fact, found, turn=turn)

    def _written(self, reading: Reading) -> tuple[Any, int | None]:
        found = lookup(reading.record, self.path)
        if found is not MISSING:
            return found, reading.answer_turn
        found = lookup(reading.transcript.state, self.path)
        if found is not MISSING:
            return found, None
        tool, dot, rest = self.path.partition(".")
        for turn, call in reversed(reading.calls):
            if dot and call.name == tool:
                return lookup(call.arguments, rest), turn
        return MISSING, None
