"""Building and running checks: crashes, empty transcripts, names, overrides, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import EVERYTHING, case_of, told

from agenteval_kit.checks import (
    Check,
    CheckResult,
    Resources,
    build_checks,
    id_table_key,
    run_checks,
)
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import CHECK_KEYS, Case, CheckRow, Checks, Scenario, Transcript


def check(keys: dict[str, Any], *lines: dict[str, Any]) -> dict[str, CheckRow]:
    """Rows by name of one case with these keys on a transcript told in lines."""
    case = case_of(keys)
    return {row.name: row for row in run_checks(told(lines), case, build_checks(case))}


def found(keys: dict[str, Any], *lines: dict[str, Any]) -> list[bool | None]:
    return [row.passed for row in check(keys, *lines).values()]


# -- what became of the transcript ---------------------------------------------------------------

CRASH = {"kind": "agent", "type": "KeyError", "message": "'id'", "traceback": "Traceback: line 7"}
TWO = {"must_not_include": "secret", "must_include": "30"}


def test_a_crash_is_a_failed_row_with_its_traceback_and_nothing_passes() -> None:
    rows = check(TWO, {"user": "hi"}, {"agent": "I think"}, {"failure": CRASH})

    completed = rows["agent_completed"]
    assert (completed.passed, completed.layer, completed.turn) == (False, "outcome", 1)
    assert completed.received == "KeyError: 'id'\nTraceback: line 7"
    assert completed.why == "the agent raised KeyError"
    assert rows['must_include "30"'].passed is False
    assert rows['must_not_include "secret"'].passed is None
    assert rows['must_not_include "secret"'].why == (
        "the agent crashed before it could be seen to hold"
    )


def test_what_was_seen_to_fail_before_a_crash_stays_failed() -> None:
    rows = check(TWO, {"agent": "the secret"}, {"failure": CRASH})

    assert rows['must_not_include "secret"'].passed is False


def test_a_time_out_is_told_as_one() -> None:
    failure = {"kind": "timeout", "type": "TimeoutError", "message": "after 5 s"}

    rows = check(TWO, {"agent": "30"}, {"failure": failure})

    assert rows["agent_completed"].why == "the agent did not answer in time"
    assert rows['must_include "30"'].passed is None
    assert "ran out of time" in rows['must_include "30"'].why


@pytest.mark.parametrize(
    ("kind", "who"), [("infrastructure", "the infrastructure"), ("simulator", "the simulated user")]
)
def test_what_is_not_the_agents_fault_is_unscored(kind: str, who: str) -> None:
    failure = {"kind": kind, "type": "ConnectError", "message": "refused"}

    rows = check(TWO, {"agent": "the secret"}, {"failure": failure})

    assert [row.passed for row in rows.values()] == [None, None]
    assert {row.why for row in rows.values()} == {f"{who} failed: ConnectError: refused"}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{"user": "hello?"}],
        [{"user": "hello?"}, {"agent": ""}],
        [{"user": "hello?"}, {"agent": "  \n"}],
        [{"user": "hello?"}, {"agent": None}],
    ],
)
def test_an_agent_that_did_nothing_passes_nothing_and_fails(lines: list[dict[str, Any]]) -> None:
    case = case_of(EVERYTHING.model_dump(exclude_unset=True, by_alias=True))

    rows = run_checks(told(lines), case, build_checks(case))

    assert rows[0].name == "agent_completed"
    assert rows[0].why == "the agent neither said nor did anything"
    assert {row.passed for row in rows} == {False, None}


def test_eight_crashes_in_ten_leave_two_of_ten() -> None:
    case = case_of(TWO)
    checks = build_checks(case)
    good = told([{"agent": "30 days"}])
    bad = told([{"failure": CRASH}])

    passed = [
        all(row.passed is True for row in run_checks(each, case, checks))
        for each in [good] * 2 + [bad] * 8
    ]

    assert (sum(passed), len(passed)) == (2, 10)


def test_a_record_alone_is_an_answer() -> None:
    rows = check({"must_include": "billing", "no_tools": True}, {"output": {"category": "Billing"}})

    assert [row.passed for row in rows.values()] == [True, True]


def test_a_critical_case_makes_every_row_critical() -> None:
    case = case_of(TWO, critical=True)

    rows = run_checks(told([{"failure": CRASH}]), case, build_checks(case))

    assert [row.critical for row in rows] == [True, True, True]


# -- building ------------------------------------------------------------------------------------


def test_every_key_makes_rows_in_the_order_of_the_vocabulary() -> None:
    case = case_of(EVERYTHING.model_dump(exclude_unset=True, by_alias=True))

    checks = build_checks(case)

    keys = [check.name.partition(" ")[0].partition(".")[0] for check in checks]
    assert list(dict.fromkeys(keys)) == [key for key in CHECK_KEYS if key != "python"]
    assert len({check.name for check in checks}) == len(checks)


def test_the_cases_own_key_wins_also_where_it_says_nothing() -> None:
    suite = Checks.model_validate({"no_emails": True, "max_turns": 9, "tools": ["a"]})
    case = case_of({"no_emails": False, "max_turns": 2})

    checks = build_checks(case, suite=suite)

    assert [check.name for check in checks] == ["tools", "max_turns"]
    assert checks[1](told([{"agent": "1"}] * 3), case).passed is False


def test_keys_that_say_nothing_make_no_row_but_zero_says_something() -> None:
    case = case_of({"tools": [], "no_tools": False, "max_turns": 0, "tools_exact": []})

    assert [check.name for check in build_checks(case)] == ["tools_exact", "max_turns"]


@pytest.mark.parametrize(
    ("keys", "asserts"),
    [
        ({"tools": []}, []),
        ({"tools_exact": []}, ["tools_exact"]),
        ({"no_tools": False, "promises": False, "must_refuse": False}, []),
        ({"expect": {}, "max_calls": {}}, []),
        ({"max_turns": 0}, ["max_turns"]),
        ({"recorded_reward": 0, "max_cost_usd": 0.0}, ["recorded_reward", "max_cost_usd"]),
        ({"equals": False}, ["equals"]),
        ({"matches": None}, []),
    ],
)
def test_what_a_case_says_it_asserts_is_what_is_built(
    keys: dict[str, Any], asserts: list[str]
) -> None:
    case = case_of(keys)

    names = [each.name for each in build_checks(case)]

    assert names == case.checks.given() == asserts


def test_equals_null_is_a_check() -> None:
    case = Case.model_validate({"id": "c", "input": "x", "equals": None})

    assert [check.name for check in build_checks(case)] == ["equals"]
    assert found({"equals": None}, {"agent": "null"}) == [True]
    assert found({"equals": None}, {"agent": "nothing"}) == [False]
    assert found({"equals": "null"}, {"agent": "null"}) == [True]


def test_names_stay_unique() -> None:
    case = case_of({"must_include": ["a", "A", "a"], "python": ["m:f", "m:f"]})
    functions = {"m:f": lambda transcript, case: True}

    checks = build_checks(case, resources=Resources(functions=functions))

    assert [check.name for check in checks] == [
        'must_include "a"',
        'must_include "A"',
        'must_include "a" (2)',
        "python m:f",
        "python m:f (2)",
    ]


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate(
        {"id": "s", "opening": "hi", "user": {"script": ["bye"]}, **fields}
    )


def test_invariants_are_hard_and_named_as_such() -> None:
    item = scenario(
        final_state={"a": 1},
        markers=["paid"],
        checks={"must_include": "x", "final_state": {"a": 1, "b": 2}},
        invariants={"max_turns": 5, "no_emails": True},
    )
    suite = Checks.model_validate({"max_turns": 1, "max_words": 7, "markers": ["never"]})

    checks = build_checks(item, suite=suite)

    assert [(check.name, check.critical) for check in checks] == [
        ('must_include "x"', False),
        ("final_state.a", False),
        ("final_state.b", False),
        ("max_words", False),
        ("final_state.a (2)", False),
        ("markers", False),
        ("invariant: no_emails", True),
        ("invariant: max_turns", True),
    ]


def test_where_and_strict_reach_the_checks_they_name() -> None:
    suite = Checks.model_validate({"where": {"promises": "final", "must_include": "every"}})
    case = case_of(
        {
            "must_include": "hello",
            "promises": True,
            "must_not_include": "hello",
            "where": {"must_not_include": "final"},
            "expect": {"n": 12},
            "strict": True,
        }
    )
    lines = [{"agent": "Hello. You will receive a refund."}, {"agent": '{"n": "12"}'}]

    rows = run_checks(told(lines), case, build_checks(case, suite=suite))

    assert {row.name.partition(" ")[0]: row.passed for row in rows} == {
        "expect.n": False,
        "must_include": True,
        "must_not_include": True,
        "promises": True,
    }
    assert rows[0].why == "the value agrees but its type does not, and strict asks for both"


def test_all_that_cannot_be_resolved_is_told_at_once() -> None:
    case = case_of(
        {
            "json_schema": "../schemas/tickt.json",
            "arguments": {"refund": {"type": "objekt"}},
            "cited_ids": {"pattern": "x", "in": {"file": "ids.csv", "column": "id"}},
            "no_phone_numbers": "India",
            "python": "mine:polit",
        }
    )
    resources = Resources(
        functions={"mine:polite": print}, schemas={"../schemas/ticket.json": {"type": "object"}}
    )

    with pytest.raises(ConfigError) as caught:
        build_checks(case, resources=resources)

    assert str(caught.value).splitlines() == [
        'json_schema of "c" names the schema "../schemas/tickt.json", which was not loaded. '
        'Did you mean "../schemas/ticket.json"?',
        "arguments.refund of \"c\" is not a JSON Schema: type: 'objekt' is not valid under any of "
        "the given schemas",
        'cited_ids of "c" names the table "ids.csv|id", which was not loaded.',
        'no_phone_numbers of "c" wants true or a region of two letters such as "IN", '
        'but holds "India"',
        'python of "c" names the function "mine:polit", which was not loaded. '
        'Did you mean "mine:polite"?',
    ]


def test_a_reference_into_the_network_is_refused_not_followed() -> None:
    case = case_of({"json_schema": {"$ref": "https://example.com/ticket.json"}})

    with pytest.raises(ConfigError) as caught:
        build_checks(case)

    assert str(caught.value) == (
        'json_schema of "c" refers to "https://example.com/ticket.json"; '
        'only references within the schema ("#/...") are followed'
    )


def test_tables_and_schemas_are_handed_in_under_the_text_of_the_specification() -> None:
    case = case_of(
        {
            "json_schema": "t.json",
            "cited_ids": {"pattern": r"HB-\d+", "in": {"file": "h.db", "query": "select id"}},
        }
    )
    resources = Resources(
        ids={id_table_key("h.db", "select id"): frozenset({"hb-1"})},
        schemas={"t.json": {"required": ["a"]}},
    )
    checks = build_checks(case, resources=resources)

    rows = run_checks(told([{"output": {"b": 1}}, {"agent": "See HB-1."}]), case, checks)

    assert [row.passed for row in rows] == [False, True]
    assert rows[0].expected == "follows t.json"
    assert rows[0].why == "the whole: 'a' is a required property"


# -- checks of one's own -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "passed", "why"),
    [
        (True, True, ""),
        ((True, "fine"), True, "fine"),
        (False, False, "it said false"),
        ((False, "rude"), False, "rude"),
        (None, None, "it could not tell"),
        ((None, "no data"), None, "no data"),
        (CheckResult(False, "a", "b", 0, "c"), False, "c"),
        ("yes", None, "it returned a str; it wants true, false, or (bool, why)"),
        (1, None, "it returned a int; it wants true, false, or (bool, why)"),
        ((1, 2, 3), None, "it returned a tuple; it wants true, false, or (bool, why)"),
    ],
)
def test_what_a_check_of_ones_own_may_say(answer: Any, passed: bool | None, why: str) -> None:
    case = case_of({"python": {"call": "m:f", "layer": "tone", "name": "polite"}})
    resources = Resources(functions={"m:f": lambda transcript, item: answer})

    row = run_checks(told([{"agent": "x"}]), case, build_checks(case, resources=resources))[0]

    assert (row.layer, row.name, row.passed, row.why) == ("tone", "polite", passed, why)


def test_a_check_of_ones_own_that_raises_is_not_charged_to_the_agent() -> None:
    def broken(transcript: Transcript, item: Case) -> bool:
        raise LookupError("no such thing")

    case = case_of({"python": "m:f"})
    resources = Resources(functions={"m:f": broken})

    row = run_checks(told([{"agent": "x"}]), case, build_checks(case, resources=resources))[0]

    assert row.passed is None
    assert row.why == "m:f raised LookupError; a check's crash is not a failure"
    assert row.received.endswith("LookupError: no such thing")
    assert "Traceback" in row.received


def test_a_rule_that_raises_is_unscored_and_the_others_go_on() -> None:
    def broken(reading: object, item: object) -> None:
        raise RuntimeError("rule broke")

    case = case_of({"must_include": "x"})
    checks = (Check("broken", "outcome", broken), *build_checks(case))

    rows = run_checks(told([{"agent": "x"}]), case, checks)

    assert [row.passed for row in rows] == [None, True]
    assert rows[0].received == "RuntimeError: rule broke"
