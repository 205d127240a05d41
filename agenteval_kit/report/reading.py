"""The reading list: which transcripts a person should open next, and why.

May not repeat the hard fails, which stand open above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenteval_kit.records import CheckRow
from agenteval_kit.records.transcripts import FINDINGS
from agenteval_kit.report.judged_reading import Reason, judged_near_the_bar, judged_reasons
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.release import Release, layer_moves
from agenteval_kit.report.resolved import is_resolved, show_resolved
from agenteval_kit.report.standing import holds_the_bar
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import listed
from agenteval_kit.stats.beside_bar import in_words, more_exactly
from agenteval_kit.summary import ALL_CHECKS, CaseScore, asked_alike
from agenteval_kit.text import counted
from agenteval_kit.visible import shorten_paths

__all__ = [
    "gravest", "gravest_first", "open_reasons", "reading_list", "show_reading_list", "why_first",
]  # fmt: skip

SHOWN, LINKED = 40, 12
# Oddities of a recording's form that say nothing about the agent.
_QUIET = frozenset({"content_parts", "user_turns_in_a_row", "reasoning_hidden", "reply_without_id"})


def show_reading_list(release: Release) -> Html:
    """One row a reason with the transcripts that give it; then who resolved which flag."""
    every = list(reading_list(release))
    groups: dict[tuple[str, str], dict[str, Part]] = {}
    for one in every:
        if is_resolved(one, release):
            continue
        link: Part = record_link(one.case_id, release, turn=one.turn, repeat=one.repeat)
        if one.aside:
            link = join([link, " ", tag("span", {"class": "note"}, f"({one.aside})")])
        groups.setdefault((one.why, one.layer), {}).setdefault(one.case_id, link)
    heading = tag("h2", {"id": "reading"}, "What to read next")
    if not groups:
        hard = release.decision is not None and bool(release.decision.hard_fails)
        said = (
            f"{'Beside the hard fails above nothing' if hard else 'Nothing'} stands out: no crash, "
            "nothing unscored, no odd message, no unlisted tool."
        )
        listed: Html = tag("p", {"class": "lead"}, said)
    else:
        rows: list[list[Part]] = [
            [why, layer, f"{len(links):,}", _first(list(links.values()))]
            for (why, layer), links in list(groups.items())[:SHOWN]
        ]
        more = f"; the first {SHOWN} stand here" if len(groups) > SHOWN else ""
        reasons = f"{len(groups):,} reasons" if len(groups) > 1 else "One reason"
        caption = f"{reasons} to read a transcript{more}. Hard fails stand open above."
        columns: list[Column | str] = [
            "why",
            "layer",
            Column("cases", "number"),
            "transcripts",
        ]
        listed = table(columns, rows, caption=caption)
    return join([heading, listed, show_resolved(every, release)])


def _first(links: list[Part]) -> Html:
    more = f" and {len(links) - LINKED:,} more" if len(links) > LINKED else None
    return join([join(links[:LINKED], between=", "), more])


def open_reasons(release: Release) -> Iterator[Reason]:
    """What nobody has read yet, the most telling kind first."""
    return (one for one in reading_list(release) if not is_resolved(one, release))


def reading_list(release: Release) -> Iterator[Reason]:
    """Each reason to open a transcript, resolved by a label or not, the most telling kind first."""
    yield from _crashes(release)
    yield from _fallen(release)
    yield from judged_reasons(release)
    yield from _unscored(release)
    yield from _findings(release)
    yield from _unlisted_tools(release)
    yield from _near_the_bar(release)
    yield from judged_near_the_bar(release)


def _crashes(release: Release) -> Iterator[Reason]:
    for case in release.summary.cases:
        for item in case.transcripts:
            if item.crashed:
                yield Reason(
                    case.case_id, item.repeat, None, f"the agent crashed: {_line(item.why)}"
                )


def gravest(rows: Sequence[CheckRow], release: Release) -> CheckRow:
    """The failed check to read first: of the gravest case, and there of the earliest turn.

    What fails at the end of a transcript often follows from what went wrong before.
    """
    weight = {name: _weight(name, release) for name in dict.fromkeys(row.case_id for row in rows)}
    return min(rows, key=lambda row: (weight[row.case_id], _at(row.turn)))


def gravest_first(ids: Sequence[str], release: Release) -> list[str]:
    """Cases, the gravest first, else as they came."""
    return sorted(ids, key=lambda name: _weight(name, release))


def why_first(one: Reason | CheckRow, release: Release) -> list[str]:
    """What makes a failure graver than others, in words that follow "because it"."""
    critical, hard, broke, less = _marks(one.case_id, release)
    told = ["is critical"] if critical else []
    told += [f"fails hard layer {listed(hard)}"] if hard else []
    told += ["broke since the baseline"] if broke else []
    told += ["passes less often than in the baseline"] if less and not broke else []
    if isinstance(one, Reason) and one.layer:
        word = {"fail": "missed", "cannot tell": "undecided"}.get(
            _asked(release).get(one.layer, "")
        )
        told += [f"fell in {one.layer}, where the bar is {word}"] if word else []
    return told


def _asked(release: Release) -> dict[str, str]:
    """How clauses on the checks of a layer stand that do not pass: "fail" before "cannot tell"."""
    rows = release.decision.rows if release.decision is not None else ()
    found = [
        (row.layer, row.status)
        for row in rows
        if row.layer and not row.trust and row.status != "pass"
    ]
    return dict(sorted(found, key=lambda one: one[1] == "fail"))


def _weight(case_id: str, release: Release) -> tuple[int, bool, bool]:
    """Gravest first: critical and of a hard layer, then what the baseline passed."""
    critical, hard, broke, less = _marks(case_id, release)
    return -(critical + bool(hard)), not broke, not less


def _marks(case_id: str, release: Release) -> tuple[bool, list[str], bool, bool]:
    decision, pair = release.decision, release.pairs.get(ALL_CHECKS)
    layers = decision.bar.bar.hard_layers if decision is not None else ()
    case = next(one for one in release.summary.cases if one.case_id == case_id)
    failing = [row for item in case.transcripts for row in item.failing]
    critical = case.plan.critical or any(row.critical for row in failing)
    hard = [name for name in layers if any(row.layer == name for row in failing)]
    broke = pair is not None and case_id in pair.broke
    return critical, hard, broke, pair is not None and case_id in pair.worse


def _at(turn: int | None) -> float:
    return float("inf") if turn is None else turn


def _fallen(release: Release) -> Iterator[Reason]:
    if release.before is None or not release.pairs:
        return
    before = asked_alike(release.before, release.summary)
    hard = _hard(release)
    asked = _asked(release)
    found: list[tuple[tuple[object, ...], Reason]] = []
    for case in release.summary.cases:
        fell = [name for name, was, now in layer_moves(case, before.get(case.case_id)) if now < was]
        if not fell or case.case_id in hard:
            continue
        weight = _weight(case.case_id, release)
        for name in fell:
            rows = [row for item in case.transcripts for row in item.failing if row.layer == name]
            row = min(rows, key=lambda one: _at(one.turn), default=None)
            at = (0, None) if row is None else (row.repeat, _first_turn(case, row))
            was, now = before[case.case_id].counts[name], case.counts[name]
            why = f"{name} fell: it passed in the baseline"
            if max(was.n, now.n) > 1:
                before_it = f"{was.passed:,} of {counted(was.n, 'repeat')} passed in the baseline"
                why = f"{name} fell: {before_it}, {now.passed:,} of {now.n:,} now"
            # Of equals, the layer that keeps the verdict open: it is what the reader has to settle.
            rank = (weight[0], name not in asked, *weight[1:], _at(at[1]))
            found.append((rank, Reason(case.case_id, *at, why, name)))
    yield from (reason for _, reason in sorted(found, key=lambda one: one[0]))


def _first_turn(case: CaseScore, row: CheckRow) -> int | None:
    """Where a failed check points, or where the transcript first failed if it points nowhere."""
    if row.turn is not None:
        return row.turn
    (item,) = (one for one in case.transcripts if one.repeat == row.repeat)
    turns = [one.turn for one in item.failing if one.turn is not None]
    return min(turns, default=None)


def _unscored(release: Release) -> Iterator[Reason]:
    for case in release.summary.cases:
        for item in case.transcripts:
            if item.status in ("unscored", "missing"):
                why = _line(item.why) or "no reason was noted"
                yield Reason(case.case_id, item.repeat, None, f"{item.status}: {why}")


def _findings(release: Release) -> Iterator[Reason]:
    for facts in release.facts.values():
        for found in facts.findings:
            if found.state not in _QUIET:
                why = FINDINGS.get(found.state, found.state)
                yield Reason(facts.case_id, facts.repeat, found.turn, why)


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
                yield Reason(case.case_id, item.repeat, None, why, "trajectory")


def _near_the_bar(release: Release) -> Iterator[Reason]:
    """Failures of a layer whose rate could lie on either side: a wrong check would decide."""
    hard = _hard(release)
    for row in release.decision.rows if release.decision is not None else ():
        if row.clause != "pass_rate" or not holds_the_bar(row):
            continue
        bar, rate = row.threshold or 0.0, ""
        if row.estimate is not None:
            rate = row.estimate.text(percent=True) + more_exactly(row.estimate, bar, percent=True)
        wanted = in_words(bar, percent=True)
        why = f"{row.layer}: near its bar of {wanted} ({rate}): is each failure one?"
        for case in release.summary.cases:
            for item in case.transcripts:
                failing = [one for one in item.failing if one.layer == row.layer]
                if failing and not item.crashed and case.case_id not in hard:
                    yield Reason(case.case_id, item.repeat, failing[0].turn, why, row.layer)


def _hard(release: Release) -> set[str]:
    return {row.case_id for row in release.decision.hard_fails} if release.decision else set()


def _line(text: str) -> str:
    first = shorten_paths(text.strip().splitlines()[0]) if text.strip() else ""
    return first if len(first) <= 200 else f"{first[:200]}…"
