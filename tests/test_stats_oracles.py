"""Our closed forms and fast engines against other implementations, and slow twins of our own."""

from __future__ import annotations

import subprocess
import sys
import warnings

import evalica
import numpy as np
import pandas as pd
import pytest
from scipy import stats as sps
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from agenteval_kit.stats import measures
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.anchored import anchored_draws, as_levels, gaffke_draws, merge
from agenteval_kit.stats.mean import anchored_mean, clustered_error, t_mean
from agenteval_kit.stats.multiple import holm
from agenteval_kit.stats.observed import cluster_codes
from agenteval_kit.stats.paired import paired_binary, paired_scores, sign_flip_p
from agenteval_kit.stats.pairwise import noise_margin
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.ranking import bradley_terry
from agenteval_kit.stats.repeats import variance_components
from agenteval_kit.stats.score_interval import exact_p, mcnemar_p, tango
from agenteval_kit.stats.trust import TrustRule, ceiling_gap, chance_trusted, kappa_gap

LEVELS = (1, 2, 3, 4)
SKEWED = (0.03, 0.07, 0.25, 0.65)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_statsmodels_wilson(level: float) -> None:
    for n in (1, 7, 263, 10_000):
        for passed in {0, 1, n // 3, n - 1, n}:
            low, high = proportion_confint(passed, n, alpha=1 - level, method="wilson")

            found = wilson(passed, n, level=level)

            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-10)


@pytest.mark.parametrize("pairs", [(0, 0), (4, 0), (28, 35), (150, 86), (900, 1100)])
def test_mcnemar_and_exact_p_are_those_of_the_libraries(pairs: tuple[int, int]) -> None:
    b, c = pairs
    table = [[10, b], [c, 10]]

    if b + c:
        assert mcnemar_p(b, c) == pytest.approx(
            mcnemar(table, exact=False, correction=False).pvalue, abs=1e-12
        )
    wanted = sps.binomtest(b, b + c).pvalue if b + c else 1.0
    assert exact_p(b, c) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("counts", [(3, 5, 20), (0, 4, 10), (9, 0, 60), (0, 0, 20), (20, 20, 40)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_tango_ends_solve_the_score_equation(counts: tuple[int, int, int], level: float) -> None:
    # Numerical inversion of the definition: profile the loss rate by maximising the likelihood.
    from scipy.optimize import brentq, minimize_scalar

    b, c, n = counts
    z = sps.norm.ppf(0.5 + level / 2)

    def statistic(difference: float) -> float:
        low, high = max(0.0, -difference), (1 - difference) / 2

        def loss(q: float) -> float:
            cells = ((c, q + difference), (b, q), (n - b - c, 1 - 2 * q - difference))
            return -sum(k * np.log(max(p, 1e-300)) for k, p in cells if k)

        q = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
        best = min((low, high, q), key=loss)
        variance = max(n * (2 * best + difference * (1 - difference)), 1e-300)
        return (c - b - n * difference) / np.sqrt(variance)

    found = tango(b, c, n, level=level)

    assert found.low is not None
    assert found.high is not None
    for sign, end in ((1, found.low), (-1, found.high)):
        if abs(end) < 1:
            span = (-1 + 1e-9, (c - b) / n) if sign > 0 else ((c - b) / n, 1 - 1e-9)
            root = brentq(lambda d, s=sign: statistic(d) - s * z, *span, xtol=1e-10)
            assert end == pytest.approx(root, abs=2e-5)


def test_clustered_error_and_t_are_those_of_statsmodels_ols() -> None:
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 12, size=70)
    y = rng.integers(1, 5, size=70).astype(float)
    codes = cluster_codes(groups)

    ours = t_mean(y, clusters=groups, estimand="case")

    fit = OLS(y, np.ones(70)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    assert clustered_error(y, codes) == pytest.approx(float(fit.bse[0]), rel=1e-12)
    assert (ours.low, ours.high) == pytest.approx(fit.conf_int()[0], rel=1e-9)


def test_paired_t_and_permutation_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.choice(LEVELS, size=12, p=SKEWED), rng.choice(LEVELS, size=12, p=SKEWED)
    d = after - before

    found = paired_scores(before, after, levels=LEVELS)

    t = sps.ttest_1samp(d, 0)
    permuted = sps.permutation_test(
        (d,), lambda x, axis: np.abs(x.sum(axis=axis)), permutation_type="samples",
        n_resamples=np.inf, alternative="greater", vectorized=True,
    )  # fmt: skip
    assert found.t_statistic == pytest.approx(float(t.statistic))
    assert found.p_t == pytest.approx(float(t.pvalue))
    assert (found.t.low, found.t.high) == pytest.approx(tuple(t.confidence_interval()))
    assert found.p_sign_flip == pytest.approx(float(permuted.pvalue))


def test_sampled_sign_flips_agree_with_the_exact_ones() -> None:
    rng = np.random.default_rng(2)
    many = rng.normal(0.1, 1, size=60).round(6)
    few = (rng.choice([-2, -1, 0, 1, 2], size=3_000) + (rng.random(3_000) < 0.03)).astype(float)

    # Different sizes cannot be listed and are sampled; the normal limit is the witness.
    for d in (many, few):
        z = abs(d.sum()) / np.sqrt((d**2).sum())
        assert sign_flip_p(d) == pytest.approx(2 * sps.norm.sf(z), abs=0.03)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_evalicas_with_labels_missing(metric: str) -> None:
    rng = np.random.default_rng(11)
    truth = rng.choice(LEVELS, size=(80, 1), p=SKEWED)
    ratings = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], size=(80, 4)), 1, 4).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # evalica warns of pandas deprecations, not ours to mend
        theirs = evalica.alpha(pd.DataFrame(ratings.T), distance=metric).alpha

    ours = alpha(ratings, metric=metric)  # type: ignore[arg-type]

    assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_many_levels_takes_the_other_road_to_the_same_value() -> None:
    # 40 levels do not fit one integer code; the slow counting must agree with the fast one.
    rng = np.random.default_rng(12)
    ratings = rng.integers(0, 4, size=(50, 3)).astype(float)

    fast = alpha(ratings, metric="interval")
    slow = alpha(ratings, metric="interval", levels=range(40))

    assert slow.value == pytest.approx(fast.value, abs=1e-12)


