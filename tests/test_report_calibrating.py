"""The tables, the figure and the notebook of a calibration: people first, escaped, whole."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from labelled import NOW, label, labelled_run, people_and_judge
from verdicts import scored_run

from agenteval_kit import report
from agenteval_kit.calibrate import calibrate_run, corrected_run, label_next, read_calibration
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import LabelSet
from agenteval_kit.plots import plot_agreement
from agenteval_kit.render import execute_notebook
from agenteval_kit.report import Html


def words(shown: Html) -> str:
    """What a person reads, without the markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", shown.markup).split())


def test_an_ambiguous_rubric_stands_before_each_number_of_the_judge(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 120, accuracy=0.5, judge_accuracy=0.5)
    result = calibrate_run(run, labels, now=NOW)

    people, judge = words(report.show_ceiling(result)), words(report.show_beside(result))

    for shown in (people, judge):
        assert "tone rubric ambiguous" in shown
    exact = f"{result.of('tone').agreement.exact.value:.2f}"
    assert judge.index("rubric ambiguous") < judge.index(exact)
    assert "120 of 120 read by two or more of 2 people" in people
    assert "by chance" in people


def test_a_dominated_dimension_says_so_under_its_confusion(tmp_path: Path) -> None:
    people = {f"c{i:03d}": 4 if i < 91 else 2 for i in range(100)}
    said = {case: 4 if i < 89 or i >= 96 else 2 for i, case in enumerate(people)}
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, {"anna": people, "ben": people})
    result = calibrate_run(run, labels, now=NOW)

    confusion, trust = (
        words(report.show_confusion(result, "tone")),
        words(report.show_trust(result)),
    )

    # The judge gives a 4 to 89 that people give a 4, and to 4 that they give a 2; two labels each.
    assert "judge 4 0 8 0 178 186" in confusion
    assert "200 labels on 100 held-out transcripts" in confusion
    assert "what always saying 4 would reach, 0.91" in confusion
    assert "what always saying 4 would reach, 0.91" in trust
    assert "provisional" in trust
    assert "kappa_quadratic at least 0.4 and a gap above −0.1, on the bound" in trust


def test_the_first_dimension_is_looked_at_where_none_is_named(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {f"c{i}": 4 for i in range(8)})
    labels = label(tmp_path / "labels", run, {"anna": {f"c{i}": 4 for i in range(8)}})
    result = calibrate_run(run, labels, now=NOW)

    assert report.show_confusion(result) == report.show_confusion(result, "tone")
    with pytest.raises(ConfigError, match=r'^dimension "mood" was neither judged nor labelled\. '
                       r"Known: tone\.$"):  # fmt: skip
        report.show_confusion(result, "mood")


def test_what_was_not_labelled_or_judged_has_reasons_in_place_of_numbers(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": 3})
    result = calibrate_run(run, LabelSet(None, ()), now=NOW)

    assert "no items with both scores" in words(report.show_ceiling(result))
    assert "Nobody has labelled it" in words(report.show_trust(result))
    assert "never calibrated" in words(report.show_corrected(corrected_run(run, result)))
    assert "0 labels on 0 held-out transcripts" in words(report.show_confusion(result, "tone"))
    figure = plot_agreement(result.agreement_frame())
    assert figure.layout.title.text == "No quadratic kappa of a judge with people"


def test_the_corrected_mean_and_what_to_label_next_stand_with_their_reasons(
    tmp_path: Path,
) -> None:
    said, people = people_and_judge(80, raters=1)
    run = scored_run(tmp_path, said)
    some = {"anna": dict(list(people["rater-1"].items())[:40])}
    labels = label(tmp_path / "labels", run, some, inclusion=0.5)
    result = calibrate_run(run, labels, now=NOW)

    corrected = words(report.show_corrected(corrected_run(run, result)))
    following = words(report.show_next(label_next(run, labels, now=NOW, n=5)))

    assert "40 of 80, uniform" in corrected
    assert "labelled so far; labels there narrow the corrected mean most" in following
    assert "40 transcripts with one label" not in following
    assert "5 transcripts with one label: a second person on" in following


def test_the_figure_says_on_how_many_dimensions_the_rule_is_reached(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 120, accuracy=0.9, judge_accuracy=0.9)
    frame = calibrate_run(run, labels, now=NOW).agreement_frame()

    with_rule, without = plot_agreement(frame, at_least=0.4), plot_agreement(frame)

    assert with_rule.layout.title.text == "The judge's lower bound reaches 0.4 on 1 of 1 dimension"
    assert without.layout.title.text.startswith("tone: quadratic kappa 0.")
    assert [trace.name for trace in with_rule.data] == [
        "people with each other",
        "judge with people",
    ]
    with pytest.raises(ConfigError, match='no row of "kapa"; the frame has exact'):
        plot_agreement(frame, statistic="kapa")


def test_names_of_cases_and_dimensions_are_escaped(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    run = scored_run(tmp_path, {bad: 4, "b": 3}, name=f"run{0}", levels=(3, 4))
    labels = label(tmp_path / "labels", run, {"anna": {"b": 3}}, levels=(3, 4))

    shown = report.show_next(label_next(run, labels, now=NOW))

    assert "<script>" not in shown.markup
    assert "&lt;script&gt;" in shown.markup


def test_the_notebook_calibrates_the_shipped_recipes(root: Path, tmp_path: Path) -> None:
    started = time.perf_counter()

    page = execute_notebook(
        "6_calibrate",
        parameters={"run": tmp_path / "recipes", "calibration": tmp_path / "kept.json"},
        out_html=tmp_path / "page.html",
    )

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    shown = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "52 recorded recipes that people rated" in shown
    assert shown.index("rubric ambiguous") < shown.index("Then the judge beside them")
    assert "a constant judge: it gave 1 to all 26 held-out transcripts" in shown
    assert "people: kappa 0.85" in shown
    assert "Traceback" not in text
    assert str(tmp_path / "recipes") not in text
    kept = read_calibration(tmp_path / "kept.json")
    assert {one.state for one in kept.dimensions} == {"provisional"}
    assert len(kept.looks) == 2


def test_the_notebook_is_short_and_says_whom_it_is_for(root: Path) -> None:
    notebook = json.loads((root / "notebooks" / "6_calibrate.ipynb").read_text(encoding="utf-8"))

    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert "For data scientists" in "".join(notebook["cells"][0]["source"])
    assert len(code) <= 14
    assert all("  # " in line for line in code[0]["source"])
