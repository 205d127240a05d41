"""What lies beside a page and is not of an earlier report is not replaced, and neither the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_run, passes

from agenteval_kit.cli import main
from agenteval_kit.render import require_ours

NOTEBOOK = '{"cells": [{"cell_type": "code", "source": ["my_work = 1"]}]}'


@pytest.mark.parametrize(
    ("name", "text"),
    [("page.ipynb", NOTEBOOK), ("page.verdict.json", '{"judge": "me", "verdict": "SHIP"}')],
)
def test_a_file_of_somebody_else_beside_the_page_is_refused_and_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path, passes(5, 5))
    Path("bar.yaml").write_text("pass_rate: {outcome: 0.5}\n")
    Path(name).write_text(text)
    Path("page.html").write_text("<!doctype html>earlier")

    assert main(["report", "run", "--bar", "bar.yaml", "--out", "page.html"]) == 2

    assert capsys.readouterr().err == (
        f"{name}: is there and is not of an earlier report, so it is not replaced; name another "
        "page than page.html\n"
    )
    assert Path(name).read_text() == text
    assert Path("page.html").read_text() == "<!doctype html>earlier"


def test_what_an_earlier_report_left_is_replaced(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[1] / "notebooks/7_release.ipynb"
    (tmp_path / "page.ipynb").write_text(shipped.read_text("utf-8"), "utf-8")
    (tmp_path / "page.verdict.json").write_text('{\n "verdict": null\n}\n')

    require_ours(tmp_path / "page.html")


def test_an_empty_file_holds_nothing_that_could_be_lost(tmp_path: Path) -> None:
    (tmp_path / "page.ipynb").touch()

    require_ours(tmp_path / "page.html")
