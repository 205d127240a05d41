"""The shipped notebooks in a real JupyterLab: run all cells, and look at what stands there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

# Waiting for an idle kernel is not enough: it says idle before it is connected.
RUN_ALL = """
async () => {
  const widget = jupyterapp.shell.currentWidget;
  await widget.revealed;
  await widget.context.ready;
  await widget.sessionContext.ready;
  await widget.sessionContext.session.kernel.info;
  await jupyterapp.commands.execute("notebook:run-all-cells");
}
"""


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A throw-away JupyterLab on loopback, on a copy of the notebooks beside the shipped data."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is an extra of the package")
    home = tmp_path_factory.mktemp("lab")
    (home / "project" / "notebooks").mkdir(parents=True)
    for path in (root / "notebooks").glob("*.ipynb"):
        (home / "project" / "notebooks" / path.name).write_bytes(path.read_bytes())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        name: str(home / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
                     "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    }  # fmt: skip
    server = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
            f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
            "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True",
            "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=",
            f"--ServerApp.root_dir={home / 'project'}",
        ],
        env={**os.environ, **folders, "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(f"{address}/api/status", server)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=20)


def wait_until_up(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, "JupyterLab ended before it was up"
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.3)
    raise AssertionError("JupyterLab was not up within a minute")


@pytest.fixture(scope="module")
def page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield browser.new_page(viewport={"width": 1400, "height": 1000})
        browser.close()


@pytest.mark.parametrize("name", ["0_tour", "1_check", "7_release"])
def test_a_notebook_runs_in_jupyterlab(lab: str, page: Page, name: str) -> None:
    page.goto(f"{lab}/lab/tree/notebooks/{name}.ipynb?reset")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook").wait_for(timeout=60_000)

    page.evaluate(RUN_ALL)

    last = "() => jupyterapp.shell.currentWidget.content.model.cells"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        code = page.evaluate(
            f"{last}.length && [...Array(({last})().length).keys()]"
            ".map(at => jupyterapp.shell.currentWidget.content.model.cells.get(at))"
            ".filter(cell => cell.type === 'code')"
            ".map(cell => [cell.executionCount, cell.sharedModel.outputs.some("
            "output => output.output_type === 'error')])"
        )
        if all(count for count, _ in code):
            break
        time.sleep(0.5)
    assert all(count for count, _ in code)
    assert not any(failed for _, failed in code)
    # The style sheet reached the live tables, and dollars in a transcript stay dollars.
    page.locator(".agenteval table").first.wait_for(state="attached", timeout=20_000)
    assert page.locator(".agenteval mjx-container").count() == 0
    size = "() => getComputedStyle(document.querySelector('.agenteval table')).fontSize"
    assert page.evaluate(size) == "14px"
