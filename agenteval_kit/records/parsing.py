"""From plain values to records: each complaint gets its line, its field and a near name.

May not read files: the caller hands in where the value came from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agenteval_kit.errors import Problems, did_you_mean

__all__ = ["parse_record"]

Record = TypeVar("Record", bound=BaseModel)
Loc = tuple[str | int, ...]

PLAIN = {
    "string_type": "wants text",
    "bool_type": "wants true or false",
    "int_type": "wants a whole number",
    "int_from_float": "wants a whole number",
    "float_type": "wants a number",
    "float_parsing": "wants a number",
    "list_type": "wants a list",
    "tuple_type": "wants a list",
    "dict_type": "wants key: value pairs",
    "model_type": "wants key: value pairs",
    "missing": "is missing; add it",
}


def parse_record(
    kind: type[Record],
    value: Any,
    *,
    file: str,
    line: Callable[[Loc], int],
    what: str,
    problems: Problems,
    also_known: tuple[str, ...] = (),
) -> Record | None:
    """Make a record, or note every problem of the value and return None.

    Parameters
    ----------
    kind : type
        The record wanted.
    value : object
        Plain dicts, lists and scalars.
    file : str
        For the complaint.
    line : callable
        Line of a path of keys within `value`.
    what : str
        Names the record in a complaint: ``case "pol-carry"``.
    problems : Problems
        Receives the complaints.
    also_known : tuple of str
        Keys that are allowed at the top beside the record's own (for the near name).
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        seen: set[tuple[int, str]] = set()
        items = [
            (tuple(part for part in item["loc"] if not _is_tag(part)), item)
            for item in error.errors(include_url=False)
        ]
        for loc, item in items:
            # A union complains of the whole where another member found the very spot.
            if any(len(other) > len(loc) and other[: len(loc)] == loc for other, _ in items):
                continue
            text = _sentence(kind, item, loc, what, also_known)
            at = line(loc)
            # A union complains once per member; one complaint a place is enough.
            place = (at, ".".join(map(str, loc)))
            if place in seen:
                continue
            seen.add(place)
            problems.add(text, file=file, line=at)
        return None


def _is_tag(part: str | int) -> bool:
    # Members of unions and validators appear in a location as "function-after[...]", "list[str]"
    # or a class name; no key of ours looks like that.
    return isinstance(part, str) and (
        "[" in part or part in UNION_TAGS or part.endswith(("Clause", "Spec"))
    )


UNION_TAGS = frozenset(
    {"str", "bool", "int", "float", "MustRefuse", "IdTable", "constrained-str", "dict", "list"}
)


def _sentence(kind: type[BaseModel], item: Any, loc: Loc, what: str, also: tuple[str, ...]) -> str:
    field = ".".join(str(part) for part in loc)
    if item["type"] == "extra_forbidden":
        known = _known_keys(kind, loc[:-1]) | (set(also) if len(loc) == 1 else set())
        return f'unknown key "{loc[-1]}" in {what}.{did_you_mean(str(loc[-1]), known)}'
    came = item.get("input")
    shown = f"{came!r}"
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if item["type"] == "value_error":
        reason = str(item["ctx"]["error"])
        return f'"{field}" in {what}: {reason}' if field else f"{what}: {reason}"
    reason = PLAIN.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])
    if item["type"] == "missing":
        return f'"{field}" {reason} ({what})'
    return f'"{field}" in {what} {reason}, but holds {shown}'


def _known_keys(kind: type[BaseModel], loc: Loc) -> set[str]:
    found: Any = kind
    for part in loc:
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            return set()
        if isinstance(part, int) or part not in found.model_fields:
            continue
        found = _inner_model(found.model_fields[part].annotation)
    if isinstance(found, type) and issubclass(found, BaseModel):
        return {info.alias or name for name, info in found.model_fields.items()}
    return set()


def _inner_model(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        inner = _inner_model(argument)
        if inner is not None:
            return inner
    return None
