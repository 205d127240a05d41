"""Text of agents and people as Markdown that does nothing: no mark-up, no mention, no link.

May not know what the text means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agenteval_kit.visible import printable

__all__ = ["clipped", "code", "listed_ids", "plain", "row"]

# What Markdown or HTML could take for a sign of its own; entities say the same and act as nothing.
_ENTITIES = {"&": "&amp;&#8203;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
# An underscore inside a word is no sign: names of checks and dimensions stay as they are written.
_SIGNS = re.compile(r"[\\`*\[\]~$^]|(?<![^\W_])_|_(?![^\W_])")
# A sign before a letter or a figure calls a person, an issue, a label: nothing is called by text.
_CALLS = re.compile(r"([@#!~%$])(?=[\w\"{\[(])|(:)(?=//)|\b(www)(?=\.)", re.IGNORECASE)
_NOTHING = "&#8203;"  # takes no room, and parts what would be read as one word
_SIMPLE = re.compile(r"[^`|\\&<>]+")


def clipped(text: str, longest: int) -> str:
    """The text on one line, hidden characters shown, cut with a sign where it is too long."""
    shown = " ".join(printable(text).split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def plain(text: str, *, longest: int = 300) -> str:
    """A text as words on one line, in a table or outside of one.

    Examples
    --------
    >>> plain("<b> a|b @team")
    '&lt;b&gt; a&#124;b @&#8203;team'
    """
    shown = "".join(_ENTITIES.get(sign, sign) for sign in clipped(text, longest))
    # Entities hold signs of their own, so calls are parted in the text between them.
    parts = re.split(r"(&#?\w+;)", shown)
    parts[::2] = [_SIGNS.sub(r"\\\g<0>", _CALLS.sub(_parted, part)) for part in parts[::2]]
    return "".join(parts)


def code(text: str, *, longest: int = 80) -> str:
    """A name as code, in which nothing is mark-up and nobody is called."""
    shown = clipped(text, longest)
    if _SIMPLE.fullmatch(shown):
        return f"`{shown}`"
    whole = "".join(
        sign if sign.isalnum() or sign in " .-" else f"&#{ord(sign)};" for sign in shown
    )
    return f"<code>{whole}</code>"


def listed_ids(ids: Sequence[str], *, most: int = 10) -> str:
    """Names as code, and how many more there are."""
    shown = ", ".join(code(one) for one in ids[:most])
    return shown + (f" and {len(ids) - most:,} more" if len(ids) > most else "")


def row(cells: Sequence[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def _parted(found: re.Match[str]) -> str:
    return f"{found.group()}{_NOTHING}"
