"""YAML without surprises, read strictly, with the line of every key.

May not write.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files.texts import read_text

__all__ = ["Document", "read_yaml"]

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML or JSON document with the line of every key and item.

    Attributes
    ----------
    value : object
        Plain dicts, lists, strings, numbers, booleans and None.
    file : pathlib.Path
        Where it was read.
    lines : dict
        Path of keys and indices -> line from 1. Use `line` to look up.
    """

    value: Any
    file: Path
    lines: Mapping[Path_, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """Line of a key, or of its nearest parent that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1


class _Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """YAML without surprises: `no` is a string, 001 is a string, dates are strings."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?(?:0|[1-9][0-9]*)\.?[eE][-+]?[0-9]+|[-+]?(?:0|[1-9][0-9]*)\."
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"), ["<"])


def read_yaml(path: Path) -> Document:
    """A YAML document (JSON too, which is YAML), strict, with the line of every key.

    A key that stands twice, NaN and infinity are refused. Values keep the type that a reader
    sees: ``no``, ``001`` and ``2026-03-02`` are strings.

    Raises
    ------
    ConfigError
        All problems of the file, each with its line.
    """
    text = read_text(path)
    lines: dict[Path_, int] = {}
    problems = Problems()
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        value = None if node is None else _build(loader, node, (), lines, problems, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(
            Problem(f"is not YAML: {reason}", str(path), None if mark is None else mark.line + 1)
        ) from None
    except RecursionError:
        raise ConfigError(Problem("is nested too deeply", str(path))) from None
    finally:
        loader.dispose()
    problems.raise_any()
    return Document(value, path, lines)


def _build(
    loader: Any, node: Any, at: Path_, lines: dict[Path_, int], problems: Problems, path: Path
) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(at, line)
    if isinstance(node, yaml.MappingNode):
        made: dict[str, Any] = {}
        loader.flatten_mapping(node)
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problems.add("a key must be plain text", file=path, line=key_line)
                continue
            key = key_node.value
            if key in made:
                first = lines[(*at, key)]
                problems.add(
                    f'key "{key}" stands twice, first on line {first}; keep one',
                    file=path,
                    line=key_line,
                )
                continue
            lines[(*at, key)] = key_line
            made[key] = _build(loader, value_node, (*at, key), lines, problems, path)
        return made
    if isinstance(node, yaml.SequenceNode):
        return [
            _build(loader, item, (*at, index), lines, problems, path)
            for index, item in enumerate(node.value)
        ]
    try:
        value = loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        problems.add(f'"{node.value}" cannot be read as {node.tag}', file=path, line=line)
        return None
    if isinstance(value, float) and not math.isfinite(value):
        problems.add(
            f"{node.value} is not a number that can be scored; write null, or leave the key out",
            file=path,
            line=line,
        )
        return None
    return value
