"""How many cases a change takes, and which change a suite can see."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from builders import make_run
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval_kit.compare import compare_checks
from agenteval_kit.plan import (
    assumed_spreads,
    plan_cases,
    spread_of_changes,
    spread_of_repeats,
    spread_of_runs,
)
from agenteval_kit.runs import Run
from agenteval_kit.stats.sizes import units_to_rule_out
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import Summary, summarise


@pytest.fixture(scope="module")
def retail(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The recorded A/B of two retail agents on the same 60 tasks."""
    folder = tmp_path_factory.mktemp("retail")
    made = []
    for agent in ("retail_tool_calling", "retail_with_preconditions"):
        suite = load_suite(
            root / "data/suites/retail.yaml", agent=root / f"data/agents/{agent}.yaml"
        )
        made.append(run_suite(suite, root=folder, out=folder / agent).run)
    return made[0], made[1]


@pytest.fixture(scope="module")
def airline(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """Thirty recorded airline tasks, four trials each."""
    folder = tmp_path_factory.mktemp("airline")
    return summarise(run_suite(load_suite(root / "data/suites/airline.yaml"), root=folder).run)


@pytest.mark.parametrize(
    ("unit", "sd", "changes", "cases"),
    [
        # statistics.md 1.4: sd 0.8 on 1-4 and changes of 0.1 / 0.2 / 0.3 / 0.5 take 503, 126, 56,
        # 21; where so few cases move, the interval of scores shows the last two too seldom.
        ("score", 0.8, (0.1, 0.2, 0.3, 0.5), [503, 126, 63, 40]),
        # statistics.md 1.4: win rate with about 35 % ties (sd 0.40): 503, 126, 56, 32
        ("win rate", 0.4, (0.05, 0.10, 0.15, 0.20), [503, 126, 56, 33]),
        # The formula, (2.8016 * 0.5 / 0.1)^2 = 196.2 and so on: 197, 50, 22, 8
        ("score", 0.5, (0.1, 0.2, 0.3, 0.5), [202, 95, 57, 32]),
        # 785, 197, 88, 32
        ("score", 1.0, (0.1, 0.2, 0.3, 0.5), [785, 197, 88, 37]),
        # sqrt(0.1): 314, 79, 35, 20; the last two need a spread of 0.357 and 0.4
        ("pass share", math.sqrt(0.1), (0.05, 0.10, 0.15, 0.20), [314, 66, 36, 27]),
    ],
)
def test_cases_without_history_are_those_that_show_a_change(
    unit: str, sd: float, changes: tuple[float, ...], cases: list[int]
) -> None:
    (found,) = [one for one in assumed_spreads(unit) if one.sd.value == sd]  # type: ignore[arg-type]

    plan = plan_cases(found)

    assert tuple(need.change for need in plan.needs) == changes
    assert [need.cases for need in plan.needs] == cases
    assert not plan.spread.measured
    assert "no history" in plan.assumption


def test_the_recorded_a_b_says_what_it_would_take(retail: tuple[Run, Run]) -> None:
    old, new = retail

    plan = plan_cases(spread_of_runs(summarise(old), summarise(new), "outcome"))

    # b = c = 7 of 60: sd = sqrt(14 / 59) = 0.4871; (2.4865 * 0.4871 / 0.05)^2 = 586.8
    assert plan.spread.sd.value == pytest.approx(math.sqrt(14 / 59))
    assert plan.margin_cases == 587
    # (2.8016 * 0.4871 / 0.10)^2 = 186.3; 2.8016 * 0.4871 / sqrt(60) = 0.176. For 20 points the
    # formula says 47, where 13 cases move: of 49 McNemar's z shows it four times in five.
    assert [need.cases for need in plan.needs] == [745, 187, 83, 49]
    assert plan.detectable == pytest.approx(0.177, abs=1e-3)
    assert "60 cases see a change of 17.7 points" in plan.sentence
    assert compare_checks(old, new).layers[0].sentence(margin=0.05) == (
        "no difference shown: 44 of 60 against 44 of 60, difference 0 points (-13 to +13, "
        "two-sided 95 %); a drop of up to 11 points is not ruled out (one-sided 95 %); to rule out "
        "5 would take about 587 cases"
    )


def test_a_need_is_a_range_where_the_spread_was_measured(retail: tuple[Run, Run]) -> None:
    old, new = retail

    plan = plan_cases(spread_of_runs(summarise(old), summarise(new), "outcome"))

    for need in plan.needs:
        assert need.fewest is not None and need.most is not None
        assert need.fewest < need.cases < need.most
    assert plan.detectable_high is not None and plan.detectable is not None
    assert plan.detectable_high > plan.detectable


def test_nothing_moved_is_no_promise_that_one_case_is_enough() -> None:
    found = spread_of_changes([0.0] * 60, unit="pass share", target="outcome", source="made")

    plan = plan_cases(found)

    assert found.sd.value == 0
    assert found.sd.high is not None and found.sd.high > 0.1
    assert all(need.cases == need.most for need in plan.needs)
    # Four cases must move one way: P(Binomial(n, 0.05) >= 4) is 0.8 from 110 on, and so on.
    assert [need.fewest for need in plan.needs] == [110, 54, 36, 27]
    # The upper end of the spread, as above: 0.22 is about one case in twenty that moves.
    assert plan.margin_cases is not None
    assert plan.margin_cases == units_to_rule_out(found.sd.high, 0.05, worst=-1.0)
    assert "no case moved" in plan.assumption


@pytest.mark.parametrize(("changes", "n"), [([], 0), ([0.5], 1)], ids=["no case", "one case"])
def test_a_spread_wants_two_cases(changes: list[float], n: int) -> None:
    found = spread_of_changes(changes, unit="score", target="tone", source="made", reach=3)

    plan = plan_cases(found)

    assert (found.sd.value, found.sd.n) == (None, n)
    assert plan.lines() == (f"cannot tell: {n} case{'s' * (n != 1)}: a spread wants two",)
    assert (plan.needs, plan.detectable, plan.margin_cases) == ((), None, None)


def test_scenarios_of_several_cases_are_averaged_and_counted_once() -> None:
    changes = [1.0, 1.0, 0.0, 0.0, -1.0, -1.0]
    scenarios = ["a", "a", "b", "b", "c", "c"]

    found = spread_of_changes(
        changes, unit="pass share", target="", source="made", clusters=scenarios
    )

    # means 1, 0, -1: sd 1 over three scenarios
    assert (found.sd.value, found.sd.n) == (pytest.approx(1.0), 3)
    assert plan_cases(found).cases == 3


def test_a_design_effect_multiplies_the_cases() -> None:
    (found,) = [one for one in assumed_spreads("score") if one.sd.value == 0.8]

    plan = plan_cases(found, effect=2.0)

    # twice 502.3 and 125.6, and twice the 63 and 40 of the interval, one less where it is jagged
    assert [need.cases for need in plan.needs[:2]] == [1005, 252]
    assert [need.cases for need in plan.needs[2:]] == pytest.approx([126, 80], abs=2)
    assert "count 2 times the cases" in plan.assumption


def test_repeats_shrink_the_noise_and_not_the_change(airline: Summary) -> None:
    found = spread_of_repeats(airline, "outcome")
    assert found is not None

    gains = {one.repeats: one for one in plan_cases(found).gains}

    # noise alone: the spread falls with the root of the repeats, and the change seen with it
    assert gains[1].spread / gains[4].spread == pytest.approx(2.0)
    assert gains[1].detectable > gains[2].detectable > gains[4].detectable > gains[8].detectable
    assert found.with_repeats(4) == pytest.approx(found.sd.value)


def test_repeats_do_not_shrink_what_is_real_between_two_runs(tmp_path: Path) -> None:
    yes, no = {"outcome": True}, {"outcome": False}
    old = {f"c{at}": [yes, yes] if at % 2 else [yes, no] for at in range(20)}
    new = {f"c{at}": [no, no] if at < 5 else [yes, yes] for at in range(20)}
    runs = [
        summarise(make_run(tmp_path, each, name=name)) for each, name in ((old, "a"), (new, "b"))
    ]

    found = spread_of_runs(runs[0], runs[1], "outcome")

    assert found.noise is not None
    many = found.with_repeats(1000)
    assert many is not None and found.sd.value is not None
    assert many == pytest.approx(math.sqrt(found.sd.value**2 - found.noise / 2), rel=1e-2)
    assert plan_cases(found, repeats=8).spread.repeats == 8


def test_the_list_by_repeats_holds_the_figure_above_it(tmp_path: Path) -> None:
    # Two runs that agree though half of their cases do not agree with themselves.
    rows = {
        f"c{at}": [{"outcome": True}, {"outcome": at % 2 == 0}, {"outcome": at > 0}]
        for at in range(12)
    }
    moved = {**rows, "c1": [{"outcome": True}] * 3}
    old, new = (
        summarise(make_run(tmp_path, said, name=name))
        for name, said in (("old", rows), ("new", moved))
    )

    found = plan_cases(spread_of_runs(old, new, "outcome"))
    planned = plan_cases(spread_of_runs(old, new, "outcome"), repeats=5)

    gains = {one.repeats: one.detectable for one in found.gains}
    assert gains[3] == pytest.approx(found.detectable)
    assert sorted(gains.values(), reverse=True) == [gains[k] for k in (1, 2, 3, 4, 8)]
    assert {one.repeats: one.detectable for one in planned.gains}[5] == planned.detectable
    assert planned.gains[0].detectable == pytest.approx(gains[1])


def test_one_trial_a_case_does_not_say_what_repeats_would_buy(retail: tuple[Run, Run]) -> None:
    old, new = (summarise(run) for run in retail)

    assert spread_of_repeats(new, "outcome") is None
    assert spread_of_runs(old, new, "outcome").with_repeats(4) is None
    assert plan_cases(spread_of_runs(old, new, "outcome"), repeats=4).gains == ()


CHANGES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=60)


