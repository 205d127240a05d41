"""The gate: each clause just above and just below, and what no average may buy back."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from builders import Rows, make_run, passes
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import ClauseRow, Decision, LoadedBar, decide, load_bar
from agenteval_kit.gate.thresholds import held_against
from agenteval_kit.gate.verdict import verdict_of
from agenteval_kit.records import Bar, CheckRow
from agenteval_kit.runs import Run, Selection
from agenteval_kit.stats.beside_bar import more_exactly, on_its_side
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.summary import summarise


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


def row_of(decision: Decision, clause: str, target: str | None = None) -> ClauseRow:
    (found,) = [
        row
        for row in decision.rows
        if row.clause == clause and (target is None or row.target == target)
    ]
    return found


def broken_copy(n: int, *, of: int = 44, cases: int = 60) -> dict[str, Rows]:
    """`cases` cases of which `of` passed before; the first `n` of those fail now."""
    made = passes(cases, of)
    return {**made, **{f"case-{index:03d}": {"outcome": False} for index in range(n)}}


# hard_layers


@pytest.mark.parametrize(
    ("failing", "status", "verdict"), [(0, "pass", "SHIP"), (1, "fail", "HOLD")]
)
def test_one_failing_check_of_a_hard_layer_holds_the_release(
    tmp_path: Path, failing: int, status: str, verdict: str
) -> None:
    run = make_run(tmp_path, passes(100, 100 - failing, layer="policy"))

    decision = decide(run, bar_of(hard_layers=["policy"]))

    assert row_of(decision, "hard_layers").status == status
    assert decision.verdict == verdict
    assert [fail.case_id for fail in decision.hard_fails] == ["case-099"] * failing


def test_a_hard_layer_that_held_says_what_is_not_ruled_out(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(60, 60, layer="policy"))

    row = row_of(decide(run, bar_of(hard_layers=["policy"])), "hard_layers")

    # 1 - 0.05 ** (1 / 60) = 0.0487: the exact bound, by the arithmetic
    assert row.reason == (
        "no check failed in 60 transcripts; a true failure rate of up to 4.9 % is not ruled out"
    )


def test_a_hard_layer_that_could_not_be_scored_once_cannot_tell(tmp_path: Path) -> None:
    cases: dict[str, Rows] = passes(100, 100, layer="policy")
    cases["case-050"] = {"policy": None}
    run = make_run(tmp_path, cases)

    decision = decide(run, bar_of(hard_layers=["policy"]))

    row = row_of(decision, "hard_layers")
    assert (row.status, row.ids) == ("cannot tell", ("case-050",))
    assert row.reason == "nothing failed, but 1 of 100 transcripts could not be scored"
    assert decision.verdict == "REVIEW"


def test_a_hard_layer_nobody_checks_cannot_tell_and_names_the_near_one(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(3, 3, layer="policy"))

    decision = decide(run, bar_of(hard_layers=["polcy"]))

    row = row_of(decision, "hard_layers")
    assert row.status == "cannot tell"
    assert row.reason == 'no check of layer "polcy" ran. Did you mean "policy"?'
    assert decision.verdict == "REVIEW"


def test_a_crash_shows_nothing_of_a_hard_layer_and_fails_its_pass_rate(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {"ok": {"outcome": True, "policy": True}, "crash": {"outcome": None, "policy": None}},
        failures={("crash", 0): "agent"},
    )

    decision = decide(run, bar_of(hard_layers=["policy"], pass_rate={"policy": 0.9}))

    assert row_of(decision, "hard_layers").status == "cannot tell"
    rate = row_of(decision, "pass_rate")
    assert (rate.status, rate.ids) == ("fail", ("crash",))
    assert rate.reason == (
        "50 % (9 to 91 %), under 90 %; the interval holds the bar: it could be either side; "
        "1 crashed"
    )


@pytest.mark.parametrize("rows_written", [True, False])
def test_no_bar_holds_on_crashes_of_cases_that_are_not_checked_in_its_layer(
    tmp_path: Path, rows_written: bool
) -> None:
    run = make_run(
        tmp_path,
        {"ok": {"trajectory": True}, "crash": {"trajectory": None}},
        failures={("crash", 0): "agent"},
    )
    if rows_written:
        writer = run.writer()
        writer.add_checks([CheckRow("crash", 0, "outcome", "agent_completed", False)])
        writer.close()

    decision = decide(
        run,
        bar_of(
            hard_layers=["outcome", "trajectory"], pass_rate={"outcome": 0.5, "trajectory": 0.9}
        ),
    )

    # Nothing is known of the outcome; the trajectory failed, but no check of it was seen to fail.
    assert [(row.clause, row.target, row.status) for row in decision.rows][:4] == [
        ("hard_layers", "outcome", "cannot tell"),
        ("hard_layers", "trajectory", "cannot tell"),
        ("pass_rate", "outcome", "cannot tell"),
        ("pass_rate", "trajectory", "fail"),
    ]


# critical


def test_twenty_critical_cases_thrice_say_what_is_not_ruled_out(tmp_path: Path) -> None:
    cases = {f"c{index}": [{"outcome": True}] * 3 for index in range(20)}
    run = make_run(tmp_path, cases, critical=cases)

    decision = decide(run, bar_of(critical="all"))

    assert decision.verdict == "SHIP"
    assert row_of(decision, "critical").reason == (
        "all passed (20 critical cases, 60 runs); a true failure rate of up to 4.9 % is not ruled "
        "out, and up to 14 % if repeats of a case are all alike"
    )


def test_one_critical_case_failing_on_one_repeat_holds_the_release(tmp_path: Path) -> None:
    cases = {f"c{index}": [{"outcome": True}] * 3 for index in range(20)}
    cases["c7"] = [{"outcome": True}, {"outcome": False}, {"outcome": True}]
    run = make_run(tmp_path, cases, critical=cases)

    decision = decide(run, bar_of(critical="all", pass_rate={"outcome": 0.9}))

    row = row_of(decision, "critical")
    assert (row.status, row.ids) == ("fail", ("c7",))
    assert row.reason == "1 of 60 failed (20 critical cases, 60 runs)"
    assert row_of(decision, "pass_rate").status == "pass"
    assert decision.verdict == "HOLD"
    assert [(fail.case_id, fail.repeat) for fail in decision.hard_fails] == [("c7", 1)]


def test_an_invariant_is_critical_and_the_rest_of_its_scenario_is_not(tmp_path: Path) -> None:
    held = {"outcome/state": False, "policy/invariant: approval": True}
    run = make_run(tmp_path, {"s": held}, critical_checks=["policy/invariant: approval"])

    decision = decide(run, bar_of(critical="all"))

    assert row_of(decision, "critical").status == "pass"
    assert decision.hard_fails == ()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"outcome": None}, "none failed, but 1 of 1 could not be scored (1 critical case)"),
        ({}, "none failed, but 1 of 1 could not be scored (1 critical case)"),
    ],
)
def test_a_critical_case_without_a_score_cannot_tell(
    tmp_path: Path, rows: Rows, reason: str
) -> None:
    run = make_run(tmp_path, {"c": rows, "d": {"outcome": True}}, critical=["c"], judge_only=["c"])

    row = row_of(decide(run, bar_of(critical="all")), "critical")

    assert (row.status, row.reason, row.ids) == ("cannot tell", reason, ("c",))


def test_a_run_without_critical_cases_cannot_tell(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(5, 5))

    decision = decide(run, bar_of(critical="all"))

    assert row_of(decision, "critical").reason == (
        'this run has no critical case; mark cases with "critical": true'
    )
    assert decision.verdict == "REVIEW"


# pass_rate


@pytest.mark.parametrize(("passed", "status"), [(91, "pass"), (90, "pass"), (89, "fail")])
def test_pass_rate_on_the_estimate(tmp_path: Path, passed: int, status: str) -> None:
    run = make_run(tmp_path, passes(100, passed))

    row = row_of(decide(run, bar_of(pass_rate={"outcome": 0.9})), "pass_rate")

    assert row.status == status
    assert "the interval holds the bar: it could be either side" in row.reason
    assert row.bar == "at least 90 % of cases"
    assert len(row.ids) == (0 if status == "pass" else 100 - passed)


@pytest.mark.parametrize(
    ("n", "passed", "status"),
    [
        # Wilson's lower end where all pass is n / (n + 1.96^2): 35 / 38.84 = 0.9011, 34: 0.8985
        (35, 35, "pass"),
        (34, 34, "cannot tell"),
        # statsmodels 0.15: upper end 0.9008 at 16 of 20, 0.8994 at 25 of 32
        (20, 16, "cannot tell"),
        (32, 25, "fail"),
    ],
)
def test_pass_rate_on_the_bound(tmp_path: Path, n: int, passed: int, status: str) -> None:
    bar = bar_of(pass_rate={"outcome": 0.9}, bar_applies_to="bound")
    run = make_run(tmp_path, passes(n, passed))

    row = row_of(decide(run, bar), "pass_rate")

    assert row.status == status


@pytest.mark.parametrize(("least", "status"), [(0.75, "pass"), (0.76, "fail")])
def test_pass_rate_of_assertions_counts_rows(tmp_path: Path, least: float, status: str) -> None:
    run = make_run(
        tmp_path,
        {
            "a": {"outcome/1": True, "outcome/2": True, "outcome/3": True},
            "b": {"outcome/1": False},
        },
    )
    bar = bar_of(pass_rate={"outcome": {"at_least": least, "unit": "assertions"}})

    row = row_of(decide(run, bar), "pass_rate")

    assert (row.status, row.estimate.value) == (status, 0.75)
    assert row.bar == f"at least {100 * least:g} % of assertions"


@pytest.mark.parametrize(
    ("least", "k", "status"),
    [(0.75, 1, "pass"), (0.76, 1, "fail"), (0.5, 2, "pass"), (0.51, 2, "fail")],
)
def test_pass_rate_over_repeats_and_for_k_in_a_row(
    tmp_path: Path, least: float, k: int, status: str
) -> None:
    run = make_run(
        tmp_path,
        {"steady": [{"outcome": True}] * 2, "flaky": [{"outcome": True}, {"outcome": False}]},
    )
    bar = bar_of(pass_rate={"outcome": {"at_least": least, "pass_all": k}})

    row = row_of(decide(run, bar), "pass_rate")

    assert row.status == status


def test_a_rate_that_is_not_of_cases_says_what_it_is_of(tmp_path: Path) -> None:
    run = make_run(
        tmp_path, {f"c{index}": [{"outcome/1": True, "outcome/2": True}] * 3 for index in range(9)}
    )

    reasons = [
        row_of(decide(run, bar_of(pass_rate={"outcome": clause})), "pass_rate").reason
        for clause in ({"at_least": 0.9, "pass_all": 3}, {"at_least": 0.9, "unit": "assertions"})
    ]

    assert reasons[0].startswith("pass^3 100 % (")
    assert reasons[1].startswith("assertions 100 % (")


def test_cases_with_too_few_repeats_for_pass_all_are_told_and_keep_it_from_passing(
    tmp_path: Path,
) -> None:
    whole: dict[str, list[Rows]] = {f"c{index}": [{"outcome": True}] * 3 for index in range(20)}
    short = {f"c{index}": [*whole["c0"][:2], {"outcome": None}] for index in range(4)}
    run = make_run(tmp_path, {**whole, **short})
    bar = bar_of(pass_rate={"outcome": {"at_least": 0.5, "pass_all": 3}}, max_unscored=0.1)

    row = row_of(decide(run, bar), "pass_rate")

    # 4 of 60 transcripts are under the limit, 4 of 20 cases over it.
    assert row.status == "cannot tell"
    assert row.reason.endswith(
        "; 4 unscored; left out, with fewer than 3 scored repeats: 4 of 20 cases, more than 10 %"
    )


def test_assertions_without_an_outcome_keep_their_rate_from_passing(tmp_path: Path) -> None:
    rows: Rows = {"outcome/1": True, "outcome/2": False, **{f"outcome/{n}": None for n in "345"}}
    run = make_run(tmp_path, {f"c{index}": rows for index in range(20)})
    bar = bar_of(pass_rate={"outcome": {"at_least": 0.5, "unit": "assertions"}})

    row = row_of(decide(run, bar), "pass_rate")

    # Each transcript is scored, because a check in it failed.
    assert row.status == "cannot tell"
    assert row.reason.endswith("; 60 of 100 assertions unscored, more than 2 %")


def test_pass_all_of_more_repeats_than_were_run_cannot_tell(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(10, 10))
    bar = bar_of(pass_rate={"outcome": {"at_least": 0.5, "pass_all": 4}})

    decision = decide(run, bar)

    row = row_of(decision, "pass_rate")
    assert (row.status, row.reason) == ("cannot tell", "not computable: no case has 4 trials")
    assert row.bar == "at least 50 % of cases pass 4 times in a row (pass^4)"
    assert decision.verdict == "REVIEW"


@pytest.mark.parametrize("applies_to", ["estimate", "bound"])
def test_a_layer_without_a_single_score_cannot_tell(tmp_path: Path, applies_to: str) -> None:
    run = make_run(tmp_path, {"a": {"outcome": None}, "b": {"outcome": None, "policy": True}})
    bar = bar_of(pass_rate={"outcome": 0.01}, bar_applies_to=applies_to)

    decision = decide(run, bar)

    row = row_of(decision, "pass_rate")
    assert row.status == "cannot tell"
    assert row.reason.startswith("not computable: nothing was scored; 2 unscored")
    assert decision.verdict == "REVIEW"


def test_too_much_unscored_in_one_layer_keeps_its_clause_from_passing(tmp_path: Path) -> None:
    # 1 of 40 transcripts is unscored, which max_unscored allows; but it is half of this layer.
    cases: dict[str, Rows] = passes(38, 38)
    run = make_run(tmp_path, {**cases, "p": {"policy": True}, "q": {"policy": None}})
    bar = bar_of(pass_rate={"policy": 0.9, "outcome": 0.9}, max_unscored=0.03)

    decision = decide(run, bar)

    row = row_of(decision, "pass_rate", "policy")
    assert row.status == "cannot tell"
    assert row.reason.endswith("1 unscored (were each of them a failure: 50 %), more than 3 %")
    assert row_of(decision, "max_unscored").status == "pass"
    assert decision.verdict == "REVIEW"


def test_too_much_unscored_never_excuses_a_failing_rate(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": False}, "b": {"outcome": None}})

    decision = decide(run, bar_of(pass_rate={"outcome": 0.9}))

    assert row_of(decision, "pass_rate").status == "fail"
    assert decision.verdict == "HOLD"


# thresholds: tolerance and rounding


def test_a_mean_that_only_rounding_puts_under_its_bar_passes_and_says_so() -> None:
    estimate = Estimate(3.2999999999999994, 3.1, 3.5, 40)

    status, reason = held_against(estimate, 3.3, applies_to="estimate")

    assert status == "pass"
    assert "(unrounded 3.2999999999999994: equal within 1e-09)" in reason


@pytest.mark.parametrize(
    ("value", "status"), [(3.3 - 2e-9, "fail"), (3.3 - 0.5e-9, "pass"), (3.3 + 2e-9, "pass")]
)
def test_the_tolerance_is_one_in_a_thousand_million(value: float, status: str) -> None:
    estimate = Estimate(value, 3.1, 3.5, 40)

    assert held_against(estimate, 3.3, applies_to="estimate")[0] == status


def test_a_miss_that_rounding_would_hide_is_shown_unrounded() -> None:
    estimate = Estimate(3.2996, 3.0, 3.6, 40)

    status, reason = held_against(estimate, 3.3, applies_to="estimate")

    assert status == "fail"
    assert reason == (
        "3.30 (3.00 to 3.60), under 3.3 (more exactly 3.2996); the interval holds the bar: it "
        "could be either side"
    )


@pytest.mark.parametrize(
    ("value", "bar", "percent", "shown"),
    [
        (3.296, 3.3, False, "3.296"),
        (3.30, 3.3, False, "3.30"),
        (0.895, 0.8951, True, "89.5 %"),
        (0.9, 0.8951, True, "90 %"),
        (3.2950000000000004, 3.3, False, "3.295"),
    ],
)
def test_a_printed_figure_stands_on_its_side_of_the_bar(
    value: float, bar: float, percent: bool, shown: str
) -> None:
    digits = 0 if percent else 2

    assert on_its_side(value, bar, percent=percent, digits=digits) == shown


@pytest.mark.parametrize(
    ("low", "value", "high", "added"),
    [
        (3.2, 3.25, 3.2973, " (more exactly to 3.297)"),
        (3.3021, 3.35, 3.4, ""),
        (3.2951, 3.35, 3.4, " (more exactly from 3.295)"),
        (3.2, 3.2996, 3.4, " (more exactly 3.2996)"),
        (3.2, 3.25, 3.31, ""),
    ],
)
def test_an_end_that_rounds_across_its_bar_is_told_more_exactly(
    low: float, value: float, high: float, added: str
) -> None:
    estimate = Estimate(value, low, high, 90)

    assert more_exactly(estimate, 3.3) == added


def test_a_rate_that_rounding_would_lift_to_its_bar_is_shown_unrounded(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(48, 43))

    row = row_of(decide(run, bar_of(pass_rate={"outcome": 0.9})), "pass_rate")

    # 43 / 48 = 0.8958, which prints as 90 %
    assert row.status == "fail"
    assert "90 % (78 to 95 %), under 90 % (more exactly 89.6 %)" in row.reason


@given(value=st.floats(0, 1), low=st.floats(0, 1), high=st.floats(0, 1), bar=st.floats(0.01, 1))
def test_what_passes_on_the_bound_passes_on_the_estimate(
    value: float, low: float, high: float, bar: float
) -> None:
    low, value, high = sorted([low, value, high])
    estimate = Estimate(value, low, high, 10)

    on_bound, _ = held_against(estimate, bar, applies_to="bound")
    on_estimate, _ = held_against(estimate, bar, applies_to="estimate")

    if on_bound != "cannot tell":
        assert on_estimate == on_bound


@given(passed=st.integers(0, 50), extra=st.integers(0, 50), bar=st.floats(0.01, 1))
def test_a_higher_rate_is_never_worse_against_the_same_bar(
    passed: int, extra: int, bar: float
) -> None:
    order = ["fail", "cannot tell", "pass"]
    n = 100

    for applies_to in ("estimate", "bound"):
        lower = held_against(wilson(passed, n), bar, applies_to=applies_to)[0]
        higher = held_against(wilson(passed + extra, n), bar, applies_to=applies_to)[0]
        assert order.index(higher) >= order.index(lower)


# max_unscored and completeness


@pytest.mark.parametrize(("unscored", "status"), [(0, "pass"), (1, "pass"), (2, "cannot tell")])
def test_max_unscored_just_under_and_just_over(tmp_path: Path, unscored: int, status: str) -> None:
    cases: dict[str, Rows] = passes(50, 50)
    cases.update({f"case-{index:03d}": {"outcome": None} for index in range(unscored)})
    run = make_run(tmp_path, cases)

    decision = decide(run, bar_of(pass_rate={"outcome": 0.5}, max_unscored=0.02))

    assert row_of(decision, "max_unscored").status == status
    assert decision.verdict == ("SHIP" if status == "pass" else "REVIEW")


def test_max_unscored_prints_the_share_with_each_unscored_one_a_failure(tmp_path: Path) -> None:
    cases: dict[str, Rows] = passes(10, 8)
    cases["case-000"] = {"outcome": None}
    run = make_run(tmp_path, cases)

    row = row_of(decide(run, bar_of(pass_rate={"outcome": 0.5})), "max_unscored")

    assert row.reason == (
        "1 of 10 transcripts unscored (10 %); 77.8 % of the scored pass every check, "
        "70 % if each unscored one were a failure"
    )


def test_an_incomplete_run_is_never_shipped(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(200, 200), missing=[("case-007", 0)])

    decision = decide(run, bar_of(pass_rate={"outcome": 0.5}, max_unscored=0.5))

    assert row_of(decision, "max_unscored").reason == (
        "the run is incomplete: 1 of 200 transcripts missing; finish it with the command "
        "that began it"
    )
    assert decision.verdict == "REVIEW"


BOTH = bar_of(pass_rate={"outcome": 0.5}, max_unscored=0.5)


def test_what_is_missing_is_counted_of_all_that_the_run_wants_as_check_does(
    tmp_path: Path,
) -> None:
    cases = {**passes(5, 5), "judged-1": {}, "judged-2": {}}
    run = make_run(tmp_path, cases, judge_only=list(cases)[5:], missing=[("case-001", 0)])

    reason = row_of(decide(run, BOTH), "max_unscored").reason

    assert reason.startswith("the run is incomplete: 1 of 7 transcripts missing; ")
    assert (len(run.missing()), len(run.wanted())) == (1, 7)


def test_beside_cases_for_judges_alone_unscored_is_of_what_was_checked(tmp_path: Path) -> None:
    cases = {**passes(5, 5), "case-001": {"outcome": None}, "judged": {}}
    run = make_run(tmp_path, cases, judge_only=["judged"])

    reason = row_of(decide(run, BOTH), "max_unscored").reason

    assert reason.startswith("1 of 5 checked transcripts unscored (20 %)")


def test_a_run_of_part_of_the_suite_is_never_shipped(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20), selection=Selection(only=("a", "b")))

    decision = decide(run, bar_of(pass_rate={"outcome": 0.5}))

    assert decision.verdict == "REVIEW"
    assert row_of(decision, "whole_suite").reason == (
        "the run covers a part of the suite only (--only a,b); decide a release on the whole"
    )


def test_a_run_without_any_check_cannot_tell(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {}}, judge_only=["a"])

    decision = decide(run, bar_of(mean={"default": 3.3}, untrusted="report"))

    assert row_of(decision, "max_unscored").reason == "no case is checked by code"
    assert decision.verdict == "REVIEW"


# no_worse


def against(margin: float, unit: str = "pass_share") -> Bar:
    return bar_of(no_worse={"outcome": {"margin": margin, "unit": unit}})


@pytest.mark.parametrize(
    ("broken", "status", "verdict"),
    [(9, "fail", "HOLD"), (2, "cannot tell", "REVIEW"), (0, "pass", "SHIP")],
)
def test_no_worse_has_three_answers(tmp_path: Path, broken: int, status: str, verdict: str) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, broken_copy(broken), name="new")

    decision = decide(new, against(0.05), baseline=old)

    row = row_of(decision, "no_worse")
    assert (row.status, decision.verdict) == (status, verdict)
    assert row.ids == tuple(f"case-{index:03d}" for index in range(broken))
    assert row.bar == "a drop of 5 points in pass share ruled out"
    assert decision.layers == {"outcome": status}


def test_no_worse_that_cannot_tell_says_what_is_open_and_what_it_would_take(
    tmp_path: Path,
) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    swapped = {
        **broken_copy(6),
        **{f"case-{index:03d}": {"outcome": True} for index in range(50, 56)},
    }
    new = make_run(tmp_path, swapped, name="new")

    row = row_of(decide(new, against(0.05), baseline=old), "no_worse")

    assert row.status == "cannot tell"
    # Tango at b = c = 6, n = 60: +-0.1222; sd of the differences 0.4510, (2.4865 sd / 0.05)^2 = 503
    assert row.reason == (
        "a drop of up to 11 points is not ruled out (one-sided 95 %); to rule out 5 would take "
        "about 503 cases; no difference shown: 44 of 60 against 44 of 60, difference 0 points "
        "(-12 to +12, two-sided 95 %); 6 broken, 6 fixed"
    )


@pytest.mark.parametrize(("margin", "status"), [(0.048, "cannot tell"), (0.05, "pass")])
def test_no_worse_where_nothing_moved_passes_from_the_margin_gaffke_allows(
    tmp_path: Path, margin: float, status: str
) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, passes(60, 44), name="new")

    row = row_of(decide(new, against(margin), baseline=old), "no_worse")

    # Gaffke's lower bound with 60 equal differences: 1 - 0.05^(1/60) = 0.0487
    assert row.status == status


@pytest.mark.parametrize(("broken", "status"), [(6, "cannot tell"), (7, "fail")])
def test_no_worse_fails_from_the_first_count_that_shows_it(
    tmp_path: Path, broken: int, status: str
) -> None:
    old = make_run(tmp_path, passes(60, 60), name="old")
    new = make_run(tmp_path, broken_copy(broken, of=60), name="new")

    row = row_of(decide(new, against(0.05), baseline=old), "no_worse")

    assert row.status == status


def test_a_margin_in_win_rate_is_twice_as_wide_in_pass_share(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, broken_copy(9), name="new")

    share = row_of(decide(new, against(0.10), baseline=old), "no_worse")
    rate = row_of(decide(new, against(0.05, "win_rate"), baseline=old), "no_worse")

    assert rate.status == share.status == "cannot tell"
    assert (rate.estimate.value, rate.estimate.low, rate.estimate.high) == pytest.approx(
        (share.estimate.value / 2, share.estimate.low / 2, share.estimate.high / 2)
    )
    assert rate.bar == "a drop of 5 points in win rate ruled out"
    assert "win rate of check outcomes" in rate.reason
    # Two units stand in the row, each with its name.
    assert "points of win rate is not ruled out" in rate.reason
    assert "in pass share worse: 35 of 60 against 44 of 60, difference -15 points" in rate.reason


def test_no_worse_pairs_cases_by_their_share_over_repeats(tmp_path: Path) -> None:
    half = [{"outcome": True}, {"outcome": False}]
    whole = [{"outcome": True}] * 2
    old = make_run(tmp_path, {f"c{index}": whole for index in range(20)}, name="old")
    new = make_run(tmp_path, {f"c{index}": half for index in range(20)}, name="new")

    row = row_of(decide(new, against(0.05), baseline=old), "no_worse")

    assert row.status == "fail"
    assert row.estimate.value == pytest.approx(-0.5)
    assert "50.0 % against 100.0 % (mean over 20 cases)" in row.reason
    assert "20 worse, 0 better" in row.reason


@pytest.mark.parametrize(
    ("make_baseline", "reason"),
    [
        (lambda root: None, "no baseline was given; name one with --baseline RUN"),
        (
            lambda root: make_run(root, passes(60, 44), name="old", digest="other"),
            "the suites differ (digest suite-digest here, other in the baseline): cases or "
            "expectations were edited in between, and a run of an older package does not note "
            "which cases are the same; run the baseline's agent on the suite as it is now",
        ),
        (
            lambda root: make_run(root, passes(60, 44), name="old", suite="support"),
            'the suites differ: "made" here, "support" in the baseline; name a run of the same '
            "suite",
        ),
        (
            lambda root: make_run(root, {"other": {"outcome": True}}, name="old"),
            "no case was scored in both runs",
        ),
    ],
)
def test_without_a_comparable_baseline_no_worse_cannot_tell(
    tmp_path: Path, make_baseline: object, reason: str
) -> None:
    new = make_run(tmp_path, passes(60, 44), name="new")
    old = make_baseline(tmp_path)  # type: ignore[operator]

    decision = decide(new, against(0.05), baseline=old)

    row = row_of(decision, "no_worse")
    assert (row.status, row.reason) == ("cannot tell", reason)
    assert decision.verdict == "REVIEW"


def test_a_run_against_itself_cannot_tell(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(200, 200))

    decision = decide(run, against(0.05), baseline=Run.open(tmp_path / "." / "run"))

    assert row_of(decision, "no_worse").reason == (
        "a run is not compared with itself; name another run as the baseline"
    )


def test_pairs_that_were_not_scored_on_both_sides_keep_no_worse_from_passing(
    tmp_path: Path,
) -> None:
    old = make_run(tmp_path, {**passes(100, 100), "case-000": {"outcome": None}}, name="old")
    new = make_run(tmp_path, passes(100, 100), name="new")
    bar = bar_of(no_worse={"outcome": {"margin": 0.05}}, max_unscored=0.0)

    row = row_of(decide(new, bar, baseline=old), "no_worse")

    assert row.status == "cannot tell"
    assert row.reason.endswith("1 case not scored in both runs, more than 0 %")


def test_a_pair_lost_within_the_limit_is_told_and_does_not_change_the_answer(
    tmp_path: Path,
) -> None:
    old = make_run(tmp_path, {**passes(100, 100), "case-000": {"outcome": None}}, name="old")
    new = make_run(tmp_path, passes(100, 100), name="new")

    row = row_of(decide(new, against(0.05), baseline=old), "no_worse")

    assert row.status == "pass"
    assert row.reason.endswith("; 1 case not scored in both runs")


@pytest.mark.parametrize(("side", "where"), [("new", ""), ("old", " in the baseline")])
@pytest.mark.parametrize("unit", ["pass_share", "win_rate"])
def test_repeats_without_a_score_keep_no_worse_from_passing_though_every_case_has_one(
    tmp_path: Path, side: str, where: str, unit: str
) -> None:
    whole: dict[str, list[Rows]] = {f"c{index}": [{"outcome": True}] * 2 for index in range(80)}
    half: dict[str, list[Rows]] = {name: [{"outcome": True}, {"outcome": None}] for name in whole}
    runs = {
        name: make_run(tmp_path, half if name == side else whole, name=name)
        for name in ("old", "new")
    }

    row = row_of(decide(runs["new"], against(0.05, unit), baseline=runs["old"]), "no_worse")

    assert row.status == "cannot tell"
    assert row.reason.endswith(f"; 80 of 160 transcripts unscored{where}, more than 2 %")


def test_few_repeats_without_a_score_are_told_and_do_not_change_the_answer(tmp_path: Path) -> None:
    whole: dict[str, list[Rows]] = {f"c{index}": [{"outcome": True}] * 2 for index in range(80)}
    old = make_run(tmp_path, whole, name="old")
    new = make_run(tmp_path, {**whole, "c3": [{"outcome": True}, {"outcome": None}]}, name="new")

    row = row_of(decide(new, against(0.05), baseline=old), "no_worse")

    assert row.status == "pass"
    assert row.reason.endswith("; 1 of 160 transcripts unscored")


def test_no_worse_in_a_layer_nobody_checks_cannot_tell(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(3, 3), name="old")
    new = make_run(tmp_path, passes(3, 3), name="new")

    row = row_of(decide(new, bar_of(no_worse={"tone": {"margin": 0.1}}), baseline=old), "no_worse")

    assert row.reason == 'no check of layer "tone" ran. Known: outcome'


# what no check can decide


def test_a_drop_in_scores_needs_verdicts(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, passes(60, 44), name="new")

    row = row_of(decide(new, against(0.2, "score"), baseline=old), "no_worse")

    assert (row.status, row.trust) == ("cannot tell", "not judged")
    assert row.bar == "a drop of 0.2 in score ruled out"


def test_a_win_rate_without_preferences_cannot_tell(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, passes(60, 60), name="new")

    decision = decide(new, bar_of(win_rate={"outcome": {"margin": 0.1}}), baseline=old)

    row = row_of(decision, "win_rate")
    assert row.status == "cannot tell"
    assert row.reason.startswith("no preferences in this run")
    assert decision.verdict == "REVIEW"


@pytest.mark.parametrize(
    ("untrusted", "effect", "verdict"),
    [("review", "REVIEW", "REVIEW"), ("report", "none", "SHIP"), ("hold", "HOLD", "HOLD")],
)
def test_judged_clauses_without_verdicts_cannot_tell(
    tmp_path: Path, untrusted: str, effect: str, verdict: str
) -> None:
    run = make_run(tmp_path, passes(20, 20))
    bar = bar_of(
        pass_rate={"outcome": 0.9},
        mean={"default": 3.3},
        never={"groundedness": 1},
        untrusted=untrusted,
    )

    decision = decide(run, bar)

    for clause in ("mean", "never"):
        row = row_of(decision, clause)
        assert (row.status, row.effect, row.trust) == ("cannot tell", effect, "not judged")
        assert row.reason.startswith(
            "not judged: run run has no verdicts; `agenteval judge RUN` first"
        )
        assert row.reason.endswith("; reported, not counted") == (untrusted == "report")
    assert row_of(decision, "open_flags").status == "cannot tell"
    assert decision.verdict == verdict


def test_a_bar_of_reported_clauses_alone_ships_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20))

    decision = decide(run, bar_of(mean={"default": 3.3}, untrusted="report"))

    assert decision.verdict == "REVIEW"
    assert decision.sentence == "REVIEW: no clause that a release could rest on was told"


def test_a_bar_of_checks_has_no_row_for_flags(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20))

    decision = decide(run, bar_of(pass_rate={"outcome": 0.9}))

    assert [row.clause for row in decision.rows] == ["pass_rate", "max_unscored"]


# the verdict


ROWS = st.lists(
    st.builds(
        ClauseRow,
        clause=st.sampled_from(["pass_rate", "critical", "mean", "max_unscored"]),
        target=st.just("x"),
        status=st.sampled_from(["pass", "fail", "cannot tell"]),
        reason=st.just(""),
        if_untold=st.sampled_from(["review", "report", "hold"]),
    ),
    max_size=8,
)


@given(ROWS)
def test_nothing_buys_a_failing_clause_back(rows: list[ClauseRow]) -> None:
    failing = ClauseRow("hard_layers", "policy", "fail", "")

    assert verdict_of([*rows, failing]) == "HOLD"
    assert verdict_of([failing, *rows]) == "HOLD"


@given(ROWS)
def test_ship_needs_every_counted_clause_to_pass(rows: list[ClauseRow]) -> None:
    verdict = verdict_of(rows)

    if verdict == "SHIP":
        assert all(row.status == "pass" or row.effect == "none" for row in rows)
        assert any(row.status == "pass" for row in rows)
    if any(row.status == "fail" for row in rows):
        assert verdict == "HOLD"


def test_no_rows_are_no_reason_to_ship() -> None:
    assert verdict_of([]) == "REVIEW"


CASE = st.fixed_dictionaries(
    {"outcome": st.sampled_from([True, True, False, None])},
    optional={"policy": st.sampled_from([True, True, True, False, None])},
)


@given(
    cases=st.lists(CASE, min_size=1, max_size=12),
    bad=st.sampled_from(
        [{"outcome": False}, {"policy": False}, {"outcome": False, "policy": False}]
    ),
    applies_to=st.sampled_from(["estimate", "bound"]),
    least=st.sampled_from([0.3, 0.7, 0.9]),
    critical=st.booleans(),
)
def test_adding_a_failing_case_never_turns_hold_into_ship(
    cases: list[Rows], bad: Rows, applies_to: str, least: float, critical: bool
) -> None:
    bar = bar_of(
        hard_layers=["policy"],
        pass_rate={"outcome": least, "policy": least},
        critical="all",
        bar_applies_to=applies_to,
        max_unscored=0.5,
    )
    named = {f"c{index}": rows for index, rows in enumerate(cases)}
    with tempfile.TemporaryDirectory() as folder:
        before = decide(make_run(Path(folder), named, critical=["c0"]), bar)
        more = make_run(
            Path(folder),
            {**named, "bad": bad},
            name="more",
            critical=["c0", "bad"] if critical else ["c0"],
        )
        after = decide(more, bar)

    if before.verdict == "HOLD":
        assert after.verdict == "HOLD"
    if "policy" in bad or critical:
        assert after.verdict == "HOLD"


def test_a_summary_at_hand_is_not_computed_again(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))
    summary = summarise(run)

    decision = decide(run, bar_of(pass_rate={"outcome": 0.9}), summary=summary)

    assert decision.summary is summary


# what a decision hands out


def test_a_decision_carries_stamps_digest_and_rows_as_strict_json(tmp_path: Path) -> None:
    file = tmp_path / "strict.yaml"
    file.write_text("hard_layers: [outcome]\nno_worse: {outcome: {margin: 0.05}}\n")
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, broken_copy(9), name="new")
    bar = load_bar(file)

    decision = decide(new, bar, baseline=old)

    told = json.loads(json.dumps(decision.as_dict(), allow_nan=False))
    assert told["verdict"] == "HOLD"
    assert told["bar"] == {
        "name": "strict",
        "digest": bar.digest,
        "clauses": {
            "hard_layers": ["outcome"],
            "no_worse": {"outcome": {"margin": 0.05}},
        },
    }
    assert told["run"]["suite_digest"] == "suite-digest"
    assert told["baseline"]["run"] == "old"
    assert told["rows"][1]["estimate"]["value"] == pytest.approx(-0.15)
    assert told["rows"][1]["effect"] == "HOLD"
    assert len(told["hard_fails"]) == 25
    assert str(tmp_path) not in json.dumps(told)
    assert decision.bar_digest == bar.digest
    assert (decision.run_id, decision.baseline_id) == ("new", "old")


def test_the_sentence_of_a_release_counts_its_clauses(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20))
    bar = bar_of(pass_rate={"outcome": 0.9}, mean={"default": 3}, untrusted="report")

    decision = decide(run, bar)

    assert decision.sentence == "SHIP: all 2 clauses pass; 2 reported, not counted"


def test_the_decision_frame_is_whole(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))

    frame = decide(run, bar_of(pass_rate={"outcome": 0.4})).frame()

    low = 4 / (4 + 1.959964**2)
    wanted = pd.DataFrame(
        {
            "clause": ["pass_rate", "max_unscored"],
            "target": ["outcome", ""],
            "status": ["pass", "pass"],
            "effect": ["none", "none"],
            "bar": ["at least 40 % of cases", "at most 2 % unscored, none missing"],
            "score": [1.0, None],
            "low": [low, None],
            "high": [1.0, None],
            "n": pd.array([4, None], dtype="Int64"),
            "trust": ["", ""],
            "reason": [
                "100 % (51 to 100 %), at or over 40 %",
                "0 of 4 transcripts unscored (0 %)",
            ],
            "ids": ["", ""],
            "diag": [wilson(4, 4).diag, ""],
        }
    )
    pd.testing.assert_frame_equal(frame, wanted, atol=1e-6)


def test_hostile_names_are_escaped_on_the_page(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"<img src=x>": {"outcome": False}})

    page = decide(run, bar_of(hard_layers=["outcome", "<script>"]))._repr_html_()

    assert "<script>" not in page
    assert "<img" not in page


# the bar's file


def bar_file(folder: Path, text: str) -> Path:
    file = folder / "bar.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hard_layer: [policy]", '1: unknown key "hard_layer" in bar. Did you mean "hard_layers"?'),
        (
            "pass_rate:\n  outcome: {at_least: 0.9, pass_al: 2}",
            '2: unknown key "pass_al" in bar. Did you mean "pass_all"?',
        ),
        (
            'pass_rate: {outcome: "0.9"}',
            "1: \"pass_rate.outcome.at_least\" in bar wants a number, but holds '0.9'",
        ),
        (
            "pass_rate: {outcome: true}",
            '1: "pass_rate.outcome.at_least" in bar wants a number, but holds True',
        ),
        (
            "pass_rate: {outcome: 1.1}",
            '1: "pass_rate.outcome.at_least" in bar input should be '
            "less than or equal to 1, but holds 1.1",
        ),
        (
            "pass_rate: {outcome: 0}",
            '1: "pass_rate.outcome.at_least" in bar input should be greater than 0, but holds 0',
        ),
        (
            "mean: {tone: .nan}",
            "1: .nan is not a number that can be scored; write null, or leave the key out",
        ),
        (
            "mean: {tone: 3}\nmean: {tone: 4}",
            '2: key "mean" stands twice, first on line 1; keep one',
        ),
        (
            "hard_layers: [policy, policy]",
            '1: "hard_layers" in bar: names a layer twice; keep one',
        ),
        (
            "no_worse: {outcome: {margin: 5}}",
            '1: "no_worse.outcome" in bar: a margin of 5 is the largest drop there can be (1) or '
            "more, so nothing could fail; shares are written from 0 to 1 (5 points are 0.05)",
        ),
        (
            "no_worse: {outcome: {margin: 0.5, unit: win_rate}}",
            '1: "no_worse.outcome" in bar: a margin of 0.5 is the largest drop there can be (0.5) '
            "or more, so nothing could fail; shares are written from 0 to 1 (5 points are 0.05)",
        ),
        (
            "no_worse: {outcome: {unit: score}}",
            '1: "no_worse.outcome.margin" is missing; add it (bar)',
        ),
        (
            "pass_rate: {outcome: {at_least: 0.9, pass_all: 2, unit: assertions}}",
            '1: "pass_rate.outcome" in bar: pass_all asks that a case passes k times, so it counts '
            "cases; drop unit: assertions or pass_all",
        ),
        (
            "pass_rate: {outcome: 0.8}\ntrust:\n  statistic: ac2",
            '2: "trust" in bar: statistic: ac2 needs its own at_least: the default of 0.4 is meant '
            "for a kappa, and a judge that always says one level may reach it; write for example "
            "at_least: 0.8, or drop the statistic",
        ),
        ("[1, 2]", '1: "" in bar wants key: value pairs, but holds [1, 2]'),
        (
            "max_unscored: 0.1",
            "1: the bar names no clause, so every run would pass it; add at least one of "
            "hard_layers, critical, pass_rate, mean, never, win_rate, no_worse",
        ),
        (
            "",
            "1: the bar names no clause, so every run would pass it; add at least one of "
            "hard_layers, critical, pass_rate, mean, never, win_rate, no_worse",
        ),
    ],
)
def test_a_broken_bar_is_refused_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    file = bar_file(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        load_bar(file)

    assert str(caught.value) == f"{file}:{complaint}"


def test_all_problems_of_a_bar_are_told_at_once(tmp_path: Path) -> None:
    file = bar_file(tmp_path, "hard_layer: [policy]\nmax_unscored: 2\ncritical: some\n")

    with pytest.raises(ConfigError) as caught:
        load_bar(file)

    assert sorted(problem.line or 0 for problem in caught.value.problems) == [1, 2, 3]


def test_a_bar_that_is_not_there_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_bar(tmp_path / "none.yaml")


def test_a_bar_made_in_code_without_a_clause_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(2, 2))

    with pytest.raises(ConfigError, match="names no clause"):
        decide(run, Bar())


def test_a_bar_changed_by_one_character_is_another_version(tmp_path: Path) -> None:
    one = load_bar(bar_file(tmp_path, "pass_rate: {outcome: 0.90}\n"))
    two = load_bar(bar_file(tmp_path, "pass_rate: {outcome: 0.91}\n"))
    crlf = tmp_path / "bar.yaml"
    crlf.write_bytes(b"\xef\xbb\xbfpass_rate: {outcome: 0.90}\r\n")

    assert one.digest != two.digest
    assert load_bar(crlf).digest == one.digest


def test_a_bar_is_named_by_itself_else_by_its_file(tmp_path: Path) -> None:
    file = bar_file(tmp_path, "critical: all\n")

    assert load_bar(file).name == "bar"
    assert LoadedBar(Bar(name="strict", critical="all"), "x").name == "strict"
    assert LoadedBar(Bar(critical="all"), "x").name == "unnamed"


def test_every_shipped_bar_loads(root: Path) -> None:
    files = sorted((root / "data" / "bars").glob("*.yaml"))

    names = {load_bar(file).name for file in files}

    assert {"support", "four_layer", "helpdesk", "pull_request"} <= names


def test_the_bar_of_the_docs_loads(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "gate.md").read_text(encoding="utf-8")
    (block,) = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]

    bar = load_bar(bar_file(tmp_path, block)).bar

    assert set(bar.model_fields_set) == {
        "hard_layers", "critical", "pass_rate", "no_worse", "max_unscored", "bar_applies_to",
    }  # fmt: skip


def test_a_clean_hard_layer_of_repeated_cases_says_what_alike_repeats_would_mean(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path, {f"c{index}": [{"policy": True}] * 5 for index in range(30)})

    row = row_of(decide(run, bar_of(hard_layers=["policy"])), "hard_layers")

    assert row.reason == (
        "no check failed in 150 transcripts; a true failure rate of up to 2 % is not ruled out, "
        "and up to 9.5 % if repeats of a case are all alike"
    )
