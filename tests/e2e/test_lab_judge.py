"""Judging in a real JupyterLab: the progress moves, an interrupt loses nothing, the rest is asked.

With AGENTEVAL_SCREENSHOTS set to a folder, what was seen is kept there.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from agenteval_kit.models.tape import Tape
from agenteval_kit.runs import Run
from agenteval_kit.targets import load_target
from agenteval_kit.testing import Answer, Asked, ScriptedServer
from tests.e2e.labs import INTERRUPT, OUTPUTS, RUN_ALL, lab_at, open_notebook, until

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

LINE = re.compile(r"(\d+) of (\d+), \d+ unscored")
JUDGING = 7  # the cell that judges, counted from 0
SCROLL = "at => jupyterapp.shell.currentWidget.content.scrollToItem(at, 'start')"
PARAMETERS = {"run": "judged", "base_url_env": "JUDGES_URL", "tape": None}


@pytest.fixture
def server(root: Path, tmp_path: Path) -> Iterator[ScriptedServer]:
    """The scripted judges, each of them thinking for a second or two."""
    answer = load_target("scripted_models.py:answer", folder=root / "data" / "tapes", fresh=True)

    def late(asked: Asked) -> Answer:
        made: Answer = answer(asked)
        return made.after(1.0 + 0.3 * (asked.n % 6))

    with ScriptedServer(late, log=tmp_path / "asked.jsonl") as served:
        yield served


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield browser.new_page(viewport={"width": 1400, "height": 1000})
        browser.close()


def with_parameters(notebook: Path, folder: Path) -> None:
    """A copy of a notebook whose defaults a person has changed."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cell = next(one for one in content["cells"] if one["metadata"].get("tags") == ["parameters"])
    changed = [
        f"{name} = {PARAMETERS[name]!r}\n" if (name := line.split(" = ")[0]) in PARAMETERS else line
        for line in cell["source"]
    ]
    assert sum(a != b for a, b in zip(cell["source"], changed, strict=True)) == len(PARAMETERS)
    cell["source"] = changed
    folder.mkdir(parents=True)
    (folder / notebook.name).write_text(json.dumps(content), encoding="utf-8")


def progress_of(page: Page) -> tuple[int, int]:
    """What the line of progress says: done and total; 0 of 0 before it stands there."""
    return read_progress(page.evaluate(OUTPUTS))


def read_progress(cells: list[dict[str, str]]) -> tuple[int, int]:
    found = next((match for cell in cells if (match := LINE.search(cell["text"]))), None)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def all_ran(page: Page, *, after: int = 0) -> bool:
    cells = page.evaluate(OUTPUTS)
    return all(cell["count"] and cell["count"] > after and cell["state"] != "running"
               for cell in cells)  # fmt: skip


def show(page: Page, name: str) -> None:
    """Keep what a person would see of the cell that judges."""
    folder = os.environ.get("AGENTEVAL_SCREENSHOTS")
    if folder is not None:
        page.evaluate(SCROLL, JUDGING)
        page.wait_for_timeout(800)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_kernel_is_interrupted_in_the_middle_of_judging_and_resumes(
    root: Path, tmp_path: Path, server: ScriptedServer, page: Page
) -> None:
    pytest.importorskip("jupyterlab", reason="JupyterLab is an extra of the package")
    project = tmp_path / "project"
    with_parameters(root / "notebooks" / "3_judge.ipynb", project / "notebooks")
    with lab_at(tmp_path, root, variables={"JUDGES_URL": server.base_url}) as address:
        open_notebook(page, address, "notebooks/3_judge.ipynb")

        page.evaluate(RUN_ALL)
        seen: set[int] = set()

        def moved() -> bool:
            seen.add(progress_of(page)[0])
            return len(seen) >= 4 and max(seen) >= 10

        until(moved, "the progress moves", seconds=40)
        show(page, "lab-judging")
        page.evaluate(INTERRUPT)
        until(lambda: all_ran(page), "the interrupted notebook is at its end", seconds=20)

        first = page.evaluate(OUTPUTS)
        done, total = progress_of(page)
        before = len(server.asked)
        kept = len(Tape(project / "notebooks" / "judged" / "calls.jsonl"))
        show(page, "lab-interrupted")
        assert any("Stopped: interrupted" in cell["text"] for cell in first)
        assert not any(cell["errors"] for cell in first)
        assert total == 63
        assert 10 <= done < total
        assert 10 <= kept < before

        page.evaluate(RUN_ALL)
        most = max(cell["count"] for cell in first)
        until(lambda: all_ran(page, after=most), "the second run is at its end", seconds=45)
        last = page.evaluate(OUTPUTS)
        show(page, "lab-resumed")

    run = Run.open(project / "notebooks" / "judged")
    rows = list(run.verdict_rows())
    assert not any(cell["errors"] for cell in last)
    assert read_progress(last) == (63, 63)
    assert len(rows) == 63
    assert sum(row.score is None for row in rows) == 2
    # Nothing whose reply had arrived was asked again: only what was in flight was.
    times = Counter(asked.digest for asked in server.asked)
    again = {digest for digest, count in times.items() if count > 1}
    assert max(times.values()) <= 2
    assert len(again) == before - kept
    assert len(again) <= server.most_in_flight
    assert len(times) == len(Tape(run.tape_path)) == 124
