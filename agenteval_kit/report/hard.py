"""Hard fails: what no score buys back, each with its transcript open at the turn.

May not choose what is hard: the bar does.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.report.excerpt import Window, focus_turns
from agenteval_kit.report.facts import Key
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, absent, anchor, badge, join, note, tag
from agenteval_kit.report.reading import gravest_first
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.text import counted

__all__ = ["hard_excerpt", "opened_rows", "show_hard_fails"]

SHOWN_OPEN = 10
"""How many cases stand open; the others are listed, with links."""
_BEFORE, _AFTER, _CHARS = 3, 1, 900


def show_hard_fails(release: Release) -> Html:
    """Hard fails first: the check that failed and the turns about it."""
    decision = release.decision
    if decision is None or not _asks(decision.bar.bar.hard_layers, decision.bar.bar.critical):
        said = "The bar names no hard layer and no critical case, so nothing can be a hard fail."
        return absent("hard", "No hard clause", said)
    found = _by_case(decision.hard_fails, release)
    total = len(release.summary.cases)
    if not found:
        return absent("hard", "No hard fail", f"None in {counted(total, 'case')}.")
    parts: list[Part] = [
        tag("h2", {"id": "hard"}, f"{len(found):,} of {counted(total, 'case')} fail hard"),
        tag(
            "p",
            {"class": "lead"},
            "They come first: no score buys a hard fail back.",
            _order(release) if len(found) > 1 else None,
        ),
    ]
    names = list(found)
    for name in names[:SHOWN_OPEN]:
        parts.append(_card(name, found[name], release))
    rest = names[SHOWN_OPEN:]
    if rest:
        rows: list[list[Part]] = [
            [
                record_link(name, release),
                _failed_in(found[name], release),
                "; ".join(dict.fromkeys(f"{row.layer}: {row.name}" for row in found[name])),
                found[name][0].why,
            ]
            for name in rest
        ]
        columns: list[Column | str] = ["case", "failed in", "check", "why"]
        parts.append(table(columns, rows, caption=f"The other {counted(len(rest), 'case')}."))
    return join(parts)


def _order(release: Release) -> str:
    broke = ", then what the baseline passed" if release.pairs else ""
    return (
        f" Gravest first: what is critical and of a hard layer both{broke}, else as in the suite."
    )


def opened_rows(release: Release) -> dict[Key, list[CheckRow]]:
    """The transcripts that stand open, one a case: its first repeat that failed."""
    rows = release.decision.hard_fails if release.decision is not None else ()
    return {
        (name, mine[0].repeat): [row for row in mine if row.repeat == mine[0].repeat]
        for name, mine in list(_by_case(rows, release).items())[:SHOWN_OPEN]
    }


def _by_case(rows: Sequence[CheckRow], release: Release) -> dict[str, list[CheckRow]]:
    """Rows by case, the gravest case first, as what to read first is chosen."""
    found: dict[str, list[CheckRow]] = {}
    for row in rows:
        found.setdefault(row.case_id, []).append(row)
    return {name: found[name] for name in gravest_first(list(found), release)}


def hard_excerpt(transcript: Transcript, rows: Sequence[CheckRow]) -> Html:
    """The turns about a hard fail; the whole transcript stands among the records."""
    turns = focus_turns(rows)
    at = turns[0] if turns else (transcript.answer_turn or 0)
    near = range(max(0, at - _BEFORE), min(len(transcript.turns), at + _AFTER + 1))
    return transcript_html(
        transcript,
        rows=rows,
        place=anchor("hard", transcript.case_id, transcript.repeat),
        open_at=at,
        window=Window(frozenset(near), _CHARS),
        ends=False,
    )


def _card(case_id: str, rows: Sequence[CheckRow], release: Release) -> Html:
    repeat = rows[0].repeat
    names = dict.fromkeys(f"{row.layer}: {row.name}" for row in rows)
    badges = join((badge("fail", words=name) for name in names), between=" ")
    many = release.summary.repeats > 1
    return tag(
        "article",
        {"class": "card"},
        tag("h3", None, record_link(case_id, release), " ", badges),
        note(f"Failed in {_failed_in(rows, release)}; this is repeat {repeat}.") if many else None,
        release.hard_shown.get((case_id, repeat)),
    )


def _failed_in(rows: Sequence[CheckRow], release: Release) -> str:
    return f"{len({row.repeat for row in rows})} of {counted(release.summary.repeats, 'repeat')}"


def _asks(hard_layers: Sequence[str], critical: str | None) -> bool:
    return bool(hard_layers) or critical is not None
