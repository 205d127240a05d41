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
    "user_id": r"\buser[ _-]?(?:id|name|identifier)s?\b",
    "confirmation": (
        r"\bconfirm(?! (?:your|the|which|what|who|when|where|how)\b(?! (?:changes?|details|booking"
        r"|cancellation|request|order(?! id)|return|exchange|modification|update|above|purchase"
        r"|following)\b))\b|\byour confirmation\b"
        r"|(?<!\bhow )\b(?:would|do) you (?:like|want|wish) (?:to (?:proceed|go ahead|continue)"
        r"|me to (?!transfer|look|check|search|help|assist|explore|find)[a-z])"
        r"|\b(?:if|whether) you(?:'d| would)? (?:like|want|wish) (?:me )?to (?:proceed|go ahead)\b"
        r"|\b(?:shall|should|may|can) i (?:proceed|go ahead|continue)\b"
        r"|\b(?:is|if) (?:this|that|it|everything|all of this)(?: is| looks?| sounds?)? "
        r"(?:correct|okay|ok|right|acceptable|fine|good)\b"
        r"|\b(?:are you sure|do you agree)\b"
        r"|\bdoes (?:this|that) (?:look|sound) (?:right|good|correct)\b"
        r"|\byes/no\b|\b(?:reply|respond|answer)(?: with)? \W?yes\b"
    ),
}
"""Shipped patterns for two fields that most agents ask for: which user, and consent to act."""

_ASKING = re.compile(
    r"\?|\bplease\b|\b(?:could|can|would|will) you\b|\bmay i\b"
    r"|\bi(?:'ll| will|'d| would)?(?: also| first| just| still)* (?:need|require|like|want) "
    r"(?!to be\b)"
    r"|\blet me know\b|\b(?:provide|give|tell|send) me\b|\bto proceed,? (?:provide|share|enter)\b"
    r"|^\W*(?:provide|share|enter|confirm|specify|state|tell)\b|\byou (?:can|may) (?:also "
    r"|alternatively )*(?:provide|share|give|send|use)\b"
    r"|\b(?:is|are) (?:needed|required)\b",
    re.IGNORECASE,
)
# What is said of a field in passing, or to be told how to find it, asks for nothing.
_NOT_ASKING = re.compile(
    r"\bthank(?:s| you)\b(?![^.!]{0,300}\b(?:please|could you|can you|may i)\b)"
    r"|\bif you (?:don't|do not|can't|cannot) (?:remember|have|know|recall)[^,]{0,300}\Z",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•>]+|\d{1,2}[.)])\s*", re.MULTILINE)


def find_asks(text: str, pattern: str | re.Pattern[str]) -> list[Span]:
    """Sentences in which an agent asks for what `pattern` names; case does not matter.

    A sentence asks if it is a question, or says please, "I need", "let me know" and the like.
    An item of a list asks if the line before the list does ("I'll need the following:").

    Parameters
    ----------
    text : str
        One agent turn.
    pattern : str or re.Pattern
        The field: ``user id``, or one of `ASK_PATTERNS`.

    Returns
    -------
    list of Span
        Within ``tidy(text)``.
    """
    field = re.compile(pattern, re.IGNORECASE) if isinstance(pattern, str) else pattern
    plain = tidy(text)
    if not field.search(plain):
        return []
    found: list[Span] = []
    listing = False
    for sentence in sentences(plain):
        asks = bool(_ASKING.search(sentence.text)) and not _NOT_ASKING.search(sentence.text)
        item = bool(_ITEM.match(plain, _line_start(plain, sentence.start)))
        if (asks or (listing and item)) and field.search(sentence.text):
            found.append(sentence)
        if not item:
            listing = asks and sentence.text.rstrip("*_ ").endswith(":")
    return found


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1
