"""Labelling through Voilà: the same screen for raters without notebooks, and what it must endure.

With AGENTEVAL_SCREENSHOTS set to a folder, what was seen is kept there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import make_run
from playwright.sync_api import Browser, Page, sync_playwright

from agenteval_kit import load_suite, run_suite
from agenteval_kit.records import Turn
from agenteval_kit.records.transcripts import ToolCall
from agenteval_kit.render.opened import copy_with_parameters
from tests.e2e.labelling import (
    FOCUSED,
    SCREEN,
    alert,
    browser,
    kernel_of,
    lines,
    notebook_of,
    place,
    progress,
    report_pace,
    show,
    voila_at,
    wait_for_screen,
)
from tests.e2e.labs import until

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

HOSTILE = (
    "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>"
    "</textarea></details><a href='javascript:window.harmed = 3'>here</a> \x1b[31mred\x1b[0m "
    "invoice\u202efdp.exe [link](javascript:window.harmed=4)"
)
RUBRIC = """
name: made
dimensions:
  - name: groundedness
    definition: "Does it stand somewhere? <b>Not</b> bold. <img src=x onerror='window.harmed=5'>"
    anchors: {0: "Invented.", 1: "Half of it stands there. <i>Half</i>", 2: "All of it does."}
  - name: tone
    definition: How it is said.
    anchors: {1: Blames., 2: Asks.}
"""
OPEN = """
import resource, signal
from pathlib import Path
from agenteval_kit.label import Session
from agenteval_kit.label.labeler import Labeler
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run

session = Session(Run.open(Path({run!r})), load_rubric({rubric!r}), {labels!r}, "rater-a",
                  dimensions={dimensions!r})
if {room!r}:
    # A disk with this much room: what goes beyond it fails as on a full one.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({room!r}, resource.RLIM_INFINITY))
