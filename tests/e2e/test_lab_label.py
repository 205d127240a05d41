"""Labelling in a real JupyterLab, by keyboard alone: nothing is lost, and no cell either.

With AGENTEVAL_SCREENSHOTS set to a folder, what was seen is kept there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from agenteval_kit.render.opened import copy_with_parameters
from tests.e2e.labelling import (
    SCREEN,
    alert,
    browser,
    lines,
    place,
    progress,
    report_pace,
    show,
    tab_into,
    wait_for_screen,
)
from tests.e2e.labs import OUTPUTS, RUN_ALL, lab_at, open_notebook, until

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

NOTEBOOK = "notebooks/5_label.ipynb"
CELLS = "() => jupyterapp.shell.currentWidget.content.model.cells.length"
PID = """
async () => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const asked = kernel.requestExecute({ code: 'import os; print(os.getpid())' });
  let said = '';
  asked.onIOPub = message => { said += message.content.text ?? ''; };
  await asked.done;
  return Number(said);
}
"""


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        opened = browser(playwright, chromium)
        yield opened.new_page(viewport={"width": 1280, "height": 800})
        opened.close()


@pytest.fixture
def lab(root: Path, tmp_path: Path) -> Iterator[str]:
    """A JupyterLab with the labelling notebook: three transcripts, one dimension."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is an extra of the package")
    copy_with_parameters(
        root / NOTEBOOK,
        {"dimensions": ["goal_completion"], "sample": "three", "n": 3},
        out=tmp_path / "project" / NOTEBOOK,
    )
    with lab_at(tmp_path, root, variables={}) as address:
        yield address


def start(page: Page, address: str) -> None:
    """Run every cell, and come to the screen without the mouse."""
    open_notebook(page, address, NOTEBOOK)
    page.evaluate(RUN_ALL)
    wait_for_screen(page)
    tab_into(page)


def press(page: Page, key: str, *, until_progress: str) -> None:
    page.keyboard.press(key)
    until(lambda: progress(page) == until_progress, f"{key} is done", seconds=60)


def test_three_transcripts_are_labelled_the_kernel_is_killed_and_one_is_changed(
    lab: str, tmp_path: Path, page: Page
) -> None:
    file = tmp_path / "project" / "notebooks" / "data" / "labels" / "support" / "rater-a.jsonl"

    start(page, lab)
    show(page, "lab-label-light")
    assert progress(page) == "0 of 3"
    press(page, "3", until_progress="1 of 3")
    press(page, "4", until_progress="2 of 3")
    press(page, "1", until_progress="3 of 3")
    report_pace(page)
    first = lines(file)
    show(page, "lab-label-finished")
    assert [line["score"] for line in first] == [3, 4, 1]
    assert len({line["case_id"] for line in first}) == 3

    os.kill(page.evaluate(PID), signal.SIGKILL)
    # JupyterLab looks every three seconds whether its kernel lives; its question takes the keys.
    page.locator(".jp-Dialog", has_text="appears to have died").wait_for()
    page.keyboard.press("Enter")
    page.locator(".jp-Dialog").wait_for(state="detached")
    page.keyboard.press("Backspace")
    page.keyboard.press("2")
    until(lambda: "does not answer" in alert(page), "the silence is told", seconds=60)
    show(page, "lab-label-killed")

    start(page, lab)
    assert progress(page) == "3 of 3"
    assert "All 3 transcripts are labelled" in page.locator(f"{SCREEN} .done").inner_text()
    page.keyboard.press("Backspace")
    page.locator(f"{SCREEN} .head").wait_for()
    opened = place(page).split(" · ")[0]
    before = next(line for line in first if line["case_id"] == opened)
    chosen = page.locator(f'{SCREEN} [aria-checked="true"] kbd').inner_text()
    assert chosen == str(before["score"])
    page.keyboard.press("2")
    until(lambda: len(lines(file)) == 4, "the change is on the disk", seconds=60)
    until(page.locator(f"{SCREEN} .done").is_visible, "it is finished again", seconds=60)

    last = lines(file)
    assert last[:3] == first
    assert (last[3]["case_id"], last[3]["score"]) == (opened, 2)
    assert not any(cell["errors"] for cell in page.evaluate(OUTPUTS))


def test_keys_that_delete_cells_in_jupyterlab_delete_none_here(lab: str, page: Page) -> None:
    start(page, lab)
    cells = page.evaluate(CELLS)

    # Into the transcript, onto a level's border, and beside the screen: then d d, and x.
    for spot in (f"{SCREEN} .turn .said", f"{SCREEN} .top", f"{SCREEN} .keys"):
        page.locator(spot).first.click()
        for key in "ddx":
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        assert page.evaluate(CELLS) == cells
        assert page.locator(SCREEN).is_visible()
    box = page.locator(SCREEN).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] - 12, box["y"] + 60)
    for key in "dd":
        page.keyboard.press(key)
    page.wait_for_timeout(500)

    assert page.evaluate(CELLS) == cells
    assert page.locator(SCREEN).is_visible()


def test_it_is_dark_where_jupyterlab_is_dark(lab: str, page: Page) -> None:
    start(page, lab)
    page.evaluate(
        "() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    until(
        lambda: page.evaluate("() => document.body.dataset.jpThemeLight") == "false",
        "the theme is dark",
        seconds=20,
    )
    page.wait_for_timeout(500)
    show(page, "lab-label-dark")

    ground, ink = page.evaluate(
        f"""() => {{
          const style = getComputedStyle(document.querySelector('{SCREEN} .read'));
          return [style.backgroundColor, style.color].map(
            one => one.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
        }}"""
    )
    assert ground < 200 < ink
