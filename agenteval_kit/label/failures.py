"""Failures first: what readers wrote, counted and grouped, and the skeleton of a rubric from it.

May not give a rate: what was read was not drawn to be counted, and people write what they notice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.files import write_atomic
from agenteval_kit.labels import LabelSet
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.text import counted, fold
from agenteval_kit.visible import show_hidden

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FailureMode", "FailureModes", "collect_failures", "rubric_skeleton"]

EXAMPLES = 5
LEVELS = (1, 2, 3, 4)


@dataclass(frozen=True)
class FailureMode:
    """One way in which things went wrong.

    Attributes
    ----------
    name : str
        The reader's words, or the name of the group.
    wordings : tuple of str
        Every wording that was merged into it.
    transcripts : int
        In how many transcripts it was seen.
    raters : tuple of str
        By whom.
    examples : tuple of (str, int, int or None)
        Case, repeat and turn of the first few.
    """

    name: str
    wordings: tuple[str, ...]
    transcripts: int
    raters: tuple[str, ...]
    examples: tuple[tuple[str, int, int | None], ...]


@dataclass(frozen=True)
class FailureModes:
    """What went wrong, the commonest first.

    Attributes
    ----------
    modes : tuple of FailureMode
        A transcript can stand in several.
    read : int
        Transcripts of which anybody said anything; those skipped do not count.
    clean : int
        Of these, transcripts in which nobody wrote a failure down.
    """

    modes: tuple[FailureMode, ...]
    read: int
    clean: int

    def frame(self) -> pd.DataFrame:
        """One row a mode: failure, transcripts, read, raters, wordings, examples.

        `transcripts` of the `read` ones hold it. There is no interval: this is a count of what
        readers noticed, not an estimate of how often it happens.
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        columns = ["failure", "transcripts", "read", "raters", "wordings", "examples"]
        return pd.DataFrame.from_records(
            [
                {
                    "failure": one.name,
                    "transcripts": one.transcripts,
                    "read": self.read,
                    "raters": ", ".join(one.raters),
                    "wordings": len(one.wordings),
                    "examples": "; ".join(map(_example, one.examples)),
                }
                for one in self.modes
            ],
            columns=columns,
        )

    def _repr_html_(self) -> str:
        head = f"{counted(self.read, 'transcript')} read, {self.clean} of them without a failure"
        rows = "".join(
            f"<tr><td>{escape(show_hidden(one.name))}</td><td>{one.transcripts:,}</td>"
            f"<td>{escape(', '.join(one.raters))}</td>"
            f"<td>{escape(show_hidden('; '.join(map(_example, one.examples))))}</td></tr>"
            for one in self.modes
        )
        return (
            f"<table><caption>{head}. Counts of what was noticed, no rates.</caption><thead><tr>"
            '<th scope="col">failure</th><th scope="col">transcripts</th>'
            '<th scope="col">raters</th><th scope="col">examples</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )


def collect_failures(
    labels: LabelSet,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    run: str | None = None,
) -> FailureModes:
    """What readers wrote as failures, with how many transcripts show each.

    Texts that differ in case, spaces, quotes or closing punctuation only are one.

    Parameters
    ----------
    labels : LabelSet
        What was read, with or without a rubric.
    groups : mapping of str to sequence of str, optional
        Wordings that you found to mean one thing, under the name that you give it; what is in no
        group stays as it is.
    run : str, optional
        Of this run only.

    Raises
    ------
    ConfigError
        If a wording stands in two groups, or nobody wrote it.
    """
    rows = [row for row in labels.current if run in (None, row.run)]
    written = [row for row in rows if row.kind == "failure"]
    first = {_key(row.failure): row.failure for row in reversed(written)}
    mode_of = _modes(groups or {}, first)
    found: dict[str, list[LabelRow]] = {}
    for row in written:
        key = _key(row.failure)
        found.setdefault(mode_of.get(key, first[key]), []).append(row)
    modes = [_mode(name, each) for name, each in found.items()]
    read = {_transcript(row) for row in rows if row.kind not in ("skip", "review")}
    failed = {_transcript(row) for row in written}
    return FailureModes(
        modes=tuple(sorted(modes, key=lambda one: (-one.transcripts, one.name))),
        read=len(read),
        clean=len(read - failed),
    )


def rubric_skeleton(modes: FailureModes, *, name: str, path: str | Path | None = None) -> str:
    """The text of a rubric with a dimension for each failure mode, for you to write the anchors.

    Each anchor is marked as a draft, and `load_rubric` refuses a rubric that holds a draft: no
    judge scores by a sentence that nobody has written.

    Parameters
    ----------
    path : path, optional
        Where the text is written; a file that stands there is not touched.

    Raises
    ------
    ConfigError
        Without a failure mode, and if the file is there already.
    """
    if not modes.modes:
        raise ConfigError("nobody has written a failure down, so there is nothing to begin with")
    lines = [
        f"name: {_slug(name)}",
        'version: "0"',
        f"note: Begun from {counted(modes.read, 'transcript')} that people read; every anchor is a "
        "draft.",
        "dimensions:",
    ]
    taken: set[str] = set()
    for one in modes.modes:
        lines += _dimension(one, modes.read, taken)
    text = "\n".join(lines) + "\n"
    if path is not None:
        file = Path(path)
        if file.exists():
            raise ConfigError(Problem("is there already; name another file", str(file)))
        write_atomic(file, text)
    return text


def _dimension(mode: FailureMode, read: int, taken: set[str]) -> list[str]:
    own = slug = _slug(mode.name)
    count = 2
    while slug in taken:
        slug, count = f"{own[:70]}_{count}", count + 1
    taken.add(slug)
    said, who = _line(mode.name), _line(", ".join(mode.raters))
    judged = f"DRAFT: say what is judged, so that two people agree: {said}"
    drafts = {
        4: f"DRAFT: say what stands in a transcript that is free of this: {said}",
        3: f"DRAFT: say what stands there where it begins and does no harm: {said}",
        2: f"DRAFT: say what stands there where it costs the user something: {said}",
        1: f"DRAFT: say what stands there at its worst: {said}",
    }
    return [
        f"  # Seen in {mode.transcripts:,} of {counted(read, 'transcript')} read, by {who}.",
        *(f"  # In other words: {_line(one)}" for one in mode.wordings if one != mode.name),
        f"  # To look at: {_line('; '.join(map(_example, mode.examples)))}",
        f"  - name: {slug}",
        f"    definition: {_quoted(judged)}",
        "    anchors:",
        *(f"      {level}: {_quoted(drafts[level])}" for level in reversed(LEVELS)),
        "    inputs: [transcript]",
    ]


def _mode(name: str, rows: Sequence[LabelRow]) -> FailureMode:
    places: dict[tuple[str, int, int | None], None] = {}
    for row in rows:
        places[row.case_id, row.repeat, row.turn] = None
    return FailureMode(
        name=name,
        wordings=tuple(dict.fromkeys(row.failure for row in rows)),
        transcripts=len({_transcript(row) for row in rows}),
        raters=tuple(dict.fromkeys(row.rater for row in rows)),
        examples=tuple(places)[:EXAMPLES],
    )


def _modes(groups: Mapping[str, Sequence[str]], written: Mapping[str, str]) -> dict[str, str]:
    """The group of each folded wording."""
    found: dict[str, str] = {}
    problems = Problems()
    for name, wordings in groups.items():
        for text in wordings:
            key = _key(text)
            if key not in written:
                near = did_you_mean(text, written.values())
                problems.add(f'group "{name}": nobody wrote "{text}".{near}')
            elif found.setdefault(key, name) != name:
                problems.add(f'"{text}" stands in the groups "{found[key]}" and "{name}"; keep one')
    problems.raise_any()
    return found


def _transcript(row: LabelRow) -> tuple[str, str, int]:
    return (row.run, row.case_id, row.repeat)


def _key(text: str) -> str:
    return fold(text).rstrip(".!?;:, ")


def _example(place: tuple[str, int, int | None]) -> str:
    case_id, repeat, turn = place
    told = case_id if not repeat else f"{case_id} (repeat {repeat})"
    return told if turn is None else f"{told}, turn {turn}"


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", fold(text)).strip("_.-")[:80] or "failure"


def _line(text: str) -> str:
    return " ".join(show_hidden(text).split())


def _quoted(text: str) -> str:
    # Braces would read as placeholders of a prompt.
    return "'" + text.replace("'", "''").replace("{", "(").replace("}", ")") + "'"
