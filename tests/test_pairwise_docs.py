"""The examples of the page on comparisons run, and give what they show."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest


def test_the_examples_on_published_verdicts_give_what_they_show(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)

    result = doctest.testfile(str(root / "docs" / "pairwise.md"), module_relative=False)

    assert result.attempted >= 9
    assert result.failed == 0
