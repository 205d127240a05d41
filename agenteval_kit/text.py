"""Text folded on both sides alike, number-aware matching, canonical values and dotted paths.

May not know what a transcript, a case or a check is.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from agenteval_kit.amounts import find_amount

__all__ = [
    "MISSING",
    "Match",
    "Missing",
    "alternatives",
    "canonical",
    "contains",
    "counted",
    "find_any",
    "fold",
    "lookup",
    "p_value",
    "same_value",
    "tidy",
]


class Missing(Enum):
    """The one value that says "there is nothing at this path", which is neither null nor ""."""

    MISSING = "absent"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True)
class Match:
    """Where a phrase stands: ``fold(text)[start:end] == phrase``, as the folded text has it."""

    start: int
    end: int
    phrase: str


# Quotes and dashes that people and models use for one another. U+00B4 and U+2033 must be mapped
# before NFKC, which would turn them into a space with an accent and into two primes.
_MARKS: Final[dict[int, str]] = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u2035\u02bc\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212"), "-"),
    0x2044: "/",
    0x2215: "/",
    0x066B: ".",
    0x066C: ",",
}
# Format characters and variation selectors: nothing that a reader sees.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e01ef]"
)
_DIGIT = re.compile(r"\d")
# NFKC would read 10² as 102 and 1½ as 11/2.
_RAISED = re.compile(r"(?<=[0-9])(?=[\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089])")
_VULGAR = re.compile(r"(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215f\u2189])")
_NARROW = "[\u00a0\u2007\u2009\u202f]"
_SPACED_GROUPS = re.compile(
    rf"(?<!\d)(?<!\d[.,])[1-9]\d{{0,2}}(?:{_NARROW}\d{{3}})+(?!{_NARROW}?\d)"
)
_OTHER_SPACE = re.compile(r"[^\S\n]")

_HAS_COMMA = re.compile(r"[0-9],[0-9]")
_THOUSANDS = re.compile(
    r"(?<![0-9])(?<![0-9][.,])"
    r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})"
    r"(?!,?[0-9])"
)
_DECIMAL_COMMA = re.compile(
    r"(?<![0-9])(?<![0-9][.,])"
    r"(?:([1-9][0-9]{0,2}(?:\.[0-9]{3})+|[0-9]+),([0-9]{1,2})|(0),([0-9]+))"
    r"(?![.,]?[0-9])"
)
_ZERO_FRACTION = re.compile(r"(?<![0-9])(?<![0-9][.,])([0-9]+)\.0+(?![0-9]|[.,][0-9])")


@lru_cache(maxsize=512)
def fold(text: str) -> str:
    """Text in the one form that is compared: `fold` both sides, then compare.

    Compatibility forms (NFKC), case, curly quotes, dashes, every Unicode space (runs become one
    space, the ends are cut), invisible characters, other digits, and thousands separators
    between digits (``120,734``, ``1,20,734``, or narrow spaces) no longer tell two texts apart.
    A decimal comma becomes a point (``3,5`` is ``3.5``) and a fraction of zeros goes
    (``120734.00`` is ``120734``). Lists stay lists: ``1, 2, 3`` and ``1,2,3``. Where a comma
    could be either, three digits after it are thousands and one or two a fraction. Accents count.

    References
    ----------
    Unicode Standard Annex 15 (NFKC) and section 3.13 (default case folding).
    """
    if text.isascii():
        folded = text.lower()
    else:
        folded = _fold_letters(tidy(text))
    return _fold_numbers(" ".join(folded.split()))


def _fold_letters(text: str) -> str:
    # Case folding can undo normalising and the other way round; two rounds settle it.
    for _ in range(4):
        # "İ" folds to an i with a dot above, which no keyboard gives for the small letter.
        again = unicodedata.normalize("NFKC", text.casefold().replace("i\u0307", "i"))
        if again == text:
            break
        text = again
    return text


def _fold_numbers(text: str) -> str:
    if "," in text and _HAS_COMMA.search(text):
        text = _THOUSANDS.sub(_without_commas, text)
        text = _DECIMAL_COMMA.sub(_with_point, text)
    if ".0" in text:
        text = _ZERO_FRACTION.sub(r"\1", text)
    return text


def _without_commas(found: re.Match[str]) -> str:
    return found[0].replace(",", "")


def _with_point(found: re.Match[str]) -> str:
    whole, part = found[1] or found[3], found[2] or found[4]
    return f"{whole.replace('.', '')}.{part}"


@lru_cache(maxsize=512)
def tidy(text: str) -> str:
    """Text for patterns: case, lines and separators stay, look-alikes do not.

    Compatibility forms, quotes, dashes, spaces (each other than a newline becomes a plain
    space), invisible characters and other digits are as in `fold`.
    """
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = text.translate(_MARKS)
    text = _DIGIT.sub(_ascii_digit, text)
    text = _RAISED.sub("^", text)
    text = _VULGAR.sub(" ", text)
    text = _SPACED_GROUPS.sub(_without_spaces, text)
    text = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _OTHER_SPACE.sub(" ", _INVISIBLE.sub("", text))


def _ascii_digit(found: re.Match[str]) -> str:
    return str(unicodedata.decimal(found[0]))


def _without_spaces(found: re.Match[str]) -> str:
    return "".join(found[0].split())


def alternatives(phrase: str) -> list[str]:
    r"""Alternatives of ``a|b``; a bar of the text itself is written ``\|``."""
    parts = re.split(r"(?<!\\)\|", phrase)
    return [part.replace(r"\|", "|") for part in parts]


def contains(text: str, phrase: str) -> Match | None:
    """Where a phrase stands in a text, both folded; None if it does not.

    A phrase that starts or ends with a digit matches only where the number does too: "12" is
    not in "120734" nor "30" in "30.5", but "120734" is in "INR 1,20,734.00" and "30" in "30th".
    Letters have no such border: "refund" is in "refunded". A bar is a bar (see `find_any`), and
    a phrase that folds to nothing is nowhere.

    An amount may have a closing zero on one side only: "1234.5" is in "$1,234.50" (see
    `agenteval_kit.amounts`). Elsewhere "1.1" is not in "1.10", a version or a section.
    """
    return _find(fold(text), _folded_phrase(phrase))


def counted(number: float, what: str) -> str:
    """A count with its noun: "1 label", "2 labels", "2 replies"."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    shown = f"{number:,.12g}"
    return f"{shown} {what if shown == '1' else many}"


