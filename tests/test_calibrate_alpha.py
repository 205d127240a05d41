"""Alpha with the judge as one more rater keeps repeats together and says what it leaves undone."""

from __future__ import annotations

import numpy as np
import pytest

from agenteval_kit.calibrate.beside import judge_beside_people
from agenteval_kit.records.calibrations import LabelPair

SCALE = (1, 2, 3, 4)


def pairs(repeats: int, *, inclusion: float = 1.0) -> list[LabelPair]:
    rng = np.random.default_rng(3)
    judge, human = rng.integers(1, 5, size=(2, 30))
    human = np.where(rng.random(30) < 0.7, judge, human)
    return [
        LabelPair(
            case_id=f"c{case:02d}", repeat=repeat, rater="anna", human=int(human[case]),
            judge=int(judge[case]), design="by_judge",
            inclusion=inclusion if judge[case] > 2 else 1.0,
        )
        for case in range(30)
        for repeat in range(repeats)
    ]  # fmt: skip


def test_repeats_leave_the_interval_of_alpha_as_wide_as_once() -> None:
    once, often = (judge_beside_people(pairs(n), SCALE).alpha for n in (1, 5))

    assert once.half_width is not None and often.half_width is not None
    assert often.n == once.n == 30
    assert often.value == pytest.approx(once.value, abs=0.01)
    assert often.half_width == pytest.approx(once.half_width, rel=0.1)
    assert once.diag == often.diag == "the judge as one more rater"


def test_alpha_over_labels_of_unlike_chances_is_weighted_by_them() -> None:
    # A transcript drawn with a chance of one half stands for two that were read.
    drawn = pairs(1, inclusion=0.5)
    twice = [
        one.model_copy(update={"inclusion": 1.0, "case_id": one.case_id + tail})
        for one in drawn
        for tail in ("", "-again")
        if one.judge is not None and (one.judge > 2 or not tail)
    ]

    found, plain = (judge_beside_people(some, SCALE).alpha for some in (drawn, twice))

    assert found.value == pytest.approx(plain.value, abs=0.01)
    assert found.n == 30
    assert found.diag == "the judge as one more rater"


def test_a_scenario_with_much_of_the_labels_is_named_in_the_notes() -> None:
    even = pairs(1)
    heavy = even + [even[0].model_copy(update={"repeat": at}) for at in range(1, 12)]

    quiet, told = (judge_beside_people(some, SCALE).notes for some in (even, heavy))

    assert "one scenario holds 29% of what was labelled: intervals lean on it" in told
    assert not any("lean" in note for note in quiet)
