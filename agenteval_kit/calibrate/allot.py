"""How many transcripts of each score of the judge to label next, and why so many.

May not draw, nor choose by what a person said of a transcript that is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from agenteval_kit.calibrate.join import Joined, Key

__all__ = ["allot", "reason_of"]


def allot(
    one: Joined,
    said: Mapping[Key, Mapping[str, int]],
    room: Mapping[int, int],
    n: int,
    pass_at: float | None,
) -> tuple[dict[int, int], set[int]]:
    """How many transcripts of each judge score, and the scores that trust asked for."""
    from agenteval_kit.stats.agreement import RARE_BELOW  # numpy

    sizes = Counter(score for score in one.scores.values() if score is not None)
    at: dict[int, list[float]] = {level: [] for level in one.levels}
    everyone: list[float] = []
    for key, own in said.items():
        score = one.scores.get(key)
        if score is not None:
            values = [_value(human, pass_at) for human in own.values()]
            at[score].append(sum(values) / len(values))
            everyone.append(at[score][-1])
    ends = [_value(level, pass_at) for level in one.levels]
    weight = {
        level: (sizes[level] / max(sum(sizes.values()), 1)) ** 2 * _spread(values, everyone, ends)
        for level, values in at.items()
    }
    common = max(one.levels, key=lambda level: sizes[level])
    rare = sum(len(values) for level, values in at.items() if level != common)
    drawn = dict.fromkeys(one.levels, 0)
    first: set[int] = set()
    for _ in range(n):
        open_ = [level for level in one.levels if drawn[level] < room[level]]
        wanted = [level for level in open_ if level != common] if rare < RARE_BELOW else []
        if not open_:
            break

        def gain(level: int) -> float:
            have = len(at[level]) + drawn[level] + 1
            return weight[level] * (1 / have - 1 / (have + 1))

        best = max(wanted or open_, key=gain)
        drawn[best] += 1
        if wanted:
            first.add(best)
        rare += best != common
    return drawn, first


def _value(score: int, pass_at: float | None) -> float:
    return float(score) if pass_at is None else float(score >= pass_at)


def _spread(values: Sequence[float], everyone: Sequence[float], ends: Sequence[float]) -> float:
    # One pseudo-label where a score has few: half over the scale, half as people scored the rest.
    def variance(points: Sequence[float]) -> float:
        if not points:
            return 0.0
        mean = sum(points) / len(points)
        return sum((x - mean) ** 2 for x in points) / len(points)

    prior = (variance(ends) + variance(everyone or ends)) / 2
    return (variance(values) * len(values) + prior) / (len(values) + 1)


def reason_of(
    level: int, count: int, have: int, size: int, first: set[int], pass_at: float | None
) -> str:
    """Why so many transcripts of one score are drawn, in words."""
    what = "corrected mean" if pass_at is None else f"share at {pass_at:g} or more"
    why = (
        "trust asks for 10 labelled transcripts outside the commonest score"
        if level in first
        else f"labels there narrow the {what} most"
    )
    return f"{count:,} more, {have:,} of {size:,} labelled so far; {why}"
