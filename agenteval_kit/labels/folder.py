"""A folder of labels: a file a rater, and the samples that say what is to be read.

May not rewrite a line that a person has given.
"""

from __future__ import annotations

import fcntl
import os
import re
import unicodedata
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from agenteval_kit.errors import ConfigError, InfrastructureError, Problem, did_you_mean
from agenteval_kit.files import Appender, read_record, write_atomic
from agenteval_kit.records.labels import LabelRow, Sample

__all__ = ["LabelWriter", "list_samples", "rater_file", "rater_name", "read_sample",
           "sample_file", "write_sample"]  # fmt: skip

SAMPLES = "samples"
_NAME = re.compile(r"[\w][\w .@-]{0,79}")


def rater_name(text: str) -> str:
    """A rater's name as it is kept: an "ë" is one letter, however the keyboard made it."""
    return unicodedata.normalize("NFC", text)


def checked_rater(text: str) -> str:
    """A rater's name as it is kept.

    Raises
    ------
    ConfigError
        If the name cannot name a file.
    """
    return _checked(rater_name(text), "rater")


def rater_file(folder: Path, rater: str) -> Path:
    """Where the lines of a rater stand.

    Raises
    ------
    ConfigError
        If the name cannot name a file, or is another rater's but for capitals.
    """
    name = checked_rater(rater)
    # Some disks take both names for one file, and people take them for one person.
    known = [rater_name(one.stem) for one in folder.glob("*.jsonl")]
    other = next((one for one in known if one.casefold() == name.casefold()), name)
    if name not in known and other != name:
        raise ConfigError(
            f'rater "{name}": "{other}" has labelled in {folder} already; give that name if it is '
            "the same person, or one that differs by more than capitals"
        )
    return folder / f"{name}.jsonl"


class LabelWriter:
    """Appends lines to one rater's file; each is on the disk before the call returns.

    The file is held until `close`, so that two processes cannot write as one person. Two writers
    of one process (a cell that was run again) may; `state` tells each that the other has written.

    Raises
    ------
    ConfigError
        If another process holds the file.
    InfrastructureError
        If it cannot be written.
    """

    def __init__(self, folder: Path, rater: str) -> None:
        self.path = rater_file(folder, rater)
        self.rater = self.path.stem
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock: IO[str] = (folder / f".{self.rater}.lock").open("w")
        except OSError as error:
            raise self._unwritten(error) from None
        try:
            self._hold()
            self._rows = Appender(self.path, sync=True)
        except OSError as error:
            self._lock.close()
            raise self._unwritten(error) from None
        except ConfigError:
            self._lock.close()
            raise
        self.warning = self._rows.warning
        self._inode = 0
        # A cell that is run again drops its writer without a word.
        self._end = weakref.finalize(self, _let_go, self._lock, self._rows)

    def append(self, rows: Iterable[LabelRow]) -> None:
        """Write lines, in one write; all of them or none.

        Raises
        ------
        OSError
            If the disk is full or the file cannot be written.
        ConfigError
            If a line is another rater's.
        """
        made = list(rows)
        for row in made:
            if row.rater != self.rater:
                raise ConfigError(f'a line of "{row.rater}" does not go into {self.path.name}')
        self._hold()
        inode, size = self.state()
        if inode != self._inode:
            # A merge has put another file there; the open handle would write into the old one.
            self._rows.close()
        try:
            self._rows.append_lines(row.model_dump_json(exclude_defaults=True) for row in made)
        except OSError:
            # A full disk takes half a line, and the next one would stand behind it.
            self._rows.close()
            if self.path.is_file():
                os.truncate(self.path, size)
            raise
        self._inode = self.state()[0]

    def state(self) -> tuple[int, int]:
        """Which file stands there and how long it is: both change by other hands."""
        if not self.path.exists():
            return (0, 0)
        found = self.path.stat()
        return (found.st_ino, found.st_size)

    def _hold(self) -> None:
        # A lock of the process, not of the handle: the same cell run again must not lock itself
        # out. Closing any handle gives such a lock up, so it is taken anew before each line.
        if self._lock.closed:
            raise ConfigError(f"{self.path}: is closed; open the session again")
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(
                Problem(
                    f'somebody is labelling as "{self.rater}" already, in another window or '
                    "notebook; close it (or shut down its kernel), or take another name",
                    str(self.path),
                )
            ) from None

    def _unwritten(self, error: OSError) -> InfrastructureError:
        return InfrastructureError(f"{self.path}: cannot be written: {error.strerror}")

    def release(self) -> None:
        """Let another process have the file; the next line takes it back, where it is free."""
        if not self._lock.closed:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file."""
        self._end()


def _let_go(lock: IO[str], rows: Appender) -> None:
    rows.close()
    lock.close()


def sample_file(folder: Path, name: str) -> Path:
    """Where a sample stands.

    Raises
    ------
    ConfigError
        If the name cannot name a file.
    """
    return folder / SAMPLES / f"{_checked(name, 'sample')}.json"


def _checked(name: str, what: str) -> str:
    if not _NAME.fullmatch(name) or name.endswith((".", " ")):
        raise ConfigError(
            f'{what} "{name}": a name starts with a letter or a digit and goes on with letters, '
            "digits, spaces, dots and dashes (80 at most)"
        )
    return name


def write_sample(folder: Path, sample: Sample) -> Path:
    """Keep a sample beside the labels; one that stands there is never replaced by another.

    Raises
    ------
    ConfigError
        If another sample has that name, or the name cannot name a file.
    """
    path = sample_file(folder, sample.name)
    if path.exists():
        if read_sample(path) != sample:
            raise ConfigError(
                Problem("another sample stands there; give this one another name", str(path))
            )
        return path
    write_atomic(path, sample.model_dump_json(indent=1, exclude_none=True) + "\n")
    return path


def read_sample(path: Path) -> Sample:
    """One sample.

    Raises
    ------
    ConfigError
        If there is none, or the file is not one.
    """
    if not path.is_file():
        known = [one.stem for one in path.parent.glob("*.json")] if path.parent.is_dir() else []
        raise ConfigError(
            Problem(f"there is no such sample.{did_you_mean(path.stem, known)}", str(path))
        )
    return read_record(path, Sample, what="sample")


def list_samples(folder: Path) -> list[Sample]:
    """Every sample of a folder of labels, the oldest first."""
    found = [read_sample(path) for path in sorted((folder / SAMPLES).glob("*.json"))]
    return sorted(found, key=lambda one: (one.at, one.name))
