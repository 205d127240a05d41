"""Text made safe to look at: characters that act or hide become characters that show.

May not escape HTML (`markup` does) and may not know what the text means.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "look_of",
    "name_hidden",
    "one_line",
    "printable",
    "shorten_paths",
    "show_hidden",
    "writable",
]

# Characters that steer a terminal (C0, C1), turn the reading direction, take no room, or are
# invisible letters (tags). Joiners (U+200C, U+200D) stay: some scripts and emoji need them.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_PATH = re.compile(r"""(?<![\w.:/\\])(?:[A-Za-z]:[\\/]|/|~/)(?:[^\s"'<>|:,;()]+[\\/])+""")


def show_hidden(text: str) -> str:
    """The text with every acting or hidden character replaced by a sign for it.

    Control characters become their pictures (``␛`` for escape), all others ``⟦U+202E⟧``. Line
    feeds and tabs stay; CRLF counts as a line feed.

    Examples
    --------
    >>> show_hidden(chr(0x1B) + "[31mred")
    '␛[31mred'
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return HIDDEN.sub(lambda found: _sign(found.group()), text)


def name_hidden(sign: str) -> str:
    """What a hidden character is called, for people who meet its sign."""
    return unicodedata.name(sign, f"control character U+{ord(sign):04X}").lower()


def printable(text: str, *, encoding: str = "utf-8") -> str:
    r"""The text as any terminal can print it: nothing acts, and nothing fails to encode.

    Acting and hidden characters become ``\x1b`` or ``\u202e``; so do characters that the
    terminal's encoding lacks.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    shown = HIDDEN.sub(lambda found: _escape(found.group()), text)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


def look_of(text: str) -> str:
    """The same for two names that nobody can tell apart on a page, capitals left aside.

    Examples
    --------
    >>> look_of("Cafe" + chr(0x301) + chr(0xA0) + "1") == look_of("caf" + chr(0xE9) + " 1")
    True
    """
    seen = re.sub("[\u200c\u200d]", "", HIDDEN.sub("", text))
    return " ".join(unicodedata.normalize("NFC", seen.casefold()).split())


def one_line(text: str, most: int = 120) -> str:
    """The text on one line, cut where it is longer than `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def writable(text: str) -> str:
    """Text that a file can hold: a lone surrogate, as a model may well send, is none."""
    return text.encode("utf-8", "replace").decode("utf-8")


def shorten_paths(text: str) -> str:
    """A traceback without the folders of the machine it was made on: ``…/agent.py``."""
    return _PATH.sub("…/", text)


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟦U+{code:04X}⟧"


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
