"""Looks over this machine: a line a finding, each well, worth a look, or broken, with its remedy.

May not change anything, and never shows the value of a key.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Finding", "doctor"]

Level = Literal["ok", "look", "broken"]

OLDEST_PYTHON = (3, 11)
WRITTEN = "2026-11-01"
"""No machine with a right clock runs this release before it was written."""
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LITTLE_SPACE = 500_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    level : "ok", "look" or "broken"
        "look": works, or only part of the kit needs it. "broken": mend it first.
    what : str
        What was found.
    remedy : str
        What to do about it; empty when all is well.
    """

    level: Level
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.level:<7} {self.what}" + (f". {self.remedy}" if self.remedy else "")


def doctor(folder: str | Path = ".", *, now: str | None = None) -> list[Finding]:
    """Everything that tends to be wrong with an installation, each with its remedy.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where runs and reports would be written.
    now : str, optional
        The date, ISO 8601; that of this machine by default.

    Returns
    -------
    list of Finding
        In the order in which they were looked at.
    """
    here = Path(folder)
    looks: list[Callable[[], Iterable[Finding]]] = [
        lambda: [check_python(sys.version_info[:3], platform=sys.platform)],
        lambda: check_packages(*required_packages()),
        lambda: [check_kernel(sys.executable)],
        lambda: check_programs(shutil.which),
        lambda: [check_folder(here / "data" / "runs"), check_folder(here / "reports")],
        lambda: [check_space(shutil.disk_usage(here).free)],
        lambda: check_keys(os.environ),
        lambda: [check_encoding(getattr(sys.stdout, "encoding", None))],
        lambda: [check_clock(now if now is not None else _today())],
    ]
    return [finding for look in looks for finding in look()]


def check_python(version: tuple[int, ...], *, platform: str) -> Finding:
    """Whether this Python and this system are ones that the kit runs on."""
    text = ".".join(str(part) for part in version)
    if version[:2] < OLDEST_PYTHON:
        return Finding("broken", f"Python {text}", "Install Python 3.11 or newer")
    if platform == "win32":
        return Finding(
            "broken",
            f"Python {text} on Windows: run folders are locked in a way that Windows lacks",
            "Use the Windows Subsystem for Linux",
        )
    return Finding("ok", f"Python {text}")


def required_packages() -> tuple[list[str], dict[str, str]]:
    """What the kit needs (as written), and the releases that CI pins, if a checkout is at hand."""
    checkout = Path(__file__).resolve().parents[2]
    project = checkout / "pyproject.toml"
    if project.is_file():
        needs = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
        lines = (checkout / "constraints.txt").read_text(encoding="utf-8").splitlines()
        pins = dict(line.split("==", 1) for line in lines if "==" in line)
        return needs, {name.lower(): version for name, version in pins.items()}
    needs = importlib.metadata.requires("agenteval-kit") or []
    return [line for line in needs if "extra ==" not in line], {}


def check_packages(needs: Iterable[str], pins: Mapping[str, str]) -> list[Finding]:
    """Whether each package that the kit needs is installed, in a release that is new enough.

    Parameters
    ----------
    needs : iterable of str
        Requirements, such as ``numpy>=2.4``.
    pins : mapping
        Package name in lower case -> the release that CI installs. May be empty.
    """
    from packaging.requirements import Requirement  # only doctor needs it

    broken, differs = [], []
    count = 0
    for line in needs:
        count += 1
        wanted = Requirement(line)
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            broken.append(Finding("broken", f"{wanted.name} is missing", _install(line)))
            continue
        if not wanted.specifier.contains(version, prereleases=True):
            broken.append(
                Finding("broken", f"{wanted.name} {version}, but {line} is wanted", _install(line))
            )
        elif pins.get(wanted.name.lower(), version) != version:
            differs.append(f"{wanted.name} {version} (CI: {pins[wanted.name.lower()]})")
    if broken:
        return broken
    if differs:
        return [
            Finding(
                "look",
                f"{count} packages; not the release that CI runs: {', '.join(differs)}",
                "To have the same: pip install -c constraints.txt -e .",
            )
        ]
    return [Finding("ok", f"{count} packages, each new enough")]


