"""How many paired units show a change: by the intervals that decide where few move.

It may not promise more than its assumption: when a unit moves, it moves by one size, up or down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.proportion import normal_quantile
from agenteval_kit.stats.sizes import FEW_MOVED, MANY_MOVED, quantile_above_zero

__all__ = ["Moves", "least_spread"]

_EXACT, _NORMAL = 14, 28
"""Whole units' worth of change up to which the interval is asked, and from which a formula does.

In between one passes into the other, so that a smaller change never takes fewer units.
"""
_JAGGED = 40
"""Up to here the chance is jagged in the number of units; what fewer show, more show too."""


def least_spread(change: float, size: float) -> float:
    """The smallest spread with which units that move by `size` or not at all change on average.

    A change of 20 points in a share of cases that pass or fail takes one case in five that moves,
    so the differences spread by sqrt(0.2 - 0.04) = 0.4 at least.
    """
    return math.sqrt(max(0.0, abs(change) * (size - abs(change))))


@dataclass(frozen=True, slots=True)
class Moves:
    """How paired units move between two runs, and the interval that would show a change of them.

    Where many units move, normal theory gives the chance that the interval excludes 0. Where few
    do it is wrong both ways: the interval of scores then reaches to Gaffke's bound, and shows
    nothing of eight units; McNemar's z is discrete. There the chance is summed over every number
    of units that may rise and fall, each asked of the interval itself: of Tango's, or of the
    anchored one with its guard, read from the first four cumulants of its draws. A rise is taken,
    which the guard below makes the harder one to show.

    Attributes
    ----------
    sd
        Spread of the paired differences; where a change needs more (`least_spread`), that.
    reach
        The largest possible difference.
    size
        How far a unit moves when it moves.
    settled
        Whether units move by `reach` or not at all, so that Tango's interval decides.
    effect
        Design effect of scenarios that hold several units.
    level, power
        Of the interval, and the chance that it excludes 0.

    References
    ----------
    Miller (2024), arXiv:2411.00640, for the formula; Tango (1998); Gaffke (2005). Checked by
    simulation with the intervals of `paired_binary` and `paired_scores`.

    Examples
    --------
    >>> Moves(0.8, reach=3, size=1, settled=False).units(0.1)
    503
    >>> Moves(0.5, reach=3, size=1, settled=False).units(0.5)  # the formula says 8
    32
    """

    sd: float
    reach: float
    size: float
    settled: bool
    effect: float = 1.0
    level: float = 0.95
    power: float = 0.8

    def __post_init__(self) -> None:
        if not (self.sd >= 0 and 0 < self.power < 1 and self.effect > 0 and self.size > 0):
            raise ConfigError(
                f"how many cases: needs a spread of at least 0, 0 < power < 1 and a design effect "
                f"above 0, got {self.sd:g}, {self.power:g} and {self.effect:g}."
            )

    def units(self, change: float) -> int:
        """Units with which the change is shown this often.

        Raises
        ------
        ConfigError
            If the change is 0, or larger than any difference can be.
        """
        if not 0 < abs(change) <= self.reach:
            raise ConfigError(
                f"change: got {change:g}, wanted the change to be seen, at most {self.reach:g}."
            )
        low, high = 0, 1
        while self.chance(high, change) < self.power:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.chance(middle, change) >= self.power
            low, high = (low, middle) if enough else (middle, high)
        few = range(1, min(high, _JAGGED + 1))
        return next((n for n in few if self.chance(n, change) >= self.power), high)

    def change(self, units: int) -> float | None:
        """The smallest change that so many units show this often; None where they show none."""
        found: float | None = None
        for n in (units, *range(1, min(units, _JAGGED + 1))):
            if n < 1 or self.chance(n, self.reach if found is None else found) < self.power:
                continue
            low, high = 0.0, self.reach
            while high - low > 1e-6 * self.reach:
                middle = (low + high) / 2
                enough = self.chance(n, middle) >= self.power
                low, high = (low, middle) if enough else (middle, high)
            found = high if found is None else min(found, high)
        return found

    def chance(self, units: int, change: float) -> float:
        """The chance that the interval of so many units excludes 0, on the side of the change."""
        n, change = units / self.effect, abs(change)
        sd = max(self.sd, least_spread(change, self.size))
        size = min(self.reach, max(self.size, change, math.hypot(sd, change)))
        often = min(1.0, (sd**2 + change**2) / size**2)
        moved = n * often * size / self.reach
        weight = min(1.0, max(0.0, (_NORMAL - moved) / (_NORMAL - _EXACT)))
        chance = 0.0
        if weight < 1:
            z = normal_quantile(self.level)
            chance = (1 - weight) * (NormalDist().cdf(change * math.sqrt(n) / sd - z) if sd else 1)
        if weight and n >= 1:
            tilt = min(often, change / size)
            chance += weight * self._counted(int(n), (often + tilt) / 2, (often - tilt) / 2, size)
        return chance

    def _counted(self, n: int, rise: float, fall: float, size: float) -> float:
        """That chance, summed over how many units rise and how many fall."""
        up, down = (each.ravel() for each in np.meshgrid(_likely(n, rise), _likely(n, fall)))
        up, down = (each[up + down <= n] for each in (up, down))
        same = n - up - down
        logs = np.full(up.shape, math.lgamma(n + 1))
        for count, share in ((up, rise), (down, fall), (same, max(0.0, 1 - rise - fall))):
            # A share of 0 leaves only its count of 0.
            each = count * math.log(share) if share else np.where(count > 0, -math.inf, 0.0)
            logs += each - _log_factorials(count)
        if self.settled:
            shown = up - down > normal_quantile(self.level) * np.sqrt(up + down)
        else:
            shown = self._anchored(up, down, same, size)
        return float(np.exp(logs) @ shown)

    def _anchored(
        self, up: Counts, down: Counts, same: Counts, size: float
    ) -> npt.NDArray[np.bool]:
        seen = np.stack([down, same, up], axis=1).astype(float)
        apart = np.array([-size, 0.0, size])
        one_sided = (1 + self.level) / 2
        levels = _levels(self.reach)
        shown = quantile_above_zero(seen, apart, levels, 1 / len(levels), one_sided)
        guard = quantile_above_zero(seen, apart, np.array([-self.reach]), 1.0, one_sided)
        guarded = (up + down) * size / self.reach < (FEW_MOVED + MANY_MOVED) / 2
        return np.where(guarded, shown & guard, shown)


Counts = npt.NDArray[np.int64]


def _likely(n: int, share: float) -> Counts:
    """The numbers of n that have a chance worth counting."""
    mean = n * share
    wide = 5 * math.sqrt(mean * (1 - share)) + 4
    return np.arange(max(0, math.floor(mean - wide)), min(n, math.ceil(mean + wide)) + 1)


def _log_factorials(counts: Counts) -> Floats:
    first, last = int(counts.min()), int(counts.max())
    known = np.array([math.lgamma(one + 1) for one in range(first, last + 1)])
    return np.asarray(known[counts - first])


def _levels(reach: float) -> Floats:
    """The differences that the pseudo-case of the anchored interval spreads over."""
    if float(reach).is_integer():
        return np.arange(-reach, reach + 1)
    return np.array([-reach, 0.0, reach])
