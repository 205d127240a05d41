"""What a run adds up to: nothing passes unseen, nothing is dropped unsaid."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from builders import make_run, passes
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.records import CheckRow
from agenteval_kit.runs import Selection
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import ALL_CHECKS, pair_layer, summarise
from agenteval_kit.summary.pairing import points


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ({"outcome": True, "policy": True}, "passed"),
        ({"outcome": True, "policy": False}, "failed"),
        ({"outcome": None, "policy": False}, "failed"),
        ({"outcome": None, "policy": True}, "unscored"),
        ({}, "unscored"),
    ],
)
def test_a_case_passes_only_when_every_check_was_seen_to_hold(
    tmp_path: Path, rows: dict[str, bool | None], status: str
) -> None:
    run = make_run(tmp_path, {"one": rows})

    summary = summarise(run)

    assert summary.cases[0].status == status


def test_a_case_for_the_judge_alone_stands_outside_the_denominator(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"checked": {"outcome": True}, "prose": {}}, judge_only=["prose"])

    summary = summarise(run)

    assert (summary.n, summary.unscored, summary.judge_only) == (1, 0, 1)
    assert [case.status for case in summary.cases] == ["passed", "judge only"]


def test_a_case_for_the_judge_alone_that_crashes_is_a_failure(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"prose": {}}, judge_only=["prose"], failures={("prose", 0): "agent"})

    summary = summarise(run)

    assert (summary.passed, summary.n, summary.crashes) == (0, 1, 1)
    assert summary.cases[0].transcripts[0].failing[0].name == "agent_completed"
    assert (summary.overall.assertions_passed, summary.assertions) == (0, 1)
    # It fails, but no layer is scored that no check looked at.
    assert summary.cases[0].status == "failed"
    assert summary.layers == ()


def test_an_unscored_case_says_why_by_its_first_unscored_check(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": None, "policy": None}})

    assert summarise(run).cases[0].transcripts[0].why == "outcome check: unknown cost"


@pytest.mark.parametrize("kind", ["agent", "timeout"])
@pytest.mark.parametrize("rows_written", [True, False])
def test_ten_cases_of_which_eight_crash_are_two_of_ten_in_every_layer(
    tmp_path: Path, kind: str, rows_written: bool
) -> None:
    crashed = [(f"case-{index}", 0) for index in range(8)]
    cases = {
        f"case-{index}": {
            "outcome": None if index < 8 else True,
            "trajectory": None if index < 8 else True,
        }
        for index in range(10)
    }
    run = make_run(
        tmp_path,
        cases,
        failures=dict.fromkeys(crashed, kind),
        no_rows=[] if rows_written else crashed,
    )

    summary = summarise(run)

    assert [(item.layer, item.passed, item.n, item.crashed) for item in summary.layers] == [
        ("outcome", 2, 10, 8),
        ("trajectory", 2, 10, 8),
    ]
    assert (summary.passed, summary.n, summary.crashes) == (2, 10, 8)
    assert summary.cases[0].transcripts[0].why == "RuntimeError: it broke"


@pytest.mark.parametrize("rows_written", [True, False])
def test_a_crash_counts_in_no_layer_that_the_case_is_not_checked_in(
    tmp_path: Path, rows_written: bool
) -> None:
    crashed = [f"case-{index}" for index in range(8)]
    cases = {f"case-{index}": {"trajectory": None if index < 8 else True} for index in range(10)}
    run = make_run(
        tmp_path,
        cases,
        failures=dict.fromkeys([(name, 0) for name in crashed], "agent"),
        no_rows=[] if rows_written else [(name, 0) for name in crashed],
    )
    if rows_written:
        writer = run.writer()
        writer.add_checks(
            [CheckRow(name, 0, "outcome", "agent_completed", False) for name in crashed]
        )
        writer.close()

    summary = summarise(run)

    assert [(item.layer, item.passed, item.n, item.crashed) for item in summary.layers] == [
        ("trajectory", 2, 10, 8)
    ]
    assert summary.layer("trajectory").assertions == 2
    assert (summary.passed, summary.n, summary.crashes) == (2, 10, 8)
    assert (summary.overall.assertions_passed, summary.assertions) == (2, 10)
    # The row itself stays, under the case.
    scored = summary.cases[0].transcripts[0]
    assert dict(scored.layers) == {"trajectory": "failed"}
    assert [(row.layer, row.name) for row in scored.failing] == [("outcome", "agent_completed")]


def test_a_crash_among_cases_of_several_layers_counts_where_each_is_checked(
    tmp_path: Path,
) -> None:
    run = make_run(
        tmp_path,
        {"answers": {"outcome": None}, "acts": {"trajectory": None}, "good": {"outcome": True}},
        failures={("answers", 0): "agent", ("acts", 0): "timeout"},
    )

    summary = summarise(run)

    assert [(item.layer, item.passed, item.n, item.failing) for item in summary.layers] == [
        ("outcome", 1, 2, ("answers",)),
        ("trajectory", 0, 1, ("acts",)),
    ]


def test_an_agent_that_said_nothing_fails_every_layer_like_one_that_crashed(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path, {"blank": {"outcome/x": None, "policy/y": None}})
    writer = run.writer()
    writer.add_checks([CheckRow("blank", 0, "outcome", "agent_completed", False, received="-")])
    writer.close()

    summary = summarise(run)

    assert dict(summary.cases[0].transcripts[0].layers) == {
        "outcome": "failed",
        "policy": "failed",
    }
    assert summary.crashes == 1


@pytest.mark.parametrize("kind", ["infrastructure", "simulator"])
def test_what_is_not_the_agents_fault_is_unscored_and_said(tmp_path: Path, kind: str) -> None:
    run = make_run(
        tmp_path,
        {"down": {"outcome": None}, "up": {"outcome": True}},
        failures={("down", 0): kind},
    )

    summary = summarise(run)

    assert (summary.passed, summary.n, summary.unscored, summary.infrastructure) == (1, 1, 1, 1)
    assert summary.crashes == 0
    assert summary.cases[0].transcripts[0].why == f"{kind}: it broke"
    assert summary.layer("outcome").worst == 0.5
    assert summary.layer("outcome").estimate.diag == "n = 1; 1 unscored"


def test_missing_transcripts_are_counted_in_every_planned_layer(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {"here": {"outcome": True, "policy": True}, "gone": {"outcome": True, "policy": True}},
        missing=[("gone", 0)],
    )

    summary = summarise(run)

    assert summary.missing == 1
    assert [(item.layer, item.n, item.unscored) for item in summary.layers] == [
        ("outcome", 1, 1),
        ("policy", 1, 1),
    ]
    assert summary.sentence == (
        "2 of 2 assertions passed (100 %), 0 of 1 case failed, 1 unscored (1 not run yet)"
    )


def test_a_withdrawn_case_is_missing_and_named(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(2, 2))
    run.withdraw("case-000", by="dpo", reason="asked to")

    summary = summarise(run)

    assert summary.cases[0].transcripts[0].why == "withdrawn"
    assert summary.warnings == ("withdrawn from this run: case-000",)


def test_a_transcript_that_was_not_planned_is_scored_and_said(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(1, 1))
    writer = run.writer()
    writer.add_checks([CheckRow("stray", 0, "outcome", "x", False)])
    writer.close()

    summary = summarise(run)

    assert summary.failed == 1
    assert summary.warnings == ("scored too, not planned by the run: 1 transcript",)


def test_rows_that_stand_twice_count_once(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(3, 2))
    rows = (run.path / "checks.jsonl").read_text(encoding="utf-8")
    (run.path / "checks.jsonl").write_text(rows + rows, encoding="utf-8")

    summary = summarise(run)

    assert (summary.overall.assertions_passed, summary.assertions) == (2, 3)


def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(2, 2))
    with (run.path / "checks.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"case_id": "ca')

    summary = summarise(run)

    assert summary.passed == 2
    assert "torn" in summary.warnings[0]


def test_layers_stand_in_the_order_of_the_design_then_by_name(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"one": dict.fromkeys(["zeal", "policy", "alpha", "outcome"], True)})

    summary = summarise(run)

    assert [item.layer for item in summary.layers] == ["outcome", "policy", "alpha", "zeal"]


def test_one_repeat_gets_wilsons_interval(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(60, 44))

    estimate = summarise(run).layer("outcome").estimate

    # statsmodels 0.15 proportion_confint(44, 60, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((0.609913, 0.828674), abs=1e-6)
    assert (estimate.n, estimate.method) == (60, "Wilson")


def test_repeats_are_averaged_within_the_case_first(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "often": [{"outcome": True}] * 4,
            "half": [{"outcome": True}, {"outcome": False}, {"outcome": None}, {"outcome": None}],
        },
    )

    score = summarise(run).layer("outcome")

    # (4/4 + 1/2) / 2; pooled over transcripts it would be 5/6
    assert score.estimate.value == pytest.approx(0.75)
    assert (score.estimate.n, score.n, score.unscored, score.cases) == (2, 6, 2, 2)
    assert score.estimate.diag == "2 unscored"


def test_a_case_is_flaky_when_its_repeats_disagree(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "steady": [{"outcome": True}] * 2,
            "flaky": [{"outcome": True}, {"outcome": False}],
            "broken": [{"outcome": False}] * 2,
            "untold": [{"outcome": True}, {"outcome": None}],
        },
    )

    summary = summarise(run)

    assert summary.flaky == ("flaky",)
    assert [case.status for case in summary.cases] == ["passed", "failed", "failed", "unscored"]


@given(
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6),
    st.integers(1, 3),
)
def test_pass_hat_k_is_the_share_of_k_subsets_that_all_pass(
    outcomes: list[list[bool]], k: int
) -> None:
    cases = {
        f"case-{index}": [{"outcome": passed} for passed in each]
        for index, each in enumerate(outcomes)
    }
    shares = []
    for each in outcomes:
        subsets = list(itertools.combinations(each, k))
        shares.append(Fraction(sum(map(all, subsets)), len(subsets)))
    with tempfile.TemporaryDirectory() as folder:
        summary = summarise(make_run(Path(folder), cases))

    found = summary.pass_hat(k, layer="outcome")

    assert found.value == pytest.approx(float(sum(shares) / len(shares)))
    assert summary.layer("outcome").estimate.value == pytest.approx(
        summary.pass_hat(1, layer="outcome").value
    )


def test_pass_hat_k_counts_out_cases_with_fewer_scored_repeats(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {"whole": [{"outcome": True}] * 2, "half": [{"outcome": True}, {"outcome": None}]},
    )

    found = summarise(run).pass_hat(2)

    assert found.value == 1.0
    assert "1 case with fewer than 2 trials left out" in found.diag


def test_assertions_are_counted_apart_from_cases(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "one": {"outcome/a": True, "outcome/b": False, "outcome/c": None, "policy/d": True},
            "two": {"outcome/a": True},
        },
    )

    summary = summarise(run)

    outcome = summary.layer("outcome")
    assert (outcome.assertions_passed, outcome.assertions, outcome.assertions_unscored) == (2, 3, 1)
    assert (summary.overall.assertions_passed, summary.assertions) == (3, 4)
    assert summary.assertion_rate("outcome").value == pytest.approx(2 / 3)
    assert (outcome.passed, outcome.n) == (1, 2)


def test_the_assertion_rate_of_one_case_is_a_fact_without_an_interval(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"one": {"outcome/a": True, "outcome/b": False}})

    estimate = summarise(run).assertion_rate("outcome")

    assert (estimate.value, estimate.low, estimate.reason) == (0.5, None, "one case only")


def test_critical_is_told_over_invariants_and_over_whole_critical_cases(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "held": {"outcome/x": False, "policy/invariant: a": True},
            "broken": {"outcome/x": True, "policy/invariant: a": False},
            "untold": {"outcome/x": True, "policy/invariant: a": None},
            "plain": {"outcome/x": False},
            "marked": {"outcome/x": False},
        },
        critical=["marked"],
        critical_checks=["policy/invariant: a"],
    )

    summary = summarise(run)

    assert {case.case_id: case.transcripts[0].critical for case in summary.cases} == {
        "held": "passed",
        "broken": "failed",
        "untold": "unscored",
        "plain": None,
        "marked": "failed",
    }


def test_a_part_of_a_suite_says_which_part(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(1, 1), selection=Selection(tag="refund", shard="1/2"))

    summary = summarise(run)

    assert summary.partial == "--tag refund --shard 1/2"


def test_an_empty_run_is_told_and_computes_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path, {})

    summary = summarise(run)

    assert summary.sentence == "0 of 0 assertions passed, 0 of 0 cases failed, 0 unscored"
    assert summary.overall.estimate.reason == "nothing was scored"
    assert summary.overall.worst is None
    assert summary.layer("outcome") is None


def test_the_layer_frame_is_whole(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": True}, "b": {"outcome": None}})

    frame = summarise(run).frame()

    row = {
        "passed": 1, "n": 1, "unscored": 1, "score": 1.0,
        "low": 0.206549, "high": 1.0,  # Wilson at 1 of 1: 1 / (1 + 1.96 ** 2)
        "worst": 0.5, "cases": 1, "assertions_passed": 1, "assertions": 1,
        "assertions_unscored": 1, "crashed": 0, "method": "Wilson", "diag": "n = 1; 1 unscored",
    }  # fmt: skip
    wanted = pd.DataFrame([{"layer": "outcome", **row}, {"layer": ALL_CHECKS, **row}])
    pd.testing.assert_frame_equal(frame, wanted, atol=1e-6)


def test_the_case_frame_is_whole(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {"a": [{"outcome": True, "policy": False}, {"outcome": True, "policy": True}]},
        critical=["a"],
    )

    frame = summarise(run).cases_frame()

    wanted = pd.DataFrame(
        [
            {
                "case_id": "a", "status": "failed", "passed": 1, "n": 2, "unscored": 0,
                "score": 0.5, "flaky": True, "critical": True, "failed_layers": "policy",
                "tags": "", "origin": None, "broke": None, "why": "",
            }
        ]
    )  # fmt: skip
    pd.testing.assert_frame_equal(frame, wanted)


def test_the_repeats_frame_has_a_row_a_layer_and_k(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": [{"outcome": True}, {"outcome": False}]})

    frame = summarise(run).repeats_frame()

    assert frame[["layer", "k", "score", "n"]].values.tolist() == [
        ["outcome", 1, 0.5, 1],
        ["outcome", 2, 0.0, 1],
        [ALL_CHECKS, 1, 0.5, 1],
        [ALL_CHECKS, 2, 0.0, 1],
    ]


def test_a_layer_named_like_markup_is_escaped(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"<script>alert(1)<": True}})

    page = summarise(run)._repr_html_()

    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6))
def test_one_more_failing_check_never_raises_a_count_of_passes(found: list[bool | None]) -> None:
    rows = {f"outcome/{index}": passed for index, passed in enumerate(found)}
    with tempfile.TemporaryDirectory() as folder:
        before = summarise(make_run(Path(folder), {"a": rows}, name="before"))
        after = summarise(make_run(Path(folder), {"a": {**rows, "outcome/more": False}}))

    assert after.passed == 0
    assert after.n == 1
    assert after.passed <= before.passed


def test_summing_up_one_repeat_loads_neither_numpy_nor_pandas(tmp_path: Path, root: Path) -> None:
    run = make_run(tmp_path, passes(3, 2))
    code = (
        "import sys; from pathlib import Path\n"
        "from agenteval_kit.runs import Run\n"
        "from agenteval_kit.summary import summarise\n"
        f"summarise(Run.open(Path({str(run.path)!r})))\n"
        "print({'numpy', 'pandas', 'scipy'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"


def test_pairs_leave_out_what_one_side_could_not_score(tmp_path: Path) -> None:
    old = make_run(
        tmp_path,
        {"a": {"outcome": True}, "b": {"outcome": None}, "c": {"policy": True}, "d": {}},
        name="old",
        judge_only=["d"],
    )
    new = make_run(
        tmp_path,
        {"a": {"outcome": False}, "b": {"outcome": True}, "c": {"policy": True}, "d": {}},
        name="new",
        judge_only=["d"],
    )

    pair = pair_layer(summarise(old), summarise(new), "outcome")
    whole = pair_layer(summarise(old), summarise(new), ALL_CHECKS)

    assert (pair.ids, pair.worse, pair.dropped) == (("a",), ("a",), ("b",))
    assert (whole.ids, whole.dropped) == (("a", "c"), ("b",))


def test_a_pairing_without_pairs_cannot_tell(tmp_path: Path) -> None:
    old = summarise(make_run(tmp_path, passes(2, 1), name="old"))
    new = summarise(make_run(tmp_path, {"other": {"outcome": True}}, name="new"))

    pair = pair_layer(old, new, "outcome")

    assert pair.sentence() == "cannot tell: no case was scored in both runs"
    assert (pair.p, pair.shown) == (None, None)


def test_a_layer_that_only_one_run_checks_is_dropped_from_the_pairs(tmp_path: Path) -> None:
    old = make_run(tmp_path, {"a": {"outcome": True}, "b": {"outcome": True}}, name="old")
    new = make_run(
        tmp_path, {"a": {"outcome": True, "policy": True}, "b": {"outcome": True}}, name="new"
    )

    pair = pair_layer(summarise(old), summarise(new), "policy")

    assert (pair.ids, pair.dropped) == ((), ("a",))


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.0, -0.1222, 0.1222, 60), "0 points (-12 to +12)"),
        # the last digit is at most a quarter of the half-width: 3 points want one digit
        (Estimate(0.0123, -0.0177, 0.0423, 900), "+1.2 points (-1.8 to +4.2)"),
        (Estimate(-0.001, -0.0012, -0.0008, 9), "-0.100 points (-0.120 to -0.080)"),
        (Estimate(0.5, None, None, 1, reason="n = 1"), "+50 points (no interval: n = 1)"),
        (Estimate.undefined("no pairs"), "not computable: no pairs"),
    ],
)
def test_digits_of_a_difference_follow_its_interval(estimate: Estimate, text: str) -> None:
    assert points(estimate) == text
