"""Coverage: what the cases reach, and what they never touched.

May not call a case covered because it ran: only what a check or a call reached counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agenteval_kit.report.links import record_link
from agenteval_kit.report.marks import share_mark
from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.summary import ALL_CHECKS, CaseScore

__all__ = ["show_coverage"]

_LISTED = 30
_ROWS = 14


def show_coverage(release: Release) -> Html:
    """Cases by layer, tag and tool; tools never exercised; cases that never failed."""
    cases = release.summary.cases
    never = _never_called(release)
    return join(
        [
            tag("h2", {"id": "coverage"}, _finding(release, never)),
            tag(
                "div",
                {"class": "three"},
                tag("div", None, _by_layer(release)),
                tag("div", None, _by_tag(cases)),
                tag("div", None, _by_tool(release)),
            ),
            tag("p", {"class": "lead"}, _never_said(release, never)),
            _by_dimension(release),
            _never_failed(release),
        ]
    )


def _finding(release: Release, never: list[str]) -> str:
    reached = len([item for item in release.summary.layers if item.n or item.unscored])
    tools = len({name for facts in release.facts.values() for name in facts.tools})
    said = f"Coverage: {len(release.summary.cases)} cases reach {reached} layers and {tools} tools"
    return f"{said}; {len(never)} tools are never exercised" if never else said


def _by_layer(release: Release) -> Html:
    every = release.summary.cases
    names = [item.layer for item in release.summary.layers]
    rows: list[list[Part]] = []
    for name in names:
        mine = [case for case in every if name in case.counts]
        failed = sum(case.counts[name].failed > 0 for case in mine)
        rows.append([name, str(len(mine)), share_mark(len(mine), len(every)), str(failed)])
    only_judged = sum(case.status == "judge only" for case in every)
    if only_judged:
        rows.append(["judge only", str(only_judged), share_mark(only_judged, len(every)), "–"])
    return _counts("layer", rows, caption=f"Cases by layer, of {len(every)}.", empty="no layer")


def _by_tag(cases: Iterable[CaseScore]) -> Html:
    every = list(cases)
    tally = Counter(name for case in every for name in dict.fromkeys(case.plan.tags))
    names = [name for name, _ in sorted(tally.items(), key=lambda item: (-item[1], item[0]))]
    rows: list[list[Part]] = []
    for name in names[:_ROWS]:
        mine = [case for case in every if name in case.plan.tags]
        failed = sum(case.status == "failed" for case in mine)
        rows.append([name, str(len(mine)), share_mark(len(mine), len(every)), str(failed)])
    more = f" The {_ROWS} commonest of {len(names)}." if len(names) > _ROWS else ""
    return _counts("tag", rows, caption=f"Cases by tag.{more}", empty="no case has a tag")


def _by_tool(release: Release) -> Html:
    total = len(release.summary.cases)
    callers: dict[str, set[str]] = {}
    for facts in release.facts.values():
        for name in facts.tools:
            callers.setdefault(name, set()).add(facts.case_id)
    failed = {case.case_id for case in release.summary.cases if case.status == "failed"}
    ordered = sorted(callers.items(), key=lambda item: (-len(item[1]), item[0]))
    rows: list[list[Part]] = [
        [name, str(len(ids)), share_mark(len(ids), total), str(len(ids & failed))]
        for name, ids in ordered[:_ROWS]
    ]
    more = f" The {_ROWS} commonest of {len(ordered)}." if len(ordered) > _ROWS else ""
    return _counts(
        "tool", rows, caption=f"Cases in which a tool was called.{more}", empty="no call"
    )


def _by_dimension(release: Release) -> Part:
    """What each judged dimension reaches, and how much people labelled; nothing without a judge."""
    dimensions = release.judgements.dimensions
    if not dimensions:
        return None
    total = len(release.summary.cases)
    rows: list[list[Part]] = []
    for one in dimensions:
        judged = one.judged
        cases = len({verdict.case_id for verdict in one.verdicts})
        low = judged.distribution.get(one.stamp.levels[0], 0)
        rows.append(
            [
                one.name.replace("_", " "),
                str(cases),
                share_mark(cases, total),
                str(low),
                str(judged.unscored),
                str(release.judgements.labelled.get(one.name, 0) or "none"),
            ]
        )
    columns: list[Column | str] = [
        "dimension",
        Column("cases", "number"),
        Column("share", "figure"),
        Column("verdicts at the lowest level", "number"),
        Column("unscored", "number"),
        Column("labels", "number"),
    ]
    caption = (
        f"Cases by judged dimension, of {total}. A dimension without labels is one of which nobody "
        "knows whether its judge sees what people see; one without a low verdict shows only what a "
        "good transcript scores."
    )
    return table(columns, rows, caption=caption, compact=True)


def _counts(what: str, rows: list[list[Part]], *, caption: str, empty: str) -> Html:
    columns: list[Column | str] = [
        what,
        Column("cases", "number"),
        Column("share", "figure"),
        Column("failed", "number"),
    ]
    return table(columns, rows, caption=caption, empty=empty)


def _never_called(release: Release) -> list[str]:
    listed = set(release.run.info.tools or ())
    listed |= {name for case in release.summary.cases for name in case.plan.tools or ()}
    called = {name for facts in release.facts.values() for name in facts.tools}
    return sorted(listed - called)


def _never_said(release: Release, never: list[str]) -> str:
    if never:
        return f"Listed by the suite or a case, and never called: {', '.join(never)}."
    if release.run.info.tools is None:
        return (
            "The suite lists no tools, so tools that were never exercised cannot be told; "
            "`tools: [...]` in the suite file lists them."
        )
    return "Every tool that the suite lists was called."


def _never_failed(release: Release) -> Part:
    failed = {case.case_id for case in release.summary.cases if case.counts[ALL_CHECKS].failed}
    runs = 1
    if release.before is not None and release.pairs:
        runs = 2
        failed |= {case.case_id for case in release.before.cases if case.counts[ALL_CHECKS].failed}
    never = [
        case.case_id
        for case in release.summary.cases
        if case.case_id not in failed and case.status == "passed"
    ]
    if not never:
        return None
    where = "in either run" if runs == 2 else "in this run"
    links = join((record_link(name, release) for name in never[:_LISTED]), between=", ")
    more = f" and {len(never) - _LISTED} more" if len(never) > _LISTED else None
    said = f"{len(never)} cases failed no check {where}; a case that can never fail tells nothing"
    return tag(
        "details", None, tag("summary", None, said), tag("p", {"class": "note"}, links, more)
    )
