"""Replies to a pair: A, B or TIE to the letter, with the sentence that decided; or unscored."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.pairwise import parse_preference

GOOD = '{"because": "Only it names the day.", "preferred": "A"}'


@pytest.mark.parametrize("value", ["A", "B", "TIE"])
def test_a_plain_reply_is_read_with_its_sentence(value: str) -> None:
    read = parse_preference(json.dumps({"because": "  Both do.\n", "preferred": value}))

    assert (read.value, read.because, read.repaired, read.reason) == (value, "Both do.", "", "")


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (f"Sure:\n```json\n{GOOD}\n```\nAnything else?", "fence, chatter"),
        (f"[{GOOD}]", "one-element list"),
        (f"<think>Perhaps B.</think>\n{GOOD}", "thoughts"),
        ('{"preferred": "A", "because": "Only it names the day.", "sure": 0.9}', ""),
        (f"My verdict: A\n{GOOD}", "chatter"),
        (f"The answer is a list in both. {GOOD}", "chatter"),
    ],
)
def test_a_reply_with_one_reading_is_repaired_and_marked(text: str, repaired: str) -> None:
    read = parse_preference(text)

    assert (read.value, read.repaired) == ("A", repaired)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('"a"', '"a"'),
        ('"Tie"', '"Tie"'),
        ('" A"', '" A"'),
        ('"A."', '"A."'),
        ('"Candidate A"', '"Candidate A"'),
        ('"A or B"', '"A or B"'),
        ('"both"', '"both"'),
        ('"C"', '"C"'),
        ('""', '""'),
        ("null", "null"),
        ("true", "true"),
        ("1", "1"),
        ('["A"]', '["A"]'),
        ('{"value": "A"}', '{"value": "A"}'),
    ],
)
def test_anything_but_the_three_values_is_unscored_and_shown(value: str, shown: str) -> None:
    read = parse_preference(f'{{"because": "Why not.", "preferred": {value}}}')

    assert read.value is None
    assert read.reason == f"{shown} is none of A, B and TIE"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("A", 'unreadable: no object with "preferred"'),
        ("[[A]]", 'unreadable: no object with "preferred"'),
        ('{"preferred": "A"}', "there is no sentence that decided"),
        ('{"preferred": "A", "because": " "}', "there is no sentence that decided"),
        ('{"preferred": "A", "because": ["x"]}', "there is no sentence that decided"),
        (
            f"```\n{GOOD}\n```\n```\n{GOOD.replace('A', 'B')}\n```",
            'ambiguous: 2 different objects with "preferred" in one reply',
        ),
        (f"Verdict: B\n{GOOD}", "ambiguous: the text around the verdict names another"),
        (f"{GOOD} [[B]]", "ambiguous: the text around the verdict names another"),
        (
            '{"because": "x", "quote": {"preferred": "B"}, "preferred": "A"}',
            "ambiguous: something within the verdict names another",
        ),
        (
            '{"preferred": "A", "preferred": "B"}',
            'ambiguous: "preferred" stands twice in one object',
        ),
        (GOOD[:-1], "unreadable: an object that is not whole"),
    ],
)
def test_a_reply_with_no_reading_or_two_is_unscored(text: str, reason: str) -> None:
    read = parse_preference(text)

    assert (read.value, read.reason) == (None, reason)


def hostile(rng: random.Random) -> tuple[str, str | None]:
    """A reply and the one value that it says, or None where it says none or several."""
    wrong = ["a", "Tie", "AB", "", None, True, 1, 1.0, ["A"], {}]
    value = rng.choice(["A", "B", "TIE", *rng.sample(wrong, 2)])
    because = rng.choice(["It does.", "Line\nbreak", "{user} $name {", "\u202e", "", None, 3])
    plain = json.dumps({"because": because, "preferred": value})
    said = value if value in ("A", "B", "TIE") and isinstance(value, str) else None
    if not (isinstance(because, str) and because.strip()):
        said = None
    kind = rng.randrange(8)
    if kind == 0:
        return plain, said
    if kind == 1:
        return f"Here it is:\n```json\n{plain}\n```\nDone.", said
    if kind == 2:
        return f"[{plain}]", said
    if kind == 3:
        return f"[{plain}, {plain}]", None
    if kind == 4:
        return plain[: rng.randrange(len(plain))], None
    if kind == 5:
        other = json.dumps({"because": "Other.", "preferred": "B" if value == "A" else "A"})
        return f"{plain}\n{other}", None
    if kind == 6:
        return plain.replace(
            '"preferred"', rng.choice(['"Preferred"', '"winner"', '"score"'])
        ), None
    return "".join(rng.choice('{}[]":,AB TIE\\n`') for _ in range(rng.randrange(60))), None


def test_of_five_thousand_random_replies_only_those_that_say_one_value_are_read() -> None:
    rng = random.Random(7)
    replies = [hostile(rng) for _ in range(5_000)]

    read = [parse_preference(text) for text, _ in replies]

    assert [one.value for one in read] == [said for _, said in replies]
    assert all(one.reason for one in read if one.value is None)
    assert sum(one.value is not None for one in read) > 500


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    read = parse_preference(text)

    assert (read.value is None) == bool(read.reason)
