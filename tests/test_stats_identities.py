"""Laws that hold whatever the data: no reference value needed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agenteval_kit.stats import measures
from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.anchored import anchored_draws, as_levels, merge, merge_on_levels
from agenteval_kit.stats.corrected import Labels, corrected
from agenteval_kit.stats.mean import anchored_mean, clustered_error, t_mean
from agenteval_kit.stats.multiple import holm
from agenteval_kit.stats.observed import cluster_codes
from agenteval_kit.stats.paired import non_inferiority, paired_binary, sign_flip_p
from agenteval_kit.stats.pairwise import position_flips, settle, win_rate, win_rate_clustered
from agenteval_kit.stats.power import cases_needed, detectable_change
from agenteval_kit.stats.ppi import ppi_mean
from agenteval_kit.stats.proportion import normal_quantile, wilson
from agenteval_kit.stats.repeats import pass_at_k, pass_hat_k
from agenteval_kit.stats.score_interval import mcnemar_p, tango

LEVELS = (1, 2, 3, 4)
FEW = 300  # draws where the points are the matter


scores = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=40)
counts = st.integers(min_value=0, max_value=60)


def tables(k: int = 4) -> st.SearchStrategy[np.ndarray]:
    cells = st.lists(st.integers(0, 12), min_size=k * k, max_size=k * k)
    return cells.map(lambda one: np.array(one, dtype=float).reshape(k, k)).filter(
        lambda table: table.sum() >= 2
    )


def as_pairs(table: np.ndarray) -> tuple[list[int], list[int]]:
    pairs = [
        (i + 1, j + 1)
        for i, row in enumerate(table)
        for j, many in enumerate(row)
        for _ in range(int(many))
    ]
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(tables())
def test_exact_agreement_is_the_trace(table: np.ndarray) -> None:
    first, second = as_pairs(table)

    found = agreement(first, second, levels=LEVELS, draws=FEW)

    assert found.exact.value == pytest.approx(np.trace(table) / table.sum())


@given(tables(), st.permutations(range(4)))
def test_unweighted_kappa_ignores_the_order_of_levels(table: np.ndarray, order: list[int]) -> None:
    shuffled = table[np.ix_(order, order)]

    before, after = float(measures.kappa(table)), float(measures.kappa(shuffled))

    assert after == pytest.approx(before, nan_ok=True)


@given(tables())
def test_quadratic_kappa_is_lins_concordance(table: np.ndarray) -> None:
    # Fleiss and Cohen (1973): quadratic kappa is the intraclass limit, 2 cov over the variances
    # and the squared distance of the means.
    first, second = (np.array(side, dtype=float) for side in as_pairs(table))
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    assume(spread > 1e-9)
    together = np.mean((first - first.mean()) * (second - second.mean()))

    found = float(measures.kappa(table, weighting="quadratic"))

    assert found == pytest.approx(2 * together / spread, abs=1e-9)


@given(tables())
def test_swapping_raters_changes_no_agreement_figure(table: np.ndarray) -> None:
    for name in ("exact", "within_one", "kappa", "kappa_linear", "kappa_quadratic", "ac1"):
        measure = measures.named(name)

        assert float(measure(table)) == pytest.approx(float(measure(table.T)), nan_ok=True)


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=20))
def test_pass_hat_1_is_pass_at_1_is_the_pass_rate(cases: list[tuple[int, int]]) -> None:
    trials = [n for n, _ in cases]
    passed = [min(c, n) for n, c in cases]

    hat, at = (measure(passed, trials, 1, draws=FEW) for measure in (pass_hat_k, pass_at_k))

    rate = float(np.mean([c / n for c, n in zip(passed, trials, strict=True)]))
    assert hat.value == pytest.approx(rate)
    assert at.value == pytest.approx(rate)


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_pass_hat_k_falls_and_pass_at_k_rises_with_k(n: int, c: int, k: int) -> None:
    assume(k < n)
    c = min(c, n)

    hats = [pass_hat_k([c], [n], i, draws=FEW).value for i in (k, k + 1)]
    ats = [pass_at_k([c], [n], i, draws=FEW).value for i in (k, k + 1)]

    assert hats[0] is not None
    assert hats[1] is not None
    assert hats[1] <= hats[0] + 1e-12
    assert ats[1] is not None
    assert ats[0] is not None
    assert ats[1] >= ats[0] - 1e-12


@st.composite
def labelled_suites(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Judge and human scores of labels, and suite sizes by judge level; every level labelled."""
    judge: list[int] = []
    human: list[int] = []
    sizes: list[int] = []
    for level in LEVELS:
        people = draw(st.lists(st.sampled_from(LEVELS), min_size=2, max_size=8))
        judge += [level] * len(people)
        human += people
        sizes.append(len(people) + draw(st.integers(0, 30)))
    return judge, human, sizes


