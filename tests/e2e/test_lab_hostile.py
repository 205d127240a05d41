"""A transcript that tries everything, in a real JupyterLab: tables, transcripts, labelling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import HOST, hostile_run
from playwright.sync_api import Page, sync_playwright

from tests.e2e.labelling import SCREEN, browser, notebook_of, show, wait_for_screen
from tests.e2e.labs import OUTPUTS, RUN_ALL, lab_at, open_notebook, until

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

CODE = """
from pathlib import Path
from agenteval_kit import Labeler, Run, report
from agenteval_kit.label import Session
from agenteval_kit.release import read_release

run = Run.open(Path({run!r}))
page = read_release(run.path, baseline={old!r}, bar={bar!r})
case = run.info.cases[0].id
display(report.style(), report.show_verdict(page), report.show_hard_fails(page))
display(report.show_records(page), report.show_reading_list(page), report.show_coverage(page))
display(report.show_transcript(run, case), page, run, run.verdicts_frame())
Labeler(Session(run, None, Path({labels!r}), "rater-a"))
"""


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        opened = browser(playwright, chromium)
        yield opened.new_page(viewport={"width": 1280, "height": 900})
        opened.close()


def test_it_runs_nothing_and_asks_for_nothing(root: Path, tmp_path: Path, page: Page) -> None:
    pytest.importorskip("jupyterlab", reason="JupyterLab is an extra of the package")
    old = hostile_run(tmp_path / "runs", name="old")
    run = hostile_run(tmp_path / "runs", name="new", failing=True)
    bar = tmp_path / "bar.yaml"
    bar.write_text("hard_layers: [outcome]\nmean: {tone: 3.3}\n")
    code = CODE.format(
        run=str(run.path), old=str(old.path), bar=str(bar), labels=str(tmp_path / "labels")
    )
    notebook_of(code, tmp_path / "project" / "hostile.ipynb")
    requests: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))

    with lab_at(tmp_path, root, variables={}) as address:
        open_notebook(page, address, "hostile.ipynb")
        page.evaluate(RUN_ALL)
        until(lambda: page.evaluate(OUTPUTS)[0]["count"] is not None, "the cell ran", seconds=120)
        assert page.evaluate(OUTPUTS)[0]["errors"] == []
        wait_for_screen(page)
        output = page.locator(".jp-OutputArea")
        page.evaluate(
            "() => document.querySelectorAll('.jp-OutputArea details')"
            ".forEach(part => { part.open = true; })"
        )
        # The filter needs no script, so it works here as on the page.
        page.locator(".records-box").evaluate("box => box.scrollIntoView()")
        page.get_by_role("combobox", name="judged dimension").select_option(index=1)
        left = page.locator("#record-list > li:visible").count()
        page.get_by_role("combobox", name="judged dimension").select_option(index=0)
        page.mouse.move(640, 500)
        page.wait_for_timeout(1500)
        show(page, "lab-hostile")
        said = output.first.inner_text()
        screen = page.locator(f"{SCREEN} .read").first.inner_text()
        planted = page.evaluate(
            "() => [...document.querySelectorAll('.jp-OutputArea :is(script, iframe, link, base, "
            'meta, img, [onmouseover], [onerror], [onload], a[href^="javascript:"])\')]'
            ".map(found => found.outerHTML.slice(0, 120))"
        )
        owned = page.evaluate("() => window.owned ?? null")

    assert left == 1
    assert HOST in said
    assert "<script>window.owned=1</script>" in said
    assert HOST in screen
    assert owned is None
    assert planted == []
    assert dialogs == []
    outside = [url for url in requests if not url.startswith((address, "data:", "blob:", "ws:"))]
    assert outside == []
    assert [url for url in requests if url.endswith("/x") or HOST in url] == []
