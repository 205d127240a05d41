"""The cases that show a change, against the intervals that will decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.paired import paired_scores
from agenteval_kit.stats.power import cases_needed
from agenteval_kit.stats.score_interval import tango
from agenteval_kit.stats.seeing import Moves, least_spread

SHARES = {"reach": 1.0, "size": 1.0, "settled": True}
SCORES = {"reach": 3.0, "size": 1.0, "settled": False}


def drawn(sd: float, change: float, n: int, runs: int) -> np.ndarray:
    """How many of n units fall, stay and rise by 1, so that their spread and mean are these."""
    often = max(sd, least_spread(change, 1.0)) ** 2 + change**2
    chances = [max(0.0, often - change) / 2, 1 - often, (often + change) / 2]
    return np.random.default_rng(4).multinomial(n, chances, size=runs)


def test_a_change_itself_spreads_the_cases() -> None:
    # One case in five moves for 20 points: sqrt(0.2 - 0.2^2).
    assert least_spread(0.2, 1.0) == pytest.approx(0.4)
    # All cases may move by a tenth of the scale.
    assert least_spread(0.1, 0.1) == 0.0


@pytest.mark.parametrize("sd", [math.sqrt(0.1), math.sqrt(0.2), math.sqrt(0.4), 0.23, 0.0])
@pytest.mark.parametrize("change", [0.05, 0.10, 0.15, 0.20])
def test_the_cases_for_a_share_show_it_four_times_in_five(sd: float, change: float) -> None:
    n = Moves(sd, **SHARES).units(change)

    shown = [tango(down, up, n).excludes(0) for down, _, up in drawn(sd, change, n, 1000).tolist()]

    assert 0.75 <= np.mean(shown) <= 0.9


@pytest.mark.parametrize(
    ("sd", "change"), [(0.5, 0.5), (0.5, 0.3), (0.5, 0.2), (0.5, 0.1), (0.8, 0.5), (0.8, 0.3)]
)
def test_the_cases_for_a_score_show_it_four_times_in_five(sd: float, change: float) -> None:
    n = Moves(sd, **SCORES).units(change)

    shown = []
    for down, same, up in drawn(sd, change, n, 200).tolist():
        before = np.array([4.0] * down + [1.0] * (same + up))
        after = before + np.array([-1.0] * down + [0.0] * same + [1.0] * up)
        found = paired_scores(before, after, levels=(1, 2, 3, 4), draws=1500)
        shown.append(found.difference.excludes(0))

    assert 0.75 <= np.mean(shown) <= 0.9


def test_eight_scores_never_show_what_the_formula_says_they_do() -> None:
    assert cases_needed(0.5, 0.5) == 8
    found = Moves(0.5, **SCORES)

    assert found.chance(8, 0.5) == pytest.approx(0.0, abs=1e-3)
    assert found.units(0.5) > 25


def test_the_formula_speaks_where_many_move() -> None:
    for sd, change in ((0.8, 0.1), (0.8, 0.2), (1.0, 0.2)):
        assert Moves(sd, **SCORES).units(change) == cases_needed(sd, change)
    assert Moves(0.8, **SCORES, level=0.99, power=0.9).units(0.1) == cases_needed(
        0.8, 0.1, level=0.99, power=0.9
    )


def test_three_pairs_show_no_change_however_large() -> None:
    # McNemar's z wants four that all moved one way: 4 / sqrt(4) = 2.
    assert [Moves(0.0, **SHARES).change(n) is None for n in (0, 1, 3, 4)] == [
        True, True, True, False,
    ]  # fmt: skip


@given(st.floats(0.0, 1.0), st.floats(0.02, 0.9), st.floats(0.02, 0.9), st.booleans())
@settings(max_examples=30)
def test_a_smaller_change_never_takes_fewer_units(
    sd: float, one: float, other: float, shares: bool
) -> None:
    found = Moves(sd, **(SHARES if shares else SCORES))
    small, large = sorted([one, other])

    assert found.units(small) >= found.units(large)


@given(st.floats(0.0, 1.0), st.integers(1, 200), st.integers(1, 60), st.booleans())
@settings(max_examples=30)
def test_more_units_never_show_less(sd: float, n: int, more: int, shares: bool) -> None:
    found = Moves(sd, **(SHARES if shares else SCORES))

    few, many = found.change(n), found.change(n + more)

    assert few is None or (many is not None and many <= few + 1e-5)


@pytest.mark.parametrize("change", [0.0, 1.5])
def test_a_change_that_is_none_or_cannot_be_is_refused(change: float) -> None:
    with pytest.raises(ConfigError, match="wanted the change to be seen, at most 1"):
        Moves(0.5, **SHARES).units(change)


@pytest.mark.parametrize("wrong", [{"power": 1.0}, {"effect": 0.0}, {"sd": -1.0}])
def test_what_is_no_plan_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="how many cases: needs a spread of at least 0"):
        Moves(**{"sd": 0.5, **SHARES, **wrong})
