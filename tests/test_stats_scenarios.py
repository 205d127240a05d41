"""Repeats of one scenario are one observation, in alpha and in drift as elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.corrected import Labels, corrected
from agenteval_kit.stats.drift import judge_drift
from agenteval_kit.stats.estimate import Estimate

LEVELS = (1, 2, 3, 4)


def rated(rng: np.random.Generator, truth: np.ndarray, hit: float) -> np.ndarray:
    step = rng.choice((-1, 1), size=len(truth))
    step = np.where((truth + step < 1) | (truth + step > 4), -step, step)
    return truth + step * (rng.random(len(truth)) >= hit)


def test_five_identical_repeats_leave_the_interval_of_alpha_as_wide_as_once() -> None:
    rng = np.random.default_rng(2)
    truth = rng.choice(LEVELS, size=30, p=[0.15, 0.25, 0.35, 0.25])
    once = np.column_stack([rated(rng, truth, 0.7), rated(rng, truth, 0.7)])

    alone = alpha(once, levels=LEVELS)
    repeated = alpha(np.tile(once, (5, 1)), levels=LEVELS, clusters=list(range(30)) * 5)
    pooled = alpha(np.tile(once, (5, 1)), levels=LEVELS)

    assert alone.half_width is not None and repeated.half_width is not None
    assert pooled.half_width is not None
    assert repeated.n == alone.n == 30
    assert repeated.half_width == pytest.approx(alone.half_width, rel=0.05)
    assert pooled.half_width < 0.6 * alone.half_width
    assert "over scenarios" in repeated.method


def test_the_interval_of_alpha_holds_the_truth_where_scenarios_repeat() -> None:
    def drawn(rng: np.random.Generator, scenarios: int) -> np.ndarray:
        # Two raters who mostly say of a repeat what they said of the scenario.
        base = rng.choice(LEVELS, size=scenarios, p=[0.05, 0.1, 0.25, 0.6])
        columns = []
        for hit in (0.85, 0.75):
            usual = np.repeat(rated(rng, base, hit), 8)
            fresh = rated(rng, np.repeat(base, 8), hit)
            columns.append(np.where(rng.random(scenarios * 8) < 0.7, usual, fresh))
        return np.column_stack(columns)

    rng = np.random.default_rng(1)
    truth = alpha(drawn(rng, 50_000), levels=LEVELS, draws=10).value
    cases = np.repeat(np.arange(40), 8)
    made = [
        alpha(drawn(rng, 40), levels=LEVELS, clusters=cases, draws=800, seed=seed)
        for seed in range(200)
    ]

    assert truth is not None
    held = sum(one.low <= truth <= one.high for one in made if one.low is not None and one.high)
    # 0.95 less two and a half Monte Carlo errors; over items it is 0.59.
    assert held / 200 >= 0.91


def test_alpha_by_scenarios_of_one_item_is_alpha_by_items() -> None:
    table = [[1, 2, None], [3, 3, 4], [4, 4, 4], [2, 2, 1], [None, 3, None]]

    plain = alpha(table, levels=LEVELS)
    each = alpha(table, levels=LEVELS, clusters=list("abcde"))

    assert (each.value, each.n, each.diag) == (plain.value, plain.n, plain.diag)
    assert each.low == pytest.approx(plain.low, abs=0.03)
    assert each.high == pytest.approx(plain.high, abs=0.03)


def test_alpha_of_weighted_items_is_alpha_of_as_many_items() -> None:
    table = [[1, 2, None], [3, 3, 4], [4, 4, 4], [2, 2, 1], [None, 3, None]]
    times = [2, 1, 3, 2, 5]
    often = [row for row, many in zip(table, times, strict=True) for _ in range(many)]

    weighted, plain = alpha(table, levels=LEVELS, weights=times), alpha(often, levels=LEVELS)
    by_scenario = alpha(table, levels=LEVELS, weights=times, clusters=list("abcde"))
    even = alpha(table, levels=LEVELS, weights=[0.2] * 5)

    # Of 22 labels read, and 11 that weigh twice as much: alpha's (labels - 1) is all that differs.
    assert weighted.value is not None and plain.value is not None
    assert (1 - weighted.value) / (11 - 1) / 2 == pytest.approx((1 - plain.value) / (22 - 1))
    assert by_scenario.value == pytest.approx(weighted.value)
    assert by_scenario.low == pytest.approx(weighted.low, abs=0.03)
    assert even == alpha(table, levels=LEVELS)


def test_alpha_of_labels_drawn_by_a_verdict_holds_that_of_the_run() -> None:
    shares = [0.03, 0.07, 0.25, 0.65]
    rng = np.random.default_rng(6)

    def read(size: int) -> np.ndarray:
        truth = rng.choice(LEVELS, size=size, p=shares)
        return np.column_stack([rated(rng, truth, 0.85) for _ in range(3)])

    truth = alpha(read(100_000)[:, :2], levels=LEVELS, draws=10).value
    held = 0
    for seed in range(100):
        run = read(1000)
        low, high = np.flatnonzero(run[:, 2] <= 2), np.flatnonzero(run[:, 2] > 2)
        picked = np.concatenate([rng.permutation(low)[:50], rng.permutation(high)[:50]])
        weights = np.where(run[picked, 2] <= 2, len(low) / 50, len(high) / 50)
        found = alpha(run[picked, :2], levels=LEVELS, weights=weights, draws=500, seed=seed)
        assert truth is not None and found.low is not None and found.high is not None
        held += found.low <= truth <= found.high

    # 0.95 less two and a half Monte Carlo errors; unweighted it is 0.01.
    assert held / 100 >= 0.9


def test_a_weight_of_nothing_and_too_few_weights_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"weights: needs finite numbers above 0\."):
        alpha([[1, 2], [3, 3]], weights=[1, 0])
    with pytest.raises(ConfigError, match=r"weights: 1 for 2 items\. Give each item one\."):
        alpha([[1, 2], [3, 3]], weights=[1])


def test_alpha_of_one_scenario_has_no_interval_and_scenarios_are_one_an_item() -> None:
    found = alpha([[1, 2], [3, 3], [4, 3]], levels=LEVELS, clusters=["a", "a", "a"])

    assert (found.value, found.n) == (None, 1)
    assert found.reason == "one scenario only: no interval between scenarios"
    with pytest.raises(ConfigError, match=r"clusters: 2 for 3 items\. Give each item one\."):
        alpha([[1, 2], [3, 3], [4, 3]], clusters=["a", "a"])


@pytest.mark.parametrize(("weight", "said"), [(1.0, "61%"), (0.1, "")])
def test_agreement_says_that_one_scenario_holds_much_of_the_labels(
    weight: float, said: str
) -> None:
    # 19 scenarios of two, and one of 60: 60 of 98, or 6 of 44 where it weighs a tenth.
    cases = [at // 2 for at in range(38)] + [19] * 60
    scores = [1 + at % 4 for at in range(98)]
    weights = [1.0] * 38 + [weight] * 60

    found = agreement(scores, scores, levels=LEVELS, clusters=cases, weights=weights, draws=200)

    heavy = f"one scenario holds {said} of what was labelled: intervals lean on it"
    assert (heavy in found.diag) == bool(said)
    assert "intervals lean" not in agreement([1, 2], [1, 2], levels=LEVELS, clusters="ab").diag


def test_agreement_on_one_scenario_keeps_its_point_in_words() -> None:
    # One transcript that two people read: two pairs with the judge, one of which is equal.
    found = agreement([3, 3], [3, 4], levels=LEVELS, clusters=["a", "a"])

    assert (found.exact.value, found.exact.n, found.n) == (None, 1, 2)
    assert found.exact.reason == (
        "one scenario only (0.50 over its 2 pairs); scenarios vary, and one does not show how much"
    )
    assert "(1.00 over" in found.within_one.reason
    assert found.kappa_quadratic.value is None


def test_the_share_of_equal_scores_is_over_scenarios_where_cases_repeat() -> None:
    # Six scenarios of three repeats; the judge moved on the three repeats of one of them.
    old = [3] * 18
    new = [3] * 15 + [2] * 3
    cases = [f"c{at // 3}" for at in range(18)]

    found = judge_drift(old, new, levels=LEVELS, clusters=cases).exact
    apart = judge_drift(old, new, levels=LEVELS).exact

    assert found.value == apart.value == pytest.approx(15 / 18)
    assert (found.n, apart.n) == (6, 18)
    assert found.half_width is not None and apart.half_width is not None
    assert found.half_width > 1.3 * apart.half_width


def test_the_share_of_equal_scores_holds_the_truth_where_cases_repeat() -> None:
    rng = np.random.default_rng(1)
    cases = np.repeat(np.arange(20), 5)
    held = 0
    for seed in range(150):
        same = np.repeat(rng.random(20) < 0.8, 5)
        one = judge_drift(
            np.full(100, 3), np.where(same, 3, 2), levels=LEVELS, clusters=cases, seed=seed
        ).exact
        held += one.low is not None and one.high is not None and one.low <= 0.8 <= one.high

    # Wilson over transcripts holds it 59 % of the time.
    assert held / 150 >= 0.91


def graded(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    # Thirty scenarios of five repeats; how often people pass, and the judge errs, is a scenario's.
    good, seen, caught = (rng.beta(share, 1 - share, size=(30, 1)) for share in (0.75, 0.9, 0.8))
    human = rng.random((30, 5)) < good
    judge = np.where(human, rng.random((30, 5)) < seen, rng.random((30, 5)) >= caught)
    return judge.ravel().astype(int), human.ravel().astype(int)


SCENARIO = np.repeat(np.arange(30), 5)


def from_elsewhere(
    judge: np.ndarray, human: np.ndarray, suite: np.ndarray, cases: np.ndarray | None, seed: int = 0
) -> Estimate:
    labels = Labels(judge, human, "external", clusters=cases)
    return corrected(
        labels, suite, levels=(0, 1), pass_at=1, suite_clusters=cases, draws=800, seed=seed
    ).pass_rate


def test_a_pass_rate_from_other_labels_holds_the_truth_where_scenarios_repeat() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for seed in range(200):
        suite, _ = graded(rng)
        found = from_elsewhere(*graded(rng), suite, SCENARIO, seed)
        held += found.low is not None and found.high is not None and found.low <= 0.75 <= found.high

    # 0.95 less two and a half Monte Carlo errors; over transcripts it is 0.75.
    assert held / 200 >= 0.91


def test_a_pass_rate_from_other_labels_by_scenarios_of_one_is_that_by_transcripts() -> None:
    judge, human = graded(np.random.default_rng(3))
    each = np.arange(150)

    plain = from_elsewhere(judge, human, judge, None)
    by_one = from_elsewhere(judge, human, judge, each)
    repeated = from_elsewhere(np.tile(judge, 5), np.tile(human, 5), judge, None)
    alike = corrected(
        Labels(np.tile(judge, 5), np.tile(human, 5), "external", clusters=np.tile(each, 5)),
        judge, levels=(0, 1), pass_at=1, draws=4000,
    ).pass_rate  # fmt: skip

    assert by_one.value == pytest.approx(plain.value) == pytest.approx(alike.value)
    assert by_one.low == pytest.approx(plain.low, abs=0.02)
    assert by_one.high == pytest.approx(plain.high, abs=0.02)
    assert plain.half_width is not None and alike.half_width is not None
    assert alike.half_width == pytest.approx(plain.half_width, rel=0.08)
    assert repeated.half_width is not None and repeated.half_width < 0.8 * alike.half_width
    assert by_one.method.endswith("by scenario")


def test_one_scenario_of_labels_corrects_no_pass_rate() -> None:
    found = from_elsewhere(
        np.array([1, 0, 1, 0]), np.array([1, 0, 1, 0]), np.array([1, 0, 1, 1]), np.zeros(4)
    )

    assert (found.value, found.reason) == (None, "one scenario only")


def test_a_judge_that_repeats_itself_as_seldom_has_not_drifted() -> None:
    # Alike on 70 % of the items, whoever is asked: old with new as old with old.
    rng = np.random.default_rng(2)
    shown = 0
    for seed in range(200):
        truth = rng.choice(LEVELS, size=60, p=[0.05, 0.1, 0.25, 0.6])
        old, again, new = (rated(rng, truth, 0.83) for _ in range(3))
        shown += judge_drift(old, new, levels=LEVELS, again=again, seed=seed).drifted is True

    # The mean's 0.05 and the agreement's 0.025, and two and a half Monte Carlo errors.
    assert shown / 200 <= 0.12
