"""The page on calibration: its numbers are those that its code gives on the shipped recipes."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.gate import load_bar
from agenteval_kit.records.bars import TrustRule


def test_the_numbers_of_the_page_are_those_that_its_code_gives(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents", "labels", "published", "rubrics", "suites", "tapes"):
        shutil.copytree(root / "data" / name, tmp_path / "data" / name)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "data/suites/recipes.yaml", "--out", "data/runs/recipes"]) == 0
    tape = "data/tapes/recipes.jsonl"
    assert main(["judge", "data/runs/recipes", "--replay", tape]) == 0

    result = doctest.testfile(str(root / "docs" / "calibration.md"), module_relative=False)

    assert result.attempted > 12
    assert result.failed == 0


def test_the_rule_on_the_page_is_the_default(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "calibration.md").read_text(encoding="utf-8")

    block = re.search(r"```yaml\n(trust:.*?)```", page, re.DOTALL)

    assert block is not None
    bar = tmp_path / "bar.yaml"
    bar.write_text(f"hard_layers: [policy]\n{block[1]}", encoding="utf-8")
    assert load_bar(bar).bar.trust == TrustRule()


def test_a_tour_writes_no_second_entry_into_a_calibration_that_is_kept(root: Path) -> None:
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]

    calls = [line for line in lines if line.startswith("agenteval calibrate data/runs/recipes")]

    assert len(calls) == 2
    assert all("--out reports/" in line for line in calls)