def test_kappa_is_statsmodels_kappa() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        table = rng.integers(0, 9, size=(4, 4)).astype(float)
        for weighting, wt in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
            theirs = cohens_kappa(table, wt=wt).kappa

            ours = float(measures.kappa(table, weighting=weighting))  # type: ignore[arg-type]

            assert ours == pytest.approx(theirs, abs=1e-12)


def test_bradley_terry_is_the_logistic_regression() -> None:
    from statsmodels.api import GLM, families

    rng = np.random.default_rng(6)
    names, strength = ["a", "b", "c", "d"], np.array([0.0, 0.5, 1.0, -0.3])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4) for _ in range(25)]
    won = [rng.random() < 1 / (1 + np.exp(strength[j] - strength[i])) for i, j in pairs]
    design = np.zeros((len(pairs), 4))
    for row, (i, j) in enumerate(pairs):
        design[row, i], design[row, j] = 1, -1

    ours = bradley_terry(
        [names[i] for i, _ in pairs], [names[j] for _, j in pairs], np.array(won, dtype=float),
        reference="a", draws=200,
    )  # fmt: skip

    fit = GLM(np.array(won, dtype=float), design[:, 1:], family=families.Binomial()).fit()
    for name, point, error in zip(names[1:], fit.params, fit.bse, strict=True):
        one = ours.log_strength[name]
        assert one.value == pytest.approx(float(point), abs=1e-5)
        assert one.half_width == pytest.approx(1.96 * float(error), rel=0.25)


def test_variance_components_of_balanced_repeats_are_the_analysis_of_variance() -> None:
    # Two-way check by hand on Shrout and Fleiss's ratings as 6 cases of 4 repeats: between mean
    # square 11.24, within 6.26, hence icc (11.24 - 6.26) / (11.24 + 3 x 6.26) = 0.166.
    y = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    )

    found = variance_components(y.ravel(), cases=np.repeat(np.arange(6), 4))

    assert found.within == pytest.approx(6.2639, abs=1e-4)
    assert found.between == pytest.approx((11.2417 - 6.2639) / 4, abs=1e-4)
    assert found.icc == pytest.approx(0.1657, abs=1e-4)
    assert found.icc_mean == pytest.approx(0.4428, abs=1e-4)
    assert found.mean_error == pytest.approx(y.mean(axis=1).std(ddof=1) / np.sqrt(6), abs=1e-9)


def slow_anchored_draws(values: list[float], levels: tuple[int, ...], draws: int) -> np.ndarray:
    """The definition, one weight an observation and no merging: kept as the readable twin."""
    rng = np.random.default_rng(99)
    drawn = []
    for _ in range(draws):
        g = rng.exponential(size=len(values))
        k = rng.gamma(1 / len(levels), size=len(levels))
        drawn.append((g @ np.array(values) + k @ np.array(levels)) / (g.sum() + k.sum()))
    return np.array(drawn)


@pytest.mark.parametrize("values", [[4.0] * 12, [1, 4, 4, 3, 4, 2, 4], [3.4, 2.2, 4.0, 4.0, 3.4]])
def test_anchored_draws_are_the_definition_one_weight_a_case(values: list[float]) -> None:
    ours = anchored_draws(
        merge(np.array(values, dtype=float)), levels=as_levels(LEVELS), draws=20_000, seed=0
    )

    twin = slow_anchored_draws([float(v) for v in values], LEVELS, 5_000)
    assert sps.ks_2samp(ours, twin).pvalue > 1e-4


