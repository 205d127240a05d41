"""The claim that judged scores are no lower than the baseline's, paired by case under one judge.

May not hold scores of two judges or two rubrics against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.gate.dimensions import judged_row, not_judged
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import STATUS, ClauseRow, Status
from agenteval_kit.gate.thresholds import in_words, reaches
from agenteval_kit.records.bars import NoWorseClause
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.pairing import PairedDimension
    from agenteval_kit.judge.scores import DimensionScores

__all__ = ["no_lower_score", "unpaired"]


def no_lower_score(
    evidence: Evidence, target: str, clause: NoWorseClause, bar: str
) -> Iterator[ClauseRow]:
    """A row for the dimension of that name, else for each judged dimension of that layer.

    Raises
    ------
    ConfigError
        If the margin is as large as the scale, so that nothing could fail.
    """
    named = evidence.judged.get(target)
    found = [named] if named is not None else [
        one for one in evidence.judged.values() if one.judged.layer == target
    ]  # fmt: skip
    if not found:
        yield not_judged(evidence, "no_worse", target, bar=bar, threshold=clause.margin)
    for one in found:
        _check_margin(evidence, one, clause)
        yield judged_row(evidence, one, _row(evidence, one, clause, bar))


def _row(evidence: Evidence, one: DimensionScores, clause: NoWorseClause, bar: str) -> ClauseRow:
    before = evidence.judged_before.get(one.name)
    why = evidence.no_baseline
    if not why and before is None and evidence.baseline is not None:
        why = (
            f'the baseline {evidence.baseline.id} was not judged on "{one.name}"; judge it with '
            "the same rubric and judge"
        )
    if why or before is None:
        return ClauseRow("no_worse", one.name, "cannot tell", why, bar=bar, threshold=clause.margin)
    # Late: statistics of scores load numpy, which a bar of checks has no use for.
    from agenteval_kit.judge.pairing import pair_dimension

    pair = pair_dimension(before, one)
    status, reason = _claim(evidence, pair, clause, before, one)
    return ClauseRow(
        "no_worse", one.name, status, reason, bar=bar, threshold=clause.margin,
        estimate=pair.difference, ids=pair.worse,
    )  # fmt: skip


def _claim(
    evidence: Evidence,
    pair: PairedDimension,
    clause: NoWorseClause,
    before: DimensionScores,
    after: DimensionScores,
) -> tuple[Status, str]:
    if pair.refused or pair.difference.value is None:
        return "cannot tell", pair.refused or pair.difference.reason
    answer, reason = pair.claim(clause.margin)
    told = [reason, pair.finding, f"{len(pair.worse):,} lower, {len(pair.better):,} higher"]
    both = {one.case_id for one in before.verdicts} & {one.case_id for one in after.verdicts}
    status, lost = unpaired(
        evidence, STATUS[answer], cases=pair.n + len(pair.dropped), dropped=len(pair.dropped),
        here=_unscored(after, both), before=_unscored(before, both),
    )  # fmt: skip
    told += lost
    still_open = before.open + after.open
    if still_open:
        told.append(f"{counted(still_open, 'transcript')} not judged yet")
        status = "cannot tell" if status == "pass" else status
    if evidence.in_part:
        told.append(evidence.in_part)
    return status, "; ".join(told)


def unpaired(
    evidence: Evidence,
    status: Status,
    *,
    cases: int,
    dropped: int,
    here: tuple[int, int],
    before: tuple[int, int],
) -> tuple[Status, list[str]]:
    """What a comparison has no score for, in words; too much of it keeps a clause from passing.

    Cases that one run has no score of at all; and transcripts without one, of all in each run,
    because a case counts by the repeats that are left as long as one is. Where there are no more
    of these than of those, the cases say it all.
    """
    told: list[str] = []
    parts = (
        (dropped, cases, f"{counted(dropped, 'case')} not scored in both runs"),
        (*here, f"{here[0]:,} of {counted(here[1], 'transcript')} unscored"),
        (*before, f"{before[0]:,} of {counted(before[1], 'transcript')} unscored in the baseline"),
    )
    for lost, of, text in parts:
        if not lost or (told and lost <= dropped):
            continue
        told.append(text)
        if not reaches(evidence.bar.max_unscored, lost / of):
            status = "cannot tell" if status == "pass" else status
            told[-1] += f", more than {in_words(evidence.bar.max_unscored, percent=True)}"
    return status, told


def _unscored(scores: DimensionScores, cases: Set[str]) -> tuple[int, int]:
    found = [one.score for one in scores.verdicts if one.case_id in cases]
    return found.count(None), len(found)


def _check_margin(evidence: Evidence, one: DimensionScores, clause: NoWorseClause) -> None:
    levels = one.stamp.levels
    if clause.margin >= levels[-1] - levels[0]:
        raise ConfigError(
            Problem(
                f'"no_worse.{one.name}" has a margin of {clause.margin:g}, and no drop on the '
                f"scale {levels[0]} to {levels[-1]} can be larger, so nothing could fail",
                evidence.bar_file or None,
            )
        )
