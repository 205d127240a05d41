"""How far people agree with each other: what a second person gives, to hold a judge against.

May not let a judge's score decide what people said: it only tells how much of the run a transcript
stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from agenteval_kit.calibrate.join import Key, times
from agenteval_kit.calibrate.standing import standing
from agenteval_kit.calibrate.weighing import equal_weights
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["Ceiling", "CeilingRule", "by_transcript", "human_ceiling"]

RubricState = Literal["", "rubric ambiguous", "ceiling low, not settled"]


@dataclass(frozen=True, slots=True)
class CeilingRule:
    """Where a rubric is called ambiguous: an upper bound at `exact` or less, or below `kappa`."""

    exact: float = 0.70
    kappa: float = 0.4


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People with each other on one dimension.

    Attributes
    ----------
    agreement : Agreement
        Two raters: one against the other. More: every pair both ways, each transcript counting
        one, which makes kappa Fleiss' kappa.
    alpha : Estimate
        Krippendorff's, ordinal, over all raters.
    raters, labelled, doubly : tuple of str, int, int
        Who labelled; transcripts with a label; those with labels of two people or more that the
        figures are of.
    state, reason : str
        "rubric ambiguous", "ceiling low, not settled", or empty; and why.
    rule : CeilingRule
        What it was held against.
    notes : tuple of str
        Doubts in plain words.
    """

    agreement: Agreement
    alpha: Estimate
    raters: tuple[str, ...]
    labelled: int
    doubly: int
    state: RubricState
    reason: str
    rule: CeilingRule
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether any transcript was labelled by two people."""
        return self.doubly > 0

    def sentence(self) -> str:
        """The ceiling in words, the state of the rubric first."""
        if not self.known:
            return f"ceiling unknown: {self.reason}"
        found = self.agreement
        chance = found.within_one_chance
        said = (
            f"people agree exactly on {found.exact.text()}, within one on "
            f"{found.within_one.text()}{'' if chance is None else f' (by chance {chance:.2f})'}, "
            f"quadratic kappa {found.kappa_quadratic.text()}; "
            f"{counted(self.doubly, 'transcript')} labelled "
            f"by two people or more"
        )
        if not self.state:
            return said
        wanted = f"wanted: exact above {self.rule.exact:g}, kappa {self.rule.kappa:g} or more"
        return f"{self.state.upper()}: {said} ({wanted})"


def human_ceiling(
    rows: Sequence[LabelRow],
    levels: Sequence[int],
    *,
    scores: Mapping[Key, int | None] | None = None,
    rule: CeilingRule | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Ceiling:
    """Agreement of people with each other, to be said before any number of a judge.

    Parameters
    ----------
    rows : sequence of LabelRow
        Labels with a score, of one dimension; of one rater and transcript the last counts.
    levels : sequence of int
        The scale.
    scores : mapping of (case, repeat) to int or None, optional
        The judge's over the whole run: each of its scores then gets the share of the run that it
        has, whatever samples the labels come from.
    rule : CeilingRule, optional
        Where a rubric is called ambiguous.
    level, seed
        Of the intervals.

    Returns
    -------
    Ceiling
        Undefined with the reason where nobody labelled what another person labelled. Of
        transcripts drawn from the run where any with two labels were, weighted by how much of it
        they stand for, and by scenario where one has several transcripts.

    References
    ----------
    As `stats.agreement` and `stats.alpha`; with more than two raters see Fleiss (1971),
    doi:10.1037/h0031619. Checked against statsmodels `cohens_kappa` and `fleiss_kappa`.
    """
    from agenteval_kit.stats.agreement import agreement  # numpy
    from agenteval_kit.stats.alpha import alpha

    said = by_transcript(rows)
    raters = tuple(sorted({row.rater for row in rows}))
    twice: dict[Key, list[LabelRow]] = {key: [] for key, own in said.items() if len(own) > 1}
    for row in rows:
        twice.get((row.case_id, row.repeat), []).append(row)
    stand = standing(twice, scores or {})
    double = {key: said[key] for key in stand.weights}
    first: list[float] = []
    second: list[float] = []
    weights: list[float] = []
    cases: list[str] = []
    both_ways = len(raters) > 2
    for key, own in double.items():
        pairs = list(combinations(sorted(own), 2))
        share = stand.weights[key] / len(pairs)
        for left, right in pairs:
            # Which of two people is called the first must not matter.
            for one, other in ((left, right), (right, left))[: 2 if both_ways else 1]:
                first.append(own[one])
                second.append(own[other])
                weights.append(share / 2 if both_ways else share)
                cases.append(key[0])
    plain = not both_ways and equal_weights(weights) and len(set(cases)) == len(cases)
    found = agreement(
        first,
        second,
        levels=levels,
        weights=None if plain else weights,
        clusters=None if plain else cases,
        level=level,
        seed=seed,
    )
    # What one person labelled says nothing of alpha; what was not drawn is left out as above.
    used = {key: own for key, own in said.items() if key in double or len(own) < 2}
    unequal = not equal_weights(stand.weights.values())
    repeated = len({case for case, _ in double}) < len(double)
    over_all = alpha(
        [[own.get(rater) for rater in raters] for own in used.values()],
        levels=levels,
        # What has one label is in no coincidence, whatever its weight.
        weights=[stand.weights.get(key, 1.0) for key in used] if unequal else None,
        clusters=[case for case, _ in used] if repeated else None,
        level=level,
        seed=seed,
    )
    rule = rule or CeilingRule()
    state, reason = _state(found, rule)
    if not double:
        reason = (
            "one person labelled" if len(raters) == 1 else
            "nobody labelled" if not raters else "no transcript has labels of two people"
        )  # fmt: skip
    notes = (
        *(f"people with each other: {note}" for note in stand.notes),
        times(
            len(said) - len(twice), "transcript has", "transcripts have", "one label only"
        ) if len(raters) > 1 else "",
        f"{len(raters)} raters: pairs pooled both ways" if both_ways and double else "",
    )  # fmt: skip
    return Ceiling(
        agreement=found,
        alpha=over_all,
        raters=raters,
        labelled=len(said),
        doubly=len(double),
        state=state,
        reason=reason,
        rule=rule,
        notes=tuple(note for note in notes if note),
    )


def by_transcript(rows: Iterable[LabelRow]) -> dict[Key, dict[str, int]]:
    """What each rater said of each transcript, in an order that no file decides."""
    said: dict[Key, dict[str, int]] = {}
    for row in rows:
        if row.score is not None:
            said.setdefault((row.case_id, row.repeat), {})[row.rater] = row.score
    return dict(sorted(said.items()))


def _state(found: Agreement, rule: CeilingRule) -> tuple[RubricState, str]:
    exact, kappa = found.exact, found.kappa_quadratic
    # Without an interval nothing is settled.
    if exact.value is None or exact.high is None:
        return "", exact.reason
    over: list[str] = []
    under: list[str] = []
    told = f"people agree exactly on {exact.text()}, wanted above {rule.exact:g}"
    if exact.high <= rule.exact:
        over.append(told)
    elif exact.value <= rule.exact:
        under.append(told)
    if kappa.value is not None and kappa.high is not None:
        told = f"kappa of people {kappa.text()}, wanted {rule.kappa:g} or more"
        if kappa.high < rule.kappa:
            over.append(told)
        elif kappa.value < rule.kappa:
            under.append(told)
    if over:
        return "rubric ambiguous", "; ".join(over)
    if under:
        return "ceiling low, not settled", "; ".join(under)
    return "", ""
