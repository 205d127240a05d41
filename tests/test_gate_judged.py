"""The gate on judged scores: each threshold just above and just below, trust, flags, levels."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from builders import make_run, passes
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import dimension, make_judged_run, rubric, said, talk
from verdicts import Said, judge, scored_run, spread, trusted

from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import ClauseRow, Decision, decide, load_bar
from agenteval_kit.judge import judge_run
from agenteval_kit.judge.scores import judged_scores
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.records import Bar
from agenteval_kit.records.trust import DimensionTrust
from agenteval_kit.stats.proportion import wilson


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


def row_of(decision: Decision, clause: str, target: str | None = None) -> ClauseRow:
    (found,) = [
        row
        for row in decision.rows
        if row.clause == clause and (target is None or row.target == target)
    ]
    return found


# mean


@pytest.mark.parametrize(
    ("counts", "status", "verdict"),
    [
        ({4: 13, 3: 27}, "pass", "SHIP"),  # 133 / 40 = 3.325
        ({4: 12, 3: 28}, "pass", "SHIP"),  # 132 / 40 = 3.3
        ({4: 11, 3: 29}, "fail", "HOLD"),  # 131 / 40 = 3.275
    ],
)
def test_a_mean_just_over_on_and_under_its_bar(
    tmp_path: Path, counts: dict[int, int], status: str, verdict: str
) -> None:
    run = scored_run(tmp_path, spread(counts))

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone"))

    row = row_of(decision, "mean")
    assert (row.status, row.trust, row.layer) == (status, "trusted", "conversation")
    assert row.bar == "mean at least 3.3"
    assert decision.verdict == verdict


@pytest.mark.parametrize(
    ("applies_to", "least", "status"),
    [
        ("estimate", 3.2, "pass"),
        ("bound", 3.2, "cannot tell"),
        ("bound", 3.0, "pass"),
        ("bound", 3.6, "fail"),
    ],
)
def test_a_mean_on_the_estimate_and_on_the_bound(
    tmp_path: Path, applies_to: str, least: float, status: str
) -> None:
    run = scored_run(tmp_path, spread({4: 12, 3: 28}))
    bar = bar_of(mean={"tone": least}, bar_applies_to=applies_to)

    row = row_of(decide(run, bar, trust=trusted("tone")), "mean")

    assert row.status == status


def test_a_mean_that_only_arithmetic_puts_under_its_bar_passes(tmp_path: Path) -> None:
    # Thirds of three repeats: the mean over ten cases is 3.3 and comes out a little under it.
    cases: dict[str, list[Said]] = {f"c{index}": [3, 3, 4] for index in range(9)}
    cases["c9"] = [3, 3, 3]
    run = make_run(tmp_path, {case: [{}] * 3 for case in cases}, judge_only=cases)
    judge(run, cases, repeats=True)

    row = row_of(decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone")), "mean")

    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(3.3, abs=1e-12)
    assert row.status == "pass"


def test_a_miss_that_rounding_would_hide_is_shown_unrounded(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 59, 3: 141}))

    row = row_of(decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone")), "mean")

    # 659 / 200 = 3.295, which prints as 3.29 or 3.30 and misses 3.3
    assert row.status == "fail"
    assert row.reason.startswith("3.2")
    assert len(row.ids) == 141


@pytest.mark.parametrize("applies_to", ["estimate", "bound"])
@pytest.mark.parametrize("least", [1, 2.5, 4])
def test_a_dimension_without_a_single_score_cannot_tell(
    tmp_path: Path, applies_to: str, least: float
) -> None:
    run = scored_run(tmp_path, spread({None: 5}))
    bar = bar_of(mean={"tone": least}, never={"tone": 1}, bar_applies_to=applies_to)

    decision = decide(run, bar, trust=trusted("tone"))

    assert row_of(decision, "mean").status == "cannot tell"
    assert row_of(decision, "mean").reason.startswith("not computable: all unscored; 5 of 5")
    assert row_of(decision, "never").status == "cannot tell"
    assert decision.verdict == "REVIEW"


def test_a_panel_whose_seats_are_all_unscored_is_no_vacuous_pass(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": [None, None, None]})
    bar = bar_of(never={"tone": 1}, mean={"default": 1})

    decision = decide(run, bar, trust=trusted("tone"))

    assert {row.status for row in decision.rows if row.target == "tone"} == {"cannot tell"}
    assert decision.verdict == "REVIEW"


def test_a_score_that_is_no_number_is_refused_with_its_line(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": 3})
    file = run.path / "verdicts.jsonl"
    file.write_text(file.read_text().replace('"score":3', '"score":NaN', 1))

    with pytest.raises(ConfigError, match=r"verdicts\.jsonl:2: NaN is not a number"):
        decide(run, bar_of(mean={"tone": 3}))


# which dimensions the default binds


def test_the_default_binds_the_dimensions_of_its_own_scale_only(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 20}))
    judge(run, spread({3: 20}), name="grounding", layer="grounding", levels=(0, 1, 2, 3),
          digest="judge-2")  # fmt: skip

    decision = decide(run, bar_of(mean={"default": 3.3}), trust=trusted("tone"))

    assert [row.target for row in decision.rows if row.clause == "mean"] == ["tone"]
    assert row_of(decision, "mean").bar == "mean at least 3.3 (default)"
    assert decision.verdict == "SHIP"


def test_a_dimension_with_a_bar_of_its_own_is_not_bound_by_the_default(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 20}))
    judge(run, spread({3: 20}), name="care", digest="judge-2")
    bar = bar_of(mean={"default": 3.3, "care": 2.5})

    decision = decide(run, bar, trust=[*trusted("tone"), *trusted("care", digest="judge-2")])

    assert row_of(decision, "mean", "care").threshold == 2.5
    assert row_of(decision, "mean", "tone").threshold == 3.3
    assert decision.verdict == "SHIP"


def test_a_default_that_two_scales_could_hold_is_not_guessed(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 20}))
    judge(run, spread({3: 20}), name="grounding", levels=(0, 1, 2, 3), digest="judge-2")

    decision = decide(run, bar_of(mean={"default": 2.5}), trust=trusted("tone"))

    row = row_of(decision, "mean", "tone")
    assert row.status == "cannot tell"
    assert row.reason == (
        "the default of 2.5 could be meant on more than one scale (1 to 4, 0 to 3); name this "
        "dimension in the bar"
    )


def test_a_default_on_no_scale_cannot_tell(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({3: 20}), levels=(0, 1, 2, 3))

    decision = decide(run, bar_of(mean={"default": 3.3}))

    assert row_of(decision, "mean").reason == (
        "the default of 3.3 lies on the scale of no other dimension (tone 0 to 3)"
    )
    assert decision.verdict == "REVIEW"


def test_a_dimension_of_the_rubric_that_no_judge_was_asked_for_cannot_tell(
    tmp_path: Path,
) -> None:
    run = scored_run(tmp_path, spread({4: 20}), scales={"tone": (1, 2, 3, 4), "care": (1, 2, 3, 4)})

    decision = decide(run, bar_of(mean={"default": 3.3}), trust=trusted("tone"))

    row = row_of(decision, "mean", "care")
    assert (row.status, row.trust) == ("cannot tell", "not judged")
    assert row.reason == 'not judged: "care" is in the rubric, and no judge was asked for it'
    assert decision.verdict == "REVIEW"


def test_a_dimension_nobody_judged_names_the_near_one(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 20}))

    row = row_of(decide(run, bar_of(mean={"tonne": 3.3})), "mean")

    assert row.reason == 'not judged: no judge scored "tonne". Did you mean "tone"?'


@pytest.mark.parametrize(
    ("clauses", "complaint"),
    [
        ({"mean": {"tone": 4.1}}, '"mean.tone" is 4.1, outside the scale 1 to 4'),
        ({"mean": {"tone": 0.9}}, '"mean.tone" is 0.9, outside the scale 1 to 4'),
        ({"never": {"tone": 5}}, '"never.tone" is 5, no level of the scale 1 to 4'),
        (
            {"no_worse": {"tone": {"margin": 3, "unit": "score"}}},
            '"no_worse.tone" has a margin of 3, and no drop on the scale 1 to 4 can be larger',
        ),
    ],
)
def test_a_bar_outside_its_dimensions_scale_is_refused(
    tmp_path: Path, clauses: dict[str, object], complaint: str
) -> None:
    run = scored_run(tmp_path, spread({4: 20}))

    with pytest.raises(ConfigError) as caught:
        decide(run, bar_of(**clauses))

    assert str(caught.value).startswith(complaint)


# never


@pytest.mark.parametrize(
    ("verdict", "again", "status"),
    [
        (1, (1, 1), "fail"),
        (1, (1, 3), "fail"),
        (1, (3, 3), "cannot tell"),
        (1, (None, None), "cannot tell"),
        (1, (), "cannot tell"),
        (2, (), "pass"),
        ([1, 1, 1], (), "fail"),
        ([1, 1, 4], (), "fail"),
        ([1, 1, None], (), "fail"),
        ([2, 2, 1], (), "pass"),
    ],
)
def test_a_level_that_may_not_be_needs_the_majority_of_three_to_fail(
    tmp_path: Path, verdict: Said, again: tuple[int | None, ...], status: str
) -> None:
    cases: dict[str, Said] = {**spread({4: 60}), "bad": verdict}
    run = scored_run(tmp_path, cases, again={"bad": again})

    row = row_of(decide(run, bar_of(never={"tone": 1}), trust=trusted("tone")), "never")

    assert row.status == status
    assert row.ids == (() if status == "pass" else ("bad",))
    assert row.bar == "no case scores 1"


def test_the_share_of_verdicts_over_repeats_has_an_interval_by_case(tmp_path: Path) -> None:
    said: dict[str, list[Said]] = {f"c{at}": [1 if at < 2 else 4] * 3 for at in range(10)}
    run = make_run(tmp_path, {one: [{}] * 3 for one in said}, judge_only=said)
    judge(run, said, repeats=True)  # type: ignore[arg-type]

    found = row_of(decide(run, bar_of(never={"tone": 1}), trust=trusted("tone")), "never").estimate

    assert found is not None and found.value == pytest.approx(0.2)
    # Repeats that are all alike show what ten cases show, not what thirty would.
    assert found.n == 10
    assert found.half_width > 1.5 * wilson(6, 30).half_width


def test_never_says_what_it_does_not_rule_out(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 60}))

    row = row_of(decide(run, bar_of(never={"tone": 1}), trust=trusted("tone")), "never")

    assert row.reason == (
        "none of 60 verdicts says 1; a true failure rate of up to 4.9 % is not ruled out"
    )


def test_a_level_under_the_one_that_may_not_be_is_no_better(tmp_path: Path) -> None:
    cases: dict[str, Said] = {**spread({3: 60}), "bad": [0, 1, 0]}
    run = scored_run(tmp_path, cases, levels=(0, 1, 2, 3))

    row = row_of(decide(run, bar_of(never={"tone": 1}), trust=trusted("tone")), "never")

    assert (row.status, row.bar) == ("fail", "no case scores 1 or less")


def test_the_judge_is_asked_twice_more_before_a_level_holds_a_release(tmp_path: Path) -> None:
    replies = {"c0": [1, 1, 1], "c1": [1, 3, 3], "c2": [4]}

    def answer(request: object) -> str:
        text = str(request)
        return said(next(replies[case].pop(0) for case in replies if f"order {case}" in text))

    run = make_judged_run(tmp_path, [talk(case, answer=f"Done: order {case}.") for case in replies])
    bar = bar_of(never={"goal": 1})
    judge_run(run, rubric(dimension()), ScriptedModel(answer), never=bar.never)

    decision = decide(run, bar)

    row = row_of(decision, "never")
    assert row.status == "cannot tell"  # nobody calibrated the judge
    assert row.reason.startswith(
        "SCRIPTED judge never calibrated; it would fail: "
        "1 of 3 verdicts say 1, each by the majority of its askings; 1 more without one"
    )
    assert row.ids == ("c0", "c1")


# max_unscored for verdicts


@pytest.mark.parametrize(("unscored", "status"), [(0, "pass"), (1, "pass"), (2, "cannot tell")])
def test_unscored_verdicts_just_at_and_over_the_limit(
    tmp_path: Path, unscored: int, status: str
) -> None:
    run = scored_run(tmp_path, spread({4: 50 - unscored, None: unscored}))
    bar = bar_of(mean={"tone": 3.3}, never={"tone": 1}, max_unscored=0.02)

    decision = decide(run, bar, trust=trusted("tone"))

    for clause in ("mean", "never", "max_unscored"):
        assert row_of(decision, clause, "tone").status == status
    assert decision.verdict == ("SHIP" if status == "pass" else "REVIEW")


def test_the_mean_with_every_unscored_at_the_bottom_is_printed_beside(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 8, None: 2}))

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone"))

    # (8 * 4 + 2 * 1) / 10 = 3.4
    assert row_of(decision, "mean").reason.endswith(
        "2 of 10 unscored (mean 3.40 if each were a 1); more than 2 % without score"
    )
    assert row_of(decision, "max_unscored").reason == (
        "2 of 10 verdicts unscored (evidence not found 2); mean 4.00, or 3.40 if each unscored one "
        "were a 1"
    )


def test_too_much_unscored_never_excuses_a_mean_under_its_bar(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({2: 5, None: 5}))

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone"))

    assert row_of(decision, "mean").status == "fail"
    assert decision.verdict == "HOLD"


def test_a_judging_that_was_broken_off_cannot_pass(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}), wanted=50)

    decision = decide(run, bar_of(mean={"tone": 3.3}, max_unscored=0.5), trust=trusted("tone"))

    assert row_of(decision, "mean").status == "cannot tell"
    assert "10 not judged yet" in row_of(decision, "mean").reason
    assert decision.verdict == "REVIEW"


def test_transcripts_that_came_after_the_judging_cannot_pass_unseen(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}), transcripts=38)

    decision = decide(run, bar_of(mean={"tone": 3.3}, max_unscored=0.5), trust=trusted("tone"))

    assert "2 not judged yet" in row_of(decision, "mean").reason
    assert decision.verdict == "REVIEW"


# open flags


@pytest.mark.parametrize(
    ("seats", "flagged"),
    [
        ([4, 4, 4], ""),
        ([1, 3, 4], "1 without a majority (tone), 1 with seats on both sides of 2.5 (tone), "
                    "1 with seats on both sides of the level 1 (tone)"),
        ([3, 4, 4], ""),
        ([3, 3, 2], "1 with seats on both sides of 2.5 (tone)"),
        ([4, 4, 1], "1 with seats on both sides of 2.5 (tone), "
                    "1 with seats on both sides of the level 1 (tone)"),
        ([4, None, None], "1 without a majority (tone)"),
        ([None, None, None], ""),
    ],
)  # fmt: skip
def test_flags_are_no_majority_and_seats_on_both_sides(
    tmp_path: Path, seats: list[int | None], flagged: str
) -> None:
    cases: dict[str, Said] = {f"case-{index}": [4, 4, 4] for index in range(80)}
    run = scored_run(tmp_path, {**cases, "odd": seats})
    bar = bar_of(mean={"tone": 2.5}, never={"tone": 1})

    row = row_of(decide(run, bar, trust=trusted("tone")), "open_flags")

    if flagged:
        assert (row.status, row.ids) == ("cannot tell", ("odd",))
        assert row.reason == f"{flagged}: a person has to read these"
    else:
        assert (row.status, row.reason) == ("pass", "none in 81 verdicts of panels")


@pytest.mark.parametrize(("flags", "verdict"), [("review", "REVIEW"), ("report", "SHIP")])
def test_open_flags_are_waited_for_or_reported(tmp_path: Path, flags: str, verdict: str) -> None:
    run = scored_run(tmp_path, {**{f"c{i}": [4, 4, 4] for i in range(80)}, "odd": [4, 4, 1]})
    bar = bar_of(mean={"tone": 2.5}, open_flags=flags)

    assert decide(run, bar, trust=trusted("tone")).verdict == verdict


# trust


@pytest.mark.parametrize("state", ["not trusted", "provisional", "stale", "never calibrated"])
@pytest.mark.parametrize("level", [4, 2])
@pytest.mark.parametrize(
    ("untrusted", "effect"), [("review", "REVIEW"), ("report", "none"), ("hold", "HOLD")]
)
def test_an_untrusted_judge_neither_passes_nor_fails_a_clause(
    tmp_path: Path, state: str, level: int, untrusted: str, effect: str
) -> None:
    run = scored_run(tmp_path, spread({level: 40}))
    bar = bar_of(mean={"tone": 3.3}, never={"tone": 1}, untrusted=untrusted)
    trust = [DimensionTrust(dimension="tone", judge_digest="judge-1", state=state)]

    decision = decide(run, bar, trust=trust)

    for clause in ("mean", "never"):
        row = row_of(decision, clause)
        assert (row.status, row.effect, row.trust) == ("cannot tell", effect, state)
        assert row.reason.startswith(f"judge {state}; it would ")
        assert row.reason.endswith("; reported, not counted") == (untrusted == "report")
    would = "pass" if level == 4 else "fail"
    assert f"it would {would}: " in row_of(decision, "mean").reason
    assert decision.verdict == {"hold": "HOLD"}.get(untrusted, "REVIEW")


def test_a_calibration_of_another_judge_is_stale(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone", digest="judge-0"))

    row = row_of(decision, "mean")
    assert (row.status, row.trust) == ("cannot tell", "stale")
    assert "calibrated as judge judge-0; this one is judge-1" in row.reason


def test_a_reported_dimension_leaves_a_release_that_checks_speak_for(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(40, 40))
    judge(run, spread({2: 40}), layer="outcome")
    bar = bar_of(pass_rate={"outcome": 0.9}, mean={"tone": 3.3}, untrusted="report")

    decision = decide(run, bar)

    assert decision.verdict == "SHIP"
    assert decision.layers == {"outcome": "pass"}


def test_the_agents_own_model_as_judge_is_said_in_its_rows(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}), same_model=True)
    bar = bar_of(mean={"tone": 3.3}, never={"tone": 1})

    decision = decide(run, bar, trust=trusted("tone"))

    assert len(decision.rows) == 4
    for row in decision.rows:
        assert "judge = agent model" in row.reason


@pytest.mark.parametrize("trust", [[], trusted("tone")])
def test_a_scripted_judge_is_called_so_in_its_rows(
    tmp_path: Path, trust: list[DimensionTrust]
) -> None:
    run = scored_run(tmp_path, spread({4: 40}), model="scripted-judge-a")

    row = row_of(decide(run, bar_of(mean={"tone": 3.3}), trust=trust), "mean")

    assert "SCRIPTED judge" in row.reason


# several judges


def test_two_judges_are_not_mixed_and_the_latest_complete_one_speaks(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}), digest="old", model="judge-a")
    judge(run, spread({2: 40}), digest="new", model="judge-b")
    judge(run, spread({1: 3}), digest="newest", model="judge-c", wanted=40)

    row = row_of(decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone", digest="new")),
                 "mean")  # fmt: skip

    assert row.status == "fail"
    assert row.estimate is not None
    assert (row.estimate.value, row.estimate.n) == (2.0, 40)
    assert row.reason.endswith(
        "judged by 3 judges, never mixed: judge-b (new) is the latest that judged all; judge-c "
        "(newest) was asked later and has 3 of 40"
    )


def test_a_judge_that_never_answered_is_not_counted_and_does_not_speak(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 39}), digest="old", model="judge-a")
    judge(run, {}, digest="in-vain", model="judge-b", wanted=39)

    (found,) = judged_scores(run)
    (tmp_path / "more").mkdir()
    partly = scored_run(tmp_path / "more", spread({4: 39}), digest="old", wanted=40)
    judge(partly, {}, digest="in-vain", model="judge-b", wanted=40)
    (most,) = judged_scores(partly)

    assert (found.stamp.judge_digest, found.note) == ("old", "")
    assert (most.stamp.judge_digest, most.judged.missing, most.note) == ("old", 1, "")


# no_worse in scores


def lower(n: int, *, by: int = 1, of: int = 60) -> dict[str, Said]:
    return {f"case-{i:03d}": 4 - by if i < n else 4 for i in range(of)}


@pytest.mark.parametrize(
    ("fell", "status"),
    [
        (0, "pass"),
        # -3 * (1 - 0.05 ** (1 / 60)) = -0.146 where nothing moved; each case that falls adds 1/60
        (1, "pass"),
        (12, "cannot tell"),
        (30, "fail"),
    ],
)
def test_no_worse_in_scores_has_three_answers(tmp_path: Path, fell: int, status: str) -> None:
    old = scored_run(tmp_path, lower(0), name="old")
    new = scored_run(tmp_path, lower(fell), name="new")
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}})

    row = row_of(decide(new, bar, baseline=old, trust=trusted("tone")), "no_worse")

    assert row.status == status
    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(-fell / 60)
    assert row.bar == "a drop of 0.25 in score ruled out"


def test_no_worse_by_layer_gives_a_row_for_each_of_its_dimensions(tmp_path: Path) -> None:
    runs = [scored_run(tmp_path, lower(0), name=name) for name in ("old", "new")]
    for run in runs:
        judge(run, lower(0), name="care", digest="judge-2")
    bar = bar_of(no_worse={"conversation": {"margin": 0.25, "unit": "score"}})

    decision = decide(runs[1], bar, baseline=runs[0])

    assert [row.target for row in decision.rows if row.clause == "no_worse"] == ["tone", "care"]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (
            {"digest": "judge-0", "model": "judge-a"},
            "judge changed: the judge (judge-x here, judge-a in the baseline) differs "
            "(digest judge-1 here, judge-0 in the baseline); judge the baseline with the same "
            "rubric and judge",
        ),
        (
            {"digest": "judge-0", "dimension_digest": "dimension-0"},
            "judge changed: the rubric's text of tone differs (digest judge-1 here, judge-0 in "
            "the baseline); judge the baseline with the same rubric and judge",
        ),
    ],
)
def test_scores_of_two_judges_are_not_compared(
    tmp_path: Path, how: dict[str, str], why: str
) -> None:
    old = scored_run(tmp_path, lower(0), name="old", **how)
    new = scored_run(tmp_path, lower(0), name="new")
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}})

    row = row_of(decide(new, bar, baseline=old, trust=trusted("tone")), "no_worse")

    assert (row.status, row.reason) == ("cannot tell", why)


def test_a_baseline_judged_by_both_judges_is_compared_under_the_new_ones(tmp_path: Path) -> None:
    old = scored_run(tmp_path, lower(0), name="old")
    judge(old, lower(60), digest="judge-9")
    new = scored_run(tmp_path, lower(0), name="new")
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}})

    row = row_of(decide(new, bar, baseline=old, trust=trusted("tone")), "no_worse")

    assert row.status == "pass"


def test_a_baseline_without_verdicts_cannot_tell(tmp_path: Path) -> None:
    old = make_run(tmp_path, {name: {} for name in lower(0)}, judge_only=lower(0), name="old")
    new = scored_run(tmp_path, lower(0), name="new")
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}})

    row = row_of(decide(new, bar, baseline=old, trust=trusted("tone")), "no_worse")

    assert row.reason == (
        'the baseline old was not judged on "tone"; judge it with the same rubric and judge'
    )


def test_cases_scored_on_one_side_only_keep_the_claim_from_passing(tmp_path: Path) -> None:
    old = scored_run(tmp_path, lower(0), name="old")
    new = scored_run(tmp_path, {**lower(0), "case-000": None, "case-001": None}, name="new")
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}}, max_unscored=0.02)

    row = row_of(decide(new, bar, baseline=old, trust=trusted("tone")), "no_worse")

    assert row.status == "cannot tell"
    assert row.reason.endswith("2 cases not scored in both runs, more than 2 %")


@pytest.mark.parametrize(("side", "where"), [("new", ""), ("old", " in the baseline")])
def test_repeats_without_a_score_keep_the_claim_from_passing_though_every_case_has_one(
    tmp_path: Path, side: str, where: str
) -> None:
    names = [f"case-{index:03d}" for index in range(60)]
    runs = {}
    for name in ("old", "new"):
        runs[name] = make_run(
            tmp_path, {one: [{}, {}] for one in names}, judge_only=names, name=name
        )
        again = None if name == side else 4
        judge(runs[name], {one: [4, again] for one in names}, repeats=True)
    bar = bar_of(no_worse={"tone": {"margin": 0.25, "unit": "score"}}, max_unscored=0.02)

    row = row_of(decide(runs["new"], bar, baseline=runs["old"], trust=trusted("tone")), "no_worse")

    assert row.status == "cannot tell"
    assert row.reason.endswith(f"60 of 120 transcripts unscored{where}, more than 2 %")


# the shipped bars


def support_run(tmp_path: Path, means: dict[str, Said], worst: Said = 4) -> Decision:
    """Twenty conversations that pass every check, judged on two of the five dimensions."""
    rows = dict.fromkeys(("outcome", "trajectory", "grounding", "policy"), True)
    run = make_run(tmp_path, dict.fromkeys(means, rows), critical=means)
    judge(run, means, name="goal_completion", layer="outcome", digest="j1")
    grounded = {name: worst if i == 0 else 4 for i, name in enumerate(means)}
    judge(run, grounded, name="groundedness", layer="grounding", digest="j2")
    trust = [*trusted("goal_completion", digest="j1"), *trusted("groundedness", digest="j2")]
    root = Path(__file__).parent.parent
    return decide(run, load_bar(root / "data" / "bars" / "support.yaml"), trust=trust)


@pytest.mark.parametrize(
    ("worst", "verdict"),
    [([2, 2, 2], "SHIP"), ([1, 1, 4], "HOLD"), ([4, 4, 1], "REVIEW"), ([1, 2, 4], "REVIEW")],
)
def test_support_bar_on_the_lowest_level(tmp_path: Path, worst: Said, verdict: str) -> None:
    decision = support_run(tmp_path, spread({4: 20}), worst)

    assert decision.verdict == verdict


# nothing buys a hard fail back


@settings(max_examples=25, deadline=None)
@given(
    scores=st.lists(st.sampled_from([1, 2, 3, 4, None]), min_size=2, max_size=12),
    untrusted=st.sampled_from(["review", "report"]),
    is_trusted=st.booleans(),
)
def test_no_score_buys_a_hard_fail_back(
    scores: list[int | None], untrusted: str, is_trusted: bool
) -> None:
    cases = {f"c{i}": {"policy": i > 0} for i in range(len(scores))}
    bar = bar_of(hard_layers=["policy"], mean={"tone": 1.5}, never={"tone": 1},
                 untrusted=untrusted)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder), cases)
        judge(run, {f"c{i}": score for i, score in enumerate(scores)})

        decision = decide(run, bar, trust=trusted("tone") if is_trusted else [])

    assert decision.verdict == "HOLD"
    assert [fail.case_id for fail in decision.hard_fails] == ["c0"]


@settings(max_examples=40, deadline=None)
@given(
    scores=st.lists(st.sampled_from([1, 2, 3, 4, None]), min_size=2, max_size=12),
    where=st.integers(0, 11),
    least=st.sampled_from([1.5, 2.5, 3.3]),
    applies_to=st.sampled_from(["estimate", "bound"]),
)
def test_a_better_score_never_makes_a_release_worse(
    scores: list[int | None], where: int, least: float, applies_to: str
) -> None:
    order = ["HOLD", "REVIEW", "SHIP"]
    bar = bar_of(mean={"tone": least}, never={"tone": 1}, bar_applies_to=applies_to)
    at = where % len(scores)
    better = [*scores]
    better[at] = min(4, (scores[at] or 0) + 1) if scores[at] is not None else None
    with tempfile.TemporaryDirectory() as folder:
        verdicts = []
        for name, each in (("a", scores), ("b", better)):
            said_by = {f"c{i}": [score] * 3 for i, score in enumerate(each)}
            run = scored_run(Path(folder), said_by, name=name)
            verdicts.append(decide(run, bar, trust=trusted("tone")).verdict)

    assert order.index(verdicts[1]) >= order.index(verdicts[0])


@settings(max_examples=40, deadline=None)
@given(scores=st.lists(st.sampled_from([1, 2, 3, 4, None]), min_size=1, max_size=12))
def test_nothing_ships_on_a_judge_that_nobody_calibrated(scores: list[int | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = scored_run(Path(folder), {f"c{i}": score for i, score in enumerate(scores)})

        decision = decide(run, bar_of(mean={"tone": 1}, never={"tone": 1}))

    assert decision.verdict == "REVIEW"
