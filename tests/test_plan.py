"""The plan of a suite: every question answered from its last runs, or from assumptions."""

from __future__ import annotations

import doctest
import json
import math
from pathlib import Path

import pandas as pd
import pytest
from builders import make_run, passes
from judged import dimension, rubric
from verdicts import judge, prefer, spread

from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import decide
from agenteval_kit.plan import (
    assumed_behaviour,
    assumed_spreads,
    chance_to_ship,
    plan_cases,
    plan_suite,
)
from agenteval_kit.records import Bar, ComparisonStamp, PreferenceRow
from agenteval_kit.runs import Run, Selection
from agenteval_kit.stats.power import chance_no_worse
from agenteval_kit.stats.raters import true_shares
from agenteval_kit.suite import load_suite, run_suite


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


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


def test_a_plan_answers_every_question_from_the_last_two_runs(
    root: Path, retail: tuple[Run, Run]
) -> None:
    suite = load_suite(root / "data/suites/retail.yaml")

    plan = plan_suite(suite, runs=retail, drop=0.1, replicates=100)

    assert [one.question for one in plan.answers] == [
        "How many cases (pass share in outcome)?",
        'Will bar "retail" say SHIP if nothing changed?',
        'Will bar "retail" say SHIP if outcome fell by 10 points?',
    ]
    assert plan.sizes[0].margin_cases == 587
    assert (plan.ship[0].ship.value or 0) > (plan.ship[1].ship.value or 0)
    assert plan.lines()[0] == "retail: 60 cases"
    assert plan.runs == tuple(run.id for run in retail)
    assert json.loads(json.dumps(plan.as_dict(), allow_nan=False))["cases"] == 60
    assert plan.frame()["question"].tolist() == [one.question for one in plan.answers]


def test_a_layer_is_planned_with_the_cases_that_are_checked_in_it(tmp_path: Path) -> None:
    old, new = (
        make_run(
            tmp_path,
            {
                f"c{at}": {"outcome": at != broken, **({"policy": at != broken} if at < 8 else {})}
                for at in range(30)
            },
            name=name,
        )
        for name, broken in (("old", 1), ("new", 2))
    )
    bar = bar_of(pass_rate={"outcome": 0.9, "policy": 0.9})

    found, larger = (
        [one.cases for one in plan_suite(runs=[old, new], bar=bar, cases=n, replicates=20).sizes]
        for n in (None, 60)
    )

    assert found == [30, 8]
    assert larger == [60, 16]


def test_a_plan_without_history_says_so_and_keeps_to_tables(root: Path) -> None:
    suite = load_suite(root / "data/suites/retail.yaml")

    plan = plan_suite(suite)

    assert all(not one.spread.measured for one in plan.sizes)
    assert plan.ship == ()
    assert plan.notes == (
        "no history: sizes rest on assumed spreads",
        "no run and no assumed rates: the chance that the bar ships is not known",
    )


def test_assumed_rates_stand_in_for_a_run(root: Path) -> None:
    suite = load_suite(root / "data/suites/triage.yaml")

    plan = plan_suite(suite, rates={"outcome": 0.99, "grounding": 0.999}, replicates=200)

    # 12 cases: hard layers outcome and grounding, 0.99^12 * 0.999^12 = 0.876
    assert plan.ship[0].ship.value == pytest.approx(0.876, abs=0.06)
    assert "assumed pass rates" in plan.ship[0].method


def test_a_plan_leaves_out_runs_that_measured_something_else(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path, passes(10, 8), name="other", digest="before"),
        make_run(tmp_path, passes(10, 8), name="part", selection=Selection(tag="x")),
        make_run(tmp_path, passes(10, 8), name="torn", missing=[("case-001", 0)]),
        make_run(tmp_path, passes(10, 8), name="whole"),
    ]

    plan = plan_suite(runs=runs, replicates=20)

    assert plan.runs == ("whole",)
    assert plan.notes[:3] == (
        "left out, of other versions of the suite: 1 run",
        "left out, incomplete or partial: 2 runs",
        "one run only: two would show how far cases move from run to run",
    )


