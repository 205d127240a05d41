"""The labelling notebook runs without a person, shows nothing of a judge, and says how to go on."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agenteval_kit.labels import read_sample
from agenteval_kit.render import execute_notebook


def test_it_runs_without_a_person_and_says_what_is_there(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Away from the checkout, as an installed package meets it.
    monkeypatch.chdir(tmp_path)
    started = time.perf_counter()

    page = execute_notebook("5_label", out_html=tmp_path / "page.html")

    text = page.read_text(encoding="utf-8")
    drawn = read_sample(tmp_path / "data" / "labels" / "support" / "samples" / "first-look.json")
    assert time.perf_counter() - started < 60
    assert len(drawn.items) == 16
    assert drawn.design == "by_judge"
    assert "The labelling screen stands here in JupyterLab and Voilà." in text
    assert "rater-a: 0 of 16 transcripts done, 0 skipped, 0 labels saved" in text
    assert "nobody has said anything yet" in text
    assert "judges are SCRIPTED" in text
    assert "Traceback" not in text
    assert str(tmp_path) not in text
    assert str(root) not in text
    # How many a judge failed would prime whoever labels next.
    assert not any(one.name in text for one in drawn.strata)


def test_fresh_transcripts_for_a_calibration_leave_out_what_was_read(tmp_path: Path) -> None:
    folder, run = tmp_path / "labels", tmp_path / "run"
    first = {"run": run, "labels": folder, "n": 4}
    execute_notebook("5_label", parameters=first, out_html=tmp_path / "first.html")
    read = read_sample(folder / "samples" / "first-look.json").items
    rows = [
        {"run": run.name, "case_id": one.case_id, "dimension": "goal_completion", "score": 3,
         "rater": "ana", "at": "2026-03-02T09:00:00Z", "sample": "first-look"}
        for one in read
    ]  # fmt: skip
    (folder / "ana.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    page = execute_notebook(
        "5_label",
        parameters={"run": run, "labels": folder, "purpose": "calibration", "sample": "fresh"},
        out_html=tmp_path / "second.html",
    )

    fresh = read_sample(folder / "samples" / "fresh.json")
    assert fresh.purpose == "calibration"
    assert len(fresh.items) == 12
    assert not {one.case_id for one in fresh.items} & {one.case_id for one in read}
    assert "rater-a: 0 of 12 transcripts done" in page.read_text(encoding="utf-8")


def test_it_is_short_and_says_whom_it_is_for(root: Path) -> None:
    notebook = json.loads((root / "notebooks" / "5_label.ipynb").read_text(encoding="utf-8"))
    found = notebook["cells"]

    code = [cell for cell in found if cell["cell_type"] == "code"]
    first = "".join(found[0]["source"])
    assert first.startswith("# ")
    assert "For " in first
    assert "SCRIPTED" in first
    assert len(code) <= 14
    assert all(len(cell["source"]) <= 20 for cell in code)
    parameters = next(cell for cell in code if cell["metadata"].get("tags") == ["parameters"])
    assert all("  # " in line for line in parameters["source"])
    # Keys work in this cell, and none of them may delete it.
    screen = next(cell for cell in code if "Labeler(session)" in "".join(cell["source"]))
    assert screen["metadata"]["deletable"] is False