def p_value(p: float) -> str:
    """A p value with its sign, since none is 0: "p 0.012", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def find_any(text: str, phrase: str) -> Match | None:
    """The first alternative of ``a|b`` that `contains` finds, or None."""
    folded = fold(text)
    for needle in _folded_alternatives(phrase):
        found = _find(folded, needle)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=4096)
def _folded_phrase(phrase: str) -> str:
    return fold(phrase)


@lru_cache(maxsize=4096)
def _folded_alternatives(phrase: str) -> tuple[str, ...]:
    return tuple(fold(part) for part in alternatives(phrase))


def _find(folded: str, needle: str) -> Match | None:
    if not needle:
        return None
    start = folded.find(needle)
    head, tail = "0" <= needle[0] <= "9", "0" <= needle[-1] <= "9"
    while start >= 0:
        end = start + len(needle)
        if not (head and _digit_before(folded, start)) and not (tail and _digit_at(folded, end)):
            return Match(start, end, needle)
        start = folded.find(needle, start + 1)
    amount = find_amount(folded, needle) if "." in needle else None
    return None if amount is None else Match(*amount, folded[slice(*amount)])


def _digit_before(text: str, at: int) -> bool:
    if at and text[at - 1] == ".":
        at -= 1
    return at > 0 and "0" <= text[at - 1] <= "9"


def _digit_at(text: str, at: int) -> bool:
    if text[at : at + 1] == ".":
        at += 1
    return "0" <= text[at : at + 1] <= "9"


def canonical(value: Any) -> str:
    """The text that a JSON value is compared by: true is "true"; 12, 12.0 and "12" are "12".

    Strings are folded. Items of a list and values of an object are canonical too, keys in
    sorted order.
    """
    if isinstance(value, str):
        return fold(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _plain_number(value)
    if isinstance(value, Mapping):
        items = sorted((str(key), _quoted(item)) for key, item in value.items())
        return "{" + ",".join(f"{json.dumps(key)}:{item}" for key, item in items) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(_quoted, value)) + "]"
    return fold(str(value))


def _plain_number(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if value.is_integer():
        return str(int(value))
    return format(Decimal(repr(value)), "f")


def _quoted(value: Any) -> str:
    # Without quotes ["a,b"] would be ["a", "b"], and ["null"] would be [null].
    text = canonical(value)
    nested = value is None or (isinstance(value, Mapping | Sequence) and not isinstance(value, str))
    return text if nested else json.dumps(text, ensure_ascii=False)


_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")


def same_value(expected: Any, received: Any, *, strict: bool = False) -> bool:
    """Whether two JSON values are equal by their canonical text.

    null equals only null, and absent (`MISSING`) equals nothing. A number also equals its text
    with further zeros (12.5 is "12.50"). A list or an object is never equal to a text. With
    `strict` the JSON types must agree too, at every depth.
    """
    if received is MISSING or expected is MISSING:
        return False
    kind, other = _kind(expected), _kind(received)
    if kind != other:
        plain = {"text", "number", "boolean"}
        if strict or kind not in plain or other not in plain:
            return False
        if {kind, other} == {"text", "number"}:
            return _same_number(expected, received)
        return canonical(expected) == canonical(received)
    if kind == "object":
        return set(expected) == set(received) and all(
            same_value(item, received[key], strict=strict) for key, item in expected.items()
        )
    if kind == "list":
        return len(expected) == len(received) and all(
            same_value(item, other_item, strict=strict)
            for item, other_item in zip(expected, received, strict=True)
        )
    return canonical(expected) == canonical(received)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return "list" if isinstance(value, Sequence) else "other"


def _same_number(one: Any, two: Any) -> bool:
    left, right = canonical(one), canonical(two)
    if left == right:
        return True
    if not (_NUMBER.fullmatch(left) and _NUMBER.fullmatch(right)):
        return False
    text = one if isinstance(one, str) else two
    # "007" is an identifier, not 7.
    digits = fold(text).lstrip("+-")
    if digits[:1] == "0" and digits[1:2].isdigit():
        return False
    return Decimal(left) == Decimal(right)


def lookup(value: Any, path: str) -> Any:
    """What stands at a dotted path (``items.0.price``), or `MISSING`.

    A key that holds dots itself is found too: at each object the whole rest of the path is
    tried as one key first. A number is an index from 0 in a list and a key in an object.
    """
    rest = path
    while True:
        if isinstance(value, Mapping):
            if rest in value:
                return value[rest]
            head, dot, rest = rest.partition(".")
            if not dot or head not in value:
                return MISSING
            value = value[head]
            continue
        if isinstance(value, Sequence) and not isinstance(value, str):
            head, dot, rest = rest.partition(".")
            if not (head.isascii() and head.isdigit()) or len(head) > 9 or int(head) >= len(value):
                return MISSING
            value = value[int(head)]
            if not dot:
                return value
            continue
        return MISSING
