"""What start-up loads, seen from outside: a fresh interpreter and its sys.modules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import agenteval_kit

HEAVY = {"pandas", "scipy", "statsmodels", "openai", "plotly", "ipywidgets"}


def modules_after(code: str, *, root: Path) -> set[str]:
    """Top-level names in sys.modules after a fresh interpreter has run the code."""
    probe = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=root, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_importing_the_package_loads_nothing_heavy_and_not_even_pydantic(root: Path) -> None:
    loaded = modules_after("import agenteval_kit", root=root)

    assert loaded.isdisjoint(HEAVY | {"pydantic", "numpy", "yaml", "asyncio"})


def test_the_command_that_helps_loads_nothing_of_the_kit_but_its_errors(root: Path) -> None:
    loaded = modules_after("from agenteval_kit.cli import main; main(['--help'])", root=root)

    assert loaded.isdisjoint(HEAVY | {"pydantic", "numpy", "yaml", "asyncio"})


@pytest.mark.parametrize("suite", ["triage", "helpdesk", "support"])
def test_checking_a_suite_loads_nothing_heavy(suite: str, root: Path, tmp_path: Path) -> None:
    call = ["check", str(root / "data" / "suites" / f"{suite}.yaml"), "--runs", str(tmp_path)]

    loaded = modules_after(
        f"from agenteval_kit.cli import main; assert main({call!r}) == 0", root=root
    )

    assert loaded.isdisjoint(HEAVY | {"papermill", "nbformat", "numpy"})


@pytest.mark.parametrize("name", agenteval_kit.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    value = getattr(agenteval_kit, name)

    assert value is not None
    assert name in dir(agenteval_kit)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Kase'"):
        _ = agenteval_kit.Kase
