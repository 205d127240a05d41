"""What a panel of judges said: the majority, and how often the seats disagree.

It may not average seats, and a panel without a majority has no score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import share_by_case
from agenteval_kit.text import counted


@dataclass(frozen=True, slots=True)
class PanelVote:
    """The majority of the seats that voted.

    Attributes
    ----------
    score
        What more than half of the votes present say, as long as they are more than half of the
        seats; else None.
    votes, missing
        Votes present, and seats without one.
    unanimous
        Whether all votes present agree; False without votes.
    reason
        "panel split", "too few votes" or "no votes" where there is no score.
    """

    score: float | None
    votes: int
    missing: int
    unanimous: bool
    reason: str


def majority(votes: Sequence[float | None]) -> PanelVote:
    """What more than half of the votes present say; None or NaN is a seat without a score.

    Without a score where no more than half of the seats voted, as for a judge of the kit.
    """
    present = [float(vote) for vote in votes if vote is not None and not math.isnan(vote)]
    missing = len(votes) - len(present)
    if not present:
        return PanelVote(None, 0, missing, False, "no votes")
    if missing >= len(present):
        return PanelVote(None, len(present), missing, len(set(present)) == 1, "too few votes")
    score, many = Counter(present).most_common(1)[0]
    if 2 * many <= len(present):
        return PanelVote(None, len(present), missing, False, "panel split")
    return PanelVote(score, len(present), missing, many == len(present), "")


def disagreement_rate(
    panels: Sequence[Sequence[float | None]],
    *,
    cases: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The share of panels, of those with two votes or more, whose votes differ.

    Wilson's interval, or by case where `cases` names the same one for several panels. Undefined
    where no panel has two votes.

    Raises
    ------
    ConfigError
        If lengths differ.
    """
    names = range(len(panels)) if cases is None else cases
    if len(names) != len(panels):
        raise ConfigError(f"cases: {len(names)} for {len(panels)} panels.")
    votes = zip(map(majority, panels), names, strict=True)
    voted = [(not vote.unanimous, name) for vote, name in votes if vote.votes >= 2]
    if not voted:
        return Estimate.undefined("no panel has two votes", level=level, method="Wilson")
    alone = len(panels) - len(voted)
    note = f"{counted(alone, 'panel')} with fewer than two votes left out" if alone else ""
    split, of = zip(*voted, strict=True)
    return share_by_case(split, of, level=level).noted(note)
