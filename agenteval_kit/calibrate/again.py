"""What measuring the judge again takes, once an anchor is rewritten.

May not count labels that were looked at here: they are for mending, not for measuring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agenteval_kit.calibrate.compared import Compared, Disagreements
from agenteval_kit.calibrate.trust import stats_rule
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.raters import person_accuracy, true_shares
from agenteval_kit.stats.trust import chance_trusted
from agenteval_kit.text import counted

__all__ = ["Recalibration", "recalibration"]

_ASSUMED = 0.8
_TIMES = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Recalibration:
    """Fresh labels that a decision on trust takes after an anchor was rewritten.

    Attributes
    ----------
    looked_at : int
        Labelled transcripts, whose labels serve for tuning from now on.
    left : int
        Transcripts of the run in scenarios that nobody labelled on this dimension.
    chances : tuple of (int, Estimate)
        Numbers of fresh, doubly labelled transcripts, each with the chance that a judge as good as
        a person is found trusted, and the interval of the simulation.
        Empty where people agree too rarely for such a chance to mean anything.
    labels : int or None
        The smallest number tried that reaches `target`; None if none does.
    accuracy : float or None
        How often a person gives the level that is right, as `source` says.
    """

    dimension: str
    looked_at: int
    left: int
    rule: TrustRule
    chances: tuple[tuple[int, Estimate], ...]
    target: float
    labels: int | None
    accuracy: float | None
    source: str

    def lines(self) -> tuple[str, ...]:
        """The answer in words."""
        stale = (
            f"A rewritten anchor makes trust in {self.dimension} stale, and what was looked "
            f"at here counts as tuning: {counted(self.looked_at, 'labelled transcript')}."
        )
        least = self.rule.min_labels
        if not self.chances:
            return (
                stale,
                f"To decide again: {least} fresh transcripts at least, each read by "
                f"{self.rule.raters}. How likely they settle it cannot be told: {self.source}.",
            )
        if self.labels is not None:
            need = f"about {self.labels:,} fresh transcripts, each read by {self.rule.raters}"
        else:
            most = max(n for n, _ in self.chances)
            need = f"more than {most:,} fresh transcripts, or more failures among them"
        short = ""
        if self.left < (self.labels or least):
            short = (
                f"; this run has {self.left:,} in scenarios that nobody labelled, so run more cases"
            )
        shown = ", ".join(f"{n:,}: {one.text(percent=True)}" for n, one in self.chances)
        return (
            stale,
            f"To decide again: {need}{short}.",
            "Chance that a judge as good as a person is found trusted, by fresh transcripts: "
            f"{shown} ({self.source}).",
        )


def recalibration(
    found: Disagreements,
    dimension: str,
    *,
    rule: TrustRule | None = None,
    target: float = 0.8,
    replicates: int = 200,
    seed: int = 0,
) -> Recalibration:
    """How many fresh labels it takes to measure the judge again, and how likely they settle it.

    Parameters
    ----------
    found : Disagreements
        What was looked at.
    dimension : str
        Whose anchor is to be rewritten.
    rule : TrustRule, optional
        The bar's.
    target : float
        The chance that is wanted.
    replicates, seed : int
        Simulated calibrations at each number, and their seed.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    rows = found.of(dimension)
    rule = rule or TrustRule()
    touched = {one.case_id for one in rows}
    said = _shares(rows, found.scales[dimension].levels)
    accuracy, source = _accuracy(rows, said)
    shares = [] if accuracy is None else true_shares(said, accuracy).tolist()
    tried = [] if accuracy is None else [rule.min_labels * times for times in _TIMES]
    chances = [(n, _chance(shares, accuracy or 0, n, rule, replicates, seed)) for n in tried]
    return Recalibration(
        dimension=dimension,
        looked_at=len(rows),
        left=sum(case_id not in touched for case_id, _ in found.run.done()),
        rule=rule,
        chances=tuple(chances),
        target=target,
        labels=next((n for n, one in chances if (one.value or 0) >= target), None),
        accuracy=accuracy,
        source=source,
    )


def _chance(
    shares: Sequence[float], accuracy: float, n: int, rule: TrustRule, replicates: int, seed: int
) -> Estimate:
    found = chance_trusted(
        shares, accuracy, n, rule=stats_rule(rule), replicates=replicates, draws=500, seed=seed
    )
    return wilson(round(found["trusted"] * replicates), replicates)


def _shares(rows: Sequence[Compared], levels: Sequence[int]) -> list[float]:
    # A level that nobody gave yet may still come; each transcript has one say, whoever read it.
    mass = {level: 1 / len(levels) for level in levels}
    for one in rows:
        for score in one.humans.values():
            mass[score] += 1 / len(one.humans)
    return [mass[level] for level in levels]


def _accuracy(rows: Sequence[Compared], said: Sequence[float]) -> tuple[float | None, str]:
    """How often a person gives the right level, from how often two people give the same one."""
    several = [list(one.humans.values()) for one in rows if len(one.humans) > 1]
    if not several:
        return _ASSUMED, f"people taken to be right {100 * _ASSUMED:.0f} % of the time: one rater"
    agree = sum(map(_agreeing, several)) / len(several)
    told = f"two people agree on {100 * agree:.0f} % of {counted(len(several), 'transcript')}"
    right = person_accuracy(said, agree)
    if right is None:
        return None, f"{told}, too few to take one of them for right; mend the anchors first"
    return right, (
        f"people taken to be right {100 * right:.0f} % of the time: {told}, and an error goes to "
        "a neighbouring level"
    )


def _agreeing(scores: Sequence[int]) -> float:
    n = len(scores)
    return sum(count * (count - 1) for count in Counter(scores).values()) / (n * (n - 1))
