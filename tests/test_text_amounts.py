"""Amounts in text: a closing zero more or less, and never a version, a section or a date."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import case_of, told

from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.text import contains, find_any, fold

MATCHING = [
    # A number of 1000 or more that does not start like a year.
    ("1234.5", "It is $1,234.50.", "1234.50"),
    ("1234.5", "It is 1,234.50 in all", "1234.50"),
    ("1,234.50", "1234.5", "1234.5"),
    ("1234.5", "1234.50", "1234.50"),
    ("120734.5", "INR 1,20,734.50", "120734.50"),
    ("2024.1", "release 2024.10", None),
    ("2024.1", "$2,024.10", "2024.10"),
    ("1234.5", "1234.500", None),
    ("1234.5", "1234.05", None),
    ("1234.5", "11234.50", None),
    ("1234.5", "1234.50.1", None),
    # A currency or percent sign beside it.
    ("3.5", "$3.50", "3.50"),
    ("3.5", "costs -$3.50", "3.50"),
    ("3.5", "3,50 \u20ac", "3.50"),
    ("3.50", "3.5 EUR", "3.5"),
    ("3.5", "Rs. 3.50 only", "3.50"),
    ("3.5", "3.50 dollars", "3.50"),
    ("3.5", "a rate of 3.50%", "3.50"),
    ("3.5", "a rate of 3.50 \uff05", "3.50"),
    ("$3.50", "pay $3.5 now", "$3.5"),
    ("3.50 USD", "3.5 usd", "3.5 usd"),
    ("from 3.5 to $7.50", "from $3.50 to $7.5", None),
    ("between $3.5 and $7.50", "between $3.50 and $7.5", "between $3.50 and $7.5"),
    ("3.5", "$13.50", None),
    ("3.5", "$3.505", None),
    ("3.5", "$3.05", None),
    ("3.0", "$3.00", "3"),
    # Everything else has to be the same to the letter.
    ("1.1", "section 1.10", None),
    ("1.10", "section 1.1", None),
    ("3.5", "It is 3.50", None),
    ("1.1", "version 1.10.2", None),
    ("1.1", "$1.10.2", None),
    ("1.1", "orders 1.10", None),
    ("1.1", "1.10 used", None),
    ("1.1", "section 1.10 $5 fee", None),
    ("1.1", "section 1.10, then $1.10", "1.10"),
    ("section 1.1", "section 1.10 or $1.10", None),
    ("30.03.2020", "30.3.2020", None),
    ("1234.5.", "1,234.50.", "1234.50."),
]


@pytest.mark.parametrize(("phrase", "text", "found"), MATCHING)
def test_a_closing_zero_of_an_amount_does_not_matter(
    phrase: str, text: str, found: str | None
) -> None:
    match = contains(text, phrase)

    assert (match.phrase if match else None) == found
    if match is not None:
        assert fold(text)[match.start : match.end] == match.phrase
    # Folded before, or as an alternative, it is found in the same place.
    assert contains(fold(text), fold(phrase)) == match
    assert find_any(text, f"nowhere at all|{phrase}") == match


def test_a_figure_that_must_not_be_told_is_seen_however_it_is_written() -> None:
    case = case_of({"must_not_include": ["1234.5", "1.1"], "must_include": "94500.5"})
    transcript = told([{"agent": "She earns $1,234.50 (section 1.10), not INR 94,500.50."}])

    rows = run_checks(transcript, case, build_checks(case))

    assert {row.name: row.passed for row in rows} == {
        'must_include "94500.5"': True,
        'must_not_include "1234.5"': False,
        'must_not_include "1.1"': True,
    }
    assert rows[1].why == 'the agent said "1234.50"'


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(["$", "\u20ac ", "INR "]))
def test_an_amount_of_money_is_found_in_any_writing_and_no_other_is(
    whole: int, cents: int, sign: str
) -> None:
    shown = f"{sign}{whole:,}.{cents:02d}"
    short = format(Decimal(f"{whole}.{cents:02d}").normalize(), "f")
    other = f"{whole}.{(cents + 1) % 100:02d}"

    assert contains(shown, short) is not None
    assert contains(shown, f"{whole}.{cents:02d}") is not None
    assert contains(shown, other) is None


def test_a_long_text_full_of_numbers_is_searched_in_no_time() -> None:
    text = "paid 1.10 and 3.50 then 1.1 " * 20_000

    began = time.perf_counter()
    found = [contains(text, phrase) for phrase in ("3.5", "3.5 and 1.1", "1.1 and 3.5")]

    assert found == [None, None, None]
    assert time.perf_counter() - began < 5
