"""A transcript to read: numbered turns, tool calls, failed checks at their turn, evidence marked.

May not trust a word of it: everything in it is somebody else's text and is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.records.transcripts import FINDINGS, Failure, Turn
from agenteval_kit.report.excerpt import (
    Window,
    call_text,
    find_spans,
    headline,
    quoted_words,
    shown_turns,
)
from agenteval_kit.report.judged import ShownVerdict
from agenteval_kit.report.markup import Html, Part, anchor, badge, join, tag, text
from agenteval_kit.report.verdicts import evidence_marks, evidence_notes, verdicts_block
from agenteval_kit.text import counted
from agenteval_kit.visible import shorten_paths

__all__ = ["failed_row", "transcript_html", "whole_link"]

_WHO = {"user": "user", "assistant": "agent", "tool": "tool"}
_FOLD_AFTER = 700
_BEFORE, _AFTER = 3, 2
_WHOLE = Window()


def transcript_html(
    transcript: Transcript,
    *,
    rows: Sequence[CheckRow] = (),
    place: str = "t",
    open_at: int | None = None,
    window: Window = _WHOLE,
    whole: str | None = None,
    evidence: Mapping[int, Sequence[str]] | None = None,
    verdicts: Sequence[ShownVerdict] = (),
    ends: bool = True,
) -> Html:
    """One transcript as HTML that a page or a notebook shows.

    Parameters
    ----------
    transcript : Transcript
        What happened.
    rows : sequence of CheckRow
        Its check rows; failed and unscored ones are shown, at their turn where they have one.
    place : str
        Prefix of the fragment identifiers of its turns: ``<place>-turn-7``.
    open_at : int, optional
        The turn to open at: earlier and later turns are folded away.
    window : Window
        What is shown where there is no room for all of it.
    whole : str, optional
        Relative address of the file with the whole transcript.
    evidence : mapping, optional
        Words to mark, by turn; what a failed check received is marked in any case.
    verdicts : sequence of ShownVerdict
        What judges said of it: shown before its turns, their evidence marked.
    ends : bool
        Whether the record, the state and the events at its end are shown too.
    """
    told = [row for row in rows if row.passed is not True]
    at_turn: dict[int, list[CheckRow]] = {}
    for row in told:
        if row.turn is not None and 0 <= row.turn < len(transcript.turns):
            at_turn.setdefault(row.turn, []).append(row)
    elsewhere = [row for row in told if row.turn not in at_turn]
    quotes = {turn: list(words) for turn, words in (evidence or {}).items()}
    for at, words in evidence_marks(verdicts).items():
        quotes.setdefault(at, []).extend(words)
    for at, found in at_turn.items():
        quotes.setdefault(at, []).extend(quoted_words([row.received for row in found]))
    notes: dict[int, list[Part]] = {turn: [failed_row(row) for row in found]
                                    for turn, found in at_turn.items()}  # fmt: skip
    for finding in transcript.findings:
        if finding.turn is not None and finding.state not in ("user_turns_in_a_row",):
            notes.setdefault(finding.turn, []).append(_finding(finding.state, finding.detail))
    for at, said in evidence_notes(verdicts).items():
        notes.setdefault(at, []).extend(said)
    shown: list[tuple[int, Html]] = []
    kept = shown_turns(transcript, window)
    for index, turn in enumerate(transcript.turns):
        if index in kept:
            made = _turn(
                turn,
                index,
                place=f"{place}-turn-{index}",
                marks=quotes.get(index, ()),
                notes=notes.get(index, ()),
                chars=window.chars,
                here=index == open_at,
            )
            shown.append((index, made))
    parts: list[Part] = [
        tag("p", {"class": "note"}, headline(transcript)),
        *(failed_row(row) for row in elsewhere),
        _failure(transcript.failure),
        verdicts_block(verdicts, place=place, turns=len(transcript.turns), brief=not window.whole),
        _turns(shown, total=len(transcript.turns), open_at=open_at),
        *(_records(transcript, chars=window.chars) if ends else ()),
    ]
    if whole is not None:
        parts.append(whole_link(whole, excerpt=not window.whole))
    return tag("div", {"class": "transcript"}, *parts)


def whole_link(address: str, *, excerpt: bool) -> Html:
    """The way to the file that holds a whole transcript."""
    link = tag("a", {"href": address}, "The whole transcript")
    return tag("p", {"class": "note"}, "An excerpt. " if excerpt else None, link)


def failed_row(row: CheckRow) -> Html:
    """One check that did not pass: which, what was wanted, what came, and why."""
    status = "fail" if row.passed is False else "unscored"
    pairs = []
    if row.passed is False:
        pairs = [("expected", row.expected), ("received", row.received)]
    return tag(
        "div",
        {"class": f"finding {'no' if status == 'fail' else 'mid'}"},
        badge(status, words=f"{row.layer}: {row.name}"),
        tag("span", None, " ", row.why) if row.why else None,
        *(
            tag("span", {"class": "pair"}, tag("b", None, name), _clip(value, 300))
            for name, value in pairs
            if value
        ),
    )


def _finding(state: str, detail: str) -> Html:
    words = FINDINGS.get(state, state)
    return tag(
        "div", {"class": "finding plain"}, f"finding: {words}", f" ({detail})" if detail else None
    )


def _failure(failure: Failure | None) -> Html | None:
    if failure is None:
        return None
    trace = shorten_paths(failure.traceback)
    return tag(
        "div",
        {"class": "finding no"},
        badge("fail" if failure.kind in ("agent", "timeout") else "unscored", words=failure.kind),
        f" {failure.type}: {shorten_paths(failure.message)}",
        tag("details", None, tag("summary", None, "traceback"), tag("pre", None, trace))
        if trace
        else None,
    )


def _turns(shown: list[tuple[int, Html]], *, total: int, open_at: int | None) -> Html:
    if total == 0:
        return tag("p", {"class": "note"}, "No turn at all.")
    groups: list[Part] = []
    run: list[tuple[int, Html]] = []
    expected = 0
    for index, made in shown:
        if index != expected:
            groups.extend(_fold(run, open_at))
            run = []
            groups.append(_left_out(expected, index - 1))
        run.append((index, made))
        expected = index + 1
    groups.extend(_fold(run, open_at))
    if expected < total:
        groups.append(_left_out(expected, total - 1))
    return join(groups)


def _fold(run: list[tuple[int, Html]], open_at: int | None) -> list[Part]:
    if not run:
        return []
    if open_at is None:
        return [tag("ol", {"class": "turns"}, *(made for _, made in run))]
    before = [item for item in run if item[0] < open_at - _BEFORE]
    near = [item for item in run if open_at - _BEFORE <= item[0] <= open_at + _AFTER]
    after = [item for item in run if item[0] > open_at + _AFTER]
    parts: list[Part] = []
    for group in (before, near, after):
        if not group:
            continue
        turns = tag("ol", {"class": "turns"}, *(made for _, made in group))
        if group is near:
            parts.append(turns)
            continue
        title = _range(group[0][0], group[-1][0])
        parts.append(tag("details", {"class": "fold"}, tag("summary", None, title), turns))
    return parts


def _left_out(first: int, last: int) -> Html:
    return tag("p", {"class": "note gap"}, f"{_range(first, last)} left out here")


def _range(first: int, last: int) -> str:
    return f"turn {first}" if first == last else f"turns {first} to {last}"


def _turn(
    turn: Turn,
    index: int,
    *,
    place: str,
    marks: Sequence[str],
    notes: Sequence[Part],
    chars: int | None,
    here: bool,
) -> Html:
    said: list[Part] = []
    if turn.text and turn.role == "tool":
        said.append(_tool_reply(turn, marks, chars))
    elif turn.text:
        said.append(tag("div", {"class": "said", "dir": "auto"}, _marked(turn, marks, chars)))
    if turn.refusal:
        said.append(
            tag("div", {"class": "said", "dir": "auto"}, badge("refused"), " ", turn.refusal)
        )
    for call in turn.calls:
        bad = None
        if call.malformed is not None:
            bad = tag("span", {"class": "no"}, f" malformed: {call.malformed}")
        shown = _long(call_text(call), chars=chars)
        said.append(tag("div", {"class": "tool"}, "→\u00a0", shown, bad))
        if call.error is not None:
            said.append(tag("div", {"class": "tool no"}, shorten_paths(call.error)))
    if not said:
        said.append(tag("div", {"class": "note"}, "(empty)"))
    return tag(
        "li",
        {"class": f"turn by-{_WHO[turn.role]}{' here' if here else ''}", "id": anchor(place)},
        tag("span", {"class": "who"}, f"{index} {_WHO[turn.role]}"),
        tag("div", {"class": "what"}, *said, *notes),
    )


def _tool_reply(turn: Turn, marks: Sequence[str], chars: int | None) -> Html:
    name = tag("b", None, turn.name) if turn.name else None
    found = find_spans(turn, marks)
    reply = _marked(turn, marks, chars) if found else _long(turn.text, chars=chars)
    return tag("div", {"class": "tool"}, "←\u00a0", name, " ", reply)


def _marked(turn: Turn, marks: Sequence[str], chars: int | None) -> Html:
    spans = find_spans(turn, marks)
    if not spans:
        return text(turn.text) if chars is None else text(_clip(turn.text, chars))
    pieces: list[Part] = []
    at = 0
    for start, end in spans:
        pieces.append(_clip_middle(turn.text[at:start], chars))
        pieces.append(tag("mark", None, turn.text[start:end]))
        at = end
    pieces.append(turn.text[at:] if chars is None else _clip(turn.text[at:], chars))
    return join(pieces)


def _long(shown: str, *, chars: int | None) -> Html:
    """A long tool text folded after its beginning, or cut there where room is short."""
    if chars is not None:
        return text(_clip(shown, chars))
    if len(shown) <= _FOLD_AFTER:
        return text(shown)
    head = shown[: _FOLD_AFTER - 200]
    more = counted(len(shown) - len(head), "more character")
    rest = tag("details", {"class": "more"}, tag("summary", None, more), shown[len(head) :])
    return join([head, rest])


def _clip(shown: str, chars: int) -> str:
    if len(shown) <= chars:
        return shown
    return f"{shown[:chars]} … ({counted(len(shown) - chars, 'more character')})"


def _clip_middle(shown: str, chars: int | None) -> str:
    if chars is None or len(shown) <= chars:
        return shown
    return f"{shown[: chars // 2]} … {shown[-chars // 2 :]}"


def _records(transcript: Transcript, *, chars: int | None) -> list[Part]:
    held: list[tuple[str, Any]] = [
        ("the record that it returned", transcript.output),
        ("its state at the end", transcript.state),
        ("its events", [event.model_dump(exclude_none=True) for event in transcript.events]),
        ("its sources", [source.model_dump(exclude_none=True) for source in transcript.sources]),
    ]
    parts: list[Part] = []
    for title, value in held:
        if value in (None, [], {}):
            continue
        shown = json.dumps(value, ensure_ascii=False, indent=1, default=str)
        opened = title.startswith("the record") and len(shown) < _FOLD_AFTER
        parts.append(
            tag(
                "details",
                {"open": opened},
                tag("summary", None, title),
                tag("pre", {"class": "tool"}, shown if chars is None else _clip(shown, 2 * chars)),
            )
        )
    return parts
