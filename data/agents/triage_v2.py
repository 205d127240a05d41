"""Triage by rules, version 2: a "simplification" of version 1, and worse.

May not be used as an example: it shows three faults that such a change brings. The first keyword
wins, the newest message is read alone, and the customer number's pattern was loosened.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from triage_reading import find_day, find_product, find_sentiment, read_ticket, respond_by

# (keywords, category, priority); the first line that matches decides.
KEYWORDS = (
    (r"smok|burn|swollen|electric shock", "technical", "urgent"),
    (r"was not me|hacked|someone else", "account", "urgent"),
    (r"charge|refund", "billing", "high"),
    (r"invoice|receipt|payment", "billing", "low"),
    (r"locked out|log ?in|password", "account", "high"),
    (r"account|personal data", "account", "medium"),
    (r"battery|bluetooth|pair|firmware|error|crash|sound|blink", "technical", "medium"),
)
REVIEW = re.compile(
    r"refund|charged twice|GDPR|lawyer|ombudsman|ignore (?:all|your|previous)|system:", re.I
)


def triage(messages: list[dict[str, Any]], *, now: datetime, case: object = None) -> dict[str, Any]:
    """Make the record of the newest message of a ticket."""
    ticket = read_ticket(messages[-1], now=now)
    category, priority = "general", "low"
    for keywords, found, urgency in KEYWORDS:
        if re.search(keywords, ticket.text, re.I):
            category, priority = found, urgency
            break
    customer = re.search(r"C-?\d{4}", ticket.text)
    order = re.search(r"OR-\d{5}", ticket.text)
    return {
        "category": category,
        "priority": priority,
        "requires_human_review": priority == "urgent" or bool(REVIEW.search(ticket.text)),
        "entities": {
            "customer_id": customer[0] if customer else None,
            "order_id": order[0] if order else None,
            "product_mentioned": find_product(ticket.text),
            "sentiment": find_sentiment(ticket.text),
        },
        "occurred_on": find_day(ticket.text, day=ticket.day),
        "respond_by": respond_by(priority, now=now),
    }
