"""The shipped notebooks run top to bottom from shipped data, and read as they should."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agenteval_kit.render import execute_notebook

TEACHING = ("0_tour", "1_check")


def cells(root: Path, name: str) -> list[dict[str, object]]:
    notebook = json.loads((root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    found: list[dict[str, object]] = notebook["cells"]
    return found


@pytest.mark.parametrize("name", TEACHING)
def test_a_notebook_runs_from_shipped_data(root: Path, tmp_path: Path, name: str) -> None:
    started = time.perf_counter()

    page = execute_notebook(
        name, parameters={"runs": tmp_path / "runs"}, out_html=tmp_path / f"{name}.html"
    )

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    assert 'class="plot"' in text
    assert "<table" in text
    assert "Traceback" not in text
    assert str(tmp_path) not in text


def test_the_release_notebook_runs_on_the_shipped_pair(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Away from the checkout, as an installed package meets it.
    monkeypatch.chdir(tmp_path)

    page = execute_notebook("7_release", out_html=tmp_path / "page.html", code="last")

    text = page.read_text(encoding="utf-8")
    assert "<b>REVIEW</b>" in text
    assert "no difference shown: 44 of 60 against 44 of 60" in text
    assert str(tmp_path) not in text
    assert str(root) not in text
    assert sorted(item.name.split("-")[1] for item in (tmp_path / "data" / "runs").iterdir()) == [
        "retail_tool_calling",
        "retail_with_preconditions",
    ]


@pytest.mark.parametrize("name", [*TEACHING, "7_release"])
def test_a_notebook_is_short_and_says_whom_it_is_for(root: Path, name: str) -> None:
    found = cells(root, name)

    code = [cell for cell in found if cell["cell_type"] == "code"]
    first = "".join(found[0]["source"])  # type: ignore[arg-type]
    assert first.startswith("# ")
    assert "For " in first
    assert len(code) <= 14
    assert all(len(cell["source"]) <= 16 for cell in code)  # type: ignore[arg-type]
    parameters = next(cell for cell in code if cell["metadata"])
    assert all("  # " in line for line in parameters["source"])  # type: ignore[attr-defined]
