"""Label Studio's exports: JSON with its annotations, and JSON-MIN, an object an annotation.

May not read what models predicted or what was not submitted: neither is a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_items
from agenteval_kit.labels.exports import Export
from agenteval_kit.labels.said import Said, Wanted

__all__ = ["looks_like_label_studio", "read_label_studio"]

_SCORED = ("rating", "number", "choices")


def looks_like_label_studio(value: Any) -> bool:
    """Whether an entry is a task with annotations, or an annotation of JSON-MIN."""
    return isinstance(value, dict) and (
        ("annotations" in value and "data" in value)
        or ("annotator" in value and "annotation_id" in value)
    )


def read_label_studio(path: Path, *, wanted: Wanted, problems: Problems) -> Iterator[Said]:
    """What raters said in Label Studio.

    A skipped task is a skip. Ratings, numbers and single choices are labels; a text area called
    ``<dimension>_note`` goes with the label, any other stands as a note on the transcript.

    Raises
    ------
    ConfigError
        If the file cannot be read, or nothing in it is a dimension.
    """
    export = Export(path, wanted, problems)
    for item in read_items(path):
        value = item.value
        if not looks_like_label_studio(value):
            export.wrong("is no task of Label Studio: it has no annotations", item.line)
        elif "annotations" in value and "data" in value:
            yield from _task(value, item.line, export)
        else:
            yield from _flat(value, item.line, export)
    export.check("control")


def _task(task: dict[str, Any], line: int, export: Export) -> Iterator[Said]:
    data, annotations = task["data"], task["annotations"]
    if not isinstance(data, dict) or not isinstance(annotations, list):
        export.wrong("is no task of Label Studio: data wants fields, annotations a list", line)
        return
    place = export.place({"id": task.get("id"), **data}, line, where="the data of its task")
    if place is None:
        return
    for one in annotations:
        results = one.get("result") if isinstance(one, dict) else None
        if not isinstance(one, dict) or not isinstance(results, list | None):
            export.wrong("holds an annotation without a list under result", line)
            continue
        rater, at = _person(one.get("completed_by")), one.get("updated_at") or one.get("created_at")
        if one.get("was_cancelled") is True:
            yield export.skip(place, rater=rater, at=at)
            continue
        answers = list(_answers(results or [], line, export))
        yield from export.answers(place, answers, rater=rater, at=at)


def _person(value: Any) -> Any:
    if isinstance(value, dict):
        return value.get("email") or value.get("id")
    return value


def _answers(results: list[Any], line: int, export: Export) -> Iterator[tuple[str, Any]]:
    for one in results:
        if not isinstance(one, dict):
            export.wrong("holds a result that is no object", line)
            continue
        kind, name, value = one.get("type"), one.get("from_name"), one.get("value")
        if not isinstance(name, str) or not isinstance(value, dict):
            continue  # a relation between regions, which says nothing of the whole
        if kind == "textarea":
            role = export.wanted.role(name)
            yield (name if role and role[0] == "note" else "note"), value.get("text")
        elif kind in _SCORED:
            yield name, value.get(kind)


def _flat(value: Mapping[str, Any], line: int, export: Export) -> Iterator[Said]:
    if not export.wanted.levels:
        # Here an answer looks like a field of the task.
        raise ConfigError(
            Problem(
                "JSON-MIN does not say which of its fields are answers; name the rubric (--rubric)",
                str(export.file),
                line,
            )
        )
    place = export.place(value, line, where="the data of its task")
    if place is not None:
        at = value.get("updated_at") or value.get("created_at")
        yield from export.answers(place, value.items(), rater=_person(value["annotator"]), at=at)
