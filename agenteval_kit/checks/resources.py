"""What checks refer to and may not load: tables of identifiers, functions, schemas.

May not read a file: whoever calls hands the loaded things in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agenteval_kit.errors import Problems, did_you_mean
from agenteval_kit.json_schema import load_jsonschema
from agenteval_kit.records.cases import IdTable
from agenteval_kit.text import fold

__all__ = ["Resources", "id_table_key"]


def id_table_key(file: str, what: str) -> str:
    """Under which key of `Resources.ids` a table's identifiers stand; `what` is column or query."""
    return f"{file}|{what}"


@dataclass(frozen=True, slots=True)
class Resources:
    """What checks need from files, loaded by whoever calls, under the text of the specification.

    Attributes
    ----------
    ids : mapping
        ``file|column`` or ``file|query`` (see `id_table_key`) -> identifiers.
    functions : mapping
        ``module:function`` -> the function.
    schemas : mapping
        The path as it is written -> a JSON Schema.
    """

    ids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    schemas: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def known_ids(
        self, within: list[str] | IdTable, *, what: str, problems: Problems
    ) -> frozenset[str] | None:
        """Identifiers, folded; None, with the problem noted, if the table was not handed in."""
        if isinstance(within, list):
            return _folded(frozenset(within))
        key = id_table_key(within.file, within.column or within.query or "")
        if key not in self.ids:
            problems.add(_unresolved(what, "table", key, self.ids))
            return None
        return _folded(self.ids[key])

    def function(self, call: str, *, what: str, problems: Problems) -> Callable[..., Any] | None:
        """A function; None, with the problem noted, if it was not handed in."""
        if call not in self.functions:
            problems.add(_unresolved(what, "function", call, self.functions))
            return None
        return self.functions[call]

    def validator(
        self, schema: dict[str, Any] | str, *, what: str, problems: Problems
    ) -> Any | None:
        """A validator; None, with the problem noted, if the schema is absent or is not one."""
        if isinstance(schema, str):
            if schema not in self.schemas:
                problems.add(_unresolved(what, "schema", schema, self.schemas))
                return None
            schema = self.schemas[schema]
        validator = _validator(json.dumps(schema, sort_keys=True))
        if isinstance(validator, str):
            problems.add(f"{what} {validator}")
            return None
        return validator


def _unresolved(what: str, kind: str, name: str, known: Collection[str]) -> str:
    return f'{what} names the {kind} "{name}", which was not loaded.{did_you_mean(name, known)}'


@lru_cache(maxsize=64)
def _folded(ids: frozenset[str]) -> frozenset[str]:
    return frozenset(map(fold, ids))


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    """A validator, or what is wrong with the schema."""
    # jsonschema takes longer to load than a small suite takes to check.
    jsonschema = load_jsonschema()
    import referencing

    schema = json.loads(text)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        at = ".".join(map(str, error.path))
        return f"is not a JSON Schema: {f'{at}: ' if at else ''}{error.message}"
    far = next((ref for ref in _references(schema) if not ref.startswith("#")), None)
    if far is not None and "$id" not in text:
        return f'refers to "{far}"; only references within the schema ("#/...") are followed'
    # An empty registry: a "$ref" into the network must fail, not download.
    return kind(schema, registry=referencing.Registry())


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _references(item)
