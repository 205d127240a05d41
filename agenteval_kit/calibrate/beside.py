"""The judge beside people on held-out transcripts: agreement, and the gap to a second person.

May not use a transcript that was read to mend the rubric, and may not decide trust.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.records.calibrations import LabelPair

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["Beside", "judge_beside_people", "usable"]

_HIGH = 0.8


@dataclass(frozen=True, slots=True)
class Beside:
    """The judge beside people on held-out transcripts.

    Attributes
    ----------
    agreement : Agreement
        Judge (rows) with people (columns), each transcript counting one however many labelled it.
    alpha : Estimate
        Krippendorff's, with the judge as one more rater.
    gap : Estimate
        Exact agreement of the judge with people minus that of people with each other; each end of
        the interval is a one-sided bound.
    kappa_gap : Estimate
        The same in quadratic kappa.
    transcripts, outside : int
        Held-out transcripts with a label and a score; those of them on which the judge or a
        person left the commonest level.
    commonest : int or None
        The commonest level of people.
    always : float or None
        The exact agreement that always saying the commonest level would reach.
    shares : tuple of float
        Share of the people's labels at each level.
    drawn : bool
        Whether the labelled transcripts were drawn from the run, so that they stand for it.
    """

    agreement: Agreement
    alpha: Estimate
    gap: Estimate
    kappa_gap: Estimate
    transcripts: int
    outside: int
    commonest: int | None
    always: float | None
    shares: tuple[float, ...]
    drawn: bool
    notes: tuple[str, ...] = ()

    @property
    def dominated(self) -> str:
        """That exact agreement is high only because one level dominates, in words; or empty."""
        exact = self.agreement.exact
        if exact.value is None or exact.low is None or self.always is None:
            return ""
        if exact.value < _HIGH or self.always < exact.low:
            return ""
        return (
            f"exact agreement {exact.text()} is high only because one level dominates: always "
            f"saying {self.commonest} would reach {self.always:.2f}"
        )


def judge_beside_people(
    pairs: Sequence[LabelPair],
    levels: Sequence[int],
    *,
    suite: Mapping[int, int] | None = None,
    looks: int = 1,
    seed: int = 0,
) -> Beside:
    """How far the judge agrees with people, and how far below a second person it is.

    Parameters
    ----------
    pairs : sequence of LabelPair
        Of one dimension and judge; the held-out ones are used, see `usable`.
    levels : sequence of int
        The scale.
    suite : mapping of int to int, optional
        Transcripts of the run at each score of the judge. Where labels were drawn by a verdict,
        each score gets its share of the run: inclusion probabilities tell it within one sample,
        and not over several.
    looks : int
        Looks at these scenarios: each interval errs at most once in 20 over all of them
        (Bonferroni), the gap's at each end.
    seed : int
        Of the intervals.
    """
    from agenteval_kit.stats.agreement import agreement  # numpy
    from agenteval_kit.stats.alpha import alpha

    kept, notes = usable(pairs)
    said: dict[Key, dict[str, int]] = {}
    judge: dict[Key, int] = {}
    chance: dict[Key, float] = {}
    for pair in sorted(kept, key=lambda one: (one.case_id, one.repeat, one.rater)):
        assert pair.judge is not None  # `usable` leaves out what has no score
        key = (pair.case_id, pair.repeat)
        said.setdefault(key, {})[pair.rater] = pair.human
        judge[key] = pair.judge
        chance.setdefault(key, pair.inclusion or 1.0)
    rows = [(key, human) for key, own in said.items() for human in own.values()]
    mass, hole = _masses(judge, chance, suite)
    weights = [mass[key] / len(said[key]) for key, _ in rows]
    cases = [key[0] for key, _ in rows]
    plain = len(set(weights)) <= 1 and len(set(cases)) == len(cases)
    found = agreement(
        [judge[key] for key, _ in rows],
        [human for _, human in rows],
        levels=levels,
        weights=None if plain else weights,
        clusters=None if plain else cases,
        level=1 - 0.05 / looks,
        seed=seed,
    )
    raters = sorted({pair.rater for pair in kept})
    shares: defaultdict[int, float] = defaultdict(float)
    for (_, human), weight in zip(rows, weights, strict=True):
        shares[human] += weight
    all_shares = tuple(shares[one] / len(said) for one in levels) if said else ()
    commonest = max(levels, key=lambda one: shares[one]) if said else None
    return Beside(
        agreement=found,
        alpha=alpha(
            [[judge[key], *(own.get(rater) for rater in raters)] for key, own in said.items()],
            levels=levels,
            level=1 - 0.05 / looks,
            seed=seed,
        ).noted("the judge as one more rater"),
        gap=_gap(said, judge, mass, looks, seed),
        kappa_gap=_kappa_gap(said, judge, mass, levels, looks, seed),
        transcripts=len(said),
        outside=_outside(said, judge, weights, rows),
        commonest=commonest,
        always=None if commonest is None else max(all_shares),
        shares=all_shares,
        drawn=all(one.design in ("uniform", "by_judge") for one in kept),
        notes=(*notes, hole) if hole else notes,
    )


def usable(pairs: Sequence[LabelPair]) -> tuple[list[LabelPair], tuple[str, ...]]:
    """The held-out pairs that may be put together, and what was left out for it.

    Labels drawn at random or by a verdict stand for the run; where there are any, those that were
    picked by what a person said, or come from elsewhere, are left out: no weight can mend them.
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
            "drawn by a verdict without its inclusion probability: agreement is not weighted, and "
            "quadratic kappa comes out too high",
        )
    )
    if unknown:
        drawn = [one.model_copy(update={"inclusion": None}) for one in drawn]
    return drawn, tuple(note for note in notes if note)


