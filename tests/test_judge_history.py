"""A history is read lightly, and says what a careful reading says."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_run, passes
from verdicts import judge, spread

from agenteval_kit.errors import ConfigError
from agenteval_kit.judge.history import judged_means
from agenteval_kit.judge.scores import judged_scores


def test_the_light_reading_gives_the_means_of_the_careful_one(tmp_path: Path) -> None:
    run = make_run(tmp_path, {name: [{}] * 2 for name in ("a", "b", "c")}, judge_only="abc")
    judge(run, {"a": [4, 3], "b": [2, None], "c": [1, 1]}, repeats=True)
    judge(run, {"a": [4, 4, 1], "b": [1, 2, 3], "c": None}, name="care", digest="judge-2")

    light = judged_means(run)

    careful = {one.name: one for one in judged_scores(run)}
    assert list(light) == list(careful) == ["tone", "care"]
    for name, one in light.items():
        wanted = careful[name].judged.estimate
        assert (one.estimate.value, one.estimate.low, one.estimate.high, one.estimate.n) == (
            wanted.value, wanted.low, wanted.high, wanted.n,
        )  # fmt: skip


def test_both_readings_choose_the_same_judge(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(10, 10))
    judge(run, spread({4: 10}), digest="complete")
    judge(run, spread({1: 3}), digest="broken-off", wanted=10)

    assert judged_means(run)["tone"].stamp.judge_digest == "complete"
    assert judged_scores(run)[0].judged.judge_digest == "complete"


def test_a_run_that_nobody_judged_has_no_means(tmp_path: Path) -> None:
    assert judged_means(make_run(tmp_path, passes(2, 2))) == {}


def test_a_judge_that_never_judged_the_run_is_refused_with_the_near_one(tmp_path: Path) -> None:
    run = judge(make_run(tmp_path, passes(2, 2)), spread({4: 2}))

    with pytest.raises(ConfigError) as caught:
        judged_scores(run, judges={"tone": "judge-11"})

    assert str(caught.value) == (
        'run run was not judged on "tone" by judge judge-11. Did you mean "judge-1"?'
    )
