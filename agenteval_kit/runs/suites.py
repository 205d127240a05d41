"""Finds the suite file of a run again, and notes where it lies without a machine's own paths.

May not read more of a suite than its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agenteval_kit.files import read_yaml
from agenteval_kit.runs.folder import Run

__all__ = ["find_suite_file", "note_suite_file", "other_suite_here"]

_FOLDERS = (".", "suites", "data/suites")


def find_suite_file(run: Run) -> Path | None:
    """The suite file of a run where it still stands; None where it is not here.

    It is looked for from each folder above the run, the nearest first: a run may be read from
    anywhere, and means the suite of its own project. Only then it is looked for from the working
    directory and the folder above (notebooks have a folder of their own).

    Raises
    ------
    ConfigError
        If what stands there cannot be read.
    """
    if run.info.suite_file is None:
        return None
    noted = Path(run.info.suite_file)
    for place in (*_above_run(run, noted), *_from_here(noted)):
        if _is_suite_of(run, place):
            return place
    return None


def other_suite_here(run: Run) -> str:
    """That the working directory has another suite of that name than the run's; or empty.

    Raises
    ------
    ConfigError
        If what stands there cannot be read.
    """
    used = find_suite_file(run)
    if used is None:
        return ""
    for place in _from_here(Path(str(run.info.suite_file))):
        if _is_suite_of(run, place) and place.read_bytes() != used.read_bytes():
            return (
                f"suite {run.info.suite} is read from {used}, in the project of the run; the other "
                f"one here, {place}, is not"
            )
    return ""


def note_suite_file(file: Path, run: Path) -> str:
    """Where a suite lies, seen from here, the folder above or one above the run; else its name."""
    here = Path.cwd()
    whole = file.resolve()
    for base in (here, here.parent, *run.resolve().parents[:3]):
        # Seen from the top of a disk, a path is the machine's own.
        if base != base.parent and whole.is_relative_to(base):
            return whole.relative_to(base).as_posix()
    return file.name


def _above_run(run: Run, noted: Path) -> Iterator[Path]:
    here = Path.cwd()
    for base in run.path.resolve().parents:
        for folder in _FOLDERS if noted.parent == Path() else (".",):
            place = base / folder / noted
            # A path that is passed on to a notebook or a page is not to be the machine's own.
            near = place.is_relative_to(here) or base == here.parent
            yield Path(os.path.relpath(place, here)) if near else place


def _from_here(noted: Path) -> Iterator[Path]:
    yield noted
    yield ".." / noted


def _is_suite_of(run: Run, place: Path) -> bool:
    # Another suite that has come to stand there names other people's labels.
    return place.is_file() and _name(place) == run.info.suite


def _name(file: Path) -> object:
    value = read_yaml(file).value
    return value.get("name") if isinstance(value, dict) else None
