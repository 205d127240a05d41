"""Guesses from text: phone numbers and e-mail addresses.

May not read anything but the text that it is given; see docs/checks.md for how often it is wrong.
"""

from __future__ import annotations

import re

from agenteval_kit.checks.result import Span
from agenteval_kit.text import tidy

__all__ = ["find_emails", "find_phone_numbers", "known_region"]

# Seven digits with at most two separators between neighbours: less is no phone number.
_SEVEN_DIGITS = re.compile(r"\d(?:[\s().+/-]{0,3}\d){6}")
_EMAIL = re.compile(
    r"[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}"
)


def find_phone_numbers(text: str, region: str | None = None) -> list[Span]:
    """Phone numbers: international ones, and those of a region ("IN") if it is given."""
    plain = tidy(text)
    if not _SEVEN_DIGITS.search(plain):
        return []
    # Loading the number plans takes a tenth of a second, and most turns hold no seven digits.
    import phonenumbers

    found = phonenumbers.PhoneNumberMatcher(plain, region, leniency=phonenumbers.Leniency.POSSIBLE)
    return [Span(one.start, one.end, one.raw_string) for one in found]


def find_emails(text: str) -> list[Span]:
    """E-mail addresses."""
    plain = tidy(text)
    if "@" not in plain:
        return []
    return [Span(one.start(), one.end(), one[0]) for one in _EMAIL.finditer(plain)]


def known_region(region: str) -> bool:
    """Whether there is a number plan for a region of two letters."""
    # As above.
    import phonenumbers

    return region in phonenumbers.SUPPORTED_REGIONS
