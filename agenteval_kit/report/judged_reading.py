"""What of a judge's verdicts a person should read: splits, lost evidence, checks against judge.

May not say who is right where a check and a judge disagree: that is what the reading is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.verdicts import FLAGS, parted_seats
from agenteval_kit.report.dimensions import dimension_bars
from agenteval_kit.report.judged import ShownVerdict
from agenteval_kit.report.release import Release
from agenteval_kit.report.standing import holds_the_bar
from agenteval_kit.stats.beside_bar import in_words, more_exactly

__all__ = ["Reason", "judged_near_the_bar", "judged_reasons", "levels_told"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a person should open a transcript.

    Attributes
    ----------
    case_id, repeat, turn
        Which, and where to look; None is the whole of it.
    why, layer : str
        Alike for every transcript with the same reason.
    aside : str
        What is told of this transcript alone.
    flag : str
        The judged dimension whose verdict waits: a label on it resolves the reason. Empty where
        there is no verdict to resolve.
    waits : bool
        One label was not enough.
    """

    case_id: str
    repeat: int
    turn: int | None
    why: str
    layer: str = ""
    aside: str = ""
    flag: str = ""
    waits: bool = False


def judged_reasons(release: Release) -> Iterator[Reason]:
    """Each reason that a judge's verdict gives, the most telling kind first."""
    yield from _lowest(release)
    yield from _parted(release)
    yield from _against_people(release)
    yield from _against_checks(release)
    yield from _flagged(release)
    yield from _unscored(release)
    yield from _order_decided(release)


def levels_told(said: Mapping[str, LabelRow]) -> str:
    """Who gave which level: "ana 2, ben 3"."""
    return ", ".join(f"{rater} {row.level}" for rater, row in said.items())


def _every(release: Release) -> Iterator[tuple[str, int, ShownVerdict]]:
    for (case_id, repeat), verdicts in release.judgements.verdicts.items():
        for one in verdicts:
            yield case_id, repeat, one


def _lowest(release: Release) -> Iterator[Reason]:
    """Levels that the bar never allows; they wait for as long as the clause does."""
    never = _never(release)
    untold = _untold(release)
    for case_id, repeat, one in _every(release):
        level = never.get(one.dimension)
        if level is None or one.score is None or one.score > level:
            continue
        why = f"{_name(one)}: scored {one.score}, which the bar never allows"
        people = release.judgements.people_on(case_id, repeat, one.dimension)
        waits = bool(people) and case_id in untold.get(one.dimension, ())
        aside = f"{levels_told(people)}; the bar waits for one more person" if waits else ""
        yield Reason(case_id, repeat, _turn(one), why, one.layer, aside, one.dimension, waits)


def _parted(release: Release) -> Iterator[Reason]:
    """Panels without a majority, and seats on the two sides of a threshold of the bar."""
    bars, never = dimension_bars(release), _never(release)
    for case_id, repeat, one in _every(release):
        seats = [seat.score for seat in one.seats if seat.score is not None]
        bar, level = bars.get(one.dimension), never.get(one.dimension)
        words = {
            "majority": "the panel has no majority",
            "bar": f"seats on both sides of the bar of {bar or 0:g}",
            "level": f"seats on both sides of the level {level}, which the bar never allows",
        }
        aside = f"seats {', '.join(map(str, seats))}"
        # Where several hold, the first says it, with the seats beside it.
        parted = next(parted_seats(one.score, seats, least=bar, never=level), None)
        if parted is not None:
            why = f"{_name(one)}: {words[parted]}"
            yield Reason(case_id, repeat, _turn(one), why, one.layer, aside, one.dimension)


def _against_people(release: Release) -> Iterator[Reason]:
    """A person two levels from the judge or more; then all people on the other side of the bar."""
    bars = dimension_bars(release)
    far: list[Reason] = []
    across: list[Reason] = []
    for case_id, repeat, one in _every(release):
        said = release.judgements.people_on(case_id, repeat, one.dimension)
        bar, score = bars.get(one.dimension), one.score
        levels = [level for row in said.values() if (level := row.level) is not None]
        if score is None or not levels:
            continue
        aside = f"{levels_told(said)}, the judge {score}"
        if any(abs(level - score) > 1 for level in levels):
            why = f"{_name(one)}: a person and the judge are two levels apart or more"
            far.append(Reason(case_id, repeat, _turn(one), why, one.layer, aside))
        # People who are themselves on both sides of a bar say nothing against the judge.
        elif bar is not None and all((level < bar) != (score < bar) for level in levels):
            why = f"{_name(one)}: people are on the other side of the bar of {bar:g} than the judge"
            across.append(Reason(case_id, repeat, _turn(one), why, one.layer, aside))
    yield from far
    yield from across


