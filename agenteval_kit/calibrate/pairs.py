"""Which of two is better: people with each other, then a judge with people, on the same pairs.

May not call a judge good: it is read beside what people reach with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.records.preferences import PreferenceRow
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MajorityAgreement", "PairAgreement", "VoteAgreement", "pair_agreement"]

TIE = 0.5
SIDES = {0.0: "first", TIE: "tie", 1.0: "second"}
"""What is said of a pair; the side whose name comes first in the alphabet is the first."""

Pair = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class VoteAgreement:
    """Votes beside votes on the same pair, each two of them counting one.

    Attributes
    ----------
    votes, decisive_votes : int
        Two votes on one pair; those of them where neither is a tie.
    exact : Estimate
        Share that says the same, a tie being an answer like the other two.
    decisive : Estimate
        The same where neither is a tie.
    kappa : Estimate
        Chance-corrected, unweighted, over first, tie and second.
    """

    votes: int
    decisive_votes: int
    exact: Estimate
    decisive: Estimate
    kappa: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name."""
        return {
            "exact, ties counted": self.exact,
            "exact, ties dropped": self.decisive,
            "kappa": self.kappa,
        }


@dataclass(frozen=True, slots=True)
class MajorityAgreement:
    """A judge beside what more than half of the people said, two of them at least.

    Attributes
    ----------
    pairs : int
        Pairs with a majority that the judge was asked about.
    no_majority, unscored : int
        Pairs that people split on, or that fewer than two voted on; of `pairs`, those without an
        outcome of the judge.
    accuracy : Estimate
        Share of the scored pairs with the majority's outcome.
    unscored_as_ties : Estimate
        The same with each unscored pair called a tie, as some sources count it: a reply that
        nobody could read is then right wherever people saw no difference.
    kappa : Estimate
        Of the scored pairs.
    table : mapping of (str, str) to int
        Pairs by the majority's outcome and the judge's ("unscored" among the latter).
    """

    pairs: int
    no_majority: int
    unscored: int
    accuracy: Estimate
    unscored_as_ties: Estimate
    kappa: Estimate
    table: Mapping[tuple[str, str], int]

    def confusion(self) -> pd.DataFrame:
        """Pairs: one row an outcome of the majority, one column an outcome of the judge."""
        import pandas as pd  # heavy: only callers that want a frame pay for it

        rows = list(SIDES.values())
        made = [[self.table.get((row, one), 0) for one in (*rows, "unscored")] for row in rows]
        return pd.DataFrame(made, index=rows, columns=[*rows, "unscored"])

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name."""
        return {
            "accuracy": self.accuracy,
            "accuracy, unscored as ties": self.unscored_as_ties,
            "kappa": self.kappa,
        }


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """People with each other, and a judge with people.

    Attributes
    ----------
    pairs, cases : int
        Pairs that anybody voted on; the scenarios that they belong to.
    people : tuple of str
        Who voted.
    ceiling : VoteAgreement
        People with each other, every two of them on every pair. Where all of them voted on every
        pair its kappa is Fleiss' kappa.
    by_two : mapping of (str, str) to Estimate
        Cohen's kappa of each two people, where all of them voted on every pair; else empty.
    votes : VoteAgreement or None
        The judge with each vote.
    majority : MajorityAgreement or None
        The judge with the majority.
    """

    pairs: int
    cases: int
    people: tuple[str, ...]
    ceiling: VoteAgreement
    by_two: Mapping[tuple[str, str], Estimate]
    votes: VoteAgreement | None = None
    majority: MajorityAgreement | None = None

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name, the ceiling first."""
        named: dict[str, VoteAgreement | MajorityAgreement | None] = {
            "people": self.ceiling,
            "judge and a person": self.votes,
            "judge and the majority": self.majority,
        }
        found = {
            f"{who}: {name}": one
            for who, part in named.items()
            if part is not None
            for name, one in part.estimates().items()
        }
        twos = {f"{a} and {b}: kappa": one for (a, b), one in self.by_two.items()}
        return {**found, **twos}

    def frame(self) -> pd.DataFrame:
        """One row a statistic, with the columns of `Estimate`."""
        return estimates_frame(self.estimates())

    def _repr_html_(self) -> str:
        return (
            f"<p>{counted(self.pairs, 'pair')} of {counted(self.cases, 'case')}, people: "
            f"{len(self.people)}. n counts the cases that an estimate has: all pairs "
            "of one case are one scenario.</p>"
            f"{estimates_html(self.estimates())}"
        )


