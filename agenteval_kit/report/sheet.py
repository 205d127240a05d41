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


@cache
def style_sheet(*, part: Literal["transcript", "page"] = "page") -> str:
    """The sheet of a page ("page"), or of a page that holds one transcript ("transcript")."""
    names = ["transcript.css"]
    if part == "page":
        names += ["style.css", "judged.css"]
    folder = files("agenteval_kit.report")
    text = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    return re.sub(r"\n\s*\n+", "\n", _COMMENT.sub("", text)).strip()
