"""Hard fails: what no score buys back, each with its transcript open at the turn.

May not choose what is hard: the bar does.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.report.excerpt import Window, focus_turns
from agenteval_kit.report.facts import Key
from agenteval_kit.report.markup import Html, Part, anchor, badge, join, tag
from agenteval_kit.report.page import record_link
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.transcript import transcript_html

__all__ = ["SHOWN_OPEN", "by_transcript", "hard_excerpt", "show_hard_fails"]

SHOWN_OPEN = 10
"""How many hard fails stand open; the others are listed, with links."""
_BEFORE, _AFTER, _CHARS = 3, 1, 900


def show_hard_fails(release: Release) -> Html:
    """Hard fails first: the check that failed and the turns about it."""
    decision = release.decision
    if decision is None or not _asks(decision.bar.bar.hard_layers, decision.bar.bar.critical):
        said = "The bar names no hard layer and no critical case, so nothing can be a hard fail."
        return join(
            [tag("h2", {"id": "hard"}, "No hard clause"), tag("p", {"class": "lead"}, said)]
        )
    found = by_transcript(decision.hard_fails)
    total = len(release.summary.cases)
    if not found:
        said = f"None in {total} cases."
        heading = "No hard fail"
        return join([tag("h2", {"id": "hard"}, heading), tag("p", {"class": "lead"}, said)])
    cases = len({key[0] for key in found})
    parts: list[Part] = [
        tag("h2", {"id": "hard"}, "Hard fails come first"),
        tag("p", {"class": "lead"}, f"{cases} of {total} cases. A score cannot buy this back."),
    ]
    keys = list(found)
    for key in keys[:SHOWN_OPEN]:
        parts.append(_card(key, found[key], release))
    rest = keys[SHOWN_OPEN:]
    if rest:
        rows: list[list[Part]] = [
            [
                record_link(key[0], release),
                str(key[1]),
                "; ".join(f"{row.layer}: {row.name}" for row in found[key]),
                found[key][0].why,
            ]
            for key in rest
        ]
        columns: list[Column | str] = ["case", Column("repeat", "number"), "check", "why"]
        parts.append(table(columns, rows, caption=f"The other {len(rest)} hard fails."))
    return join(parts)


def by_transcript(rows: Sequence[CheckRow]) -> dict[Key, list[CheckRow]]:
    """Rows by case and repeat, in their order."""
    found: dict[Key, list[CheckRow]] = {}
    for row in rows:
        found.setdefault((row.case_id, row.repeat), []).append(row)
    return found


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
    )


def _card(key: Key, rows: Sequence[CheckRow], release: Release) -> Html:
    case_id, repeat = key
    same = [item for item in (release.decision.hard_fails if release.decision else ())
            if item.case_id == case_id]  # fmt: skip
    repeats = len({item.repeat for item in same})
    said = f"Failed in {repeats} of {release.summary.repeats} repeats."
    badges = join((badge("fail", words=f"{row.layer}: {row.name}") for row in rows), between=" ")
    return tag(
        "article",
        {"class": "card"},
        tag("h3", None, record_link(case_id, release), f", repeat {repeat} ", badges),
        tag("p", {"class": "note"}, said) if release.summary.repeats > 1 else None,
        release.hard_shown.get(key),
    )


def _asks(hard_layers: Sequence[str], critical: str | None) -> bool:
    return bool(hard_layers) or critical is not None
