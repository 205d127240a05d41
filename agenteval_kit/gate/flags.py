"""The flags that a release waits for: panels without a majority, seats on both sides of a bar.

May not wait for every disagreement: three good seats disagree somewhere in a seventh of verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from agenteval_kit.gate.dimensions import bound_by_mean, judged_targets, why_not_judged
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.people import by_whom, said_by_people
from agenteval_kit.gate.rows import ClauseRow, unique
from agenteval_kit.gate.thresholds import in_words
from agenteval_kit.records.verdicts import parted_seats
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import VerdictScore

__all__ = ["open_flags"]


def open_flags(evidence: Evidence) -> Iterator[ClauseRow]:
    """Flags that nobody has resolved; asked only where the bar has a judged clause."""
    bar = evidence.bar
    scored = any(clause.unit == "score" for clause in bar.no_worse.values())
    if not (bar.mean or bar.never or scored):
        return
    if_untold: Literal["report", "review"] = "review"
    if "report" in (bar.open_flags, bar.untrusted):
        if_untold = "report"
    if not evidence.judged:
        yield ClauseRow(
            "open_flags", "", "cannot tell", why_not_judged(evidence, ""), bar="no open flag",
            if_untold=if_untold,
        )  # fmt: skip
        return
    raised: Counter[str] = Counter()
    ids: list[str] = []
    resolved: list[Mapping[str, int]] = []
    told: list[str] = []
    panels = 0
    least = {one.name: one.least for one in bound_by_mean(evidence) if not one.why}
    for found in judged_targets(evidence):
        people = said_by_people(evidence, found)
        unheard = False
        for one in found.verdicts:
            panels += len(one.seats) > 1
            flags = list(_flags(one, least.get(found.name), bar.never.get(found.name)))
            if flags and people.of(one):
                resolved.append(people.of(one))
                continue
            unheard = unheard or bool(flags)
            raised.update(f"{flag} ({found.name})" for flag in flags)
            ids += [one.case_id] * bool(flags)
        if unheard and people.unheard_in_words:
            told.append(f"{people.unheard_in_words} ({found.name})")
    if raised:
        listed = ", ".join(f"{count:,} {flag}" for flag, count in raised.items())
        told.insert(0, f"{listed}: a person has to read these")
    elif panels and not resolved:
        told.append(f"none in {counted(panels, 'verdict')} of panels")
    elif not panels:
        told.append("one judge sits on each dimension: there is no panel that could split")
    if resolved:
        verdicts = "flagged verdict was" if len(resolved) == 1 else "flagged verdicts were"
        told.append(f"{len(resolved):,} {verdicts} resolved by a label ({by_whom(resolved)})")
    reason = "; ".join(told)
    if any(found.same_model for found in judged_targets(evidence)):
        reason += "; judge = agent model"
    yield ClauseRow(
        "open_flags", "", "cannot tell" if raised else "pass", reason, bar="no open flag",
        ids=unique(ids), if_untold=if_untold,
    )  # fmt: skip


def _flags(one: VerdictScore, least: float | None, level: int | None) -> Iterator[str]:
    words = {
        "majority": "without a majority",
        "bar": f"with seats on both sides of {in_words(least or 0)}",
        "level": f"with seats on both sides of the level {level}",
    }
    for parted in parted_seats(one.score, one.said, least=least, never=level):
        yield words[parted]
