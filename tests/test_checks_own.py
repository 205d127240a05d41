"""Checks of one's own: what they may return, and that whatever they raise ends only themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from strategies import case_of, told

from agenteval_kit.checks import Check, CheckResult, Resources, build_checks, run_checks
from agenteval_kit.records import Case, CheckRow, Transcript


def row_of(function: Callable[[Transcript, Case], Any]) -> CheckRow:
    case = case_of({"python": "m:f"})
    checks = build_checks(case, resources=Resources(functions={"m:f": function}))
    return run_checks(told([{"agent": "ok"}]), case, checks)[0]


class Odd(BaseException):
    """No Exception, like what pytest.fail raises."""


@pytest.mark.parametrize("raised", [SystemExit(0), SystemExit(1), Odd("odd"), RecursionError()])
def test_whatever_a_check_of_ones_own_raises_leaves_the_row_unscored(raised: BaseException) -> None:
    def leaves(transcript: Transcript, case: Case) -> bool:
        raise raised

    row = row_of(leaves)

    name = type(raised).__name__
    assert row.passed is None
    assert row.why == f"m:f raised {name}; a check's crash is not a failure"
    assert name in row.received


def test_pytests_own_failure_in_a_check_is_no_verdict() -> None:
    def fails(transcript: Transcript, case: Case) -> bool:
        pytest.fail("not like this")

    assert row_of(fails).why == "m:f raised Failed; a check's crash is not a failure"


def test_a_person_can_still_stop_a_check() -> None:
    def stopped(transcript: Transcript, case: Case) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        row_of(stopped)


def test_a_rule_that_exits_is_unscored_and_the_others_go_on() -> None:
    def leaves(*_: object) -> CheckResult:
        sys.exit(0)

    checks = [
        Check("leaves", "outcome", leaves),
        Check("holds", "outcome", lambda *_: CheckResult(True)),
    ]

    rows = run_checks(told([{"agent": "ok"}]), case_of({}), checks)

    assert [row.passed for row in rows] == [None, True]


@pytest.mark.parametrize(
    ("returned", "passed", "why"),
    [
        (np.True_, True, ""),
        (np.bool_(0), False, "it said false"),
        (np.array(1.0) > 0, True, ""),
        ((np.False_, "too curt"), False, "too curt"),
        (CheckResult(np.True_), True, ""),  # type: ignore[arg-type]
        (CheckResult(None, why="unsure"), None, "unsure"),
    ],
)
def test_the_truth_values_of_numpy_are_plain_ones_in_the_row(
    returned: object, passed: bool | None, why: str
) -> None:
    row = row_of(lambda transcript, case: returned)

    assert row.passed is passed
    assert row.why == why


@pytest.mark.parametrize(
    ("returned", "kind"),
    [
        (1, "int"),
        ("yes", "str"),
        (np.int64(1), "int64"),
        (np.array([True, True]), "ndarray"),
        (("yes", "why"), "str"),
        (CheckResult("yes"), "str"),  # type: ignore[arg-type]
        (SimpleNamespace(dtype="b"), "SimpleNamespace"),
    ],
)
def test_what_is_no_truth_value_is_unscored(returned: object, kind: str) -> None:
    row = row_of(lambda transcript, case: returned)

    assert row.passed is None
    assert row.why == f"it returned a {kind}; it wants true, false, or (bool, why)"