def test_gaffke_of_no_moved_case_is_the_beta_bound() -> None:
    # All differences 0, worst -1: the mean is -Exp(1) over a sum of n + 1, a Beta(1, n).
    drawn = gaffke_draws(merge(np.zeros(60)), worst=-1.0, draws=200_000, seed=0)

    assert np.quantile(drawn, 0.05) == pytest.approx(-(1 - 0.05 ** (1 / 60)), abs=1e-3)


def test_one_seed_gives_one_answer_and_it_is_recorded() -> None:
    x = [4, 3, 2, 4, 1]

    one, same, other = (anchored_mean(x, levels=LEVELS, seed=s) for s in (1, 1, 2))

    assert one == same
    assert one.low != other.low
    assert (one.seed, other.seed) == (1, 2)


def test_memory_stays_flat_where_every_scenario_differs() -> None:
    import tracemalloc

    x = np.random.default_rng(0).uniform(1, 4, size=20_000)
    tracemalloc.start()

    anchored_mean(x, levels=LEVELS, draws=300)

    # 20,000 values x 300 draws would be 48 MB at once; blocks hold 16 MB and their sums.
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


def test_the_chance_of_trust_rises_with_labels_and_failures() -> None:
    rule = TrustRule(min_labels=20)
    balanced, skewed = (15, 25, 35, 25), (1, 2, 7, 90)

    few, many, rare = (
        chance_trusted(shares, 0.8, n, rule=rule, replicates=60)["trusted"]
        for shares, n in ((balanced, 50), (balanced, 200), (skewed, 200))
    )

    assert few < many
    assert rare < many / 2


def test_wilson_and_tango_load_no_numpy() -> None:
    code = (
        "import sys; from agenteval_kit.stats import tango, wilson; wilson(3, 4); tango(1, 2, 9);"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'statsmodels') if m in sys.modules])"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "[]"


def test_paired_binary_names_broken_and_fixed_by_position() -> None:
    found = paired_binary([1, 1, 0, None, 0], [1, 0, 1, 1, 0])

    assert (found.broken_at, found.fixed_at, found.dropped) == ((1,), (2,), 1)
    assert found.diag == "1 not scored on both sides; 2 changed: too few changes to tell"


def test_a_judge_that_copies_the_first_person_has_the_gap_of_a_half() -> None:
    # Judge = first: agreement 1 with the first, p with the second, so the gap is (1 - p) / 2.
    first, second = [1, 2, 3, 4] * 10, [1, 2, 3, 3] * 10

    exact = ceiling_gap(first, first, second)
    corrected = kappa_gap(first, first, second, levels=LEVELS)

    kappa = float(
        measures.kappa(
            measures.cross_table(
                np.array(first, dtype=float), np.array(second, dtype=float),
                levels=as_levels(LEVELS), mass=None,
            ),
            weighting="quadratic",
        )
    )  # fmt: skip
    assert exact.value == pytest.approx((1 - 0.75) / 2)
    assert corrected.value == pytest.approx((1 - kappa) / 2)


def test_noise_margin_is_half_of_scipys_percentile_interval() -> None:
    settled = np.random.default_rng(9).choice([0.0, 0.5, 1.0], size=80, p=[0.3, 0.3, 0.4])

    ours = noise_margin(settled)

    theirs = sps.bootstrap(
        (settled,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert ours.margin == pytest.approx((theirs.high - theirs.low) / 2, abs=0.006)
    assert ours.diag == ""


def test_noise_margin_of_a_lopsided_interval_says_so() -> None:
    # One loss in twelve: three lost of twelve resampled is the low end, none the high one.
    found = noise_margin([1.0] * 11 + [0.0])

    assert found.diag.startswith("interval asymmetric: 0.92 (0.75 to 1.00)")


def test_few_scenarios_are_said_to_be_few() -> None:
    x = np.random.default_rng(1).choice(LEVELS, size=58).astype(float)
    of_29 = np.repeat(np.arange(29), 2)

    assert t_mean(x, clusters=of_29).diag == "only 29 scenarios: t is too narrow below 30"
    assert t_mean(x, clusters=np.arange(58) % 30).diag == ""
    assert anchored_mean(x, levels=LEVELS, clusters=np.arange(58) % 9).diag == "only 9 scenarios"
    assert anchored_mean(x, levels=LEVELS, clusters=np.arange(58) % 10).diag == ""


def test_a_share_of_all_or_none_says_so() -> None:
    remarks = [wilson(passed, 20).diag for passed in (0, 1, 19, 20)]

    assert remarks == ["none of 20", "", "", "all of 20"]
    assert wilson(1, 1).diag == "n = 1"


def test_holm_is_to_the_bit_what_statsmodels_gives() -> None:
    rng = np.random.default_rng(5)
    # Small and rounded, so that ties, zeros and ones are among them.
    for n in rng.integers(2, 12, size=300).tolist():
        p_values = np.round(rng.random(n) ** 3, rng.integers(1, 17)).tolist()

        adjusted = holm([*p_values, None])

        assert adjusted == [*multipletests(p_values, method="holm")[1].tolist(), None]
