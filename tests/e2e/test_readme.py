"""Every command that README.md shows is run as it stands, in its order, and ends as it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ENDS_WITH = re.compile(r"#\s*ends with (\d+)\s*$")


class Shown(NamedTuple):
    """One command of the README, and the exit code that stands beside it (0 if none does)."""

    command: str
    code: int


def shown_commands(text: str) -> list[Shown]:
    """The lines of all ``sh`` blocks, in order."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    found = []
    for line in lines:
        ending = ENDS_WITH.search(line)
        found.append(Shown(line.partition("#")[0].strip(), int(ending[1]) if ending else 0))
    return found


@pytest.fixture
def workshop(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the shipped data, and an environment in which `agenteval` is this checkout."""
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=shutil.ignore_patterns("runs"))
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, module in (("agenteval", "-m agenteval_kit"), ("python", "")):
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "agenteval_kit.pytest_plugin",
    }
    environment.pop("OPENAI_API_KEY", None)
    return tmp_path, environment


@pytest.mark.slow
def test_the_commands_of_the_tour_end_as_the_readme_says(
    workshop: tuple[Path, dict[str, str]],
) -> None:
    folder, environment = workshop
    shown = [
        item for item in shown_commands(README.read_text("utf-8")) if item.command[:4] != "make"
    ]
    ended = []

    for command, _ in shown:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr, f"{command}\n{done.stderr}"
        ended.append(Shown(command, done.returncode))

    assert len(shown) >= 12
    assert ended == shown
    assert (folder / "reports" / "helpdesk.html").stat().st_size > 10_000


def test_the_make_targets_of_the_readme_exist() -> None:
    text = README.read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z-]+)", text)) - {"demo", "test"}
    shown = {item.command for item in shown_commands(text) if item.command.startswith("make ")}

    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert shown == {"make demo", "make test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets | {"demo"})


def test_every_file_that_the_readme_names_is_there() -> None:
    named = re.findall(r"`((?:docs|data|notebooks)/[\w./-]*|[A-Z]+(?:\.md)?|[\w.]+\.(?:yml|toml))`",
                       README.read_text(encoding="utf-8"))  # fmt: skip
    files = [name for name in named if name not in {"SHIP", "HOLD", "REVIEW"}]

    missing = [name for name in files if not (ROOT / name).exists()]

    assert len(files) >= 8
    assert missing == []
