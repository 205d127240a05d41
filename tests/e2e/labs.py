"""A throw-away JupyterLab on loopback, and what a test does in it.

May not outlive the test that started it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Waiting for an idle kernel is not enough: it says idle before it is connected.
READY = """
async () => {
  const widget = jupyterapp.shell.currentWidget;
  await widget.revealed;
  await widget.context.ready;
  await widget.sessionContext.ready;
  await widget.sessionContext.session.kernel.info;
}
"""
RUN_ALL = "() => { jupyterapp.commands.execute('notebook:run-all-cells'); }"
INTERRUPT = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()"
# What stands in the cells of the model: a cell that is scrolled away has no element.
OUTPUTS = """
() => {
  const cells = jupyterapp.shell.currentWidget.content.model.cells;
  const text = value => Array.isArray(value) ? value.join('') : String(value ?? '');
  return [...Array(cells.length).keys()].map(at => cells.get(at))
    .filter(cell => cell.type === 'code')
    .map(cell => ({
      count: cell.executionCount,
      state: cell.executionState ?? '',
      errors: cell.sharedModel.outputs.filter(one => one.output_type === 'error')
        .map(one => `${one.ename}: ${one.evalue}`),
      text: cell.sharedModel.outputs.map(one => text(one.text)
        + text(one.data?.['text/plain']) + text(one.data?.['text/html'])).join('\\n'),
    }));
}
"""


@contextmanager
def lab_at(folder: Path, root: Path, *, variables: Mapping[str, str]) -> Iterator[str]:
    """The address of a JupyterLab whose files are in `folder`/project."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {
        name: str(folder / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
                     "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    }  # fmt: skip
    # No question about news over what a test looks at.
    settings = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(
        '{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8"
    )
    server = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
            f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
            "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True",
            "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=",
            f"--ServerApp.root_dir={folder / 'project'}",
        ],
        env={**os.environ, **own, **variables, "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _answers(f"{address}/api/status", server), "JupyterLab is up", seconds=60)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=20)


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "JupyterLab ended before it was up"
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False


def open_notebook(page: Page, address: str, name: str) -> None:
    """Open a notebook and wait until its kernel answers."""
    page.goto(f"{address}/lab/tree/{name}?reset")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook").wait_for(timeout=60_000)
    page.evaluate(READY)


def until(true: Callable[[], bool], what: str, *, seconds: float) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain until {what}"
        time.sleep(0.15)
