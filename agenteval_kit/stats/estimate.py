"""The one shape in which a number leaves the statistics: value, interval, n, method, doubt.

It may not compute a statistic and loads neither numpy nor pandas.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that cannot be read without its interval.

    Attributes
    ----------
    value
        The estimate; None where the statistic is undefined, and then `reason` says why.
    low, high
        Ends of the interval; None where there is no interval.
    n
        Number of independent units the estimate rests on (cases, or scenarios where clustered).
    level
        Nominal level of the interval.
    method
        How the interval was made, in a few words.
    seed
        Seed of the resampling, None for closed formulas.
    diag
        Doubts in plain words, joined by "; " ("3 unscored", "n = 1").
    reason
        Why there is no value, or no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    level: float = 0.95
    method: str = ""
    seed: int | None = None
    diag: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None:
            if not self.reason:
                raise ValueError("an Estimate without a value needs a reason")
            if self.low is not None or self.high is not None:
                raise ValueError("an Estimate without a value cannot have an interval")
            return
        numbers = [self.value, self.low, self.high]
        if any(x is not None and not math.isfinite(x) for x in numbers):
            raise ValueError(f"an Estimate holds finite numbers or None, got {numbers}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.low is None or self.high is None:
            return
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value {self.value} outside its interval {self.low}, {self.high}")

    @classmethod
    def undefined(
        cls, reason: str, *, n: int = 0, level: float = 0.95, method: str = "", diag: str = ""
    ) -> Estimate:
        """An estimate that could not be computed, with the reason in plain words."""
        return cls(None, None, None, n, level=level, method=method, diag=diag, reason=reason)

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool | None:
        """Whether a value lies outside the interval; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= value <= self.high

    def noted(self, *remarks: str) -> Estimate:
        """The same estimate with remarks added to `diag`; empty remarks are left out."""
        parts = [part for part in (self.diag, *remarks) if part]
        return replace(self, diag="; ".join(parts))

    def text(self, percent: bool = False) -> str:
        """The estimate as people read it: "0.73 (0.61 to 0.83)".

        Digits follow the interval: the last one shown is at most a quarter of its half-width, so
        that an interval never prints as a single point.
        """
        if self.value is None:
            return f"not computable: {self.reason}"
        scale, unit, fewest = (100.0, " %", 0) if percent else (1.0, "", 2)
        digits = digits_shown(self.half_width, scale=scale, fewest=fewest)

        def shown(x: float) -> str:
            # Adding 0.0 turns a rounded "-0.00" into "0.00".
            return f"{round(x * scale, digits) + 0.0:.{digits}f}"

        if self.low is None or self.high is None:
            why = f": {self.reason}" if self.reason else ""
            return f"{shown(self.value)}{unit} (no interval{why})"
        return f"{shown(self.value)}{unit} ({shown(self.low)} to {shown(self.high)}{unit})"

    def frame(self) -> pd.DataFrame:
        """One row: value, low, high, n, level, method, seed, diag, reason."""
        return estimates_frame({"": self}).drop(columns="name")

    def _repr_html_(self) -> str:
        doubt = "; ".join(part for part in (f"n = {self.n:,}", self.method, self.diag) if part)
        return f"<p>{html.escape(self.text())} <small>{html.escape(doubt)}</small></p>"


def digits_shown(half_width: float | None, *, scale: float, fewest: int) -> int:
    """Digits that an interval asks for: the last at most a quarter of its half-width."""
    if not half_width:
        return fewest
    return min(max(math.ceil(-math.log10(half_width * scale / 4) - 1e-9), fewest), 9)


def estimates_frame(estimates: Mapping[str, Estimate]) -> pd.DataFrame:
    """Estimates as a table, one row a name.

    Columns: name, then those of `Estimate`; None (undefined) becomes a missing value.
    """
    import pandas as pd  # heavy: only callers that want a frame pay for it

    rows = [{"name": name, **asdict(one)} for name, one in estimates.items()]
    return pd.DataFrame(rows, columns=["name", *(field.name for field in fields(Estimate))])


def estimates_in(result: object) -> dict[str, Estimate]:
    """The estimates among the fields of a result, by field name."""
    if not is_dataclass(result):
        raise TypeError(f"expected a result dataclass, got {type(result).__name__}")
    found: dict[str, Any] = {f.name: getattr(result, f.name) for f in fields(result)}
    return {name: value for name, value in found.items() if isinstance(value, Estimate)}


def estimates_html(estimates: Mapping[str, Estimate]) -> str:
    """Estimates as an escaped HTML table, one row a name."""
    rows = "".join(
        f"<tr><th scope='row'>{html.escape(name.replace('_', ' '))}</th>"
        f"<td>{html.escape(one.text())}</td>"
        f"<td>{one.n:,}</td><td>{html.escape(one.method)}</td><td>{html.escape(one.diag)}</td></tr>"
        for name, one in estimates.items()
    )
    heads = "".join(f"<th scope='col'>{h}</th>" for h in ("", "estimate", "n", "method", "doubts"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
