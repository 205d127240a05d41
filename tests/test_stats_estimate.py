"""How an estimate reads, and what it refuses to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval_kit import stats
from agenteval_kit.judge.panel import decide
from agenteval_kit.records import SeatRecord
from agenteval_kit.stats.estimate import Estimate, estimates_frame
from agenteval_kit.stats.paired import non_inferiority, paired_scores
from agenteval_kit.stats.pairwise import noise_margin, position_flips, win_rate
from agenteval_kit.stats.panel import majority
from agenteval_kit.stats.sizes import units_to_rule_out
from agenteval_kit.stats.trust import TrustRule, trust_decision


@pytest.mark.parametrize(
    ("ends", "percent", "wanted"),
    [
        ((0.73, 0.61, 0.83), False, "0.73 (0.61 to 0.83)"),
        ((0.73, 0.61, 0.83), True, "73 % (61 to 83 %)"),
        ((0.7312, 0.7287, 0.7341), False, "0.7312 (0.7287 to 0.7341)"),
        ((0.7312, 0.7287, 0.7341), True, "73.12 % (72.87 to 73.41 %)"),
        ((4.0, 3.69, 4.0), False, "4.00 (3.69 to 4.00)"),
        ((1.0, 0.9999, 1.0), True, "100.000 % (99.990 to 100.000 %)"),
        ((-0.001, -0.2, 0.2), False, "0.00 (-0.20 to 0.20)"),
    ],
)
def test_digits_follow_the_interval(
    ends: tuple[float, float, float], percent: bool, wanted: str
) -> None:
    assert Estimate(*ends, n=9).text(percent=percent) == wanted


def test_undefined_reads_as_not_computable_with_the_reason() -> None:
    one = Estimate.undefined("no variation", n=3)

    assert one.text() == "not computable: no variation"
    assert (one.value, one.half_width, one.n) == (None, None, 3)


def test_value_without_interval_says_why() -> None:
    assert Estimate(3.5, None, None, 1, reason="n = 1").text() == "3.50 (no interval: n = 1)"


@pytest.mark.parametrize(
    "parts",
    [
        {"value": None, "low": None, "high": None},
        {"value": None, "low": 0.0, "high": 1.0, "reason": "why"},
        {"value": 2.0, "low": 0.0, "high": 1.0},
        {"value": 0.5, "low": None, "high": 1.0},
        {"value": float("nan"), "low": 0.0, "high": 1.0},
    ],
)
def test_an_estimate_that_contradicts_itself_cannot_be_made(parts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="Estimate|interval"):
        Estimate(n=1, **parts)  # type: ignore[arg-type]


def test_frame_has_one_row_an_estimate_and_misses_what_is_undefined() -> None:
    frame = estimates_frame({"a": win_rate(3, 1, 2), "b": Estimate.undefined("no pairs")})

    assert frame["name"].tolist() == ["a", "b"]
    assert frame["value"].isna().tolist() == [False, True]
    assert frame["diag"].tolist() == ["3 won, 1 tied, 2 lost", ""]
    assert paired_scores([4, 3], [3, 3], levels=(1, 2, 3, 4)).frame()["name"].tolist() == [
        "before", "after", "difference", "t",
    ]  # fmt: skip


def test_html_is_escaped() -> None:
    one = Estimate.undefined("<script>alert(1)</script>")

    assert "<script>" not in one._repr_html_()


def test_lazy_names_are_functions_however_they_are_imported() -> None:
    for name in stats.__all__:
        assert callable(getattr(stats, name)), name
    assert set(stats.__all__) <= set(dir(stats))
    with pytest.raises(AttributeError, match="no attribute 'kappas'"):
        _ = stats.kappas


def test_nine_of_sixty_broken_fails_and_two_is_undecided() -> None:
    nine, two, none = (
        non_inferiority([-1] * broken + [0] * (60 - broken), 0.05, low=-1, high=1)
        for broken in (9, 2, 0)
    )

    assert (nine.answer, two.answer, none.answer) == ("fail", "undecided", "pass")
    assert nine.reason == "the drop is larger than 0.05"
    assert (
        two.reason
        == "a drop of up to 0.101 is not ruled out; it would take about 137 instead of 60"
    )
    assert two.n_needed == 137
    assert two.method == "Gaffke below, anchored Bayesian bootstrap above"


def test_gaffke_gives_way_between_ten_and_fourteen_whole_units_of_change() -> None:
    ten, twelve, fourteen = (
        non_inferiority([-1] * moved + [0] * 90, 0.3, low=-1, high=1).method
        for moved in (10, 12, 14)
    )

    assert ten == "Gaffke below, anchored Bayesian bootstrap above"
    assert twelve == "between Gaffke and the anchored below, anchored Bayesian bootstrap above"
    assert fourteen == "anchored Bayesian bootstrap"


def test_units_that_flicker_are_no_whole_units_of_change() -> None:
    """Thirty of sixty move by a third of a level in three: as much as 3.3 falling to the bottom."""
    flicker = [-1 / 3] * 15 + [1 / 3] * 15 + [0] * 30

    found = non_inferiority(flicker, 0.2, low=-3, high=3)

    assert found.moved == 30
    assert found.method.startswith("Gaffke below")
    # 2 % of 60 that fall by 3 are not seen at all in 30 % of all runs: no claim of 0.06 may pass.
    assert found.lower is not None
    assert found.lower < -0.1


@given(losses=st.integers(0, 30), gains=st.integers(0, 30), repeats=st.sampled_from([1, 2, 3]))
@settings(max_examples=60, deadline=None)
def test_one_more_loss_never_lifts_the_bound(losses: int, gains: int, repeats: int) -> None:
    def bound(down: int) -> float:
        moved = [-1 / repeats] * down + [1 / repeats] * gains
        found = non_inferiority(moved + [0] * (80 - len(moved)), 0.05, low=-1, high=1)
        assert found.lower is not None
        return found.lower

    # Both are made of draws: what is left of their error is the tolerance.
    assert bound(losses + 1) <= bound(losses) + 0.002


@pytest.mark.parametrize(
    ("differ", "margin"), [(0.01, 0.05), (0.033, 0.05), (0.05, 0.1), (0.1, 0.05)]
)
def test_the_number_of_cases_passes_four_times_in_five(differ: float, margin: float) -> None:
    n = units_to_rule_out(differ**0.5, margin, worst=-1)
    rng = np.random.default_rng(20261201)

    assert n is not None
    passed = 0
    for seed in range(300):
        counts = rng.multinomial(n, [differ / 2, 1 - differ, differ / 2])
        differences = np.repeat([-1.0, 0.0, 1.0], counts)
        found = non_inferiority(differences, margin, low=-1, high=1, draws=2000, seed=seed)
        passed += found.answer == "pass"
    assert 0.72 <= passed / 300 <= 0.9


def test_a_judge_that_always_says_the_first_flips_every_pair() -> None:
    found = position_flips([1] * 12, [0] * 12)

    assert (found.flips, found.n) == (12, 12)
    assert found.toward_first.value == 1.0
    assert found.p_first == pytest.approx(2 / 2**12)


def test_no_flip_says_what_is_not_ruled_out() -> None:
    found = position_flips([1, 0.5, 0] * 10, [1, 0.5, 0] * 10)

    assert found.diag == "none of 30; no flips: a rate up to 0.095 is not ruled out"
    assert found.toward_first.reason == "no flips"


def test_all_ties_take_tangos_half_width_as_noise() -> None:
    found = noise_margin([0.5] * 20)

    assert found.margin == pytest.approx(0.0806, abs=1e-4)
    assert found.reason == ""
    assert found.diag == "no variation to resample: Tango's half-width is used"


def test_panel_without_majority_is_split_and_not_averaged() -> None:
    split, tied, settled, alone = (
        majority(v) for v in ([1, 2, 3], [1, 1, 4, 4], [4, 4, 1], [None, 3])
    )

    assert (split.score, split.reason) == (None, "panel split")
    assert (tied.score, tied.reason) == (None, "panel split")
    assert (settled.score, settled.unanimous) == (4.0, False)
    assert (alone.score, alone.votes, alone.missing) == (None, 1, 1)


@pytest.mark.parametrize(
    "votes",
    [[4, None, None], [4, 4, None], [4, 4, None, None, None], [4, None], [4], [None], [1, 2, 4]],
)
def test_a_panel_has_a_score_where_the_judge_of_that_panel_has(votes: list[int | None]) -> None:
    seats = [
        SeatRecord(seat=at, model="m", score=vote, status="unscored" if vote is None else "scored")
        for at, vote in enumerate(votes)
    ]

    assert majority(votes).score == decide(seats).score


KAPPA = Estimate(0.70, 0.55, 0.80, 120)
GAP = Estimate(-0.02, -0.08, 0.04, 60)


@pytest.mark.parametrize(
    ("statistic", "gap", "labels", "outside", "state", "more"),
    [
        (KAPPA, GAP, 120, 30, "trusted", None),
        (KAPPA, GAP, 99, 30, "provisional", 1),
        # 9 of 120 lie outside the commonest score: ten of 134 would.
        (KAPPA, GAP, 120, 9, "provisional", 14),
        (KAPPA, None, 120, 30, "provisional", None),
        (Estimate(0.2, 0.05, 0.39, 120), GAP, 120, 30, "not trusted", None),
        (KAPPA, Estimate(-0.3, -0.4, -0.2, 60), 120, 30, "not trusted", None),
        # Distance to the lower bound 0.15, to the bar 0.10: 120 x 2.25 = 270 labels in all.
        (Estimate(0.50, 0.35, 0.62, 120), GAP, 120, 30, "provisional", 150),
        (Estimate.undefined("no variation"), GAP, 120, 30, "provisional", None),
    ],
)
def test_trust_is_decided_by_bounds(
    statistic: Estimate,
    gap: Estimate | None,
    labels: int,
    outside: int,
    state: str,
    more: int | None,
) -> None:
    found = trust_decision(statistic, gap, labels=labels, outside_commonest=outside)

    assert found.state == state, found.reason
    assert found.more_labels == more


def test_one_rater_can_be_enough_where_the_rule_says_so() -> None:
    rule = TrustRule(raters=1)

    found = trust_decision(KAPPA, None, labels=120, outside_commonest=30, rule=rule)

    assert found.state == "trusted"
    assert found.reason == "kappa_quadratic 0.70 (0.55 to 0.80) against 0.4; ceiling unknown"


def test_a_change_of_few_moved_cases_reaches_to_what_could_hide() -> None:
    # Nothing moved in 50: a share of 1 - 0.025^(1/50) = 7.1 % that falls by 3 is not ruled out.
    hidden = 3 * (1 - 0.025 ** (1 / 50))
    same, six = [3] * 50, [2] * 6 + [3] * 44

    none, some = (paired_scores(same, after, levels=(1, 2, 3, 4)) for after in (same, six))

    assert none.difference.low == pytest.approx(-hidden, abs=0.01)
    assert none.difference.high == pytest.approx(hidden, abs=0.01)
    assert none.drop_not_ruled_out == pytest.approx(hidden, abs=0.01)
    assert none.difference.method.endswith("Gaffke at both ends")
    assert some.difference.method.endswith("Gaffke below")