@given(CHANGES, st.integers(2, 400), st.integers(1, 400))
@settings(max_examples=40)
def test_more_cases_never_see_less(changes: list[float], n: int, more: int) -> None:
    found = spread_of_changes(changes, unit="pass share", target="", source="made", draws=200)

    few, many = plan_cases(found, cases=n), plan_cases(found, cases=n + more)

    # Three cases show no change, however large.
    assert few.detectable is None or many.detectable is not None
    assert (many.detectable or 0) <= (few.detectable or 1)


@given(CHANGES, st.floats(0.01, 0.5), st.floats(0.01, 0.5))
@settings(max_examples=40)
def test_a_smaller_change_never_takes_fewer_cases(
    changes: list[float], one: float, other: float
) -> None:
    found = spread_of_changes(changes, unit="pass share", target="", source="made", draws=200)

    small, large = plan_cases(found, changes=sorted([one, other])).needs

    assert small.cases >= large.cases


@given(CHANGES, st.floats(0.01, 0.5))
@settings(max_examples=40)
def test_a_wider_spread_never_takes_fewer_cases(changes: list[float], change: float) -> None:
    found = spread_of_changes(changes, unit="pass share", target="", source="made", draws=200)

    (need,) = plan_cases(found, changes=[change]).needs

    assert need.fewest is not None and need.most is not None
    assert need.fewest <= need.cases <= need.most


