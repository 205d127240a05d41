"""What is shipped, what it needs, and that the files which say so agree."""

from __future__ import annotations

import ast
import json
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Where the name that is imported is not the name that is installed.
IMPORTED_AS = {"ipython": "IPython", "pyyaml": "yaml"}
# The kernel of reports is started, not imported.
NOT_IMPORTED = {"ipykernel"}

# There when it is used: pytest when its plugin is, the grammar where JupyterLab is installed, and
# what the extra `label` names for the widgets (traitlets is what both of them are made of).
OPTIONAL = {"pytest", "rfc3987_syntax", "anywidget", "ipywidgets", "traitlets"}

find_differences = runpy.run_path(str(ROOT / "scripts" / "check_environment.py"))[
    "find_differences"
]
notebook_check = runpy.run_path(str(ROOT / "scripts" / "check_notebooks.py"))

Edit = Callable[[str], str]


# The lists of dependencies.


def test_the_three_lists_of_dependencies_agree() -> None:
    assert find_differences(ROOT) == []


@pytest.mark.parametrize(
    ("file", "edit", "sentence"),
    [
        (
            "environment.yml",
            lambda text: text.replace("      - numpy>=2.4\n", ""),
            'environment.yml: "numpy>=2.4" of pyproject.toml is missing',
        ),
        (
            "environment.yml",
            lambda text: text.replace("numpy>=2.4", "numpy>=2.3"),
            'environment.yml: says "numpy>=2.3" where pyproject.toml says "numpy>=2.4"',
        ),
        (
            "environment.yml",
            lambda text: text.replace("openai[aiohttp]", "openai"),
            'environment.yml: says "openai>=3.57" where pyproject.toml says '
            '"openai[aiohttp]>=3.57"',
        ),
        (
            "environment.yml",
            lambda text: text.replace("      - -e .", "      - requests>=2\n      - -e ."),
            'environment.yml: "requests>=2" is not in pyproject.toml',
        ),
        (
            "environment.yml",
            lambda text: text.replace("      - -e .\n", ""),
            'environment.yml: "-e ." is missing: the package itself would not be installed',
        ),
        (
            "environment.yml",
            lambda text: text.replace("  - pip\n", "  - pip\n  - scipy\n"),
            'environment.yml: "scipy" belongs under pip: there',
        ),
        (
            "constraints.txt",
            lambda text: "\n".join(line for line in text.split("\n") if "scipy==" not in line),
            "constraints.txt: scipy is not pinned; run `make constraints`",
        ),
        (
            "constraints.txt",
            lambda text: text.replace("numpy==2", "numpy==1"),
            'but pyproject.toml wants "numpy>=2.4"',
        ),
        (
            "constraints.txt",
            lambda text: "x @ https://example.com/x.whl\n" + text,
            'constraints.txt:1: "x @ https://example.com/x.whl" is not of the form name==version',
        ),
        (
            "constraints.txt",
            lambda text: "PyYAML==6.0.4\n" + text,
            "is pinned twice",
        ),
    ],
)
def test_a_difference_between_the_lists_is_named(
    file: str, edit: Edit, sentence: str, tmp_path: Path
) -> None:
    for name in ("pyproject.toml", "environment.yml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    before = (tmp_path / file).read_text(encoding="utf-8")
    assert edit(before) != before
    (tmp_path / file).write_text(edit(before), encoding="utf-8")

    found = find_differences(tmp_path)

    assert len(found) == 1
    assert sentence in found[0]


def third_party_imports() -> set[str]:
    """Top-level names that the package imports and that are neither its own nor Python's."""
    found = set()
    for path in (ROOT / "agenteval_kit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"agenteval_kit"}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    declared = {
        IMPORTED_AS.get(name, name.replace("-", "_"))
        for name in (Requirement(line).name.lower() for line in PROJECT["dependencies"])
    }

    assert third_party_imports() - declared == OPTIONAL
    assert declared - third_party_imports() == NOT_IMPORTED


# The notebooks.


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]}
    parameters = code("run = 'x'  # the run", metadata={"tags": ["parameters"]})
    return {
        "cells": [title, parameters, *cells],
        "metadata": {"kernelspec": {"name": "python3"}, **metadata},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def code(text: str, **keys: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {},
        "source": text,
        "outputs": [],
        "execution_count": None,
        **keys,
    }


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (notebook(code("x", outputs=[{"output_type": "stream"}])), "cell 3: has outputs"),
        (notebook(code("x", execution_count=4)), "cell 3: has outputs or a count"),
        (notebook(code("x", metadata={"papermill": {}})), "cell 3: has run-time metadata"),
        (notebook(papermill={}), 'metadata "papermill" is left over'),
        (notebook(widgets={}), 'metadata "widgets" is left over'),
        (notebook(code("def f():\n    pass")), "cell 3: holds logic (FunctionDef)"),
        (notebook(code("for a in b:\n    print(a)")), "cell 3: holds logic (For)"),
        (notebook(code("try:\n    a\nfinally:\n    b")), "cell 3: holds logic (Try)"),
        (notebook(code("f = lambda: 1")), "cell 3: holds logic (Lambda)"),
        (notebook(code("a b")), "cell 3: does not parse"),
        (notebook(code("x", metadata={"tags": ["parameters"]})), "2 cells are tagged parameters"),
    ],
)
def test_a_notebook_with_a_fault_is_named(
    made: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")

    found = notebook_check["find_faults"](path)

    assert len(found) == 1
    assert sentence in found[0]


def test_a_clean_notebook_may_await_and_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(code("await thing()"))), encoding="utf-8")

    notebook_check["strip"](path)

    assert notebook_check["find_faults"](path) == []
    assert json.loads(path.read_text(encoding="utf-8")) == notebook(code("await thing()"))


