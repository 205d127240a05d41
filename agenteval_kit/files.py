"""JSON Lines and YAML, read strictly, with file and line in each complaint; and digests.

May not know what the rows mean: that is the business of whoever reads them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import yaml

from agenteval_kit.errors import ConfigError, Problem, Problems

__all__ = [
    "Appender",
    "Document",
    "Row",
    "canonical_json",
    "digest",
    "file_digest",
    "read_json",
    "read_jsonl",
    "read_text",
    "read_yaml",
    "repair_tail",
    "write_atomic",
]

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object of a JSON Lines file, with the line it stands on (from 1)."""

    value: dict[str, Any]
    line: int


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML or JSON document with the line of every key and item.

    Attributes
    ----------
    value : object
        Plain dicts, lists, strings, numbers, booleans and None.
    file : pathlib.Path
        Where it was read.
    lines : dict
        Path of keys and indices -> line from 1. Use `line` to look up.
    """

    value: Any
    file: Path
    lines: Mapping[Path_, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """Line of a key, or of its nearest parent that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1


class _Strict(Exception):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Strict(f'key "{key}" stands twice; keep one')
            seen.add(key)
    return made


def _constant(name: str) -> Any:
    raise _Strict(f"{name} is not a number that can be scored; write null, or leave the key out")


def _float(text: str) -> float:
    # 1e999 parses to infinity without ever meeting parse_constant.
    number = float(text)
    if math.isinf(number):
        raise _Strict(f"{text} is too large for a number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, strict=False
)


def read_text(path: Path) -> str:
    """Text of a file: utf-8, with or without BOM; CRLF becomes LF.

    Raises
    ------
    ConfigError
        If the file is missing, is a folder, or is not utf-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(Problem("there is no such file", str(path))) from None
    except IsADirectoryError:
        raise ConfigError(Problem("is a folder; a file was wanted", str(path))) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ConfigError(Problem("is not utf-8; save it as utf-8", str(path), line)) from None
    except OSError as error:
        raise ConfigError(Problem(f"cannot be read: {error.strerror}", str(path))) from None
    return text.replace("\r\n", "\n")


def read_json(path: Path) -> Any:
    """One JSON document, strict: no NaN, no Infinity, no key twice.

    Raises
    ------
    ConfigError
        With file and line.
    """
    text = read_text(path)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ConfigError(Problem(f"is not JSON: {error.msg}", str(path), error.lineno)) from None
    except (_Strict, RecursionError) as error:
        message = str(error) if isinstance(error, _Strict) else "is nested too deeply"
        raise ConfigError(Problem(message, str(path))) from None


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
                value = _DECODER.decode(raw.decode("utf-8").strip())
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                if not whole and torn == "drop":
                    if warn is not None:
                        warn.append(f"{path}:{number}: the last line was torn and is dropped")
                    continue
                reason = error.msg if isinstance(error, json.JSONDecodeError) else "not utf-8"
                problems.add(f"is not JSON: {reason}", file=path, line=number)
                continue
            except (_Strict, RecursionError) as error:
                message = str(error) if isinstance(error, _Strict) else "is nested too deeply"
                problems.add(message, file=path, line=number)
                continue
            if not isinstance(value, dict):
                problems.add(
                    f"holds {type(value).__name__}; each line wants one JSON object",
                    file=path,
                    line=number,
                )
                continue
            yield Row(value, number)
    problems.raise_any()


class _Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """YAML without surprises: `no` is a string, 001 is a string, dates are strings."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?(?:0|[1-9][0-9]*)\.?[eE][-+]?[0-9]+|[-+]?(?:0|[1-9][0-9]*)\."
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"), ["<"])


