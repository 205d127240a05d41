"""A plan: the answer to each question about sizes, with what it assumes and how it was made.

May not compute.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.plan.cases import CasesNeeded
from agenteval_kit.plan.chances import ShipChance
from agenteval_kit.plan.costs import JudgeCost
from agenteval_kit.plan.labels import LabelsNeeded
from agenteval_kit.plan.shown import answer_html
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Plan"]

Answer = CasesNeeded | LabelsNeeded | JudgeCost | ShipChance


@dataclass(frozen=True, slots=True)
class Plan:
    """What a suite can see, what it would take, and how often its bar would ship.

    Attributes
    ----------
    suite : str
        Its name.
    cases, repeats : int
        What is planned for.
    runs : tuple of str
        The runs that it rests on, at most two; none where it rests on assumptions.
    sizes : tuple of CasesNeeded
        A layer, dimension or assumed spread each.
    labels : tuple of LabelsNeeded
        Empty where nothing is judged.
    cost : JudgeCost or None
        None where nothing is judged.
    ship : tuple of ShipChance
        If nothing changed, and if something dropped; empty without a bar, or without a run.
    notes : tuple of str
        What was left out, and what is not known.
    """

    suite: str
    cases: int
    repeats: int
    runs: tuple[str, ...]
    sizes: tuple[CasesNeeded, ...]
    labels: tuple[LabelsNeeded, ...]
    cost: JudgeCost | None
    ship: tuple[ShipChance, ...]
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer, in the order of the questions."""
        cost = () if self.cost is None else (self.cost,)
        return (*self.sizes, *self.labels, *cost, *self.ship)

    def lines(self) -> tuple[str, ...]:
        """The plan as text for a terminal: a question, and its answer indented below."""
        return tuple(self._told())

    def _told(self) -> Iterator[str]:
        times = f" × {self.repeats} repeats" if self.repeats > 1 else ""
        yield f"{self.suite}: {counted(self.cases, 'case')}{times}"
        for answer in self.answers:
            yield ""
            yield answer.question
            yield from (f"  {line}" for line in answer.lines())
            yield f"  assuming: {answer.assumption}"
        if self.notes:
            yield ""
            yield from (f"note: {note}" for note in self.notes)

    def frame(self) -> pd.DataFrame:
        """One row per question.

        Columns: question, answer, assumption, method (str).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        names = ["question", "answer", "assumption", "method"]
        rows = [(one.question, one.sentence, one.assumption, one.method) for one in self.answers]
        return pd.DataFrame(rows, columns=names)

    def as_dict(self) -> dict[str, Any]:
        """The plan as plain JSON values."""
        return {
            "suite": self.suite,
            "cases": self.cases,
            "repeats": self.repeats,
            "runs": list(self.runs),
            "sizes": [one.as_dict() for one in self.sizes],
            "labels": [one.as_dict() for one in self.labels],
            "cost": None if self.cost is None else self.cost.as_dict(),
            "ship": [one.as_dict() for one in self.ship],
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        times = f" × {self.repeats} repeats" if self.repeats > 1 else ""
        title = html.escape(f"Plan for {self.suite}: {counted(self.cases, 'case')}{times}")
        notes = "".join(f"<p><small>Note: {html.escape(note)}.</small></p>" for note in self.notes)
        return f"<h3>{title}</h3>{''.join(map(answer_html, self.answers))}{notes}"
