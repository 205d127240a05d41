"""The gate on preferences: the smoke alarm around its margin, and the claim by win rate."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import make_run, passes
from hypothesis import given, settings
from hypothesis import strategies as st
from verdicts import prefer, results

from agenteval_kit.gate import ClauseRow, Decision, decide
from agenteval_kit.records import Bar
from agenteval_kit.runs import Run


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


def row_of(decision: Decision, clause: str) -> ClauseRow:
    (found,) = [row for row in decision.rows if row.clause == clause]
    return found


def two_runs(folder: Path, outcomes: Mapping[str, object], **how: object) -> tuple[Run, Run]:
    """A baseline, and a run that was compared with it; every check passes in both."""
    cases = passes(len(outcomes), len(outcomes))
    old = make_run(folder, cases, name="old")
    return old, prefer(make_run(folder, cases, name="new"), outcomes, **how)  # type: ignore[arg-type]


def alarm(margin: object, **more: object) -> Bar:
    return bar_of(win_rate={"outcome": {"margin": margin, **more}})


@pytest.mark.parametrize(
    ("lost", "status"),
    [
        (20, "pass"),  # (60 + 20 / 2) / 100 wins: 0.5 + (20 - lost) / 200
        (40, "pass"),  # 0.40: on the margin
        (41, "fail"),  # 0.395
    ],
)
def test_a_win_rate_on_and_under_a_margin_that_is_a_number(
    tmp_path: Path, lost: int, status: str
) -> None:
    old, new = two_runs(tmp_path, results(20, 80 - lost, lost))

    decision = decide(new, alarm(0.1), baseline=old)

    row = row_of(decision, "win_rate")
    assert row.status == status
    assert row.threshold == 0.4
    assert row.bar == "at least 0.5 less the margin (0.1)"
    assert len(row.ids) == (lost if status == "fail" else 0)
    assert decision.verdict == {"pass": "SHIP", "fail": "HOLD"}[status]


def test_a_measured_margin_is_the_half_width_of_the_bootstrap(tmp_path: Path) -> None:
    # 400 pairs, half decided: standard error sqrt(0.5 * 0.25 / 400) = 0.0177, times 1.96 = 0.0346
    old, new = two_runs(tmp_path, results(100, 200, 100))

    row = row_of(decide(new, alarm("measured"), baseline=old), "win_rate")

    assert row.threshold == pytest.approx(0.5 - 0.0346, abs=0.002)
    assert row.status == "pass"
    assert row.reason.startswith("no drop shown: 0.500 (0.465 to 0.535), at or over 0.5 - 0.03")
    assert "measured: bootstrap over 400 cases" in row.reason
    assert "a true drop as large as the margin is missed half of the time" in row.reason


@pytest.mark.parametrize(("lost", "status"), [(112, "pass"), (140, "fail")])
def test_a_measured_margin_just_over_and_under(tmp_path: Path, lost: int, status: str) -> None:
    old, new = two_runs(tmp_path, results(100, 300 - lost, lost))

    row = row_of(decide(new, alarm("measured"), baseline=old), "win_rate")

    assert row.status == status


def test_a_margin_wider_than_the_bar_allows_cannot_tell_and_says_how_many_cases(
    tmp_path: Path,
) -> None:
    old, new = two_runs(tmp_path, results(10, 0, 10))

    decision = decide(new, alarm("measured", max_margin=0.10), baseline=old)

    row = row_of(decision, "win_rate")
    assert row.status == "cannot tell"
    # 20 decided pairs have a margin near 1.96 * 0.5 / sqrt(20) = 0.22: (0.22 / 0.10)^2 * 20 = 96
    assert "but the margin is wider than 0.1 (margin 0.2" in row.reason
    needed = int(row.reason.partition("about ")[2].partition(" cases would do")[0])
    assert 80 <= needed <= 110
    assert decision.verdict == "REVIEW"


def test_a_fall_beyond_a_wide_margin_still_fails(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(1, 0, 19))

    row = row_of(decide(new, alarm("measured"), baseline=old), "win_rate")

    assert row.status == "fail"


def test_where_all_pairs_tie_the_margin_is_tangos(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(0, 60, 0))

    row = row_of(decide(new, alarm("measured"), baseline=old), "win_rate")

    assert row.status == "pass"
    assert "measured: tango over 60 cases" in row.reason


def test_two_runs_of_the_baseline_give_the_margin_where_it_is_wider(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(20, 360, 20))
    prefer(old, results(150, 100, 150), old="older", same_agent=True)

    row = row_of(decide(new, alarm("measured"), baseline=old), "win_rate")

    assert "measured: a against a over 400 cases" in row.reason


def test_a_margin_below_the_noise_of_the_set_says_so(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(10, 0, 10))

    row = row_of(decide(new, alarm(0.02), baseline=old), "win_rate")

    assert row.status == "pass"
    assert "and the noise of this set is 0.2" in row.reason
    assert "it may ring by chance" in row.reason


@pytest.mark.parametrize(("unscored", "status"), [(1, "pass"), (2, "cannot tell")])
def test_pairs_without_an_outcome_just_at_and_over_the_limit(
    tmp_path: Path, unscored: int, status: str
) -> None:
    old, new = two_runs(tmp_path, results(10, 40 - unscored, 0, unscored=unscored))
    bar = bar_of(win_rate={"outcome": {"margin": 0.1}}, max_unscored=0.02)

    row = row_of(decide(new, bar, baseline=old), "win_rate")

    assert row.status == status
    assert f"{unscored} of 50 pairs unscored (rate " in row.reason


def test_a_comparison_that_was_broken_off_cannot_pass(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(10, 20, 5), wanted=40)

    row = row_of(decide(new, alarm(0.1), baseline=old), "win_rate")

    assert row.status == "cannot tell"
    assert "5 pairs not compared yet; run `agenteval compare` again" in row.reason


def test_no_pair_with_an_outcome_cannot_tell(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(0, 0, 0, unscored=5))

    row = row_of(decide(new, alarm(0.1), baseline=old), "win_rate")

    assert row.status == "cannot tell"
    assert row.reason.startswith("not computable: ")


def test_who_judged_and_what_the_order_decided_stand_in_the_row(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(10, 40, 10), flipped=["case-010"], same_model=("new",))

    row = row_of(decide(new, alarm(0.1), baseline=old), "win_rate")

    assert "10 won, 40 tied, 10 lost by judge-x" in row.reason
    assert "judge = agent model (new)" in row.reason
    assert row.trust == "preferences: not calibrated"


def test_preferences_of_two_judges_are_not_mixed(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(0, 40, 20), digest="pair-0", model="judge-a")
    prefer(new, results(20, 40, 0), digest="pair-1", model="judge-b")
    prefer(new, results(0, 0, 3), digest="pair-2", model="judge-c", wanted=60)

    row = row_of(decide(new, alarm(0.1), baseline=old), "win_rate")

    assert row.status == "pass"
    assert "20 won, 40 tied, 0 lost by judge-b" in row.reason
    assert "not mixed with what others said: judge-a (pair-0)" in row.reason
    assert "judge-c (pair-2)" in row.reason


def test_preferences_against_another_run_are_not_read(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(20, 40, 0), old="another")

    row = row_of(decide(new, alarm(0.1), baseline=old), "win_rate")

    assert row.status == "cannot tell"
    assert row.reason == (
        "run new was not compared with old; `agenteval compare OLD NEW --judge MODEL` first"
    )


def test_two_criteria_in_a_layer_have_to_be_named(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, results(20, 40, 0), criterion="helpful")
    prefer(new, results(20, 40, 0), criterion="useful", digest="pair-2")
    bar = bar_of(
        win_rate={"outcome": {"margin": 0.1}},
        no_worse={"outcome": {"margin": 0.1, "unit": "win_rate"}},
    )

    decision = decide(new, bar, baseline=old)

    for clause in ("win_rate", "no_worse"):
        row = row_of(decision, clause)
        assert row.status == "cannot tell"
        assert row.reason.startswith('2 criteria lie in layer "outcome" (helpful, useful)')


def test_no_baseline_cannot_tell(tmp_path: Path) -> None:
    _, new = two_runs(tmp_path, results(20, 40, 0))

    row = row_of(decide(new, alarm(0.1)), "win_rate")

    assert row.reason == "no baseline was given; name one with --baseline RUN"


# the claim


@pytest.mark.parametrize(
    ("lost", "status"),
    [
        # 60 pairs that all tie: the win rate may still have fallen by 0.5 (1 - 0.05 ** (1 / 60))
        (0, "pass"),  # 0.024 < 0.05
        (4, "cannot tell"),
        (20, "fail"),
    ],
)
def test_no_worse_by_win_rate_reads_preferences_where_there_are_some(
    tmp_path: Path, lost: int, status: str
) -> None:
    old, new = two_runs(tmp_path, results(0, 60 - lost, lost))
    bar = bar_of(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})

    row = row_of(decide(new, bar, baseline=old), "no_worse")

    assert row.status == status
    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(0.5 - lost / 120)
    assert f"0 won, {60 - lost} tied, {lost} lost by judge-x" in row.reason


def test_no_worse_by_win_rate_reads_checks_where_nobody_was_asked(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")
    new = make_run(tmp_path, passes(60, 44), name="new")
    bar = bar_of(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})

    row = row_of(decide(new, bar, baseline=old), "no_worse")

    assert row.status == "pass"
    assert "win rate of check outcomes" in row.reason


def test_repeats_of_a_case_count_once_in_the_claim(tmp_path: Path) -> None:
    cases = {f"case-{i:03d}": [{"outcome": True}] * 3 for i in range(20)}
    old = make_run(tmp_path, cases, name="old")
    new = prefer(make_run(tmp_path, cases, name="new"), {name: ["tie"] * 3 for name in cases})
    bar = bar_of(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})

    row = row_of(decide(new, bar, baseline=old), "no_worse")

    # 20 scenarios, not 60 pairs: 0.5 * (1 - 0.05 ** (1 / 20)) = 0.07 is not ruled out
    assert row.status == "cannot tell"


# laws


@settings(max_examples=25, deadline=None)
@given(
    won=st.integers(0, 30),
    tied=st.integers(0, 30),
    lost=st.integers(0, 30),
    margin=st.sampled_from([0.02, 0.1, 0.3]),
)
def test_a_pair_won_in_place_of_one_lost_never_makes_a_release_worse(
    won: int, tied: int, lost: int, margin: float
) -> None:
    order = ["HOLD", "REVIEW", "SHIP"]
    bar = bar_of(win_rate={"outcome": {"margin": margin, "max_margin": 0.5}})
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, outcomes in (
            ("a", results(won, tied, lost + 1)), ("b", results(won + 1, tied, lost)),
        ):  # fmt: skip
            old, new = two_runs(Path(folder) / name, outcomes)
            found.append(order.index(decide(new, bar, baseline=old).verdict))

    assert found[1] >= found[0]
