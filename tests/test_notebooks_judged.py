"""The notebooks on simulated users and on judges run from shipped data, without a network."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.render import execute_notebook
from agenteval_kit.runs import Run

NAMES = ("2_simulate", "3_judge")


def cells(root: Path, name: str) -> list[dict[str, object]]:
    notebook = json.loads((root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    found: list[dict[str, object]] = notebook["cells"]
    return found


def test_simulated_users_are_shown_with_their_ends_and_faults(root: Path, tmp_path: Path) -> None:
    started = time.perf_counter()

    page = execute_notebook(
        "2_simulate", parameters={"runs": tmp_path / "runs"}, out_html=tmp_path / "page.html"
    )

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    assert "7 conversations, 3 of them not scored." in text
    assert "the simulated user stated what it cannot know: or-71999" in text
    assert "users are SCRIPTED" in text
    assert "Traceback" not in text
    assert str(tmp_path) not in text


def test_a_run_is_judged_from_the_shipped_tape(root: Path, tmp_path: Path) -> None:
    started = time.perf_counter()
    run = tmp_path / "judged"

    page = execute_notebook("3_judge", parameters={"run": run}, out_html=tmp_path / "page.html")

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    assert sum(1 for _ in Run.open(run).verdict_rows()) == 63
    assert "63 verdicts: 0 calls, 119 more on the tape" in text
    assert "These judges are SCRIPTED" in text
    assert "3.44 (2.75 to 3.82)" in text
    assert 'class="plot"' in text
    assert "<mark>I have refunded 79.00 GBP" in text
    assert str(tmp_path) not in text
    # The line of progress moved in the kernel, and its last state stands on the page.
    assert text.count("63 of 63, 2 unscored · 124 replies, 124 from the tape") == 1
    assert "nothing spent" in text


def test_the_notebook_judges_the_other_suite_by_another_rubric(root: Path, tmp_path: Path) -> None:
    page = execute_notebook(
        "3_judge",
        parameters={
            "run": tmp_path / "helpdesk",
            "suite": root / "data" / "suites" / "helpdesk.yaml",
            "agent": root / "data" / "agents" / "helpdesk_v1.yaml",
            "rubric": root / "data" / "rubrics" / "grounding_0_3.yaml",
            "tape": root / "data" / "tapes" / "helpdesk.jsonl",
            "case": "pay-dropped",
            "dimension": "grounding",
        },
        out_html=tmp_path / "page.html",
    )

    text = page.read_text(encoding="utf-8")
    assert "2.97 (2.73 to 2.99)" in text
    assert "<mark>which counts for tax and pension too</mark>" in text


def test_a_judge_that_is_not_on_the_tape_stops_the_notebook_with_its_reason(
    root: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match='holds no reply of judge "gpt-9"'):
        execute_notebook(
            "3_judge",
            parameters={"run": tmp_path / "judged", "judges": ["gpt-9"]},
            out_html=tmp_path / "page.html",
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_short_and_says_whom_it_is_for(root: Path, name: str) -> None:
    found = cells(root, name)

    code = [cell for cell in found if cell["cell_type"] == "code"]
    first = "".join(found[0]["source"])  # type: ignore[arg-type]
    assert first.startswith("# ")
    assert "For " in first
    assert "SCRIPTED" in first
    assert len(code) <= 14
    assert all(len(cell["source"]) <= 16 for cell in code)  # type: ignore[arg-type]
    parameters = next(cell for cell in code if cell["metadata"])
    assert all("  # " in line for line in parameters["source"])  # type: ignore[attr-defined]
