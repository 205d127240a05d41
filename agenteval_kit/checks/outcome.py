"""Checks of what came out: the final answer, the returned record, the state left behind.

May not read more of the conversation than `where` says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agenteval_kit.checks.reading import Reading, Where
from agenteval_kit.checks.result import CheckResult, Item, around, clip, show
from agenteval_kit.text import MISSING, alternatives, contains, find_any, fold, lookup, same_value

__all__ = [
    "Equals",
    "Expect",
    "FinalState",
    "Matches",
    "MustInclude",
    "MustNotInclude",
    "MustNotMatch",
    "RecordedReward",
    "RequiredField",
    "Schema",
]


@dataclass(frozen=True, slots=True)
class Expect:
    """One dotted path of the returned record has this value."""

    path: str
    value: Any
    free_text: bool = False
    strict: bool = False

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        record = reading.record
        if record is MISSING:
            return CheckResult(
                False,
                _wanted(self.value, self.free_text),
                clip(reading.answer) or "nothing",
                reading.answer_turn,
                "the agent returned no record, and its final answer is not JSON",
            )
        return compare(
            self.value,
            lookup(record, self.path),
            free_text=self.free_text,
            strict=self.strict,
            turn=reading.answer_turn,
        )


@dataclass(frozen=True, slots=True)
class FinalState:
    """One dotted path of the environment's state, or else of the record, has this value."""

    path: str
    value: Any
    free_text: bool = False
    strict: bool = False

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        state, record = reading.transcript.state, reading.record
        if state is None and record is MISSING:
            return CheckResult(
                None,
                _wanted(self.value, self.free_text),
                "no state",
                why="neither the environment exposes a state nor the agent returned a record",
            )
        found = MISSING if state is None else lookup(state, self.path)
        if found is MISSING and record is not MISSING:
            found = lookup(record, self.path)
        return compare(self.value, found, free_text=self.free_text, strict=self.strict)


def compare(
    expected: Any,
    received: Any,
    *,
    free_text: bool = False,
    strict: bool = False,
    turn: int | None = None,
) -> CheckResult:
    """Compare one value with what was expected; absent, null and "" are three findings."""
    wanted = _wanted(expected, free_text)
    loose = free_text and isinstance(expected, str) and fold(expected) != ""
    if loose and isinstance(received, str):
        passed = contains(received, expected) is not None
    else:
        passed = same_value(expected, received, strict=strict)
    if passed:
        return CheckResult(True, wanted, show(received), turn)
    if received is MISSING:
        why = "there is nothing at this path"
    elif received is None:
        why = "the value is null"
    elif received == "":
        why = "the value is an empty text"
    elif strict and same_value(expected, received):
        why = "the value agrees but its type does not, and strict asks for both"
    elif loose:
        why = "the value does not contain the expected text"
    else:
        why = "the value differs"
    return CheckResult(False, wanted, show(received), turn, why)


def _wanted(value: Any, free_text: bool) -> str:
    return f"contains {show(value)}" if free_text and isinstance(value, str) else show(value)


@dataclass(frozen=True, slots=True)
class Equals:
    """The whole record, or else the whole final answer, equals this."""

    value: Any
    strict: bool = False

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        answer, record = reading.answer, reading.record
        if record is not MISSING and same_value(self.value, record, strict=self.strict):
            return CheckResult(True, show(self.value), show(record), reading.answer_turn)
        said = None if fold(answer) == "null" else answer
        if reading.transcript.output is None and (
            same_value(self.value, said) or same_value(self.value, answer)
        ):
            return CheckResult(True, show(self.value), show(answer), reading.answer_turn)
        received = show(answer if record is MISSING else record)
        why = "the answer differs" if record is MISSING else "the record differs"
        return CheckResult(False, show(self.value), received, reading.answer_turn, why)


