"""Compares what checks found and judges scored in two runs, paired by case, and each record.

May not hold a transcript of a record in which nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.compare.parting import part_calls, part_turns
from agenteval_kit.compare.values import Change, CheckChange, Comparison, RecordChange
from agenteval_kit.files import canonical_json
from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.runs import Run, RunInfo, only_in_part
from agenteval_kit.summary import (
    ALL_CHECKS,
    CaseScore,
    PairedLayer,
    Summary,
    TranscriptScore,
    asked_alike,
    pair_layer,
    summarise,
    why_not_comparable,
)

if TYPE_CHECKING:
    from agenteval_kit.judge.pairing import JudgedPair, PairedDimension
    from agenteval_kit.records.trust import DimensionTrust

__all__ = ["compare_checks"]

Key = tuple[str, int]
FOUND = {True: "passed", False: "failed", None: "unscored"}


def compare_checks(
    old: Run,
    new: Run,
    *,
    margin: float = 0.05,
    old_summary: Summary | None = None,
    new_summary: Summary | None = None,
    judged: JudgedPair | None = None,
    trust: Sequence[DimensionTrust] = (),
) -> Comparison:
    """Compare what the checks found in two runs, by layer and by record.

    Where both runs were judged, the scores are compared too, a dimension each and never blended
    with the checks.

    Parameters
    ----------
    old, new : Run
        Two runs of the same suite; old is the baseline. Where the suite was edited in between,
        the cases that both versions ask alike are compared, and no others.
    margin : float
        The drop in pass share that `Comparison.sentence` says is ruled out or not.
    old_summary, new_summary : Summary, optional
        The runs', if they were summed up before.
    judged : JudgedPair, optional
        What judges said of both runs, if it was read before.
    trust : sequence of DimensionTrust, optional
        Which judges are trusted (see `gate.read_known`), to be said beside their numbers.

    Returns
    -------
    Comparison
        With `refused` set and nothing paired if the suites have no case in common.

    Raises
    ------
    ConfigError
        If the margin is not above 0, or a row of a run cannot be read.
    """
    before = old_summary if old_summary is not None else summarise(old)
    after = new_summary if new_summary is not None else summarise(new)
    refused = why_not_comparable(old, new)
    known_before = {case.case_id: case for case in before.cases}
    known_after = {case.case_id for case in after.cases}
    alike = asked_alike(before, after)
    layers: tuple[PairedLayer, ...] = ()
    overall = None
    records: tuple[RecordChange, ...] = ()
    if not refused:
        names = dict.fromkeys(item.layer for item in (*after.layers, *before.layers))
        layers = tuple(pair_layer(before, after, name) for name in names)
        overall = pair_layer(before, after, ALL_CHECKS)
        both = [(alike[case.case_id], case) for case in after.cases if case.case_id in alike]
        records = tuple(_records(old, new, both))
    return Comparison(
        old_id=old.id,
        new_id=new.id,
        layers=layers,
        overall=overall,
        records=records,
        only_old=tuple(name for name in known_before if name not in known_after),
        only_new=tuple(c.case_id for c in after.cases if c.case_id not in known_before),
        stamps=_differing_stamps(old, new),
        refused=refused,
        margin=margin,
        in_part="" if refused else only_in_part(old.info, new.info),
        dimensions=() if refused else _judged(old, new, judged),
        trust=tuple(trust),
    )


def _judged(old: Run, new: Run, judged: JudgedPair | None) -> tuple[PairedDimension, ...]:
    if not (old.judge_stamps() and new.judge_stamps()):
        return ()
    from agenteval_kit.judge.pairing import pair_dimensions  # numpy: checks need none

    return pair_dimensions(old, new, judged=judged)


def _records(old: Run, new: Run, both: list[tuple[CaseScore, CaseScore]]) -> Iterator[RecordChange]:
    looked_at: dict[str, int] = {}
    for before, after in both:
        repeat = _repeat_to_look_at(before, after)
        if repeat is not None:
            looked_at[after.case_id] = repeat
    keys = set(looked_at.items())
    rows_before, rows_after = _rows(old, keys), _rows(new, keys)
    said_before, said_after = _transcripts(old, keys), _transcripts(new, keys)
    for before, after in both:
        if not (_checked(before) or _checked(after)):
            continue
        name = after.case_id
        key = (name, looked_at.get(name, 0))
        one, two = said_before.get(key), said_after.get(key)
        yield RecordChange(
            case_id=name,
            change=_change(before, after),
            old=before.counts[ALL_CHECKS].rate,
            new=after.counts[ALL_CHECKS].rate,
            repeat=key[1],
            checks=_check_changes(rows_before.get(key, {}), rows_after.get(key, {})),
            turn_parting=part_turns(one, two) if one and two else None,
            call_parting=part_calls(one, two) if one and two else None,
        )


def _checked(case: CaseScore) -> bool:
    counts = case.counts[ALL_CHECKS]
    return counts.n + counts.unscored > 0


def _change(before: CaseScore, after: CaseScore) -> Change:
    if not before.n or not after.n:
        return "unscored"
    if before.flaky or after.flaky:
        return "flaky"
    if before.passed and not after.passed:
        return "broken"
    if after.passed and not before.passed:
        return "fixed"
    return "unchanged"


def _repeat_to_look_at(before: CaseScore, after: CaseScore) -> int | None:
    """The first repeat whose verdict changed, else the first that fails for other checks."""
    old = {item.repeat: item for item in before.transcripts}
    pairs = [(old[two.repeat], two) for two in after.transcripts if two.repeat in old]
    for one, two in pairs:
        if one.status != two.status:
            return two.repeat
    for one, two in pairs:
        if _failing(one) != _failing(two):
            return two.repeat
    return None


def _failing(score: TranscriptScore) -> set[tuple[str, str]]:
    return {(row.layer, row.name) for row in score.failing}


def _rows(run: Run, keys: set[Key]) -> dict[Key, dict[str, CheckRow]]:
    found: dict[Key, dict[str, CheckRow]] = {}
    for row in run.check_rows():
        if (row.case_id, row.repeat) in keys:
            found.setdefault((row.case_id, row.repeat), {})[row.name] = row
    return found


def _transcripts(run: Run, keys: set[Key]) -> dict[Key, Transcript]:
    if not keys:
        return {}
    return {
        (item.case_id, item.repeat): item
        for item in run.transcripts()
        if (item.case_id, item.repeat) in keys
    }


def _check_changes(
    before: dict[str, CheckRow], after: dict[str, CheckRow]
) -> tuple[CheckChange, ...]:
    changes = []
    for name in dict.fromkeys([*after, *before]):
        one, two = before.get(name), after.get(name)
        old = "not due" if one is None else FOUND[one.passed]
        new = "not due" if two is None else FOUND[two.passed]
        shown = two or one
        if old != new and shown is not None:
            turn, why = (two.turn, two.why) if two is not None else (None, "")
            changes.append(CheckChange(shown.layer, name, old, new, turn, why))
    return tuple(changes)


def _differing_stamps(old: Run, new: Run) -> dict[str, tuple[str, str]]:
    before, after = _stamps(old.info), _stamps(new.info)
    return {
        name: (_text(before.get(name)), _text(after.get(name)))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    }


def _stamps(info: RunInfo) -> dict[str, Any]:
    whole = info.model_dump(
        mode="json",
        include={
            "suite", "suite_version", "suite_digest", "clock", "frozen_clock", "repeats",
            "selection", "kind", "simulator", "package", "commit",
        },
    )  # fmt: skip
    agent = info.agent.model_dump(mode="json")
    return {**whole, **{f"agent {name}": value for name, value in agent.items()}}


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else canonical_json(value)
