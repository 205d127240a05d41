"""Coverage: what the cases reach, and what they never touched.

May not call a case covered because it ran: only what a check or a call reached counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from agenteval_kit.report.links import record_link
from agenteval_kit.report.marks import share_mark
from agenteval_kit.report.markup import Html, Part, join, tag, with_code
from agenteval_kit.report.modes import ModeCarried, modes_of, show_modes
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import listed
from agenteval_kit.runs import wordings_of
from agenteval_kit.summary import ALL_CHECKS, CaseScore, asked_alike
from agenteval_kit.text import counted

__all__ = ["show_coverage"]

_LISTED = 30
_ROWS = 14


def show_coverage(release: Release) -> Html:
    """Cases by layer, tag, tool and dimension; and what no case, label or failure ever reached."""
    cases = release.summary.cases
    never = _never_called(release)
    modes = modes_of(release)
    return join(
        [
            tag("h2", {"id": "coverage"}, _finding(release, never, modes)),
            tag(
                "div",
                {"class": "three"},
                tag("div", None, _by_layer(release)),
                tag("div", None, _by_tag(cases)),
                tag("div", None, _by_tool(release)),
            ),
            tag("p", {"class": "lead"}, with_code(_never_said(release, never))),
            show_modes(release, modes),
            _by_dimension(release),
            _never_failed(release),
        ]
    )


def _finding(release: Release, never: Sequence[str], modes: Sequence[ModeCarried]) -> str:
    reached = len([item for item in release.summary.layers if item.n or item.unscored])
    tools = len({name for facts in release.facts.values() for name in facts.tools})
    said = [
        f"{counted(len(release.summary.cases), 'case')} reach "
        f"{counted(reached, 'layer')} and {counted(tools, 'tool')}"
    ]
    if never:
        said.append(f"{counted(len(never), 'tool')} never exercised")
    missing = sum(not one.cases for one in modes)
    if missing:
        said.append(f"{counted(missing, 'failure mode')} without a case")
    unlabelled = _unlabelled(release)
    if unlabelled:
        said.append(f"{counted(len(unlabelled), 'dimension')} without labels")
    return f"Coverage: {'; '.join(said)}"


def _by_layer(release: Release) -> Html:
    every = release.summary.cases
    names = [item.layer for item in release.summary.layers]
    rows: list[list[Part]] = []
    for name in names:
        mine = [case for case in every if name in case.counts]
        failed = sum(case.counts[name].failed > 0 for case in mine)
        rows.append([name, f"{len(mine):,}", share_mark(len(mine), len(every)), f"{failed:,}"])
    only_judged = sum(case.status == "judge only" for case in every)
    if only_judged:
        rows.append(["judge only", f"{only_judged:,}", share_mark(only_judged, len(every)), "–"])
    return _counts("layer", rows, caption=f"Cases by layer, of {len(every):,}.", empty="no layer")


def _by_tag(cases: Iterable[CaseScore]) -> Html:
    every = list(cases)
    tally = Counter(name for case in every for name in dict.fromkeys(case.plan.tags))
    names = [name for name, _ in sorted(tally.items(), key=lambda item: (-item[1], item[0]))]
    rows: list[list[Part]] = []
    for name in names[:_ROWS]:
        mine = [case for case in every if name in case.plan.tags]
        failed = sum(case.status == "failed" for case in mine)
        rows.append([name, f"{len(mine):,}", share_mark(len(mine), len(every)), f"{failed:,}"])
    more = f" The {_ROWS} commonest of {len(names):,}." if len(names) > _ROWS else ""
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
        [name, f"{len(ids):,}", share_mark(len(ids), total), f"{len(ids & failed):,}"]
        for name, ids in ordered[:_ROWS]
    ]
    more = f" The {_ROWS} commonest of {len(ordered):,}." if len(ordered) > _ROWS else ""
    return _counts(
        "tool", rows, caption=f"Cases in which a tool was called.{more}", empty="no call"
    )


def _by_dimension(release: Release) -> Part:
    """What each dimension reaches, and how much people labelled; nothing where there is none."""
    total = len(release.summary.cases)
    labels = _labels(release)
    rows: list[list[Part]] = []
    for one in release.judgements.dimensions:
        judged = one.judged
        cases = len({verdict.case_id for verdict in one.verdicts})
        low = judged.distribution.get(one.stamp.levels[0], 0)
        rows.append(
            [
                _words(one.name),
                f"{cases:,}",
                share_mark(cases, total),
                f"{low:,}",
                f"{judged.unscored:,}",
                _labelled(one.name, labels[one.name], release),
            ]
        )
    for name in _not_judged(release):
        many = f"{labels[name]:,}" if labels[name] else "none"
        rows.append([_words(name), "not judged", share_mark(0, total), "–", "–", many])
    if not rows:
        return None
    columns: list[Column | str] = [
        "dimension",
        Column("cases", "number"),
        Column("share", "figure"),
        Column("verdicts at the lowest level", "number"),
        Column("unscored", "number"),
        Column("labels", "number"),
    ]
    caption = (
        f"Cases by dimension, of {total:,}; labels are transcripts that a person gave a level "
        "under this wording. A dimension without labels is one of which nobody knows whether its "
        "judge sees what people see; one without a low verdict shows only what a good transcript "
        "scores."
    )
    shown = table(columns, rows, caption=caption, compact=True)
    return join([tag("p", {"class": "lead"}, _labels_said(release)), shown])


def _labels(release: Release) -> Counter[str]:
    """By dimension, transcripts of any run with a level; a judged one's under its wording."""
    stamps = release.run.judge_stamps()
    wordings = {one.name: wordings_of(one.stamp, stamps) for one in release.judgements.dimensions}
    read = {
        (row.dimension, row.run, row.case_id, row.repeat)
        for row in (release.labels.labels() if release.labels is not None else ())
        if row.level is not None
        and (
            not row.dimension_digest
            or row.dimension not in wordings
            or row.dimension_digest in wordings[row.dimension]
        )
    }
    found = Counter(name for name, *_ in read)
    for name, entry in release.judgements.calibrated.items():
        # A calibration outlives the files of labels that it was made from.
        found[name] = max(found[name], entry.labelled)
    return found