def _against_checks(release: Release) -> Iterator[Reason]:
    """Checks and judge of one layer that do not agree; the lowest level where no check says."""
    never = _never(release)
    status = {
        (case.case_id, item.repeat): item.layers
        for case in release.summary.cases
        for item in case.transcripts
    }
    for case_id, repeat, one in _every(release):
        found = status.get((case_id, repeat), {}).get(one.layer)
        low, high = one.levels[0], one.levels[-1]
        if one.score is None:
            continue
        if found == "failed" and one.score == high:
            why = f"{_name(one)}: scored {high}, but a check of {one.layer} failed:"
            why += " is it the check?"
        elif found == "passed" and one.score <= low + (high - low) / 3:
            why = f"{_name(one)}: scored low, but every check of {one.layer} passed"
        elif found != "failed" and one.score == low > never.get(one.dimension, low - 1):
            why = f"{_name(one)}: scored {low}, the lowest level, and {one.layer} has no check"
        else:
            continue
        yield Reason(case_id, repeat, _turn(one), why, one.layer, flag=one.dimension)


def _flagged(release: Release) -> Iterator[Reason]:
    for case_id, repeat, one in _every(release):
        for flag in ("evidence_not_found", "instruction_in_transcript"):
            if flag in one.flags:
                why = f"{_name(one)}: {FLAGS[flag]}"
                yield Reason(case_id, repeat, None, why, one.layer, flag=one.dimension)


def _unscored(release: Release) -> Iterator[Reason]:
    for case_id, repeat, one in _every(release):
        split = len(one.seats) > 1 and any(seat.score is not None for seat in one.seats)
        if one.score is None and not split and "evidence_not_found" not in one.flags:
            kind = one.reason.partition(":")[0]
            why = f"{_name(one)}: unscored, {kind}"
            yield Reason(case_id, repeat, None, why, one.layer, flag=one.dimension)


def judged_near_the_bar(release: Release) -> Iterator[Reason]:
    """Where a mean could lie on either side of its bar: verdicts just under it that nobody read."""
    rows = release.decision.rows if release.decision is not None else ()
    for row in rows:
        if row.clause != "mean" or not holds_the_bar(row):
            continue
        bar, mean = row.threshold or 0.0, ""
        if row.estimate is not None:
            mean = row.estimate.text() + more_exactly(row.estimate, bar)
        for case_id, repeat, one in _every(release):
            under = max((level for level in one.levels if level < bar), default=None)
            read = release.judgements.people_on(case_id, repeat, one.dimension)
            if one.dimension == row.target and one.score == under is not None and not read:
                why = f"{_name(one)}: near its bar of {in_words(bar)} (mean {mean}): scored {under}"
                yield Reason(case_id, repeat, _turn(one), why, one.layer)


def _order_decided(release: Release) -> Iterator[Reason]:
    summary = release.judgements.preferences
    if summary is None:
        return
    wanted = {one.judge_digest for one in summary.comparisons}
    for row in release.run.preference_rows(old=summary.old):
        if row.judge_digest in wanted and row.flipped:
            why = f"{row.criterion}: the order of showing changed which version was preferred"
            yield Reason(row.case_id, row.repeat, None, why, row.layer)


def _never(release: Release) -> Mapping[str, int]:
    return {} if release.decision is None else release.decision.bar.bar.never


def _untold(release: Release) -> Mapping[str, tuple[str, ...]]:
    """By dimension, the cases that a `never` clause cannot tell of."""
    rows = release.decision.rows if release.decision is not None else ()
    return {
        row.target: row.ids for row in rows if row.clause == "never" and row.status == "cannot tell"
    }


def _name(one: ShownVerdict) -> str:
    return one.dimension.replace("_", " ")


def _turn(one: ShownVerdict) -> int | None:
    """The first turn that a seat of the majority points at, or where there is none any seat."""
    for seat in one.seats:
        for turn, _ in seat.evidence if one.score in (None, seat.score) else ():
            if turn is not None:
                return turn
    return None
