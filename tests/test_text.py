"""Folding, matching, canonical values and dotted paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts, values

from agenteval_kit.text import (
    MISSING,
    alternatives,
    canonical,
    contains,
    counted,
    find_any,
    fold,
    lookup,
    same_value,
    tidy,
)

# What counts as the same text. Each pair is tested with either side as the text.
SAME = [
    ("INR 1,20,734", "INR 120734"),
    ("120,734", "120734"),
    ("120,734.00", "120734"),
    ("120734.0", "120734"),
    ("1,234,567.50", "1234567.50"),
    ("1.234,56", "1234.56"),
    ("120\u202f734", "120734"),
    ("1\u00a0234\u00a0567", "1234567"),
    ("3,5", "3.5"),
    ("0,125", "0.125"),
    ("don\u2019t", "don't"),
    ("\u201cyes\u201d", '"yes"'),
    ("\u00abyes\u00bb", '"yes"'),
    ("e\u2011mail", "e-mail"),
    ("2019\u20132020", "2019-2020"),
    ("\u22125", "-5"),
    ("9:30\u202fAM", "9:30 am"),
    ("ten\u00a0days", "ten days"),
    ("ten \n\t days", "ten days"),
    ("caf\u00e9", "cafe\u0301"),
    ("\uff11\uff12\uff13", "123"),
    ("\uff21\uff22", "ab"),
    ("\u0967\u0968", "12"),
    ("\u0130stanbul", "istanbul"),
    ("I\u0307stanbul", "istanbul"),
    ("STRASSE", "stra\u00dfe"),
    ("ref\u00adund", "refund"),
    ("re\u200bfund", "refund"),
    ("\u202erefund\u202c", "refund"),
    ("\ufb01nal", "final"),
    ("\u00bd", "1/2"),
    ("wait\u2026", "wait..."),
    ("1\u22152", "1/2"),
    ("\u0663\u066b\u0665", "3.5"),
    ("\u0661\u0662\u0663\u066c\u0664\u0665\u0666", "123456"),
    ("1\ufe0f\u20e3", "1\u20e3"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_texts_that_read_alike_are_found_in_one_another(one: str, two: str) -> None:
    assert fold(one) == fold(two)
    assert contains(f"so: {one}, then", two) is not None
    assert contains(f"so: {two}, then", one) is not None


# phrase, text, whether it is there
MATCHING = [
    ("120734", "INR 1,20,734", True),
    ("INR 1,20,734", "it is inr 120734.", True),
    ("120734", "120,734.00", True),
    ("120734", "INR 1,20,734.00 a year", True),
    ("120,734.00", "120734", True),
    ("12", "120734", False),
    ("734", "120,734", False),
    ("20", "1,20,734", False),
    ("30", "on the 30th", True),
    ("30", "30.5", False),
    ("30", "30,5", False),
    ("30", "130", False),
    ("30", "0.30", False),
    ("5", "30.5", False),
    ("30", "30.", True),
    ("30", "$30", True),
    ("30", "30%", True),
    ("30", "A30B", True),
    ("30", "10:30", True),
    ("30", "2026-03-30", True),
    ("30", "sec.30", True),
    ("30", "130 or 30", True),
    ("007", "1007", False),
    ("0", "10", False),
    ("90", "1900", False),
    ("99", "999 or 99", True),
    ("30.5", "30.55", False),
    ("30.5", "130.5", False),
    ("30.5", "30,5", True),
    ("35", "3,5", False),
    ("1.1", "section 1.1.", True),
    ("1.1", "section 1.10", False),
    ("1.1", "section 1.1.2", False),
    ("1.1", "section 2.1.1", False),
    ("2", "1, 2, 3", True),
    ("2", "1,2,3", True),
    ("123", "1, 2, 3", False),
    ("123", "1,2,3", False),
    ("1, 2, 3", "rooms 1, 2, 3 and 4", True),
    ("1,234,56", "1,234,56", True),
    ("1234", "1,234,56", False),
    ("10", "10\u00b2", True),
    ("102", "10\u00b2", False),
    ("1", "1\u00bd", True),
    ("refund", "refunded", True),
    ("don't", "I don\u2019t", True),
    ("can not", "can\u00a0not", True),
    ("resume", "r\u00e9sum\u00e9", False),
    ("caf\u00e9", "CAFE\u0301", True),
    ("i", "\u0130", True),
    ("a|b", "b", False),
    ("a|b", "a|b", True),
    ("", "anything", False),
    (" ", "any thing", False),
    ("\u200b", "anything", False),
]


@pytest.mark.parametrize(("phrase", "text", "there"), MATCHING)
def test_matching(phrase: str, text: str, there: bool) -> None:
    found = contains(text, phrase)

    assert (found is not None) is there
    if found is not None:
        assert fold(text)[found.start : found.end] == found.phrase == fold(phrase)


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("a|b", "only b", "b"),
        ("b|a", "a then b", "b"),
        ("a|b", "neither", None),
        (r"yes\|no", "answer yes|no", "yes|no"),
        (r"yes\|no", "answer yes", None),
        (r"x\|y|z", "just z", "z"),
        ("30|thirty", "130 or Thirty", "thirty"),
    ],
)
def test_alternatives_are_tried_in_order(phrase: str, text: str, found: str | None) -> None:
    match = find_any(text, phrase)

    assert (match.phrase if match else None) == found


def test_a_bar_of_the_text_itself_is_escaped() -> None:
    assert alternatives(r"a\|b|c") == ["a|b", "c"]
    assert alternatives("a") == ["a"]


def test_tidy_keeps_case_lines_and_separators() -> None:
    assert tidy("Don\u2019t\u00a0pay \uff11,\uff12\uff13\uff14\nNow") == "Don't pay 1,234\nNow"
    assert tidy("Plain  ASCII\n stays") == "Plain  ASCII\n stays"


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert tidy(tidy(text)) == tidy(text)


@given(texts)
def test_the_quick_way_for_ascii_is_the_long_way(text: str) -> None:
    plain = text.encode("ascii", "ignore").decode()

    # An invisible character sends the text the long way.
    assert fold(plain + "\u200b") == fold(plain)


@given(texts, texts)
def test_folding_either_side_first_changes_nothing(text: str, phrase: str) -> None:
    expected = contains(text, phrase)

    assert contains(fold(text), phrase) == expected
    assert contains(text, fold(phrase)) == expected


@given(texts)
def test_a_text_contains_itself_unless_nothing_is_left_of_it(text: str) -> None:
    assert (contains(text, text) is not None) is (fold(text) != "")


@given(st.integers(0, 10**12))
def test_a_number_is_found_however_it_is_grouped(number: int) -> None:
    western = f"{number:,}"
    head, tail = str(number)[:-3], str(number)[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    indian = ",".join([*pairs, tail]) if head else tail

    for shown in (western, indian, f"{western}.00", western.replace(",", "\u202f")):
        assert contains(f"INR {shown} a year", str(number)) is not None
        assert contains(str(number), shown) is not None


@given(st.integers(10, 10**9), st.integers(0, 10**9))
def test_a_number_is_found_only_whole(number: int, other: int) -> None:
    found = contains(f"it is {other}, no more", str(number)) is not None

    assert found is (number == other)


CANONICAL = [
    (True, "true"),
    (False, "false"),
    (None, "null"),
    (12, "12"),
    (12.0, "12"),
    ("12", "12"),
    ("12.0", "12"),
    (-0.0, "0"),
    (0.1, "0.1"),
    (1e21, "1000000000000000000000"),
    (1e-7, "0.0000001"),
    (float("inf"), "inf"),
    ("  Billing\u00a0", "billing"),
    ([1, "A", None], '["1","a",null]'),
    (["a,b"], '["a,b"]'),
    (["null"], '["null"]'),
    ({"b": 1, "a": [True]}, '{"a":["true"],"b":"1"}'),
    ((1, 2), '["1","2"]'),
]


@pytest.mark.parametrize(("value", "text"), CANONICAL)
def test_the_canonical_text_of_a_value(value: Any, text: str) -> None:
    assert canonical(value) == text


# expected, received, equal, equal when types count
COMPARED = [
    (12, 12, True, True),
    (12, 12.0, True, True),
    (12, "12", True, False),
    (12, "12.00", True, False),
    (12.5, "12.50", True, False),
    (1234.5, "1,234.50", True, False),
    (12, "12 days", False, False),
    (7, "007", False, False),
    ("007", "7", False, False),
    ("1.10", "1.1", False, False),
    (0, "0", True, False),
    (-5, "\u22125", True, False),
    (True, True, True, True),
    (True, "True", True, False),
    (True, 1, False, False),
    (False, 0, False, False),
    (False, None, False, False),
    ("Billing", "billing ", True, True),
    ("don't", "don\u2019t", True, True),
    (None, None, True, True),
    (None, "null", False, False),
    (None, "", False, False),
    (None, MISSING, False, False),
    ("", "", True, True),
    ("", " ", True, True),
    ("", None, False, False),
    ("", MISSING, False, False),
    (["a", "B"], ["A", "b"], True, True),
    (["a", "b"], ["b", "a"], False, False),
    ([1], ["1"], True, False),
    (["a"], "a", False, False),
    ([], "[]", False, False),
    ({}, [], False, False),
    ({"a": 1}, {"a": "1"}, True, False),
    ({"a": 1}, {"a": 1, "b": 2}, False, False),
    ({"a": None}, {}, False, False),
]


@pytest.mark.parametrize(("expected", "received", "equal", "strictly"), COMPARED)
def test_how_values_compare(expected: Any, received: Any, equal: bool, strictly: bool) -> None:
    assert same_value(expected, received) is equal
    assert same_value(expected, received, strict=True) is strictly


@given(values)
def test_a_value_equals_itself_and_nothing_equals_absent(value: Any) -> None:
    assert same_value(value, value)
    assert same_value(value, value, strict=True)
    assert not same_value(value, MISSING)


@given(values, values)
def test_equality_does_not_depend_on_the_side(one: Any, two: Any) -> None:
    assert same_value(one, two) == same_value(two, one)
    if same_value(one, two, strict=True):
        assert same_value(one, two)


THING = {"a": {"b": [{"c": None}, {"c": ""}]}, "0": "zero", "n": 5}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", THING["a"]),
        ("a.b.0", {"c": None}),
        ("0", "zero"),
        ("n", 5),
        ("n.x", MISSING),
        ("0.0", MISSING),
        ("x", MISSING),
        ("x.y", MISSING),
        ("", MISSING),
        ("a.", MISSING),
    ],
)
def test_paths_in_an_object(path: str, value: Any) -> None:
    assert lookup(THING, path) == value


def test_a_key_that_holds_dots_is_found_before_the_longer_way() -> None:
    thing = {"entities.id": 1, "entities": {"id": 2, "a.b": 3}}

    assert lookup(thing, "entities.id") == 1
    assert lookup(thing, "entities.a.b") == 3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("b.0.c", None),
        ("b.1.c", ""),
        ("b.2.c", MISSING),
        ("b.-1.c", MISSING),
        ("b.x", MISSING),
        ("b.99999999999999999999", MISSING),
        ("b.0000000001", MISSING),
        ("b.\u0661.c", MISSING),
        ("b.0.c.d", MISSING),
        ("b.0.x", MISSING),
    ],
)
def test_paths_through_a_list(path: str, value: Any) -> None:
    assert lookup(THING["a"], path) == value


def test_absent_null_and_empty_are_three_things() -> None:
    found = [lookup({"null": None, "empty": ""}, path) for path in ("absent", "null", "empty")]

    assert found == [MISSING, None, ""]
    assert repr(MISSING) == "MISSING"


@given(values, st.text(max_size=8))
def test_a_lookup_never_raises(value: Any, path: str) -> None:
    lookup(value, path)


@pytest.mark.parametrize(
    ("number", "what", "said"),
    [
        (0, "verdict", "0 verdicts"),
        (1, "verdict", "1 verdict"),
        (2, "reply", "2 replies"),
        (1, "reply", "1 reply"),
        (1234, "judge call", "1,234 judge calls"),
        (100 * 0.01, "point", "1 point"),
        (100 * 0.07, "point", "7 points"),
        (0.5, "US dollar", "0.5 US dollars"),
    ],
)
def test_a_count_agrees_with_its_noun(number: float, what: str, said: str) -> None:
    assert counted(number, what) == said
