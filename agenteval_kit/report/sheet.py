"""The style sheets, read once from the package.

May not know what is styled.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

__all__ = ["style_sheet"]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STACKED, _BROAD_STACKED = 780, 1140
"""Widths up to which the rows of a table stand as cards; of one with many cells and sentences."""


@cache
def style_sheet(*, part: Literal["transcript", "page"] = "page") -> str:
    """The sheet of a page ("page"), or of a page that holds one transcript ("transcript")."""
    names = ["transcript.css"]
    if part == "page":
        names += ["style.css", "judged.css"]
    text = "\n".join(map(_read, names))
    if part == "page":
        # What decides is the room that a table has, in a narrow output of a notebook as on a phone.
        cards = _read("cards.css")
        text += f"@media screen {{ @container (max-width: {_STACKED}px) {{ {cards} }}"
        cards = cards.replace("table.stacks", "table.broad")
        text += f" @container (max-width: {_BROAD_STACKED}px) {{ {cards} }} }}"
    return re.sub(r"\n\s*\n+", "\n", _COMMENT.sub("", text)).strip()


def _read(name: str) -> str:
    return files("agenteval_kit.report").joinpath(name).read_text(encoding="utf-8")
