"""How often people differ on a dimension, and how often the judge differs from them.

May not say how much is too much: the calibration does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from agenteval_kit.calibrate.ceiling import human_ceiling
from agenteval_kit.calibrate.compared import Compared, Disagreements, Scale
from agenteval_kit.calibrate.join import Key
from agenteval_kit.calibrate.standing import standing
from agenteval_kit.calibrate.weighing import equal_weights
from agenteval_kit.stats.estimate import Estimate

__all__ = ["OPEN", "Spread", "part_of", "share_of", "spread_of"]

OPEN = "of these transcripts: how they were drawn is open"
"""What is said of a share of transcripts whose chance of being drawn nobody noted."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How often anybody differs on one dimension; people with each other stand first.

    Attributes
    ----------
    people : Estimate
        Share of pairs of people that differ: what is missing to 1 from their exact agreement.
    state : str
        "rubric ambiguous" or "ceiling low, not settled", as the calibration says it; else empty.
    differs, milder, harsher : Estimate
        Share of a transcript's labels that are not the judge's level; that lie under it, the judge
        being milder; and that lie over it. Means over transcripts that both scored.
    labelled, unscored : int
        Transcripts with a label; those among them that were judged and got no score.
    only : int or None
        The level that the judge gave to every one of two transcripts or more; None where it
        gave several.
    """

    scale: Scale
    people: Estimate
    state: str
    differs: Estimate
    milder: Estimate
    harsher: Estimate
    labelled: int
    unscored: int
    only: int | None


def spread_of(found: Disagreements, dimension: str, *, seed: int = 0) -> Spread:
    """How often people differ on a dimension, and how often the judge differs from them.

    Raises
    ------
    ConfigError
        If nobody labelled it.
    """
    rows = found.of(dimension)
    both = [one for one in rows if one.judge is not None]

    def share(test: Callable[[int, int], bool]) -> Estimate:
        return share_of(both, [part_of(one, test) for one in both], seed=seed)

    scale = found.scales[dimension]
    labels = [row for one in rows for row in one.labels]
    # The levels of a scale that only labels tell of may be too few for a ceiling.
    ceiling = (
        human_ceiling(labels, scale.levels, scores=scale.scores, seed=seed)
        if len(scale.levels) > 1
        else None
    )
    return Spread(
        scale=scale,
        people=_rest(ceiling.agreement.exact) if ceiling is not None and ceiling.known
        else Estimate.undefined("nobody else labelled them" if ceiling else "one level only"),
        state=ceiling.state if ceiling is not None else "",
        differs=share(lambda human, judge: human != judge),
        milder=share(lambda human, judge: human < judge),
        harsher=share(lambda human, judge: human > judge),
        labelled=len(rows),
        unscored=sum(one.verdict is not None and one.judge is None for one in rows),
        only=both[0].judge if len(both) > 1 and len({one.judge for one in both}) == 1 else None,
    )  # fmt: skip


def part_of(one: Compared, test: Callable[[int, int], bool]) -> float:
    """The share of a transcript's labels for which a test of (person, judge) holds."""
    scores = list(one.humans.values())
    return sum(one.judge is not None and test(human, one.judge) for human in scores) / len(scores)


def share_of(
    rows: Sequence[Compared],
    parts: Sequence[float],
    *,
    seed: int,
    weighted: bool = True,
    nothing: str = "no transcript has both",
) -> Estimate:
    """The mean of shares over transcripts, by the way in which they were drawn."""
    from agenteval_kit.stats.mean import anchored_mean  # numpy
    from agenteval_kit.stats.proportion import wilson

    if not rows:
        return Estimate.undefined(nothing)
    weights: list[float] | None = None
    notes: tuple[str, ...] = ()
    if weighted:
        stand = standing({one.key: one.labels for one in rows}, _scored(rows))
        used = [at for at, one in enumerate(rows) if one.key in stand.weights]
        rows, parts = [rows[at] for at in used], [parts[at] for at in used]
        weights = [stand.weights[one.key] for one in rows]
        notes = (*stand.notes, "" if stand.known else OPEN)
    clusters: list[Hashable] = [one.case_id for one in rows]
    alike = weights is None or equal_weights(weights)
    repeated = len(set(clusters)) < len(clusters)
    if alike and not repeated and set(parts) <= {0.0, 1.0}:
        return wilson(round(sum(parts)), len(parts)).noted(*notes)
    return anchored_mean(
        parts, levels=(0.0, 1.0), clusters=clusters if repeated else None,
        weights=None if alike else weights, estimand="case", seed=seed,
    ).noted(*notes)  # fmt: skip


def _scored(rows: Sequence[Compared]) -> dict[Key, int | None]:
    """The run that these rows stand for: without what has no score, where they all have one."""
    scores = rows[0].scale.scores
    if any(one.judge is None for one in rows):
        return dict(scores)
    return {key: score for key, score in scores.items() if score is not None}


def _rest(agree: Estimate) -> Estimate:
    """What is missing to 1, with its interval turned round."""
    if agree.value is None or agree.low is None or agree.high is None:
        return agree
    return replace(agree, value=1 - agree.value, low=1 - agree.high, high=1 - agree.low)