def test_fixing_strips_what_a_run_left_behind(tmp_path: Path) -> None:
    ran = notebook(
        code("1", outputs=[{"a": 1}], execution_count=1, metadata={"papermill": {}, "tags": ["t"]}),
        papermill={"duration": 1},
    )
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(ran), encoding="utf-8")

    notebook_check["strip"](path)

    assert notebook_check["find_faults"](path) == []
    cell = json.loads(path.read_text(encoding="utf-8"))["cells"][2]
    assert cell == code("1", metadata={"tags": ["t"]})


def test_the_shipped_notebooks_are_clean() -> None:
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))

    found = [fault for path in paths for fault in notebook_check["find_faults"](path)]

    assert len(paths) > 0
    assert found == []


# The Makefile and CI.


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_says_what_to_do_without_a_python(tmp_path: Path) -> None:
    done = make("PYTHON=no-such-python", f"VENV={tmp_path / 'venv'}", "demo")

    assert done.returncode == 2
    assert 'No "no-such-python" on this machine. Install Python 3.11 or newer' in done.stderr
    assert not (tmp_path / "venv").exists()


def test_make_refuses_a_python_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\ncase "$2" in *version_info*) exit 1;; *) echo 3.10.13;; esac\n')
    old.chmod(0o755)

    done = make(f"PYTHON={old}", f"VENV={tmp_path / 'venv'}", "demo")

    assert done.returncode == 2
    assert "is 3.10.13; agenteval-kit needs Python 3.11 or newer" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_make_leaves_no_half_environment_behind(tmp_path: Path) -> None:
    broken = tmp_path / "python3"
    broken.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] && {{ mkdir -p {tmp_path}/venv/bin; exit 1; }}\nexit 0\n'
    )
    broken.chmod(0o755)

    done = make(f"PYTHON={broken}", f"VENV={tmp_path / 'venv'}", "demo")

    assert done.returncode == 2
    assert "apt-get install python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_what_is_installed_is_not_installed_again(tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").touch()
    (tmp_path / "venv" / ".installed").touch()

    done = make(f"VENV={tmp_path / 'venv'}", "--dry-run", "demo")

    assert done.stdout.strip() == f"{tmp_path / 'venv'}/bin/agenteval demo"


def test_make_help_names_every_command() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = text.split(".PHONY:")[1].split("\n\n")[0].replace("\\", " ").split()

    helped = make().stdout

    inner = {"help", "lint", "types", "pytest"}
    assert {line.split()[1] for line in helped.splitlines()} == set(phony) - inner


