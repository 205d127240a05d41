"""How far two judges of pairs agree, or a judge and people: by pair, both sides named.

May not call a judge good: agreement is read beside the same figures between people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.records.preferences import PreferenceRow
from agenteval_kit.stats.estimate import Estimate, estimates_frame, estimates_html

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PreferenceAgreement", "preference_agreement"]


@dataclass(frozen=True, slots=True)
class PreferenceAgreement:
    """A judge beside others on the same pairs.

    Attributes
    ----------
    votes, cases, dropped : int
        Votes of the others on pairs that the judge settled too; their scenarios; votes without a
        partner or an outcome.
    exact : Estimate
        Share of votes with the judge's outcome, ties included.
    decisive : Estimate
        The same among votes where neither side is a tie.
    ties_half : Estimate
        1 where the two agree, 1/2 where one of them is a tie, 0 where they oppose each other.
    kappa : Estimate
        Cohen's, unweighted, over old, tie and new.
    """

    votes: int
    cases: int
    dropped: int
    exact: Estimate
    decisive: Estimate
    ties_half: Estimate
    kappa: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name."""
        return {
            "exact": self.exact,
            "decisive": self.decisive,
            "ties half": self.ties_half,
            "kappa": self.kappa,
        }

    def frame(self) -> pd.DataFrame:
        """One row a statistic."""
        return estimates_frame(self.estimates())

    def _repr_html_(self) -> str:
        return estimates_html(self.estimates())


def preference_agreement(
    judge: Iterable[PreferenceRow],
    others: Iterable[PreferenceRow],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PreferenceAgreement:
    """Agreement of one judge's rows with those of others, a vote each.

    Pairs are matched by case, repeat and the two versions, whichever of them is called old. All
    votes on one case are one scenario: they are not independent.

    Parameters
    ----------
    judge : iterable of PreferenceRow
        One row a pair.
    others : iterable of PreferenceRow
        Labels, or votes of several people.
    level, draws, seed
        Of the intervals and of the resampling.

    Raises
    ------
    ConfigError
        If the judge has two rows on one pair.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, section 4.2. With labels that know no tie `ties_half` is
    the accuracy averaged over both orders of Zeng et al. (2024), arXiv:2310.07641.
    """
    from agenteval_kit.stats.agreement import agreement  # numpy
    from agenteval_kit.stats.mean import anchored_mean
    from agenteval_kit.stats.pairwise import win_rate_clustered

    settled: dict[tuple[str, int, frozenset[str]], PreferenceRow] = {}
    for row in judge:
        pair = _pair(row)
        if pair in settled:
            raise ConfigError(
                f'the judge has two rows on case "{row.case_id}", repeat {row.repeat}, '
                f"{row.new} against {row.old}; pass the rows of one criterion and one judge"
            )
        settled[pair] = row
    ours: list[float] = []
    theirs: list[float] = []
    cases: list[str] = []
    dropped = 0
    for vote in others:
        mine = settled.get(_pair(vote))
        if mine is None or mine.score is None or vote.score is None:
            dropped += 1
            continue
        ours.append(mine.score)
        theirs.append(vote.score if vote.new == mine.new else 1 - vote.score)
        cases.append(vote.case_id)
    found = agreement(
        ours, theirs, levels=(0.0, 0.5, 1.0), clusters=cases, level=level, draws=draws, seed=seed
    )
    firm = [at for at, pair in enumerate(zip(ours, theirs, strict=True)) if 0.5 not in pair]
    same = [float(ours[at] == theirs[at]) for at in firm]
    decisive = anchored_mean(
        same, levels=(0.0, 1.0), clusters=[cases[at] for at in firm], estimand="case",
        level=level, draws=draws, seed=seed,
    )  # fmt: skip
    credit = [1 - abs(one - two) for one, two in zip(ours, theirs, strict=True)]
    half = win_rate_clustered(
        credit, clusters=cases, estimand="case", level=level, draws=draws, seed=seed
    )
    return PreferenceAgreement(
        votes=len(ours),
        cases=len(set(cases)),
        dropped=dropped,
        exact=found.exact,
        decisive=decisive,
        # Its remark counts wins; here they are agreements.
        ties_half=replace(half, diag=""),
        kappa=found.kappa,
    )


def _pair(row: PreferenceRow) -> tuple[str, int, frozenset[str]]:
    return (row.case_id, row.repeat, frozenset((row.old, row.new)))
