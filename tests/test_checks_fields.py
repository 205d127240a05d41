"""Single values of a case: those that would say nothing, or that nobody could see, are refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agenteval_kit.records import Case, Scenario


def complaint(**given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Case(**{"id": "c", **given})
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "is empty; give it a name"),
        ("  ", "is empty; give it a name"),
        (" a", "begins or ends with a blank"),
        ("a\u00a0", "begins or ends with a blank"),
        ("a\n", "begins or ends with a blank"),
        ("a\nb", r"holds '\n', a line break or a control character"),
        ("a\tb", r"holds '\t', a line break or a control character"),
        ("a\u2028b", r"holds '\u2028', a line break or a control character"),
        ("a\x00b", r"holds '\x00', a line break or a control character"),
        ("a\ud800", r"holds '\ud800', a line break or a control character"),
    ],
)
def test_a_name_that_nobody_can_see_or_tell_apart_is_refused(name: str, told: str) -> None:
    assert told in complaint(id=name)
    assert told in complaint(python={"call": "m:f", "layer": name})
    assert told in complaint(python={"call": "m:f", "name": name})
    assert told in complaint(forbidden_patterns=[{"pattern": "x", "name": name}])
    with pytest.raises(ValidationError):
        Scenario(id=name, opening="Hi", user={"script": []})


@pytest.mark.parametrize("name", ["pol-carry", "a b", "naïve", "日本語 7", "👩‍💻", "a" * 200])
def test_any_visible_name_is_an_id(name: str) -> None:
    assert Case(id=name).id == name


def test_names_that_mean_something_else_are_refused() -> None:
    assert "stands for every layer together" in complaint(
        python={"call": "m:f", "layer": "all checks"}
    )
    assert "is the row of an agent that crashed" in complaint(
        python={"call": "m:f", "name": "agent_completed"}
    )


@pytest.mark.parametrize(
    "pattern", ["x*", "(?=.)", r"\b", r"\B", "^", "$", "(?<=.)", "(?!x)", "a|(?=.)", "z?", "(?= )"]
)
@pytest.mark.parametrize(
    "made",
    [
        lambda pattern: {"matches": pattern},
        lambda pattern: {"forbidden_patterns": pattern},
        lambda pattern: {"claims": {pattern: "refund"}},
        lambda pattern: {"must_refuse": {"when": pattern}},
        lambda pattern: {"approval": {"before": ["refund"], "when": pattern}},
        lambda pattern: {"cited_ids": {"pattern": pattern, "in": ["a"]}},
    ],
)
def test_a_pattern_that_finds_nothing_in_nearly_every_text_is_refused(
    made: Any, pattern: str
) -> None:
    told = complaint(**made(pattern))

    assert "matches an empty text" in told or "matches without finding a letter" in told


@pytest.mark.parametrize(
    "pattern",
    [".", r"\byes\b", "(?i)refund", r"(?=.*order)(?=.*\d)", r"(?<=HB-)\d+", "^Dear", "k$"],
)
def test_a_pattern_that_says_something_is_taken(pattern: str) -> None:
    assert Case(id="c", matches=pattern).checks.matches == [pattern]


@pytest.mark.parametrize("key", ["recorded_reward", "max_cost_usd", "max_seconds"])
@pytest.mark.parametrize("value", [True, False, "1", float("inf"), float("nan")])
def test_a_threshold_is_a_finite_number(key: str, value: object) -> None:
    assert f"checks.{key}" in complaint(**{key: value})


def test_a_reward_may_be_negative_and_a_limit_may_not() -> None:
    assert Case(id="c", recorded_reward=-1).checks.recorded_reward == -1
    assert "greater than or equal to 0" in complaint(max_cost_usd=-1)