def test_ci_runs_what_the_readme_says_and_then_the_local_model() -> None:
    script = ROOT / ".ci" / "run"

    lines = script.read_text(encoding="utf-8").strip().splitlines()

    assert os.access(script, os.X_OK)
    # Under `set -e` a failing `make test` is the end; what comes after it cannot hide it.
    assert lines[-2:] == ["make test", "exec make local-model-test"]
    assert "set -euo pipefail" in lines
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def bare_machine(tmp_path: Path) -> Path:
    """A folder of programs as on a machine without a browser; each notes how it was called."""
    for name in ("bash", "dirname", "mktemp", "tail", "id"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    for name in ("make", "apt-get", "sudo", "sleep"):
        program(tmp_path, name, "exit 0")
    return tmp_path


def program(folder: Path, name: str, ending: str) -> None:
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/calls\n{ending}\n')
    path.chmod(0o755)


def run_ci(machine: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    done = subprocess.run(
        [str(ROOT / ".ci" / "run")],
        env={"PATH": str(machine)},
        capture_output=True,
        text=True,
        check=False,
    )
    calls = (machine / "calls").read_text(encoding="utf-8").splitlines()
    return done, [call.removeprefix("sudo --non-interactive ") for call in calls]


def test_ci_installs_a_browser_where_there_is_none(bare_machine: Path) -> None:
    done, calls = run_ci(bare_machine)

    installed = "apt-get install -qq -y --no-install-recommends chromium fonts-liberation"
    assert done.returncode == 0
    assert calls[-2:] == ["make test", "make local-model-test"]
    if os.getuid() == 0:
        assert calls == ["apt-get update -qq", installed, *calls[-2:]]


def test_ci_leaves_a_browser_that_is_there(bare_machine: Path) -> None:
    program(bare_machine, "chromium", "exit 0")

    done, calls = run_ci(bare_machine)

    assert done.returncode == 0
    assert calls == ["make test", "make local-model-test"]


def test_ci_tries_again_and_then_tests_without_a_browser(bare_machine: Path) -> None:
    program(bare_machine, "apt-get", "echo 'no network' >&2; exit 1")
    program(bare_machine, "sudo", "exit 1")

    done, calls = run_ci(bare_machine)

    assert done.returncode == 0
    assert [call for call in calls if call.startswith("sleep")] == ["sleep 5", "sleep 15"]
    assert calls[-2:] == ["make test", "make local-model-test"]
    assert "No Chromium could be installed: browser tests will not run" in done.stderr


def test_ci_fails_when_a_test_fails(bare_machine: Path) -> None:
    program(bare_machine, "make", "exit 2")

    done, calls = run_ci(bare_machine)

    assert done.returncode == 2
    assert calls[-1] == "make test"


def test_ci_fails_when_the_local_model_fails_alone(bare_machine: Path) -> None:
    program(bare_machine, "make", '[ "$1" = test ]')

    done, calls = run_ci(bare_machine)

    assert done.returncode == 1
    assert calls[-1] == "make local-model-test"


# The wheel, built from the source archive and used far from the checkout.


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        check=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel's content, as pip would install it."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def far_away(
    installed: Path, *arguments: str, cwd: str | Path = "/"
) -> subprocess.CompletedProcess[str]:
    """Call the installed command where no checkout is near."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_wheel_ships_data_and_notebooks_but_no_runs_and_no_caches(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    for folder in ("suites", "cases", "agents", "bars", "recorded"):
        assert any(name.startswith(f"agenteval_kit/_data/{folder}/") for name in names)
    assert any(name.startswith("agenteval_kit/_notebooks/") for name in names)
    assert any(name.startswith("agenteval_kit/scaffold/templates/") for name in names)
    assert "agenteval_kit/py.typed" in names
    strays = ("__pycache__", "_data/runs/", ".ipynb_checkpoints", "tests/")
    assert [name for name in names if any(stray in name for stray in strays)] == []


@pytest.mark.slow
def test_the_wheel_declares_its_command_and_its_plugin(installed: Path) -> None:
    (entry_points,) = installed.glob("*.dist-info/entry_points.txt")

    text = entry_points.read_text(encoding="utf-8")

    assert "[console_scripts]\nagenteval = agenteval_kit.cli:main" in text
    assert "[pytest11]\nagenteval = agenteval_kit.pytest_plugin" in text


@pytest.mark.slow
def test_the_installed_command_works_far_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    where = far_away(installed, "-c", "import agenteval_kit; print(agenteval_kit.__file__)")
    suite = installed / "agenteval_kit" / "_data" / "suites" / "triage.yaml"

    checked = far_away(
        installed, "-m", "agenteval_kit", "check", str(suite), "--runs", str(tmp_path)
    )

    assert where.stdout.strip() == str(installed / "agenteval_kit" / "__init__.py")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_the_installed_demo_works_far_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    done = far_away(installed, "-m", "agenteval_kit", "demo", cwd=tmp_path)

    (page,) = (tmp_path / "reports").glob("*.html")
    assert done.returncode == 0, done.stderr
    assert "no difference shown" in done.stdout
    assert done.stdout.splitlines()[-1] == f"report: reports/{page.name}"
    assert page.stat().st_size > 100_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "reports"]
