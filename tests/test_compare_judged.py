"""Judged dimensions run to run: paired by case, one judge, Holm over layers and dimensions."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import pytest
from builders import make_run, passes
from hypothesis import given, settings
from hypothesis import strategies as st
from verdicts import Said, judge

from agenteval_kit.compare import compare_checks
from agenteval_kit.judge.pairing import pair_dimensions
from agenteval_kit.runs import Run
from agenteval_kit.stats.multiple import holm


def scores(*each: Said) -> dict[str, Said]:
    return {f"case-{index:03d}": one for index, one in enumerate(each)}


def judged_pair(folder: Path, old: dict[str, Said], new: dict[str, Said]) -> tuple[Run, Run]:
    made = []
    for name, each in (("old", old), ("new", new)):
        made.append(judge(make_run(folder, passes(len(each), len(each)), name=name), each))
    return made[0], made[1]


def test_a_dimension_is_paired_by_case_and_its_lower_cases_are_named(tmp_path: Path) -> None:
    old, new = judged_pair(tmp_path, scores(*[4] * 20), scores(*[3] * 12, *[4] * 8))

    found = compare_checks(old, new)

    (pair,) = found.dimensions
    assert pair.difference.value == pytest.approx(-12 / 20)
    assert pair.shown
    assert pair.worse == tuple(f"case-{index:03d}" for index in range(12))
    assert (pair.better, pair.dropped) == ((), ())
    assert pair.finding.startswith("lower: 3.40 against 4.00 over 20 cases, difference -0.6")
    assert "; judged tone lower: 3.40 against 4.00" in found.sentence


def test_holm_counts_layers_and_dimensions_together(tmp_path: Path) -> None:
    old, new = judged_pair(tmp_path, scores(*[4] * 20), scores(*[3] * 12, *[4] * 8))
    for run in (old, new):
        judge(run, scores(*[3, 4] * 10), name="care", digest="judge-2")

    found = compare_checks(old, new)

    raw = [pair.p for pair in (*found.layers, *found.dimensions)]
    assert len(raw) == 3
    assert found.p_holm == tuple(holm(raw))
    # 12 of 12 signs alike: 2 / 2 ** 12, times three tests
    assert found.p_holm[1] == pytest.approx(3 * 2 / 2**12)
    assert found.frame()["p_holm"].tolist()[0] == found.p_holm[0]
    assert found.dimensions_frame()["p_holm"].tolist() == list(found.p_holm[1:])


def test_a_case_unscored_on_one_side_is_dropped_and_counted(tmp_path: Path) -> None:
    old, new = judged_pair(tmp_path, scores(4, None, 4, 4), scores(4, 4, None, 4))

    (pair,) = compare_checks(old, new).dimensions

    assert pair.ids == ("case-000", "case-003")
    assert sorted(pair.dropped) == ["case-001", "case-002"]


def test_a_case_unscored_on_both_sides_is_dropped_and_counted_too(tmp_path: Path) -> None:
    old, new = judged_pair(tmp_path, scores(4, None, 4), scores(4, None, 4))

    (pair,) = compare_checks(old, new).dimensions

    assert (pair.n, pair.dropped) == (2, ("case-001",))


def test_repeats_of_a_case_are_averaged_before_it_is_paired(tmp_path: Path) -> None:
    runs = []
    for name, each in (("old", [4, 4]), ("new", [3, 4])):
        run = make_run(tmp_path, {"a": [{"outcome": True}] * 2}, name=name)
        runs.append(judge(run, {"a": each}, repeats=True))

    (pair,) = pair_dimensions(*runs)

    assert (pair.old, pair.new) == ((4.0,), (3.5,))


def test_runs_under_two_judges_are_not_compared_and_say_so(tmp_path: Path) -> None:
    old = judge(make_run(tmp_path, passes(4, 4), name="old"), scores(*[4] * 4), digest="judge-0",
                model="judge-a")  # fmt: skip
    new = judge(make_run(tmp_path, passes(4, 4), name="new"), scores(*[1] * 4))

    found = compare_checks(old, new)

    (pair,) = found.dimensions
    assert pair.difference.value is None
    assert pair.refused.startswith("judge changed: the judge (judge-x here, judge-a in")
    assert "not compared, the judge changed: 1 judged dimension" in found.sentence
    assert found.p_holm[1] is None


def test_a_run_that_nobody_judged_has_no_dimensions_to_compare(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(4, 4), name="old")
    new = judge(make_run(tmp_path, passes(4, 4), name="new"), scores(*[1] * 4))

    assert compare_checks(old, new).dimensions == ()


def test_the_frame_of_dimensions_is_whole(tmp_path: Path) -> None:
    old, new = judged_pair(tmp_path, scores(4, 4, 3), scores(4, 4, 3))

    frame = compare_checks(old, new).dimensions_frame()

    row = frame.iloc[0]
    assert list(frame.columns) == [
        "layer", "dimension", "trust", "n", "old", "new", "difference", "low", "high", "lower",
        "higher", "p", "p_holm", "p_exact", "shown", "dropped", "method", "diag",
    ]  # fmt: skip
    wanted = pd.Series(
        {"layer": "conversation", "dimension": "tone", "trust": "never calibrated", "n": 3,
         "old": 11 / 3, "new": 11 / 3,
         "difference": 0.0, "lower": 0, "higher": 0, "p": 1.0, "p_holm": 1.0, "p_exact": 1.0,
         "shown": False, "dropped": 0}
    )  # fmt: skip
    pd.testing.assert_series_equal(row[wanted.index], wanted, check_names=False)
    assert row["low"] < 0 < row["high"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([1, 2, 3, 4, None])] * 2), min_size=2, max_size=12))
def test_the_difference_of_two_runs_mirrors_when_they_are_swapped(
    pairs: list[tuple[int | None, int | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        old, new = judged_pair(
            Path(folder), scores(*(one for one, _ in pairs)), scores(*(two for _, two in pairs))
        )
        (there,) = pair_dimensions(old, new)
        (back,) = pair_dimensions(new, old)

    assert (there.worse, there.better) == (back.better, back.worse)
    if there.difference.value is not None:
        assert back.difference.value == pytest.approx(-there.difference.value)
        assert there.p == pytest.approx(back.p)
