"""The reading list: which transcripts a person should open next, and why.

May not repeat the hard fails, which stand open above.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.records.transcripts import FINDINGS
from agenteval_kit.report.judged_reading import judged_reasons
from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.page import record_link
from agenteval_kit.report.records import layer_moves
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.summary import asked_alike
from agenteval_kit.visible import shorten_paths

__all__ = ["reading_list", "show_reading_list"]

SHOWN, LINKED = 40, 12
Reason = tuple[str, int, int | None, str, str]
# Oddities of a recording's form that say nothing about the agent.
_QUIET = frozenset({"content_parts", "user_turns_in_a_row", "reasoning_hidden", "reply_without_id"})


def show_reading_list(release: Release) -> Html:
    """One row a reason with the transcripts that give it, the most telling first."""
    groups: dict[tuple[str, str], dict[str, Part]] = {}
    for case_id, repeat, turn, why, layer in reading_list(release):
        link = record_link(case_id, release, turn=turn, repeat=repeat)
        groups.setdefault((why, layer), {}).setdefault(case_id, link)
    heading = tag("h2", {"id": "reading"}, "What to read next")
    if not groups:
        said = "Nothing stands out: no crash, nothing unscored, no odd message, no unlisted tool."
        return join([heading, tag("p", {"class": "lead"}, said)])
    rows: list[list[Part]] = [
        [why, layer, str(len(links)), _first(list(links.values()))]
        for (why, layer), links in list(groups.items())[:SHOWN]
    ]
    more = f"; the first {SHOWN} stand here" if len(groups) > SHOWN else ""
    caption = f"{len(groups)} reasons to read a transcript{more}. Hard fails stand open above."
    columns: list[Column | str] = [
        "why",
        Column("layer", narrow=False),
        Column("cases", "number"),
        "transcripts",
    ]
    return join([heading, table(columns, rows, caption=caption)])


def _first(links: list[Part]) -> Html:
    more = f" and {len(links) - LINKED} more" if len(links) > LINKED else None
    return join([join(links[:LINKED], between=", "), more])


def reading_list(release: Release) -> Iterator[Reason]:
    """Case, repeat, turn, why and layer of each reason, the most telling kind first."""
    yield from _crashes(release)
    yield from _fallen(release)
    yield from judged_reasons(release)
    yield from _unscored(release)
    yield from _findings(release)
    yield from _unlisted_tools(release)


def _crashes(release: Release) -> Iterator[Reason]:
    for case in release.summary.cases:
        for item in case.transcripts:
            if item.crashed:
                yield case.case_id, item.repeat, None, f"the agent crashed: {_line(item.why)}", ""


def _fallen(release: Release) -> Iterator[Reason]:
    if release.before is None or not release.pairs:
        return
    before = asked_alike(release.before, release.summary)
    hard = {row.case_id for row in release.decision.hard_fails} if release.decision else set()
    for case in release.summary.cases:
        for name, was, now in layer_moves(case, before.get(case.case_id)):
            if now < was and case.case_id not in hard:
                at = next(
                    (
                        (row.repeat, row.turn)
                        for item in case.transcripts
                        for row in item.failing
                        if row.layer == name
                    ),
                    (0, None),
                )
                yield case.case_id, at[0], at[1], f"{name} fell: it passed in the baseline", name


def _unscored(release: Release) -> Iterator[Reason]:
    for case in release.summary.cases:
        for item in case.transcripts:
            if item.status in ("unscored", "missing"):
                why = _line(item.why) or "no reason was noted"
                yield case.case_id, item.repeat, None, f"{item.status}: {why}", ""


def _findings(release: Release) -> Iterator[Reason]:
    for facts in release.facts.values():
        for found in facts.findings:
            if found.state not in _QUIET:
                why = FINDINGS.get(found.state, found.state)
                yield facts.case_id, facts.repeat, found.turn, why, ""


def _unlisted_tools(release: Release) -> Iterator[Reason]:
    for case in release.summary.cases:
        if case.plan.tools is None or case.status != "passed":
            continue
        for item in case.transcripts:
            facts = release.facts.get((case.case_id, item.repeat))
            extra = dict.fromkeys(
                name for name in (facts.tools if facts else ()) if name not in case.plan.tools
            )
            if extra:
                why = f"passed, but called {', '.join(extra)}, which the case does not list"
                yield case.case_id, item.repeat, None, why, "trajectory"


def _line(text: str) -> str:
    first = shorten_paths(text.strip().splitlines()[0]) if text.strip() else ""
    return first if len(first) <= 200 else f"{first[:200]}…"
