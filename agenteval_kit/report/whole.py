"""One whole transcript as a small page of its own, beside a page that holds its excerpt.

May not load anything from elsewhere nor run a script.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.report.judged import ShownVerdict
from agenteval_kit.report.markup import Html, tag
from agenteval_kit.report.sheet import style_sheet
from agenteval_kit.report.transcript import transcript_html

__all__ = ["write_whole"]

_FRAME = (
    "body{margin:0;background:var(--ae-bg)}"
    "main{max-width:900px;margin:0 auto;padding:24px}h1{font-size:22px;overflow-wrap:anywhere}"
)
_LONGEST = 120
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_whole(
    transcript: Transcript,
    rows: Sequence[CheckRow],
    *,
    folder: Path,
    name: str,
    verdicts: Sequence[ShownVerdict] = (),
) -> Path:
    """Write ``<name>.html`` into the folder, which is made when missing; a long name is cut.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    title = f"{transcript.case_id}, repeat {transcript.repeat}"
    head = tag(
        "head",
        None,
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"name": "color-scheme", "content": "light dark"}),
        tag("title", None, title),
        tag("style", None, Html(f"{style_sheet(part='transcript')}\n{_FRAME}")),
    )
    body = tag(
        "body",
        None,
        tag(
            "main",
            {"class": "agenteval"},
            tag("h1", None, title),
            transcript_html(transcript, rows=rows, place=name, verdicts=verdicts),
        ),
    )
    page = tag("html", {"lang": "en"}, head, body)
    path = folder / f"{_file_name(name)}.html"
    # Not atomic and not synced: a thousand of these are written, and each can be written again.
    path.write_text(
        f"<!doctype html>\n{page}\n", encoding="utf-8", errors="backslashreplace", newline="\n"
    )
    return path


def _file_name(name: str) -> str:
    """The name, or its beginning and a checksum: no file system takes one of 300 characters."""
    if len(name) <= _LONGEST:
        return name
    import zlib  # here, not above: a checksum, and only for names beyond the usual

    return f"{name[: _LONGEST - 20]}-{zlib.crc32(name.encode()):08x}"
