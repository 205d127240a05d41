"""The release page in a real browser, network cut: seen, read, filtered, printed, harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from builders import make_run
from hostile import HOST, HOSTILE, hostile_run
from playwright.sync_api import Browser, Page, sync_playwright

from agenteval_kit.records import Turn
from agenteval_kit.render import render_release

pytestmark = pytest.mark.browser

WIDTHS = {"wide": 1120, "narrow": 390}
# Nothing of Chromium's own may reach for the network, so that a request is always the page's.
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-extensions",
)  # fmt: skip

CONTRAST = """
() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    if (!element.checkVisibility || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.closest("svg") ? style.fill : style.color).slice(0, 3);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([ratio.toFixed(2), walker.currentNode.data.trim()]);
  }
  return poor;
}
"""


@dataclass
class Seen:
    """What a page did while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


Open = Callable[..., Seen]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a run whose every text is hostile, with a baseline and a history."""
    root = tmp_path_factory.mktemp("report")
    turns = (
        Turn(role="user", text=HOSTILE),
        Turn(role="assistant", text=f"I have refunded you. {HOSTILE}"),
        *(Turn(role="user" if at % 2 else "assistant", text=f"turn {at}") for at in range(12)),
    )
    names = [f"case-{at:02d}" for at in range(11)] + [f"bad {HOSTILE}"]
    both = {"outcome": True, "policy": True}
    old = make_run(
        root / "runs",
        {name: [both, both] for name in names},
        name="old",
        turns={(name, repeat): turns for name in names for repeat in (0, 1)},
    )
    new = make_run(
        root / "runs",
        {
            name: [{"outcome": at > 3, "policy": at < 11}, {"outcome": at > 2, "policy": at < 11}]
            for at, name in enumerate(names)
        },
        name="new",
        turns={(name, repeat): turns[:-3] for name in names for repeat in (0, 1)},
    )
    bar = root / "bar.yaml"
    bar.write_text(
        "hard_layers: [policy]\npass_rate: {outcome: 0.6}\nno_worse: {outcome: {margin: 0.05}}\n"
    )
    made = render_release(
        new, baseline=old, bar=bar, history=root / "runs", out=root / "out" / "report.html"
    )
    assert made.verdict == "HOLD"
    return made.html


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens a file with the network cut and notes what the page asks for and complains of."""
    contexts = []

    def opened(path: Path, *, width: str = "wide", scheme: str = "light") -> Seen:
        context = browser.new_context(
            viewport={"width": WIDTHS[width], "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        seen = Seen(page)
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("dialog", lambda dialog: seen.complaints.append(f"dialog {dialog.message}"))
        page.goto(path.as_uri())
        return seen

    yield opened
    for context in contexts:
        context.close()


def unfold(page: Page) -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")


def test_every_figure_is_drawn_with_the_network_cut(report: Path, open_page: Open) -> None:
    seen = open_page(report)

    figures = seen.page.locator("figure.plot")
    assert figures.count() == 3
    for at in range(figures.count()):
        figure = figures.nth(at)
        figure.locator("svg.main-svg").first.wait_for()
        box = figure.bounding_box()
        assert box is not None
        assert box["width"] > 600
        assert box["height"] > 150
        assert figure.locator("path.point, .points path").count() > 0
        assert figure.locator("[role=img]").get_attribute("aria-label")
        assert figure.locator("figcaption").inner_text()
    assert [url for url in seen.requests if not url.startswith("file:")] == []
    assert seen.complaints == []


def test_a_hostile_transcript_does_nothing(report: Path, open_page: Open) -> None:
    seen = open_page(report)
    unfold(seen.page)
    seen.page.wait_for_timeout(300)

    assert seen.page.evaluate("() => window.owned") is None
    assert seen.page.locator("main img").count() == 0
    assert seen.page.locator("main script").count() == 0
    assert seen.page.locator('a[href^="javascript:"]').count() == 0
    said = seen.page.locator("#record-list .said").first.inner_text()
    assert "<script>window.owned=1</script>" in said
    assert "⟦U+202E⟧evil" in said
    # The table that a transcript tried to end is whole: the page goes on after it.
    assert seen.page.locator("#coverage").is_visible()
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("file:")] == []


def test_a_script_that_got_in_would_not_run(report: Path, open_page: Open) -> None:
    seen = open_page(report)

    seen.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
        " document.body.append(s); }"
    )

    assert seen.page.evaluate("() => window.owned") is None
    assert any("Content Security Policy" in text for text in seen.complaints)


def test_the_page_is_used_by_keyboard(report: Path, open_page: Open) -> None:
    page = open_page(report).page

    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.locator('input[value="all"]').focus()
    page.keyboard.press("ArrowRight")
    shown = page.locator("#record-list > li:visible")
    assert page.locator(".filter label:has(:checked)").inner_text() == "broken (4)"
    assert shown.count() == page.locator("#record-list > li:has(.badge:text('broken'))").count() > 0
    page.locator("#record-list > li:visible summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#record-list > li:visible details").first.get_attribute("open") == ""
    # A filter hides records, never the turns within them.
    assert page.locator("#record-list > li:visible .turn:visible").count() > 10
    assert page.locator(".scroll[tabindex='0']").count() > 3


