"""What every test shares: hypothesis profiles, and an honest account of what did not run.

May not hold fixtures that replace a module of ours.
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Started in the background by a shell without job control, Python finds SIGINT ignored, and so do
# the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_REQUEST = ("evals", "local_model")

# One machine is not as quick as another, so no example has a deadline; the default draws the same
# examples every time, so that CI is red only for a reason. "deep" looks further, at random.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "deep", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def find_chromium() -> str | None:
    """Path of a Chromium to drive: the one named in CHROMIUM, else the first on the PATH."""
    named = os.environ.get("CHROMIUM")
    if named is not None:
        return shutil.which(named)
    return next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the Chromium that browser tests drive."""
    found = find_chromium()
    assert found is not None, "a browser test ran without a browser"
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of this repository."""
    return ROOT


_not_run = pytest.StashKey[dict[str, list[str]]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("markexpr")
    left_out: dict[str, list[str]] = {}
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        on_request = [mark for mark in ON_REQUEST if item.get_closest_marker(mark)]
        if on_request and not any(mark in asked for mark in on_request):
            reason = f"not asked for with -m {on_request[0]}"
        elif item.get_closest_marker("browser") and find_chromium() is None:
            reason = "NO CHROMIUM WAS FOUND on this machine"
        else:
            kept.append(item)
            continue
        dropped.append(item)
        left_out.setdefault(reason, []).append(item.nodeid)
    config.stash[_not_run] = left_out
    if hasattr(config, "workeroutput"):
        # One of several processes: whoever started them has the last lines.
        config.workeroutput["not_run"] = left_out
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """What a process of pytest-xdist left out; each of them collects the same."""
    node.config.stash[_not_run] = getattr(node, "workeroutput", {}).get("not_run", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    for reason, ids in config.stash.get(_not_run, {}).items():
        terminalreporter.section(f"NOT RUN: {len(ids)} tests", sep="!", yellow=True, bold=True)
        terminalreporter.line(f"because: {reason}")
        for nodeid in ids:
            terminalreporter.line(f"  {nodeid}")
