"""What the single values of a case may be: patterns, phrases, names, counts and limits.

May not know a check; it refuses what would say nothing, or what nobody could see.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, StrictStr

from agenteval_kit.text import alternatives, fold

__all__ = [
    "Count",
    "Id",
    "LayerName",
    "Limit",
    "Name",
    "Names",
    "Number",
    "Pattern",
    "Patterns",
    "Phrases",
    "RowName",
    "SomeNames",
    "some",
]

_PROBES = ("a", "z", "aa", "a a")
"""Texts that say nothing; what matches an empty stretch of one of them says nothing either."""
_HIDDEN = frozenset({"Cc", "Zl", "Zp", "Cs"})


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _pattern(value: str) -> str:
    try:
        compiled = re.compile(value)
    except re.error as error:
        raise ValueError(f'"{value}" is not a regular expression: {error}') from None
    if compiled.match(""):
        raise ValueError(f'"{value}" matches an empty text, so it says nothing; narrow it')
    # "(?=.)" or a mere word border finds nothing, and finds it in nearly every text.
    if any(found[0] == "" for probe in _PROBES for found in compiled.finditer(probe)):
        raise ValueError(
            f'"{value}" matches without finding a letter, so nearly every text would match; '
            "write what it is to find"
        )
    return value


def _name(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty; give it a name")
    if value != value.strip():
        raise ValueError(f"{value!r} begins or ends with a blank, which nobody can see; cut it")
    hidden = [one for one in value if unicodedata.category(one) in _HIDDEN]
    if hidden:
        raise ValueError(
            f"{value!r} holds {hidden[0]!a}, a line break or a control character; leave it out"
        )
    return value


def _layer(value: str) -> str:
    if value == "all checks":
        raise ValueError(f'"{value}" stands for every layer together; name the layer otherwise')
    return value


def _row_name(value: str) -> str:
    if value == "agent_completed":
        raise ValueError(f'"{value}" is the row of an agent that crashed; choose another name')
    return value


def _phrase(value: str) -> str:
    for part in alternatives(value):
        if not fold(part):
            raise ValueError(
                f'"{value}" has an empty alternative, which every text would contain; '
                r"remove the stray bar (a bar of the text itself is written \|)"
            )
    return value


def some(value: list[Any]) -> list[Any]:
    """A list that names something: an empty one would be a check that says nothing."""
    if not value:
        raise ValueError("is an empty list, which says nothing; name something or leave it out")
    return value


Pattern = Annotated[StrictStr, AfterValidator(_pattern)]
Phrase = Annotated[StrictStr, AfterValidator(_phrase)]
Phrases = Annotated[list[Phrase], BeforeValidator(_as_list), AfterValidator(some)]
Patterns = Annotated[list[Pattern], BeforeValidator(_as_list), AfterValidator(some)]
Names = Annotated[list[StrictStr], BeforeValidator(_as_list)]
SomeNames = Annotated[Names, AfterValidator(some)]
Count = Annotated[StrictInt, Field(ge=0)]
Name = Annotated[StrictStr, AfterValidator(_name)]
LayerName = Annotated[Name, AfterValidator(_layer)]
RowName = Annotated[Name, AfterValidator(_row_name)]
Id = Annotated[Name, Field(min_length=1, max_length=200)]
# Strict: true is no number, and a limit of infinity none.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Limit = Annotated[Number, Field(ge=0)]