@given(labelled_suites())
def test_post_stratified_is_hajek_is_weighted_rogan_gladen(
    data: tuple[list[int], list[int], list[int]],
) -> None:
    judge, human, sizes = (np.array(x) for x in data)
    suite = np.repeat(LEVELS, sizes)
    chance = np.bincount(judge, minlength=5)[1:] / sizes
    weight = 1 / chance[judge - 1]
    labels = Labels(judge, human, "by_judge", inclusion=chance[judge - 1])

    found = corrected(labels, suite, levels=LEVELS, pass_at=3, draws=FEW)

    hajek_mean = float(np.average(human, weights=weight))
    hajek_rate = float(np.average(human >= 3, weights=weight))
    assert found.mean.value == pytest.approx(hajek_mean)
    assert found.pass_rate.value == pytest.approx(hajek_rate)
    good, judged_good = human >= 3, judge >= 3
    if 0 < hajek_rate < 1:
        tpr = np.average(judged_good[good], weights=weight[good])
        tnr = np.average(~judged_good[~good], weights=weight[~good])
        if abs(tpr + tnr - 1) > 1e-6:
            raw = float((suite >= 3).mean())
            assert (raw + tnr - 1) / (tpr + tnr - 1) == pytest.approx(hajek_rate, abs=1e-6)


@given(st.lists(st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), min_size=2))
def test_ppi_without_power_is_the_human_mean(pairs: list[tuple[int, int]]) -> None:
    human, judge = zip(*pairs, strict=True)

    found = ppi_mean(human, judge, unlabelled=[1, 4, 4], power=0)

    assert found.value == pytest.approx(np.mean(human))


@given(counts, counts, counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_tango_excludes_0_exactly_when_mcnemar_does(b: int, c: int, t: int, level: float) -> None:
    assume(b + c + t > 0)
    z = normal_quantile(level)
    distance = abs(b - c) / math.sqrt(b + c) if b + c else 0.0
    assume(abs(distance - z) > 1e-9)

    found = tango(b, c, b + c + t, level=level)

    assert found.low is not None
    assert found.high is not None
    assert (found.low > 0 or found.high < 0) == (distance > z)
    assert (mcnemar_p(b, c) < 1 - level) == (distance > z)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 20), st.floats(-0.95, 0.95))
def test_tango_statistic_uses_the_most_likely_loss_rate(
    b: int, c: int, t: int, difference: float
) -> None:
    # Second derivation: maximise the trinomial likelihood on a grid instead of by the quadratic.
    from agenteval_kit.stats.score_interval import _spread

    n = b + c + t
    assume(n > 0)
    low, high = max(0.0, -difference), (1 - difference) / 2
    q = np.linspace(low, high, 4001)[1:-1]

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        parts = [(c, x + difference), (b, x), (t, 1 - 2 * x - difference)]
        return sum(many * np.log(p) for many, p in parts if many)  # type: ignore[return-value]

    ours = _spread(c, b, n, difference)

    q_ours = (ours - difference * (1 - difference)) / 2
    inside = np.clip(q_ours, q[0], q[-1])
    assert log_likelihood(np.array([inside]))[0] >= log_likelihood(q).max() - 1e-4 * n


@given(counts, counts, counts)
def test_win_rate_of_b_mirrors_that_of_a(wins: int, ties: int, losses: int) -> None:
    assume(wins + ties + losses > 0)

    ours, theirs = win_rate(wins, ties, losses), win_rate(losses, ties, wins)

    assert ours.value is not None
    assert ours.low is not None
    assert theirs.value == pytest.approx(1 - ours.value, abs=1e-12)
    assert theirs.high == pytest.approx(1 - ours.low, abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30))
