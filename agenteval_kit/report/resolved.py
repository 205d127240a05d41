"""The flags that people resolved: who said which level of which verdict, when, and why.

May not decide what a label does to a clause: the gate does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agenteval_kit.report.judged import ShownVerdict
from agenteval_kit.report.judged_reading import Reason
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Part, folded, join, note, tag, with_code
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import clip

__all__ = ["is_resolved", "show_resolved"]

_SHOWN, _LONGEST = 40, 300


def is_resolved(reason: Reason, release: Release) -> bool:
    """Whether a person gave the transcript a level, on the dimension whose verdict was flagged."""
    if not reason.flag or reason.waits:
        return False
    return bool(release.judgements.people_on(reason.case_id, reason.repeat, reason.flag))


def show_resolved(reasons: Sequence[Reason], release: Release) -> Part:
    """One row a flag: the verdict, who gave which level, when, why; and what is still open."""
    flags: dict[tuple[str, int, str], list[Reason]] = {}
    for one in reasons:
        if one.flag:
            flags.setdefault((one.case_id, one.repeat, one.flag), []).append(one)
    if not flags:
        return None
    done = {
        key: mine for key, mine in flags.items() if all(is_resolved(one, release) for one in mine)
    }
    waiting = {key[0] for key in flags if key not in done}
    heading = tag("h3", {"id": "flags"}, _finding(len(done), len(flags) - len(done)))
    if not done:
        said = (
            "A label or a review of that transcript and dimension resolves a flag: "
            "`agenteval review RUN CASE DIMENSION --rater NAME`, or `agenteval label`."
        )
        return join(
            [heading, tag("p", {"class": "note"}, with_code(said), _bar_waits(waiting, release))]
        )
    rows: list[list[Part]] = []
    for (case_id, repeat, dimension), mine in done.items():
        why = "; ".join(dict.fromkeys(one.why.partition(": ")[2] for one in mine))
        link = record_link(case_id, release, turn=mine[0].turn, repeat=repeat)
        people = release.judgements.people_on(case_id, repeat, dimension)
        notes = [
            f"{rater}: {clip(row.note, _LONGEST)}" for rater, row in people.items() if row.note
        ]
        rows.append(
            [
                link,
                f"{dimension.replace('_', ' ')}: {why}",
                _judge_said(case_id, repeat, dimension, release),
                ", ".join(f"{rater} {row.level}" for rater, row in people.items()),
                max(row.at for row in people.values())[:16].replace("T", " "),
                "; ".join(notes) or "no reason given",
            ]
        )
    columns: list[Column | str] = [
        "transcript",
        "why it was flagged",
        Column("judge", "number"),
        "people",
        Column("last, UTC", "number"),
        Column("reason", "prose"),
    ]
    lead = (
        "Resolved: a person read the transcript and gave a level. The verdict stays as it is and "
        f"no mean counts the label; what a clause makes of it stands in its row."
        f"{_bar_waits(waiting, release)}"
    )
    caption = f"The first {_SHOWN} of {len(rows):,}." if len(rows) > _SHOWN else "All of them."
    shown = table(columns, rows[:_SHOWN], caption=caption)
    return join([heading, note(lead), folded("Who resolved which, and how", shown)])


def _finding(done: int, waiting: int) -> str:
    flags = f"{done + waiting} verdicts were" if done + waiting != 1 else "One verdict was"
    open_ = f"{waiting} wait" if waiting != 1 else "one waits"
    said = f"{flags} flagged: {done or 'none'} resolved by a person"
    return f"{said}, {open_}" if waiting else f"{said}, none waits"


def _bar_waits(cases: Collection[str], release: Release) -> str:
    """How many of the open cases a clause waits for: the bar waits for some kinds of flags only."""
    if release.decision is None or not cases:
        return ""
    held = {
        case_id
        for row in release.decision.rows
        if row.clause in ("open_flags", "never") and row.effect != "none"
        for case_id in row.ids
    }
    many = len(held.intersection(cases))
    which = {0: "no case", 1: "one case"}.get(many, f"{many:,} cases")
    return f" The bar waits for people on {which} of these; the others are for who has the time."


def _judge_said(case_id: str, repeat: int, dimension: str, release: Release) -> str:
    verdict = next(
        one for one in release.judgements.verdicts[case_id, repeat] if one.dimension == dimension
    )
    return _seats(verdict)


def _seats(verdict: ShownVerdict) -> str:
    """The score, and what each seat said where there are several."""
    score = "unscored" if verdict.score is None else str(verdict.score)
    if len(verdict.seats) < 2:
        return score
    each = ", ".join("–" if seat.score is None else str(seat.score) for seat in verdict.seats)
    return f"{score} ({each})"