def read_yaml(path: Path) -> Document:
    """A YAML document (JSON too, which is YAML), strict, with the line of every key.

    A key that stands twice, NaN and infinity are refused. Values keep the type that a reader
    sees: ``no``, ``001`` and ``2026-03-02`` are strings.

    Raises
    ------
    ConfigError
        All problems of the file, each with its line.
    """
    text = read_text(path)
    lines: dict[Path_, int] = {}
    problems = Problems()
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        value = None if node is None else _build(loader, node, (), lines, problems, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(
            Problem(f"is not YAML: {reason}", str(path), None if mark is None else mark.line + 1)
        ) from None
    except RecursionError:
        raise ConfigError(Problem("is nested too deeply", str(path))) from None
    finally:
        loader.dispose()
    problems.raise_any()
    return Document(value, path, lines)


def _build(
    loader: Any, node: Any, at: Path_, lines: dict[Path_, int], problems: Problems, path: Path
) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(at, line)
    if isinstance(node, yaml.MappingNode):
        made: dict[str, Any] = {}
        loader.flatten_mapping(node)
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problems.add("a key must be plain text", file=path, line=key_line)
                continue
            key = key_node.value
            if key in made:
                first = lines[(*at, key)]
                problems.add(
                    f'key "{key}" stands twice, first on line {first}; keep one',
                    file=path,
                    line=key_line,
                )
                continue
            lines[(*at, key)] = key_line
            made[key] = _build(loader, value_node, (*at, key), lines, problems, path)
        return made
    if isinstance(node, yaml.SequenceNode):
        return [
            _build(loader, item, (*at, index), lines, problems, path)
            for index, item in enumerate(node.value)
        ]
    try:
        value = loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        problems.add(f'"{node.value}" cannot be read as {node.tag}', file=path, line=line)
        return None
    if isinstance(value, float) and not math.isfinite(value):
        problems.add(
            f"{node.value} is not a number that can be scored; write null, or leave the key out",
            file=path,
            line=line,
        )
        return None
    return value


def canonical_json(value: Any) -> str:
    """JSON text that is the same for equal values: keys sorted, no spaces, strict numbers."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def digest(value: Any) -> str:
    """Content digest of a JSON value: 12 hex digits of SHA-256 over its canonical text."""
    text = canonical_json(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:12]


def file_digest(path: Path) -> str:
    """Content digest of a text file, blind to BOM and CRLF.

    Raises
    ------
    ConfigError
        If it cannot be read.
    """
    return hashlib.sha256(read_text(path).encode("utf-8")).hexdigest()[:12]


def repair_tail(path: Path) -> str | None:
    """Cut off a last line that has no newline, which a killed process left; say so.

    A last line that is whole JSON only lacks its newline and gets it.

    Returns
    -------
    str or None
        A sentence for the person, or None if nothing was torn.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    with path.open("rb+") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) == b"\n":
            return None
        size = stream.tell()
        start, block = size, 1 << 16
        tail = b""
        while start > 0 and b"\n" not in tail:
            step = min(block, start)
            start -= step
            stream.seek(start)
            tail = stream.read(step) + tail
        cut = tail.rfind(b"\n") + 1
        last = tail[cut:]
        try:
            _DECODER.decode(last.decode("utf-8"))
        except (ValueError, _Strict):
            stream.truncate(start + cut)
            return f"{path}: the last line was torn and is dropped"
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n")
    return None


class Appender:
    """Appends JSON rows to a file, each batch in one write, so that a kill costs one line.

    Parameters
    ----------
    path : pathlib.Path
        Made with its parents when missing. A torn last line is cut off first.
    sync : bool
        Whether each write reaches the disk before the call returns (for what was paid for or
        labelled by a person).
    """

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.warning = repair_tail(path)
        self._sync = sync
        self._stream: IO[bytes] | None = None

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows, one line each, strict JSON.

        Raises
        ------
        OSError
            If the disk is full or the file cannot be written; nothing is half-reported.
        ValueError
            If a row holds NaN or infinity.
        """
        self.append_lines(
            json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            for row in rows
        )

    def append_lines(self, lines: Iterable[str]) -> None:
        """Write ready-made JSON texts, one a line, in one write."""
        # Lone surrogates occur in models' replies; they must not lose the reply.
        block = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        if not block:
            return
        if self._stream is None:
            self._stream = self.path.open("ab", buffering=0)
        done = 0
        while done < len(block):
            done += self._stream.write(block[done:]) or 0
        if self._sync:
            os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file; a later append opens it again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def write_atomic(path: Path, text: str) -> None:
    """Write a whole file so that a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with scratch.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, path)
