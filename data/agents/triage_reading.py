"""What both versions of the triage program read in a ticket: identifiers, dates, tone.

May not decide anything: a version decides category, priority and review from what stands here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

PRIORITIES = ("low", "medium", "high", "urgent")

PRODUCTS = (
    "PC-2000 power case",
    "Aura headphones",
    "Fjord One",
    "Fjord Mini",
    "Norrland Plus",
    "Norrland app",
)

WORKING_DAYS = {"urgent": 0, "high": 1, "medium": 3, "low": 5}

NEGATIVE = re.compile(
    r"\b(unacceptable|disappointed|angry|annoyed|furious|frustrat\w+|ridiculous|useless|terrible"
    r"|scared|third time|fed up)\b",
    re.I,
)
POSITIVE = re.compile(
    r"\b(love|brilliant|delighted|wonderful|works now|so quickly|thank you so much)\b", re.I
)

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


@dataclass(frozen=True)
class Ticket:
    """One inbound message, with the day on which its "yesterday" hangs."""

    subject: str
    body: str
    day: date

    @property
    def text(self) -> str:
        """Subject and body together."""
        return f"{self.subject}\n{self.body}"


def read_ticket(message: dict[str, Any], *, now: datetime) -> Ticket:
    """Read a ticket from a user message, quoted mail and signature left out.

    A mail may lie in the queue over a weekend, so "yesterday" counts from the day it was received;
    a web form has no such time, and then it counts from the clock.
    """
    raw = json.loads(message["content"])
    received = raw.get("received_at")
    day = (datetime.fromisoformat(received) if received else now).date()
    return Ticket(raw.get("subject") or "", _own_words(raw.get("body") or ""), day)


def earlier_record(messages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Read the record that this ticket had after its last message, if it had one."""
    for message in reversed(messages[:-1]):
        if message["role"] == "assistant":
            record: dict[str, Any] = json.loads(message["content"])
            return record
    return None


def find_product(text: str) -> str | None:
    """Find the first product of the catalogue that the text names."""
    folded = text.casefold()
    found = [(folded.find(name.casefold()), name) for name in PRODUCTS]
    return min(((at, name) for at, name in found if at >= 0), default=(0, None))[1]


def find_sentiment(text: str) -> str:
    """Tell the tone from a few plain words; negative words count first."""
    if NEGATIVE.search(text):
        return "negative"
    return "positive" if POSITIVE.search(text) else "neutral"


def find_day(text: str, *, day: date) -> str | None:
    """Find the day on which it happened, as the writer says it."""
    folded = text.casefold()
    if written := re.search(r"\b(20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\b", folded):
        try:
            return date.fromisoformat(written[1]).isoformat()
        except ValueError:  # 30 February
            return None
    if ago := re.search(r"\b(\d{1,3}|one|two|three|four|five|six|seven) days? ago\b", folded):
        count = NUMBERS.get(ago[1]) or int(ago[1])
        return (day - timedelta(days=count)).isoformat()
    if re.search(r"\b(yesterday|last night)\b", folded):
        return (day - timedelta(days=1)).isoformat()
    if re.search(r"\b(today|this morning|this afternoon|tonight)\b", folded):
        return day.isoformat()
    if named := re.search(rf"\b(?:last|on|since) ({'|'.join(WEEKDAYS)})\b", folded):
        back = (day.weekday() - WEEKDAYS.index(named[1]) - 1) % 7 + 1
        return (day - timedelta(days=back)).isoformat()
    return None


def respond_by(priority: str, *, now: datetime) -> str:
    """Add the working days that the priority allows to the clock's day."""
    day = now.date()
    left = WORKING_DAYS[priority]
    while left:
        day += timedelta(days=1)
        if day.weekday() < 5:
            left -= 1
    return day.isoformat()


def _own_words(body: str) -> str:
    lines: list[str] = []
    for line in body.splitlines():
        if line.rstrip() == "--" or re.match(r"On .+ wrote:$", line):
            break
        if not line.startswith(">"):
            lines.append(line)
    return "\n".join(lines)
