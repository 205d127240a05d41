"""Links from a section to a record or to a turn of its transcript.

May not make a place: `records` and `transcript` do.
"""

from __future__ import annotations

from agenteval_kit.report.markup import Html, anchor, tag
from agenteval_kit.report.release import Release

__all__ = ["record_link"]


def record_link(
    case_id: str, release: Release, *, turn: int | None = None, repeat: int = 0
) -> Html:
    """A link to a record, or to a turn of its transcript; plain text if it is not on the page."""
    if case_id not in release.states:
        return tag("span", None, case_id)
    if turn is None:
        return tag("a", {"href": f"#{anchor('record', case_id)}"}, case_id)
    place = anchor(f"t-{case_id}-{repeat}-turn-{turn}")
    return tag("a", {"href": f"#{place}"}, f"{case_id}, turn {turn}")
