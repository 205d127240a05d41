"""The judge beside people on held-out transcripts: agreement, and the gap to a second person.

May not use a transcript that was read to mend the rubric, and may not decide trust.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Key
from agenteval_kit.calibrate.weighing import Weighed, equal_weights, usable
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import LabelPair

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["Beside", "judge_beside_people"]

_HIGH = 0.8
_SHOWN = TrustRule().at_least
_MATERIAL = 0.05
_ENOUGH = 10
_LEFT = 30


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
    transcripts, doubly, outside : int
        Held-out transcripts with a label and a score; those of them that two people labelled;
        those on which the judge or a person left the commonest level.
    scenarios, scenarios_doubly, scenarios_outside : int
        The scenarios that each of these are of: what trust counts, since repeats of one scenario
        are no evidence of another.
    labels, raters : int
        On these transcripts: what was said, and by how many people.
    commonest : int or None
        The commonest level of people.
    always : float or None
        The exact agreement that always saying the commonest level would reach.
    shares : tuple of float
        Share of the people's labels at each level.
    drawn : bool
        Whether the labelled transcripts were drawn from the run, so that they stand for it.
    run : int
        Transcripts of the run that the judge scored; 0 where the run is not known.
    chances : tuple of float
        How the chances compare of being labelled at each level of the judge, all 1 where the draw
        was even; empty where that is not known.
    constant : int or None
        The judge's one score, where it gave no other and people used several levels.
    open, gap_open : tuple of str
        What labels, and what second readings, leave out of the run: labels like these settle
        nothing, however many.
    without : (str, float) or None
        Of three raters or more the one without whom the gap is lowest, and the gap over the pairs
        of the others; None where fewer than 30 transcripts would be left, whoever is left out.
    """

    agreement: Agreement
    alpha: Estimate
    gap: Estimate
    kappa_gap: Estimate
    transcripts: int
    doubly: int
    outside: int
    scenarios: int
    scenarios_doubly: int
    scenarios_outside: int
    labels: int
    raters: int
    commonest: int | None
    always: float | None
    shares: tuple[float, ...]
    drawn: bool
    run: int = 0
    chances: tuple[float, ...] = ()
    constant: int | None = None
    open: tuple[str, ...] = ()
    gap_open: tuple[str, ...] = ()
    without: tuple[str, float] | None = None
    notes: tuple[str, ...] = ()

    def dominated(self, rule: TrustRule) -> str:
        """That exact agreement may be the work of one common level, in words; or empty.

        Where the lower bound of quadratic kappa is what the rule asks of a kappa, the judge has
        shown more than that. Under a rule on another statistic, which is high wherever one level
        is common, this is said however low the agreement, else where it is 0.8 or more.
        """
        exact, kappa = self.agreement.exact, self.agreement.kappa_quadratic
        if exact.value is None or exact.low is None or self.always is None:
            return ""
        asked = rule.at_least if rule.beyond_chance else _SHOWN
        shown = kappa.low is not None and kappa.low >= asked
        high = exact.value >= _HIGH or not rule.beyond_chance
        if not high or self.always < exact.low or shown:
            return ""
        return (
            f"exact agreement {exact.text()} is not shown to lie above what always saying "
            f"{self.commonest} would reach, {self.always:.2f}"
        )

    def saying_one(self) -> str:
        """That the judge said one thing of everything, in words; or empty."""
        if self.constant is None:
            return ""
        return (
            f"a constant judge: it gave {self.constant} to all {self.transcripts:,} held-out "
            "transcripts; read its replies before the anchors are touched or more is labelled"
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
        Transcripts of the run at each score of the judge. Where labels were drawn from the run
        each score gets its share of it: inclusion probabilities tell that within one sample, and
        not over several, nor of what is left once others were set apart for tuning.
    looks : int
        Looks at these scenarios; each interval errs as seldom as `stats.decision.look_error`
        says, the gap's at each end.
    seed : int
        Of the intervals.
    """
    from agenteval_kit.stats.agreement import agreement, heavy_scenario  # numpy
    from agenteval_kit.stats.alpha import alpha
    from agenteval_kit.stats.decision import look_error

    kept, notes = usable(pairs, run=sum((suite or {}).values()))
    drawn = all(one.design in ("uniform", "by_judge") for one in kept)
    blind = any(one.design == "by_judge" and one.inclusion is None for one in kept)
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
    every = Weighed.of(judge, chance, suite if drawn else None)
    twice = Weighed.of(
        {key: score for key, score in judge.items() if len(said[key]) > 1},
        chance,
        suite if drawn else None,
    )
    weights = [every.mass[key] / len(said[key]) for key, _ in rows]
    cases = [key[0] for key, _ in rows]
    plain = equal_weights(weights) and len(set(cases)) == len(cases)
    error = look_error(looks)
    found = agreement(
        [judge[key] for key, _ in rows],
        [human for _, human in rows],
        levels=levels,
        weights=None if plain else weights,
        clusters=None if plain else cases,
        level=1 - error,
        seed=seed,
    )
    raters = sorted({pair.rater for pair in kept})
    several = len({case for case, _ in said}) < len(said)
    repeated = [case for case, _ in said] if several else None
    shares: defaultdict[int, float] = defaultdict(float)
    for (_, human), weight in zip(rows, weights, strict=True):
        shares[human] += weight
    all_shares = tuple(shares[one] / len(said) for one in levels) if said else ()
    commonest = max(levels, key=lambda one: shares[one]) if said else None
    outside = _outside(said, judge, weights, rows)
    unread = "has a judge score without labels"
    alone = "has a judge score without a second reading"
    # Where nobody read anything, nobody read it twice.
    second = twice if twice.mass and twice.missed > every.missed else Weighed({}, 0.0)
    return Beside(
        agreement=found,
        alpha=alpha(
            [[judge[key], *(own.get(rater) for rater in raters)] for key, own in said.items()],
            levels=levels,
            weights=None
            if equal_weights(every.mass.values())
            else [every.mass[key] for key in said],
            clusters=repeated,
            level=1 - error,
            seed=seed,
        ).noted("the judge as one more rater"),
        gap=_gap(said, judge, twice.mass, 2 * error, seed),
        kappa_gap=_kappa_gap(said, judge, twice.mass, levels, 2 * error, seed),
        transcripts=len(said),
        doubly=len(twice.mass),
        outside=len(outside),
        scenarios=len({case for case, _ in said}),
        scenarios_doubly=len({case for case, _ in twice.mass}),
        scenarios_outside=len({case for case, _ in outside}),
        labels=len(rows),
        raters=len(raters),
        commonest=commonest,
        always=None if commonest is None else max(all_shares),
        shares=all_shares,
        drawn=drawn,
        run=sum((suite or {}).values()),
        chances=_chances(
            judge,
            every.mass,
            levels,
            even=all(one.design == "uniform" for one in kept),
        )
        if said and drawn and (suite or not blind)
        else (),
        constant=_constant(judge, shares),
        open=_said(
            "the chances of labels drawn by a verdict are not known" if blind else "",
            every.words(unread, least=_MATERIAL),
        ),
        gap_open=_said(second.words(alone, least=_MATERIAL)),
        without=_without(said, judge, chance, suite if drawn else None),
        notes=_said(
            *notes, every.words(unread), second.words(alone), heavy_scenario(cases, weights)
        ),
    )


def _said(*words: str) -> tuple[str, ...]:
    return tuple(one for one in words if one)


def _chances(
    judge: Mapping[Key, int], mass: Mapping[Key, float], levels: Sequence[int], *, even: bool
) -> tuple[float, ...]:
    if even:
        return (1.0,) * len(levels)
    labels = Counter(judge.values())
    stand: defaultdict[int, float] = defaultdict(float)
    for key, score in judge.items():
        stand[score] += mass[key]
    # A level without labels is drawn like the one next to it.
    near = [min(labels, key=lambda other: abs(other - one)) for one in levels]
    return tuple(labels[one] / stand[one] for one in near)


def _constant(judge: Mapping[Key, int], shares: Mapping[int, float]) -> int | None:
    # A handful of transcripts may well have one score.
    given = set(judge.values())
    several = sum(share > 0 for share in shares.values()) > 1
    return next(iter(given)) if len(given) == 1 and several and len(judge) >= _ENOUGH else None


def _outside(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    weights: Sequence[float],
    rows: Sequence[tuple[Key, int]],
) -> set[Key]:
    used: defaultdict[int, float] = defaultdict(float)
    for (key, human), weight in zip(rows, weights, strict=True):
        used[human] += weight
        used[judge[key]] += weight
    if not used:
        return set()
    common = max(sorted(used), key=lambda one: used[one])
    return {key for key, own in said.items() if {judge[key], *own.values()} != {common}}


def _gap(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    mass: dict[Key, float],
    error: float,
    seed: int,
) -> Estimate:
    from agenteval_kit.stats.trust import ceiling_gap

    # With three people or more: every pair of them, each transcript counting one.
    rows = [
        (key, own[left], own[right])
        for key, own in said.items()
        for left, right in combinations(sorted(own), 2)
    ]
    cases = [key[0] for key, _, _ in rows]
    pairs = Counter(key for key, _, _ in rows)
    weights = [mass[key] / pairs[key] for key, _, _ in rows]
    found = ceiling_gap(
        [judge[key] for key, _, _ in rows],
        [one for _, one, _ in rows],
        [other for _, _, other in rows],
        weights=None if equal_weights(weights) else weights,
        clusters=cases if len(set(cases)) < len(cases) else None,
        level=1 - error,
        seed=seed,
    )
    return found.noted("each end is a one-sided bound") if found.low is not None else found


def _without(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    chance: Mapping[Key, float],
    suite: Mapping[int, int] | None,
) -> tuple[str, float] | None:
    # One rater who clicks at random disagrees with every other, and so hides a judge that does.
    raters = sorted({rater for own in said.values() for rater in own})
    found: list[tuple[float, str]] = []
    for out in raters if len(raters) > 2 else ():
        left = {
            key: [human for rater, human in own.items() if rater != out]
            for key, own in said.items()
            if len(own.keys() - {out}) > 1
        }
        if len(left) >= _LEFT:
            mass = Weighed.of({key: judge[key] for key in left}, chance, suite).mass
            gaps = [mass[key] * _gap_of(judge[key], own) for key, own in left.items()]
            found.append((sum(gaps) / len(left), out))
    lowest = min(found, default=None)
    return None if lowest is None else (lowest[1], lowest[0])


def _gap_of(judge: int, people: Sequence[int]) -> float:
    alike = sum(comb(many, 2) for many in Counter(people).values())
    return people.count(judge) / len(people) - alike / comb(len(people), 2)


def _kappa_gap(
    said: dict[Key, dict[str, int]],
    judge: dict[Key, int],
    mass: dict[Key, float],
    levels: Sequence[int],
    error: float,
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
    elif not equal_weights(mass.values()) or len({key[0] for key in double}) < len(double):
        reason = "not for sampling weights or several transcripts of one scenario"
    if reason:
        return Estimate.undefined(reason, n=len(double), level=1 - error)
    return kappa_gap(
        [judge[key] for key in double],
        [own[raters[0]] for own in double.values()],
        [own[raters[1]] for own in double.values()],
        levels=levels,
        level=1 - error,
        seed=seed,
    )
