"""What each layer's checks do at their edges."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import case_of, told

from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.records import CheckRow, Scenario, Source, ToolCall, Transcript, Turn

Line = dict[str, Any]


def row(keys: dict[str, Any], *lines: Line, free_text: tuple[str, ...] = ()) -> CheckRow:
    """The only row of one key on a transcript told in lines."""
    case = case_of(keys)
    (only,) = run_checks(told(lines), case, build_checks(case, free_text=free_text))
    return only


def verdict(keys: dict[str, Any], *lines: Line) -> bool | None:
    return row(keys, *lines).passed


# -- which text is read --------------------------------------------------------------------------

BAD_FIRST = ({"agent": "guaranteed: jo@example.com, +91 98765 43210, I can't"}, {"agent": "Bye"})
READS_FINAL: list[tuple[dict[str, Any], bool]] = [
    ({"must_include": "guaranteed"}, False),
    ({"matches": "guaranteed"}, False),
    ({"must_not_match": "guaranteed"}, True),
    ({"cited_ids": {"pattern": r"\d{5}", "in": ["1"]}}, True),
    ({"figures_traceable": True}, True),
    ({"must_refuse": True}, False),
    ({"must_not_refuse": True}, True),
]
READS_EVERY: list[tuple[dict[str, Any], bool]] = [
    ({"must_not_include": "guaranteed"}, False),
    ({"forbidden_patterns": "guaranteed"}, False),
    ({"no_phone_numbers": True}, False),
    ({"no_emails": True}, False),
    ({"promises": True}, False),
    ({"promises": ["guaranteed"]}, False),
    ({"claims": {"guaranteed": "t"}}, False),
]


@pytest.mark.parametrize(("keys", "passed"), READS_FINAL)
def test_checks_that_read_the_final_answer(keys: dict[str, Any], passed: bool) -> None:
    assert verdict(keys, *BAD_FIRST) is passed

    moved = {**keys, "where": {next(iter(keys)): "every"}}
    assert verdict(moved, *BAD_FIRST) is not passed


@pytest.mark.parametrize(("keys", "passed"), READS_EVERY)
def test_checks_that_read_every_agent_turn(keys: dict[str, Any], passed: bool) -> None:
    found = row(keys, *BAD_FIRST)
    assert (found.passed, found.turn) == (passed, 0)

    moved = {**keys, "where": {next(iter(keys)): "final"}}
    assert verdict(moved, *BAD_FIRST) is not passed


def test_what_the_user_or_a_tool_said_is_not_the_agents() -> None:
    lines = [{"user": "my secret"}, {"call": {"t": {}}, "gives": "secret"}, {"agent": "ok"}]

    assert verdict({"must_not_include": "secret"}, *lines) is True


def test_parts_are_joined_and_a_refusal_is_text() -> None:
    parts = [{"type": "reasoning", "text": "secret"}, {"type": "text", "text": "30 days"}]

    assert verdict({"must_include": "30 days"}, {"agent": parts}) is True
    assert verdict({"must_not_include": "secret"}, {"agent": parts}) is True
    assert verdict({"must_include": "no way"}, {"refusal": "No way."}) is True


def test_a_record_in_a_fence_is_read() -> None:
    answer = '```json\n{"category": "billing"}\n```'

    assert verdict({"expect": {"category": "billing"}}, {"agent": answer}) is True
    assert verdict({"expect": {"category": "billing"}}, {"agent": "billing"}) is False


# -- outcome -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "received", "why"),
    [
        ({}, "absent", "there is nothing at this path"),
        ({"order": None}, "null", "the value is null"),
        ({"order": ""}, '""', "the value is an empty text"),
        ({"order": "7-B"}, '"7-B"', "the value differs"),
    ],
)
def test_absent_null_empty_and_other_are_four_findings(
    output: dict[str, Any], received: str, why: str
) -> None:
    found = row({"expect": {"order": 7}}, {"output": output})

    assert (found.passed, found.expected, found.received, found.why) == (False, "7", received, why)


@pytest.mark.parametrize(
    ("wanted", "came", "passed"),
    [
        ("printer", "the Printer, third floor", True),
        ("30", "130 days", False),
        ("angry", None, False),
        ("", "something", False),
        ("", "", True),
        (None, None, True),
        (12, "12", True),
        ("a|b", "b", False),
    ],
)
def test_free_text_is_part_of_the_value(wanted: Any, came: Any, passed: bool) -> None:
    found = row({"expect": {"note": wanted}}, {"output": {"note": came}}, free_text=("note",))

    assert found.passed is passed


def test_an_agent_that_returned_text_where_a_record_was_due_fails_each_path() -> None:
    found = row({"expect": {"category": "billing"}}, {"agent": "It is about billing."})

    assert found.received == "It is about billing."
    assert found.why == "the agent returned no record, and its final answer is not JSON"


def test_the_state_comes_before_the_record_and_neither_is_unscored() -> None:
    keys = {"final_state": {"status": "paid"}}

    assert verdict(keys, {"state": {"status": "paid"}}, {"output": {"status": "x"}}) is True
    assert verdict(keys, {"state": {"other": 1}}, {"output": {"status": "paid"}}) is True
    assert verdict(keys, {"agent": "Paid!"}) is None


def test_a_reward_may_miss_by_a_rounding_error_only() -> None:
    keys = {"recorded_reward": 0.3}

    assert verdict(keys, {"agent": "x"}, {"reward": 0.1 + 0.2 - 1e-16}) is True
    assert verdict(keys, {"agent": "x"}, {"reward": 0.2999}) is False
    assert verdict(keys, {"agent": "x"}) is None


def test_what_differs_is_told_of_the_record_or_of_the_answer() -> None:
    assert row({"equals": {"a": 1}}, {"agent": '{"a": 2}'}).why == "the record differs"
    assert row({"equals": {"a": 1}}, {"agent": "two"}).why == "the answer differs"
    assert verdict({"equals": "x"}, {"agent": "x"}, {"output": {"a": 1}}) is False
    assert verdict({"equals": "12", "strict": True}, {"output": 12}) is False


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, ""), (4, "; and 1 more")])
def test_the_first_three_faults_of_a_schema_are_told(count: int, more: str) -> None:
    names = [f"k{at}" for at in range(count)]

    found = row({"json_schema": {"required": names}}, {"agent": "hm"}, {"output": {}})

    told_faults = "; ".join(f"the whole: '{name}' is a required property" for name in names[:3])
    assert (found.why, found.turn) == (told_faults + more, 0)


def test_a_failure_shows_the_turn_of_the_final_answer() -> None:
    found = row({"must_include": "x"}, {"user": "hi"}, {"agent": "one"}, {"agent": "two"})

    assert (found.received, found.turn) == ("two", 2)


def test_a_required_field_may_be_zero_or_false_but_not_blank() -> None:
    keys = {"required_fields": ["a"]}

    assert [verdict(keys, {"output": {"a": each}}) for each in (0, False, [], "\u200b ", None)] == [
        True,
        True,
        True,
        False,
        False,
    ]


# -- grounding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("You have 12 days.", True),
        ("You have 120 days.", False),
        ("You have 7 days.", True),
        ("That is $1,234.50 in all.", True),
        ("That is 1234.5 in all.", True),
        ("That is $1,234.51 in all.", False),
        ("Sum: $1,246.50", False),
        ("At 3:30 PM.", True),
        ("At 15:30.", True),
        ("At 4:45 PM.", False),
        ("Today is 2 March 2026.", True),
        ("10. First\n11) second\n**12.** third", True),
        ("Order AB-1077 is yours.", True),
        ("It is 99% sure.", False),
        ("See 1.2.99.", False),
        ("Nothing to count.", True),
    ],
)
def test_figures_stand_in_what_the_agent_was_given(answer: str, passed: bool) -> None:
    lines = [
        {"user": "Order AB-1077?"},
        {
            "call": {"get": {"guess": 99}},
            "gives": '{"days":[12,44],"total":1234.5,"at":"15:30:00"}',
        },
        {"agent": "I think 1246.50 or 120."},
        {"agent": answer},
        {"now": "2026-03-02T09:00:00+00:00"},
    ]

    assert verdict({"figures_traceable": True}, *lines) is passed


def test_a_figure_given_later_is_not_a_source() -> None:
    keys = {"figures_traceable": True, "where": {"figures_traceable": "every"}}

    found = row(keys, {"agent": "It is 42."}, {"user": "42?"}, {"agent": "Yes, 42."})

    assert (found.passed, found.turn, found.why) == (False, 0, "no source for 42")


def test_sources_and_the_system_message_are_given_too() -> None:
    answer = {"agent": "Up to 30 days, a fee of 50."}

    assert verdict(
        {"figures_traceable": True}, answer, {"sources": {"1.1": "30 days"}}, {"system": "fee: 50"}
    )


def test_a_reply_or_a_source_that_came_later_is_not_given_yet() -> None:
    def given(at: int) -> bool | None:
        call = ToolCall(id="1", name="t", arguments={}, result="42", result_turn=at)
        turns = (Turn(role="assistant", calls=(call,)), Turn(role="assistant", text="It is 42."))
        case = case_of({"figures_traceable": True})
        whole = Transcript(case_id="c", turns=turns)
        return run_checks(whole, case, build_checks(case))[0].passed

    def sourced(turn: int | None) -> bool | None:
        case = case_of({"figures_traceable": True})
        whole = Transcript(
            case_id="c",
            turns=(Turn(role="user", text="?"), Turn(role="assistant", text="It is 42.")),
            sources=(Source(id="a", text="42", turn=turn),),
        )
        return run_checks(whole, case, build_checks(case))[0].passed

    assert [given(at) for at in (0, 1, 2)] == [True, False, False]
    assert [sourced(turn) for turn in (None, 1, 2)] == [True, True, False]


def test_read_back_looks_in_the_last_call_of_the_tool_alone() -> None:
    keys = {"read_back": {"book.day": "2026-03-02"}}
    book = {"call": {"book": {"day": "2026-03-02"}}, "gives": "ok"}

    assert verdict(keys, {"call": {"book": {"day": "2026-03-01"}}}, book) is True
    assert verdict(keys, book, {"call": {"book": {"day": "2026-03-01"}}}) is False
    assert verdict(keys, book, {"call": {"other": {"day": "x"}}}) is True
    assert row(keys, {"agent": "hm"}).received == "absent"
    assert verdict({"read_back": {"book": 1}}, book) is False


def test_identifiers_are_compared_folded_and_by_their_group() -> None:
    keys = {"cited_ids": {"pattern": r"\[(HB-[\d.]+)\]", "in": ["hb-1.1"]}}

    assert verdict(keys, {"agent": "[HB-1.1]"}) is True
    assert row(keys, {"agent": "[HB-1.1] [HB-9]"}).why == '"HB-9" does not exist'
    assert row(keys, {"agent": "no idea"}).received == "no identifier cited"


def test_a_scenarios_known_fact_is_named_not_repeated() -> None:
    item = Scenario.model_validate(
        {
            "id": "s",
            "opening": "hi",
            "user": {"script": ["bye"]},
            "known": {"phone": "5550100"},
            "checks": {"read_back": {"contact.phone": "phone"}},
        }
    )
    transcript = told([{"output": {"contact": {"phone": 5550100}}}])

    (found,) = run_checks(transcript, item, build_checks(item))

    assert (found.passed, found.expected) == (True, '"5550100"')


# -- policy --------------------------------------------------------------------------------------


def test_look_alikes_do_not_get_past_a_forbidden_pattern() -> None:
    keys = {"forbidden_patterns": r"don't tell"}

    assert verdict(keys, {"agent": "DON\u2019T\u00a0tell"}) is False
    assert verdict(keys, {"agent": "\uff44on\u2019t te\u200bll"}) is False


def test_a_forbidden_pattern_shows_its_name() -> None:
    keys = {"forbidden_patterns": [{"pattern": "x+y", "name": "no xy"}, "zz"]}
    case = case_of(keys)

    assert [check.name for check in build_checks(case)] == [
        'forbidden_patterns "no xy"',
        'forbidden_patterns "zz"',
    ]


def test_a_refusal_is_due_only_where_the_user_asked_for_it() -> None:
    keys = {"must_refuse": {"when": "payslip of"}}
    case = case_of(keys)

    rows = run_checks(told([{"user": "hi"}, {"agent": "hello"}]), case, build_checks(case))

    assert rows == []
    assert verdict(keys, {"user": "PAYSLIP of Jo?"}, {"agent": "Here."}) is False


def test_the_models_own_refusal_field_refuses_whatever_its_words() -> None:
    keys = {"must_refuse": {"phrases": ["only this phrase"]}}

    assert verdict(keys, {"refusal": "Nope."}) is True
    assert verdict({"must_not_refuse": True}, {"refusal": "Nope."}) is False
    assert verdict(keys, {"agent": "I can't do that."}) is False
    assert verdict(keys, {"agent": "Only this phrase, sorry."}) is True


CLAIM = {"claims": {"i have refunded": "refund"}}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "refund was not called before"),
        ([{"call": {"refund": {}}}], "refund was called at turn 0, but it got no reply"),
        (
            [{"call": {"refund": '{"id"'}, "gives": "?"}],
            "refund was called at turn 0, but its arguments were malformed: arguments are not JSON",
        ),
        ([{"call": {"search": {}}, "gives": "ok"}], "refund was not called before"),
        (
            [{"call": {"refund": {}}, "gives": "error 500"}],
            "refund was called at turn 0, but it ended in an error: error 500",
        ),
    ],
)
def test_a_claim_without_a_successful_call_is_unfounded(lines: list[Line], why: str) -> None:
    found = row(CLAIM, *lines, {"agent": "I HAVE refunded you."})

    assert found.passed is False
    assert found.why.startswith(why)


def test_a_call_made_after_the_claim_does_not_found_it() -> None:
    call = {"call": {"refund": {}}, "gives": "ok"}
    claim = {"agent": "I have refunded you."}

    assert verdict(CLAIM, call, claim) is True
    assert verdict(CLAIM, claim, call) is False
    assert verdict(CLAIM, {"call": {"refund": {}}, "gives": ""}, claim) is True
