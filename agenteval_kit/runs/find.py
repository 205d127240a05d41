"""Finds runs in a folder: all of them, or the one that may be resumed.

May not write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, StampError
from agenteval_kit.files import canonical_json
from agenteval_kit.runs.folder import Run
from agenteval_kit.runs.info import RunInfo

__all__ = ["find_resumable", "list_runs", "require_same_stamps"]


def list_runs(root: Path, *, suite: str | None = None) -> list[Run]:
    """Runs under a folder, oldest first; folders that are no run are passed over."""
    if not root.is_dir():
        return []
    found = []
    for file in root.glob("*/run.json"):
        try:
            run = Run.open(file.parent)
        except ConfigError:
            continue
        if suite is None or run.info.suite == suite:
            found.append(run)
    return sorted(found, key=lambda run: (run.info.created, run.id))


def find_resumable(root: Path, info: RunInfo) -> Run | None:
    """The latest incomplete run with the same stamps, or None."""
    wanted = canonical_json(info.stamps())
    for run in reversed(list_runs(root, suite=info.suite)):
        if canonical_json(run.info.stamps()) == wanted and not run.complete:
            return run
    return None


def require_same_stamps(run: Run, info: RunInfo) -> None:
    """Refuse to resume a run under other stamps.

    Raises
    ------
    StampError
        Naming the first stamps that differ.
    """
    old, new = run.info.stamps(), info.stamps()
    differing = [
        f"{name} was {_short(was)}, is {_short(is_)}" for name, was, is_ in _differing(old, new)
    ]
    if differing:
        raise StampError(
            Problem(
                "was made under other stamps and is not resumed: "
                + "; ".join(differing)
                + ". Name a new folder with --out",
                str(run.path),
            )
        )


def _differing(
    old: dict[str, Any], new: dict[str, Any], *, at: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The innermost stamps that differ: of an agent its prompt, not all of the agent."""
    for key in dict.fromkeys([*old, *new]):
        was, is_ = old.get(key), new.get(key)
        if was == is_:
            continue
        if isinstance(was, dict) and isinstance(is_, dict):
            yield from _differing(was, is_, at=f"{at}{key} ")
        else:
            yield f"{at}{key}", was, is_


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= 90 else text[:87] + "..."
