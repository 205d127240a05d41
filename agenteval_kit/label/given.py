"""What one rater has said so far: of each transcript, and the line that an undo takes back.

May not read or write files, nor know in which order transcripts are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval_kit.records.labels import LabelRow

__all__ = ["Given", "Said", "said_of"]

Key = tuple[str, int]


@dataclass(frozen=True)
class Said:
    """What counts of a rater's lines on one transcript.

    Attributes
    ----------
    labels : dict of str to LabelRow
        The label of each dimension.
    words : dict of str to (str, int or None)
        Note and marked turn of each dimension ("" is the whole transcript).
    failures : tuple of (str, int or None)
        What went wrong, with the turn.
    read, skipped : bool
        Read to its end; passed over and not taken up since.
    """

    labels: Mapping[str, LabelRow]
    words: Mapping[str, tuple[str, int | None]]
    failures: tuple[tuple[str, int | None], ...]
    read: bool
    skipped: bool

    def word(self, dimension: str) -> tuple[str, int | None]:
        """Note and marked turn of a dimension ("" is the whole transcript)."""
        return self.words.get(dimension, ("", None))

    def own(self, dimension: str) -> dict[str, Any]:
        """What was said on a dimension, as plain JSON: answered, score, note, turn."""
        note, turn = self.word(dimension)
        label = self.labels.get(dimension)
        return {
            "answered": label is not None,
            "score": None if label is None else label.score,
            "note": note,
            "turn": turn,
        }


NOTHING = Said({}, {}, (), False, False)


def said_of(rows: Sequence[LabelRow], wording: Mapping[str, str]) -> Said:
    """What counts of the lines on one transcript, undone ones left out before.

    `wording` is the digest of each dimension as it is worded now; a label that was given under
    other words does not count, since its anchors are no longer those.
    """
    if not rows:
        return NOTHING
    labels: dict[str, LabelRow] = {}
    words: dict[str, tuple[str, int | None]] = {}
    failures: dict[tuple[str, int | None], None] = {}
    read = skipped = False
    for row in rows:
        if row.kind in ("label", "note"):
            if row.dimension_digest not in ("", wording.get(row.dimension, "")):
                continue
            words[row.dimension] = (row.note, row.turn)
        if row.kind == "label" and row.dimension in wording:
            labels[row.dimension] = row
        elif row.kind == "failure":
            failures[row.failure, row.turn] = None
        elif row.kind == "skip":
            skipped = True
        if row.kind == "read":
            read = True
        if row.kind in ("label", "read"):
            skipped = False
    return Said(labels, words, tuple(failures), read, skipped)


class Given:
    """The lines of a rater's file, those undone left out, and what they say of each transcript.

    Parameters
    ----------
    runs, sample
        The names of the run, and the sample; lines of others are kept for `last` alone.
    wording : mapping of str to str
        Digest of each dimension, see `said_of`.
    """

    def __init__(self, runs: Collection[str], sample: str, *, wording: Mapping[str, str]) -> None:
        self._runs, self._sample, self._wording = runs, sample, wording
        self._lines: list[LabelRow] = []
        self._of: dict[Key, list[LabelRow]] = {}

    def take(self, rows: Iterable[LabelRow]) -> None:
        """Take lines in the order of the file."""
        for row in rows:
            if row.kind != "undo":
                self._lines.append(row)
                if self.here(row):
                    self._of.setdefault((row.case_id, row.repeat), []).append(row)
            elif self._lines:
                gone = self._lines.pop()
                if self.here(gone):
                    self._of[gone.case_id, gone.repeat].pop()

    @property
    def last(self) -> LabelRow | None:
        """The line that an undo would take back."""
        return self._lines[-1] if self._lines else None

    def here(self, row: LabelRow) -> bool:
        """Whether a line was said in this run and sample; a review is said elsewhere."""
        here = row.run in self._runs and row.sample == self._sample
        return here and row.kind != "review"

    def said(self, key: Key) -> Said:
        """What counts of the lines on one transcript."""
        return said_of(self._of.get(key, ()), self._wording)

    def outdated(self) -> dict[str, int]:
        """Labels given under other words than today's, by dimension."""
        found: dict[str, set[Key]] = {}
        for key, rows in self._of.items():
            for row in rows:
                wanted = self._wording.get(row.dimension)
                if row.kind == "label" and wanted and row.dimension_digest not in ("", wanted):
                    found.setdefault(row.dimension, set()).add(key)
        return {
            name: count
            for name, keys in found.items()
            if (count := sum(name not in self.said(key).labels for key in keys))
        }
