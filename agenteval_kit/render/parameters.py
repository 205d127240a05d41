"""The parameters of a notebook: which there are, and whether what was given fits.

May not run the notebook, nor guess: an unknown name is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.files import read_json

__all__ = ["check_parameters", "read_parameters"]

Value = str | int | float | bool | None | list[Any] | dict[str, Any]


def read_parameters(notebook: Path) -> dict[str, Value]:
    """Names and defaults of the cell that is tagged ``parameters``.

    Raises
    ------
    ConfigError
        If the file is no notebook, or the cell holds more than literals.
    """
    content = read_json(notebook)
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise ConfigError(Problem("is not a notebook: it has no cells", str(notebook)))
    tagged = [cell for cell in cells if "parameters" in cell.get("metadata", {}).get("tags", [])]
    if not tagged:
        return {}
    source = tagged[0]["source"]
    code = source if isinstance(source, str) else "".join(source)
    found: dict[str, Value] = {}
    for node in ast.parse(code).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or value is None:
            raise _not_literal(notebook, node)
        try:
            found[target.id] = ast.literal_eval(value)
        except ValueError:
            raise _not_literal(notebook, node) from None
    return found


def check_parameters(notebook: Path, given: Mapping[str, object]) -> dict[str, Value]:
    """What was given, in the type of the notebook's own default.

    A default of None takes text, a number or None; paths become text.

    Raises
    ------
    ConfigError
        For every unknown name (with the nearest right one) and every value that does not fit.
    """
    defaults = read_parameters(notebook)
    problems = Problems()
    fitted: dict[str, Value] = {}
    for name, value in given.items():
        if name not in defaults:
            problems.add(
                f'has no parameter "{name}".{did_you_mean(name, defaults)}', file=notebook.name
            )
            continue
        try:
            fitted[name] = _fit(value, defaults[name])
        except ValueError:
            problems.add(
                f'parameter "{name}" got {value!r}, wanted {_kind(defaults[name])} '
                f"like {defaults[name]!r}",
                file=notebook.name,
            )
    problems.raise_any()
    return fitted


def _fit(value: object, default: Value) -> Value:
    if isinstance(value, Path):
        value = str(value)
    if value is None or default is None:
        if value is None or isinstance(value, str | int | float | bool | list | dict):
            return value
        raise ValueError
    if isinstance(default, bool):
        return _as_bool(value)
    if isinstance(default, int):
        return _as_int(value)
    if isinstance(default, float):
        return float(_as_number(value))
    if isinstance(default, str):
        if isinstance(value, str):
            return value
        raise ValueError
    if isinstance(value, type(default)):
        return value
    raise ValueError


def _as_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def _as_int(value: object) -> int:
    # True is an int to Python, and "3.0" is one to nobody who typed it.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError
    return int(value)


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return float(value)


def _kind(default: Value) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return names.get(type(default), f"a {type(default).__name__}")


def _not_literal(notebook: Path, node: ast.AST) -> ConfigError:
    line = getattr(node, "lineno", 0)
    return ConfigError(
        Problem(
            f"line {line} of the parameters cell is not `name = literal`; keep logic out of it",
            notebook.name,
        )
    )
