"""What settles trust: the numbers by hand, and how often looking again goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from agenteval_kit.stats.decision import TrustRule, look_error, trust_decision
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.trust import ceiling_gap

ALONE = TrustRule(raters=1)


def kappa(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 60)


def test_below_the_least_number_the_open_bound_and_the_failures_count_too() -> None:
    # The bound: 60 x ((0.50 - 0.30) / 0.10)^2 = 240 in all, 180 more; 40 would reach 100.
    bound = trust_decision(kappa(0.5, 0.3, 0.7), None, labels=60, outside_commonest=30, rule=ALONE)
    # Failures: 3 of 60, so 10 of 200.
    rare = trust_decision(kappa(0.9, 0.6, 1.0), None, labels=60, outside_commonest=3, rule=ALONE)
    # Neither is short of anything but labels.
    plain = trust_decision(kappa(0.9, 0.6, 1.0), None, labels=60, outside_commonest=30, rule=ALONE)

    assert (bound.more_labels, rare.more_labels, plain.more_labels) == (180, 140, 40)
    assert {one.state for one in (bound, rare, plain)} == {"provisional"}


def test_where_scenarios_have_repeats_scenarios_are_counted_and_not_labels() -> None:
    good = kappa(0.9, 0.6, 1.0)

    few = trust_decision(good, None, labels=100, outside_commonest=18, scenarios=20, rule=ALONE)
    rare = trust_decision(good, None, labels=300, outside_commonest=6, scenarios=120, rule=ALONE)
    # 60 scenarios x ((0.50 - 0.30) / (0.40 - 0.30))^2 = 240 in all.
    low = trust_decision(
        kappa(0.3, 0.1, 0.5), None, labels=300, outside_commonest=30, scenarios=60, rule=ALONE
    )
    one_each = trust_decision(
        good, None, labels=100, outside_commonest=18, scenarios=100, rule=ALONE
    )

    assert (few.state, few.more_labels) == ("provisional", 80)
    assert few.reason.startswith(
        "100 labelled transcripts on 20 scenarios; 100 scenarios wanted; kappa"
    )
    assert (rare.state, rare.more_labels) == ("provisional", 80)
    assert rare.reason.startswith("too few failures: 6 scenarios outside the commonest score")
    assert low.reason.endswith("about 180 more scenarios like these would make it not trusted")
    assert one_each == trust_decision(good, None, labels=100, outside_commonest=18, rule=ALONE)


def test_a_judge_that_is_already_below_is_not_asked_for_more_labels() -> None:
    found = trust_decision(
        kappa(0.0, -0.1, 0.12), None, labels=26, outside_commonest=20, rule=ALONE
    )
    gap = trust_decision(
        kappa(0.6, 0.45, 0.7), Estimate(-0.4, -0.5, -0.3, 60), labels=60, outside_commonest=30
    )

    assert (found.state, found.more_labels) == ("provisional", None)
    assert found.reason == (
        "26 labelled transcripts, below 100; kappa_quadratic 0.00 (-0.10 to 0.12) so far; the "
        "upper bound of kappa_quadratic, 0.12, is already below 0.4: as it stands, no number of "
        "further labels makes this judge trusted; about 74 more labelled transcripts like these "
        "would make it not trusted"
    )
    assert (gap.state, gap.more_labels) == ("provisional", None)
    assert "the upper bound of gap to a second person, -0.30, is already below -0.1" in gap.reason


def test_a_point_below_leads_to_not_trusted_and_says_after_how_many() -> None:
    # 120 x ((0.50 - 0.30) / (0.40 - 0.30))^2 = 480 in all.
    found = trust_decision(kappa(0.3, 0.1, 0.5), None, labels=120, outside_commonest=30, rule=ALONE)

    assert (found.state, found.more_labels) == ("provisional", None)
    assert found.reason.endswith(
        "about 360 more labelled transcripts like these would make it not trusted"
    )


def test_the_gap_asks_for_second_readings_where_one_label_is_there() -> None:
    # 40 read twice: 40 x ((0.00 + 0.12) / 0.10)^2 = 57.6, so 58 in all, 18 more of 160 others.
    open_ = Estimate(0.0, -0.12, 0.12, 40)
    found = trust_decision(kappa(0.7, 0.6, 0.8), open_, labels=200, outside_commonest=80, doubly=40)
    # 40 x (0.30 / 0.10)^2 = 360 in all: all 200, and 160 that nobody has read yet.
    wide = trust_decision(
        kappa(0.7, 0.6, 0.8), Estimate(0.0, -0.3, 0.3, 40), labels=200, outside_commonest=80,
        doubly=40,
    )  # fmt: skip

    assert (found.state, found.more_labels) == ("provisional", None)
    assert found.reason.endswith("about 18 second readings could settle the gap")
    assert wide.more_labels == 160
    assert wide.reason.endswith("about 320 second readings could settle the gap")


def test_where_the_point_decides_a_judge_below_it_is_not_asked_for_more_either() -> None:
    rule = TrustRule(on="estimate", raters=1)

    above = trust_decision(kappa(0.5, 0.3, 0.7), None, labels=60, outside_commonest=30, rule=rule)
    below = trust_decision(kappa(0.3, 0.1, 0.5), None, labels=60, outside_commonest=30, rule=rule)

    assert (above.state, above.more_labels) == ("provisional", 40)
    assert (below.state, below.more_labels) == ("provisional", None)
    assert below.reason.endswith(
        "about 40 more labelled transcripts like these would make it not trusted"
    )


def test_without_a_single_failure_no_number_is_named() -> None:
    found = trust_decision(
        Estimate.undefined("no variation"), None, labels=60, outside_commonest=0, rule=ALONE
    )

    assert (found.state, found.more_labels) == ("provisional", None)


def test_a_gap_gives_each_transcript_one_say_and_not_each_scenario() -> None:
    # A: three repeats, the judge wrong on all. B: one repeat that stands for one. -3 / 4.
    found = ceiling_gap([1, 1, 1, 4], [4] * 4, [4] * 4, clusters=["a", "a", "a", "b"], draws=500)

    assert found.value == pytest.approx(-0.75)


@pytest.mark.parametrize("repeats", [1, 10])
def test_unanimous_second_readings_rule_out_no_more_than_their_number(repeats: int) -> None:
    # Nobody apart on 12: Gaffke's draws are those of -Beta(1, 12), whose 5 % point is this.
    scenarios = None if repeats == 1 else [at // repeats for at in range(12 * repeats)]
    same = [4] * 12 * repeats

    found = ceiling_gap(same, same, same, clusters=scenarios)

    assert found.low == pytest.approx(-(1 - 0.05 ** (1 / 12)), abs=0.005)
    assert found.method.endswith("Gaffke below")


def test_a_gap_on_ten_transcripts_or_more_needs_no_guard() -> None:
    # Each stands for as much as another, or the first two for nearly everything.
    first = [4] * 100
    judge = [3] * 10 + [4] * 90

    even = ceiling_gap(judge, first, first)
    heavy = ceiling_gap(judge, first, first, weights=[50.0] * 2 + [1.0] * 98)

    assert "Gaffke" not in even.method
    assert heavy.method.endswith("Gaffke below")


@pytest.mark.parametrize(("readings", "apart"), [(10, 0.02), (20, 0.10)])
def test_few_second_readings_do_not_hide_a_gap_at_the_margin(readings: int, apart: float) -> None:
    # People differ on a share; the judge is wrong so often that the gap is -0.10.
    rng = np.random.default_rng(4)
    right = (1 - apart - 0.10) / (1 - apart / 2)
    ruled_out = 0
    for seed in range(300):
        second = np.where(rng.random(readings) < apart, 3, 4)
        judge = np.where(rng.random(readings) < right, 4, 2)
        found = ceiling_gap(judge, [4] * readings, second, draws=800, seed=seed)
        ruled_out += found.low is not None and found.low > -0.10

    # 0.05 and two Monte Carlo errors; by the anchored bound alone 0.24 and 0.10.
    assert ruled_out / 300 <= 0.075


@pytest.mark.parametrize("looks", [1, 2, 8])
def test_the_errors_of_all_looks_stay_within_what_is_said(looks: int) -> None:
    # Judges whose exact agreement is .70 and no better, one after the other on 400 labels each.
    rng = np.random.default_rng(20)
    rounds = 4000
    wrong = np.zeros(rounds, dtype=bool)
    for look in range(1, looks + 1):
        counts = rng.binomial(400, 0.70, size=rounds)
        level = 1 - look_error(look)
        bounds = {int(k): wilson(int(k), 400, level=level) for k in np.unique(counts)}
        for at, k in enumerate(counts):
            found = bounds[int(k)]
            assert found.low is not None and found.high is not None
            wrong[at] |= not found.low <= 0.70 <= found.high

    # 0.05 at one look, 0.075 over any number; 3 Monte Carlo errors, and Wilson's own of half a
    # point. Bonferroni at each look alone would give .05 (1 + 1/2 + ... + 1/8) = .129 over eight.
    allowed = 0.05 if looks == 1 else 0.075
    assert wrong.mean() <= allowed + 3 * (allowed * (1 - allowed) / rounds) ** 0.5 + 0.005
    assert sum(look_error(look) for look in range(1, 10_000)) <= 0.075