def _install(requirement: str) -> str:
    return f"{Path(sys.executable).name} -m pip install '{requirement}'"


def check_kernel(python: str) -> Finding:
    """Whether notebooks can be executed on this interpreter."""
    try:
        done = subprocess.run(
            [python, "-c", "import ipykernel.kernelapp"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("broken", f"no Jupyter kernel: {error}", "pip install ipykernel")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return Finding("broken", f"no Jupyter kernel: {reason}", "pip install ipykernel")
    return Finding("ok", "a Jupyter kernel for the reports, on this interpreter")


def check_programs(which: Callable[[str], str | None]) -> list[Finding]:
    """Programs that only part of the kit needs.

    Parameters
    ----------
    which : callable
        Name of a program -> its path, or None; such as `shutil.which`.
    """
    found = []
    if importlib.util.find_spec("jupyterlab") is not None:
        found.append(Finding("ok", "JupyterLab"))
    else:
        found.append(
            Finding(
                "look",
                "no JupyterLab: reports work, the notebooks and labelling do not open",
                "pip install 'agenteval-kit[lab]'",
            )
        )
    if any(which(name) for name in BROWSERS):
        found.append(Finding("ok", "a Chromium for the browser tests"))
    else:
        found.append(
            Finding(
                "look",
                "no Chromium: only the browser tests of the kit itself need it",
                "On Debian and Ubuntu: apt-get install chromium",
            )
        )
    if which("git") is None:
        found.append(
            Finding("look", "no git: runs will not be stamped with a commit", "Install git")
        )
    return found


def check_folder(path: Path) -> Finding:
    """Whether files can be written in a folder, or in the nearest folder above it that exists."""
    place = next((folder for folder in (path, *path.parents) if folder.is_dir()), Path("."))
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding(
            "broken",
            f"{path} cannot be written: {error.strerror}",
            "Work in a folder of your own, or name one with --runs and --out",
        )
    return Finding("ok", f"{path} can be written")


def check_space(free: int) -> Finding:
    """Whether there is room for runs and reports; `free` in bytes."""
    text = f"{free / 1e9:.1f} GB free on this disk"
    if free < LITTLE_SPACE:
        return Finding("look", text, "A run that finds the disk full stops, and can be resumed")
    return Finding("ok", text)


def check_keys(environment: Mapping[str, str]) -> list[Finding]:
    """Whether the variables for model-served agents and judges are set. Values are never shown."""
    found = []
    for name in KEYS:
        value = environment.get(name)
        if not value:
            what = "only checks and recordings run" if name.endswith("KEY") else "OpenAI is asked"
            level: Level = "look" if name.endswith("KEY") else "ok"
            remedy = f"export {name}=... for agents and judges that are models"
            found.append(
                Finding(level, f"{name} is not set: {what}", remedy if level == "look" else "")
            )
        elif value != value.strip() or any(character.isspace() for character in value):
            found.append(
                Finding("broken", f"{name} has a space or a line end in it", "Set it again")
            )
        else:
            found.append(Finding("ok", f"{name} is set"))
    return found


def check_encoding(encoding: str | None) -> Finding:
    """Whether the terminal can print what agents write."""
    if (encoding or "").replace("-", "").lower() == "utf8":
        return Finding("ok", "the terminal takes UTF-8")
    return Finding(
        "look",
        f"the terminal takes {encoding or 'no known encoding'}: some signs will print as ?",
        "export PYTHONUTF8=1",
    )


def check_clock(now: str) -> Finding:
    """Whether the clock of this machine can be right: runs are sorted and stamped by it."""
    if now < WRITTEN:
        return Finding(
            "broken",
            f"the clock says {now[:10]}, before this release was written",
            "Set the clock: runs are sorted by it, and keys are refused under a wrong one",
        )
    return Finding("ok", f"the clock says {now[:10]}")


def _today() -> str:
    from agenteval_kit.runs import now_text  # the wall clock is read there

    return now_text()
