"""The first screen of the release page, measured: four answers, and a link that leads on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from releases_made import crowded

from agenteval_kit.render import render_release
from agenteval_kit.report.answers import ANSWERS

pytestmark = pytest.mark.browser

SCREEN = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


def test_the_answers_of_a_crowded_page_stand_on_the_first_screen_and_lead_on(
    tmp_path: Path, browser: Browser
) -> None:
    run, baseline, bar, _ = crowded(tmp_path / "runs")
    (tmp_path / "bar.yaml").write_text(bar, encoding="utf-8")
    made = render_release(
        run, baseline=baseline, bar=tmp_path / "bar.yaml", out=tmp_path / "page.html"
    )
    page = browser.new_page(viewport=SCREEN)

    page.goto(made.html.as_uri())

    lines = page.locator(".answers > div")
    assert [text.partition(":")[0] for text in lines.all_inner_texts()] == list(ANSWERS)
    for at in range(len(ANSWERS)):
        box = lines.nth(at).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= SCREEN["height"]
        assert box["x"] + box["width"] <= SCREEN["width"]
    link = lines.nth(ANSWERS.index("Read first")).locator("a")
    place = (link.get_attribute("href") or "").removeprefix("#")
    link.click()
    target = page.locator(f"[id='{place}']")
    target.wait_for(state="visible")
    page.wait_for_timeout(300)
    box = target.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < SCREEN["height"]
    page.close()
