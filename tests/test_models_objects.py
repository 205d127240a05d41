"""One object out of a reply: where more than one reading is possible there is none."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.models.objects import find_object


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ('{"key": 1}', ()),
        ('  {"key": 1}\n', ()),
        ('\ufeff{"key": 1}', ()),
        ('[{"key": 1}]', ("one-element list",)),
        ('```json\n{"key": 1}\n```', ("fence",)),
        ('Sure.\n```json\n{"key": 1}\n```\nAnything else?', ("fence", "chatter")),
        ('See [1]. {"key": 1}', ("chatter",)),
        ('{"other": 2} {"key": 1}', ("chatter",)),
        ('{"key": 1}\n{"key": 1}', ("said twice",)),
        ('<think>{"key": 2}</think>{"key": 1}', ("thoughts",)),
    ],
)
def test_what_has_one_reading_is_read_and_marked(text: str, repaired: tuple[str, ...]) -> None:
    found = find_object(text, key="key")

    assert found.value == {"key": 1}
    assert found.repaired == repaired
    assert found.reason == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("<think>nothing more</think>", "the reply is empty"),
        ("no object", 'unreadable: no object with "key"'),
        ("[]", "a list of 0; one object was wanted"),
        ('[{"key": 1}, {"key": 1}]', "a list of 2; one object was wanted"),
        ('```\n[{"key": 1}, {"key": 2}]\n```', "a list of 2; one object was wanted"),
        ("null", 'null is no object; one with "key" was wanted'),
        ('"{\\"key\\": 1}"', '"{\\"key\\": 1}" is no object; one with "key" was wanted'),
        ('{"keys": 1}', 'the reply has no "key"; it has "keys"'),
        ("{}", 'the reply has no "key"; it has nothing'),
        (
            '{"key": 1} or {"key": 2}',
            'ambiguous: 2 different objects with "key" in one reply',
        ),
        (
            '```json\n{"key": 1}\n```\n```json\n{"key": true}\n```',
            'ambiguous: 2 different objects with "key" in one reply',
        ),
        ('{"key": 1, "key": 2}', 'ambiguous: "key" stands twice in one object'),
        ('{"key": 1', "unreadable: an object that is not whole"),
        ('{"note": "x", {"key": 1}', "unreadable: an object that is not whole"),
        ('{"whole": {"key": 1}', "unreadable: an object that is not whole"),
        ("{'key': 1}", "unreadable: an object that is not whole"),
        ('{"key": NaN}', "unreadable: an object that is not whole"),
        ('{"key": 1e999}', "unreadable: an object that is not whole"),
        ('{"key": 1}}', "unreadable: an object that is not whole"),
        ('{"a":' * 100_000, "unreadable: nested too deeply"),
    ],
)
def test_what_has_no_reading_or_two_is_not_read(text: str, reason: str) -> None:
    found = find_object(text, key="key")

    assert found.value is None
    assert found.reason == reason


@pytest.mark.parametrize(
    "piece", ["{", "[", "[{", '{"a":', '{"a{', '{"a":[1,{', "[a", '{"a":1}', "[1],", "<think>"]
)
def test_a_model_that_loops_does_not_hold_up_the_run(piece: str) -> None:
    text = piece * (400_000 // len(piece))

    began = time.perf_counter()
    find_object(text, key="key")

    # Each of these took minutes while every bracket was tried.
    assert time.perf_counter() - began < 5


@given(st.text(alphabet='{}[]",:` \n1aAkey\\', max_size=60))
def test_no_text_raises_and_what_is_found_holds_the_key(text: str) -> None:
    found = find_object(text, key="key")

    assert (found.value is None) == bool(found.reason)
    if found.value is not None:
        assert "key" in found.value


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none()),
    st.text(alphabet="abc .,\n", max_size=20),
)
def test_an_object_is_found_in_any_chatter_without_brackets(
    more: dict[str, object], chatter: str
) -> None:
    wanted = {**more, "key": 1}

    found = find_object(f"{chatter}{json.dumps(wanted)}{chatter}", key="key")

    assert found.value == wanted
