"""Rows and stamps that are written anew when something is asked again: the last one counts.

May not know what a row says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import read_jsonl

__all__ = ["newest_rows", "newest_stamps"]

Record = TypeVar("Record", bound=BaseModel)


def newest_stamps(
    path: Path, kind: type[Record], key: Callable[[Record], Hashable], *, what: str, warn: list[str]
) -> list[Record]:
    """The newest stamp of each key; the one that was written last stands last.

    Raises
    ------
    ConfigError
        If a line is no stamp; `what` names it.
    """
    found: dict[Hashable, Record] = {}
    for row in read_jsonl(path, torn="drop", warn=warn) if path.exists() else ():
        made = _made(kind, row.value, path, row.line, what)
        found.pop(key(made), None)
        found[key(made)] = made
    return list(found.values())


def newest_rows(
    path: Path,
    kind: type[Record],
    names: Sequence[str],
    *,
    what: str,
    warn: list[str],
    only: Mapping[str, str] | None = None,
) -> Iterator[Record]:
    """Rows, streamed: of those alike in `names` the last one, if it holds what `only` says.

    Raises
    ------
    ConfigError
        If a line is no such row; `what` names it.
    """

    def key(value: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(value.get(name, 0)) for name in names)

    if not path.exists():
        return
    last = {key(row.value): row.line for row in read_jsonl(path, torn="drop", warn=warn)}
    # A second pass in place of all rows in memory: each holds the judge's whole replies.
    for row in read_jsonl(path, torn="drop"):
        mine = all(row.value.get(name) == wanted for name, wanted in (only or {}).items())
        if mine and last.get(key(row.value)) == row.line:
            yield _made(kind, row.value, path, row.line, what)


def _made(kind: type[Record], value: dict[str, Any], path: Path, line: int, what: str) -> Record:
    try:
        return kind.model_validate(value)
    except ValueError as error:
        first = " ".join(str(error).splitlines()[1:3])
        raise ConfigError(Problem(f"is not a {what}: {first}", str(path), line)) from None
