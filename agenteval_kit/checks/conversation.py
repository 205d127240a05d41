"""Checks of how the conversation went: what was asked how often, and what it cost.

May not call an unknown cost 0: what is not known is unscored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agenteval_kit.checks.asks import ASK_PATTERNS, find_asks
from agenteval_kit.checks.reading import Reading
from agenteval_kit.checks.result import CheckResult, Item, clip
from agenteval_kit.text import counted, tidy

__all__ = [
    "ASK_PATTERNS",
    "AsksAfterGiven",
    "AsksAtMost",
    "MaxChars",
    "MaxCost",
    "MaxSeconds",
    "MaxTokens",
    "MaxTurns",
    "MaxWords",
    "find_asks",
]


@dataclass(frozen=True, slots=True)
class AsksAtMost:
    """The agent asks for a field in at most so many turns."""

    pattern: re.Pattern[str]
    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        asked = [
            (turn, found[0].text)
            for turn, text in reading.agent
            if (found := find_asks(text, self.pattern))
        ]
        wanted = f"asked in at most {counted(self.most, 'turn')}"
        if len(asked) <= self.most:
            return CheckResult(True, wanted, f"in {len(asked)}")
        turn, text = asked[self.most]
        places = ", ".join(str(at) for at, _ in asked)
        why = f"asked at turn{'s' if len(asked) > 1 else ''} {places}"
        return CheckResult(False, wanted, clip(text), turn, why)


@dataclass(frozen=True, slots=True)
class AsksAfterGiven:
    """The agent does not ask for what a user turn has already given."""

    ask: re.Pattern[str]
    given: re.Pattern[str]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = "not asked once given"
        for at, said in reading.user:
            if not self.given.search(tidy(said)):
                continue
            for turn, text in reading.agent:
                if turn is None or at is None or turn <= at:
                    continue
                found = find_asks(text, self.ask)
                if found:
                    why = f"the user had given it at turn {at}"
                    return CheckResult(False, wanted, clip(found[0].text), turn, why)
            return CheckResult(True, wanted, f"given at turn {at}")
        return CheckResult(True, wanted, "never given")


@dataclass(frozen=True, slots=True)
class MaxTurns:
    """The conversation has at most so many turns: messages, tool results counted."""

    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        count = len(reading.transcript.turns)
        turn = None if count <= self.most else self.most
        return _at_most(self.most, count, "turns", turn=turn)


@dataclass(frozen=True, slots=True)
class MaxWords:
    """No agent turn has more words than this."""

    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        sizes = [(len(text.split()), turn) for turn, text in reading.agent]
        size, turn = max(sizes, key=lambda pair: pair[0], default=(0, None))
        return _at_most(self.most, size, "words", turn=turn)


@dataclass(frozen=True, slots=True)
class MaxChars:
    """No agent turn has more characters than this."""

    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        sizes = [(len(text), turn) for turn, text in reading.agent]
        size, turn = max(sizes, key=lambda pair: pair[0], default=(0, None))
        return _at_most(self.most, size, "characters", turn=turn)


@dataclass(frozen=True, slots=True)
class MaxTokens:
    """The agent's model used at most so many tokens, input and output together."""

    most: int

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        usage = reading.transcript.usage
        if usage.input_tokens is None or usage.output_tokens is None:
            known = usage.input_tokens or usage.output_tokens or 0
            if known > self.most:
                return _at_most(self.most, known, "tokens", turn=None)
            return _unknown(f"at most {self.most} tokens", "the number of tokens is not known")
        total = usage.input_tokens + usage.output_tokens
        return _at_most(self.most, total, "tokens", turn=None)


@dataclass(frozen=True, slots=True)
class MaxCost:
    """The agent cost at most so many US dollars."""

    most: float

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        cost = reading.transcript.cost_usd
        if cost is None:
            return _unknown(f"at most {self.most:g} USD", "the cost is not known")
        return _at_most(self.most, cost, "USD", turn=None)


@dataclass(frozen=True, slots=True)
class MaxSeconds:
    """The agent took at most so many seconds."""

    most: float

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        seconds = reading.transcript.seconds
        if seconds is None:
            return _unknown(f"at most {self.most:g} seconds", "the time is not known")
        return _at_most(self.most, seconds, "seconds", turn=None)


def _at_most(most: float, found: float, unit: str, *, turn: int | None) -> CheckResult:
    if found <= most:
        return CheckResult(True, f"at most {most:g} {unit}", f"{found:g}", turn)
    over = found - most
    why = f"{over:g} {unit.removesuffix('s') if over == 1 else unit} too many"
    return CheckResult(False, f"at most {most:g} {unit}", f"{found:g}", turn, why)


def _unknown(expected: str, why: str) -> CheckResult:
    return CheckResult(None, expected, "unknown", why=why)
