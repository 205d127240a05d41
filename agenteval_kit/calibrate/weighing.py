"""Which labels may be put together, and how much of the run each of them stands for.

May not compare the judge with people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.records.calibrations import LabelPair

__all__ = ["Weighed", "equal_weights", "usable"]


def usable(pairs: Sequence[LabelPair], *, run: int = 0) -> tuple[list[LabelPair], tuple[str, ...]]:
    """The held-out pairs that may be put together, and what was left out for it.

    Labels drawn at random or by a verdict stand for the run; where there are any, those that were
    picked by what a person said, or come from elsewhere, are left out: no weight can mend them.
    Labels drawn evenly without their chance get it from `run`, the transcripts they were drawn
    from.
    """
    held = [one for one in pairs if one.half == "held out" and one.judge is not None]
    drawn = [one for one in held if one.design in ("uniform", "by_judge")]
    if not drawn:
        told = "labels were not drawn from the run: agreement on them is not that of the run"
        return held, (told,) if held else ()
    left = len(held) - len(drawn)
    notes = [times(left, "label", "labels", "not drawn from the run left out of the agreement")]
    unknown = sum(one.design == "by_judge" and one.inclusion is None for one in drawn)
    notes.append(
        times(
            unknown,
            "label was",
            "labels were",
            "drawn by a verdict without its inclusion probability: agreement is weighted by the "
            "judge's score at most, and may come out too high or too low",
        )
    )
    if unknown:
        return [one.model_copy(update={"inclusion": None}) for one in drawn], _told(notes)
    even = [one for one in drawn if one.inclusion is None]
    if even and len(even) < len(drawn) and run:
        # Of both halves: the other chances are those of the draw, before labels were parted.
        lots = {(one.case_id, one.repeat) for one in pairs
                if one.design == "uniform" and one.inclusion is None}  # fmt: skip
        chance = min(1.0, len(lots) / run)
        drawn = [
            one.model_copy(update={"inclusion": chance}) if one.inclusion is None else one
            for one in drawn
        ]
        notes.append(
            times(
                len(even),
                "label",
                "labels",
                f"drawn evenly without a chance beside it: taken to be {chance:.2g}",
            )
        )
    return drawn, _told(notes)


def _told(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if note)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Transcripts with the weight of each, and the share of the run that none stands for.

    Attributes
    ----------
    mass : dict of (case, repeat) to float
        All together the number of transcripts.
    missed : float
        Share of the run at scores of the judge that none of the transcripts has.
    """

    mass: dict[Key, float]
    missed: float

    @classmethod
    def of(
        cls,
        judge: Mapping[Key, int],
        chance: Mapping[Key, float],
        suite: Mapping[int, int] | None,
    ) -> Weighed:
        """Weigh by 1 over the chance; with `suite`, each judge score gets its share of the run."""
        weight = {key: 1 / chance[key] for key in judge}
        missed = 0.0
        if suite and weight:
            at: defaultdict[int, float] = defaultdict(float)
            for key, level in judge.items():
                at[level] += weight[key]
            weight = {key: one * suite[judge[key]] / at[judge[key]] for key, one in weight.items()}
            without = sum(count for level, count in suite.items() if level not in at)
            missed = without / sum(suite.values())
        total = sum(weight.values())
        return cls({key: len(weight) * one / total for key, one in weight.items()}, missed)

    def words(self, what: str, *, least: float = 0.0) -> str:
        """What is missed, where it is more than `least`; else empty."""
        return f"{self.missed:.0%} of the run {what}" if self.missed > least else ""


def equal_weights(weights: Collection[float]) -> bool:
    """Whether all weigh the same, to rounding."""
    return not weights or max(weights) - min(weights) < 1e-9 * max(weights)
