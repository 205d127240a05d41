"""Amounts that differ by a closing zero: 1234.5 and 1,234.50 are one, sections 1.1 and 1.10 two.

May not fold: it is handed text that is folded already. Nothing here may import the package.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["find_amount"]

_CENTS = re.compile(r"(?<![0-9])(?<![0-9]\.)([0-9]+\.[1-9])0?(?![0-9]|\.[0-9])")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}\.")
_SIGN = "[$\u00a2-\u00a5\u060b\u0e3f\u20a0-\u20cf]"
_CODE = (
    "(?:rs|usd|eur|gbp|inr|jpy|cny|chf|aud|cad|nzd|sek|nok|dkk|pln|brl|mxn|zar|sgd|hkd|dollars?"
    "|euros?|pounds?|rupees?)"
)
_MARK_BEFORE = re.compile(rf"(?:{_SIGN}|(?<![a-z0-9]){_CODE}\.?) ?-?\Z")
# A sign before the next number marks that one.
_MARK_AFTER = re.compile(rf" ?(?:%|{_SIGN}(?! ?-?[0-9])|{_CODE}(?![a-z0-9]))")


def find_amount(folded: str, needle: str) -> tuple[int, int] | None:
    """Where a phrase stands if the amounts in it may have a closing zero more or less.

    An amount has a fraction of one digit, or of two of which the last is 0; and it is 1000 or more
    and does not start like a year, or it has a currency or a percent sign beside it in the text
    or in the phrase. Any other number has to be the same to the letter.

    Parameters
    ----------
    folded, needle : str
        Text and phrase, folded.

    Returns
    -------
    tuple of int or None
        Start and end in the text.
    """
    pattern = _with_or_without_zero(needle)
    found = pattern.search(folded) if pattern is not None else None
    if pattern is None or found is None:
        return None
    wanted = list(_CENTS.finditer(needle))
    while found is not None:
        start, end = found.span()
        there = list(_CENTS.finditer(folded, start, end))
        if len(there) == len(wanted) and all(map(_same, wanted, there)):
            return start, end
        found = pattern.search(folded, start + 1)
    return None


@lru_cache(maxsize=4096)
def _with_or_without_zero(needle: str) -> re.Pattern[str] | None:
    """The phrase as a pattern; None where it has no number that could be an amount."""
    parts = _CENTS.split(needle)
    if len(parts) == 1:
        return None
    made = "".join(
        f"{re.escape(part)}0?" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    )
    head = r"(?<![0-9])(?<![0-9]\.)" if "0" <= needle[0] <= "9" else ""
    tail = r"(?!\.?[0-9])" if "0" <= needle[-1] <= "9" else ""
    return re.compile(head + made + tail)


def _same(wanted: re.Match[str], there: re.Match[str]) -> bool:
    return wanted[0] == there[0] or _is_amount(there) or _is_amount(wanted)


def _is_amount(number: re.Match[str]) -> bool:
    whole = number[1].partition(".")[0]
    if len(whole) > 3 and whole[0] != "0" and not _YEAR.match(number[1]):
        return True
    text = number.string
    before = text[max(0, number.start() - 12) : number.start()]
    return bool(_MARK_BEFORE.search(before) or _MARK_AFTER.match(text, number.end()))
