"""What a plan of a suite needs sizes for: every spread, with the margin that the bar has for it.

May not decide which clause is decided by what: a claim in win rate follows the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agenteval_kit.judge.pairing import pair_dimensions
from agenteval_kit.pairwise.result import Comparison
from agenteval_kit.pairwise.summary import PreferenceSummary
from agenteval_kit.plan.preferred import by_preference
from agenteval_kit.plan.spread import (
    Spread,
    assumed_spreads,
    spread_of_changes,
    spread_of_repeats,
    spread_of_runs,
)
from agenteval_kit.records import Rubric
from agenteval_kit.records.bars import Bar
from agenteval_kit.runs import Run
from agenteval_kit.summary import Summary
from agenteval_kit.text import counted

__all__ = ["Sized", "sized_spreads", "with_outcome"]


@dataclass(frozen=True, slots=True)
class Sized:
    """A spread, the margin that the bar has for it, and the share of the cases that it is about.

    The cases of a suite that are not checked in a layer say nothing of it.
    """

    spread: Spread
    margin: float | None = None
    part: float = 1.0

    def of(self, cases: int) -> int:
        """How many of so many cases it is about."""
        return round(min(self.part, 1.0) * cases)


def sized_spreads(
    known: Sequence[Run],
    last: Sequence[Summary],
    bar: Bar | None,
    rubric: Rubric | None,
    clusters: Mapping[str, str] | None,
    preferences: PreferenceSummary | None,
) -> Iterator[Sized]:
    """Every spread that is asked for."""
    by_shares, by_rate, by_score = _margins(bar, preferences)
    layers = _layers(bar, last, by_shares)
    made = False
    for layer in layers:
        spread = (
            spread_of_runs(last[0], last[1], layer, clusters=clusters)
            if len(last) == 2
            else spread_of_repeats(last[0], layer)
            if last
            else None
        )
        if spread is not None:
            made = True
            counts = [one.counts[layer] for one in last[-1].cases if layer in one.counts]
            part = sum(one.n + one.unscored > 0 for one in counts) / len(last[-1].cases)
            yield Sized(spread, by_shares.get(layer), part)
    if not made:
        margin = next(iter(by_shares.values()), None)
        yield from (Sized(spread, margin) for spread in assumed_spreads("pass share"))
    preferred = with_outcome(preferences)
    for one in preferred:
        compared = one.cases * (1 + (one.unscored + one.missing) / one.n)
        yield Sized(
            _preferred_spread(one), by_rate.get(one.criterion), compared / len(last[-1].cases)
        )
    if bar is not None and bar.win_rate and not preferred:
        yield from map(Sized, assumed_spreads("win rate"))
    scored = list(_score_spreads(known, by_score))
    yield from scored
    asked = rubric is not None or (bar is not None and bool(bar.mean or bar.never))
    if asked and not scored:
        yield from map(Sized, assumed_spreads("score"))


def _margins(
    bar: Bar | None, preferences: PreferenceSummary | None
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """The margins of a bar in the unit that the gate decides each in: shares, win rates, scores.

    A claim in win rate is about preferences where there are some, and about checks elsewhere. In
    win rate a case lost for one won counts half, so there the same claim in shares is twice as
    wide.
    """
    by_shares: dict[str, float] = {}
    by_rate: dict[str, float] = {}
    by_score: dict[str, float] = {}
    for name, one in bar.no_worse.items() if bar is not None else ():
        if one.unit == "score":
            by_score[name] = one.margin
        elif one.unit == "pass_share":
            by_shares[name] = one.margin
        elif not by_preference(preferences, name):
            by_shares[name] = 2 * one.margin
        elif preferences is not None and (found := preferences.find(name)) is not None:
            by_rate[found.criterion] = one.margin
    return by_shares, by_rate, by_score


def _layers(
    bar: Bar | None, last: Sequence[Summary], compared: Mapping[str, float]
) -> tuple[str, ...]:
    """The layers that the bar compares by checks, else those it holds to a rate, else all."""
    there = [item.layer for item in last[-1].layers] if last else []
    if bar is not None:
        for named in (list(compared), list(bar.pass_rate)):
            found = [name for name in named if name in there]
            if found:
                return tuple(found)
    return tuple(there)


def _score_spreads(known: Sequence[Run], margins: Mapping[str, float]) -> Iterator[Sized]:
    if len(known) < 2:
        return
    old, new = known[-2:]
    for pair in pair_dimensions(old, new):
        if pair.ids:
            source = f"differences of {counted(pair.n, 'case')} between runs {old.id} and {new.id}"
            yield Sized(
                spread_of_changes(
                    [round(two - one, 12) for one, two in zip(pair.old, pair.new, strict=True)],
                    unit="score",
                    target=pair.dimension,
                    source=source,
                    reach=float(pair.levels[-1] - pair.levels[0]),
                ),
                margins.get(pair.dimension, margins.get(pair.layer)),
                (pair.n + len(pair.dropped)) / len(new.info.cases),
            )


def with_outcome(preferences: PreferenceSummary | None) -> tuple[Comparison, ...]:
    """The comparisons with an outcome."""
    return tuple(one for one in preferences.comparisons if one.n) if preferences else ()


def _preferred_spread(one: Comparison) -> Spread:
    return spread_of_changes(
        [score - 0.5 for score in one.scores.values()],
        unit="win rate",
        target=one.criterion,
        source=f"{counted(one.n, 'preference')} of {one.judge} between runs {one.old} and "
        f"{one.new}",
        reach=0.5,
    )
