"""Reads one file of a suite into a record, and a clock into a moment.

May not know how the files of a suite hang together.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agenteval_kit.errors import Problems
from agenteval_kit.files import Document
from agenteval_kit.records.parsing import parse_record

__all__ = ["collector_paused", "parse_clock", "parse_document", "read_clock"]


def parse_clock(text: str) -> datetime:
    """Read a clock: ISO 8601 with an offset; the moment comes back in UTC.

    Raises
    ------
    ValueError
        With what was wanted, in plain words.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f'"{text}" is not a clock ({error}); write it like 2026-03-02T09:00:00+00:00'
        ) from None
    if moment.tzinfo is None:
        raise ValueError(
            f'"{text}" has no offset, so it names no moment; write it like '
            f"{moment.isoformat()}+00:00"
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f'"{text}" lies outside of the years 1 to 9999 in UTC') from None


def parse_document(kind: type[Any], document: Document, what: str, problems: Problems) -> Any:
    """A record from a YAML document; complaints with their lines go to `problems`."""
    value = document.value
    if not isinstance(value, dict):
        problems.add(f"a {what} file wants key: value pairs", file=document.file, line=1)
        return None
    return parse_record(
        kind,
        value,
        file=str(document.file),
        line=lambda loc: document.line(*loc),
        what=what,
        problems=problems,
    )


def read_clock(
    text: str | None, problems: Problems, *, file: Path, line: int, field: str = "clock"
) -> datetime | None:
    """A clock as it is written; a complaint goes to `problems`."""
    if text is None:
        return None
    try:
        return parse_clock(text)
    except ValueError as error:
        problems.add(f'"{field}": {error}', file=file, line=line)
        return None


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking what is read, over and over.

    Records hold no cycles, so it would find nothing; on 10,000 cases the walks cost a quarter of
    the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
