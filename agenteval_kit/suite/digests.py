"""Digests of a suite's content: of the whole, and of each case by itself.

May not read files, and may not cover the agent: who answers is no part of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.agents.source import digest_with_neighbours
from agenteval_kit.checks import Resources, id_table_key
from agenteval_kit.files import canonical_json, digest, text_digest
from agenteval_kit.records import Checks, Scenario, SuiteFile
from agenteval_kit.records.cases import IdTable
from agenteval_kit.suite.items import Item

__all__ = ["CaseDigests", "contents", "suite_digest"]

NOT_CONTENT = frozenset(
    {
        "agent", "bar", "baseline", "judge", "rubric", "labels", "calibration", "recorded",
        "cases", "scenarios", "repeats", "data_note", "simulator",
    }
)  # fmt: skip


def contents(items: Iterable[Item]) -> dict[str, str]:
    """The canonical text of each case, by id: made once, since a suite and its cases hash it."""
    return {item.id: _text(item) for item in items}


def suite_digest(spec: SuiteFile, cases: Iterable[str], resources: Resources) -> str:
    """Over everything that a suite asks and expects.

    Parameters
    ----------
    spec, resources
        The suite as it is written, and the tables that it refers to.
    cases : iterable of str
        The canonical text of each case, in order.
    """
    tables: Mapping[str, Any] = {
        "ids": {name: sorted(ids) for name, ids in resources.ids.items()},
        "schemas": dict(resources.schemas),
        "functions": {name: _source_digest(made) for name, made in resources.functions.items()},
    }
    shared = spec.model_dump(mode="json", exclude=set(NOT_CONTENT))
    # The canonical text of {"items": ..., "suite": ..., "tables": ...}, of the texts there are.
    return text_digest(
        f'{{"items":[{",".join(cases)}],"suite":{canonical_json(shared)},'
        f'"tables":{canonical_json(tables)}}}'
    )


class CaseDigests:
    """The digest of one case: its content, what the suite asks of every case, what both refer to.

    Not over the other cases, nor the suite's version: two versions of a suite are compared on the
    cases whose digests agree.
    """

    def __init__(self, spec: SuiteFile, resources: Resources, cases: Mapping[str, str]) -> None:
        self._resources = resources
        self._cases = cases
        self._known: dict[str, str] = {}
        # The tools that may be named settle what is refused on load, not what is asked.
        shared = spec.model_dump(mode="json", exclude={*NOT_CONTENT, "version", "tools"})
        self._shared = digest({"suite": shared, "tables": list(self._tables(spec.checks))})

    def of(self, item: Item) -> str:
        """The digest of one case."""
        tables = list(self._tables(item.checks))
        if isinstance(item, Scenario):
            tables += self._tables(item.invariants)
        # A recording without a suite's cases brings its own, one at a time.
        text = self._cases[item.id] if item.id in self._cases else _text(item)
        return text_digest("\n".join([self._shared, *tables, text]))

    def _tables(self, checks: Checks) -> Iterator[str]:
        """Digests of the tables, schemas and functions that checks refer to."""
        found = self._resources
        within = checks.cited_ids.within if checks.cited_ids is not None else None
        if isinstance(within, IdTable):
            key = id_table_key(within.file, within.column or within.query or "")
            yield self._once(key, lambda: digest(sorted(found.ids[key])))
        name = checks.json_schema
        if isinstance(name, str):
            yield self._once(name, lambda: digest(found.schemas[name]))
        for own in checks.python or []:
            call = own.call
            yield self._once(call, lambda call=call: _source_digest(found.functions[call]))  # type: ignore[misc]

    def _once(self, name: str, make: Callable[[], str]) -> str:
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]


def _text(item: Item) -> str:
    return canonical_json(item.model_dump(mode="json", exclude_unset=True, exclude={"draft"}))


def _source_digest(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return digest_with_neighbours(Path(code.co_filename)) if code is not None else repr(function)
