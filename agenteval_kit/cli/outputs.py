"""The files that a command was asked to write: none is left over from an earlier call.

May not write them.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["forget"]


def forget(*files: Path | None) -> None:
    """Remove what an earlier call left: where this one breaks off, it must not speak for it."""
    for file in files:
        if file is not None and file.is_file():
            file.resolve().unlink()  # what a link points to, as it is replaced too
