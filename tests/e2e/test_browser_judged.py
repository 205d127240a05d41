"""The judged half of the release page in a real browser: harmless, readable, linked, narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import make_run
from playwright.sync_api import Browser, Page, sync_playwright
from test_browser_report import CONTRAST, HOSTILE, QUIET
from verdicts import judge, prefer

from agenteval_kit.records import Turn
from agenteval_kit.render import render_release

pytestmark = pytest.mark.browser

NAMES = [f"case-{at:02d}" for at in range(12)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run with a baseline and a history in which the judge changes; all texts hostile."""
    root = tmp_path_factory.mktemp("judged")
    turns = (Turn(role="user", text=HOSTILE), Turn(role="assistant", text=f"Done. {HOSTILE}"))
    runs = []
    for name, digest in (("r0", "judge-0"), ("r1", "judge-1"), ("r2", "judge-1")):
        run = make_run(
            root / "runs",
            {case: {"conversation": True, "policy": True} for case in NAMES},
            name=name,
            turns={(case, 0): turns for case in NAMES},
        )
        said = {case: [4, 4, 4] for case in NAMES} | {"case-00": [1, 3, 4], "case-01": [2, 4, 2]}
        judge(run, said, digest=digest, model=f"scripted-{HOSTILE}", justification=HOSTILE)
        runs.append(run)
    prefer(runs[2], dict.fromkeys(NAMES, "tie") | {"case-03": "old"}, old="r1",
           flipped=["case-04"])  # fmt: skip
    bar = root / "bar.yaml"
    bar.write_text("hard_layers: [policy]\nmean: {tone: 3.3}\nwin_rate: {outcome: {margin: 0.1}}\n")
    made = render_release(
        runs[2], baseline=runs[1], bar=bar, history=root / "runs", out=root / "page.html"
    )
    assert made.verdict == "REVIEW"
    return made.html


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield started
        started.close()


def opened(browser: Browser, path: Path, *, width: int = 1120, scheme: str = "light") -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        offline=True,
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator("svg.main-svg").first.wait_for()
    return page


def unfold(page: Page) -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")


def test_what_judges_say_does_nothing_and_every_section_stands(
    browser: Browser, report: Path
) -> None:
    page = opened(browser, report)
    unfold(page)
    page.wait_for_timeout(300)

    assert page.evaluate("() => window.owned") is None
    assert page.locator("main img, main script").count() == 0
    for place in ("#judged", "#preferences", "#judged-trends", "#reading", "#coverage"):
        assert page.locator(place).is_visible()
    assert page.get_by_text("SCRIPTED judge").count() >= 2
    assert page.locator("svg.mark.broad").is_visible()


@pytest.mark.parametrize("width", [1120, 390])
def test_the_judged_page_never_scrolls_sideways(browser: Browser, report: Path, width: int) -> None:
    page = opened(browser, report, width=width)
    unfold(page)

    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_that_is_said_of_judges_can_be_read(
    browser: Browser, report: Path, scheme: str
) -> None:
    page = opened(browser, report, scheme=scheme)
    unfold(page)

    assert page.evaluate(CONTRAST) == []


def test_evidence_leads_to_its_turn(browser: Browser, report: Path) -> None:
    page = opened(browser, report)

    page.locator("#reading ~ .scroll a", has_text="case-00").first.click()
    page.wait_for_timeout(100)

    record = page.locator('[id="record-case-00"]')
    assert record.get_attribute("open") == ""
    assert "panel split: 1, 3, 4" in record.inner_text()
