"""The files that a command was asked to write: none is an input, or left over from an earlier call.

May not write them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from agenteval_kit.errors import ConfigError

__all__ = ["claim", "require_apart"]

_BEGINS = {
    "--junit": ("JUnit XML", re.compile(rb"<\?xml")),
    "--markdown": ("a summary of ours", re.compile(rb"## [A-Z]{4,}")),
    "--out": ("a page", re.compile(rb"\s*<!doctype html", re.IGNORECASE)),
}
"""How a file begins that an earlier call with that option wrote."""


def claim(outputs: Mapping[str, Path | None], *, run: Path | None = None) -> None:
    """Remove what an earlier call left: where this one breaks off, it must not speak for it.

    Parameters
    ----------
    outputs : mapping of str to path
        What is written, by its option.
    run : path, optional
        The run folder that is made beside them.

    Raises
    ------
    ConfigError
        If one is in a run folder, is another one, or holds what no such call wrote: a bar, labels,
        a tape. Then nothing is removed.
    """
    wanted = {option: file for option, file in outputs.items() if file is not None}
    mine: dict[Path, str] = {}
    for option, file in wanted.items():
        require_apart(option, file, run=run)
        # What a link points to, as it is replaced too.
        whole = Path(os.path.realpath(file))
        if whole in mine:
            raise ConfigError(f"{option} {file}: {mine[whole]} names it too; name another file")
        mine[whole] = option
        what, begins = _BEGINS[option]
        if whole.is_file():
            with whole.open("rb") as stream:
                head = stream.read(80)
            if head and not begins.match(head):
                raise ConfigError(
                    f"{option} {file}: is there and is not {what}, so it is not replaced; name "
                    "another file"
                )
    for whole in mine:
        if whole.is_file():
            whole.unlink()


def require_apart(option: str, file: Path, *, run: Path | None = None) -> None:
    """Refuse a file in a run folder: what lies there is read as part of the run.

    Raises
    ------
    ConfigError
        If it is in one.
    """
    folder = Path(os.path.realpath(file)).parent
    if (folder / "run.json").exists() or (
        run is not None and folder == Path(os.path.realpath(run))
    ):
        raise ConfigError(f"{option} {file}: is in a run folder; name a file outside of it")
