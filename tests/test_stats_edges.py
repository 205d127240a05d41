"""The same edge list for every statistic: a value or a reason, no warning, no interval of width 0.

Warnings are errors here, as everywhere in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats import mean
from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.bootstrap import bca
from agenteval_kit.stats.corrected import Labels, corrected
from agenteval_kit.stats.drift import judge_drift
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.length import length_bias
from agenteval_kit.stats.multirater import analytic_ac, analytic_kappa, multirater
from agenteval_kit.stats.paired import non_inferiority, paired_binary, paired_scores
from agenteval_kit.stats.pairwise import (
    noise_margin,
    position_flips,
    win_rate,
    win_rate_clustered,
)
from agenteval_kit.stats.panel import disagreement_rate
from agenteval_kit.stats.ppi import ppi_mean
from agenteval_kit.stats.proportion import clopper_pearson, wilson
from agenteval_kit.stats.ranking import bradley_terry
from agenteval_kit.stats.repeats import flip_rate, pass_at_k, pass_hat_k, variance_components
from agenteval_kit.stats.rogan_gladen import lee_interval, rogan_gladen
from agenteval_kit.stats.score_interval import tango
from agenteval_kit.stats.trust import ceiling_gap, kappa_gap

LEVELS = (1, 2, 3, 4)
NAN = float("nan")


def every_estimate(result: object) -> list[Estimate]:
    """The estimates in a result, however deep."""
    if isinstance(result, Estimate):
        return [result]
    if isinstance(result, dict):
        return [one for value in result.values() for one in every_estimate(value)]
    if is_dataclass(result):
        return [e for f in fields(result) for e in every_estimate(getattr(result, f.name))]
    return []


def assert_honest(result: object) -> None:
    """Every estimate has an interval with width, or says why it has none."""
    for one in every_estimate(result):
        if one.value is None or one.low is None or one.high is None:
            assert one.reason, one
        else:
            assert one.low < one.high, one


SCORES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "n = 0": ([], {}),
    "n = 1": ([3], {}),
    "n = 2": ([3, 4], {}),
    "all equal": ([4] * 20, {}),
    "all at the bottom": ([1] * 20, {}),
    "all unscored": ([None, NAN, None], {}),
    "one scored": ([None, 2, None], {}),
    "missing": ([4, None, 3, NAN, 2, 4], {}),
    "one cluster": ([4, 3, 4, 2], {"clusters": ["a"] * 4}),
    "two clusters": ([4, 3, 4, 2], {"clusters": ["a", "a", "b", "b"]}),
    "equal clusters": ([4, 4, 4, 4], {"clusters": ["a", "a", "b", "b"]}),
    "one cluster of one": ([4], {"clusters": ["a"]}),
    "no clusters": ([], {"clusters": []}),
    "cluster lost with its scores": ([4, 3, None], {"clusters": ["a", "b", "c"]}),
}
WEIGHTED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "zero weights": ([4, 3], {"weights": [0, 0]}),
    "one weight": ([4, 3, 2], {"weights": [0, 2, 0]}),
    "unequal weights": ([4, 3, 2, 4], {"weights": [1, 5, 2, 0]}),
    "no weights": ([], {"weights": []}),
    "weights and clusters": ([4, 3, 2, 4], {"weights": [1, 5, 0, 0], "clusters": [1, 1, 2, 2]}),
}
EDGES = list(SCORES)


@pytest.mark.parametrize("edge", [*SCORES, *WEIGHTED])
@pytest.mark.parametrize("estimand", ["scenario", "case"])
def test_anchored_mean_at_the_edges(edge: str, estimand: Any) -> None:
    scores, more = {**SCORES, **WEIGHTED}[edge]

    found = mean.anchored_mean(scores, levels=LEVELS, estimand=estimand, draws=500, **more)

    assert_honest(found)


@pytest.mark.parametrize("edge", EDGES)
def test_t_mean_at_the_edges(edge: str) -> None:
    scores, more = SCORES[edge]

    for estimand in ("scenario", "case"):
        assert_honest(mean.t_mean(scores, estimand=estimand, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("change", ["none", "all fall", "some", "missing"])
def test_paired_scores_at_the_edges(edge: str, change: str) -> None:
    before, more = SCORES[edge]
    after: list[Any] = {
        "none": before,
        "all fall": [1] * len(before),
        "some": [4, *before[1:]] if before else [],
        "missing": [None] * len(before),
    }[change]

    found = paired_scores(before, after, levels=LEVELS, draws=500, **more)

    assert_honest(found)
    assert (found.p_sign_flip is None) == (found.n == 0)


@pytest.mark.parametrize("edge", EDGES)
def test_non_inferiority_at_the_edges(edge: str) -> None:
    scores, more = SCORES[edge]
    differences = [None if s is None else s - 4 for s in scores]

    found = non_inferiority(differences, 0.2, low=-3, high=3, draws=500, **more)

    assert found.answer in ("pass", "fail", "undecided")
    assert found.reason
    if found.lower is None or found.upper is None:
        assert found.answer == "undecided"
    else:
        assert found.lower < found.upper


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], []),
        ([1], [1]),
        ([1], [0]),
        ([1] * 20, [1] * 20),
        ([0] * 20, [0] * 20),
        ([1] * 20, [0] * 20),
        ([None, 1, None], [1, None, None]),
        ([True, False, True], [True, None, False]),
    ],
)
def test_paired_binary_at_the_edges(before: list[Any], after: list[Any]) -> None:
    assert_honest(paired_binary(before, after))


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_shares_at_the_edges(n: int) -> None:
    for passed in {0, n}:
        assert_honest(wilson(passed, n))
        assert_honest(clopper_pearson(passed, n))
        assert_honest(tango(passed, 0, n))
        assert_honest(tango(0, passed, n))
        assert_honest(win_rate(passed, n - passed, 0))
        assert_honest(win_rate(0, n - passed, passed))


@pytest.mark.parametrize(
    "pairs",
    [[], [0.5], [1.0], [0.5] * 20, [1.0] * 20, [0.0] * 20, [None] * 3, [1.0, None, 0.5, 0.0]],
    ids=str,
)
def test_pairwise_at_the_edges(pairs: list[Any]) -> None:
    one_scenario = ["s"] * len(pairs)
    by_two = [i // 2 for i in range(len(pairs))]

    for clusters in (None, one_scenario, by_two):
        assert_honest(win_rate_clustered(pairs, clusters=clusters, draws=500))
        margin = noise_margin(pairs, clusters=clusters, draws=500)
        assert_honest(margin)
        assert margin.margin is None or margin.margin > 0
    assert_honest(position_flips(pairs, pairs))
    assert_honest(position_flips(pairs, [None] * len(pairs)))
    assert_honest(length_bias(pairs, [10.0] * len(pairs)))


RATERS: dict[str, tuple[list[Any], list[Any]]] = {
    "n = 0": ([], []),
    "n = 1": ([3], [3]),
    "n = 1, disagreeing": ([1], [4]),
    "n = 2, one class": ([3, 3], [3, 3]),
    "one class": ([3] * 20, [3] * 20),
    "one rater constant": ([3] * 20, [3, 4] * 10),
    "two constants": ([3] * 20, [4] * 20),
    "all agree": ([1, 2, 3, 4] * 5, [1, 2, 3, 4] * 5),
    "missing": ([1, None, 3, NAN, 4], [1, 2, None, 3, 4]),
    "all missing": ([None, 1], [2, None]),
}


@pytest.mark.parametrize("edge", RATERS)
def test_agreement_at_the_edges(edge: str) -> None:
    first, second = RATERS[edge]
    n = len(first)

    for more in (
        {},
        {"weights": [1.0] * n},
        {"weights": [0.0] * n},
        {"clusters": ["a"] * n},
        {"clusters": list(range(n))},
        {"clusters": [i // 3 for i in range(n)]},
    ):
        found = agreement(first, second, levels=LEVELS, draws=500, **more)  # type: ignore[arg-type]
        assert_honest(found)
        assert found.provisional


@pytest.mark.parametrize("edge", RATERS)
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_and_the_textbook_coefficients_at_the_edges(edge: str, metric: Any) -> None:
    ratings = list(zip(*RATERS[edge], strict=True))

    assert_honest(alpha(ratings, metric=metric, draws=500))
    assert_honest(alpha(ratings, metric=metric, levels=LEVELS, draws=500))
    for coefficient in ("gwet", "fleiss"):
        assert_honest(multirater(ratings, coefficient=coefficient))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "table",
    [np.zeros((4, 4)), np.eye(4), np.diag([9, 0, 0, 0]), np.diag([0, 1, 0, 0]), np.ones((2, 2))],
    ids=["empty", "all agree", "one class", "one item", "chance"],
)
def test_analytic_coefficients_at_the_edges(table: np.ndarray) -> None:
    assert_honest(analytic_kappa(table))
    assert_honest(analytic_ac(table))


LABELLED: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "nothing": ([], [], []),
    "no labels": ([], [], [4, 3, 2]),
    "no suite": ([4, 3], [4, 3], []),
    "one label": ([4], [4], [4, 4, 3]),
    "one class": ([4] * 10, [4] * 10, [4] * 50),
    "constant judge": ([4] * 10, [1, 2, 3, 4, 4] * 2, [4] * 50),
    "a level without labels": ([4, 4, 3, 3], [4, 3, 3, 3], [4, 3, 2, 1] * 10),
    "missing": ([4, None, 3, 3], [4, 3, None, 2], [4, 3, None, 4]),
    "all unscored": ([4, 3], [4, 3], [None, None]),
}


@pytest.mark.parametrize("edge", LABELLED)
@pytest.mark.parametrize("design", ["uniform", "by_judge", "by_human", "external"])
def test_corrected_at_the_edges(edge: str, design: Any) -> None:
    judge, human, suite = LABELLED[edge]
    inclusion = [0.5] * len(judge)

    for clusters, of_suite in ((None, None), (["a"] * len(judge), ["s"] * len(suite))):
        labels = Labels(judge, human, design, inclusion=inclusion, clusters=clusters)
        assert_honest(
            corrected(labels, suite, levels=LEVELS, pass_at=3, suite_clusters=of_suite, draws=500)
        )


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (5, 0, 0, 0), (0, 0, 5, 0), (9, 1, 1, 9),
                                   (5, 5, 5, 5), (20, 0, 20, 0), (1, 0, 1, 0)])  # fmt: skip
def test_rogan_gladen_at_the_edges(cells: tuple[int, int, int, int]) -> None:
    names = ("true_passes", "false_fails", "true_fails", "false_passes")

    for passed, n in ((0, 0), (0, 50), (50, 50), (40, 50)):
        assert_honest(rogan_gladen(passed, n, **dict(zip(names, cells, strict=True)), draws=500))
        passes, fails = cells[0] + cells[1], cells[2] + cells[3]
        assert_honest(
            lee_interval(
                passed / n if n else 0.0,
                n,
                sensitivity=cells[0] / passes if passes else 0.0,
                specificity=cells[2] / fails if fails else 0.0,
                passes=passes,
                fails=fails,
            )
        )


@pytest.mark.parametrize(
    ("passed", "trials"),
    [([], []), ([0], [0]), ([1], [1]), ([0, 0], [4, 4]), ([4, 4], [4, 4]), ([1, 2], [1, 4])],
)
def test_pass_k_at_the_edges(passed: list[int], trials: list[int]) -> None:
    for k in (1, 2, 8):
        for measure in (pass_hat_k, pass_at_k):
            assert_honest(measure(passed, trials, k, draws=500))
            assert_honest(measure(passed, trials, k, clusters=["a"] * len(passed), draws=500))


@pytest.mark.parametrize(
    ("values", "cases"),
    [
        ([], []),
        ([1], ["a"]),
        ([1, 1], ["a", "b"]),
        ([1, 0], ["a", "a"]),
        ([1, 1, 1, 1], ["a", "a", "b", "b"]),
        ([1, 0, 1, 0], ["a", "a", "b", "b"]),
        ([1, None, 0, 1, 1], ["a", "a", "b", "b", "b"]),
        ([None, None], ["a", "a"]),
    ],
    ids=str,
)
def test_repeats_at_the_edges(values: list[Any], cases: list[str]) -> None:
    assert_honest(flip_rate(values, cases=cases, draws=500))
    parts = variance_components(values, cases=cases, draws=500)
    assert_honest(parts)
    assert parts.within is not None or parts.reason


@pytest.mark.parametrize("edge", RATERS)
def test_gap_and_drift_at_the_edges(edge: str) -> None:
    first, second = RATERS[edge]

    assert_honest(ceiling_gap(first, first, second, draws=500))
    assert_honest(ceiling_gap(first, second, second, clusters=["a"] * len(first), draws=500))
    assert_honest(kappa_gap(first, second, second, levels=LEVELS, draws=500))
    assert_honest(kappa_gap(first, first, second, levels=LEVELS, draws=500))
    assert_honest(judge_drift(first, second, levels=LEVELS))


def test_remaining_functions_at_the_edges() -> None:
    calls: list[Callable[[], object]] = [
        lambda: disagreement_rate([]),
        lambda: disagreement_rate([[3], [None, None]]),
        lambda: disagreement_rate([[3, 3], [3, 4]]),
        lambda: disagreement_rate([[3, 3], [3, 4], [3, 3]], cases=["a", "a", "b"]),
        lambda: disagreement_rate([[3, 3], [3, 4]], cases=["a", "a"]),
        lambda: ppi_mean([], [], unlabelled=[1]),
        lambda: ppi_mean([3, 3], [3, 3], unlabelled=[3, 3]),
        lambda: ppi_mean([3, 4], [3, 4], unlabelled=[], power="auto"),
        lambda: ppi_mean([3, 4], [3, 3], unlabelled=[3, 3], power="auto"),
        lambda: ppi_mean([3, 4], [3, 4], unlabelled=[3], weights=[0, 0]),
        lambda: bca([[]], np.mean, draws=100),
        lambda: bca([[1.0]], np.mean, draws=100),
        lambda: bca([[2.0] * 9], np.mean, draws=100),
        lambda: bca([[0.0] * 8 + [1.0]], np.median, draws=100),
        lambda: bradley_terry([], [], [], reference="a"),
        lambda: bradley_terry(["a"], ["b"], [1], reference="a", draws=20),
        lambda: bradley_terry(["a"], ["b"], [1], reference="a", add_half=True, draws=20),
        lambda: bradley_terry(["a", "c"], ["b", "d"], [0.5, 0.5], reference="a", draws=20),
        lambda: bradley_terry(["a", "b"], ["b", "c"], [0.5, None], reference="a", draws=20),
    ]

    for call in calls:
        assert_honest(call())


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(3, 2),
        lambda: wilson(1, 2, level=1.0),
        lambda: tango(3, 0, 2),
        lambda: tango(2, 2, 3),
        lambda: tango(-1, 0, 3),
        lambda: tango(0, -1, 3),
        lambda: win_rate(-1, 0, 0),
        lambda: mean.anchored_mean([5], levels=LEVELS),
        lambda: mean.anchored_mean([float("inf")], levels=LEVELS),
        lambda: mean.anchored_mean([1], levels=[1]),
        lambda: mean.anchored_mean([1, 2], levels=LEVELS, clusters=["a"]),
        lambda: mean.anchored_mean([1, 2], levels=LEVELS, weights=[1, -1]),
        lambda: non_inferiority([0], 0.0, low=-1, high=1),
        lambda: non_inferiority([0], 0.1, low=0, high=1),
        lambda: non_inferiority([2], 0.1, low=-1, high=1),
        lambda: paired_binary([1], [1, 0]),
        lambda: paired_binary([2], [1]),
        lambda: paired_scores([5], [1], levels=LEVELS),
        lambda: agreement([1.5], [1], levels=LEVELS),
        lambda: agreement([1], [1, 2], levels=LEVELS),
        lambda: alpha([[1, 2], [1]]),
        lambda: alpha([[1, 9]], levels=LEVELS),
        lambda: alpha([[1, 2]], metric="squared"),  # type: ignore[arg-type]
        lambda: position_flips([0.3], [1]),
        lambda: pass_hat_k([1], [1], 0),
        lambda: pass_hat_k([2], [1], 1),
        lambda: corrected(Labels([4], [4], "by_judge"), [4], levels=LEVELS),
        lambda: corrected(Labels([4], [4], "picked"), [4], levels=LEVELS),  # type: ignore[arg-type]
        lambda: corrected(Labels([4], [4], "uniform", inclusion=[0.0]), [4], levels=LEVELS),
        lambda: corrected(Labels([4], [4, 3], "uniform"), [4], levels=LEVELS),
        lambda: rogan_gladen(3, 2, true_passes=1, false_fails=1, true_fails=1, false_passes=1),
        lambda: bradley_terry(["a"], ["b"], [1], reference="z"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_named(call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError, match=r"\w+ .*\w+"):
        call()