def pair_agreement(
    votes: Iterable[PreferenceRow],
    *,
    judge: Iterable[PreferenceRow] | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PairAgreement:
    """How far people agree on which of two is better, and a judge with them.

    All pairs of one case are one scenario: intervals are drawn over cases. Votes without an
    outcome are left out; verdicts without one are counted, apart.

    Parameters
    ----------
    votes : iterable of PreferenceRow
        One row a person and pair; `PreferenceRow.judge` names the person.
    judge : iterable of PreferenceRow, optional
        One row a pair.
    level, draws, seed
        Of the intervals and of the resampling.

    Raises
    ------
    ConfigError
        If a person or the judge has two rows on one pair.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, section 4.2, for agreement with and without ties; Fleiss
    (1971), doi:10.1037/h0031619. Checked against statsmodels `cohens_kappa` and `fleiss_kappa`,
    and against counts in pandas, on MT-Bench and PandaLM.
    """
    said = {
        pair: told
        for pair, each in _by_pair(votes).items()
        if (told := {who: one for who, one in each.items() if one is not None})
    }
    people = tuple(sorted({who for each in said.values() for who in each}))
    drawn = _Draws(level, draws, seed)
    twos = [
        (pair, one, two)
        for pair, each in said.items()
        for one, two in combinations([each[who] for who in sorted(each)], 2)
    ]
    whole = all(len(each) == len(people) for each in said.values())
    by_two = {
        (a, b): drawn.beside([(pair, each[a], each[b]) for pair, each in said.items()]).kappa
        for a, b in (combinations(people, 2) if whole else ())
    }
    # Neither of two people is the first: each two count both ways, half each.
    ceiling = drawn.beside(twos, both_ways=True)
    beside, majority = None, None
    if judge is not None:
        verdicts = {pair: one for pair, each in _by_pair(judge, alone=True).items()
                    for one in each.values()}  # fmt: skip
        beside = drawn.beside(
            [
                (pair, verdict, vote)
                for pair, each in said.items()
                if (verdict := verdicts.get(pair)) is not None
                for vote in each.values()
            ]
        )
        majority = _majority(said, verdicts, drawn)
    cases = len({pair[0] for pair in said})
    return PairAgreement(len(said), cases, people, ceiling, by_two, beside, majority)


def _by_pair(
    rows: Iterable[PreferenceRow], *, alone: bool = False
) -> dict[Pair, dict[str, float | None]]:
    found: dict[Pair, dict[str, float | None]] = {}
    for row in rows:
        first, second = sorted((row.old, row.new))
        each = found.setdefault((row.case_id, row.repeat, first, second), {})
        if row.judge in each or (alone and each):
            who, more = ("the judge", " and one judge") if alone else (f'"{row.judge}"', "")
            raise ConfigError(
                f'{who} has two rows on case "{row.case_id}", repeat {row.repeat}, {second} '
                f"against {first}; pass the rows of one criterion{more}"
            )
        score = row.score
        each[row.judge] = score if score is None or row.new == second else 1 - score
    return found


@dataclass(frozen=True, slots=True)
class _Draws:
    level: float
    draws: int
    seed: int

    def beside(
        self, twos: Sequence[tuple[Pair, float, float]], *, both_ways: bool = False
    ) -> VoteAgreement:
        from agenteval_kit.stats.agreement import agreement  # numpy

        ways = [*twos, *((pair, two, one) for pair, one, two in twos)] if both_ways else twos
        found = agreement(
            [one for _, one, _ in ways],
            [two for _, _, two in ways],
            levels=tuple(SIDES),
            weights=[0.5] * len(ways) if both_ways else None,
            clusters=[pair[0] for pair, _, _ in ways],
            level=self.level, draws=self.draws, seed=self.seed,
        )  # fmt: skip
        firm = [(pair, one == two) for pair, one, two in twos if TIE not in (one, two)]
        return VoteAgreement(len(twos), len(firm), found.exact, self.share(firm), found.kappa)

    def share(self, told: Sequence[tuple[Pair, bool]]) -> Estimate:
        """The share that is true, every one counting alike."""
        from agenteval_kit.stats.mean import anchored_mean  # numpy

        return anchored_mean(
            [float(one) for _, one in told],
            levels=(0.0, 1.0),
            clusters=[pair[0] for pair, _ in told],
            estimand="case",
            level=self.level,
            draws=self.draws,
            seed=self.seed,
        )


def _majority(
    said: Mapping[Pair, Mapping[str, float]], verdicts: Mapping[Pair, float | None], drawn: _Draws
) -> MajorityAgreement:
    asked = [pair for pair in said if pair in verdicts]
    most = {pair: one for pair in asked if (one := _most(said[pair].values())) is not None}
    scored = [(pair, one, two) for pair, one in most.items() if (two := verdicts[pair]) is not None]
    filled = [(pair, one == (TIE if verdicts[pair] is None else verdicts[pair]))
              for pair, one in most.items()]  # fmt: skip
    table = Counter(
        (SIDES[one], "unscored" if (two := verdicts[pair]) is None else SIDES[two])
        for pair, one in most.items()
    )
    return MajorityAgreement(
        pairs=len(most),
        no_majority=len(asked) - len(most),
        unscored=len(most) - len(scored),
        accuracy=drawn.share([(pair, one == two) for pair, one, two in scored]),
        unscored_as_ties=drawn.share(filled),
        kappa=drawn.beside(scored).kappa,
        table=dict(table),
    )


def _most(votes: Iterable[float]) -> float | None:
    counted = Counter(votes)
    value, most = counted.most_common(1)[0]
    # One person is no majority.
    return value if counted.total() >= 2 and 2 * most > counted.total() else None
