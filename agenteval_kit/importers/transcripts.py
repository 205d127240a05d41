"""Transcripts in the form of this package: one a line, as a run folder holds them.

May not open a run: `agenteval_kit.runs` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_jsonl
from agenteval_kit.importers.placed import Placed
from agenteval_kit.records import Transcript
from agenteval_kit.records.parsing import parse_record

__all__ = ["read_transcripts"]

# What the quick parser would let through, and the strict one refuses: numbers that are none.
_SUSPECT = re.compile(rb"NaN|Infinity|\d[eE]\+?\d{3}")


def read_transcripts(path: Path, *, problems: Problems) -> Iterator[Placed]:
    """Transcripts of a JSON Lines file, streamed; what cannot be read goes to `problems`.

    Lines are read by pydantic's own parser, twice as quick; from the first line on that it does
    not take, or that may hold a number which is none, the strict reader goes on and complains.

    Raises
    ------
    ConfigError
        If the file is missing, or lines are not strict JSON.
    """
    if not path.is_file():
        raise ConfigError(Problem("there is no such file", str(path)))
    number = 0
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            if not raw.strip():
                continue
            if _SUSPECT.search(raw):
                break
            try:
                made = Transcript.model_validate_json(raw)
            except ValidationError:
                break
            yield Placed(made, number)
        else:
            return
    yield from _strictly(path, number, problems)


def _strictly(path: Path, start: int, problems: Problems) -> Iterator[Placed]:
    for row in read_jsonl(path):
        at = row.line
        if at < start:
            continue
        made = parse_record(
            Transcript,
            row.value,
            file=str(path),
            line=lambda _, at=at: at,  # type: ignore[misc]
            what=f'transcript of case "{row.value.get("case_id")}"',
            problems=problems,
        )
        if made is not None:
            yield Placed(made, at)
