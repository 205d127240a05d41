"""A copy of a notebook with other parameters, opened in JupyterLab or as a page by Voilà.

May not run it: whoever reads it does, in the browser.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.files import read_json, write_atomic
from agenteval_kit.render.notebook import find_notebook
from agenteval_kit.render.parameters import Value, check_parameters

__all__ = ["copy_with_parameters", "require_server", "serve_notebook"]

UP_WITHIN = 60.0
"""Seconds that a server may take to answer."""


def copy_with_parameters(
    name_or_path: str | Path, parameters: Mapping[str, object], *, out: Path, only: str = ""
) -> Path:
    """Write a copy of a notebook whose parameters cell holds these values.

    With `only` the copy has, beside that cell, the cells with this tag and no other: what a person
    who does not work in notebooks wants of it.

    Raises
    ------
    ConfigError
        If there is no such notebook, or a parameter is unknown or does not fit.
    """
    source = find_notebook(name_or_path)
    fitted = check_parameters(source, parameters)
    content = read_json(source)
    if only:
        content["cells"] = [cell for cell in content["cells"] if _tags(cell) & {"parameters", only}]
    for cell in content["cells"]:
        if "parameters" in _tags(cell):
            text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = _with_values(text, fitted)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return out


def _tags(cell: Mapping[str, Any]) -> set[str]:
    return set(cell.get("metadata", {}).get("tags", []))


def _with_values(code: str, values: Mapping[str, Value]) -> str:
    """The code with other literals; what each line says of its parameter stays."""
    lines = code.splitlines()
    for node in reversed(ast.parse(code).body):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name, value = node.targets[0].id, node.value
        if name in values:
            # Offsets of ast count bytes, and a comment may hold any letter.
            last = lines[(value.end_lineno or value.lineno) - 1].encode()
            rest = last[value.end_col_offset :].decode()
            made = f"{name} = {values[name]!r}{rest}"
            lines[node.lineno - 1 : value.end_lineno] = [made]
    return "\n".join(lines)


def serve_notebook(
    notebook: Path,
    *,
    voila: bool = False,
    browser: bool = True,
    told: Callable[[str], None] = print,
) -> None:
    """Serve a notebook on this machine until the server ends or Ctrl-C is pressed.

    Parameters
    ----------
    notebook : Path
        In the project or in a folder of it; the folder above it is what JupyterLab shows.
    voila : bool
        As a page without code, for people who do not work in notebooks.
    browser : bool
        Whether the server opens a browser.
    told : callable
        Gets the address once the server answers.

    Raises
    ------
    ConfigError
        If what serves it is not installed.
    InfrastructureError
        If it does not come up.
    """
    require_server(voila=voila)
    port, token = _free_port(), secrets.token_urlsafe(16)
    folder = notebook.resolve().parent.parent
    # A server of its own: neither a password nor a port of the person's own settings matters.
    common = [f"--port={port}", "--ServerApp.port_retries=0"]
    if os.geteuid() == 0:
        common.append("--allow-root")  # in a container; it listens on this machine alone
    if voila:
        command = ["voila", str(notebook), f"--port={port}", "--Voila.ip=127.0.0.1",
                   f"--token={token}", "--strip_sources=True",
                   # A page opened twice is told why; of our errors the words are shown alone.
                   "--show_tracebacks=True",
                   # Voilà 0.5 sets no XSRF cookie and then refuses its own page's request to end
                   # the kernel, which would keep the rater's name when the page is loaded anew.
                   # The token guards what is left.
                   "--Voila.tornado_settings=disable_check_xsrf=True"]  # fmt: skip
        address = f"http://127.0.0.1:{port}/?token={token}"
    else:
        command = ["jupyterlab", *common, "--ServerApp.ip=127.0.0.1",
                   f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}",
                   "--LabApp.news_url="]  # fmt: skip
        place = notebook.resolve().relative_to(folder).as_posix()
        address = f"http://127.0.0.1:{port}/lab/tree/{urllib.parse.quote(place)}?token={token}"
    log = notebook.with_suffix(".server.log")
    # A server that outlived its command would hold the rater's file.
    before = {one: signal.signal(one, _leave) for one in (signal.SIGTERM, signal.SIGHUP)}
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [sys.executable, "-m", *command, "--no-browser"],
            env=_environment(),
            stdout=stream,
            stderr=stream,
        )
    try:
        _wait(server, port, log)
        told(f"{address}\nCtrl-C ends it; every label is on the disk already.")
        if browser:
            _open(address)
        server.wait()
    except KeyboardInterrupt:
        log.unlink(missing_ok=True)  # it holds the address, and nothing went wrong
    except SystemExit:
        log.unlink(missing_ok=True)
        raise
    finally:
        _end(server)
        for one, handler in before.items():
            signal.signal(one, handler)


def require_server(*, voila: bool) -> None:
    """See that what shows a notebook with widgets is there.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    module = "voila" if voila else "jupyterlab"
    wanted = {"anywidget": "the screen", module: "the server"}
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if not missing:
        return
    other = ""
    if module in missing:
        known = {"jupyterlab": "voila", "voila": "jupyterlab"}[module]
        if importlib.util.find_spec(known) is not None:
            other = ", or " + ("give --voila" if known == "voila" else "leave out --voila")
    raise ConfigError(
        f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed; "
        f'`pip install "agenteval-kit[label]"`'
        f"{' (JupyterLab: [lab])' if 'jupyterlab' in missing else ''}{other}"
    )


def _environment() -> dict[str, str]:
    # A checkout that is not installed is found by the kernel, too.
    package = str(Path(__file__).resolve().parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    # Not the page itself: Voilà would run the notebook for it, and hold the rater's file.
    address = f"http://127.0.0.1:{port}/api/status"
    deadline = time.monotonic() + UP_WITHIN
    while True:
        if server.poll() is not None:
            raise InfrastructureError(f"the server did not start; {log} says why")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except urllib.error.HTTPError:
            return  # it answers; what stands there is not ours to see without the token
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise InfrastructureError(f"no server answered within {UP_WITHIN:g} seconds; see {log}")
        time.sleep(0.2)


def _open(address: str) -> None:
    import webbrowser  # late: it looks for browsers on import

    webbrowser.open(address)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
