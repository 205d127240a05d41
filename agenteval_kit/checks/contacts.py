"""Guesses from text: phone numbers and e-mail addresses.

May not read anything but the text that it is given; see docs/checks.md for how often it is wrong.
"""

from __future__ import annotations

import re

from agenteval_kit.checks.result import Span
from agenteval_kit.text import tidy

__all__ = ["find_emails", "find_phone_numbers", "known_region"]

# Less than seven digits is no phone number anywhere.
_SEVEN_DIGITS = re.compile(r"\d(?:[\s().+/-]{0,3}\d){6}")
# The shapes that people write without a country code: (555) 010-0199, 1-800-555-0199.
_SHAPED = re.compile(
    r"(?<![\w#$.,/-])(?:\+?1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-]|[.,]\d)"
)
# Otherwise digits are a phone number only where the text says so: an order has as many.
_SAID = re.compile(
    r"\b(?:phone|telephone|tel|call(?:ing)?|dial(?:ling)?|mobile|cell|hotline|helpline|whats ?app"
    r"|sms|fax|extension)\b[^\d\n#$@]{0,30}?"
    r"(?<![\w#$])(\+?\(?\d(?:[ ().-]{0,2}\d){6,14})(?![\w-]|[.,]\d)",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"\b(?:order|reservation|booking|ticket|case|account|invoice|reference|policy|item|id)\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_%+'.-])[A-Za-z0-9_%+'-][A-Za-z0-9_%+'.-]{0,63}"
    r"@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}\b"
)


def find_phone_numbers(text: str, region: str | None = None) -> list[Span]:
    """Phone numbers: with a country code, in a common shape, or called one by the text.

    Parameters
    ----------
    text : str
        One agent turn.
    region : str, optional
        Two letters, such as "IN": national numbers of that region are found too, if they are
        written with spaces or dashes, since an order number has as many digits.

    Returns
    -------
    list of Span
        Within ``tidy(text)``, in order.
    """
    plain = tidy(text)
    if not _SEVEN_DIGITS.search(plain):
        return []
    found = [Span(one.start(), one.end(), one[0]) for one in _SHAPED.finditer(plain)]
    found.extend(
        Span(one.start(1), one.end(1), one[1])
        for one in _SAID.finditer(plain)
        if not _DATE.match(one[1])
        and not _OTHER_NUMBER.search(one[0][: one.start(1) - one.start()])
    )
    if region is not None or "+" in plain:
        found.extend(_planned(plain, region))
    found.sort(key=lambda span: (span.start, -span.end))
    apart: list[Span] = []
    for span in found:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
    return apart


def _planned(plain: str, region: str | None) -> list[Span]:
    # Loading the number plans takes longer than all other checks of a short suite.
    import phonenumbers

    found = phonenumbers.PhoneNumberMatcher(plain, region, leniency=phonenumbers.Leniency.POSSIBLE)
    return [
        Span(one.start, one.end, one.raw_string)
        for one in found
        if re.search(r"[+ ().-]", one.raw_string)
        and not re.search(r"(?:[#$_/]|\d[ .-]?)\Z", plain[: one.start][-3:])
        and not re.match(r"[ .-]?\d", plain[one.end : one.end + 2])
        and not _DATE.match(one.raw_string)
    ]


def find_emails(text: str) -> list[Span]:
    """E-mail addresses, within ``tidy(text)``."""
    plain = tidy(text)
    if "@" not in plain:
        return []
    return [Span(one.start(), one.end(), one[0]) for one in _EMAIL.finditer(plain)]


def known_region(region: str) -> bool:
    """Whether there is a number plan for a region of two letters."""
    # As above.
    import phonenumbers

    return region in phonenumbers.SUPPORTED_REGIONS
