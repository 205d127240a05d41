"""A text cut into sentences and list items, with their places.

May not know what a sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenteval_kit.checks.result import Span

__all__ = ["sentences"]

# A full stop inside a number, an address or an abbreviation has no space after it.
_SENTENCE = re.compile(r"[^\s.!?][^\n]*?(?:[.!?]+(?=[\s\"')*\]]|$)|(?=\n)|$)", re.MULTILINE)


def sentences(text: str) -> Iterator[Span]:
    """Sentences in order; a line break ends one, as list items and headings have no full stop."""
    for found in _SENTENCE.finditer(text):
        yield Span(found.start(), found.end(), found[0])
