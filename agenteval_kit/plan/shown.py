"""One answer of a plan as escaped HTML: the question, its answer line by line, what it assumes.

May not compute.
"""

from __future__ import annotations

import html
from typing import Protocol

__all__ = ["Answered", "answer_html"]


class Answered(Protocol):
    """What every answer has."""

    @property
    def question(self) -> str:
        """What is answered."""

    @property
    def assumption(self) -> str:
        """What it takes to be true."""

    @property
    def method(self) -> str:
        """How it was made."""

    def lines(self) -> tuple[str, ...]:
        """The answer in words."""


def answer_html(answer: Answered) -> str:
    """The answer as a paragraph and a list."""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in answer.lines())
    return (
        f"<p><b>{html.escape(answer.question)}</b></p><ul>{lines}</ul>"
        f"<p><small>Assuming: {html.escape(answer.assumption)}. "
        f"Method: {html.escape(answer.method)}.</small></p>"
    )