Labeler(session)
"""
AddressOf = Callable[[Path], str]
KEYS = "() => performance.getEntriesByType('measure').length"


@pytest.fixture(scope="module")
def chrome(chromium: str) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    pytest.importorskip("voila", reason="Voilà is an extra of the package")
    with sync_playwright() as playwright:
        opened = browser(playwright, chromium)
        yield opened
        opened.close()


@pytest.fixture
def page(chrome: Browser) -> Iterator[Page]:
    opened = chrome.new_page(viewport={"width": 1280, "height": 800})
    yield opened
    for context in chrome.contexts:
        context.close()


@pytest.fixture(scope="module")
def address_of(
    chrome: Browser, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AddressOf]:
    """Where one Voilà for all tests of this file shows a notebook, in a kernel of its own."""
    base = tmp_path_factory.getbasetemp()
    with voila_at(base, tmp_path_factory.mktemp("voila"), root=root) as (address, _):
        yield lambda notebook: f"{address}voila/render/{notebook.relative_to(base).as_posix()}"


def press(page: Page, key: str) -> None:
    """Press a key, and wait until what it brought is painted."""
    before = page.evaluate(KEYS)
    page.keyboard.press(key)
    answered = f"before => ({KEYS})() === before + 1"
    page.wait_for_function(answered, arg=before, timeout=60_000)


def chip(page: Page) -> str:
    return page.locator(f'{SCREEN} .chips [aria-current="true"]').inner_text()


def made_notebook(
    folder: Path, *, dimensions: list[str] | None = None, room: int | None = None
) -> Path:
    """A notebook on a run whose every text is hostile, one of them long."""
    call = ToolCall(
        id="c", name=f"find{HOSTILE}", arguments={"id": HOSTILE}, result=HOSTILE + "y" * 21_000,
        error=HOSTILE,
    )  # fmt: skip
    broken = ToolCall(id="d", name="pay", raw='{"amount": 7', malformed=f"not JSON {HOSTILE}")
    short = (
        Turn(role="user", text=HOSTILE),
        Turn(role="assistant", text=HOSTILE, calls=(call, broken)),
        Turn(role="assistant", refusal=HOSTILE),
    )
    long = tuple(
        Turn(role="assistant" if at % 2 else "user", text=f"Line {at}. " + "A word or two. " * 12)
        for at in range(200)
    )
    names = [f"case-{HOSTILE}", "long"]
    run = make_run(
        folder,
        {name: {"conversation": True} for name in names},
        turns={(names[0], 0): short, (names[1], 0): long},
    )
    rubric = folder / "rubric.yaml"
    rubric.write_text(RUBRIC, encoding="utf-8")
    code = OPEN.format(
        run=str(run.path), rubric=str(rubric), labels=str(folder / "labels"),
        dimensions=dimensions, room=room,
    )  # fmt: skip
    return notebook_of(code, folder / "project" / "screen.ipynb")


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    wait_for_screen(page)
    until(lambda: page.evaluate(FOCUSED), "the keys work without a click", seconds=60)


def go_to(page: Page, start: str) -> None:
    if not place(page).startswith(start):
        press(page, "Enter")
    assert place(page).startswith(start)


def test_a_page_is_labelled_the_kernel_killed_the_page_loaded_anew(
    root: Path, tmp_path: Path, page: Page
) -> None:
    notebook = copy_with_parameters(
        root / "notebooks" / "5_label.ipynb",
        {"dimensions": ["goal_completion"], "sample": "three", "n": 3},
        out=tmp_path / "project" / "notebooks" / "5_label.ipynb",
    )
    file = notebook.parent / "data" / "labels" / "support" / "rater-a.jsonl"
    with voila_at(notebook, tmp_path, root=root) as (address, server):
        open_page(page, address)
        show(page, "voila-label-light")
        press(page, "3")
        press(page, "4")
        first = lines(file)
        assert [line["score"] for line in first] == [3, 4]

        # Stopped, it keeps the connection and says nothing; killed, it never will.
        kernel = kernel_of(server)
        os.kill(kernel, signal.SIGSTOP)
        page.keyboard.press("2")
        until(lambda: "does not answer" in alert(page), "the silence is told", seconds=60)
        show(page, "voila-label-silent")
        os.kill(kernel, signal.SIGKILL)
        open_page(page, address)
        assert lines(file) == first
        assert progress(page) == "2 of 3"
        press(page, "Backspace")
        opened = place(page).split(" · ")[0]
        press(page, "1")
        assert place(page).split(" · ")[0] not in {line["case_id"] for line in first}
        press(page, "2")
        assert page.locator(f"{SCREEN} .done").is_visible()
        show(page, "voila-label-finished")

        # Without a kill: the kernel of the page that is left must let go of the rater's file.
        open_page(page, address)
        assert progress(page) == "3 of 3"

    last = lines(file)
    assert last[:2] == first
    assert [line["score"] for line in last] == [3, 4, 1, 2]
    assert last[2]["case_id"] == opened == first[1]["case_id"]


def test_thirty_transcripts_on_five_dimensions_take_a_hundred_and_fifty_keys(
    root: Path, tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    suite = load_suite(root / "data" / "suites" / "support.yaml", repeats=2)
    run = run_suite(suite, out=tmp_path / "runs" / "support").run
    notebook = copy_with_parameters(
        root / "notebooks" / "5_label.ipynb",
        {"run": run.path, "suite": None, "agent": None, "tape": None, "sample": "thirty",
         "labels": tmp_path / "labels"},
        out=tmp_path / "project" / "notebooks" / "5_label.ipynb",
    )  # fmt: skip
    open_page(page, address_of(notebook))

    keys = 0
    while not page.locator(f"{SCREEN} .done").is_visible():
        press(page, "1234"[keys % 4])
        keys += 1
        assert keys <= 150
    report_pace(page)
    assert progress(page) == "30 of 30"

    said = lines(tmp_path / "labels" / "rater-a.jsonl")
    assert keys == len(said) == 150
    assert (
        len({(line["case_id"], line.get("repeat", 0), line["dimension"]) for line in said}) == 150
    )
    assert [line["score"] for line in said] == [1 + at % 4 for at in range(150)]


def test_hostile_text_stays_text(tmp_path: Path, page: Page, address_of: AddressOf) -> None:
    open_page(page, address_of(made_notebook(tmp_path)))
    go_to(page, "case-")
    page.keyboard.press("o")
    page.locator(f"{SCREEN} .code").first.wait_for()
    show(page, "voila-label-hostile")
    text = page.locator(f"{SCREEN} .read").inner_text()
    page.locator(f"{SCREEN} .more").click()
    until(lambda: page.locator(f"{SCREEN} .more").count() == 0, "all of it is there", seconds=10)
    whole = page.locator(f"{SCREEN} .read").inner_text()
    page.keyboard.press("n")
    page.keyboard.type(HOSTILE)
    press(page, "Enter")

    assert page.evaluate("() => window.harmed") is None
    assert page.locator(f"{SCREEN} :is(script, img, a, i:not(.bar i), iframe)").count() == 0
    assert text.count("<script>window.harmed = 1</script><img src=x") >= 6
    assert "␛[31mred␛[0m invoice⟦U+202E⟧fdp.exe" in text
    assert "y" * 21_000 not in text
    assert "y" * 21_000 in whole
    note = page.locator(f"{SCREEN} textarea.note").input_value()
    assert note.startswith("<script>window.harmed = 1</script>")
    assert "⟦U+202E⟧" in note


def test_what_is_typed_in_a_box_is_no_key_and_nothing_happens_with_ctrl(
    tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    file = tmp_path / "labels" / "rater-a.jsonl"
    open_page(page, address_of(made_notebook(tmp_path)))
    go_to(page, "long")
    for chord in ("Control+1", "Alt+1", "Meta+s", "Shift+Digit1"):
        page.keyboard.press(chord)
    page.keyboard.press("n")
    page.keyboard.type("12 s u t? no")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("dd")
    press(page, "Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    press(page, "t")
    page.keyboard.press("f")
    page.keyboard.type("says nothing")
    press(page, "Enter")
    press(page, "0")
    press(page, "c")
    press(page, "u")
    page.keyboard.press("?")
    show(page, "voila-label-help")
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    assert not page.locator(f"{SCREEN} .help").is_visible()
    assert chip(page) == "tone"
    press(page, "ArrowLeft")
    assert chip(page) == "groundedness 0"
    press(page, "s")
    assert "1 skipped" in progress(page)

    said = [
        (line.get("kind", "label"), line.get("dimension", ""),
         line.get("score"), line.get("note", ""), line.get("turn"), line.get("failure", ""))
        for line in lines(file)
    ]  # fmt: skip
    note = "12 s u t? no\ndd"
    assert said == [
        ("note", "groundedness", None, note, None, ""),
        ("note", "groundedness", None, note, 1, ""),
        ("failure", "", None, "", 1, "says nothing"),
        ("label", "groundedness", 0, note, 1, ""),
        ("label", "tone", None, "", None, ""),
        ("undo", "tone", None, "", None, ""),
        ("skip", "", None, "", None, ""),
    ]


def test_what_is_typed_while_a_label_is_under_way_is_not_lost(
    tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    file = tmp_path / "labels" / "rater-a.jsonl"
    open_page(page, address_of(made_notebook(tmp_path)))
    for key in "1n":
        page.keyboard.press(key)
    page.keyboard.type("quick")
    until(lambda: chip(page) == "tone", "the label has come back", seconds=60)
    press(page, "Enter")

    assert [(line["dimension"], line.get("note", "")) for line in lines(file)] == [
        ("groundedness", ""),
        ("tone", "quick"),
    ]


def test_a_full_disk_is_told_and_the_screen_stays_where_it_is(
    tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    file = tmp_path / "labels" / "rater-a.jsonl"
    notebook = made_notebook(tmp_path, dimensions=["tone"], room=700)
    open_page(page, address_of(notebook))
    press(page, "2")
    where = place(page)
    press(page, "1")
    told = alert(page)
    show(page, "voila-label-error")
    assert "NOT saved" in told
    assert "rater-a.jsonl" in told
    assert place(page) == where
    assert progress(page) == "1 of 2"
    page.keyboard.press("7")
    assert alert(page) == "7 is no level of tone; nothing was saved"

    assert [line["score"] for line in lines(file)] == [2]


def test_a_second_page_as_the_same_rater_says_so_in_words(
    tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    open_page(page, address_of(made_notebook(tmp_path)))
    assert page.context.browser is not None
    second = page.context.browser.new_page()
    second.goto(page.url)
    told = second.get_by_text('somebody is labelling as "rater-a" already')
    told.wait_for(timeout=60_000)
    show(second, "voila-label-second")
    said = second.locator("body").inner_text()

    assert "Traceback" not in said
    assert "ConfigError" not in said
    assert "show_tracebacks" not in said


def test_neither_the_dimension_nor_a_box_leaves_the_view(
    tmp_path: Path, page: Page, address_of: AddressOf
) -> None:
    # As low as JupyterLab leaves it on a small screen.
    page.set_viewport_size({"width": 900, "height": 520})
    rubric = "\n".join(f"      {at}: {'Words of an anchor. ' * 12}" for at in range(1, 6))
    notebook = made_notebook(tmp_path)
    (tmp_path / "rubric.yaml").write_text(
        f"name: made\ndimensions:\n  - name: tone\n    definition: {'How it is said. ' * 20}\n"
        f"    anchors:\n{rubric}\n  - name: pace\n    definition: Short.\n"
        "    anchors: {1: Slow., 2: Quick.}\n",
        encoding="utf-8",
    )

    def in_view(*kinds: str) -> bool:
        """Whether a person sees the whole of each, the screen standing where it stands."""
        return all(
            page.evaluate(
                f"""() => {{
                  const box = document.querySelector('{SCREEN} {kind}').getBoundingClientRect();
                  const at = document.elementFromPoint(box.x + box.width / 2, box.y + 8);
                  return box.top >= 0 && box.bottom <= innerHeight
                    && at.closest('{SCREEN} {kind}') !== null;
                }}"""
            )
            for kind in kinds
        )

    always = ('.chips [aria-current="true"]', ".definition", ".note", ".failure", ".keys")
    open_page(page, address_of(notebook))
    show(page, "voila-label-low")
    assert in_view(*always)
    page.keyboard.press("n")
    assert in_view(*always)
    page.keyboard.type("A note that is longer than its box is wide. " * 12)
    assert in_view(*always)
    press(page, "Enter")
    assert in_view(*always)
    page.keyboard.press("f")
    page.keyboard.type("it lied")
    press(page, "Enter")
    page.keyboard.press("d")
    assert in_view(*always)
    show(page, "voila-label-low-definition")


def test_it_is_dark_where_voila_is_dark_and_a_long_transcript_scrolls_alone(
    root: Path, tmp_path: Path, page: Page
) -> None:
    notebook = made_notebook(tmp_path)
    with voila_at(notebook, tmp_path, root=root, theme="dark") as (address, _):
        open_page(page, address)
        go_to(page, "long")
        for _turn in range(40):
            page.keyboard.press("j")
        show(page, "voila-label-long-dark")

        pointed = page.locator(f"{SCREEN} .pointed")
        seen = page.evaluate(
            f"""() => {{
              const pane = document.querySelector('{SCREEN} .read');
              const turn = pane.querySelector('.pointed').getBoundingClientRect();
              const box = pane.getBoundingClientRect();
              return [turn.top >= box.top && turn.bottom <= box.bottom, window.scrollY,
                getComputedStyle(pane).backgroundColor];
            }}"""
        )
        assert pointed.get_attribute("data-turn") == "39"
        assert seen[0] is True
        assert seen[1] == 0
        assert max(int(part) for part in seen[2][4:-1].split(",")) < 60
        assert page.locator(f"{SCREEN} [role=radio]").last.is_visible()
