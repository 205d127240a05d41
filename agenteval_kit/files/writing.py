"""Appending and replacing files so that a kill costs one line, and never half a file.

May not read more than the tail that it repairs.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["Appender", "hold", "repair_tail", "write_atomic", "write_together"]


def repair_tail(path: Path) -> str | None:
    """Cut off a last line that has no newline, which a killed process left; say so.

    A last line that is whole JSON only lacks its newline and gets it.

    Returns
    -------
    str or None
        A sentence for the person, or None if nothing was torn.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    with path.open("rb+") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) == b"\n":
            return None
        size = stream.tell()
        start, block = size, 1 << 16
        tail = b""
        while start > 0 and b"\n" not in tail:
            step = min(block, start)
            start -= step
            stream.seek(start)
            tail = stream.read(step) + tail
        cut = tail.rfind(b"\n") + 1
        last = tail[cut:]
        try:
            json.loads(last.decode("utf-8-sig"))
        except ValueError:
            stream.truncate(start + cut)
            return f"{path}: the last line was torn and is dropped"
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n")
    return None


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Name the file that a person named: a full disk names none, a scratch file nobody knows."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


class Appender:
    """Appends JSON rows to a file, each batch in one write, so that a kill costs one line.

    Parameters
    ----------
    path : pathlib.Path
        Made with its parents when missing. A torn last line is cut off first.
    sync : bool
        Whether each write reaches the disk before the call returns (for what was paid for or
        labelled by a person).
    """

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.warning = repair_tail(path)
        self._sync = sync
        self._stream: IO[bytes] | None = None

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows, one line each, strict JSON.

        Raises
        ------
        OSError
            If the disk is full or the file cannot be written; nothing is half-reported.
        ValueError
            If a row holds NaN or infinity.
        """
        self.append_lines(
            json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            for row in rows
        )

    def append_lines(self, lines: Iterable[str]) -> None:
        """Write ready-made JSON texts, one a line, in one write."""
        # Lone surrogates occur in models' replies; they must not lose the reply.
        self.append_block(
            "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        )

    def append_block(self, block: bytes) -> None:
        """Write ready-made lines, each ending in a line feed, in one write."""
        if not block:
            return
        if self._stream is None:
            self._stream = self.path.open("ab", buffering=0)
        done = 0
        with _about(self.path):
            while done < len(block):
                done += self._stream.write(block[done:]) or 0
            if self._sync:
                os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file; a later append opens it again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold a file or a folder while it is read and added to: who comes next waits here."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        # A folder in a network may have no lock; then nobody waits.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_atomic(path: Path, text: str) -> None:
    """Write a whole file so that a reader sees the old one or the new one, never half of it."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; a file was wanted", str(path))
    if path.exists() and not path.is_file():
        # A pipe or a device is written to, never replaced.
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    # What a link points to is replaced, not the link.
    asked, path = path, Path(os.path.realpath(path))
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link that leads back to itself", str(asked))
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _about(asked):
            with scratch.open("w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def write_together(blocks: Mapping[Path, bytes], *, written: list[Path]) -> None:
    """Write several whole files, all of them or none where the disk fills up half-way.

    All are on the disk under other names before the first takes its place. Only then can a failure
    leave some in place and others not; `written` receives those that are.

    Raises
    ------
    OSError
        With the name of the file that could not be written.
    """
    scratch: dict[Path, Path] = {}
    try:
        for path, block in blocks.items():
            # What a link points to is replaced, not the link.
            real = Path(os.path.realpath(path))
            scratch[path] = real.with_name(f".{real.name}.{os.getpid()}.tmp")
            with _about(path):
                if real.exists():
                    # To replace a file asks for no right to write it.
                    real.open("ab").close()
                with scratch[path].open("wb") as stream:
                    stream.write(block)
                    stream.flush()
                    os.fsync(stream.fileno())
                if real.exists():
                    shutil.copymode(real, scratch[path])
        for path, there in scratch.items():
            with _about(path):
                os.replace(there, os.path.realpath(path))
            written.append(path)
    finally:
        for there in scratch.values():
            there.unlink(missing_ok=True)
