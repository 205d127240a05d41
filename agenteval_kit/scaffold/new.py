"""Writes a small suite that passes, to be changed line by line into one's own.

May not overwrite anything.
"""

from __future__ import annotations

import re
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem

__all__ = ["new_suite"]

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")
PLACEHOLDER = "__name__"


def new_suite(name: str, folder: str | Path = ".") -> list[Path]:
    """Write a working suite: cases, an agent, a bar, and a README that says what to change.

    Parameters
    ----------
    name : str
        Name of the suite and of its folder: lower-case letters, digits, "-" and "_".
    folder : str or pathlib.Path
        Where the folder goes.

    Returns
    -------
    list of pathlib.Path
        The files written, README.md first.

    Raises
    ------
    ConfigError
        If the name is not one, the folder is taken, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     [path.name for path in new_suite("returns", there)][:3]
    ['README.md', 'agent.py', 'agent_chat.yaml']
    """
    if NAME.fullmatch(name) is None:
        raise ConfigError(
            f'"{name}" is no name for a suite; use lower-case letters, digits, "-" and "_", '
            f"starting with a letter{_suggestion(name)}"
        )
    target = Path(folder) / name
    if target.exists():
        raise ConfigError(Problem("is there already; choose another name or --folder", str(target)))
    written = []
    try:
        target.mkdir(parents=True)
        for template in sorted(path for path in TEMPLATES.iterdir() if path.is_file()):
            text = template.read_text(encoding="utf-8").replace(PLACEHOLDER, name)
            path = target / template.name
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    except OSError as error:
        raise ConfigError(
            Problem(f"cannot be written: {error.strerror}; name another --folder", str(target))
        ) from None
    return written


def _suggestion(name: str) -> str:
    made = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-0123456789_")[:50]
    return f', such as "{made}"' if made else ""