def test_a_recording_that_is_read_twice_is_not_two_trials(
    root: Path, tmp_path: Path, retail: tuple[Run, Run]
) -> None:
    suite = load_suite(root / "data/suites/retail.yaml")
    again = run_suite(suite, root=tmp_path).run

    plan = plan_suite(suite, runs=[*retail, again], replicates=20)

    assert plan.runs == (retail[1].id, again.id)
    assert plan.notes == ("left out, the same recording again: 1 run",)
    assert plan.sizes[0].margin_cases == 587


def test_a_judged_suite_is_planned_with_labels_and_costs(tmp_path: Path) -> None:
    old = judge(make_run(tmp_path, passes(20, 20), name="old"), spread({4: 12, 3: 8}))
    new = judge(make_run(tmp_path, passes(20, 20), name="new"), spread({4: 10, 3: 8, 2: 2}))
    bar = bar_of(mean={"tone": 3.3}, no_worse={"tone": {"margin": 0.3, "unit": "score"}})

    plan = plan_suite(
        runs=[old, new], bar=bar, rubric=rubric(dimension("tone")), judges=["gpt-4.1"],
        labels=(100,), replicates=20,
    )  # fmt: skip

    (tone,) = [one for one in plan.sizes if one.spread.unit == "score"]
    assert (tone.spread.target, tone.margin, tone.spread.measured) == ("tone", 0.3, True)
    assert plan.labels[0].dimension == "tone"
    assert plan.labels[0].shares == pytest.approx(true_shares((0.0, 0.1, 0.4, 0.5), 0.8))
    assert plan.cost is not None and plan.cost.calls == 20
    assert plan.ship[0].not_simulated == ()


def test_preferences_between_the_last_two_runs_give_the_spread_and_the_ties(
    tmp_path: Path,
) -> None:
    old = make_run(tmp_path, passes(20, 20), name="old")
    new = make_run(tmp_path, passes(20, 20), name="new")
    shared = {
        "old": old.id, "new": new.id, "criterion": "outcome", "layer": "outcome",
        "judge": "scripted", "judge_digest": "d",
    }  # fmt: skip
    outcomes = ["new"] * 5 + ["tie"] * 10 + ["old"] * 5
    writer = new.writer()
    writer.add_comparisons(
        [
            ComparisonStamp(
                **shared, criterion_digest="c", definition="Which did it.", wanted=20,
                at="2026-03-02T09:00:00Z",
            )
        ]
    )  # fmt: skip
    writer.add_preferences(
        PreferenceRow(case_id=f"case-{at:03d}", outcome=one, **shared)  # type: ignore[arg-type]
        for at, one in enumerate(outcomes)
    )
    writer.close()
    bar = bar_of(win_rate={"outcome": {"margin": 0.2, "max_margin": 0.3}})

    plan = plan_suite(runs=[old, new], bar=bar, replicates=20)

    (found,) = [one for one in plan.sizes if one.spread.unit == "win rate"]
    # ten of twenty are half a point off: sd = sqrt(10 * 0.25 / 19)
    assert found.spread.sd.value == pytest.approx(math.sqrt(2.5 / 19))
    assert "50 % of them ties" in plan.ship[0].assumption


def preferring(folder: Path, outcomes: dict[str, int], **how: str) -> tuple[Run, Run]:
    """Two runs of 100 cases that pass alike, and what a judge preferred between them."""
    old, new = (make_run(folder, passes(100, 90), name=name) for name in ("old", "new"))
    each = [one for one, many in outcomes.items() for _ in range(many)]
    prefer(new, {f"case-{at:03d}": one for at, one in enumerate(each)}, **how)
    return old, new


