"""The clause `never`: no single case may score this level, whether a judge or a person says so.

May not let one voice decide alone: a judge is asked twice more, a person is read beside a judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agenteval_kit.gate.dimensions import is_level, judged_row, not_judged, unscored_part
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.people import by_whom, said_by_people
from agenteval_kit.gate.rows import ClauseRow, Status, unique
from agenteval_kit.gate.thresholds import not_ruled_out
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import DimensionScores, VerdictScore

__all__ = ["never"]


def never(evidence: Evidence) -> Iterator[ClauseRow]:
    """No single case may score this level, nor a lower one.

    Raises
    ------
    ConfigError
        If it is no level of its dimension.
    """
    for name, level in evidence.bar.never.items():
        found = evidence.judged.get(name)
        if found is None:
            bar = f"no case scores {level}"
            yield not_judged(evidence, "never", name, bar=bar, threshold=float(level))
        else:
            yield _never(evidence, found, level)


@dataclass(frozen=True, slots=True)
class _Heard:
    """One verdict beside what people said of the same transcript."""

    verdict: VerdictScore
    level: int
    said: Mapping[str, int]

    @property
    def hit(self) -> bool:
        """Whether the judge says the level, or a lower one."""
        return self.verdict.score is not None and self.verdict.score <= self.level

    @property
    def sure(self) -> bool:
        """Whether the majority of the judge's askings does."""
        return self.hit and self.verdict.at_most(self.level) is True

    @property
    def low(self) -> Mapping[str, int]:
        """The people who say so."""
        return {rater: score for rater, score in self.said.items() if score <= self.level}

    @property
    def overruled(self) -> bool:
        """Whether people take back what the judge says: one where it was not sure, else two."""
        return self.hit and not self.low and len(self.said) > (1 if self.sure else 0)

    @property
    def fails(self) -> bool:
        """Whether judge or people are sure; most people with the judge are."""
        if not self.said:
            return self.sure
        return self.by_people or (self.hit and 2 * len(self.low) > len(self.said))

    @property
    def by_people(self) -> bool:
        """Whether people are sure without any judge: two or more, and most of those who read it."""
        return len(self.low) > 1 and 2 * len(self.low) > len(self.said)

    @property
    def open(self) -> bool:
        """Whether somebody says so, and nobody is sure."""
        return not self.fails and not self.overruled and bool(self.hit or self.low)


def _never(evidence: Evidence, found: DimensionScores, level: int) -> ClauseRow:
    levels = found.stamp.levels
    is_level(evidence, f"never.{found.name}", level, levels)
    what = f"{level}" if level == levels[0] else f"{level} or less"
    people = said_by_people(evidence, found)
    heard = [_Heard(one, level, people.of(one)) for one in found.verdicts]
    hits = [one for one in heard if one.hit]
    n = found.judged.n
    status, reason = _status(heard, what, n)
    overruled = [one.said for one in heard if one.overruled]
    if overruled:
        more = " more" if len(hits) > len(overruled) else ""
        who = ", ".join(sorted({rater for raters in overruled for rater in raters}))
        reason += f"; {len(overruled):,}{more} overruled by people (read by {who})"
    if people.unheard_in_words and (hits or people.off_scale):
        reason += f"; {people.unheard_in_words}"
    status, rest = unscored_part(evidence, found, status)
    listed = [one for one in heard if one.fails] + [one for one in heard if one.open]
    row = ClauseRow(
        "never", found.name, status, "; ".join(part for part in (reason, rest) if part),
        bar=f"no case scores {what}", threshold=float(level),
        estimate=_share(heard, what),
        ids=unique(one.verdict.case_id for one in listed),
    )  # fmt: skip
    return _with_people(heard, what, judged_row(evidence, found, row))


def _share(heard: Sequence[_Heard], what: str) -> Estimate | None:
    from agenteval_kit.stats.mean import share_by_case  # late: a bar of checks needs no numpy

    scored = [(one.hit, one.verdict.case_id) for one in heard if one.verdict.score is not None]
    if not scored:
        return None
    hits, cases = zip(*scored, strict=True)
    return share_by_case(hits, cases).noted(f"share of verdicts at {what}")


def _status(heard: Sequence[_Heard], what: str, n: int) -> tuple[Status, str]:
    """What the judge's verdicts come to, people who take one back or confirm it heard."""
    hits = [one for one in heard if one.hit and not one.overruled]
    sure = [one for one in hits if one.fails]
    if sure:
        by = "by the majority of its askings"
        if any(one.said for one in sure):
            by = "by the majority of its askings, or with a person"
        reason = f"{len(sure):,} of {counted(n, 'verdict')} say {what}, each {by}"
        if len(hits) > len(sure):
            reason += f"; {len(hits) - len(sure):,} more without one"
        return "fail", reason
    if hits:
        return (
            "cannot tell",
            f"{len(hits):,} of {counted(n, 'verdict')} say {what}, and {_doubt(hits)}",
        )
    if not n:
        return "cannot tell", "no verdict has a score"
    cases = len({one.verdict.case_id for one in heard if one.verdict.score is not None})
    every = "none" if not any(one.hit for one in heard) else "no other"
    return "pass", f"{every} of {counted(n, 'verdict')} says {what}; {not_ruled_out(n, cases)}"


def _doubt(hits: Sequence[_Heard]) -> str:
    """Why none of these is sure."""
    if any(one.said for one in hits):
        return "people who read them do not all say so"
    once = sum(one.verdict.at_most(one.level) is None for one in hits)
    if once < len(hits):
        return "asked again, the majority did not say so"
    return "a single judge was asked once; judge under this bar, and it is asked twice more"


def _with_people(heard: Sequence[_Heard], what: str, row: ClauseRow) -> ClauseRow:
    """A row that no person who says this level is passed over by, whoever is trusted."""
    low = [one for one in heard if one.low]
    if not low:
        return row
    firm = any(one.by_people for one in low)
    many = counted(len(low), "transcript")
    said = f"people give {what} to {many} ({by_whom((one.low for one in low), word='to')})"
    return replace(
        row,
        status="fail" if firm or row.status == "fail" else "cannot tell",
        # Judges that are only reported do not make a person's reading a report.
        if_untold="review" if row.if_untold == "report" else row.if_untold,
        reason=f"{said}; {row.reason.removesuffix('; reported, not counted')}",
        ids=unique((*(one.verdict.case_id for one in low), *row.ids)),
        people=unique(rater for one in low for rater in one.low),
    )
