"""How often a judge of known quality is trusted: the whole chain against the planned chance."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from labelled import SCALE, people_and_judge

from agenteval_kit.calibrate.beside import judge_beside_people
from agenteval_kit.calibrate.ceiling import human_ceiling
from agenteval_kit.calibrate.trust import chance_as_good, decide_trust, stats_rule
from agenteval_kit.errors import ConfigError
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import LabelPair
from agenteval_kit.stats.trust import chance_trusted

BALANCED = (0.15, 0.25, 0.35, 0.25)


def state_of(seed: int, *, labels: int, judge_accuracy: float) -> str:
    said, people = people_and_judge(
        labels, shares=BALANCED, accuracy=0.8, judge_accuracy=judge_accuracy, seed=seed
    )
    pairs = [
        LabelPair(case_id=case, rater=rater, human=score, judge=said[case], inclusion=1.0)
        for rater, own in people.items()
        for case, score in own.items()
    ]
    pairs = [one.model_copy(update={"design": "uniform"}) for one in pairs]
    return decide_trust(judge_beside_people(pairs, SCALE, seed=seed), TrustRule(), looks=1).state


# docs/coverage.md holds the chances; what is simulated here is the whole chain from pairs of labels
# and verdicts, and it has to come out at the same rate to within 3 Monte Carlo errors of both.
@pytest.mark.parametrize(("judge_accuracy", "replicates"), [(0.8, 48), (0.6, 16)])
def test_a_judge_is_trusted_as_often_as_was_planned(judge_accuracy: float, replicates: int) -> None:
    planned = chance_trusted(
        BALANCED, 0.8, 100, judge_accuracy=judge_accuracy, rule=stats_rule(TrustRule()), seed=7
    )["trusted"]

    states = [
        state_of(1000 + seed, labels=100, judge_accuracy=judge_accuracy)
        for seed in range(replicates)
    ]

    rate = states.count("trusted") / replicates
    spread = sqrt(max(planned * (1 - planned), 0.01) * (1 / replicates + 1 / 400))
    assert abs(rate - planned) <= 3 * spread
    assert (planned > 0.6) == (judge_accuracy == 0.8)


def drawn_by_verdict(seed: int, labels: int) -> tuple[list[LabelPair], Counter[int]]:
    """Half of the labels from scores of 1 and 2 of a run of 1,000, which few transcripts have."""
    said, people = people_and_judge(
        1_000, shares=(0.01, 0.02, 0.07, 0.90), accuracy=0.85, judge_accuracy=0.85, seed=seed
    )
    rng = np.random.default_rng(seed)
    low = [case for case, score in said.items() if score <= 2]
    high = [case for case, score in said.items() if score > 2]
    many = min(labels // 2, len(low))
    chance = dict.fromkeys(rng.permutation(low)[:many].tolist(), many / len(low))
    rest = labels - many
    chance |= dict.fromkeys(rng.permutation(high)[:rest].tolist(), rest / len(high))
    pairs = [
        LabelPair(case_id=case, rater=rater, human=own[case], judge=said[case],
                  inclusion=drawn, design="by_judge")
        for rater, own in people.items()
        for case, drawn in chance.items()
    ]  # fmt: skip
    return pairs, Counter(said.values())


def test_the_chance_of_trust_is_that_of_labels_drawn_as_these_were() -> None:
    made = [drawn_by_verdict(seed, 200) for seed in range(30)]
    beside = [judge_beside_people(pairs, SCALE, suite=suite) for pairs, suite in made]
    states = [decide_trust(one, TrustRule(), looks=1).state for one in beside]

    planned, even = (
        chance_trusted(
            (0.01, 0.02, 0.07, 0.90), 0.85, 200, chances=chances, replicates=200, draws=400
        )["trusted"]
        for chances in (beside[0].chances, None)
    )
    told = chance_as_good(beside[0], human_ceiling([], SCALE), TrustRule())

    # 0.77 and 0.42 in 300 replicates; three Monte Carlo errors of both.
    rate = states.count("trusted") / 30
    assert abs(rate - planned) <= 3 * sqrt(0.77 * 0.23 * (1 / 30 + 1 / 200))
    assert even < planned - 0.2
    assert "at 200 doubly labelled transcripts scored and drawn as these are" in told.diag


def test_the_chance_of_trust_is_that_of_labels_of_which_as_many_were_read_twice() -> None:
    rng = np.random.default_rng(4)
    states, told = [], []
    for seed in range(24):
        said, people = people_and_judge(118, shares=BALANCED, accuracy=0.85, judge_accuracy=0.85,
                                        seed=seed)  # fmt: skip
        twice = set(rng.permutation(list(said))[:60].tolist())
        pairs = [
            LabelPair(case_id=case, rater=rater, human=score, judge=said[case], inclusion=1.0,
                      design="uniform")
            for rater, own in people.items()
            for case, score in own.items()
            if rater == "rater-1" or case in twice
        ]  # fmt: skip
        found = judge_beside_people(pairs, SCALE, seed=seed)
        states.append(decide_trust(found, TrustRule(), looks=1).state)
        if not told:
            told.append(chance_as_good(found, human_ceiling([], SCALE), TrustRule()))

    planned, all_twice = (
        chance_trusted(BALANCED, 0.85, 118, doubly=doubly, replicates=200, draws=400)["trusted"]
        for doubly in (60, None)
    )

    rate = states.count("trusted") / 24
    assert abs(rate - planned) <= 3 * sqrt(planned * (1 - planned) * (1 / 24 + 1 / 200))
    assert planned < all_twice - 0.15
    assert "at 118 labelled transcripts, 60 of them doubly, scored and drawn" in told[0].diag
    with pytest.raises(ConfigError, match=r"doubly: from 0 to the 50 labels, got 51\."):
        chance_trusted(BALANCED, 0.8, 50, doubly=51)


def test_the_chance_of_trust_is_for_an_even_draw_where_the_draw_is_not_known() -> None:
    pairs, _ = drawn_by_verdict(1, 60)
    blind = [one.model_copy(update={"inclusion": None}) for one in pairs]
    even = [one.model_copy(update={"inclusion": 0.06, "design": "uniform"}) for one in pairs]

    unknown, known = (judge_beside_people(some, SCALE) for some in (blind, even))
    told = chance_as_good(unknown, human_ceiling([], SCALE), TrustRule())

    assert (unknown.chances, known.chances) == ((), (1.0, 1.0, 1.0, 1.0))
    assert "scored as these are, for an even draw" in told.diag
    with pytest.raises(ConfigError, match=r"chances: 4 numbers above 0, one a level, got"):
        chance_trusted((1, 1, 1, 1), 0.8, 50, chances=(0, 1, 1, 1))


def test_weights_take_the_bias_out_of_a_failure_weighted_sample() -> None:
    # 100 of 600 transcripts, half of them scored 1 or 2; against all 600. The same by hand in 150
    # replicates: off by .003 at most, and unweighted exact agreement 5 points too low.
    weighted: list[float] = []
    plain: list[float] = []
    for seed in range(20):
        said, people = people_and_judge(
            600, shares=(0.03, 0.07, 0.25, 0.65), accuracy=0.9, raters=1, seed=seed
        )
        told = people["rater-1"]
        rng = np.random.default_rng(seed)
        low = [case for case, score in said.items() if score <= 2]
        high = [case for case, score in said.items() if score > 2]
        many = min(50, len(low))
        chance = dict.fromkeys(rng.permutation(low)[:many].tolist(), many / len(low))
        rest = 100 - many
        chance |= dict.fromkeys(rng.permutation(high)[:rest].tolist(), rest / len(high))
        pairs = [
            LabelPair(case_id=case, rater="anna", human=told[case], judge=said[case],
                      inclusion=drawn, design="by_judge")
            for case, drawn in chance.items()
        ]  # fmt: skip
        truth = float(np.mean([said[case] == told[case] for case in said]))
        found = judge_beside_people(pairs, SCALE, suite=Counter(said.values())).agreement
        assert found.exact.value is not None
        weighted.append(found.exact.value - truth)
        plain.append(float(np.mean([said[case] == told[case] for case in chance])) - truth)

    assert abs(np.mean(weighted)) < 0.025
    assert np.mean(plain) < np.mean(weighted) - 0.03


def test_below_the_least_number_of_labels_nothing_is_trusted() -> None:
    states = {state_of(seed, labels=30, judge_accuracy=0.95) for seed in range(5)}

    assert states == {"provisional"}


@pytest.mark.parametrize(
    ("statistic", "shown"),
    [("ac2", "ac2_quadratic"), ("exact", "exact"), ("kappa", "kappa"), ("kappa_linear", "kappa_l")],
)
def test_each_statistic_of_a_bar_can_decide(statistic: str, shown: str) -> None:
    said, people = people_and_judge(150, accuracy=0.95, judge_accuracy=0.95)
    pairs = [
        LabelPair(case_id=case, rater=rater, human=score, judge=said[case], design="uniform")
        for rater, own in people.items()
        for case, score in own.items()
    ]
    beside = judge_beside_people(pairs, SCALE)

    found = decide_trust(beside, TrustRule(statistic=statistic, at_least=0.6), looks=1)

    assert found.state == "trusted"
    assert found.reason.startswith(shown)


def judged(rows: list[tuple[int, int, int]]) -> list[LabelPair]:
    """Two people and the judge on each transcript."""
    return [
        LabelPair(case_id=f"c{i}", rater=rater, human=human, judge=said, design="uniform")
        for i, (one, two, said) in enumerate(rows)
        for rater, human in (("anna", one), ("ben", two))
    ]


@pytest.mark.parametrize(
    ("statistic", "at_least"), [("ac2", 0.4), ("ac2", 0.7), ("exact", 0.7), ("exact", 0.5)]
)
@pytest.mark.parametrize("always", [True, False])
def test_a_judge_that_says_one_level_is_not_trusted_for_agreeing(
    statistic: str, at_least: float, always: bool
) -> None:
    # 180 of 200 are a 4 to the first reader, the second gives a 3 to one in eight of them.
    rows = [
        (first, second, 4)
        for i in range(200)
        for first in [4 if i >= 20 else 3 if i >= 8 else 2]
        for second in [first if i % 8 else 3 if first == 4 else 4]
    ]
    if not always:
        rows[-1] = (*rows[-1][:2], 3)
    beside = judge_beside_people(judged(rows), SCALE)

    found = decide_trust(beside, TrustRule(statistic=statistic, at_least=at_least), looks=1)

    assert found.state == "provisional"
    assert "what always saying 4 would reach" in found.reason
    assert found.reason.startswith(
        "a constant judge: it gave 4 to all 200 held-out transcripts"
        if always
        else "exact agreement 0.8"
    )


def test_agreement_that_one_level_makes_is_said_beside_trust_too() -> None:
    rows = [(4, 4, 4)] * 182 + [(2, 2, 2)] * 8 + [(2, 2, 4)] * 5 + [(4, 4, 2)] * 5
    beside = judge_beside_people(judged(rows), SCALE)
    rule = TrustRule(at_least=0.5, on="estimate")

    found = decide_trust(beside, rule, looks=1)

    assert found.state == "trusted"
    assert "what always saying 4 would reach, 0.94" in found.reason


def with_repeats(scenarios: int, repeats: int) -> list[LabelPair]:
    """A judge and two people who nearly always say what is right, alike on each repeat."""
    said, people = people_and_judge(
        scenarios, shares=BALANCED, accuracy=0.97, judge_accuracy=0.97, seed=3
    )
    return [
        LabelPair(
            case_id=case, repeat=repeat, rater=rater, human=score, judge=said[case],
            inclusion=1.0, design="uniform",
        )
        for rater, own in people.items()
        for case, score in own.items()
        for repeat in range(repeats)
    ]  # fmt: skip


def test_repeats_of_few_scenarios_are_not_the_labels_that_trust_asks_for() -> None:
    few = judge_beside_people(with_repeats(20, 5), SCALE)
    many = judge_beside_people(with_repeats(110, 2), SCALE)

    open_ = decide_trust(few, TrustRule(), looks=1)
    trusted = decide_trust(many, TrustRule(), looks=1)

    assert (few.transcripts, few.scenarios) == (100, 20)
    assert (open_.state, open_.more_labels) == ("provisional", 80)
    assert open_.reason.startswith(
        "100 labelled transcripts on 20 scenarios; 100 scenarios wanted; kappa"
    )
    assert (many.transcripts, many.scenarios, trusted.state) == (220, 110, "trusted")
    chance = chance_as_good(few, human_ceiling((), SCALE), TrustRule())
    assert "at 100 doubly labelled transcripts" in chance.diag
    assert "at 20 it is 0: the rule asks for 100; one transcript a scenario" in chance.diag
