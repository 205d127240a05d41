"""People who are made up agree as those did whose labels they are made from."""

from __future__ import annotations

import numpy as np
import pytest

from agenteval_kit.calibrate.beside import judge_beside_people
from agenteval_kit.calibrate.ceiling import human_ceiling
from agenteval_kit.calibrate.trust import chance_as_good
from agenteval_kit.errors import ConfigError
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import LabelPair
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.stats.raters import person_accuracy, said_of, true_shares
from agenteval_kit.stats.trust import chance_trusted

SKEWED = (0.01, 0.02, 0.07, 0.90)


def agreed(shares: tuple[float, ...], accuracy: float) -> float:
    """How often two people say the same, by adding up what each of them may say."""
    alike = (said_of(accuracy, len(shares)) ** 2).sum(axis=0)
    return float(alike @ np.asarray(shares))


def test_the_ends_of_a_scale_have_one_neighbour() -> None:
    assert said_of(0.8, 4).tolist() == [
        pytest.approx([0.8, 0.1, 0.0, 0.0]),
        pytest.approx([0.2, 0.8, 0.1, 0.0]),
        pytest.approx([0.0, 0.1, 0.8, 0.2]),
        pytest.approx([0.0, 0.0, 0.1, 0.8]),
    ]
    assert said_of(0.9, 2).tolist() == [pytest.approx([0.9, 0.1]), pytest.approx([0.1, 0.9])]


@pytest.mark.parametrize("shares", [SKEWED, (0.03, 0.07, 0.2, 0.7), (0.25,) * 4, (0.3, 0.7)])
@pytest.mark.parametrize("accuracy", [0.65, 0.8, 0.95])
def test_what_lies_under_labels_and_how_often_people_are_right_are_found_again(
    shares: tuple[float, ...], accuracy: float
) -> None:
    said = said_of(accuracy, len(shares)) @ np.asarray(shares)

    assert true_shares(said, accuracy) == pytest.approx(shares, abs=1e-9)
    assert person_accuracy(said, agreed(shares, accuracy)) == pytest.approx(accuracy, abs=1e-3)


def test_an_accuracy_is_solved_by_hand_on_pass_and_fail() -> None:
    # a^2 + (1 - a)^2 = 0.82: a = 0.9. People who toss a coin agree on one half, and less is nobody.
    assert person_accuracy([0.3, 0.7], 0.82) == pytest.approx(0.9, abs=1e-4)
    assert person_accuracy([0.5, 0.5], 0.505) == pytest.approx(0.55, abs=1e-3)
    assert person_accuracy([0.5, 0.5], 0.4) is None
    # Four levels, all in the middle: a^2 + (1 - a)^2 / 2 = 0.66, a = 0.8.
    assert person_accuracy([0.05, 0.45, 0.45, 0.05], 0.66) == pytest.approx(0.8, abs=1e-3)
    assert person_accuracy([1, 2, 3, 4], 1.0) == 1.0


def test_labels_that_no_such_people_give_have_the_nearest_shares() -> None:
    found = true_shares([0, 0, 0, 50], 0.8)

    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    assert found.argmax() == 3
    with pytest.raises(ConfigError, match="no shares of two levels or more"):
        true_shares([0, 0], 0.8)
    with pytest.raises(ConfigError, match="no shares of two levels or more"):
        true_shares([3], 0.8)


def test_the_chance_of_a_judge_as_good_as_a_person_is_how_often_it_is_trusted() -> None:
    # On a very skewed scale, people right 80 % of the time: known from the truth, and from labels.
    known = chance_trusted(SKEWED, 0.8, 100, replicates=200, draws=300)["trusted"]
    rng = np.random.default_rng(5)
    matrix = said_of(0.8, 4)
    told = []
    for seed in range(6):
        truth = rng.choice(4, size=100, p=SKEWED)
        judge, anna, ben = (
            [int(rng.choice(4, p=matrix[:, true])) + 1 for true in truth] for _ in range(3)
        )
        people = {"anna": anna, "ben": ben}
        pairs = [
            LabelPair(case_id=f"c{at}", rater=rater, human=own[at], judge=judge[at],
                      inclusion=1.0, design="uniform")
            for rater, own in people.items()
            for at in range(100)
        ]  # fmt: skip
        rows = [
            LabelRow(run="r", case_id=f"c{at}", dimension="tone", score=own[at], rater=rater,
                     at="2026-03-03T09:00:00Z", design="uniform", inclusion=1.0)
            for rater, own in people.items()
            for at in range(100)
        ]  # fmt: skip
        beside = judge_beside_people(pairs, (1, 2, 3, 4))
        ceiling = human_ceiling(rows, (1, 2, 3, 4))
        chance = chance_as_good(beside, ceiling, TrustRule(), seed=seed)
        told.append(chance.value or 0.0)

    # From labels taken for the truth it came out at 0.41.
    assert known < 0.15
    assert np.mean(told) < 0.2


def test_a_later_look_lowers_the_chance() -> None:
    shares = (0.15, 0.25, 0.35, 0.25)

    first, third = (
        chance_trusted(shares, 0.8, 100, level=level, replicates=150, draws=300)["trusted"]
        for level in (0.95, 1 - 0.05 / 12)
    )

    assert third < first - 0.05
