"""A number too small for its digits is no "-0", no p is 0, and no interval reads as a point."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import make_run, passes
from test_pairwise_summary import row
from test_report_judged import page_of, results
from test_report_sections import words
from verdicts import prefer

from agenteval_kit import report
from agenteval_kit.judge.pairing import PairedDimension
from agenteval_kit.plots import plot_differences
from agenteval_kit.plots.parts import words as in_words
from agenteval_kit.report.changes import _cost_finding
from agenteval_kit.report.facts import Spent
from agenteval_kit.stats import Estimate
from agenteval_kit.summary.pairing import PairedLayer
from agenteval_kit.text import p_value

ROW = {"layer": "policy", "score": -0.003, "low": -0.0042, "high": -0.0022, "n": 12_000}


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.0, "p < 0.001"), (0.00099, "p < 0.001"), (0.001, "p 0.001"), (1.0, "p 1.000")],
)
def test_a_p_is_never_told_as_0(p: float, said: str) -> None:
    assert p_value(p) == said


def test_a_figure_has_the_digits_of_its_interval() -> None:
    frame = pd.DataFrame([ROW]).rename(columns={"score": "difference"})
    title: Any = plot_differences(frame).layout.title

    assert title.text.startswith("policy fell by 0.30 points (0.22 to 0.42)")


def test_a_rounded_0_has_no_sign_in_a_figure() -> None:
    flat = {**ROW, "score": -0.0001, "low": -0.05, "high": 0.05}

    assert in_words(flat, True) == "0 points (−5 to +5)"
    assert in_words({**flat, "score": -0.0}, False) == "0 % (−5 to 5)"


def test_a_table_of_a_frame_tells_a_p_a_rounded_0_and_a_narrow_interval() -> None:
    small = {"difference": -0.0001, "low": -0.0002, "high": -0.00005, "p": 0.0002, "p_holm": 0.2}
    wide = {"difference": -0.0001, "low": None, "high": None, "p": None, "p_holm": None}

    made = words(report.frame_table(pd.DataFrame([small, wide]), caption="Made."))

    assert "-0.00010 -0.00020 -0.00005 < 0.001 0.200" in made
    assert "0.000 not known not known" in made
    assert "-0.000 " not in made


def test_preferences_tell_a_small_p_as_small(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 60), name="old")
    new = prefer(make_run(tmp_path, passes(60, 60)), results(50, 0, 10))

    said = words(report.show_preferences(page_of(tmp_path, new, old)))

    assert "p < 0.001 (McNemar's z); exact p < 0.001, conservative" in said


def test_a_cost_that_hardly_moved_has_no_sign() -> None:
    def cost(usd: float) -> Spent:
        return Spent(1, usd, 1, None, 0, None, None, 0, None, None, 0, 0)

    assert _cost_finding(cost(99.9), cost(100)) == "Cost 99.90 USD, 0 % against the baseline"
    assert _cost_finding(cost(90), cost(100)) == "Cost 90.00 USD, −10 % against the baseline"


def test_shares_and_means_beside_a_narrow_interval_are_told_apart() -> None:
    ids, high, low = ("a", "b"), (1.0, 1.0), (0.9999, 0.9999)
    change = Estimate(-0.0001, -0.0002, -0.00005, 2)
    layer = PairedLayer("policy", ids, high, low, change, 0.01, 0.01, ids, (), (), True)
    tone = PairedDimension(
        "tone", "answer", (0, 1), ids, high, low, change, None, None, ids, (), ()
    )

    assert layer.shares() == "99.990 % against 100.000 % (mean over 2 cases)"
    assert "lower: 0.99990 against 1.00000 over 2 cases" in tone.finding


def test_flips_of_the_order_tell_a_small_p_as_small(tmp_path: Path) -> None:
    new = prefer(make_run(tmp_path, passes(20, 20)), {}, wanted=20)
    rows = [row(f"case-{at:03d}", "old", "new", new=new.id) for at in range(20)]
    shared = {"judge": "judge-x", "judge_digest": "pair-1"}
    with closing(new.writer()) as writer:
        writer.add_preferences(one.model_copy(update=shared) for one in rows)

    said = words(report.show_pairs(new))

    assert "100 % (84 to 100 %) 100 % (84 to 100 %) < 0.001" in said
