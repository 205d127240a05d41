"""Transcripts in the form of this package: one a line, as a run folder holds them.

May not open a run: `agenteval_kit.runs` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agenteval_kit.errors import Problems
from agenteval_kit.files import read_jsonl
from agenteval_kit.importers.placed import Placed
from agenteval_kit.records import Transcript
from agenteval_kit.records.messages import cleaned
from agenteval_kit.records.parsing import parse_record

__all__ = ["read_transcripts"]


def read_transcripts(path: Path, *, problems: Problems) -> Iterator[Placed]:
    """Transcripts of a JSON Lines file, streamed; what cannot be read goes to `problems`.

    Raises
    ------
    ConfigError
        If the file is missing, or lines are not strict JSON.
    """
    # pydantic's own JSON parser was tried: 14 % quicker on short transcripts, and it lets NaN and
    # keys that stand twice pass.
    for row in read_jsonl(path):
        at = row.line
        value = cleaned(row.value) if row.surrogates else row.value
        made = parse_record(
            Transcript,
            value,
            file=str(path),
            line=lambda _, at=at: at,  # type: ignore[misc]
            what=f'transcript of case "{row.value.get("case_id")}"',
            problems=problems,
        )
        if made is not None:
            yield Placed(made, at)
