"""What a run's preferences against another run come to, for whoever applies a bar.

May not apply it: margins are measured here, thresholds are the bar's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agenteval_kit.errors import did_you_mean
from agenteval_kit.pairwise.result import Comparison
from agenteval_kit.pairwise.tally import measured
from agenteval_kit.runs import Run

__all__ = ["MeasuredMargin", "PreferenceSummary", "measured_margin", "preference_summary"]


@dataclass(frozen=True, slots=True)
class MeasuredMargin:
    """How far a win rate moves by noise: what `margin: measured` stands for.

    Attributes
    ----------
    value : float or None
        The wider of the two below; None without scored pairs.
    source : str
        Which one it is: "bootstrap" over these cases, "tango" where all pairs tie, or
        "a against a".
    here, a_against_a : float or None
        Half-width of the interval of this comparison; and of two runs of the baseline, None where
        there are none.
    cases : int
        Scenarios that `value` rests on.
    draws, seed, level
        Of the bootstrap.
    reason : str
        Why there is none.
    diag : str
        Doubts in plain words.
    """

    value: float | None
    source: Literal["bootstrap", "tango", "a against a", ""]
    here: float | None
    a_against_a: float | None
    cases: int
    draws: int
    seed: int
    level: float
    reason: str
    diag: str

    def cases_for(self, margin: float) -> int | None:
        """About how many cases it takes until the margin is no wider than that; None without one.

        A half-width shrinks with the square root of the number of cases.
        """
        if self.value is None or not margin > 0:
            return None
        # A rounding error may not ask for one more case than there are.
        return math.ceil(self.cases * (self.value / margin) ** 2 - 1e-9)


@dataclass(frozen=True, slots=True)
class PreferenceSummary:
    """All comparisons of a run with one other run, each under the latest judge that compared all.

    Attributes
    ----------
    run, old : str
        The run whose preferences these are, and the one it was compared with.
    comparisons : tuple of Comparison
        One a criterion.
    again : mapping of str to Comparison
        A against A by criterion, under the same judge digest.
    others : mapping of str to tuple of str
        What other judges found, in a sentence each, by criterion.
    """

    run: str
    old: str
    comparisons: tuple[Comparison, ...]
    again: dict[str, Comparison] = field(default_factory=dict)
    others: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, target: str) -> Comparison | None:
        """The comparison that a clause names, by criterion or else by layer.

        None where there is none, or several criteria lie in that layer; `why_not` says so.
        """
        named = [one for one in self.comparisons if one.criterion == target]
        found = named or [one for one in self.comparisons if one.layer == target]
        return found[0] if len(found) == 1 else None

    def why_not(self, target: str) -> str:
        """Why `find` gives none; empty where it gives one."""
        if self.find(target) is not None:
            return ""
        if not self.comparisons:
            return (
                f"run {self.run} was not compared with {self.old}; "
                "`agenteval compare OLD NEW --judge MODEL` first"
            )
        several = [one.criterion for one in self.comparisons if one.layer == target]
        if several:
            return (
                f'{len(several)} criteria lie in layer "{target}" ({", ".join(several)}); name '
                "one of them in the bar"
            )
        known = {one.criterion for one in self.comparisons}
        return f'nothing was compared by "{target}".{did_you_mean(target, known)}'

    def margin(self, target: str) -> MeasuredMargin | None:
        """The measured margin of the comparison that a clause names; None where there is none."""
        found = self.find(target)
        if found is None:
            return None
        return measured_margin(found, again=self.again.get(found.criterion))


def measured_margin(comparison: Comparison, *, again: Comparison | None = None) -> MeasuredMargin:
    """The noise of a win rate: over these cases, or between two runs of the baseline if wider.

    Parameters
    ----------
    comparison : Comparison
        New against old.
    again : Comparison, optional
        A against A: the baseline against a second run of the same agent, same judge digest.

    Examples
    --------
    >>> from agenteval_kit.pairwise import import_preferences, measure
    >>> rows = import_preferences("data/published/llmbar/verdicts_Natural.csv")
    >>> one = measure(row for row in rows if row.judge == "GPT-4 Vanilla")
    >>> measured_margin(one).source
    'bootstrap'
    """
    noise = comparison.noise
    here = noise.margin
    diag = [noise.diag] if noise.diag else []
    apart = None
    if again is not None and again.judge_digest != comparison.judge_digest:
        diag.append("A against A was judged otherwise and is not used")
        again = None
    if again is not None:
        apart = again.noise.margin
        if again.shown:
            diag.append(again.finding)
    if here is None and apart is None:
        return MeasuredMargin(
            None, "", None, None, 0, noise.draws, noise.seed, noise.level,
            reason=comparison.win_rate.reason, diag="; ".join(diag),
        )  # fmt: skip
    # Where all pairs tie there is nothing to resample, and the margin is Tango's.
    source: Literal["bootstrap", "tango", "a against a"] = (
        "tango" if noise.bootstrap.low is None else "bootstrap"
    )
    value, cases = here, comparison.cases
    if again is not None and apart is not None and (value is None or apart > value):
        value, source, cases = apart, "a against a", again.cases
    return MeasuredMargin(
        value, source, here, apart, cases, noise.draws, noise.seed, noise.level, "",
        "; ".join(diag),
    )  # fmt: skip


def preference_summary(
    run: Run,
    old_run_id: str,
    *,
    again: Run | Sequence[Run] = (),
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PreferenceSummary:
    """What the preferences of a run against another come to; nothing is asked.

    Parameters
    ----------
    run : Run
        The new run; compared or not.
    old_run_id : str
        The run that it was compared with.
    again : Run, or several, optional
        Where to look for A against A of the old run: a run of the same agent that was compared
        with it, or the old run itself if it was compared with an earlier one of the same agent.
    level, draws, seed
        Of the intervals and of the resampling.

    Raises
    ------
    ConfigError
        If a row cannot be read.
    """
    settings = {"level": level, "draws": draws, "seed": seed}
    stamps = [stamp for stamp in run.comparison_stamps() if stamp.old == old_run_id]
    found = measured(run.preference_rows(old=old_run_id), stamps, **settings)  # type: ignore[arg-type]
    # The one that was asked last stands last; one that compared all goes before one that did not,
    # and who was asked in vain has a stamp and compared nothing.
    heard = [one for one in found if one.n or one.unscored]
    chosen = {one.criterion: one for one in (*found, *heard)}
    chosen |= {one.criterion: one for one in found if not one.missing and one.n}
    others: dict[str, tuple[str, ...]] = {}
    for one in heard:
        if one is not chosen[one.criterion]:
            told = f"{one.judge} ({one.judge_digest}): {one.finding}"
            others[one.criterion] = (*others.get(one.criterion, ()), told)
    pairs: dict[str, Comparison] = {}
    for other in [again] if isinstance(again, Run) else again:
        for one in _a_against_a(other, old_run_id, settings):
            mine = chosen.get(one.criterion)
            if mine is not None and mine.judge_digest == one.judge_digest:
                pairs[one.criterion] = one
    return PreferenceSummary(run.id, old_run_id, tuple(chosen.values()), pairs, others)


def _a_against_a(run: Run, old_run_id: str, settings: dict[str, float]) -> Iterable[Comparison]:
    stamps = [
        stamp
        for stamp in run.comparison_stamps()
        if stamp.same_agent and old_run_id in (stamp.old, stamp.new)
    ]
    return measured(run.preference_rows(), stamps, **settings)  # type: ignore[arg-type]
