"""Markup that is safe by construction: text given to it is escaped, only `Html` passes as it is.

May not hold a page or a table: `tables`, `transcript` and the sections build those.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from agenteval_kit.visible import HIDDEN, name_hidden, show_hidden

__all__ = ["Html", "Part", "anchor", "badge", "join", "note", "tag", "text", "with_code"]


@dataclass(frozen=True, slots=True)
class Html:
    """Markup in which all foreign text is escaped; a notebook shows it as it is."""

    markup: str

    def __str__(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        # A notebook stores this beside the markup; the whole text would double every file.
        return f"Html({len(self.markup)} characters)"

    def _repr_html_(self) -> str:
        # JupyterLab typesets $x$ in outputs; these classes are what its MathJax leaves alone.
        return f'<div class="agenteval mathjax_ignore tex2jax_ignore">{self.markup}</div>'


Part = str | Html | None
Attribute = str | int | bool | None

_VOID = frozenset({"br", "col", "hr", "input", "meta"})
_IN_TICKS = re.compile(r"`([^`]+)`")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_-]+")


def tag(name: str, attributes: Mapping[str, Attribute] | None = None, *parts: Part) -> Html:
    """One element. Strings among the parts are escaped; None is left out.

    Parameters
    ----------
    name : str
        The element's name.
    attributes : mapping, optional
        Values are escaped; True gives the bare name, False and None leave it out.
    *parts : str or Html or None
        What stands in the element, in order.
    """
    opened = f"<{name}"
    for key, value in (attributes or {}).items():
        if value is not None and value is not False:
            opened += _attribute(key, value)
    if name in _VOID:
        return Html(f"{opened}>")
    return Html(f"{opened}>{join(parts).markup}</{name}>")


# A page of a thousand transcripts has a quarter of a million elements of some fifty classes.
@lru_cache(maxsize=2048, typed=True)
def _attribute(key: str, value: str | int | bool) -> str:
    if value is True:
        return f" {key}"
    return f' {key}="{html.escape(show_hidden(str(value)))}"'


def join(parts: Iterable[Part], *, between: Part = None) -> Html:
    """Parts one after the other; strings are escaped, None is left out."""
    made = []
    for part in parts:
        if isinstance(part, Html):
            made.append(part.markup)
        elif part is not None:
            made.append(text(part).markup)
    gap = "" if between is None else join([between]).markup
    return Html(gap.join(made))


def text(raw: str) -> Html:
    """Foreign text: escaped, with hidden characters shown as a sign that says what it is."""
    # Quotes stay: this stands between tags, and tool results are full of them.
    if not HIDDEN.search(raw):
        return Html(html.escape(raw, quote=False))
    raw = raw.replace("\r\n", "\n")
    pieces: list[str] = []
    at = 0
    for found in HIDDEN.finditer(raw):
        pieces.append(html.escape(raw[at : found.start()], quote=False))
        sign = found.group()
        pieces.append(
            f'<span class="hidden" title="{name_hidden(sign)}">{show_hidden(sign)}</span>'
        )
        at = found.end()
    pieces.append(html.escape(raw[at:], quote=False))
    return Html("".join(pieces))


def with_code(words: str) -> Html:
    """A sentence of ours, with what stands in back ticks as code; all of it is escaped."""
    # Every second piece stood in ticks.
    pieces = _IN_TICKS.split(words)
    return join(tag("code", None, one) if at % 2 else one for at, one in enumerate(pieces))


def note(words: str) -> Html:
    """One soft line, where a section has nothing to show."""
    return tag("p", {"class": "note"}, with_code(words))


def absent(place: str, what: str, why: str) -> Html:
    """One line where a section would stand: a heading is for a finding, and there is none."""
    return tag("p", {"class": "lead", "id": place}, tag("b", None, f"{what}: "), with_code(why))


def folded(title: str, body: Html) -> Html:
    """What is there for whoever asks, under a line to open it."""
    return tag("details", {"class": "numbers"}, tag("summary", None, title), body)


def anchor(*names: str | int) -> str:
    """A fragment identifier for a place on the page; the same names give the same one."""
    shown = "-".join(_NOT_IN_ID.sub("-", str(name)) for name in names)
    exact = "-".join(str(name) for name in names)
    if shown == exact:
        return shown
    # Two ids that differ in a replaced character must not share a place.
    import zlib  # here, not above: a checksum, and only for ids with unusual characters

    return f"{shown}-{zlib.crc32(exact.encode('utf-8', 'backslashreplace')):08x}"


_BADGES = {
    "pass": ("ok", "✓ pass"),
    "fail": ("no", "✗ fail"),
    "cannot tell": ("mid", "? cannot tell"),
    "unscored": ("mid", "? unscored"),
}


def badge(status: str, *, words: str | None = None) -> Html:
    """A status as a word with a sign, so that colour is never the only signal.

    Known: pass, fail, cannot tell, unscored; any other status is shown plainly.
    """
    kind, shown = _BADGES.get(status, ("plain", status))
    if words is not None:
        shown = f"{shown[:2]}{words}" if status in _BADGES else words
    return tag("span", {"class": f"badge {kind}"}, shown)
