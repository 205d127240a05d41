"""Triage by rules, version 1: counts evidence for each category and remembers the thread.

May not guess: what the ticket and its thread do not say stays null.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from triage_reading import (
    PRIORITIES,
    earlier_record,
    find_day,
    find_product,
    find_sentiment,
    read_ticket,
    respond_by,
)

# Each pattern is one piece of evidence; in the subject it counts twice.
EVIDENCE = {
    "billing": (
        r"\binvoice\b",
        r"\brefund\b|\bmoney back\b",
        r"\breceipt\b",
        r"\bpayments?\b|\bpaid\b|\bpay for\b",
        r"\bcharged\b|\bcharges? (?:on|to|from) my (?:card|statement)\b",
        r"\bmy card\b|\bcard ending\b|\bbank statement\b",
        r"£\s?\d",
        r"\bVAT\b",
    ),
    "technical": (
        r"\b(?:hold|keep)(?:s|ing)? (?:a |its |the )?charge\b",
        r"\b(?:not|no longer|won't) charg(?:e|ing)\b|\bcharger\b|\bcharging\b",
        r"\bbatter(?:y|ies)\b",
        r"\bbluetooth\b|\bpair(?:s|ed|ing)?\b",
        r"\bfirmware\b|\bupdate failed\b|\berror\b|\bcrash(?:es|ed)?\b",
        r"\bno sound\b|\bcrackl\w+\b",
        r"\bblink(?:s|ing)?\b|\bflash(?:es|ing)\b",
        r"\bbroken\b|\bswollen\b|\bsmok\w+\b|\bdoes not (?:close|start|turn on)\b",
    ),
    "account": (
        r"\blog(?:ged)? ?in\b|\bsign(?:ed)? ?in\b",
        r"\bpassword\b|\breset (?:link|mail|e-mail)\b",
        r"\blocked out\b",
        r"\bmy account\b",
        r"\bdelete\b.{0,40}\b(?:account|data)\b|\bpersonal data\b",
        r"\btwo-factor\b|\buser ?name\b",
    ),
}

DANGER = re.compile(r"\bsmok\w+|\bburn\w*|\bfire\b|\bswollen\b|\belectric shock\b", re.I)
TAKEOVER = re.compile(
    r"\bwas not me\b|\bdid not (?:place|order|make)\b|\bhacked\b|\bsomeone else\b", re.I
)
PRESSING = re.compile(
    r"\bcharged twice\b|\blocked out\b|\bcannot (?:log|sign) in\b|\btomorrow\b|\bchargeback\b", re.I
)
NO_HURRY = re.compile(r"\bcopy of\b|\bno hurry\b|\bjust wondering\b|\bwhen you have time\b", re.I)
SOLVED = re.compile(r"\bworks now\b|\b(?:is|has been) (?:solved|fixed|sorted)\b", re.I)
MONEY = re.compile(r"\brefund\b|\bmoney back\b|\bcharged twice\b|\bchargeback\b", re.I)
LEGAL = re.compile(r"\bGDPR\b|\blawyer\b|\bsolicitor\b|\bombudsman\b|\bcourt\b", re.I)
# A ticket states facts; what it orders the program to do is not one of them.
ORDER = re.compile(
    r"\bignore (?:all|your|previous)\b|^\s*system:|\bskip\b.{0,30}\breview\b"
    r"|\b(?:classify|mark|set|treat)\b.{0,20}\bas\b.{0,20}\b(?:urgent|high|low|medium|priority)\b",
    re.I,
)

CUSTOMER = re.compile(r"(?<![\w-])C-\d{4}(?!\d)")
ORDER_ID = re.compile(r"(?<![\w-])OR-\d{5}(?!\d)")


def triage(messages: list[dict[str, Any]], *, now: datetime, case: object = None) -> dict[str, Any]:
    """Make the record of the newest message of a ticket, in the light of the earlier ones."""
    ticket = read_ticket(messages[-1], now=now)
    earlier = earlier_record(messages)
    facts, orders = _split_orders(ticket.text)
    subject, _ = _split_orders(ticket.subject)

    scores = _scores(facts, subject)
    category, tied = _category(scores, earlier)
    solved = bool(earlier and SOLVED.search(facts))
    priority = _priority(facts, category, earlier, solved)
    review = (
        priority == "urgent"
        or tied
        or bool(orders)
        or bool(MONEY.search(facts) or LEGAL.search(facts))
        or bool(earlier and earlier["requires_human_review"] and not solved)
    )
    before = (earlier or {}).get("entities", {})
    return {
        "category": category,
        "priority": priority,
        "requires_human_review": review,
        "entities": {
            "customer_id": _first(CUSTOMER, ticket.text) or before.get("customer_id"),
            "order_id": _first(ORDER_ID, ticket.text) or before.get("order_id"),
            "product_mentioned": find_product(ticket.text) or before.get("product_mentioned"),
            "sentiment": find_sentiment(facts),
        },
        "occurred_on": find_day(facts, day=ticket.day) or (earlier or {}).get("occurred_on"),
        "respond_by": respond_by(priority, now=now),
    }


def _split_orders(text: str) -> tuple[str, list[str]]:
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text)
    orders = [sentence for sentence in sentences if ORDER.search(sentence)]
    return "\n".join(sentence for sentence in sentences if sentence not in orders), orders


def _scores(facts: str, subject: str) -> dict[str, int]:
    return {
        category: sum(
            bool(re.search(pattern, facts, re.I)) + bool(re.search(pattern, subject, re.I))
            for pattern in patterns
        )
        for category, patterns in EVIDENCE.items()
    }


def _category(scores: dict[str, int], earlier: dict[str, Any] | None) -> tuple[str, bool]:
    best = max(scores.values())
    first, *others = [name for name, score in scores.items() if score == best]
    if earlier is not None and best < 3:
        # A short reply seldom changes what a ticket is about.
        return str(earlier["category"]), False
    if best == 0:
        return "general", False
    return first, bool(others)


def _priority(facts: str, category: str, earlier: dict[str, Any] | None, solved: bool) -> str:
    if DANGER.search(facts) or TAKEOVER.search(facts):
        return "urgent"
    if solved:
        return "low"
    if PRESSING.search(facts):
        found = "high"
    elif category == "general" or NO_HURRY.search(facts):
        found = "low"
    else:
        found = "medium"
    if earlier is None:
        return found
    return max(found, str(earlier["priority"]), key=PRIORITIES.index)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[0] if match else None
