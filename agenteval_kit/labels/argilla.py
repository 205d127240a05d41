"""Argilla's exports: records with the responses of each user, nested, flat, or of version 1.

May not read suggestions or drafts: neither is a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval_kit.errors import Problems
from agenteval_kit.files import read_items
from agenteval_kit.labels.exports import Export
from agenteval_kit.labels.said import Said, Wanted

__all__ = ["NOT_SAID", "looks_like_argilla", "read_argilla"]

_FLAT = ".responses"
NOT_SAID = "submitted or draft not said"


@dataclass(frozen=True, slots=True)
class _Response:
    question: str
    value: Any
    user: Any
    status: str | None


def looks_like_argilla(value: Any) -> bool:
    """Whether an entry is a record with responses."""
    return isinstance(value, dict) and (
        "responses" in value
        or any(name.endswith(_FLAT) for name in value)
        or any(_is_column(one) for one in value.values())
    )


def read_argilla(path: Path, *, wanted: Wanted, problems: Problems) -> Iterator[Said]:
    """What users answered in Argilla.

    Submitted answers are labels, a discarded record is a skip, drafts are passed over. Where the
    file does not say whether an answer was submitted (`to_json` of Argilla 2 leaves it out), each
    answer counts, and its `origin` says so.

    Raises
    ------
    ConfigError
        If the file cannot be read, or nothing in it is a dimension.
    """
    export = Export(path, wanted, problems)
    for item in read_items(path):
        if not looks_like_argilla(item.value):
            # A record that nobody answered has no responses in a flat file.
            if not isinstance(item.value, dict):
                export.wrong("is no record of Argilla: it is no object", item.line)
            continue
        yield from _record(item.value, item.line, export)
    export.check("question")


def _record(record: dict[str, Any], line: int, export: Export) -> Iterator[Said]:
    by_user: dict[str, list[_Response]] = {}
    for one in _responses(record, line, export):
        by_user.setdefault(str(one.user), []).append(one)
    if not by_user:
        return
    fields = dict(record)
    for name in ("fields", "metadata"):
        inner = record.get(name)
        if isinstance(inner, dict):
            fields.update(inner)
    place = export.place(fields, line, where="the metadata or fields of its record")
    if place is None:
        return
    for answers in by_user.values():
        user = answers[0].user
        counted = [one for one in answers if one.status in (None, "submitted")]
        told = all(one.status for one in counted)
        yield from export.answers(
            place,
            [(one.question, one.value) for one in counted],
            rater=user,
            origin="" if told else f"{export.file.name} (Argilla, {NOT_SAID})",
        )
        if not counted and any(one.status == "discarded" for one in answers):
            yield export.skip(place, rater=user)


def _responses(record: dict[str, Any], line: int, export: Export) -> Iterator[_Response]:
    nested = record.get("responses")
    if isinstance(nested, dict):
        for question, answers in nested.items():
            yield from _column(question, answers, line, export)
    elif isinstance(nested, list):
        for one in nested:
            yield from _of_user(one, line, export)
    for name, value in record.items():
        if name.endswith(_FLAT) and value is not None:
            yield from _flat(name, record, line, export)
        elif _is_column(value):
            yield from _column(name, value, line, export)


def _is_column(value: Any) -> bool:
    """Whether a value is a question of Argilla 1: its answers, each with its user."""
    if isinstance(value, dict):
        return {"user_id", "value", "status"} <= set(value)
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and {"user_id", "value"} <= set(one) for one in value)
    )


def _column(question: str, answers: Any, line: int, export: Export) -> Iterator[_Response]:
    if isinstance(answers, dict):
        columns = [answers.get(name) for name in ("value", "user_id", "status")]
        if all(isinstance(one, list) for one in columns):
            answers = [
                dict(zip(("value", "user_id", "status"), one, strict=False))
                for one in zip(*columns, strict=False)
            ]
    if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
        export.wrong(f'the responses to "{question}" are no list of answers', line)
        return
    for one in answers:
        yield _Response(question, one.get("value"), one.get("user_id"), one.get("status"))


def _of_user(one: Any, line: int, export: Export) -> Iterator[_Response]:
    values = one.get("values") if isinstance(one, dict) else None
    if isinstance(values, dict):
        for question, answer in values.items():
            value = answer.get("value") if isinstance(answer, dict) else answer
            yield _Response(question, value, one.get("user_id"), one.get("status"))
    elif isinstance(one, dict) and values is None and one.get("status") == "discarded":
        yield _Response("", None, one.get("user_id"), "discarded")
    else:
        export.wrong("holds a response without values", line)


def _flat(name: str, record: dict[str, Any], line: int, export: Export) -> Iterator[_Response]:
    values, users = record[name], record.get(f"{name}.users")
    states = record.get(f"{name}.status")
    if not isinstance(values, list) or not isinstance(users, list) or len(users) != len(values):
        export.wrong(f'"{name}" wants a list, and "{name}.users" a user for each of it', line)
        return
    if not isinstance(states, list) or len(states) != len(values):
        states = [None] * len(values)
    for value, user, status in zip(values, users, states, strict=True):
        yield _Response(name.removesuffix(_FLAT), value, user, status)
