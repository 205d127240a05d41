"""What a statistic is handed: numbers of any kind count alike, nonsense is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.bootstrap import bca
from agenteval_kit.stats.drift import judge_drift
from agenteval_kit.stats.length import length_correlation
from agenteval_kit.stats.mean import anchored_mean, t_mean
from agenteval_kit.stats.multiple import holm
from agenteval_kit.stats.pairwise import preference_p, win_rate
from agenteval_kit.stats.panel import disagreement_rate, majority
from agenteval_kit.stats.permutation import sign_flip_p
from agenteval_kit.stats.power import (
    cases_needed,
    chance_all_pass,
    chance_no_worse,
    detectable_change,
    repeats_spread,
)
from agenteval_kit.stats.ppi import ppi_mean
from agenteval_kit.stats.proportion import clopper_pearson, wilson
from agenteval_kit.stats.raters import person_accuracy, true_shares
from agenteval_kit.stats.repeats import flip_rate, pass_at_k, pass_hat_k, variance_components
from agenteval_kit.stats.rogan_gladen import lee_interval, rogan_gladen
from agenteval_kit.stats.score_interval import exact_p, mcnemar_p, tango, tango_bounds
from agenteval_kit.stats.trust import ceiling_gap

LEVELS = (1, 2, 3, 4)
NAN, INF = float("nan"), float("inf")
KINDS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
         np.float32, np.float64]  # fmt: skip


def of_counts(b: Any, c: Any, ties: Any, total: Any) -> list[object]:
    """Every statistic of plain counts, b and c of `total`."""
    cells = {"true_passes": c, "false_fails": b, "true_fails": c, "false_passes": b}
    return [
        wilson(b, total),
        clopper_pearson(b, total),
        tango(b, c, total),
        tango_bounds(b, c, total, z=1.96),
        mcnemar_p(b, c),
        mcnemar_p(b, c, continuity=True),
        exact_p(b, c),
        win_rate(b, ties, c),
        preference_p(b, c),
        pass_hat_k([b, c], [total, total], 2, draws=20),
        pass_at_k([b, c], [total, total], 2, draws=20),
        rogan_gladen(b, total, **cells, draws=20),
        lee_interval(0.5, total, sensitivity=0.9, specificity=0.9, passes=b, fails=c),
    ]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_a_count_is_the_same_count_whatever_kind_of_number_it_is(kind: Any, data: Any) -> None:
    # Up to the largest number of the kind: its square, sum or power wraps round.
    most = min(int(np.iinfo(kind).max), 3_000) if kind in KINDS[:-2] else 3_000
    b = data.draw(st.integers(0, most // 3))
    c = data.draw(st.integers(0, most // 3))
    ties = data.draw(st.integers(0, most // 3))
    total = data.draw(st.integers(max(b + c, 2), most))

    assert of_counts(kind(b), kind(c), kind(ties), kind(total)) == of_counts(b, c, ties, total)


def test_large_counts_of_numpy_do_not_wrap_round() -> None:
    assert wilson(np.int32(50_000), np.int32(60_000)) == wilson(50_000, 60_000)  # type: ignore[arg-type]
    assert wilson(np.int64(3 * 10**9), np.int64(4 * 10**9)) == wilson(3 * 10**9, 4 * 10**9)  # type: ignore[arg-type]
    assert exact_p(np.int64(30), np.int64(90)) == pytest.approx(3.77e-8, rel=1e-2)  # type: ignore[arg-type]
    assert preference_p(np.int64(20), np.int64(60)).p_exact == pytest.approx(8.58e-6, rel=1e-2)  # type: ignore[arg-type]


def test_passed_or_not_counts_as_one_or_none() -> None:
    assert pass_at_k([True, False], [True, True], 1, draws=20) == pass_at_k(
        [1, 0], [1, 1], 1, draws=20
    )


def test_a_data_frame_of_labels_is_read_by_rows() -> None:
    frame = pd.DataFrame({"a": [1, 2, None, 4], "b": [1, 2, 4, 3]}, index=[5, 6, 7, 8])

    assert alpha(frame, draws=50) == alpha(  # type: ignore[arg-type]
        [[1, 1], [2, 2], [None, 4], [4, 3]], draws=50
    )


def test_a_vote_that_is_no_number_is_a_seat_without_one() -> None:
    assert majority([NAN, 4, 4]) == majority([None, 4, 4])
    assert majority([NAN, NAN, 4]) == majority([None, None, 4])
    assert disagreement_rate([[NAN, 4, 4], [4, 4]]) == disagreement_rate([[None, 4, 4], [4, 4]])


PPI: dict[str, Any] = {"unlabelled": [4, 4, 3]}
CELLS = {"true_passes": 5, "false_fails": 1, "true_fails": 5, "false_passes": 1}
LEE: dict[str, Any] = {"sensitivity": 0.9, "specificity": 0.9, "passes": 9, "fails": 9}
NONSENSE: list[tuple[str, Callable[[], object]]] = [
    ("passed", lambda: wilson(NAN, 5)),  # type: ignore[arg-type]
    ("passed", lambda: wilson(2.5, 5)),  # type: ignore[arg-type]
    ("n:", lambda: wilson(2, NAN)),  # type: ignore[arg-type]
    ("passed", lambda: wilson("3", "5")),  # type: ignore[arg-type]
    ("passed", lambda: clopper_pearson(2.5, 5)),  # type: ignore[arg-type]
    ("b:", lambda: tango(NAN, 1, 10)),  # type: ignore[arg-type]
    ("c:", lambda: mcnemar_p(1, 0.5)),  # type: ignore[arg-type]
    ("b:", lambda: exact_p(-1, 3)),
    ("wins", lambda: win_rate(NAN, 1, 1)),  # type: ignore[arg-type]
    ("estimand", lambda: anchored_mean([4, 3], levels=LEVELS, estimand="cases")),  # type: ignore[arg-type]
    ("estimand", lambda: t_mean([4, 3], estimand="scenarios")),  # type: ignore[arg-type]
    ("dimensions", lambda: anchored_mean([[4, 3], [2, 1]], levels=LEVELS)),  # type: ignore[list-item]
    ("dimensions", lambda: flip_rate([[1, 0]], cases=[1])),  # type: ignore[list-item]
    ("item 1 is inf", lambda: t_mean([4, INF, 3])),
    ("item 0 is -inf", lambda: sign_flip_p([-INF, 1.0])),
    ("judge: item 1", lambda: ceiling_gap([4, INF], [4, 4], [4, 4])),
    ("second_human: item 0", lambda: ceiling_gap([4, 4], [4, 4], [INF, 4])),
    ("trial 0 is inf", lambda: variance_components([INF, 1], cases=[1, 1])),
    ("neither pass", lambda: flip_rate([0.5, 0.5], cases=[1, 1])),
    ("successes: case 0", lambda: pass_hat_k([NAN], [4], 2)),  # type: ignore[list-item]
    ("successes: case 1", lambda: pass_hat_k([1, 1.9], [3, 3], 1)),  # type: ignore[list-item]
    ("trials: case 0", lambda: pass_at_k([1], [None], 1)),  # type: ignore[list-item]
    ("k:", lambda: pass_at_k([2], [4], 1.5)),  # type: ignore[arg-type]
    ("draws", lambda: anchored_mean([4, 3], levels=LEVELS, draws=0)),
    ("draws", lambda: agreement([4, 3], [4, 3], levels=LEVELS, draws=0)),
    ("draws", lambda: alpha([[4, 3], [2, 2]], draws=0)),
    ("draws", lambda: sign_flip_p([1.0, 2.0], draws=0)),
    ("draws", lambda: bca([[1.0, 2.0]], np.mean, draws=0)),
    ("draws", lambda: length_correlation([1, 2, 2, 3], [1, 2, 3, 4], draws=0)),
    ("draws", lambda: rogan_gladen(8, 10, **CELLS, draws=0)),
    ("rogan_gladen", lambda: rogan_gladen(8, 10, **{**CELLS, "false_fails": NAN})),
    ("rogan_gladen", lambda: rogan_gladen(NAN, 10, **CELLS)),
    ("judge_rate", lambda: lee_interval(1.2, 10, **LEE)),
    ("change", lambda: cases_needed(0.5, NAN)),
    ("sd", lambda: cases_needed(NAN, 0.1)),
    ("sd", lambda: cases_needed(INF, 0.1)),
    ("change", lambda: cases_needed(0.5, 1e-200)),
    ("power", lambda: cases_needed(0.5, 0.1, power=1)),
    ("power", lambda: detectable_change(0.5, 10, power=2)),
    ("sd", lambda: detectable_change(-0.5, 10)),
    ("effect", lambda: detectable_change(0.5, 10, effect=-1)),
    ("sd", lambda: chance_no_worse(-0.5, 10, margin=0.1)),
    ("margin", lambda: chance_no_worse(0.5, 10, margin=NAN)),
    ("repeats", lambda: repeats_spread(0.1, 0.1, 0)),
    ("within", lambda: repeats_spread(0.1, -0.1, 2)),
    ("between", lambda: repeats_spread(-1.0, 0.1, 2)),
    ("rate", lambda: chance_all_pass(1.2, 20)),
    ("rate", lambda: chance_all_pass(NAN, 20)),
    ("cases", lambda: chance_all_pass(0.9, -2)),
    ("p_values: test 0", lambda: holm([NAN, 0.5])),
    ("p_values: test 1", lambda: holm([0.5, 1.5])),
    ("human", lambda: ppi_mean([4, NAN, 2], [4, 3, 3], **PPI)),
    ("judge", lambda: ppi_mean([4, 3, 2], [4, 3, INF], **PPI)),
    ("unlabelled", lambda: ppi_mean([4, 3], [4, 3], unlabelled=[4, None])),  # type: ignore[list-item]
    ("weights", lambda: ppi_mean([4, 3, 2], [4, 3, 3], weights=[1, 2, NAN], **PPI)),
    ("weights", lambda: ppi_mean([4, 3, 2], [4, 3, 3], weights=[1, -2, 1], **PPI)),
    ("power", lambda: ppi_mean([4, 3, 2], [4, 3, 3], power=5, **PPI)),
    ("again", lambda: judge_drift([4] * 20, [4] * 20, levels=LEVELS, again=[4] * 19)),
    ("said", lambda: true_shares([NAN, 1], 0.8)),
    ("said", lambda: true_shares([-1, 2], 0.8)),
    ("accuracy", lambda: true_shares([1, 2, 3], 2)),
    ("exact", lambda: person_accuracy([1, 2, 3, 4], NAN)),
]


@pytest.mark.parametrize(("named", "call"), NONSENSE)
def test_nonsense_is_refused_by_the_name_of_its_argument(
    named: str, call: Callable[[], object]
) -> None:
    with pytest.raises(ConfigError) as caught:
        call()

    assert named in str(caught.value)


def test_a_rounding_below_no_spread_is_no_error() -> None:
    assert repeats_spread(-1e-18, 0.09, 3) == pytest.approx((0.03) ** 0.5)
