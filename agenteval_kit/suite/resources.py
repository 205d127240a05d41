"""What checks look things up in: identifier tables, JSON Schemas, functions of one's own.

May not check anything; the checks get these handed in, since they touch no file.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.checks import Resources
from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_json, read_text
from agenteval_kit.records import Checks, Scenario
from agenteval_kit.records.cases import IdTable
from agenteval_kit.suite.items import Item, Place
from agenteval_kit.targets import load_target

__all__ = ["load_resources"]


def load_resources(
    items: Iterable[tuple[Item, Place]],
    suite: Checks,
    *,
    place: Place,
    problems: Problems,
) -> Resources:
    """Load every table, schema and function that the checks of a suite name.

    Paths in a case resolve against the case's file; paths in a suite against the suite's, whose
    checks stand at `place`.
    """
    ids: dict[str, frozenset[str]] = {}
    schemas: dict[str, dict[str, Any]] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for checks, base, at in _all_checks(items, suite, place[0].parent, place):
        try:
            table = checks.cited_ids.within if checks.cited_ids else None
            if isinstance(table, IdTable):
                key = f"{table.file}|{table.column or table.query or ''}"
                if key not in ids:
                    ids[key] = _identifiers(table, base)
            if isinstance(checks.json_schema, str) and checks.json_schema not in schemas:
                schemas[checks.json_schema] = _schema(base / checks.json_schema)
            for own in checks.python or []:
                if own.call not in functions:
                    functions[own.call] = load_target(
                        own.call, folder=base, siblings=("../checks", "../agents")
                    )
        except ConfigError as error:
            for problem in error.problems:
                if problem.line is None:
                    file = f"{problem.file}: " if problem.file is not None else ""
                    problems.add(f"{file}{problem.message}", file=at[0], line=at[1])
                else:
                    problems.add(problem.message, file=problem.file, line=problem.line)
    return Resources(ids=ids, functions=functions, schemas=schemas)


def _all_checks(
    items: Iterable[tuple[Item, Place]], suite: Checks, folder: Path, place: Place
) -> Iterator[tuple[Checks, Path, Place]]:
    yield suite, folder, place
    for item, (file, line) in items:
        yield item.checks, file.parent, (file, line)
        if isinstance(item, Scenario):
            yield item.invariants, file.parent, (file, line)


def _identifiers(table: IdTable, base: Path) -> frozenset[str]:
    path = base / table.file
    if not path.is_file():
        raise ConfigError(Problem("there is no such table of identifiers", str(path)))
    if table.query is not None:
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                return frozenset(str(row[0]) for row in database.execute(table.query))
        except sqlite3.Error as error:
            raise ConfigError(Problem(f"the query failed: {error}", str(path))) from None
    if table.column is None:
        return frozenset(line.strip() for line in read_text(path).splitlines() if line.strip())
    rows = csv.DictReader(read_text(path).splitlines())
    if table.column not in (rows.fieldnames or ()):
        raise ConfigError(Problem(f'has no column "{table.column}"', str(path), 1))
    return frozenset(row[table.column] for row in rows if row[table.column])


def _schema(path: Path) -> dict[str, Any]:
    value = read_json(path)
    if not isinstance(value, dict):
        raise ConfigError(Problem("a JSON Schema wants to be an object", str(path), 1))
    return value
