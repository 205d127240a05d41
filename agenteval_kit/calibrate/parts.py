"""A run parted by what held-out labels stand for, what was read for tuning, and what nobody read.

May not estimate what held-out labels say: it puts the parts together again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.records.calibrations import DimensionCalibration

if TYPE_CHECKING:
    from agenteval_kit.stats.corrected import Corrected
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """A run by what is known of its transcripts.

    Attributes
    ----------
    rest : mapping of (case, repeat) to int or None
        The judge's scores of what held-out labels stand for.
    read : mapping of (case, repeat) to list of int
        What people said of judged transcripts of scenarios that could not be held out.
    unread : mapping of (case, repeat) to int
        The judge's scores of those among them that nobody gave a level.
    """

    rest: Mapping[Key, int | None]
    read: Mapping[Key, list[int]]
    unread: Mapping[Key, int]

    @classmethod
    def of(
        cls,
        entry: DimensionCalibration,
        run: str,
        scores: Mapping[Key, int | None],
        *,
        drawn: bool,
    ) -> Parts:
        """Part the scores of a run by what its calibration could hold out.

        Parameters
        ----------
        entry : DimensionCalibration
            Where the labels stand.
        run : str
            Whose scores these are: what was read for tuning in another run says nothing here.
        scores : mapping of (case, repeat) to int or None
            Of the judge.
        drawn : bool
            Whether the labels were drawn from a run; others stand for no part of one.
        """
        apart: set[str] = set()
        if drawn and entry.apart is not None:
            apart = set(entry.apart)
        elif drawn:
            # A file of before it was kept: what was not held out may have been used up.
            apart = {pair.case_id for pair in entry.pairs if pair.half == "tuning"}
            apart -= {pair.case_id for pair in entry.pairs if pair.half == "held out"}
        rest = {key: score for key, score in scores.items() if key[0] not in apart}
        read: dict[Key, list[int]] = {}
        for pair in entry.pairs if entry.is_of(run) else ():
            key = (pair.case_id, pair.repeat)
            if key in scores and key not in rest:
                read.setdefault(key, []).append(pair.human)
        judged = {key: one for key, one in scores.items() if one is not None and key not in rest}
        return cls(
            rest,
            {key: said for key, said in read.items() if key in judged},
            {key: one for key, one in judged.items() if key not in read},
        )

    def together(
        self,
        rest: Corrected,
        others: Corrected,
        every: Corrected,
        *,
        levels: Sequence[int],
        pass_at: float | None,
    ) -> Corrected:
        """The whole run: what was read counts as people said, what was not as anything it may be.

        Parameters
        ----------
        rest, others, every : Corrected
            The labels projected on `rest`; on `rest` and `unread`; on the whole run, of which only
            the judge's own figures are right.
        """
        mean = self._whole(rest.mean, others.mean, rest.suite, list(self.read.values()), levels)
        rate = rest.pass_rate
        if pass_at is not None:
            passed = [[float(one >= pass_at) for one in said] for said in self.read.values()]
            rate = self._whole(rate, others.pass_rate, rest.suite, passed, (0, 1))
        return replace(
            rest,
            mean=mean,
            pass_rate=rate,
            raw_mean=every.raw_mean,
            raw_pass_rate=every.raw_pass_rate,
            suite=every.suite,
        )

    def _whole(
        self,
        rest: Estimate,
        others: Estimate,
        size: int,
        said: Sequence[Sequence[float]],
        levels: Sequence[float],
    ) -> Estimate:
        from agenteval_kit.stats.mean import anchored_mean

        if rest.value is None or rest.low is None or rest.high is None or others.value is None:
            return rest if rest.value is None else others
        cases = [case for case, _ in self.read]
        read = anchored_mean(
            [sum(own) / len(own) for own in said],
            levels=levels,
            clusters=cases if 1 < len(set(cases)) < len(cases) else None,
            estimand="case",
            level=rest.level,
            seed=(rest.seed or 0) + 7,
        )
        known, under, over = read.value or 0.0, 0.0, 0.0
        if read.value is not None and read.low is not None and read.high is not None:
            under, over = known - read.low, read.high - known
        unread = len(self.unread)
        total = size + unread + len(said)
        of_rest, of_read, of_unread = size / total, len(said) / total, unread / total
        value = (of_rest + of_unread) * others.value + of_read * known
        # Nobody chose these transcripts for what is unsure in the others: their deviations add up
        # as squares (Zou and Donner, 2008, doi:10.1002/sim.3095). What nobody read adds its range.
        middle = of_rest * rest.value + of_read * known
        low = middle - hypot(of_rest * (rest.value - rest.low), of_read * under)
        high = middle + hypot(of_rest * (rest.high - rest.value), of_read * over)
        low, high = low + of_unread * min(levels), high + of_unread * max(levels)
        return replace(rest, value=value, low=min(low, value), high=max(high, value))

    def words(self, levels: Sequence[int]) -> tuple[str, ...]:
        """What was done with transcripts that held-out labels do not stand for."""
        judged = sum(one is not None for one in self.rest.values())
        total = judged + len(self.read) + len(self.unread)
        of = f"of {total} judged transcripts"
        told = (
            times(
                len(self.read),
                f"{of} was",
                f"{of} were",
                "read for tuning and count as people said, under whatever anchors they read; "
                f"agreement is of the other {judged + len(self.unread)}",
            ),
            times(
                len(self.unread),
                f"{of} is",
                f"{of} are",
                "of scenarios read for tuning and have no label: the interval holds whatever they "
                f"may be, {min(levels)} to {max(levels)}; label them to narrow it",
            ),
        )
        return tuple(one for one in told if one)