def test_one_pair_a_scenario_is_the_plain_win_rate(settled: list[float]) -> None:
    counted = [settled.count(x) for x in (1.0, 0.5, 0.0)]

    clustered = win_rate_clustered(settled, clusters=range(len(settled)))

    assert clustered == win_rate(*counted)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 2), min_size=1, max_size=30))
def test_flips_and_ties_of_disagreement_are_the_same_pairs(
    orders: list[tuple[float, float]],
) -> None:
    a_first, b_first = zip(*orders, strict=True)

    settled, flips = settle(a_first, b_first), position_flips(a_first, b_first)

    disagree = [x != y for x, y in orders]
    assert flips.flips == sum(disagree)
    assert all(score == 0.5 for score, flip in zip(settled, disagree, strict=True) if flip)


@given(st.integers(2, 12), st.integers(1, 5), st.randoms(use_true_random=False))
def test_equal_scenarios_error_is_that_of_their_means(
    groups: int, size: int, random: object
) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    y = rng.integers(1, 5, size=groups * size).astype(float)
    codes = cluster_codes(np.repeat(np.arange(groups), size))

    ours = clustered_error(y, codes)

    means = y.reshape(groups, size).mean(axis=1)
    assert ours == pytest.approx(means.std(ddof=1) / math.sqrt(groups), abs=1e-12)


@given(tables())
def test_nominal_alpha_of_two_raters_is_scotts_pi_with_its_small_sample_term(
    table: np.ndarray,
) -> None:
    first, second = as_pairs(table)
    n = len(first)
    share = (table.sum(axis=0) + table.sum(axis=1)) / (2 * n)
    expected = 1 - (share**2).sum()
    assume(expected > 1e-9)
    observed = 1 - np.trace(table) / n

    found = alpha(list(zip(first, second, strict=True)), metric="nominal", draws=FEW)

    # D_e uses pairs without replacement: 2n / (2n - 1) more than Scott's.
    assert found.value == pytest.approx(1 - observed / (expected * 2 * n / (2 * n - 1)))


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.sampled_from(LEVELS)), min_size=3, max_size=3),
        min_size=1,
        max_size=25,
    ),
    st.permutations(range(3)),
)
def test_alpha_ignores_who_rated(rows: list[list[int | None]], order: list[int]) -> None:
    shuffled = [[row[i] for i in order] for row in rows]

    before, after = (alpha(x, levels=LEVELS, draws=FEW) for x in (rows, shuffled))

    assert after == before


@given(scores)
def test_anchored_mean_has_the_moments_of_its_dirichlet(observed: list[int]) -> None:
    # Second derivation: mean (sum c v + v-bar) / (n + 1), and the variance of a linear form.
    n, draws = len(observed), 4_000
    levels = as_levels(LEVELS)
    shape = np.array([observed.count(v) for v in LEVELS]) + 0.25
    mean = float(shape @ levels / (n + 1))
    variance = float(shape @ (levels - mean) ** 2 / (n + 1) / (n + 2))

    drawn = anchored_draws(
        merge(np.array(observed, dtype=float)), levels=levels, draws=draws, seed=1
    )

    assert mean == pytest.approx((sum(observed) + 2.5) / (n + 1))
    assert drawn.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / draws))
    assert drawn.var() == pytest.approx(variance, rel=0.35, abs=1e-4)


@given(scores, st.permutations(range(40)))
def test_anchored_mean_ignores_the_order_of_cases(observed: list[int], order: list[int]) -> None:
    shuffled = [observed[i] for i in order if i < len(observed)]

    before, after = (anchored_mean(x, levels=LEVELS, draws=FEW) for x in (observed, shuffled))

    assert after == before


@given(scores)
def test_every_scenario_of_one_case_is_no_clustering(observed: list[int]) -> None:
    plain = anchored_mean(observed, levels=LEVELS, draws=FEW)

    grouped = anchored_mean(observed, levels=LEVELS, clusters=range(len(observed)), draws=FEW)

    assert (grouped.value, grouped.n) == (plain.value, plain.n)
    assert (grouped.low, grouped.high) == (plain.low, plain.high)


@given(scores, st.integers(2, 4))
def test_a_repeated_case_does_not_add_evidence(observed: list[int], times: int) -> None:
    assume(len(observed) > 1)
    repeated = [x for x in observed for _ in range(times)]
    who = [i for i in range(len(observed)) for _ in range(times)]

    once = anchored_mean(observed, levels=LEVELS, clusters=range(len(observed)), draws=FEW)
    many = anchored_mean(repeated, levels=LEVELS, clusters=who, draws=FEW)

    assert many == once


