"""Guesses from text: where an agent asks the user for something.

May not read anything but the text that it is given; see docs/checks.md for how often it is wrong.
"""

from __future__ import annotations

import re
from typing import Final

from agenteval_kit.checks.result import Span
from agenteval_kit.checks.sentences import sentences
from agenteval_kit.text import tidy

__all__ = ["ASK_PATTERNS", "find_asks"]

ASK_PATTERNS: Final[dict[str, str]] = {
    "user_id": r"\buser[ _-]?(?:id|name|identifier)\b",
    "confirmation": r"\b(?:confirm|proceed|go ahead)\b",
}
"""Shipped patterns for two fields that most agents ask for."""

_ASKING = re.compile(
    r"\?|\bplease\b|\b(?:could|can|would|will) you\b|\bmay i\b|\bi(?:'ll| will)? need\b"
    r"|\blet me know\b|\bprovide\b|\btell me\b|\bi(?:'d| would) (?:need|like)\b",
    re.IGNORECASE,
)


def find_asks(text: str, pattern: str | re.Pattern[str]) -> list[Span]:
    """Sentences in which an agent asks for what `pattern` names; case does not matter.

    Parameters
    ----------
    text : str
        One agent turn.
    pattern : str or re.Pattern
        The field: ``user id``. It must stand in a sentence that asks.

    Returns
    -------
    list of Span
        Within ``tidy(text)``.
    """
    field = re.compile(pattern, re.IGNORECASE) if isinstance(pattern, str) else pattern
    plain = tidy(text)
    if not field.search(plain):
        return []
    return [
        sentence
        for sentence in sentences(plain)
        if field.search(sentence.text) and _ASKING.search(sentence.text)
    ]
