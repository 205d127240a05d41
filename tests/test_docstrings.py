"""The examples in docstrings run, and every module says its idea and what it may not do."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    path
    for path in (ROOT / "agenteval_kit").rglob("*.py")
    if "templates" not in path.parts and path.name != "__main__.py"
)
WITH_EXAMPLES = [path for path in FILES if ">>> " in path.read_text(encoding="utf-8")]


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=module_name)
def test_the_examples_of_a_module_give_what_they_show(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(module_name(path))

    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)

    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_a_module_says_its_idea_first_and_fits_one_reading(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        return  # an empty __init__.py only makes a folder a package

    said = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    length = text.count("\n")

    assert said[0].endswith((".", ":"))
    assert length <= 400


def test_nothing_is_left_open() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")

    found = [
        f"{path.relative_to(ROOT)}: {mark}"
        for path in FILES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]

    assert found == []
