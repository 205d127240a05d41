"""Failure modes that readers wrote down, and whether a case of the suite carries each.

May not guess: a mode is carried where a tag says so, or where a case came from its transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.records.labels import LabelRow
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, join, note, tag, with_code
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.runs import CasePlan
from agenteval_kit.text import fold

if TYPE_CHECKING:
    from agenteval_kit.label.failures import FailureMode

__all__ = ["ModeCarried", "modes_of", "show_modes"]

_LINKED, _SHOWN = 8, 40


@dataclass(frozen=True, slots=True)
class ModeCarried:
    """A failure mode, the lines in which it was noted, and the cases that carry it.

    `cases` holds id and why: "tag" or "origin"; empty where no case carries it.
    """

    mode: FailureMode
    rows: tuple[LabelRow, ...]
    cases: tuple[tuple[str, str], ...]


def modes_of(release: Release) -> list[ModeCarried]:
    """Every mode that was noted on any run of these labels, those without a case first."""
    if release.labels is None or not release.labels.failures():
        return []
    from agenteval_kit.label import collect_failures  # late: what people read with loads more

    written = release.labels.failures()
    found = []
    for mode in collect_failures(release.labels).modes:
        rows = tuple(row for row in written if row.failure in mode.wordings)
        plans = (case.plan for case in release.summary.cases)
        found.append(ModeCarried(mode, rows, tuple(_carriers(mode, rows, plans))))
    return sorted(found, key=lambda one: bool(one.cases))


def _carriers(
    mode: FailureMode, rows: Sequence[LabelRow], plans: Iterator[CasePlan]
) -> Iterator[tuple[str, str]]:
    names = {_key(name) for name in (mode.name, *mode.wordings)}
    seen = {f"{row.run}/{row.case_id}/{row.repeat}" for row in rows}
    for plan in plans:
        if any(_key(name) in names for name in plan.tags):
            yield plan.id, "tag"
        elif plan.origin in seen:
            yield plan.id, "origin"


def _key(name: str) -> str:
    """Tags are written with hyphens or underscores where a reader writes spaces."""
    return re.sub(r"[\W_]+", " ", fold(name)).strip()


def show_modes(release: Release, modes: Sequence[ModeCarried]) -> Html:
    """The modes without a case, with where they were seen; the others in one line."""
    if release.labels is None or not release.labels.rows:
        return note(
            "Nobody has read transcripts of this suite for failures, so failure modes without a "
            "case cannot be told; `agenteval label RUN --rater NAME` is where they are noted."
        )
    if not modes:
        return note("Nobody who read transcripts of this suite wrote a failure down.")
    missing = [one for one in modes if not one.cases]
    rows: list[list[Part]] = [
        [
            one.mode.name,
            str(one.mode.transcripts),
            ", ".join(one.mode.raters),
            _where(one.rows, release),
        ]
        for one in missing[:_SHOWN]
    ]
    more = f" The {_SHOWN} commonest of {len(missing):,}." if len(missing) > _SHOWN else ""
    caption = (
        f"Failure modes without a case, of {len(modes):,} that readers noted on any run.{more} A "
        "case carries a mode if one of its tags is the mode's name, or if its origin is a "
        "transcript on which the mode was noted; `agenteval promote RUN CASE --layer LAYER` makes "
        "such a case. Counts of what was noticed, no rates."
    )
    columns: list[Column | str] = [
        "failure mode",
        Column("transcripts", "number"),
        Column("noted by", "note"),
        "where",
    ]
    shown = table(
        columns, rows, caption=with_code(caption), empty="every mode that was noted has a case"
    )
    return join([shown, _carried([one for one in modes if one.cases], release)])


def _where(rows: Sequence[LabelRow], release: Release) -> Html:
    """Links to transcripts of this run; those of other runs by name."""
    places: dict[tuple[str, str, int], Part] = {}
    for row in rows:
        if row.run == release.run.id:
            link: Part = record_link(row.case_id, release, turn=row.turn, repeat=row.repeat)
        else:
            link = f"{row.run}/{row.case_id}"
        places.setdefault((row.run, row.case_id, row.repeat), link)
    more = f" and {len(places) - _LINKED:,} more" if len(places) > _LINKED else None
    return join([join(list(places.values())[:_LINKED], between=", "), more])


def _carried(modes: Sequence[ModeCarried], release: Release) -> Part:
    if not modes:
        return None
    told = join(
        (
            join(
                [
                    f"{one.mode.name} (",
                    record_link(one.cases[0][0], release),
                    f", by its {one.cases[0][1]}",
                    f", and {len(one.cases) - 1:,} more)" if len(one.cases) > 1 else ")",
                ]
            )
            for one in modes[:_SHOWN]
        ),
        between="; ",
    )
    return tag("p", {"class": "note"}, "With a case: ", told, ".")
