"""A count of a thousand reads '1,000' wherever people read it, and stays a number for machines."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from builders import make_run, passes
from verdicts import judge, spread

from agenteval_kit import report
from agenteval_kit.ci import check_markdown, decision_markdown
from agenteval_kit.cli import main
from agenteval_kit.compare import compare_checks
from agenteval_kit.gate import decide, load_bar
from agenteval_kit.plots import plot_layers, plot_verdicts
from agenteval_kit.report.page import show_clauses
from agenteval_kit.runs import Run
from agenteval_kit.stats import Estimate
from agenteval_kit.summary import summarise

CASES = 1200
BAR = "pass_rate: {outcome: 0.5}\nno_worse: {outcome: {margin: 0.05}}\nmean: {tone: 2}\n"
# What is no count: part of an id, a date, a digest, a number with a fraction.
BARE = re.compile(r"(?<![\w.#/:−-])[1-9]\d{3,}(?![\w/:-]|\.\d)")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run, Run]:
    """A bar, a baseline and a run with more than a thousand cases, judged."""
    root = tmp_path_factory.mktemp("large")
    (root / "bar.yaml").write_text(BAR, encoding="utf-8")
    old = make_run(root, passes(CASES, 1010), name="old")
    new = make_run(root, passes(CASES, 1100))
    for run in (old, new):
        judge(run, spread({3: 1100, 2: CASES - 1100}))
    return root / "bar.yaml", old, new


def bare(text: str) -> Sequence[str]:
    """Lines with a count of four digits or more in one piece."""
    return [line for line in text.splitlines() if BARE.search(line)]


def seen(markup: str) -> str:
    """What is read of a page, and what a screen reader is told of its drawings."""
    said = " ".join(re.findall(r'aria-label="([^"]*)"', markup))
    return html.unescape(re.sub(r"<[^>]+>", "\n", markup) + "\n" + said)


def test_gate_and_compare_part_the_thousands(
    large: tuple[Path, Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    bar, old, new = large

    assert main(["gate", str(new.path), "--bar", str(bar), "--baseline", str(old.path)]) == 1
    gate = capsys.readouterr().out
    assert main(["compare", str(old.path), str(new.path)]) == 0
    compared = capsys.readouterr().out

    assert "1,100 of 1,200 against 1,010 of 1,200" in gate
    assert "1,100 of 1,200 against 1,010 of 1,200" in compared
    assert not bare(gate)
    assert not bare(compared)


def test_a_summary_in_markdown_parts_the_thousands(large: tuple[Path, Run, Run]) -> None:
    bar, old, new = large

    gate = decision_markdown(decide(new, load_bar(bar), baseline=old))
    check = check_markdown(new.info, summarise(new))

    assert "1,100 of 1,200" in gate
    assert "1,100 of 1,200" in check
    assert not bare(gate)
    assert not bare(check)


def test_the_page_parts_the_thousands_in_sentences_cells_and_drawings(
    large: tuple[Path, Run, Run],
) -> None:
    bar, old, new = large
    made = report.gather_release(
        new, summarise(new), decision=decide(new, load_bar(bar), baseline=old), baseline=old,
        before=summarise(old), comparison=compare_checks(old, new), judged=report.read_judged(new),
    )  # fmt: skip

    page = seen(
        "".join(
            str(show(made))
            for show in (
                report.show_verdict, show_clauses, report.show_layers, report.show_dimensions,
                report.show_records, report.show_coverage, report.show_cost, report.show_changes,
                report.show_stamps,
            )
        )
    )  # fmt: skip

    assert "1,200 of 1,200" in page
    assert not bare(page)


def test_a_frame_on_a_page_parts_the_thousands_of_all_but_a_seed() -> None:
    shown = report.frame_table(pd.DataFrame({"n": [1200], "seed": [20261]}), caption="Made.")

    assert "1,200" in str(shown)
    assert "20261" in str(shown)


def test_a_figure_parts_the_thousands() -> None:
    rows = {"layer": "outcome", "score": 0.9, "low": 0.8, "high": 0.95, "n": 1200}
    layers = plot_layers(pd.DataFrame([rows]))
    verdicts = plot_verdicts(
        pd.DataFrame({"dimension": "tone", "judge_digest": "j", "score": 3}, index=range(1200))
    )

    assert "n = 1,200" in layers.to_json()
    assert "1,200 verdicts at 3: 1,200 on tone" in verdicts.layout.title.text
    assert "3: 1,200" in verdicts.to_json()


def test_an_estimate_in_a_notebook_parts_the_thousands() -> None:
    assert "n = 1,200" in Estimate(0.5, 0.4, 0.6, 1200)._repr_html_()


def test_machines_read_plain_numbers(
    large: tuple[Path, Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    bar, _, new = large

    main(["gate", str(new.path), "--bar", str(bar), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert said["rows"][0]["estimate"]["n"] == CASES
