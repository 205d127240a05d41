"""Finds the suite file of a run again, and notes where it lies without a machine's own paths.

May not read more of a suite than its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agenteval_kit.files import read_yaml
from agenteval_kit.runs.folder import Run

__all__ = ["find_suite_file", "note_suite_file"]

_FOLDERS = (".", "suites", "data/suites")


def find_suite_file(run: Run) -> Path | None:
    """The suite file of a run where it still stands; None where it is not here.

    It is looked for from the working directory, from the folder above (notebooks have a folder
    of their own), and from each folder above the run: a run may be read from anywhere.

    Raises
    ------
    ConfigError
        If what stands there cannot be read.
    """
    if run.info.suite_file is None:
        return None
    noted = Path(run.info.suite_file)
    for place in _places(run, noted):
        # Another suite that has come to stand there names other people's labels.
        if place.is_file() and _name(place) == run.info.suite:
            return place
    return None


def note_suite_file(file: Path, run: Path) -> str:
    """Where a suite lies, seen from here, the folder above or one above the run; else its name."""
    here = Path.cwd()
    whole = file.resolve()
    for base in (here, here.parent, *run.resolve().parents[:3]):
        # Seen from the top of a disk, a path is the machine's own.
        if base != base.parent and whole.is_relative_to(base):
            return whole.relative_to(base).as_posix()
    return file.name


def _places(run: Run, noted: Path) -> Iterator[Path]:
    yield noted
    yield ".." / noted
    here = Path.cwd()
    for base in run.path.resolve().parents:
        for folder in _FOLDERS if noted.parent == Path() else (".",):
            place = base / folder / noted
            yield place.relative_to(here) if place.is_relative_to(here) else place


def _name(file: Path) -> object:
    value = read_yaml(file).value
    return value.get("name") if isinstance(value, dict) else None
