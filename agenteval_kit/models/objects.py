"""Finds the one JSON object in a reply's text, and says what had to be looked past to read it.

May not choose: where more than one reading is possible there is none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["FoundObject", "find_object", "shown_value", "values_within"]

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*")
_OPENING = re.compile(r"[\[{]")
# What is left of an object or a list that a reader cannot close.
_BROKEN = re.compile(r"""[{}]|["'][\w-]+["']\s*:""")
_MOST_BRACKETS = 200


@dataclass(frozen=True, slots=True)
class FoundObject:
    """The object of a reply, or why there is none.

    Attributes
    ----------
    value : dict or None
        The object.
    reason : str
        Why there is none; empty where there is one.
    repaired : tuple of str
        What had to be looked past: "thoughts", "fence", "chatter", "one-element list", "said
        twice"; empty where the reply is the object and nothing else.
    around : str
        The text around the object, thoughts left out.
    source : str
        The object as it stood there.
    """

    value: dict[str, Any] | None
    reason: str = ""
    repaired: tuple[str, ...] = ()
    around: str = ""
    source: str = ""


class _Unreadable(Exception):
    """There is not exactly one object; the text says why."""


def find_object(text: str, *, key: str) -> FoundObject:
    r"""The one object with `key` in a model's text; never raises, whatever the text.

    A leading block of thoughts, a fence, chatter, and a list that holds nothing else are looked
    past, and so are further objects without the key. Two different objects with the key, and a
    key that stands twice with two values, are ambiguous; beside an object that is not whole
    nothing is read.

    Parameters
    ----------
    text : str
        What the model said.
    key : str
        The key that makes an object the wanted one.

    Examples
    --------
    >>> find_object('Sure:\n```json\n{"score": 3}\n```', key="score").repaired
    ('fence', 'chatter')
    >>> find_object('{"score": 3} or {"score": 4}', key="score").reason
    'ambiguous: 2 different objects with "score" in one reply'
    """
    thought = _THOUGHT.match(text)
    rest = text[thought.end() :] if thought else text
    rest = rest.strip().removeprefix("\ufeff").strip()
    if not rest:
        return FoundObject(None, "the reply is empty")
    try:
        found = _read(rest, key)
    except _Unreadable as error:
        return FoundObject(None, str(error))
    except RecursionError:
        return FoundObject(None, "unreadable: nested too deeply")
    if not thought:
        return found
    return FoundObject(found.value, "", ("thoughts", *found.repaired), found.around, found.source)


def _read(text: str, key: str) -> FoundObject:
    try:
        whole = _DECODER.decode(text)
    except ValueError:
        return _among_chatter(text, key)
    listed = isinstance(whole, list)
    if listed:
        if len(whole) != 1:
            raise _Unreadable(f"a list of {len(whole)}; one object was wanted")
        whole = whole[0]
    if not isinstance(whole, dict):
        raise _Unreadable(f'{shown_value(whole)} is no object; one with "{key}" was wanted')
    if key not in whole:
        keys = ", ".join(shown_value(name) for name in list(whole)[:6]) or "nothing"
        raise _Unreadable(f'the reply has no "{key}"; it has {keys}')
    return FoundObject(whole, "", ("one-element list",) if listed else (), "", text)


def _among_chatter(text: str, key: str) -> FoundObject:
    found, around = _objects(text)
    wanted: list[tuple[dict[str, Any], str]] = []
    listed = False
    for value, source in found:
        inside = value if isinstance(value, list) else [value]
        held = [item for item in inside if isinstance(item, dict) and key in item]
        listed = listed or (bool(held) and isinstance(value, list))
        if held and len(inside) > 1:
            raise _Unreadable(f"a list of {len(inside)}; one object was wanted")
        if not held and _holds(value, key):
            raise _Unreadable(f'ambiguous: "{key}" stands within another object')
        wanted += [(item, source) for item in held]
    if _BROKEN.search(around) or around.count("[") != around.count("]"):
        raise _Unreadable("unreadable: an object that is not whole")
    if not wanted:
        raise _Unreadable(f'unreadable: no object with "{key}"')
    value, source = wanted[0]
    different = {_text_of(one) for one, _ in wanted}
    if len(different) > 1:
        raise _Unreadable(
            f'ambiguous: {len(different)} different objects with "{key}" in one reply'
        )
    repaired = [
        *(["fence"] if "```" in around else []),
        *(["chatter"] if _FENCE.sub("", around).strip() or len(found) > len(wanted) else []),
        *(["one-element list"] if listed else []),
        *(["said twice"] if len(wanted) > 1 else []),
    ]
    return FoundObject(value, "", tuple(repaired), around, source)


def _holds(value: Any, key: str) -> bool:
    """Whether a key stands anywhere within a value."""
    todo = [value]
    while todo:  # not by recursion: a reply may be nested as deeply as the decoder bears
        one = todo.pop()
        if isinstance(one, dict):
            if key in one:
                return True
            todo += one.values()
        elif isinstance(one, list):
            todo += one
    return False


def _objects(text: str) -> tuple[list[tuple[Any, str]], str]:
    """Every JSON object or list that stands in a text, and the text without them."""
    found: list[tuple[Any, str]] = []
    around: list[str] = []
    at = brackets = 0
    for match in _OPENING.finditer(text):
        start = match.start()
        if start < at:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ValueError:
            brackets += 1
            # An object within a broken one may be a quotation of what was shown, not the reply.
            # Each failure reads the text anew, and a model that loops writes brackets for ever.
            if text[start] == "{" or brackets > _MOST_BRACKETS:
                raise _Unreadable("unreadable: an object that is not whole") from None
            continue
        found.append((value, text[start:end]))
        around.append(text[at:start])
        at = end
    around.append(text[at:])
    # A space, so that what stood on both sides of an object does not become one word.
    return found, " ".join(around)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        for key, value in pairs:
            if _text_of(made[key]) != _text_of(value):
                raise _Unreadable(f"ambiguous: {shown_value(key)} stands twice in one object")
    return made


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _float(text: str) -> float:
    # 1e999 parses to infinity without ever meeting parse_constant.
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


# Raw line breaks within strings are common, and have one reading.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, strict=False
)


def _text_of(value: Any) -> str:
    # Not ==, by which true is 1.
    return json.dumps(value, sort_keys=True)


def shown_value(value: Any) -> str:
    """A value as JSON, cut where it is long; for complaints."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = "a value that cannot be shown"
    return text if len(text) <= 60 else f"{text[:59]}…"


def values_within(value: Any, key: str) -> Iterator[Any]:
    """Whatever stands under a key in a value, however deep."""
    todo = [value]
    while todo:  # not by recursion: a reply may be nested as deeply as the decoder bears
        one = todo.pop()
        if isinstance(one, dict):
            if key in one:
                yield one[key]
            todo += one.values()
        elif isinstance(one, list):
            todo += one
