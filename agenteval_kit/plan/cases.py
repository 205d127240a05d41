"""How many cases a change would take to be seen, and which change the suite at hand can see.

May not promise: every number rests on a spread, and the spread's own doubt is carried along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.plan.shown import answer_html
from agenteval_kit.plan.spread import Spread, Unit, assumed_spreads
from agenteval_kit.stats.seeing import Moves
from agenteval_kit.stats.sizes import units_to_rule_out
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CHANGES", "CasesNeeded", "ChangeNeed", "RepeatsGain", "cases_table", "plan_cases"]

CHANGES: dict[Unit, tuple[float, ...]] = {
    "pass share": (0.05, 0.10, 0.15, 0.20),
    "win rate": (0.05, 0.10, 0.15, 0.20),
    "score": (0.1, 0.2, 0.3, 0.5),
}
MARGINS: dict[Unit, float] = {"pass share": 0.05, "win rate": 0.05, "score": 0.2}
REPEATS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class ChangeNeed:
    """Cases that show a change this often; fewest and most by the interval of the spread."""

    change: float
    cases: int
    fewest: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class RepeatsGain:
    """What more repeats of the same cases would buy: the smallest change that they show."""

    repeats: int
    spread: float
    detectable: float


@dataclass(frozen=True, slots=True)
class CasesNeeded:
    """How many cases; and what the cases at hand can see.

    Attributes
    ----------
    spread : Spread
        What it rests on.
    needs : tuple of ChangeNeed
        A change each.
    margin, margin_cases : float, int or None
        Cases that rule out a drop of `margin` this often if nothing changed.
    cases : int or None
        Cases at hand (scenarios where clustered).
    detectable, detectable_high : float or None
        The smallest change that those show; and with the upper end of the spread. None where they
        show none.
    gains : tuple of RepeatsGain
        Empty where no run has repeats.
    assumption, method : str
        In words.
    """

    spread: Spread
    needs: tuple[ChangeNeed, ...]
    margin: float
    margin_cases: int | None
    cases: int | None
    detectable: float | None
    detectable_high: float | None
    gains: tuple[RepeatsGain, ...]
    assumption: str
    method: str

    @property
    def question(self) -> str:
        """What this answers."""
        where = f" in {self.spread.target}" if self.spread.target else ""
        return f"How many cases ({self.spread.unit}{where})?"

    def lines(self) -> tuple[str, ...]:
        """The answer in words, with n and the spread it rests on."""
        sd = self.spread.sd
        if sd.value is None:
            return (f"cannot tell: {sd.reason}",)
        told = f"spread {sd.text()}" if sd.low is not None else f"spread {sd.value:.2f}"
        shown = ", ".join(f"{self._amount(one.change)}: {_cases(one)}" for one in self.needs)
        parts = [f"{told}, {self.spread.source}", f"cases to see a change of {shown}"]
        if self.margin_cases is not None:
            parts.append(
                f"cases to rule out a drop of {self._amount(self.margin)}, if nothing changed: "
                f"about {self.margin_cases:,}"
            )
        if self.detectable is None and self.cases is not None:
            parts.append(f"{counted(self.cases, 'case')} see no change, however large")
        if self.detectable is not None and self.cases is not None:
            most = self.detectable_high
            unsure = f" (at worst {self._amount(most)})" if most is not None else ""
            parts.append(
                f"{self.cases:,} cases see a change of {self._amount(self.detectable)}{unsure} "
                f"four times in five"
            )
        if len(self.gains) > 1:
            more = ", ".join(f"{x.repeats}: {self._amount(x.detectable)}" for x in self.gains)
            parts.append(f"the same by repeats a case: {more}")
        return tuple(parts)

    @property
    def sentence(self) -> str:
        """The lines as one."""
        return "; ".join(self.lines())

    def frame(self) -> pd.DataFrame:
        """One row per change.

        Columns: unit, target (str), spread (in the unit), change (in the unit), cases, fewest,
        most (int; the last two by the interval of the spread, missing where it was assumed).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        rows = [
            (
                self.spread.unit, self.spread.target, self.spread.sd.value,
                one.change, one.cases, one.fewest, one.most,
            )
            for one in self.needs
        ]  # fmt: skip
        names = ["unit", "target", "spread", "change", "cases", "fewest", "most"]
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype({"cases": "Int64", "fewest": "Int64", "most": "Int64"})

    def gains_frame(self) -> pd.DataFrame:
        """One row per number of repeats: repeats (int), spread, detectable (in the unit)."""
        import pandas as pd  # heavy, see frame

        rows = [(one.repeats, one.spread, one.detectable) for one in self.gains]
        return pd.DataFrame(rows, columns=["repeats", "spread", "detectable"])

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        sd = self.spread.sd
        return {
            "question": self.question,
            "answer": self.sentence,
            "unit": self.spread.unit,
            "target": self.spread.target,
            "spread": sd.value,
            "spread_low": sd.low,
            "spread_high": sd.high,
            "measured": self.spread.measured,
            "needs": [
                {"change": one.change, "cases": one.cases, "fewest": one.fewest, "most": one.most}
                for one in self.needs
            ],
            "margin": self.margin,
            "margin_cases": self.margin_cases,
            "cases": self.cases,
            "detectable": self.detectable,
            "detectable_high": self.detectable_high,
            "repeats": [
                {"repeats": one.repeats, "spread": one.spread, "detectable": one.detectable}
                for one in self.gains
            ],
            "assumption": self.assumption,
            "method": self.method,
        }

    def _repr_html_(self) -> str:
        return answer_html(self)

    def _amount(self, value: float) -> str:
        return amount(value, self.spread.unit)


