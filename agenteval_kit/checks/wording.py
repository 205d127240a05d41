"""Guesses from text: promises, claims of an action, refusals.

May not read anything but the text that it is given; see docs/checks.md for how often it is wrong.
"""

from __future__ import annotations

import re
from typing import Final

from agenteval_kit.checks.result import Span
from agenteval_kit.checks.sentences import sentences
from agenteval_kit.text import tidy

__all__ = ["find_claims", "find_promises", "find_refusals"]

PROMISES: Final = (r"\bi(?:'ll| will) make sure\b", r"\bguarantee\b", r"\bpromise\b")
CLAIMS: Final = (r"\bi have\b", r"\bhas been\b")
REFUSALS: Final = (r"\bunable to\b", r"\bcan(?:no|')t\b")


def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_PROMISES, _CLAIMS, _REFUSALS = map(_compiled, (PROMISES, CLAIMS, REFUSALS))


def _find(text: str, pattern: re.Pattern[str]) -> list[Span]:
    plain = tidy(text)
    if not pattern.search(plain):
        return []
    return [sentence for sentence in sentences(plain) if pattern.search(sentence.text)]


def find_promises(text: str) -> list[Span]:
    """Sentences in which an agent commits itself."""
    return _find(text, _PROMISES)


def find_claims(text: str) -> list[Span]:
    """Sentences in which an agent says that it did something."""
    return _find(text, _CLAIMS)


def find_refusals(text: str) -> list[Span]:
    """Sentences in which an agent declines."""
    return _find(text, _REFUSALS)
