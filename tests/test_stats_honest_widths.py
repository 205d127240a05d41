"""Intervals too short for what they rest on: they get a width, a doubt or a reason."""

from __future__ import annotations

import numpy as np
import pytest

from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.corrected import Labels, corrected
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.length import length_bias, length_correlation
from agenteval_kit.stats.mean import anchored_mean, share_by_case, t_mean
from agenteval_kit.stats.rogan_gladen import lee_interval, rogan_gladen
from agenteval_kit.stats.trust import ceiling_gap

LEVELS = (1, 2, 3, 4)


def from_elsewhere(passed: int, of: int) -> Estimate:
    """The corrected pass rate of a suite by 30 labels a class, 28 of each judged right."""
    judge, human = [4] * 28 + [1] * 2 + [1] * 28 + [4] * 2, [4] * 30 + [1] * 30
    suite = [4] * passed + [1] * (of - passed)
    labels = Labels(judge, human, "external")
    return corrected(labels, suite, levels=LEVELS, pass_at=3, draws=4_000).pass_rate


@pytest.mark.parametrize("passed", [0, 300])
def test_a_suite_that_no_true_rate_explains_has_no_corrected_rate(passed: int) -> None:
    found = from_elsewhere(passed, 300)

    assert found.value is None
    assert "labels and suite contradict each other" in found.reason
    assert ("more" if passed else "less") in found.reason


def test_a_corrected_rate_past_the_end_takes_its_interval_along() -> None:
    # 285 of 300 pass: plainly corrected that is 102 %.
    found = from_elsewhere(285, 300)

    assert found.value == 1
    assert found.low is not None
    assert found.high == 1
    assert found.low < 0.95
    assert "corrected to 101.9%: set to 100%, and the interval with it" in found.diag


def test_a_judge_without_an_error_keeps_the_noise_of_the_suite() -> None:
    cells = {"true_passes": 5, "false_fails": 0, "true_fails": 5, "false_passes": 0}

    for passed in (0, 1_000_000):
        found = rogan_gladen(passed, 1_000_000, **cells, draws=2_000)
        assert found.low is not None
        assert found.high is not None
        assert 0 < found.high - found.low < 1e-4


@pytest.mark.parametrize("true_rate", [0.0, 0.03, 0.97, 1.0])
def test_corrected_rates_near_the_ends_hold_the_truth_with_width(true_rate: float) -> None:
    rng = np.random.default_rng(5)
    held, lee = [], []
    for replicate in range(400):
        passed = rng.binomial(300, true_rate * 0.95 + (1 - true_rate) * 0.1)
        right, caught = rng.binomial(30, 0.95), rng.binomial(30, 0.9)
        found = rogan_gladen(
            passed, 300, true_passes=right, false_fails=30 - right, true_fails=caught,
            false_passes=30 - caught, draws=500, seed=replicate,
        )  # fmt: skip
        other = lee_interval(
            passed / 300, 300, sensitivity=right / 30, specificity=caught / 30, passes=30, fails=30
        )
        for one, into in ((found, held), (other, lee)):
            if one.low is None or one.high is None:
                assert one.reason.startswith("labels and suite contradict")
                continue
            assert one.high - one.low > 0.005
            into.append(one.low <= true_rate <= one.high)

    for into in (held, lee):
        assert len(into) > 370
        assert np.mean(into) > 0.93


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("slope", [15, 30, 60])
def test_length_that_all_but_decides_leaves_a_value_with_a_reason(slope: int) -> None:
    rng = np.random.default_rng(1)
    without = 0
    for _ in range(20):
        gap = rng.normal(size=100)
        won = (rng.random(100) < 1 / (1 + np.exp(-slope * gap))).astype(float)
        found = length_bias(won, gap * 50).at_equal_length
        if found.low is None or found.high is None:
            without += 1
            assert "separates wins from losses" in found.reason
        else:
            assert found.low < found.high
    assert without or slope == 15


def test_one_order_throughout_is_no_certainty() -> None:
    for scores in ([1, 2, 3, 4], list(range(12)), [1] * 10 + [4] * 10):
        lengths = [10 * one for one in scores]
        up = length_correlation(scores, lengths)
        down = length_correlation(scores, [-one for one in lengths])

        assert (up.value, down.value) == pytest.approx((1, -1))
        for one in (up, down):
            assert one.low is None
            assert "do not show how much it may vary" in one.reason


def test_no_end_of_alpha_lies_above_one() -> None:
    for ratings in ([[1, 2]], [[1, 2], [2, 1]], [[1, 1], [2, 2]], [[1, 2], [3, 3]]):
        found = alpha(ratings)
        assert found.high is not None
        assert found.high <= 1


def sized(*sizes: int) -> tuple[list[float], list[int]]:
    """Passes and fails in scenarios of these sizes."""
    rng = np.random.default_rng(3)
    which = np.repeat(np.arange(len(sizes)), sizes)
    return rng.integers(0, 2, len(which)).astype(float).tolist(), which.tolist()


@pytest.mark.parametrize(
    ("sizes", "worth"),
    [
        ([98, *[2] * 49], 4),  # one scenario holds half
        ([48, *[2] * 49], 9),  # a third
        ([36, 36, *[3] * 18], 6),  # two hold 30 % each
        ([3] * 20, None),
        ([2, 3] * 10, None),
        ([3] * 6, None),  # few, which is said by itself
        ([1, 2, 3, 4, 5, 6] * 5, None),
    ],
)
def test_a_mean_by_case_says_where_few_scenarios_hold_the_cases(
    sizes: list[int], worth: int | None
) -> None:
    scores, which = sized(*sizes)
    hits = [bool(one) for one in scores]
    by_case = [
        anchored_mean(scores, levels=(0, 1), clusters=which, estimand="case", draws=200),
        share_by_case(hits, which, draws=200),
        ceiling_gap(scores, [1] * len(scores), [1] * len(scores), clusters=which, draws=200),
        t_mean(scores, clusters=which, estimand="case"),
    ]

    for found in by_case:
        assert ("interval too short" in found.diag) == (worth is not None)
        if worth:
            assert f"{len(sizes)} scenarios of unlike size tell as much as {worth} alike" in (
                found.diag
            )
    by_scenario = anchored_mean(scores, levels=(0, 1), clusters=which, draws=200)
    assert "interval too short" not in by_scenario.diag


def test_kappa_is_provisional_where_one_rater_hardly_left_the_commonest_score() -> None:
    # 12 of 100 lie outside the commonest score, and only 4 of them by the second rater.
    first = [1] * 2 + [3] * 8 + [4] * 90
    second = [1] * 2 + [4] * 8 + [3] * 2 + [4] * 88

    found = agreement(first, second, levels=LEVELS, draws=200)

    assert found.outside_commonest == 12
    assert found.provisional
    assert "provisional: one rater left the commonest score on 4 items" in found.diag


def test_even_and_skewed_scales_of_a_hundred_are_not_provisional() -> None:
    for shares in ((25, 25, 25, 25), (15, 25, 35, 25), (3, 7, 25, 65), (2, 4, 4, 90)):
        said = np.repeat(LEVELS, shares)
        assert not agreement(said, said, levels=LEVELS, draws=200).provisional
