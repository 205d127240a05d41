"""Takes out of a page what belongs to the machine it was made on: its folders and its secrets.

May not touch anything else.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Scrubber"]

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST_SECRET = 8


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Texts and what stands in their place, longest first.

    Attributes
    ----------
    replacements : tuple of (str, str)
        What is looked for, and what is put there.
    """

    replacements: tuple[tuple[str, str], ...]

    @classmethod
    def of_this_machine(cls, *, known: Iterable[Path] = ()) -> Scrubber:
        """Everything that this process knows of its machine.

        Folders: the working directory (dropped, so that paths become relative to it), the home
        directory (``~``), the interpreter and the package, and the folders of `known` absolute
        paths. Secrets: values of environment variables named like one.
        """
        found: dict[str, str] = {}
        for path in known:
            if path.is_absolute():
                found[f"{path.parent}{os.sep}"] = ""
        for folder, shown in (
            (Path(sys.prefix), "python"),
            (Path(__file__).resolve().parents[2], "agenteval-kit"),
            (Path.home(), "~"),
        ):
            if len(folder.parts) > 1:
                found[str(folder)] = shown
        here = Path.cwd()
        if len(here.parts) > 1:
            found[f"{here}{os.sep}"] = ""
            found[str(here)] = "."
        for name, value in os.environ.items():
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
                found[value] = f"[removed: the value of {name}]"
        ordered = sorted(found.items(), key=lambda item: (-len(item[0]), item[0]))
        return cls(tuple(ordered))

    def clean(self, value: Any) -> Any:
        """The same JSON value with every text in it cleaned, keys left as they are."""
        if isinstance(value, str):
            for wanted, instead in self.replacements:
                if wanted in value:
                    value = value.replace(wanted, instead)
            return value
        if isinstance(value, dict):
            return {key: self.clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        return value
