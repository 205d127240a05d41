"""The objects of a foreign JSON or JSON Lines file, each with the line that it starts on.

May not know any format: it hands on what stands there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files.json_files import read_json, read_jsonl
from agenteval_kit.files.texts import read_text

__all__ = ["Item", "first_item", "read_items"]

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)\b|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?', re.DOTALL
)
_GAP = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a JSON list, one line of JSON Lines, or one whole JSON object."""

    value: Any
    line: int


def read_items(path: Path) -> Iterator[Item]:
    """Elements of a JSON list, objects of a JSON Lines file, or the one object of a JSON file.

    JSON Lines stream; a JSON file is held in memory.

    Raises
    ------
    ConfigError
        With file and line: no such file, not JSON, NaN or infinity, a key that stands twice, or
        nothing in it.
    """
    found = False
    if _is_jsonl(path):
        for row in read_jsonl(path):
            found = True
            yield Item(row.value, row.line)
    else:
        value = _read_document(path)
        text = read_text(path)
        if isinstance(value, list):
            for element, line in zip(value, _element_lines(text), strict=True):
                found = True
                yield Item(element, line)
        else:
            found = True
            yield Item(value, text[: len(text) - len(text.lstrip())].count("\n") + 1)
    if not found:
        raise ConfigError(Problem("is empty; there is nothing to import", str(path)))


def first_item(path: Path) -> Item:
    """The first element, to tell the format by.

    Raises
    ------
    ConfigError
        As `read_items`.
    """
    return next(read_items(path))


def _is_jsonl(path: Path) -> bool:
    """Whether each line is JSON of its own; the content decides, the name only where it cannot."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    if not path.is_file():
        raise ConfigError(Problem("there is no such file", str(path)))
    with path.open("rb") as stream:
        for number, raw in enumerate(stream):
            line = raw.removeprefix(b"\xef\xbb\xbf") if number == 0 else raw
            if line.strip():
                break
        else:
            return True
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_document(path: Path) -> Any:
    try:
        return read_json(path)
    except ConfigError as error:
        if error.problems[0].line is not None:
            raise
        line = _line_of_bad_number(read_text(path))
        if line is None:
            raise
        raise ConfigError(Problem(error.problems[0].message, str(path), line)) from None


def _line_of_bad_number(text: str) -> int | None:
    for token in _TOKEN.finditer(text):
        word = token.group()
        if not word.startswith('"') and not math.isfinite(float(word)):
            return text.count("\n", 0, token.start()) + 1
    return None


def _element_lines(text: str) -> Iterator[int]:
    decoder = json.JSONDecoder(strict=False)
    at = text.index("[") + 1
    line = text.count("\n", 0, at) + 1
    while True:
        gap = _GAP.match(text, at)
        assert gap is not None  # the pattern matches the empty text too
        line += text.count("\n", at, gap.end())
        at = gap.end()
        if text[at] == "]":
            return
        yield line
        _, end = decoder.raw_decode(text, at)
        line += text.count("\n", at, end)
        at = end
