"""Reads a judge's reply to a pair: A, B or TIE with its sentence; anything else is unscored.

May not guess, and may not raise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agenteval_kit.models.objects import find_object, shown_value, values_within

__all__ = ["REPLY", "SCHEMA", "Preferred", "parse_preference"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "because": {"type": "string"},
        "preferred": {"type": "string", "enum": ["A", "B", "TIE"]},
    },
    "required": ["because", "preferred"],
    "additionalProperties": False,
}
REPLY = '{"because": "the one sentence that decides",\n "preferred": "A" or "B" or "TIE"}'
"""How the prompt says what `SCHEMA` says, for servers that ignore a schema."""

# The letters are taken as they stand: "the answer is a list" names no candidate.
_SAYS = re.compile(
    r"(?i:\b(?:preferred|preference|verdict|winner|choice|answer)\b[\s\"'*_`]*(?:[:=]|is)"
    r"[\s\"'*_`\[]*(?:candidate\s+|answer\s+|response\s+)?)(A|B|TIE)\b|\[\[\s*(A|B|C|TIE)\s*\]\]"
)


@dataclass(frozen=True, slots=True)
class Preferred:
    """What could be read of a reply.

    Attributes
    ----------
    value : str or None
        "A", "B" or "TIE"; None is unscored.
    reason : str
        Why it is unscored.
    because : str
        The deciding sentence, as it came.
    repaired : str
        What had to be looked past; empty where the reply was one plain object.
    source : str
        The text of the object that was read.
    """

    value: str | None
    reason: str = ""
    because: str = ""
    repaired: str = ""
    source: str = ""


def parse_preference(text: str) -> Preferred:
    """Read one reply.

    The value is taken to the letter: ``"a"``, ``"Tie"``, ``"A."``, ``"Candidate A"``, true and
    ``["A"]`` are not A, B or TIE. A verdict without a sentence that decided it is none.

    Examples
    --------
    >>> parse_preference('{"because": "Only A names the day.", "preferred": "A"}').value
    'A'
    >>> parse_preference('{"because": "Both do.", "preferred": "both"}').reason
    '"both" is none of A, B and TIE'
    """
    found = find_object(text, key="preferred")
    if found.value is None:
        return Preferred(None, found.reason)
    value, said = found.value["preferred"], found.value.get("because")
    because = said.strip() if isinstance(said, str) else ""
    read = Preferred(None, "", because, ", ".join(found.repaired), found.source)
    if not isinstance(value, str) or value not in ("A", "B", "TIE"):
        return _unscored(read, f"{shown_value(value)} is none of A, B and TIE")
    others = {one or other for one, other in _SAYS.findall(found.around)}
    if others - {value, "C" if value == "TIE" else value}:
        return _unscored(read, "ambiguous: the text around the verdict names another")
    if any(one != value for one in values_within(found.value, "preferred")):
        return _unscored(read, "ambiguous: something within the verdict names another")
    if not because:
        return _unscored(read, "there is no sentence that decided")
    return Preferred(value, "", because, read.repaired, read.source)


def _unscored(read: Preferred, reason: str) -> Preferred:
    return Preferred(None, reason, read.because, read.repaired, read.source)
