"""Disagreements by cell: what a person gave, what the judge gave, and the two anchors between.

May not say who is right: whether second readers side with the person or the judge is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agenteval_kit.calibrate.compared import Compared, Disagreements, Scale
from agenteval_kit.calibrate.spread import part_of, share_of
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

__all__ = ["Cell", "PeopleCell", "cells_of", "people_cells"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Labels at one level on transcripts that the judge put at another.

    Attributes
    ----------
    human, judge : int
        The two levels.
    labels : int
        How many labels.
    share : Estimate
        Of the labels of a transcript, the share in this cell; its mean over the transcripts that
        both scored. With one rater it is the share of transcripts, with Wilson's interval.
    rows : tuple of Compared
        The transcripts, those first of which the most labels lie here.
    near_person, near_judge, between : int
        What further people gave the same transcripts: nearer to this person's level than to the
        judge's, nearer to the judge's, or as near to both.
    second : Estimate
        Of those readings the share nearer to the person, as near to both counting half; undefined
        where nobody else read them.
    """

    scale: Scale
    human: int
    judge: int
    labels: int
    share: Estimate
    rows: tuple[Compared, ...]
    near_person: int
    near_judge: int
    between: int
    second: Estimate

    @property
    def steps(self) -> int:
        """Levels between the two."""
        return self.scale.steps(self.human, self.judge)

    @property
    def weight(self) -> float:
        """Share times distance: what the cells are ordered by."""
        return (self.share.value or 0.0) * self.steps

    @property
    def whose(self) -> str:
        """Whose reading the anchors let down: "judge misreads", "anchor ambiguous", or open."""
        if self.second.value is None:
            return "one reader only"
        if self.second.value == 0.5:
            return "as often as not"
        return "judge misreads" if self.second.value > 0.5 else "anchor ambiguous"

    @property
    def why(self) -> str:
        """`whose` in a sentence, with its numbers."""
        if self.second.value is None:
            return "nobody else read these: whether the anchor or the judge is at fault is open"
        half = ", as near to both counting half" if self.between else ""
        told = (
            f"{self.second.text(percent=True)} of second readings are nearer to {self.human} than "
            f"to the judge's {self.judge}{half} ({counted(self.second.n, 'scenario')})"
        )
        low, high = self.second.low, self.second.high
        if low is None or high is None or low <= 0.5 <= high:
            return f"{told}; too few to be sure"
        return told


@dataclass(frozen=True, slots=True)
class PeopleCell:
    """Transcripts that two people put at different levels, whatever the judge says.

    `share` is of the pairs of people on a transcript, its mean over transcripts that two people or
    more scored.
    """

    scale: Scale
    low: int
    high: int
    pairs: int
    share: Estimate
    rows: tuple[Compared, ...]

    @property
    def weight(self) -> float:
        """Share times distance."""
        return (self.share.value or 0.0) * self.scale.steps(self.low, self.high)


def cells_of(found: Disagreements, dimension: str, *, seed: int = 0) -> tuple[Cell, ...]:
    """The (person, judge) cells off the diagonal, by share times distance.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    rows = [one for one in found.of(dimension) if one.judge is not None]
    scale = found.scales[dimension]
    pairs = {(human, one.judge) for one in rows for human in one.humans.values()}
    made = [
        _cell(rows, scale, human, judge, seed)
        for human, judge in pairs
        if judge is not None and human != judge
    ]
    return tuple(sorted(made, key=lambda one: (-one.weight, -one.steps, one.human, one.judge)))


def people_cells(found: Disagreements, dimension: str, *, seed: int = 0) -> tuple[PeopleCell, ...]:
    """The pairs of levels that two people gave one transcript, by share times distance.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension.
    """
    rows = [one for one in found.of(dimension) if len(one.labels) > 1]
    scale = found.scales[dimension]
    counts = [_level_pairs(one) for one in rows]
    made = []
    for low, high in sorted({pair for count in counts for pair in count if pair[0] != pair[1]}):
        parts = [count.get((low, high), 0) / sum(count.values()) for count in counts]
        here = sorted(
            (-part, one.key, one) for part, one in zip(parts, rows, strict=True) if part > 0
        )
        pairs = sum(count.get((low, high), 0) for count in counts)
        share = share_of(rows, parts, seed=seed)
        made.append(PeopleCell(scale, low, high, pairs, share, tuple(one for *_, one in here)))
    return tuple(sorted(made, key=lambda one: (-one.weight, one.low, one.high)))


def _cell(rows: Sequence[Compared], scale: Scale, human: int, judge: int, seed: int) -> Cell:
    parts = [part_of(one, lambda h, j: (h, j) == (human, judge)) for one in rows]
    here = [one for one, part in zip(rows, parts, strict=True) if part > 0]
    here.sort(key=lambda one: (-part_of(one, lambda h, j: (h, j) == (human, judge)), one.key))
    sides = {-1: 0, 0: 0, 1: 0}
    labels = 0
    seconds: list[float] = []
    read: list[Compared] = []
    for one in here:
        scores = list(one.humans.values())
        mine = scores.count(human)
        labels += mine
        # Of each label here, on whose side the other people of that transcript are.
        scores.remove(human)
        if not scores:
            continue
        side = [_nearer(scale, other, human, judge) for other in scores]
        for each in side:
            sides[each] += mine
        seconds.append((sum(side) / len(side) + 1) / 2)
        read.append(one)
    return Cell(
        scale=scale,
        human=human,
        judge=judge,
        labels=labels,
        share=share_of(rows, parts, seed=seed),
        rows=tuple(here),
        near_person=sides[1],
        near_judge=sides[-1],
        between=sides[0],
        # Not weighted by the draw: who sides with whom, on these transcripts.
        second=share_of(read, seconds, seed=seed, weighted=False, nothing="nobody else read these"),
    )


def _nearer(scale: Scale, other: int, human: int, judge: int) -> int:
    """1 where a level is nearer to the person's, -1 nearer to the judge's, 0 as near to both."""
    to_person, to_judge = scale.steps(other, human), scale.steps(other, judge)
    return (to_judge > to_person) - (to_judge < to_person)


def _level_pairs(one: Compared) -> dict[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for first, second in combinations(sorted(one.humans.values()), 2):
        counts[(first, second)] = counts.get((first, second), 0) + 1
    return counts
