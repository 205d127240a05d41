"""Numbers and lists in words, the same way in every section.

May not compute them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary.pairing import points

__all__ = ["clip", "count_word", "in_points", "in_shares", "listed", "minus", "sentence"]

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def count_word(n: int) -> str:
    """A small number as a word, as people write it in a sentence."""
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"


def listed(names: Sequence[str]) -> str:
    """Names as an enumeration: "policy, outcome and grounding"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def sentence(text: str) -> str:
    """The text with a capital letter at its start."""
    return text[:1].upper() + text[1:]


def in_points(change: Estimate) -> str:
    """A change of a share: "+3 points (−6 to +12)"."""
    return minus(points(change))


def minus(text: str) -> str:
    """The text with true minus signs before its numbers; dates, ranges and names keep theirs."""
    return re.sub(r"(?<![\w.\-])-(?=\d)|(?<= )-(?= \d)", "−", text)


def in_shares(shown: Estimate) -> str:
    """A share: "73 % (61 to 83 %)"; "not computable" where there is none."""
    return "not computable" if shown.value is None else shown.text(percent=True)


def clip(text: str, longest: int) -> str:
    """The beginning of a text, with a sign where it was cut."""
    return text if len(text) <= longest else f"{text[:longest]}…"
