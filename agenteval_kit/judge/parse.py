"""Reads a judge's reply: a score only where it holds exactly one readable level.

May not clamp, round, guess or raise; whatever is not plainly a verdict is unscored, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agenteval_kit.models.objects import FoundObject, find_object, shown_value, values_within
from agenteval_kit.records.rubrics import ReplyNames, span

__all__ = ["Parsed", "parse_verdict", "read_score"]

_SAYS_SCORE = r"\b{name}\b[\s\"'*_`]*(?:[:=]|is|of)[\s\"'*_`]*(\d+(?:\.\d+)?)"
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,2})(?:\.0+)?")
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,2})\s*/\s*([1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be read of a reply.

    Attributes
    ----------
    score : int or None
        None is unscored.
    reason : str
        Why it is unscored; empty where it is scored.
    evidence : object
        As it came, to be verified.
    justification : str
        As it came.
    repaired : str
        What had to be looked past; empty where the reply was one plain object.
    source : str
        The text of the object that was read.
    """

    score: int | None
    reason: str = ""
    evidence: Any = None
    justification: str = ""
    repaired: str = ""
    source: str = ""


def parse_verdict(text: str, levels: Sequence[int], *, names: ReplyNames | None = None) -> Parsed:
    r"""Read one verdict.

    A fence, chatter around one object, a leading block of thoughts and a one-element list are
    looked past, and marked. Two objects, an object beside one that is not whole, and chatter that
    names another score are ambiguous: the first is never taken.

    Parameters
    ----------
    text : str
        The judge's own message, and nothing of what it was shown.
    levels : sequence of int
        The scale.
    names : ReplyNames, optional
        How the fields are called.

    Examples
    --------
    >>> parse_verdict('Sure: ```json\n{"score": "4"}\n```', (1, 2, 3, 4)).score
    4
    >>> parse_verdict('{"score": 3.5}', (1, 2, 3, 4)).reason
    '3.5 is no level of 1 to 4'
    """
    names = names or ReplyNames()
    found = find_object(text, key=names.score)
    if found.value is None:
        return Parsed(None, found.reason)
    score, reason = read_score(found.value[names.score], levels)
    if score is not None:
        reason = _another(found, score, names.score, levels)
        score = None if reason else score
    said = found.value.get(names.justification)
    return Parsed(
        score,
        reason,
        evidence=found.value.get(names.claim or "evidence"),
        justification=said if isinstance(said, str) else "",
        repaired=", ".join(found.repaired),
        source=found.source,
    )


def read_score(value: Any, levels: Sequence[int]) -> tuple[int | None, str]:
    """A level of the scale from a JSON value, or None and the reason.

    ``4``, ``4.0``, ``"4"`` and ``"4.0"`` are 4; ``"4/5"`` is 4 where 5 is the top of the scale.

    Examples
    --------
    >>> read_score(True, (1, 2, 3, 4))
    (None, 'true is no level of 1 to 4')
    """
    scale = tuple(sorted(levels))
    refused = f"{shown_value(value)} is no level of {span(scale)}"
    # True == 1, so it must not come near a comparison.
    if isinstance(value, bool):
        return None, refused
    if isinstance(value, str):
        text = value.strip()
        whole, fraction = _WHOLE.fullmatch(text), _FRACTION.fullmatch(text)
        if whole:
            value = int(whole[1])
        elif fraction and int(fraction[2]) == scale[-1]:
            value = int(fraction[1])
        else:
            return None, refused
    if not isinstance(value, int | float):
        return None, refused
    for level in scale:
        if value == level:
            return level, ""
    return None, refused


def _another(found: FoundObject, score: int, name: str, levels: Sequence[int]) -> str:
    """Why a level that was read is not the only one; empty where it is."""
    if _says_other(found.around, score, name):
        return f'ambiguous: the text around the verdict names another "{name}"'
    if any(read_score(one, levels)[0] != score for one in values_within(found.value, name)):
        return f'ambiguous: the verdict holds another "{name}" within'
    return ""


def _says_other(around: str, score: int, name: str) -> bool:
    for word in {name, "score", "rating", "verdict"}:
        pattern = _SAYS_SCORE.format(name=re.escape(word))
        if any(float(said) != score for said in re.findall(pattern, around, re.IGNORECASE)):
            return True
    return False
