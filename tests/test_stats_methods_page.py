"""The page of methods: its examples run, and docstrings' examples too."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

from agenteval_kit import stats
from agenteval_kit.stats.length import length_bias

MODULES = sorted(m.name for m in pkgutil.iter_modules(stats.__path__))
OPTIONS = doctest.NORMALIZE_WHITESPACE


def test_examples_of_the_methods_page_give_what_is_printed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)

    found = doctest.testfile(
        str(root / "docs" / "methods.md"), module_relative=False, optionflags=OPTIONS
    )

    assert found.attempted > 60
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_give_what_is_printed(name: str) -> None:
    module = importlib.import_module(f"agenteval_kit.stats.{name}")

    assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


def test_every_public_function_of_the_statistics_has_a_docstring() -> None:
    for name in MODULES:
        module = importlib.import_module(f"agenteval_kit.stats.{name}")
        for attribute, value in vars(module).items():
            if callable(value) and getattr(value, "__module__", "") == module.__name__:
                assert attribute.startswith("_") or value.__doc__, f"{name}.{attribute}"


def test_length_that_decides_shows_in_the_thirds_and_not_at_equal_length() -> None:
    rng = np.random.default_rng(3)
    gap = rng.normal(0, 30, size=600)
    biased = (rng.random(600) < 1 / (1 + np.exp(-gap / 20))).astype(float)
    fair = (rng.random(600) < 0.6).astype(float)

    by_length, by_merit = length_bias(biased, gap), length_bias(fair, gap)

    assert by_length.shorter.high is not None
    assert by_length.longer.low is not None
    assert by_length.shorter.high < 0.5 < by_length.longer.low
    assert by_length.at_equal_length.low is not None
    assert by_length.at_equal_length.high is not None
    assert by_length.at_equal_length.low < 0.5 < by_length.at_equal_length.high
    assert by_merit.at_equal_length.low is not None
    assert by_merit.at_equal_length.low > 0.5
