"""The notebooks on comparing and planning run from shipped data, and read as articles."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from builders import make_run, passes
from verdicts import judge, spread

from agenteval_kit.records import ComparisonStamp, PreferenceRow
from agenteval_kit.render import execute_notebook

NAMES = ("4_compare", "9_plan")


def test_two_recorded_versions_stand_side_by_side(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Away from the checkout, as an installed package meets it.
    monkeypatch.chdir(tmp_path)
    started = time.perf_counter()

    page = execute_notebook("4_compare", out_html=tmp_path / "page.html")

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    assert "no difference shown in any of 4 layers; outcome: 44 of 60 against 44 of 60" in text
    assert "to rule out 5 would take about 587 cases" in text
    assert "within noise" in text and "undecided" in text
    assert ": no judge has scored both runs.<" in text
    assert 'class="plot"' in text
    assert str(tmp_path) not in text and str(root) not in text


def test_judged_scores_and_preferences_are_shown_where_a_run_has_some(tmp_path: Path) -> None:
    old = judge(make_run(tmp_path, passes(12, 12), name="old"), spread({4: 8, 3: 4}))
    new = judge(make_run(tmp_path, passes(12, 11), name="new"), spread({4: 6, 3: 6}))
    shared = {
        "old": old.id, "new": new.id, "criterion": "more_useful", "layer": "outcome",
        "judge": "scripted-judge", "judge_digest": "d",
    }  # fmt: skip
    writer = new.writer()
    writer.add_comparisons(
        [
            ComparisonStamp(
                **shared, criterion_digest="c", definition="Which is of more use.", wanted=12,
                at="2026-03-02T09:00:00Z",
            )
        ]
    )  # fmt: skip
    writer.add_preferences(
        PreferenceRow(case_id=f"case-{at:03d}", outcome="new" if at < 7 else "old", **shared)
        for at in range(12)
    )
    writer.close()

    page = execute_notebook(
        "4_compare", parameters={"run": new.path, "baseline": old.path},
        out_html=tmp_path / "page.html",
    )  # fmt: skip

    text = page.read_text(encoding="utf-8")
    assert ": no judge has scored both runs.<" not in text
    assert "tone" in text
    assert "more_useful" in text


def test_a_suite_is_planned_from_its_recorded_runs(root: Path, tmp_path: Path) -> None:
    started = time.perf_counter()

    page = execute_notebook(
        "9_plan", parameters={"runs": tmp_path / "runs"}, out_html=tmp_path / "page.html"
    )

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    for told in (
        "cases to rule out a drop of 5 points, if nothing changed: about 587",
        "P(SHIP | nothing changed) = 0.555 (0.534 to 0.577)",
        "failures are missing, not labels",
        "judge calls for 16 cases",
        "P(SHIP | outcome fell by 10 points)",
    ):
        assert told in text
    assert "Traceback" not in text
    assert str(tmp_path) not in text and str(root) not in text


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_short_and_says_whom_it_is_for(root: Path, name: str) -> None:
    notebook = json.loads((root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))

    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    first = "".join(notebook["cells"][0]["source"])
    assert first.startswith("# ")
    assert "For " in first
    assert len(code) <= 14
    assert all(len(cell["source"]) <= 16 for cell in code)
    parameters = next(cell for cell in code if cell["metadata"])
    assert all("  # " in line for line in parameters["source"])
