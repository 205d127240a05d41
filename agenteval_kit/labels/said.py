"""What a table or another tool's export says of one transcript, and what it is held against.

May not know a format, nor decide whether a value is a level.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from agenteval_kit.records.labels import Design, Sample

__all__ = ["CANNOT_TELL", "NOTES", "Said", "Wanted", "is_missing"]

# What pandas reads as missing is missing here too, so that a file and its frame say the same.
_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "none", "null", "<na>", "-nan", "#na"})
CANNOT_TELL = "cannot tell"
NOTES = frozenset({"note", "notes", "comment", "comments"})
_NOTE = re.compile(r"(.+)[_ .](?:note|notes|comment|comments)")


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that one rater said, with its values as they stand in the file.

    Attributes
    ----------
    kind : str
        A label, words alone, or that the transcript was passed over.
    line : int
        Where it stands, from 1.
    place : str
        What the file calls the spot: a column, a control, a question.
    where : str
        Names the entry in a complaint, where its line does not: an export may be one line long.
    more : mapping
        Further fields of a line of ours that the file has.
    """

    line: int
    case_id: Any
    rater: Any
    dimension: str = ""
    score: Any = None
    kind: Literal["label", "note", "skip"] = "label"
    place: str = ""
    repeat: Any = 0
    note: str = ""
    at: Any = ""
    where: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What imported labels are held against.

    Attributes
    ----------
    levels : mapping of str to tuple of int
        Of each dimension that may be labelled; empty: any.
    items : collection of (str, int), or None
        The transcripts of the run; None: not looked up.
    mapping : mapping
        Their words in ours: a column, question or control, a rater, a choice.
    rater : str or None
        Who gave the labels, where the files do not say.
    design : str
        How the transcripts were chosen, where the files do not say.
    now : str
        For labels that carry no time.
    samples : mapping of str to Sample
        Those that stand beside the labels: they know how each transcript was drawn.
    texts : mapping of (str, int) to str
        The digest of each transcript, for labels that do not say which text was read.
    sample : str
        In which the transcripts were drawn, where the files do not say.
    """

    run: str
    levels: Mapping[str, tuple[int, ...]]
    items: Collection[tuple[str, int]] | None
    mapping: Mapping[str, str | int]
    rater: str | None
    design: Design
    now: str
    samples: Mapping[str, Sample] = field(default_factory=dict)
    texts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    sample: str = ""

    def ours(self, name: str) -> str:
        """A name of theirs as we say it."""
        given = self.mapping.get(name)
        return given if isinstance(given, str) else name

    def role(self, name: str) -> tuple[str, str] | None:
        """What a column, control or question holds: ("score" or "note", dimension), or None.

        Without a rubric each name is a dimension, unless it is the name of a note.
        """
        name = self.ours(name)
        if name in self.levels:
            return "score", name
        note = _NOTE.fullmatch(name)
        if note and (note[1] in self.levels or not self.levels):
            return "note", note[1]
        if name.lower() in NOTES:
            return "note", ""
        return None if self.levels else ("score", name)

    def near(self, name: str) -> str:
        """The dimension that a name misses by little, or nothing."""
        found = get_close_matches(self.ours(name), list(self.levels), n=1, cutoff=0.8)
        return found[0] if found else ""

    def known(self) -> str:
        """The dimensions, for a complaint."""
        return ", ".join(self.levels) or "none (no rubric was given)"


def is_missing(value: Any) -> bool:
    """Whether a cell says nothing: empty, or a word that tables have for it."""
    if value is None or value != value:  # NaN is not itself
        return True
    return isinstance(value, str) and value.strip().lower() in _MISSING
