"""What a check returns, what a check is, and how values are shown in a row.

May not decide anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from agenteval_kit.checks.reading import Reading
from agenteval_kit.records import Case, Scenario, Transcript
from agenteval_kit.text import MISSING

__all__ = ["Check", "CheckResult", "Rule", "Span", "around", "clip", "show"]

Item = Case | Scenario


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes
    ----------
    passed : bool or None
        None is unscored; `why` says why.
    expected, received : str
        What was wanted and what came, as text.
    turn : int or None
        Where, counted from 0.
    why : str
        One sentence; empty for a plain pass.
    """

    passed: bool | None
    expected: str = ""
    received: str = ""
    turn: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: ``text == whole[start:end]``."""

    start: int
    end: int
    text: str


class Rule(Protocol):
    """A property decided by code: parameters in the constructor, a result out.

    None means that the check is not due for this transcript: it gets no row.
    """

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult | None:
        """Decide."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one case: a rule with its name (unique within the case) and layer."""

    name: str
    layer: str
    rule: Rule
    critical: bool = False

    def __call__(self, transcript: Transcript, item: Item) -> CheckResult | None:
        """Decide on one transcript, whatever became of it (see `run_checks` for crashes)."""
        return self.rule(Reading(transcript), item)


def clip(text: str, *, limit: int = 240) -> str:
    """Text short enough for a row; the cut is visible."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def show(value: Any, *, limit: int = 240) -> str:
    """A JSON value as a person would write it: text in quotes, null, true, absent."""
    if value is MISSING:
        return "absent"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return clip(text, limit=limit)


def around(text: str, start: int, end: int) -> str:
    """The stretch of a text with some of what stands about it."""
    left, right = max(0, start - 40), min(len(text), end + 40)
    head, tail = "…" if left else "", "…" if right < len(text) else ""
    return f"{head}{text[left:right]}{tail}".replace("\n", " ")
