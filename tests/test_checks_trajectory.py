"""What the trajectory checks do at their edges: malformed, parallel, missing, extra, too early."""

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


MALFORMED = ['{"id": 7', "null", '"[]"', '"{\\"id\\": 7}"', "[1]", "7"]


@pytest.mark.parametrize("raw", MALFORMED)
def test_malformed_arguments_stay_a_call_and_fail_what_reads_them(raw: str) -> None:
    call = {"call": {"refund": raw}, "gives": "Error: bad arguments"}

    assert verdict({"tools": ["refund"]}, call) is True
    assert row({"tools": ["refund"]}, call).received == "[refund (malformed)]"
    assert verdict({"forbidden_tools": ["refund"]}, call) is False
    assert verdict({"max_calls": {"refund": 0}}, call) is False
    for keys in (
        {"arguments": {"refund": {}}},
        {"arguments": {"*": {}}},
        {"not_null": {"refund": ["id"]}},
    ):
        found = row(keys, call)
        assert found.passed is False
        assert found.why.startswith("arguments are")
        assert found.received.startswith("refund(")


def test_no_arguments_are_an_empty_object_and_not_malformed() -> None:
    call = {"call": {"refund": ""}, "gives": "ok"}

    assert verdict({"arguments": {"refund": {"type": "object"}}}, call) is True
    assert row({"not_null": {"refund": ["id"]}}, call).why == "id is absent"


def test_a_key_that_stands_twice_counts_as_its_last() -> None:
    call = {"call": {"refund": '{"id": null, "id": 7}'}, "gives": "ok"}

    assert verdict({"not_null": {"refund": ["id"]}}, call) is True


@pytest.mark.parametrize(
    ("value", "why"),
    [(None, "id is null"), ("", "id is an empty text"), (" ", "id is an empty text")],
)
def test_null_and_blank_arguments_are_told_apart(value: Any, why: str) -> None:
    assert (
        row({"not_null": {"*": ["id"]}}, {"call": {"t": {"id": value}}, "gives": "ok"}).why == why
    )


REORDERED = "all of them occur, but in another order"


def calls(*names: str) -> list[Line]:
    return [{"call": {name: {"n": at}}, "gives": "ok"} for at, name in enumerate(names)]


@pytest.mark.parametrize(
    ("key", "wanted", "actual", "why"),
    [
        ("tools", ["a"], [], "missing one a"),
        ("tools", ["a", "a", "b"], ["a", "b"], "missing one a"),
        ("tools", ["a", "a", "a", "b"], ["a"], "missing two a and one b"),
        ("tools", ["a", "b"], ["b", "a"], f"{REORDERED}: b comes too early"),
        ("tools_exact", ["a"], ["a", "d", "d"], "not wanted: two d"),
        ("tools_exact", ["a", "b"], ["b", "d"], "missing one a; not wanted: one d"),
        ("tools_exact", ["a", "b"], ["b", "a"], "in another order"),
        ("tools_exact", [], ["a"], "not wanted: one a"),
        ("tools_any_order", ["a", "a"], ["a", "b"], "missing one a"),
    ],
)  # fmt: skip
def test_what_is_missing_or_extra_is_named(
    key: str, wanted: list[str], actual: list[str], why: str
) -> None:
    found = row({key: wanted}, {"agent": "hm"}, *calls(*actual))

    assert (found.passed, found.why) == (False, why)
    assert found.received == f"[{', '.join(actual)}]"


@pytest.mark.parametrize(
    ("key", "wanted", "actual"),
    [
        ("tools", ["a", "b"], ["x", "a", "x", "b", "x"]),
        ("tools", ["a", "a"], ["a", "a", "a"]),
        ("tools_any_order", ["b", "a"], ["a", "x", "b"]),
        ("tools_exact", ["a", "a"], ["a", "a"]),
    ],
)
def test_orders_that_hold(key: str, wanted: list[str], actual: list[str]) -> None:
    assert verdict({key: wanted}, *calls(*actual)) is True


def test_the_first_call_too_many_is_where_it_fails() -> None:
    assert row({"tools_exact": ["a"]}, *calls("a", "d", "d")).turn == 2


def test_two_calls_in_one_parallel_turn_are_two_calls() -> None:
    parallel = {"call": {"search": {"q": 1}, "search#2": {"q": 2}}, "gives": "ok"}

    assert verdict({"max_calls": {"search": 1}}, parallel) is False
    assert verdict({"max_calls": {"*": 1}}, parallel) is False
    assert verdict({"tools": ["search", "search"]}, parallel) is True


def test_identical_calls_ignore_the_order_of_keys_and_tell_null_from_absent() -> None:
    same = [{"call": {"t": '{"a": 1, "b": 2}'}}, {"call": {"t": '{"b": 2, "a": 1}'}}]
    other = [{"call": {"t": {"a": None}}}, {"call": {"t": {}}}]

    assert verdict({"max_identical_calls": 1}, *same) is False
    assert verdict({"max_identical_calls": 1}, *other) is True


def test_before_wants_an_earlier_call_that_did_not_fail() -> None:
    keys = {"before": [["get", "write"]]}
    failed = {"call": {"get": {}}, "gives": "Error: not found"}
    silent = {"call": {"get": {}}}
    write = {"call": {"write": {}}, "gives": "ok"}

    assert row(keys, write).why == "get was not called before"
    assert row(keys, failed, write).why == (
        "get was called at turn 0, but it ended in an error: Error: not found"
    )
    assert verdict(keys, silent, write) is True
    assert verdict(keys, {"agent": "nothing written"}) is True
    assert verdict(keys, failed, *calls("get", "write", "write")) is True


def test_each_guarded_call_needs_an_approval_of_its_own() -> None:
    keys = {"approval": {"before": ["pay", "refund"], "when": r"\byes\b"}}
    yes, no = {"user": "YES"}, {"user": "wait"}
    pay = {"call": {"pay": {}}, "gives": "ok"}
    failed = {"call": {"pay": {}}, "gives": "Error: try again"}
    both = {"call": {"pay": {}, "refund": {}}, "gives": "ok"}

    assert verdict(keys, yes, pay) is True
    assert verdict(keys, yes, no, pay) is True
    assert row(keys, no, pay).why == "pay was called without an approval before it"
    assert row(keys, no, pay).received == 'user: "wait"'
    assert verdict(keys, yes, pay, pay) is False
    assert verdict(keys, yes, pay, yes, pay) is True
    assert verdict(keys, yes, failed, pay) is True
    assert verdict(keys, yes, both) is False
    assert verdict(keys, pay, yes) is False


def test_events_are_read_in_order() -> None:
    keys = {"markers": ["a", "b"]}

    assert verdict(keys, {"agent": "x"}, {"events": ["a", "x", "b"]}) is True
    assert row(keys, {"agent": "x"}, {"events": ["a"]}).why == "missing one b"
