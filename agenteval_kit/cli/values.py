"""What a value of an option must look like, and the complaint where it does not.

May not look at a file: only at the text that was typed.
"""

from __future__ import annotations

import argparse
import re

__all__ = ["positive", "seconds_of", "some_text", "web_address"]


def some_text(text: str) -> str:
    """Any text but an empty one."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; is a variable not set?")
    return text


def seconds_of(text: str) -> float:
    """Seconds above 0, up to a day."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError(f'"{text}" wants seconds above 0, up to a day')
    return seconds


def web_address(text: str) -> str:
    """An address of a page."""
    # What could end a link of Markdown, or start anything but a page, is no address.
    if not re.fullmatch(r"https?://[^\s<>\\\x00-\x1f\x7f]+", text):
        raise argparse.ArgumentTypeError(f'"{text}" wants an address, https://...')
    return text


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" wants a whole number from 1')
    return int(text)
