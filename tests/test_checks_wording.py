"""What the guessing checks take for a promise, a claim, a refusal, a phone number, an ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from strategies import texts

from agenteval_kit.checks.conversation import ASK_PATTERNS, find_asks
from agenteval_kit.checks.grounding import untraceable_figures
from agenteval_kit.checks.policy import (
    find_claims,
    find_emails,
    find_phone_numbers,
    find_promises,
    find_refusals,
)
from agenteval_kit.checks.sentences import sentences
from agenteval_kit.text import tidy

CASES: list[tuple[Callable[[str], list[Any]], str, bool]] = [
    (find_promises, "I will refund the full amount today.", True),
    (find_promises, "We\u2019ll make sure it never happens again.", True),
    (find_promises, "You will receive **a refund** of $4.50 soon.", True),
    (find_promises, "The amount of $12.50 will be credited to your card.", True),
    (find_promises, "I guarantee it.", True),
    (find_promises, "It should arrive tomorrow.", True),
    (find_promises, "If you confirm, I will refund you.", False),
    (find_promises, "Would you like a refund? It will be processed today?", False),
    (find_promises, "I can refund you.", False),
    (find_promises, "I will look that up.", False),
    (find_promises, "You will not receive a refund.", False),
    (find_claims, "I have refunded you.", True),
    (find_claims, "I\u2019ve just cancelled order 7.", True),
    (find_claims, "Your order **has been** successfully updated.", True),
    (find_claims, "The refund of $5 was issued yesterday.", True),
    (find_claims, "I have found your order.", False),
    (find_claims, "Once it has been refunded, you get an email.", False),
    (find_claims, "Has it been refunded? I have not refunded it.", False),
    (find_claims, "It cannot be refunded.", False),
    (find_refusals, "I\u2019m sorry, but I can\u2019t share that.", True),
    (find_refusals, "We are unable to change it.", True),
    (find_refusals, "Unfortunately, it cannot be cancelled.", True),
    (find_refusals, "That is against our policy.", True),
    (find_refusals, "That information is confidential.", True),
    (find_refusals, "I won't do that.", True),
    (find_refusals, "I cannot find your order.", False),
    (find_refusals, "I can't proceed without your order number.", False),
    (find_refusals, "If you cannot log in, write to us.", False),
    (find_refusals, "Please note that seats cannot be changed later.", False),
    (find_refusals, "Happy to help!", False),
    (find_phone_numbers, "+91 98765 43210", True),
    (find_phone_numbers, "(415) 555-2671", True),
    (find_phone_numbers, "1-800-555-0199", True),
    (find_phone_numbers, "Our hotline: 5550100.", True),
    (find_phone_numbers, "Call +1-202-555-0143", True),
    (find_phone_numbers, "\uff0b91 98765\u00a043210", True),
    (find_phone_numbers, "order #W6390527", False),
    (find_phone_numbers, "item 8384507844", False),
    (find_phone_numbers, "call us about order 12345678", False),
    (find_phone_numbers, "call me on 2026-03-02 12:00", False),
    (find_phone_numbers, "card 4111 1111 1111 1111", False),
    (find_phone_numbers, "INR 1,20,734.00", False),
    (find_phone_numbers, "98765 43210", False),
    (lambda text: find_phone_numbers(text, "IN"), "98765 43210", True),
    (lambda text: find_phone_numbers(text, "GB"), "020 7946 0958", True),
    (lambda text: find_phone_numbers(text, "US"), "item 8384507844", False),
    (find_emails, "Write to a.b+c@mail.example.co.uk.", True),
    (find_emails, "\uff4ao@example.com", True),
    (find_emails, "@handle, a@b, 3 @ 4.50", False),
    (lambda text: find_asks(text, "order number"), "What is your order number?", True),
    (lambda text: find_asks(text, "order number"), "Please send the Order Number.", True),
    (lambda text: find_asks(text, "order number"), "I need these:\n1. Name\n2. Order number", True),
    (lambda text: find_asks(text, "order number"), "Your details:\n- Order number: 7", False),
    (lambda text: find_asks(text, "order number"), "I see the order number. Anything else?", False),
    (
        lambda text: find_asks(text, ASK_PATTERNS["confirmation"]),
        "Would you like to proceed?",
        True,
    ),
    (
        lambda text: find_asks(text, ASK_PATTERNS["confirmation"]),
        "How would you like to proceed?",
        False,
    ),
    (lambda text: find_asks(text, ASK_PATTERNS["user_id"]), "May I have your user ID?", True),
]


@pytest.mark.parametrize(("find", "text", "there"), CASES)
def test_what_a_guess_finds(find: Callable[[str], list[Any]], text: str, there: bool) -> None:
    assert bool(find(text)) is there


@pytest.mark.parametrize(
    "find", [find_promises, find_claims, find_refusals, find_phone_numbers, find_emails]
)
@given(text=texts)
def test_a_span_stands_where_it_says(find: Callable[[str], list[Any]], text: str) -> None:
    said = (
        f"I have refunded it. {text} I can't. You will receive it: jo@example.com, +1-202-555-0143"
    )

    for span in find(said):
        assert tidy(said)[span.start : span.end] == span.text


def test_sentences_end_at_stops_and_lines_but_not_inside_numbers() -> None:
    text = "It is $4.50. Really?! Yes (no.)\n- Item one\nv1.2 \u2026 end"

    assert [each.text for each in sentences(text)] == [
        "It is $4.50.",
        "Really?!",
        "Yes (no.",
        ")",
        "- Item one",
        "v1.2 \u2026 end",
    ]


def test_figures_may_be_asked_alone() -> None:
    found = untraceable_figures("5 of 40 items, 12 left", ["40 items"], now="2026-03-02T09:00Z")

    assert [span.text for span in found] == ["12"]
    assert untraceable_figures("On 02/03/2026.", [], now="2026-03-02T09:00:00+00:00") == []


@pytest.mark.parametrize(
    ("answer", "evidence", "missing"),
    [
        ("10:47 PM", "22:47", []),
        ("22:47", "at 10:47 p.m.", []),
        ("10:47 AM", "22:47:00", ["10"]),
        ("12:10 AM", "00:10:00", []),
        ("12:10 PM", "12:10", []),
        ("12:10 AM", "12:11", ["10"]),
        ("11pm", "23:00", []),
        ("11 a.m.", "23:00", ["11"]),
        ("13 pm", "1:00", ["13"]),
        ("10:59", "10:58", ["59"]),
        ("30", "30.5", ["30"]),
        ("30.5", "30", ["30.5"]),
        ("30", "on 30.11.2026", []),
        ("30.11.2026", "2026-11-30", []),
        ("31.11.2026", "2026-11-30", ["31.11.2026"]),
        ("08 and 8", "nothing", []),
        ("0042", "42", ["0042"]),
        ("7.50", "7.5", []),
        ("1,250", "1250.00", []),
        ("30 and 45", "[45,30]", []),
    ],
)
def test_how_figures_and_times_are_written_does_not_matter(
    answer: str, evidence: str, missing: list[str]
) -> None:
    assert [span.text for span in untraceable_figures(answer, [evidence])] == missing


HOSTILE = [
    "however ", "if ", "i have ", "a", "a@", "a.", "1,", "1.", "12:30 pm ", "phone 1", "1. ", "- ",
    "i cannot ", "no refunds ", "thank you ", "please ", "\u202f1", "\u0130", "**", "+1 ",
]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_text_takes_no_square_of_its_length(piece: str) -> None:
    text = piece * 20_000

    for find in (find_promises, find_claims, find_refusals, find_phone_numbers, find_emails):
        find(text)
    find_asks(text, ASK_PATTERNS["confirmation"])
    untraceable_figures(text, [text[:100]])