@dataclass(frozen=True, slots=True)
class MustInclude:
    """The final answer holds the phrase, or one of its alternatives."""

    phrase: str
    where: Where = "final"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        for turn, text in reading.texts(self.where):
            found = find_any(text, self.phrase)
            if found is not None:
                return CheckResult(True, self.phrase, found.phrase, turn)
        options = alternatives(self.phrase)
        what = "the phrase stands" if len(options) == 1 else "none of the alternatives stands"
        not_there = "the phrase does not stand" if len(options) == 1 else what
        place = "the final answer" if self.where == "final" else "any agent turn"
        return CheckResult(
            False,
            self.phrase,
            clip(reading.answer) or "nothing",
            reading.answer_turn,
            f"{not_there} in {place}",
        )


@dataclass(frozen=True, slots=True)
class MustNotInclude:
    """No agent turn holds the phrase, nor any of its alternatives."""

    phrase: str
    where: Where = "every"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        for turn, text in reading.texts(self.where):
            found = find_any(text, self.phrase)
            if found is not None:
                return CheckResult(
                    False,
                    f"not {self.phrase}",
                    around(fold(text), found.start, found.end),
                    turn,
                    f'the agent said "{found.phrase}"',
                )
        return CheckResult(True, f"not {self.phrase}")


@dataclass(frozen=True, slots=True)
class Matches:
    """The final answer, as it stands, matches the pattern somewhere."""

    pattern: re.Pattern[str]
    where: Where = "final"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        for turn, text in reading.texts(self.where):
            found = self.pattern.search(text)
            if found is not None:
                return CheckResult(True, self.pattern.pattern, clip(found[0]), turn)
        return CheckResult(
            False,
            self.pattern.pattern,
            clip(reading.answer) or "nothing",
            reading.answer_turn,
            "the pattern matches nowhere",
        )


@dataclass(frozen=True, slots=True)
class MustNotMatch:
    """The final answer, as it stands, does not match the pattern anywhere."""

    pattern: re.Pattern[str]
    where: Where = "final"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"no match of {self.pattern.pattern}"
        for turn, text in reading.texts(self.where):
            found = self.pattern.search(text)
            if found is not None:
                near = around(text, found.start(), found.end())
                return CheckResult(False, wanted, near, turn, f'"{clip(found[0])}" matches')
        return CheckResult(True, wanted)


@dataclass(frozen=True, slots=True)
class Schema:
    """The record follows a JSON Schema."""

    validator: Any
    title: str = "the schema"

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        wanted = f"follows {self.title}"
        record = reading.record
        if record is MISSING:
            why = "the agent returned no record, and its final answer is not JSON"
            return CheckResult(
                False, wanted, clip(reading.answer) or "nothing", reading.answer_turn, why
            )
        why = schema_faults(self.validator, record)
        return CheckResult(not why, wanted, show(record), reading.answer_turn, why)


def schema_faults(validator: Any, value: Any) -> str:
    """What a JSON Schema validator finds wrong, in one line, or ""; the first three faults."""
    faults = sorted(validator.iter_errors(value), key=lambda fault: list(map(str, fault.path)))
    lines = [
        f"{'.'.join(map(str, fault.path)) or 'the whole'}: {clip(fault.message, limit=120)}"
        for fault in faults[:3]
    ]
    more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
    return "; ".join(lines) + more


@dataclass(frozen=True, slots=True)
class RequiredField:
    """The record has something at this dotted path: not absent, not null, not ""."""

    path: str

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        record = reading.record
        found = lookup(record, self.path)
        why = ""
        if record is MISSING:
            why = "the agent returned no record, and its final answer is not JSON"
        elif found is MISSING:
            why = "there is nothing at this path"
        elif found is None:
            why = "the value is null"
        elif isinstance(found, str) and not fold(found):
            why = "the value is an empty text"
        return CheckResult(not why, "a value", show(found), reading.answer_turn, why)


@dataclass(frozen=True, slots=True)
class RecordedReward:
    """The reward that a recording brought along is at least this."""

    at_least: float

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        reward = reading.transcript.reward
        wanted = f"at least {self.at_least:g}"
        if reward is None:
            return CheckResult(None, wanted, "none", why="the recording carries no reward")
        # Rewards are sums of floats in some environments; a rounding error is not a failure.
        passed = reward >= self.at_least - 1e-9
        why = "" if passed else "the recorded reward is lower"
        return CheckResult(passed, wanted, f"{reward:g}", None, why)