def _masses(
    judge: Mapping[Key, int], chance: Mapping[Key, float], suite: Mapping[int, int] | None
) -> tuple[dict[Key, float], str]:
    """The weight of each transcript, all together their number; and what no label stands for."""
    weight = {key: 1 / one for key, one in chance.items()}
    hole = ""
    if suite and len(set(chance.values())) > 1:
        at: defaultdict[int, float] = defaultdict(float)
        for key, level in judge.items():
            at[level] += weight[key]
        weight = {key: one * suite[judge[key]] / at[judge[key]] for key, one in weight.items()}
        missed = sum(count for level, count in suite.items() if level not in at)
        if missed:
            hole = f"{missed / sum(suite.values()):.0%} of the run has a judge score without labels"
    total = sum(weight.values())
    return {key: len(weight) * one / total for key, one in weight.items()}, hole


def _outside(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    weights: Sequence[float],
    rows: Sequence[tuple[Key, int]],
) -> int:
    used: defaultdict[int, float] = defaultdict(float)
    for (key, human), weight in zip(rows, weights, strict=True):
        used[human] += weight
        used[judge[key]] += weight
    if not used:
        return 0
    common = max(sorted(used), key=lambda one: used[one])
    return sum({judge[key], *own.values()} != {common} for key, own in said.items())


def _gap(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    mass: dict[Key, float],
    looks: int,
    seed: int,
) -> Estimate:
    from agenteval_kit.stats.trust import ceiling_gap

    # With three people or more: every pair of them, averaged within the scenario.
    rows = [
        (key, own[left], own[right])
        for key, own in said.items()
        for left, right in combinations(sorted(own), 2)
    ]
    cases = [key[0] for key, _, _ in rows]
    weights = [mass[key] for key, _, _ in rows]
    found = ceiling_gap(
        [judge[key] for key, _, _ in rows],
        [one for _, one, _ in rows],
        [other for _, _, other in rows],
        weights=weights if len(set(weights)) > 1 else None,
        clusters=cases if len(set(cases)) < len(cases) else None,
        level=1 - 0.10 / looks,
        seed=seed,
    )
    return found.noted("each end is a one-sided bound") if found.low is not None else found


def _kappa_gap(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    mass: dict[Key, float],
    levels: Sequence[int],
    looks: int,
    seed: int,
) -> Estimate:
    from agenteval_kit.stats.estimate import Estimate
    from agenteval_kit.stats.trust import kappa_gap

    double = {key: own for key, own in said.items() if len(own) > 1}
    raters = sorted({rater for own in double.values() for rater in own})
    reason = ""
    if not double:
        reason = "ceiling unknown: no doubly labelled transcripts"
    elif len(raters) > 2:
        reason = "more than two raters: see the gap in exact agreement"
    elif len({mass[key] for key in double}) > 1 or len({key[0] for key in double}) < len(double):
        reason = "not for sampling weights or several transcripts of one scenario"
    if reason:
        return Estimate.undefined(reason, n=len(double), level=1 - 0.10 / looks)
    return kappa_gap(
        [judge[key] for key in double],
        [own[raters[0]] for own in double.values()],
        [own[raters[1]] for own in double.values()],
        levels=levels,
        level=1 - 0.10 / looks,
        seed=seed,
    )
