"""What P(SHIP) came out as: of the whole bar and clause by clause.

May not simulate.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ClauseChance", "ShipChance"]


@dataclass(frozen=True, slots=True)
class ClauseChance:
    """One clause: how often it passes (with the simulation's interval), fails, cannot tell."""

    name: str
    passes: Estimate
    fails: float
    cannot_tell: float


@dataclass(frozen=True, slots=True)
class ShipChance:
    """How often a bar says SHIP, REVIEW and HOLD.

    Attributes
    ----------
    bar : str
        Its name.
    drop : mapping of str to float
        What was taken away from the new run; empty where nothing changed.
    ship, review, hold : Estimate
        Shares of the replicates, Wilson's interval of the simulation.
    clauses : tuple of ClauseChance
        In the order of the bar.
    not_simulated : tuple of str
        Clauses on what no run shows: with them `ship` is at most this.
    cases, repeats, replicates, seed : int
        Of the simulation.
    assumption, method : str
        In words.
    """

    bar: str
    drop: Mapping[str, float]
    ship: Estimate
    review: Estimate
    hold: Estimate
    clauses: tuple[ClauseChance, ...]
    not_simulated: tuple[str, ...]
    cases: int
    repeats: int
    replicates: int
    seed: int
    assumption: str
    method: str

    @property
    def given(self) -> str:
        """What is taken to be true: "nothing changed", or the drop."""
        if not any(self.drop.values()):
            return "nothing changed"
        return " and ".join(
            f"{name} fell by {counted(100 * fall, 'point')}"
            for name, fall in self.drop.items()
            if fall
        )

    @property
    def question(self) -> str:
        """What this answers."""
        return f'Will bar "{self.bar}" say SHIP if {self.given}?'

    def lines(self) -> tuple[str, ...]:
        """The answer in words."""
        most = "at most " if self.not_simulated else ""
        first = (
            f"P(SHIP | {self.given}) = {most}{self.ship.text()}; "
            f"REVIEW {_chance(self.review.value)}, HOLD {_chance(self.hold.value)}"
        )
        told = [first]
        each = sorted(
            (one for one in self.clauses if one.passes.value != 1),
            key=lambda one: one.passes.value or 0.0,
        )
        if each:
            told.append(
                "clauses that do not always pass: "
                + ", ".join(f"{one.name} {_chance(one.passes.value)}" for one in each)
            )
        if self.not_simulated:
            told.append(f"not simulated, no verdicts: {', '.join(self.not_simulated)}")
        return tuple(told)

    @property
    def sentence(self) -> str:
        """The lines as one."""
        return "; ".join(self.lines())

    def frame(self) -> pd.DataFrame:
        """One row per clause, "whole bar" last.

        Columns: clause (str); passes, low, high (share of replicates, with the simulation's
        interval); fails, cannot_tell (shares; for the whole bar HOLD and REVIEW).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        rows = [
            (one.name, one.passes.value, one.passes.low, one.passes.high, one.fails,
             one.cannot_tell)
            for one in self.clauses
        ]  # fmt: skip
        ship = self.ship
        rows.append(
            ("whole bar", ship.value, ship.low, ship.high, self.hold.value or 0.0,
             self.review.value or 0.0)
        )  # fmt: skip
        names = ["clause", "passes", "low", "high", "fails", "cannot_tell"]
        return pd.DataFrame(rows, columns=names)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "question": self.question,
            "answer": self.sentence,
            "bar": self.bar,
            "given": self.given,
            "drop": dict(self.drop),
            "ship": self.ship.value,
            "low": self.ship.low,
            "high": self.ship.high,
            "review": self.review.value,
            "hold": self.hold.value,
            "clauses": [
                {
                    "clause": one.name,
                    "passes": one.passes.value,
                    "low": one.passes.low,
                    "high": one.passes.high,
                    "fails": one.fails,
                    "cannot_tell": one.cannot_tell,
                }
                for one in self.clauses
            ],
            "not_simulated": list(self.not_simulated),
            "cases": self.cases,
            "repeats": self.repeats,
            "replicates": self.replicates,
            "seed": self.seed,
            "assumption": self.assumption,
            "method": self.method,
        }

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(one.name)}</th>"
            f"<td>{html.escape(one.passes.text())}</td><td>{one.fails:.2f}</td>"
            f"<td>{one.cannot_tell:.2f}</td></tr>"
            for one in self.clauses
        )
        heads = ("clause", "passes", "fails", "cannot tell")
        head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
        lines = "<br>".join(html.escape(line) for line in self.lines())
        return (
            f"<table><caption>{lines}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table><p><small>{html.escape(self.assumption)}. "
            f"{html.escape(self.method)}.</small></p>"
        )


def _chance(value: float | None) -> str:
    """Two digits, or as many as keep a chance from reading as never or always."""
    if value is None:
        return "not known"
    for digits in range(2, 6):
        if f"{value:.{digits}f}" not in (f"{0:.{digits}f}", f"{1:.{digits}f}"):
            return f"{value:.{digits}f}"
    return f"{value:.2f}"