def _labelled(name: str, every: int, release: Release) -> str:
    here = release.judgements.labelled.get(name, 0)
    if not every:
        return "none"
    some = f"{here:,}" if here else "none"
    return f"{every:,}, {'all' if here == every else some} of this run"


def _not_judged(release: Release) -> list[str]:
    """Dimensions of the rubric that no judge was asked for, and those that people labelled."""
    judged = [one.name for one in release.judgements.dimensions]
    rubric = [name for one in release.judgements.dimensions for name in one.stamp.scales]
    every = dict.fromkeys([*rubric, *_labels(release)])
    return [name for name in every if name not in judged]


def _unlabelled(release: Release) -> list[str]:
    labels = _labels(release)
    names = [*(one.name for one in release.judgements.dimensions), *_not_judged(release)]
    return [name for name in names if not labels[name]]


def _labels_said(release: Release) -> str:
    without = [_words(name) for name in _unlabelled(release)]
    if not without:
        return "Every dimension has labels of people."
    return f"Nobody has labelled a transcript on {listed(without)}."


def _words(name: str) -> str:
    return name.replace("_", " ")


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
    """Cases that failed no check in any run shown that asked them as they are asked now."""
    runs = _runs(release)
    never: dict[str, int] = {}
    for case in release.summary.cases:
        told = [run[case.case_id] for run in runs if case.case_id in run]
        if case.status == "passed" and not any(told):
            never[case.case_id] = len(told)
    if not never:
        return None
    where = {1: "in this run", 2: "in either run"}.get(
        len(runs), f"in any of the {len(runs)} runs that are shown"
    )
    links = [
        join([record_link(name, release), _fewer(asked, len(runs))])
        for name, asked in list(never.items())[:_LISTED]
    ]
    more = f" and {len(never) - _LISTED:,} more" if len(never) > _LISTED else None
    cases = counted(len(never), "case")
    said = f"{cases} failed no check {where}; a case that can never fail tells nothing"
    aside = None
    if len(runs) > 1:
        aside = " An earlier run counts where it asked the case as it is asked now."
    return tag(
        "details",
        None,
        tag("summary", None, said),
        tag("p", {"class": "note"}, join(links, between=", "), more, ".", aside),
    )


def _runs(release: Release) -> list[Mapping[str, bool]]:
    """Of each run shown, this one among them: whether a case failed, where it was asked alike."""
    runs = {item.run_id: item.failed for item in release.trends}
    runs[release.run.id] = _failed(release.summary.cases)
    if release.baseline is not None and release.before is not None and release.pairs:
        alike = asked_alike(release.before, release.summary)
        runs.setdefault(release.baseline.id, _failed(alike.values()))
    return list(runs.values())


def _failed(cases: Iterable[CaseScore]) -> dict[str, bool]:
    return {case.case_id: case.counts[ALL_CHECKS].failed > 0 for case in cases if case.n}


def _fewer(asked: int, runs: int) -> str | None:
    """That some of the runs did not ask a case; nothing where all did."""
    return f" (in {asked})" if asked < runs else None