def plan_cases(
    spread: Spread,
    *,
    changes: Sequence[float] | None = None,
    margin: float | None = None,
    cases: int | None = None,
    repeats: int | None = None,
    effect: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> CasesNeeded:
    """How many paired cases it takes to see a change, and what the cases at hand can see.

    Parameters
    ----------
    spread : Spread
        From `spread_of_runs`, `spread_of_repeats` or `assumed_spreads`.
    changes : sequence of float, optional
        In the unit of the spread: shares from 0 to 1 (5 points are 0.05), or scale units.
    margin : float, optional
        The drop that a `no_worse` clause has to rule out.
    cases : int, optional
        Cases of the suite; those behind the spread by default.
    repeats : int, optional
        Repeats a case that are planned, where the spread knows what repeats would shrink.
    effect : float
        Design effect of scenarios that hold several cases: 1 + (size - 1) icc.
    level, power : float
        Of the two-sided interval and of the one-sided bound for the margin; the chance that the
        one excludes 0, and the other rules the margin out.

    Raises
    ------
    ConfigError
        If a change is 0 or larger than the scale, the margin is not above 0, or the power is not
        between 0 and 1.

    References
    ----------
    Miller (2024), arXiv:2411.00640, and the intervals that decide: see `stats.seeing.Moves`.

    Examples
    --------
    >>> from agenteval_kit.plan import assumed_spreads
    >>> plan = plan_cases(assumed_spreads("score")[1])
    >>> [need.cases for need in plan.needs]
    [503, 126, 63, 40]
    """
    if repeats is not None and repeats != spread.repeats:
        spread = spread.at(repeats)
    sd = spread.sd
    # Where nothing moved, 0 would promise that one case is enough: the upper end stands in.
    value = sd.high if sd.value == 0 else sd.value
    wanted = tuple(changes) if changes is not None else CHANGES[spread.unit]
    margin = MARGINS[spread.unit] if margin is None else margin
    n = cases if cases is not None else (sd.n or None)

    def seen(value: float | None) -> float | None:
        return None if value is None or not n else moves(value).change(n)

    def moves(value: float) -> Moves:
        return _moves(spread, value, spread.size, effect, level, power)

    needs: list[ChangeNeed] = []
    if value is not None:
        for change in wanted:
            ends = (None if end is None else moves(end).units(change) for end in (sd.low, sd.high))
            needs.append(ChangeNeed(change, moves(value).units(change), *ends))
    gains = _gains(spread, n, level, power, effect)
    return CasesNeeded(
        spread=spread,
        needs=tuple(needs),
        margin=margin,
        margin_cases=_for_margin(spread, value, margin, effect, level, power),
        cases=n,
        # The list by repeats names the same figure, which fewer repeats may have brought.
        detectable=next((x.detectable for x in gains if x.repeats == spread.repeats), seen(value)),
        detectable_high=seen(sd.high),
        gains=gains,
        assumption=_assumption(spread, effect),
        method=(
            f"(z of {100 * level:g} % + z of {100 * power:g} % power)² × spread² / change², paired "
            "by case, with the spread at least what the change itself brings; where few cases "
            "move, by the interval that will decide; for the margin a one-sided "
            f"{100 * (1 - level):.3g} % bound in place of the first z"
        ),
    )


def cases_table(unit: Unit) -> pd.DataFrame:
    """Cases to see a change while there is no history: one row per assumed spread.

    Columns: spread (float, in the unit), assuming (str), and one of int for each change.
    """
    import pandas as pd  # heavy, see CasesNeeded.frame

    rows = [
        {
            "spread": one.sd.value,
            "assuming": one.source.removeprefix("assumed: "),
            **{amount(need.change, unit): need.cases for need in plan_cases(one).needs},
        }
        for one in assumed_spreads(unit)
    ]
    return pd.DataFrame(rows)


def amount(value: float, unit: Unit) -> str:
    """A change as people say it: "5 points" of a share, "0.2" of a score."""
    return f"{value:.3g}" if unit == "score" else counted(float(f"{100 * value:.3g}"), "point")


def _moves(
    spread: Spread, sd: float, size: float, effect: float, level: float, power: float
) -> Moves:
    # Cases that move by all there is or not at all have Tango's interval; scores never do.
    settled = spread.unit != "score" and size >= spread.reach - 1e-9
    return Moves(sd, spread.reach, size, settled, effect, level, power)


def _for_margin(
    spread: Spread, sd: float | None, margin: float, effect: float, level: float, power: float
) -> int | None:
    if sd is None:
        return None
    worst, size = -spread.reach, spread.size
    found = units_to_rule_out(sd, margin, worst=worst, size=size, level=level, power=power)
    return None if found is None else math.ceil(effect * found)


def _gains(
    spread: Spread, n: int | None, level: float, power: float, effect: float
) -> tuple[RepeatsGain, ...]:
    made: list[RepeatsGain] = []
    # Those behind the figure above too, so that the list can be held against it.
    for repeats in sorted({*REPEATS, spread.repeats}) if n else ():
        value = spread.with_repeats(repeats)
        if value is None:
            continue
        size = spread.size_at(repeats)
        seen = _moves(spread, value, size, effect, level, power).change(n or 0)
        if seen is not None:
            # What fewer repeats show, more of them show too.
            best = min([seen, *(one.detectable for one in made)])
            made.append(RepeatsGain(repeats, value, best))
    return tuple(made)


def _assumption(spread: Spread, effect: float) -> str:
    if not spread.measured:
        told = "no history to measure the spread on; two runs of the suite would"
    elif spread.sd.value == 0:
        told = "no case moved between these two runs, so the upper end of the spread is used"
    elif spread.changes:
        told = "the next two runs differ, case by case, as these two did"
    else:
        told = "two runs differ by the noise of repeats alone; a real change adds to the spread"
    if effect != 1.0:
        told += f"; scenarios of several cases count {effect:g} times the cases"
    return told


def _cases(need: ChangeNeed) -> str:
    if need.fewest is None or need.most is None or need.fewest == need.most:
        return f"{need.cases:,}"
    return f"{need.cases:,} ({need.fewest:,} to {need.most:,})"
