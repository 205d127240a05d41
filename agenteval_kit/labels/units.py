"""Lines of a label file with the undo that takes them back: what belongs together stays together.

May not read or write files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agenteval_kit.records.labels import LabelRow

__all__ = ["Unit", "units_of"]


@dataclass(frozen=True)
class Unit:
    """A line, and the line that takes it back where there is one."""

    row: LabelRow
    undo: LabelRow | None = None

    @property
    def rows(self) -> tuple[LabelRow, ...]:
        """The lines, in order: read anywhere, in any neighbourhood, they mean the same."""
        return (self.row,) if self.undo is None else (self.row, self.undo)


def units_of(rows: Iterable[LabelRow]) -> list[Unit]:
    """The units of one rater's lines, in the order of their first lines.

    An undo that takes nothing back is left out: elsewhere it might find something.
    """
    found: list[Unit] = []
    open_: list[int] = []
    for row in rows:
        if row.kind != "undo":
            open_.append(len(found))
            found.append(Unit(row))
        elif open_:
            at = open_.pop()
            found[at] = Unit(found[at].row, row)
    return found
