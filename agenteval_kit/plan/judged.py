"""What judges would say if a suite were run again: whole verdicts, drawn from those of a run.

May not ask a judge or apply a bar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agenteval_kit.judge.result import JudgedDimension
from agenteval_kit.judge.scores import DimensionScores, VerdictScore, judged_scores
from agenteval_kit.plan.urn import Counts, Urn, concentration
from agenteval_kit.records import JudgeStamp
from agenteval_kit.runs import Run
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean

__all__ = ["JudgedBehaviour", "JudgedDraws", "Said", "observed_judging"]


class Said(NamedTuple):
    """One verdict without its case: the score, what each seat said, and the flags."""

    score: int | None
    seats: tuple[int | None, ...]
    again: tuple[int | None, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedBehaviour:
    """The verdicts that each case would get on one dimension.

    Attributes
    ----------
    stamp : JudgeStamp
        Who judged, on which scale.
    said : tuple of Said
        The columns of the urn.
    urn : Urn
        What each case would get.
    shares : tuple of float
        Share of the scores at each level, lowest first.
    """

    stamp: JudgeStamp
    said: tuple[Said, ...]
    urn: Urn
    shares: tuple[float, ...]

    @property
    def dimension(self) -> str:
        """What is judged."""
        return self.stamp.dimension

    @property
    def levels(self) -> tuple[int, ...]:
        """The scale, lowest first."""
        return self.stamp.levels


def observed_judging(run: Run) -> tuple[JudgedBehaviour, ...]:
    """What the verdicts of a run show, by dimension, each under one judge.

    Raises
    ------
    ConfigError
        If a verdict of the run cannot be read.
    """
    return tuple(_behaviour(one) for one in judged_scores(run) if one.judged.n)


@dataclass(slots=True)
class JudgedDraws:
    """Drawn verdicts as the gate reads them; each is built once, however often it is drawn."""

    behaviour: JudgedBehaviour
    intervals: bool
    _known: dict[tuple[int, int, int], VerdictScore] = field(default_factory=dict)

    def scores(self, drawn: Counts, fallen: Sequence[bool]) -> DimensionScores:
        """One dimension of a run: repeats by case (rows) and verdict (columns).

        Cases of `fallen` are a level lower in all their repeats, as far as there is one below.
        """
        behaviour = self.behaviour
        verdicts: list[VerdictScore] = []
        means: list[float] = []
        for case, (row, falls) in enumerate(zip(drawn, fallen, strict=True)):
            mine: list[VerdictScore] = []
            for at in row.nonzero()[0].tolist():
                for _ in range(int(row[at])):
                    mine.append(self._verdict(case, len(mine), at, falls))
            verdicts += mine
            scored = [one.score for one in mine if one.score is not None]
            if scored:
                means.append(sum(scored) / len(scored))
        return DimensionScores(self._judged(verdicts, means, behaviour.levels), tuple(verdicts))

    def _verdict(self, case: int, repeat: int, at: int, falls: bool) -> VerdictScore:
        key = (case, repeat, at if not falls else -1 - at)
        if key not in self._known:
            said = self.behaviour.said[at]
            if falls:
                said = _lower(said, self.behaviour.levels)
            self._known[key] = VerdictScore(
                str(case), repeat, said.score, said.reason, said.seats, said.again, said.flags,
                same_model=False,
            )  # fmt: skip
        return self._known[key]

    def _judged(
        self, verdicts: Sequence[VerdictScore], means: Sequence[float], levels: tuple[int, ...]
    ) -> JudgedDimension:
        scores = [one.score for one in verdicts]
        n = sum(score is not None for score in scores)
        estimate = Estimate.undefined("nothing was scored")
        if means and self.intervals:
            estimate = anchored_mean(means, levels=levels)
        elif means:
            mean = sum(means) / len(means)
            estimate = Estimate(mean, None, None, len(means), reason="not asked for")
        return JudgedDimension(
            stamp=self.behaviour.stamp,
            estimate=estimate,
            worst=None,
            distribution=Counter(score for score in scores if score is not None),
            n=n,
            unscored=len(scores) - n,
            missing=0,
            reasons={},
            disagreement=None,
            splits=0,
            flags={},
            diag="",
        )


def _behaviour(found: DimensionScores) -> JudgedBehaviour:
    levels = found.stamp.levels
    seats = max((len(one.seats) for one in found.verdicts), default=1)
    plain = [Said(level, (level,) * seats) for level in levels]
    seen = [Said(one.score, one.seats, one.again, one.flags, one.reason) for one in found.verdicts]
    said = tuple(dict.fromkeys([*plain, *seen]))
    columns = {one: at for at, one in enumerate(said)}
    rows = {case: at for at, case in enumerate(dict.fromkeys(x.case_id for x in found.verdicts))}
    own = np.zeros((len(rows), len(said)))
    for one, what in zip(found.verdicts, seen, strict=True):
        own[rows[one.case_id], columns[what]] += 1
    # One pseudo-case spread over the scale, as in the anchored Bayesian bootstrap.
    anchors = np.zeros(len(said))
    anchors[: len(levels)] = 1 / len(levels)
    scored = [(float(x.score), x.case_id) for x in found.verdicts if x.score is not None]
    alpha = concentration([([score for score, _ in scored], [case for _, case in scored])])
    many = Counter(score for score, _ in scored)
    return JudgedBehaviour(
        found.stamp,
        said,
        Urn(own, alpha, anchors),
        tuple(many[float(level)] / len(scored) for level in levels),
    )


def _lower(said: Said, levels: tuple[int, ...]) -> Said:
    below = dict(zip(levels[1:], levels, strict=False))

    def step(score: int | None) -> int | None:
        return None if score is None else below.get(score, score)

    return said._replace(
        score=step(said.score),
        seats=tuple(step(one) for one in said.seats),
        again=tuple(step(one) for one in said.again),
    )