@given(scores)
def test_merging_on_levels_is_merging(observed: list[int]) -> None:
    values = np.array(observed, dtype=float)

    fast, slow = merge_on_levels(values, levels=as_levels(LEVELS)), merge(values)

    assert fast.value.tolist() == slow.value.tolist()
    assert fast.count.tolist() == slow.count.tolist()


@given(scores)
def test_mirrored_scale_gives_the_mirrored_mean(observed: list[int]) -> None:
    mirrored = [5 - x for x in observed]

    one, two = (anchored_mean(x, levels=LEVELS, draws=20_000) for x in (observed, mirrored))

    assert one.value is not None
    assert one.low is not None
    assert two.value == pytest.approx(5 - one.value)
    assert two.high == pytest.approx(5 - one.low, abs=0.05)


@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_holds_its_share_and_mirrors(passed: int, n: int) -> None:
    passed = min(passed, n)

    ours, theirs = wilson(passed, n), wilson(n - passed, n)

    assert ours.low is not None
    assert ours.high is not None
    assert ours.value is not None
    assert 0 <= ours.low <= ours.value <= ours.high <= 1
    assert ours.high > ours.low
    assert theirs.low == pytest.approx(1 - ours.high, abs=1e-12)


@given(st.integers(0, 100), st.integers(0, 100))
def test_one_more_pass_never_lowers_the_share(passed: int, failed: int) -> None:
    before, after = wilson(passed, passed + failed), wilson(passed + 1, passed + failed + 1)

    if before.value is not None:
        assert before.low is not None
        assert after.low is not None
        assert after.value is not None
        assert after.value >= before.value
        assert after.low >= before.low


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_sign_flip_p_is_the_listing_of_all_signs(differences: list[int]) -> None:
    moved = [d for d in differences if d]
    reached = abs(sum(moved))
    sums = [
        abs(sum(d if i >> k & 1 else -d for k, d in enumerate(moved)))
        for i in range(2 ** len(moved))
    ]

    found = sign_flip_p(differences)

    assert found == pytest.approx(sum(s >= reached for s in sums) / len(sums))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_swapping_runs_swaps_broken_and_fixed(pairs: list[tuple[bool, bool]]) -> None:
    before, after = zip(*pairs, strict=True)

    there, back = paired_binary(before, after), paired_binary(after, before)

    assert (back.broken_at, back.fixed_at) == (there.fixed_at, there.broken_at)
    assert there.difference.value is not None
    assert there.difference.low is not None
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert back.difference.high == pytest.approx(-there.difference.low, abs=1e-12)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=80), st.floats(0.02, 0.4))
def test_a_wider_margin_never_turns_a_pass_into_less(differences: list[int], margin: float) -> None:
    order = {"fail": 0, "undecided": 1, "pass": 2}

    narrow, wide = (
        non_inferiority(differences, m, low=-1, high=1, draws=2_000) for m in (margin, margin * 1.5)
    )

    assert order[wide.answer] >= order[narrow.answer]
    assert wide.lower == narrow.lower


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_order_and_never_lowers_a_p(p_values: list[float]) -> None:
    adjusted = holm(p_values)

    ranked = [adjusted[i] for i in np.argsort(p_values, kind="stable")]
    assert all(a is not None and a >= p - 1e-12 for a, p in zip(adjusted, p_values, strict=True))
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(ranked))  # type: ignore[operator]


@given(st.floats(0.05, 3), st.floats(0.02, 1))
def test_cases_needed_and_detectable_change_invert_each_other(sd: float, change: float) -> None:
    n = cases_needed(sd, change)

    seen = detectable_change(sd, n)

    assert seen is not None
    assert seen <= change * (1 + 1e-9)
    if n > 1:
        fewer = detectable_change(sd, n - 1)
        assert fewer is not None
        assert fewer >= change * (1 - 1e-9)


@given(scores)
def test_t_interval_is_symmetric_about_the_mean(observed: list[int]) -> None:
    found = t_mean(observed)

    if found.low is not None and found.high is not None:
        assert found.value == pytest.approx((found.low + found.high) / 2)
