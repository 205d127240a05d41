"""Guesses from text: which figures of an answer stand in nothing that the agent was given.

May not add, convert or round: a sum that no tool returned is untraceable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agenteval_kit.checks.result import Span
from agenteval_kit.text import fold

__all__ = ["untraceable_figures"]

_FIGURE = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_LIST_NUMBER = re.compile(r"^[ \t>*-]*[0-9]{1,3}[.)](?=\s)", re.MULTILINE)


def untraceable_figures(
    answer: str, evidence: Iterable[str], *, now: str | None = None
) -> list[Span]:
    """Figures of two digits or more in an answer that occur nowhere in the evidence."""
    known: set[str] = set()
    for text in (*evidence, now or ""):
        known.update(_FIGURE.findall(fold(text)))
    found: list[Span] = []
    plain = fold(_LIST_NUMBER.sub(" ", answer))
    for one in _FIGURE.finditer(plain):
        if sum(map(str.isdigit, one[0])) >= 2 and one[0] not in known:
            found.append(Span(one.start(), one.end(), one[0]))
    return found
