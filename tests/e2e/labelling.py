"""What the tests of the labelling screen share: a notebook of a person, a Voilà, the keys.

May not reach into the session: what was said is read from the rater's file.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, Playwright

from tests.e2e.labs import until

SCREEN = ".agenteval-labeler"
FOCUSED = f"() => document.querySelector('{SCREEN}').contains(document.activeElement)"


def browser(playwright: Playwright, chromium: str) -> Browser:
    return playwright.chromium.launch(
        executable_path=chromium,
        args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    )


def notebook_of(code: str, path: Path) -> Path:
    """A notebook of one cell."""
    cell = {"cell_type": "code", "execution_count": None, "id": "one", "metadata": {},
            "outputs": [], "source": code}  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4,
               "nbformat_minor": 5}  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@contextmanager
def voila_at(
    served: Path, folder: Path, *, root: Path, theme: str = "light"
) -> Iterator[tuple[str, int]]:
    """The address of the page that Voilà makes of a notebook (or of a folder), and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {
        name: str(folder / f"voila-{name}")
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    log = (folder / "voila.log").open("w")
    server = subprocess.Popen(
        [
            sys.executable, "-m", "voila", str(served), "--no-browser", f"--port={port}",
            "--Voila.ip=127.0.0.1", "--token=", "--strip_sources=True", f"--theme={theme}",
            "--show_tracebacks=True",
            "--Voila.tornado_settings=disable_check_xsrf=True",
        ],
        env={**os.environ, **own, "PYTHONPATH": str(root)},
        stdout=log,
        stderr=log,
    )  # fmt: skip
    try:
        until(lambda: _listens(port, server), "Voilà is up", seconds=60)
        yield f"http://127.0.0.1:{port}/", server.pid
    finally:
        server.terminate()
        server.wait(timeout=20)
        log.close()


def _listens(port: int, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "Voilà ended before it was up"
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# When each key had been drawn, in milliseconds after it was pressed, as the page measured it.
PACE = """
name => performance.getEntriesByName(name)
  .map(one => Math.round(one.duration)).sort((a, b) => a - b)
"""


def report_pace(page: Page) -> None:
    """Print how long keys took until what they brought was painted; a figure, not a test."""
    for name in ("labeler-transcript", "labeler-key"):
        took = page.evaluate(PACE, name)
        if took:
            print(
                f"{name}: {len(took)} keys, median {took[len(took) // 2]} ms, slowest {took[-1]} ms"
            )


def kernel_of(server: int) -> int:
    """The one kernel that a server has started."""
    kernels = [
        one.pid
        for one in psutil.Process(server).children(recursive=True)
        if any("ipykernel" in part for part in one.cmdline())
    ]
    assert len(kernels) == 1
    return kernels[0]


def wait_for_screen(page: Page, *, seconds: float = 60) -> None:
    page.locator(SCREEN).first.wait_for(timeout=1000 * seconds)


def tab_into(page: Page) -> int:
    """Press Tab until the screen has the focus; how many times it took."""
    for count in range(60):
        if page.evaluate(FOCUSED):
            return count
        page.keyboard.press("Tab")
    raise AssertionError("60 times Tab, and the screen never had the focus")


def place(page: Page) -> str:
    """The line above the transcript: which case, how many turns, the how manieth."""
    return page.locator(f"{SCREEN} .head").inner_text()


def progress(page: Page) -> str:
    return page.locator(f"{SCREEN} .count").inner_text()


def alert(page: Page) -> str:
    shown = page.locator(f"{SCREEN} .alert")
    return shown.inner_text() if shown.is_visible() else ""


def lines(file: Path) -> list[dict[str, Any]]:
    """The rater's file, a line after the other."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def show(page: Page, name: str) -> None:
    """Keep what a person would see, where AGENTEVAL_SCREENSHOTS names a folder."""
    folder = os.environ.get("AGENTEVAL_SCREENSHOTS")
    if folder is not None:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
