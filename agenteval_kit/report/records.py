"""Every record: what became of it, and its transcripts to open, side by side where that helps.

May not rank records by anything but their state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agenteval_kit.report.filters import record_filter
from agenteval_kit.report.markup import Html, Part, anchor, badge, join, note, tag
from agenteval_kit.report.release import STATES, Release, layer_moves
from agenteval_kit.report.views import PartingView, RecordView
from agenteval_kit.report.wording import clip, sentence
from agenteval_kit.summary import CaseScore, Counts, asked_alike

__all__ = ["show_records"]

_KIND = {
    **dict.fromkeys(("broken", "failing", "fell further", "steadily low"), "no"),
    **dict.fromkeys(("fixed", "unchanged", "passing"), "ok"),
}
_QUIET = ("unchanged", "passing")
"""States in which every check passes, as before: on paper such a record is a name."""
_SIGN = {"no": "✗", "ok": "✓", "mid": "?"}
_WIDE = 240
_NOTHING = {"end": "(nothing: it had ended)", "tool call": "(no tool call)"}
_MOST_LAYERS = 6
_MOST = 3000


def show_records(release: Release) -> Html:
    """All records with a filter; each opens its transcripts, its checks and where it parts."""
    order = list(STATES)
    cases = [
        case
        for _, case in sorted(
            enumerate(release.summary.cases),
            key=lambda item: (order.index(release.states[item[1].case_id]), item[0]),
        )
    ]
    listed = cases[:_MOST]
    before = asked_alike(release.before, release.summary) if release.before else {}
    old = before if release.pairs else {}
    layers = [item.layer for item in release.summary.layers][:_MOST_LAYERS]
    moves = {case.case_id: layer_moves(case, old.get(case.case_id)) for case in listed}
    narrowed, found_under = record_filter(release, listed, moves)
    items = [
        _record(case, old.get(case.case_id), layers, release, found_under=found_under[case.case_id])
        for case in listed
    ]
    counts: Counter[str] = Counter(release.states.values())
    gone = release.comparison.only_old if release.comparison is not None else ()
    return join(
        [
            tag("h2", {"id": "records"}, _finding(counts, len(cases))),
            tag("p", {"class": "lead"}, _caption(release)),
            tag(
                "div",
                {"class": "records-box", "style": f"--layers: {max(1, len(layers))}"},
                narrowed,
                tag("a", {"class": "past", "href": "#records-end"}, "Skip the list of records"),
                tag(
                    "div",
                    {"class": "records-head", "aria-hidden": "true"},
                    *(
                        tag("span", {"title": name or None}, name)
                        for name in ("", "record", "state", *layers, "")
                    ),
                ),
                tag(
                    "p",
                    {"class": "note on-paper"},
                    f"Of records that are {' or '.join(_QUIET)} the name alone is printed.",
                ),
                tag("ul", {"class": "records", "id": "record-list"}, *items),
                tag("span", {"id": "records-end"}),
            ),
            note(f"{len(cases) - _MOST:,} more records, all of the last states, are not listed.")
            if len(cases) > _MOST
            else None,
            tag("p", {"class": "note"}, f"In the baseline only: {', '.join(gone)}.")
            if gone
            else None,
        ]
    )


def _finding(counts: Counter[str], total: int) -> str:
    said = [f"{counts[name]:,} {name}" for name in STATES if counts[name]]
    return f"Records: {', '.join(said)}, of {total:,}" if said else "No records"


def _caption(release: Release) -> str:
    said = ["The state of a record is that of all its checks together; then layer by layer,"]
    said.append("before → now where it moved." if release.pairs else "passed, failed or unscored.")
    if any(case.plan.critical for case in release.summary.cases):
        said.append("★ marks a critical case.")
    if release.files is not None:
        said.append(
            f"The page holds excerpts; whole transcripts lie in {release.files.name}/: send that "
            "folder along with the page."
        )
    return " ".join(said)


def _record(
    case: CaseScore,
    old: CaseScore | None,
    layers: Sequence[str],
    release: Release,
    *,
    found_under: str,
) -> Html:
    state = release.states[case.case_id]
    kind = _KIND.get(state, "mid")
    summary = tag(
        "summary",
        None,
        tag("b", None, case.case_id, " ★" if case.plan.critical else None),
        tag("span", None, tag("span", {"class": f"badge {kind}"}, f"{_SIGN[kind]} {state}")),
        *(
            _layer_cell(name, case.counts.get(name), old.counts.get(name) if old else None)
            for name in layers
        ),
        tag("span", {"class": "note"}, _what(case, release)),
    )
    return tag(
        "li",
        {
            "data-in": found_under,
            "data-name": case.case_id,
            "class": "quiet" if state in _QUIET else None,
        },
        tag(
            "details",
            {"class": "record", "id": anchor("record", case.case_id)},
            summary,
            tag("div", None, *_body(case, old, release)),
        ),
    )


def _layer_cell(name: str, now: Counts | None, old: Counts | None) -> Html:
    """A layer of a record: a sign, or "before → now" where it moved."""
    if now is None or not now.n + now.unscored:
        return tag("span", {"class": "cell", "aria-label": f"{name}: not checked"}, "·")
    shown = _counted(now)
    kind = "mid" if now.rate is None else ("ok" if now.rate == 1 else "no")
    said = f"{name}: {_spoken(now)}"
    if old is not None and old.rate is not None and now.rate is not None and old.rate != now.rate:
        shown = f"{_counted(old)} → {shown}"
        kind = "no" if now.rate < old.rate else "ok"
        said = f"{name}: {_spoken(old)} before, {_spoken(now)} now"
        kind += " moved"
    return tag("span", {"class": f"cell {kind}", "role": "img", "aria-label": said}, shown)


def _counted(counts: Counts) -> str:
    if counts.n + counts.unscored == 1:
        return "?" if not counts.n else ("✓" if counts.passed else "✗")
    return f"{counts.passed:,}/{counts.n:,}" + (f" {counts.unscored:,}?" if counts.unscored else "")


def _spoken(counts: Counts) -> str:
    if counts.n + counts.unscored == 1:
        return "unscored" if not counts.n else ("passed" if counts.passed else "failed")
    rest = f", {counts.unscored:,} unscored" if counts.unscored else ""
    return f"{counts.passed:,} of {counts.n:,} passed{rest}"


def _what(case: CaseScore, release: Release) -> str:
    record = release.records.get(case.case_id)
    if record is not None and record.call_parting is not None:
        return f"calls part at turn {record.call_parting.turn}"
    if record is not None and record.turn_parting is not None:
        return f"parts at turn {record.turn_parting.turn}"
    why = next((item.why for item in case.transcripts if item.why), "")
    return clip(why, _WIDE)


def _body(case: CaseScore, old: CaseScore | None, release: Release) -> list[Part]:
    plan = case.plan
    known = [
        _comes_from(plan.origin, plan.broke),
        f"tags {', '.join(plan.tags)}" if plan.tags else None,
        "★ critical" if plan.critical else None,
    ]
    said = " · ".join(words for words in known if words)
    here = tag(
        "a", {"class": "here", "href": f"#{anchor('record', case.case_id)}"}, "link to this record"
    )
    parts: list[Part] = [tag("p", {"class": "note"}, said, " · " if said else None, here)]
    record = release.records.get(case.case_id)
    if record is not None and (record.turn_parting or record.call_parting):
        parts.append(tag("h3", None, "Where it parts from the baseline"))
        if record.turn_parting is not None:
            parts.append(_parting("first", record.turn_parting, record, release))
        if record.call_parting is not None:
            parts.append(_parting("in its calls", record.call_parting, record, release))
    columns: list[Part] = []
    for item in case.transcripts:
        shown = release.shown.get((case.case_id, item.repeat))
        words = "this release" + (f", repeat {item.repeat}" if case.repeats > 1 else "")
        columns.append(_column(words, item.status, shown, item.why))
    for item in old.transcripts if old is not None else ():
        shown = release.old_shown.get((case.case_id, item.repeat))
        if shown is not None and old is not None:
            words = "baseline" + (f", repeat {item.repeat}" if old.repeats > 1 else "")
            columns.append(_column(words, item.status, shown, item.why))
    parts.append(tag("div", {"class": "beside" if len(columns) > 1 else "alone"}, *columns))
    return parts


def _comes_from(origin: str | None, broke: str | None) -> str | None:
    """Where the case was taken from; what broke there says nothing of this run."""
    if origin is None and broke is None:
        return None
    return f"comes from {origin or 'a transcript'}" + (f", where {broke} broke" if broke else "")


def _column(words: str, status: str, shown: Html | None, why: str) -> Html:
    known = {"passed": "pass", "failed": "fail", "unscored": "unscored", "missing": "unscored"}
    sign = badge(known[status], words=status) if status in known else badge(status)
    body: Part = shown if shown is not None else tag("p", {"class": "note"}, why or "no transcript")
    return tag("div", None, tag("h3", None, words, " ", sign), body)


def _parting(words: str, parting: PartingView, record: RecordView, release: Release) -> Html:
    place = anchor(f"t-{record.case_id}-{record.repeat}-turn-{parting.turn}")
    shown = release.shown.get((record.case_id, record.repeat))
    where: Part = f"turn {parting.turn}"
    # An excerpt may have left the turn out; a link to nowhere would be followed in vain.
    if shown is not None and f'id="{place}"' in shown.markup:
        where = tag("a", {"href": f"#{place}"}, where)
    return tag(
        "div",
        {"class": "finding plain"},
        f"{sentence(words)} at ",
        where,
        f", {parting.what}. ",
        *(
            tag(
                "span",
                {"class": "pair"},
                tag("b", None, name),
                clip(value, _WIDE) if value else _NOTHING.get(parting.what, "(nothing)"),
            )
            for name, value in (("before", parting.old), ("now", parting.new))
        ),
    )
