"""What a front may ask a session for, read from a plain dict.

May not do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenteval_kit.errors import ConfigError

__all__ = ["OPS", "parse_message"]

OPS: dict[str, dict[str, bool]] = {
    "label": {"score": True},
    "note": {"text": True},
    "mark": {"turn": True},
    "failure": {"text": True, "turn": False},
    "skip": {},
    "undo": {},
    "next": {},
    "back": {},
    "open_next": {},
    "go": {"position": True},
    "choose": {"dimension": True},
    "whole": {"place": True},
    "leave": {},
}
"""What a front may ask for: each field, and whether it must be given."""


def parse_message(message: object) -> tuple[str, dict[str, Any]]:
    """The verb and its arguments; ``seen`` may stand in any message.

    Raises
    ------
    ConfigError
        For an unknown verb, a field that it does not take, and one that it wants.
    """
    given = dict(message) if isinstance(message, Mapping) else {}
    name = given.pop("op", None)
    fields = OPS.get(name) if isinstance(name, str) else None
    if fields is None:
        raise ConfigError(f'"op" holds {name!r}; it wants one of {", ".join(OPS)}')
    strange = sorted(map(str, set(given) - set(fields) - {"seen"}))
    missing = sorted(one for one, must in fields.items() if must and one not in given)
    if strange or missing:
        told = [f'does not take "{one}"' for one in strange]
        told += [f'wants "{one}"' for one in missing]
        raise ConfigError(f'"{name}" {" and ".join(told)}')
    return str(name), given
