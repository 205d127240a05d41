"""Published values, each reproduced by our functions within its stated tolerance.

The sources stand in tests/golden/published_values.json, one an entry, and in the test ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agenteval_kit.stats import measures
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.bootstrap import bca
from agenteval_kit.stats.mean import clustered_error, t_mean
from agenteval_kit.stats.measures import named
from agenteval_kit.stats.multiple import holm
from agenteval_kit.stats.multirater import (
    analytic_ac,
    analytic_kappa,
    fleiss_of_counts,
    intraclass_correlation,
    multirater,
)
from agenteval_kit.stats.observed import cluster_codes
from agenteval_kit.stats.paired import paired_scores, sign_flip_p
from agenteval_kit.stats.pairwise import preference_p
from agenteval_kit.stats.power import cases_needed
from agenteval_kit.stats.ppi import ppi_mean
from agenteval_kit.stats.proportion import clopper_pearson, wilson
from agenteval_kit.stats.ranking import bradley_terry
from agenteval_kit.stats.repeats import pass_at_k, pass_hat_k
from agenteval_kit.stats.rogan_gladen import lee_interval, rogan_gladen
from agenteval_kit.stats.score_interval import exact_p, mcnemar_p

ENTRIES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "golden" / "published_values.json").read_text(encoding="utf-8")
)
Values = dict[str, Any]


def two_raters(data: Values) -> Values:
    key = "table" if "table" in data else "table_rows_rater1_cols_rater2"
    table = np.array(data[key], dtype=float)
    ours: Values = {}
    for name, weighting in (("", "none"), ("_linear", "linear"), ("_quadratic", "quadratic")):
        analytic = analytic_kappa(table, weighting=weighting)  # type: ignore[arg-type]
        # The point is our own formula; the library only supplies the analytic error.
        ours[f"kappa{name}"] = float(measures.kappa(table, weighting=weighting))  # type: ignore[arg-type]
        assert analytic.estimate.value == pytest.approx(ours[f"kappa{name}"], abs=1e-12)
        ours[f"kappa{name}_se"] = analytic.error
        ours[f"kappa{name}_se0"] = analytic.error_null
        ours[f"kappa{name}_ci"] = [analytic.estimate.low, analytic.estimate.high]
    for name, weighting in (
        ("ac1", "none"),
        ("ac2_linear", "linear"),
        ("ac2_quadratic", "quadratic"),
    ):
        found = analytic_ac(table, weighting=weighting)  # type: ignore[arg-type]
        assert found.estimate.value == pytest.approx(float(named(name)(table)), abs=1e-12)
        ours[name], ours[f"{name}_se"] = found.estimate.value, found.error
        ours[f"{name}_ci_t"] = [found.estimate.low, found.estimate.high]
    if "disagreement_weights" in data:
        own = analytic_kappa(
            table, disagreement=np.array(data["disagreement_weights"], dtype=float)
        )
        ours["kappa_w"] = own.estimate.value
    return ours


def four_raters(data: Values) -> Values:
    ratings = np.array(data["raters_by_unit"], dtype=float).T
    ours: Values = {}
    for coefficient in ("gwet", "fleiss"):
        for weighting in ("none", "linear", "quadratic", "ordinal"):
            name = f"{coefficient}_{'identity' if weighting == 'none' else weighting}"
            found = multirater(ratings, coefficient=coefficient, weighting=weighting)  # type: ignore[arg-type]
            ours[name], ours[f"{name}_se"] = found.estimate.value, found.error
    ours["krippendorff_identity"] = alpha(ratings, metric="nominal").value
    ours["krippendorff_quadratic"] = alpha(ratings, metric="interval").value
    return ours


def krippendorff(data: Values) -> Values:
    ratings = np.array(data["raters_by_unit"], dtype=float).T
    return {
        metric: alpha(ratings, metric=metric).value  # type: ignore[arg-type]
        for metric in ("nominal", "ordinal", "interval", "ratio")
    }


def fleiss(data: Values) -> Values:
    counts = np.array(data["counts"], dtype=float)
    fixed = fleiss_of_counts(counts)
    return {
        "kappa": fixed,
        "fixed_marginal": fixed,
        "free_marginal": fleiss_of_counts(counts, margins="free"),
    }


def one_proportion(data: Values) -> Values:
    passed, n = (int(x) for x in data["k_of_n"].split("/"))
    ours = {"wilson": wilson(passed, n), "clopper_pearson": clopper_pearson(passed, n)}
    return {name: [one.low, one.high] for name, one in ours.items()}


def mcnemar(data: Values) -> Values:
    (_, b), (c, _) = data["table"]
    chi2, corrected = (b - c) ** 2 / (b + c), (abs(b - c) - 1) ** 2 / (b + c)
    return {
        "chi2": [chi2, mcnemar_p(b, c)],
        "chi2cc": [corrected, mcnemar_p(b, c, continuity=True)],
        "exact": exact_p(b, c),
    }


def darwin(data: Values) -> Values:
    differences = data["differences"]
    found = paired_scores([0] * len(differences), differences, levels=range(-75, 76))
    p = sign_flip_p(differences)
    return {
        "t": found.t_statistic,
        "p": found.p_t,
        "ci": [found.t.low, found.t.high],
        "perm_p": p,
        "perm_count_of_32768": p * 32768,
    }


def games(data: Values) -> Values:
    if "wins" in data:
        lines = [(*pair.split(">"), many) for pair, many in data["wins"].items()]
        reference = "A"
    else:
        teams = data["teams"]
        lines = [
            (teams[i], teams[j], many)
            for i, row in enumerate(data["wins_row_over_col"])
            for j, many in enumerate(row)
        ]
        reference = teams[-1]
    first = [a for a, _, many in lines for _ in range(many)]
    second = [b for _, b, many in lines for _ in range(many)]
    found = bradley_terry(first, second, [1.0] * len(first), reference=reference, draws=5)
    ours: Values = dict(found.strength)
    if "teams" in data:
        logs = [found.log_strength[team].value for team in data["teams"]]
        ours["log_ability_Baltimore0"] = logs
    return ours


def pass_k(data: Values) -> Values:
    keys = next(e for e in ENTRIES if e["id"] == "pass_at_k_and_pass_hat_k")["expected"]
    ours = {}
    for key in keys:
        n, rest = key[1:].split("c")
        c, k = rest.split("k")
        ours[key] = [
            measure([int(c)], [int(n)], int(k)).value for measure in (pass_at_k, pass_hat_k)
        ]
    return ours


def icc(data: Values) -> Values:
    found = intraclass_correlation(data["targets_by_judge"])
    return {name: getattr(found, name.lower()) for name in
            ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")}  # fmt: skip


def miller(data: Values) -> Values:
    return {"n": cases_needed(data["omega2"] ** 0.5, data["delta"])}


def scenarios(data: Values) -> Values:
    y = np.array(data["y"], dtype=float)
    codes = cluster_codes(np.repeat(np.arange(len(y) // data["cluster_size"]), 4))
    plain = t_mean(y)
    assert plain.half_width is not None
    return {
        "mean": plain.value,
        # t(23) at 97.5 % is 2.068658 (any table): the half-width over it is the naive error.
        "naive_se": plain.half_width / 2.0686576104190406,
        "CR0": clustered_error(y, codes, small_sample=False),
        "CR1": clustered_error(y, codes),
    }


def spatial(data: Values) -> Values:
    return {"theta": bca([data["x"]], np.var, draws=100).value}


def correlation(a: Any, b: Any, axis: int) -> Any:
    a, b = a - a.mean(axis=axis, keepdims=True), b - b.mean(axis=axis, keepdims=True)
    return (a * b).sum(axis=axis) / np.sqrt((a**2).sum(axis=axis) * (b**2).sum(axis=axis))


def law_school(data: Values) -> Values:
    pairs = np.array(data["lsat_gpa"], dtype=float)
    return {"r": bca([pairs[:, 0], pairs[:, 1]], correlation, draws=100).value}


def readme_correction(data: Values) -> Values:
    cells = {
        "true_passes": data["tp"],
        "false_fails": data["fn"],
        "true_fails": data["tn"],
        "false_passes": data["fp"],
    }
    lee = lee_interval(
        data["judge_pass"] / data["judge_n"],
        data["judge_n"],
        sensitivity=data["tp"] / 80,
        specificity=data["tn"] / 40,
        passes=80,
        fails=40,
    )
    ends = {
        "tpr_fail_caught_wilson": wilson(data["tn"], 40),
        "tnr_wilson": wilson(data["tp"], 80),
        "raw_wilson": wilson(data["judge_pass"], data["judge_n"]),
        "ci": lee,
    }
    table = np.array([[data["tn"], data["fp"]], [data["fn"], data["tp"]]], dtype=float)
    return {
        "theta": rogan_gladen(data["judge_pass"], data["judge_n"], **cells).value,
        "kappa": float(measures.kappa(table)),
        **{name: [one.low, one.high] for name, one in ends.items()},
    }


def judgy(data: Values) -> Values:
    human, judge = np.array(data["test_labels"]), np.array(data["test_preds"])
    found = rogan_gladen(
        sum(data["unlabeled_preds"]),
        len(data["unlabeled_preds"]),
        true_passes=int(((human == 1) & (judge == 1)).sum()),
        false_fails=int(((human == 1) & (judge == 0)).sum()),
        true_fails=int(((human == 0) & (judge == 0)).sum()),
        false_passes=int(((human == 0) & (judge == 1)).sum()),
        # At 95 % eight labels do not show that the judge tells anything: no answer is the answer.
        level=0.5,
    )
    return {"theta": found.value}


def lee(data: Values) -> Values:
    found = lee_interval(
        data["p"],
        data["n"],
        sensitivity=data["q1_sensitivity"],
        specificity=data["q0_specificity"],
        passes=data["m1"],
        fails=data["m0"],
    )
    return {"theta": found.value, "ci": [found.low, found.high]}


def ppi(data: Values) -> Values:
    rest = [int(s) for s, many in data["Yhat_unlabeled_counts"].items() for _ in range(many)]
    asked = {
        "lam0": (0.0, None),
        "lam1": (1.0, None),
        "lam_auto": ("auto", None),
        "lam1_w(1,1,1,2,2,1,1,1,1,2,1,1)": (1.0, [1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1, 1]),
    }
    ours = {}
    for name, (power, weights) in asked.items():
        found = ppi_mean(
            data["Y"], data["Yhat"], unlabelled=rest, power=power, weights=weights  # type: ignore[arg-type]
        )  # fmt: skip
        ours[name] = [found.value, found.low, found.high]
    return ours


def faultline(data: Values) -> Values:
    table = np.array(data["table_human_by_judge"], dtype=float)
    share = wilson(int(np.trace(table)), int(table.sum()))
    return {
        "agreement": share.value,
        "agreement_wilson": [share.low, share.high],
        "kappa": float(measures.kappa(table)),
    }


def mt_bench_joined(data: Values) -> Values:
    # 953 of 1,078 agree; kappa and win rates of that table are quoted without its counts.
    return {"agreement_decisive": wilson(953, data["decisive_comparisons"]).value}


REPRODUCE: dict[str, Callable[[Values], Values]] = {
    "kappa_cohen1960": two_raters,
    "kappa_cohen1968_weighted": two_raters,
    "kappa_fleiss1981": two_raters,
    "kappa_sas_3x3": two_raters,
    "kappa_sas_skincondition": two_raters,
    "kappa_sexualfun": two_raters,
    "kappa_paradox_a": two_raters,
    "kappa_paradox_b": two_raters,
    "kappa_gwet_125": two_raters,
    "gwet_abstractors": two_raters,
    "gwet_4raters_12subjects": four_raters,
    "alpha_krippendorff_4x12": krippendorff,
    "fleiss_wikipedia": fleiss,
    "randolph_free_marginal": fleiss,
    "wilson_newcombe_81_of_263": one_proportion,
    "wilson_newcombe_0_of_20": one_proportion,
    "mcnemar_aoki_cabinet": mcnemar,
    "mcnemar_agresti_approval": mcnemar,
    "holm_wikipedia": lambda data: {"holm_adjusted": holm(data["p"])},
    "paired_darwin_maize": darwin,
    "sign_exact": lambda data: {"p": preference_p(data["wins"], data["losses"]).p_exact},
    "bt_wikipedia": games,
    "bt_agresti_baseball1987": games,
    "pass_at_k_and_pass_hat_k": pass_k,
    "icc_shrout_fleiss": icc,
    "power_miller2024": miller,
    "clustered_se": scenarios,
    "bca_spatial": spatial,
    "bca_lawschool": law_school,
    "rogan_gladen_40_80_400": readme_correction,
    "judgy_quickstart": judgy,
    "lee2025_ci": lee,
    "ppi_ordinal_12_40": ppi,
    "faultline_24_labels": faultline,
    "mtbench_hf_joined": mt_bench_joined,
}
# Random runs: drawn again in a test of their own.
STOCHASTIC = {"bca_spatial": "bca90", "bca_lawschool": "bca95"}
# Quoted figures whose counts are published nowhere: nothing to compute them from.
WITHOUT_DATA = {
    "mtbench_hf_joined": {
        "kappa_decisive", "gpt4_judge_winrate", "gpt4_human_winrate", "gap_ci",
    },
    "mtbench_paper_quoted": {
        "gpt4_human_agreement_non_tie", "human_human_agreement_non_tie",
        "gpt4_position_consistency",
    },
}  # fmt: skip


def test_every_published_entry_is_reproduced_or_named_as_without_data() -> None:
    listed = {entry["id"] for entry in ENTRIES}

    assert listed == set(REPRODUCE) | {"mtbench_paper_quoted"}


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e["id"] in REPRODUCE], ids=lambda e: e["id"]
)
def test_published_value_is_reproduced(entry: dict[str, Any]) -> None:
    wanted, tolerance = entry["expected"], entry["tolerance"]

    ours = REPRODUCE[entry["id"]](entry["data"])

    skipped = WITHOUT_DATA.get(entry["id"], set()) | {STOCHASTIC.get(entry["id"], "")}
    for key in wanted.keys() - skipped:
        allowed = tolerance[key] if isinstance(tolerance, dict) else tolerance
        assert ours[key] == pytest.approx(wanted[key], abs=allowed), (key, entry["source"])


def entry(name: str) -> dict[str, Any]:
    return next(one for one in ENTRIES if one["id"] == name)


def columns_of(one: dict[str, Any]) -> list[Any]:
    data = one["data"]
    return [data["x"]] if "x" in data else list(zip(*data["lsat_gpa"], strict=True))


# A bootstrap is one random run: to reproduce it is to draw the same run again. The file records one
# of 100,000 resamples (scipy 1.17.1, numpy's default generator at seed 1, found by its digits).
@pytest.mark.parametrize(("name", "level"), [("bca_spatial", 0.90), ("bca_lawschool", 0.95)])
def test_recorded_run_of_bca_is_reproduced_and_within_tolerance_of_the_printed_ends(
    name: str, level: float
) -> None:
    one, key = entry(name), STOCHASTIC[name]
    columns = columns_of(one)
    statistic = np.var if len(columns) == 1 else correlation

    run = bca(columns, statistic, level=level, draws=100_000, seed=1)

    assert [run.low, run.high] == pytest.approx(one["verified"][key], abs=1e-6)
    assert [run.low, run.high] == pytest.approx(one["expected"][key], abs=one["tolerance"][key])


# The printed ends are single runs too, of 2,000 resamples (Efron and Tibshirani 1993, chapter 14)
# and of 20,000 (arch 8.0.0). The limits of both, from 6 million resamples counted by separate code,
# are (115.72, 261.26) and (0.3324, 0.9418): no further from the printed ends than the tolerance in
# the file and two Monte Carlo errors of a run of that size.
@pytest.mark.parametrize(
    ("name", "draws", "level", "limit", "near"),
    [
        ("bca_spatial", 2_000, 0.90, (115.72, 261.26), 1.0),
        ("bca_lawschool", 20_000, 0.95, (0.3324, 0.9418), 0.006),
    ],
)
def test_published_bca_is_one_run_of_ours(
    name: str, draws: int, level: float, limit: tuple[float, float], near: float
) -> None:
    one, key = entry(name), STOCHASTIC[name]
    columns = columns_of(one)
    statistic = np.var if len(columns) == 1 else correlation

    runs = [bca(columns, statistic, level=level, draws=draws, seed=seed) for seed in range(40)]

    ends = np.array([[run.low, run.high] for run in runs])
    middle, error = ends.mean(axis=0), ends.std(axis=0)
    assert (np.abs(middle - one["expected"][key]) <= one["tolerance"][key] + 2 * error).all()
    assert middle == pytest.approx(limit, abs=near)


def test_outputs_of_other_programs_are_reproduced_too() -> None:
    # irrCAC 0.4.4 and statsmodels 0.15.0, as recorded under "verified".
    tables = [one for one in ENTRIES if one["topic"] == "cohen_kappa"]

    for one in tables:
        ours = two_raters(one["data"])
        for key, wanted in one["verified"].items():
            if key in ours:
                assert ours[key] == pytest.approx(wanted, abs=2e-6), (one["id"], key)
