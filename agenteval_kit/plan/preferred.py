"""What a judge would prefer between two runs: wins, ties and losses, drawn, a pair a case.

May not ask a judge or apply a bar.
"""

from __future__ import annotations

import numpy as np

from agenteval_kit.pairwise.summary import PreferenceSummary
from agenteval_kit.pairwise.tally import measure
from agenteval_kit.records import PreferenceRow

__all__ = ["Tally", "as_preferences", "by_preference", "draw_tally"]

Tally = tuple[int, int, int]
"""Pairs won, tied and lost by the new run."""

_DRAWS = 2_000
"""Of the noise margin; its third digit decides nothing here."""


def by_preference(preferences: PreferenceSummary | None, name: str) -> bool:
    """Whether the gate decides a claim in win rate by preferences, or cannot tell by which."""
    if preferences is None:
        return False
    here = any(one.layer == name for one in preferences.comparisons)
    return here or preferences.find(name) is not None


def draw_tally(rng: np.random.Generator, *, cases: int, ties: float, fall: float) -> Tally:
    """Drawn pairs, even if nothing changed.

    A share that falls by `fall` moves the win rate by half of it, since a case that is lost for
    one that was won moves the win rate by half of what it moves the share.
    """
    tilt = min(fall, 1 - ties)
    chances = [(1 - ties - tilt) / 2, ties, (1 - ties + tilt) / 2]
    won, tied, lost = rng.multinomial(cases, chances).tolist()
    return won, tied, lost


def as_preferences(target: str, tally: Tally) -> PreferenceSummary:
    """The same as the gate reads it, for the criterion or layer that a clause names."""
    outcomes = ("new", "tie", "old")
    rows = [
        PreferenceRow(
            case_id=f"{outcome}-{at}",
            criterion=target,
            layer=target,
            old="old",
            new="new",
            outcome=outcome,
            judge="drawn",
            judge_digest="drawn",
        )
        for outcome, many in zip(outcomes, tally, strict=True)
        for at in range(many)
    ]
    return PreferenceSummary("new", "old", (measure(rows, draws=_DRAWS),))
