"""The examples of the page on judging run, and its rubric loads."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from agenteval_kit.records.rubrics import INPUTS
from agenteval_kit.records.verdicts import FLAGS
from agenteval_kit.rubrics import load_rubric, rubric_warnings


def page(root: Path) -> str:
    return (root / "docs" / "judging.md").read_text(encoding="utf-8")


def test_the_examples_give_what_they_show(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)

    result = doctest.testfile(str(root / "docs" / "judging.md"), module_relative=False)

    assert result.attempted >= 6
    assert result.failed == 0


def test_the_rubric_on_the_page_loads_without_a_warning(root: Path, tmp_path: Path) -> None:
    text = re.search(r"```yaml\n(name: .*?)```", page(root), re.DOTALL)
    assert text is not None
    file = tmp_path / "rubric.yaml"
    file.write_text(text[1], encoding="utf-8")

    rubric = load_rubric(file)

    assert rubric_warnings(rubric) == []
    assert rubric.dimensions[0].panel == 3


def test_the_page_names_every_input_every_flag_and_every_shipped_rubric(root: Path) -> None:
    text = page(root)

    shipped = [f"data/rubrics/{path.name}" for path in (root / "data" / "rubrics").glob("*.yaml")]
    named = [*INPUTS, *(name for name in FLAGS if name != "evidence_not_found"), *shipped]

    assert [name for name in named if name not in text] == []
    assert "evidence not found" in text
