"""JSON and JSON Lines, read strictly, with file and line in each complaint.

May not write.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files.texts import read_text
from agenteval_kit.records.parsing import parse_record

__all__ = ["Row", "read_json", "read_jsonl", "read_record"]

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object of a JSON Lines file, with the line it stands on (from 1).

    `surrogates` says that a text may hold half a surrogate pair, which no file can hold.
    """

    value: dict[str, Any]
    line: int
    surrogates: bool = False


class Strict(Exception):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Strict(f'key "{key}" stands twice; keep one')
            seen.add(key)
    return made


def _constant(name: str) -> Any:
    raise Strict(f"{name} is not a number that can be scored; write null, or leave the key out")


def _float(text: str) -> float:
    # 1e999 parses to infinity without ever meeting parse_constant.
    number = float(text)
    if math.isinf(number):
        raise Strict(f"{text} is too large for a number")
    return number


DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=_constant,
    parse_float=_float,
    strict=False,
)


def read_json(path: Path) -> Any:
    """One JSON document, strict: no NaN, no Infinity, no key twice.

    Raises
    ------
    ConfigError
        With file and line.
    """
    text = read_text(path)
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ConfigError(Problem(f"is not JSON: {error.msg}", str(path), error.lineno)) from None
    except Strict as error:
        raise ConfigError(Problem(str(error), str(path), _line_of(text, error))) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(Problem(_too_much(error), str(path))) from None


def read_record(path: Path, kind: type[Record], *, what: str) -> Record:
    """The one record that a JSON file holds; `what` names it in a complaint.

    Raises
    ------
    ConfigError
        With every problem of the file.
    """
    problems = Problems()
    made = parse_record(
        kind, read_json(path), file=str(path), line=lambda _: 1, what=what, problems=problems
    )
    problems.raise_any()
    assert made is not None
    return made


def _too_much(error: Exception) -> str:
    if isinstance(error, Strict):
        return str(error)
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    # Python itself refuses to read a whole number of thousands of digits.
    return "a number has too many digits; write it as text"


def _line_of(text: str, error: Strict) -> int | None:
    """Where what the strict reader refuses stands, when it stands in one place only."""
    told = str(error)
    twice = told.startswith("key ")
    word = f'"{told.split(chr(34))[1]}"' if twice else told.split()[0]
    if text.count(word) != (2 if twice else 1):
        return None
    return text.count("\n", 0, text.rfind(word)) + 1


def read_jsonl(path: Path, *, torn: str = "error", warn: list[str] | None = None) -> Iterator[Row]:
    """Rows of a JSON Lines file, streamed, with their line numbers.

    Parameters
    ----------
    path : pathlib.Path
        utf-8, with or without BOM, LF or CRLF; blank lines are passed over.
    torn : {"error", "drop"}
        What to do with a last line that has no newline and is not whole JSON, which a killed
        process leaves behind. "drop" notes it in `warn`.
    warn : list of str, optional
        Receives one sentence a dropped line.

    Raises
    ------
    ConfigError
        At once for a missing file; after the last line for all faulty lines together.
    """
    if not path.is_file():
        raise ConfigError(Problem("there is no such file", str(path)))
    problems = Problems()
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw[3:]
            if not raw.strip():
                continue
            whole = raw.endswith(b"\n")
            try:
                value = DECODER.decode(raw.decode("utf-8").strip())
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                if not whole and torn == "drop":
                    if warn is not None:
                        warn.append(f"{path}:{number}: the last line was torn and is dropped")
                    continue
                reason = error.msg if isinstance(error, json.JSONDecodeError) else "not utf-8"
                problems.add(f"is not JSON: {reason}", file=path, line=number)
                continue
            except (Strict, ValueError, RecursionError) as error:
                problems.add(_too_much(error), file=path, line=number)
                continue
            if not isinstance(value, dict):
                problems.add(
                    f"holds {type(value).__name__}; each line wants one JSON object",
                    file=path,
                    line=number,
                )
                continue
            yield Row(value, number, b"\\ud" in raw or b"\\uD" in raw)
    problems.raise_any()
