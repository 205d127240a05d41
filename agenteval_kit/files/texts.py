"""A text file as a person saved it: utf-8, BOM or not, CRLF or LF; and digests of content.

May not know a format.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem

__all__ = ["bytes_digest", "canonical_json", "digest", "file_digest", "read_text", "text_digest"]


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


def canonical_json(value: Any) -> str:
    """JSON text that is the same for equal values: keys sorted, no spaces, strict numbers."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def digest(value: Any) -> str:
    """Content digest of a JSON value: 12 hex digits of SHA-256 over its canonical text."""
    return text_digest(canonical_json(value))


def text_digest(text: str) -> str:
    """Content digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def file_digest(path: Path) -> str:
    """Content digest of a text file, blind to BOM and CRLF.

    Raises
    ------
    ConfigError
        If it cannot be read.
    """
    return hashlib.sha256(read_text(path).encode("utf-8")).hexdigest()[:12]


def bytes_digest(path: Path) -> str:
    """Content digest of any file, read in pieces.

    Raises
    ------
    ConfigError
        If it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:12]
    except OSError as error:
        raise ConfigError(Problem(f"cannot be read: {error.strerror}", str(path))) from None