def test_a_claim_in_win_rate_is_planned_as_the_gate_decides_it(tmp_path: Path) -> None:
    old, new = preferring(tmp_path, {"new": 38, "tie": 25, "old": 37})
    bar = bar_of(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})

    plan = plan_suite(runs=[old, new], bar=bar, replicates=200)

    (found,) = [one for one in plan.sizes if one.spread.unit == "win rate"]
    (row,) = [one for one in decide(new, bar, baseline=old).rows if one.name == "no_worse outcome"]
    assert found.margin == 0.05
    assert f"about {found.margin_cases:,} instead of 100" in row.reason
    # Pairs of which 75 % are won or lost by half a point: sd 0.433, error 0.0433 of 100 cases.
    (clause,) = [one for one in plan.ship[0].clauses if one.name == "no_worse outcome"]
    wanted = chance_no_worse(math.sqrt(0.75) / 2, 100, margin=0.05)
    assert clause.passes.value == pytest.approx(wanted, abs=0.1)
    assert "25 % of them ties" in plan.ship[0].assumption
    # No case moved in its checks, so a claim on those would always pass.
    by_checks = bar_of(no_worse={"outcome": {"margin": 0.1}})
    other = plan_suite(runs=[old, new], bar=by_checks, replicates=50)
    assert (other.ship[0].ship.value or 0) > 0.4 > (plan.ship[0].ship.value or 0)
    (rate,) = [one for one in other.sizes if one.spread.unit == "win rate"]
    assert rate.margin == 0.05  # that of no clause


def test_a_claim_in_win_rate_without_preferences_is_about_checks(tmp_path: Path) -> None:
    old, new = (make_run(tmp_path, passes(40, 30), name=name) for name in ("old", "new"))
    bar = bar_of(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})

    plan = plan_suite(runs=[old, new], bar=bar, replicates=10)

    assert [(one.spread.unit, one.margin) for one in plan.sizes] == [("pass share", 0.1)]


def test_a_claim_that_the_gate_cannot_tell_is_never_shipped_in_a_plan(tmp_path: Path) -> None:
    old, new = preferring(tmp_path, {"tie": 100}, criterion="help", digest="a")
    prefer(new, {"case-000": "tie"}, criterion="tone", digest="b")
    bar = bar_of(no_worse={"outcome": {"margin": 0.2, "unit": "win_rate"}})

    plan = plan_suite(runs=[old, new], bar=bar, replicates=20)

    (row,) = [one for one in decide(new, bar, baseline=old).rows if one.name == "no_worse outcome"]
    assert "2 criteria lie in layer" in row.reason
    assert (plan.ship[0].ship.value, plan.ship[0].review.value) == (0.0, 1.0)


def test_there_must_be_something_to_plan() -> None:
    with pytest.raises(ConfigError, match="give a suite, or a run of one"):
        plan_suite()


def test_hostile_names_are_escaped_on_the_page(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"<b>x": True}, "b": {"<b>x": False}}, name="<script>")
    bar = bar_of(pass_rate={"<b>x": 0.5})

    plan = plan_suite(runs=[run, run], bar=bar, replicates=10)

    assert "<script>" not in plan._repr_html_()
    assert "<b>" not in plan.ship[0]._repr_html_()


def test_the_frames_of_a_plan() -> None:
    (found,) = [one for one in assumed_spreads("score") if one.sd.value == 0.8]
    agent = assumed_behaviour({"outcome": 1.0}, cases=2)

    needs = plan_cases(found, changes=(0.2,)).frame()
    chances = chance_to_ship(agent, bar_of(hard_layers=["outcome"]), replicates=10).frame()

    pd.testing.assert_frame_equal(
        needs,
        pd.DataFrame(
            {
                "unit": ["score"], "target": [""], "spread": [0.8], "change": [0.2],
                "cases": pd.array([126], dtype="Int64"),
                "fewest": pd.array([None], dtype="Int64"),
                "most": pd.array([None], dtype="Int64"),
            }
        ),
    )  # fmt: skip
    # Wilson, 10 of 10: low 10 / (10 + 1.96^2)
    assert chances["clause"].tolist() == ["hard_layers outcome", "max_unscored", "whole bar"]
    assert chances["low"].tolist() == pytest.approx([10 / (10 + 1.959964**2)] * 3, abs=1e-6)


def test_every_example_of_the_page_on_planning_holds(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)

    result = doctest.testfile(
        str(root / "docs" / "planning.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )

    assert result.attempted >= 20
    assert result.failed == 0
