"""What of a judge's verdicts a person should read: splits, lost evidence, checks against judge.

May not say who is right where a check and a judge disagree: that is what the reading is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agenteval_kit.records.verdicts import FLAGS
from agenteval_kit.report.dimensions import dimension_bars
from agenteval_kit.report.judged import ShownVerdict
from agenteval_kit.report.release import Release

__all__ = ["judged_reasons"]

Reason = tuple[str, int, int | None, str, str]


def judged_reasons(release: Release) -> Iterator[Reason]:
    """Case, repeat, turn, why and layer of each reason, the most telling kind first."""
    yield from _lowest(release)
    yield from _split(release)
    yield from _both_sides(release)
    yield from _against_people(release)
    yield from _against_checks(release)
    yield from _flagged(release)
    yield from _unscored(release)
    yield from _order_decided(release)


def _every(release: Release) -> Iterator[tuple[str, int, ShownVerdict]]:
    for (case_id, repeat), verdicts in release.judgements.verdicts.items():
        for one in verdicts:
            yield case_id, repeat, one


def _lowest(release: Release) -> Iterator[Reason]:
    """Levels that the bar never allows."""
    never = {} if release.decision is None else release.decision.bar.bar.never
    for case_id, repeat, one in _every(release):
        level = never.get(one.dimension)
        if level is not None and one.score is not None and one.score <= level:
            why = f"{_name(one)}: scored {one.score}, which the bar never allows"
            yield case_id, repeat, _turn(one), why, one.layer


def _split(release: Release) -> Iterator[Reason]:
    for case_id, repeat, one in _every(release):
        said = [seat.score for seat in one.seats if seat.score is not None]
        if one.score is None and len(one.seats) > 1 and said:
            why = f"{_name(one)}: the panel has no majority{_people(release, case_id, repeat, one)}"
            yield case_id, repeat, None, why, one.layer


def _both_sides(release: Release) -> Iterator[Reason]:
    """Near the bar: seats that disagree about which side of it a transcript is on."""
    bars = dimension_bars(release)
    for case_id, repeat, one in _every(release):
        said = [seat.score for seat in one.seats if seat.score is not None]
        bar = bars.get(one.dimension)
        if bar is None or one.score is None or len(said) < 2:
            continue
        if min(said) < bar - 1e-9 and max(said) >= bar - 1e-9:
            why = f"{_name(one)}: seats on both sides of the bar of {bar:g}"
            why += _people(release, case_id, repeat, one)
            yield case_id, repeat, _turn(one), why, one.layer


def _against_people(release: Release) -> Iterator[Reason]:
    """A person and the judge two levels apart or more, or on the two sides of the bar."""
    bars = dimension_bars(release)
    for case_id, repeat, one in _every(release):
        said = release.judgements.said.get((case_id, repeat, one.dimension), {})
        bar, score = bars.get(one.dimension), one.score
        if score is None:
            continue
        under = bar is not None and score < bar - 1e-9
        if any(
            abs(level - score) > 1 or (bar is not None and (level < bar - 1e-9) != under)
            for level in said.values()
        ):
            why = f"{_name(one)}: {_told(said)}, the judge {score}"
            yield case_id, repeat, _turn(one), why, one.layer


def _people(release: Release, case_id: str, repeat: int, one: ShownVerdict) -> str:
    """What people said of it: the flag is resolved then; empty where nobody read it."""
    said = release.judgements.said.get((case_id, repeat, one.dimension), {})
    return f"; resolved: {_told(said)}" if said else ""


def _told(said: Mapping[str, int]) -> str:
    return ", ".join(f"{rater} says {score}" for rater, score in said.items())


def _against_checks(release: Release) -> Iterator[Reason]:
    """Checks and judge of one layer that do not agree about one transcript."""
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
            why = f"{_name(one)}: scored {high}, but a {one.layer} check failed: is it the check?"
            yield case_id, repeat, _turn(one), why, one.layer
        elif found == "passed" and one.score <= low + (high - low) / 3:
            why = f"{_name(one)}: scored low, but every {one.layer} check passed"
            yield case_id, repeat, _turn(one), why, one.layer


def _flagged(release: Release) -> Iterator[Reason]:
    for case_id, repeat, one in _every(release):
        for flag in ("evidence_not_found", "instruction_in_transcript"):
            if flag in one.flags:
                yield case_id, repeat, None, f"{_name(one)}: {FLAGS[flag]}", one.layer


def _unscored(release: Release) -> Iterator[Reason]:
    for case_id, repeat, one in _every(release):
        split = len(one.seats) > 1 and any(seat.score is not None for seat in one.seats)
        if one.score is None and not split and "evidence_not_found" not in one.flags:
            kind = one.reason.partition(":")[0]
            yield case_id, repeat, None, f"{_name(one)}: unscored, {kind}", one.layer


def _order_decided(release: Release) -> Iterator[Reason]:
    summary = release.judgements.preferences
    if summary is None:
        return
    wanted = {one.judge_digest for one in summary.comparisons}
    for row in release.run.preference_rows(old=summary.old):
        if row.judge_digest in wanted and row.flipped:
            why = f"{row.criterion}: the order of showing changed which version was preferred"
            yield row.case_id, row.repeat, None, why, row.layer


def _name(one: ShownVerdict) -> str:
    return one.dimension.replace("_", " ")


def _turn(one: ShownVerdict) -> int | None:
    """The first turn that a seat of the majority points at."""
    for seat in one.seats:
        for turn, _ in seat.evidence if seat.score == one.score else ():
            if turn is not None:
                return turn
    return None
