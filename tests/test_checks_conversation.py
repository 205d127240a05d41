"""What the conversation checks do at their edges: asks, limits, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import case_of, told

from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.records import CheckRow

Line = dict[str, Any]


def row(keys: dict[str, Any], *lines: Line) -> CheckRow:
    """The only row of one key on a transcript told in lines."""
    case = case_of(keys)
    (only,) = run_checks(told(lines), case, build_checks(case))
    return only


def verdict(keys: dict[str, Any], *lines: Line) -> bool | None:
    return row(keys, *lines).passed


def test_asks_are_counted_by_turn_and_a_mention_is_none() -> None:
    keys = {"asks_at_most": {"id": {"pattern": "user id", "n": 0}}}

    found = row(keys, {"agent": "Your user ID? Please send your user ID."})

    assert (found.passed, found.turn, found.why) == (False, 0, "asked at turn 0")
    assert verdict(keys, {"agent": "I found your user ID."}) is True


def test_asking_again_is_judged_from_the_first_time_it_was_given() -> None:
    keys = {"asks_after_given": {"id": {"ask": "order number", "given": r"\bW\d+"}}}
    ask = {"agent": "What is the order number?"}

    assert verdict(keys, ask, {"user": "w77"}, {"agent": "Thanks"}) is True
    assert row(keys, {"user": "W7"}, {"user": "W8"}, ask).why == "the user had given it at turn 0"
    assert row(keys, ask).received == "never given"


@pytest.mark.parametrize("key", ["max_tokens", "max_cost_usd", "max_seconds"])
def test_what_is_not_known_is_not_within_a_limit(key: str) -> None:
    found = row({key: 5}, {"agent": "hi"})

    assert (found.passed, found.received) == (None, "unknown")
    assert found.why.endswith("is not known")


def test_a_limit_that_the_known_half_breaks_is_broken() -> None:
    keys = {"max_tokens": 5}

    assert verdict(keys, {"agent": "hi"}, {"usage": {"output_tokens": 9}}) is False
    assert verdict(keys, {"agent": "hi"}, {"usage": {"output_tokens": 5}}) is None
    assert verdict({"max_tokens": 0}, {"agent": "hi"}, {"usage": {"input_tokens": 0}}) is None


def test_the_longest_agent_turn_counts_not_the_users() -> None:
    lines = [{"user": "a b c d"}, {"agent": "a b c"}, {"agent": "a"}]

    assert row({"max_words": 2}, *lines).turn == 1
    assert verdict({"max_words": 3}, *lines) is True
    assert verdict({"max_chars": 5}, *lines) is True
    assert row({"max_turns": 2}, *lines).turn == 2