def test_a_record_is_found_by_its_name(report: Path, open_page: Open) -> None:
    page = open_page(report).page

    page.get_by_role("searchbox", name="find a record by its name").fill("CASE-07")

    assert page.locator("#record-list > li:visible").count() == 1


def test_a_link_opens_the_record_it_leads_to(report: Path, open_page: Open) -> None:
    page = open_page(report).page

    page.locator(".verdict a").first.click()

    page.wait_for_timeout(100)
    target = page.evaluate("() => decodeURIComponent(location.hash.slice(1))")
    record = page.locator(f'[id="{target}"]')
    assert record.get_attribute("open") == ""
    assert record.evaluate("e => { const b = e.getBoundingClientRect();"
                           " return b.top < innerHeight && b.bottom > 0; }")  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(
    report: Path, open_page: Open, scheme: str
) -> None:
    page = open_page(report, scheme=scheme).page
    page.locator("svg.main-svg").first.wait_for()
    unfold(page)

    poor = page.evaluate(CONTRAST)

    assert poor == []


@pytest.mark.parametrize("width", list(WIDTHS))
def test_the_page_itself_never_scrolls_sideways(report: Path, open_page: Open, width: str) -> None:
    page = open_page(report, width=width).page
    page.locator("svg.main-svg").first.wait_for()
    unfold(page)

    assert page.evaluate("() => document.documentElement.scrollWidth") <= WIDTHS[width]


@pytest.mark.parametrize("width", list(WIDTHS))
def test_the_longest_verdict_stands_on_one_line(report: Path, open_page: Open, width: str) -> None:
    page = open_page(report, width=width).page
    lines = """word => {
      const verdict = document.querySelector('.verdict > b');
      verdict.textContent = word;
      const range = document.createRange();
      range.selectNodeContents(verdict);
      return new Set([...range.getClientRects()].map(one => Math.round(one.top))).size;
    }"""

    assert [page.evaluate(lines, word) for word in ("SHIP", "HOLD", "REVIEW")] == [1, 1, 1]


def test_the_page_prints(report: Path, open_page: Open, tmp_path: Path) -> None:
    page = open_page(report).page
    page.locator("svg.main-svg").first.wait_for()

    printed = page.pdf(format="A4", path=tmp_path / "report.pdf")

    assert printed.startswith(b"%PDF")
    assert len(printed) > 50_000
    assert page.locator("details.clauses").get_attribute("open") == ""
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.wait_for_timeout(300)
    beyond = "() => [...document.querySelectorAll('main *')].filter(e => e.checkVisibility() &&"
    beyond += " e.getBoundingClientRect().right > 721).map(e => e.outerHTML.slice(0, 120))"
    assert page.evaluate(beyond) == []
    widths = "() => [...document.querySelectorAll('.main-svg')].map(e => e.clientWidth)"
    assert max(page.evaluate(widths)) <= 640
    assert page.locator(".filter").is_hidden()
    assert page.locator(".verdict").is_visible()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )


def test_a_screen_reader_finds_names_for_everything(report: Path, open_page: Open) -> None:
    page = open_page(report).page

    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("h1").count() == 1
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("svg[role=img]:not([aria-label])").count() == 0
    assert page.get_by_role("group", name="show").count() == 1
    unnamed = (
        "() => [...document.querySelectorAll('a, summary')].filter(e => !e.innerText.trim() &&"
    )
    assert page.evaluate(f"{unnamed} e.checkVisibility()).length") == 0


def test_a_tool_result_of_two_megabytes_does_nothing_in_the_page_or_beside_it(
    open_page: Open, tmp_path: Path
) -> None:
    old = hostile_run(tmp_path / "runs", name="old")
    new = hostile_run(tmp_path / "runs", name="new", failing=True)
    made = render_release(new, baseline=old, history=tmp_path / "runs", out=tmp_path / "page.html")
    assert made.files is not None

    assert made.html.stat().st_size < 8e6
    for path in (made.html, *sorted(made.files.iterdir())):
        seen = open_page(path)
        unfold(seen.page)
        seen.page.mouse.move(300, 300)
        seen.page.wait_for_timeout(300)

        assert seen.page.evaluate("() => window.owned") is None
        assert seen.page.locator("main :is(img, script, iframe, link, base, textarea)").count() == 0
        assert seen.page.locator('a[href^="javascript:"]').count() == 0
        assert HOST in seen.page.locator("main").inner_text()
        assert seen.requests == [path.as_uri()]
        assert seen.complaints == []


def test_a_whole_transcript_beside_the_page_does_nothing_either(
    open_page: Open, tmp_path: Path
) -> None:
    from agenteval_kit.records import Transcript
    from agenteval_kit.report.whole import write_whole

    item = Transcript(case_id=HOSTILE, turns=(Turn(role="user", text=HOSTILE),))
    path = write_whole(item, [], folder=tmp_path, name="t-1")

    seen = open_page(path, scheme="dark")

    assert seen.page.evaluate("() => window.owned") is None
    assert seen.page.evaluate(CONTRAST) == []
    assert seen.complaints == []