def test_power_and_level_count_for_the_margin_too() -> None:
    found = spread_of_changes(
        [0.0] * 30 + [-1.0] * 5 + [1.0] * 5, unit="pass share", target="", source="made"
    )

    plain, stronger, surer = (
        plan_cases(found, margin=0.05, **how)
        for how in ({}, {"power": 0.9}, {"level": 0.99})  # type: ignore[arg-type]
    )

    # sd^2 = 10 / 39, over 0.05^2, times the squares of 1.6449 + 0.8416 (5 % and 80 %),
    # 1.6449 + 1.2816 (5 % and 90 %) and 2.3263 + 0.8416 (1 % and 80 %)
    assert [one.margin_cases for one in (plain, stronger, surer)] == [635, 879, 1030]
    assert "one-sided 1 % bound" in surer.method


def test_cases_that_show_nothing_say_so() -> None:
    found = spread_of_changes([0.0, 0.0, 0.0], unit="pass share", target="", source="made")

    plan = plan_cases(found)

    assert plan.detectable is None
    assert "3 cases see no change, however large" in plan.sentence


@given(CHANGES)
def test_the_interval_of_a_spread_holds_it_and_has_width(changes: list[float]) -> None:
    sd = spread_of_changes(changes, unit="pass share", target="", source="made", draws=500).sd

    assert sd.value is not None and sd.low is not None and sd.high is not None
    assert sd.low <= sd.value <= sd.high
    assert sd.high > sd.low


def test_the_interval_of_a_spread_holds_the_truth() -> None:
    rng = np.random.default_rng(1)
    truth = math.sqrt(0.3)  # -1 and 1 with chance 0.15 each
    held = 0
    for _ in range(400):
        drawn = rng.choice([-1.0, 0.0, 1.0], size=60, p=[0.15, 0.7, 0.15]).tolist()
        sd = spread_of_changes(drawn, unit="pass share", target="", source="made", draws=500).sd
        held += (sd.low or 0) <= truth <= (sd.high or 0)

    # measured with 600 draws over shares that move and sizes: 0.92 to 0.95 from 60 cases on
    assert held / 400 >= 0.92
