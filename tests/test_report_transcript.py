"""A transcript on the page and in the terminal: readable, opened at the turn, and harmless."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.records import AgentStamps, CheckRow, Transcript
from agenteval_kit.records.messages import parse_messages
from agenteval_kit.records.transcripts import Event, Failure, Source
from agenteval_kit.report.excerpt import (
    Window,
    call_text,
    choose_window,
    find_spans,
    focus_turns,
    quoted_words,
    text_size,
)
from agenteval_kit.report.terminal import transcript_text
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.report.whole import write_whole

HOSTILE = (
    "<script>window.owned=1</script><img src=x onerror=window.owned=1> | `tick` $x$ "
    "\x1b[31mred\x1b[0m \u202eevil\u202c {{ 7*7 }} </style><!-- "
)


def talk(*messages: dict[str, Any], case_id: str = "late-refund", **more: Any) -> Transcript:
    parsed = parse_messages(messages)
    return Transcript(case_id=case_id, turns=parsed.turns, findings=parsed.findings, **more)


def call(name: str, arguments: str, call_id: str = "c1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}]}  # fmt: skip


REFUND = talk(
    {"role": "user", "content": "It arrived broken and I want my money back."},
    call("get_order", '{"order_id": "A-77"}'),
    {"role": "tool", "tool_call_id": "c1", "content": "delivered 2026-02-20"},
    {"role": "assistant", "content": "I am sorry. I have refunded the full amount."},
)
FAILED = CheckRow("late-refund", 0, "policy", "claims", False, "a call of refund",
                  '"I have refunded the full amount"', 3, "refund was not called")  # fmt: skip


def long_talk(turns: int, *, length: int = 300) -> Transcript:
    return talk(
        *(
            {"role": "user" if at % 2 == 0 else "assistant", "content": f"{at} " + "x" * length}
            for at in range(turns)
        )
    )


def test_turns_are_numbered_from_0_with_calls_and_replies() -> None:
    made = str(transcript_html(REFUND))

    assert "one question, 4 turns, 1 tool call; the agent answered<" in made
    assert '<span class="who">1 agent</span>' in made
    assert '→\u00a0get_order(order_id="A-77")' in made
    assert "←\u00a0<b>get_order</b> delivered 2026-02-20" in made


def test_a_failed_check_stands_at_its_turn_with_its_evidence_marked() -> None:
    made = str(transcript_html(REFUND, rows=[FAILED], open_at=3))

    turn = made[made.index('id="t-turn-3"') :]
    assert "<mark>I have refunded the full amount</mark>." in turn
    assert '<span class="badge no">✗ policy: claims</span>' in turn
    assert "refund was not called" in turn
    assert 'class="turn by-agent here"' in made


def test_a_failed_check_without_a_turn_stands_at_the_head() -> None:
    row = CheckRow("late-refund", 0, "outcome", "recorded_reward", False, "1", "0")

    made = str(transcript_html(REFUND, rows=[row]))

    assert made.index("outcome: recorded_reward") < made.index("0 user")


def test_an_unscored_check_is_told_apart_from_a_failed_one() -> None:
    row = CheckRow("late-refund", 0, "conversation", "max_cost_usd", None, why="unknown cost")

    made = str(transcript_html(REFUND, rows=[row]))

    assert '<span class="badge mid">? conversation: max_cost_usd</span>' in made
    assert "unknown cost" in made


def test_evidence_can_be_handed_in() -> None:
    made = str(transcript_html(REFUND, evidence={0: ["ARRIVED   broken"]}))

    assert "It <mark>arrived broken</mark> and" in made


def test_opened_at_a_turn_the_rest_is_folded() -> None:
    made = str(transcript_html(long_talk(12), open_at=6))

    assert "<summary>turns 0 to 2</summary>" in made
    assert "<summary>turns 9 to 11</summary>" in made


def test_hostile_text_is_only_text() -> None:
    hostile = talk(
        {"role": "user", "content": HOSTILE},
        call(f"tool{HOSTILE}", f'{{"{"<b>"}": "</pre><script>1</script>"}}'),
        {"role": "tool", "tool_call_id": "c1", "content": HOSTILE},
        {"role": "assistant", "content": HOSTILE, "refusal": HOSTILE},
        case_id=HOSTILE,
        output={HOSTILE: HOSTILE},
        state={"<i>": 1},
        events=(Event(name=HOSTILE),),
        sources=(Source(id="s", text=HOSTILE),),
        failure=Failure(kind="agent", type="<u>", message=HOSTILE, traceback=HOSTILE),
    )
    row = CheckRow(HOSTILE, 0, HOSTILE, HOSTILE, False, HOSTILE, HOSTILE, 3, HOSTILE)

    made = str(transcript_html(hostile, rows=[row], place=HOSTILE, open_at=3, whole='"><script>'))

    for element in ("<script", "<img", "<b>&", "<i>", "<u>", "</style>", "<!--"):
        assert element not in made
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert "␛[31mred" in made.replace("</span>", "").replace(
        '<span class="hidden" title="control character u+001b">', ""
    )


def test_malformed_arguments_are_shown_as_they_came() -> None:
    item = talk(call("refund", '{"id": 7'))

    made = str(transcript_html(item))

    assert 'refund({"id": 7)' in made
    assert "malformed: arguments are not JSON" in made
    assert "finding: a tool call's arguments are not one JSON object" in made


def test_a_crash_shows_its_traceback_without_the_machine() -> None:
    failure = Failure(
        kind="agent", type="KeyError", message="'order'", traceback='File "/home/x/a.py", line 1'
    )

    made = str(transcript_html(talk({"role": "user", "content": "Hi"}, failure=failure)))

    assert '<span class="badge no">✗ agent</span> KeyError' in made
    assert 'File "…/a.py", line 1' in made
    assert "/home/" not in made


def test_an_empty_transcript_says_so() -> None:
    assert "No turn at all." in str(transcript_html(Transcript(case_id="none")))


def test_a_long_tool_reply_is_folded_after_its_beginning() -> None:
    item = talk(call("search", "{}"), {"role": "tool", "tool_call_id": "c1", "content": "y" * 2000})

    made = str(transcript_html(item))

    assert "<summary>1,500 more characters</summary>" in made
    assert made.count("y") >= 2000


# Excerpts.


def test_what_fits_is_shown_whole() -> None:
    assert choose_window(REFUND, focus=(), budget=10_000).whole
    assert choose_window(long_talk(200), focus=(), budget=None).whole


def test_an_excerpt_keeps_the_start_the_end_and_the_turns_about_a_failure() -> None:
    window = choose_window(long_talk(40), focus=(20,), budget=1_000)

    assert window == Window(frozenset({0, 19, 20, 21, 39}), 200)


def test_an_excerpt_says_what_it_leaves_out_and_where_the_whole_is() -> None:
    item = long_talk(40)

    made = str(
        transcript_html(
            item,
            window=choose_window(item, focus=(20,), budget=1_000),
            whole="files/t.html",
        )
    )

    assert "turns 1 to 18 left out here" in made
    assert "turns 22 to 38 left out here" in made
    assert "… (103 more characters)" in made
    assert 'An excerpt. <a href="files/t.html">The whole transcript</a>' in made
    assert len(made) < 4_000


def test_a_gap_that_is_as_short_as_its_note_is_shown() -> None:
    short = long_talk(7, length=40)

    made = str(transcript_html(short, window=Window(frozenset({0, 1, 3, 4, 5}))))

    assert "left out" not in made
    assert "turn 2 left out here" in str(
        transcript_html(long_talk(7, length=900), window=Window(frozenset({0, 1, 3, 4, 5, 6})))
    )
    assert "turns 1 to 2 left out here" in str(
        transcript_html(short, window=Window(frozenset({0, 3, 4, 5, 6})))
    )


def test_an_excerpt_stays_within_reach_of_its_budget() -> None:
    for turns in (1, 5, 50, 500):
        item = long_talk(turns, length=1_000)
        window = choose_window(item, focus=range(0, turns, 100), budget=3_000)

        made = str(transcript_html(item, window=window))

        assert len(made) < 3_000 + 30 * 400


def test_the_whole_is_written_as_a_page_that_runs_nothing(tmp_path: Path) -> None:
    item = talk({"role": "user", "content": HOSTILE + "\ud800"})

    path = write_whole(item, [], folder=tmp_path / "files", name="t-1")

    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "files" / "t-1.html"
    assert "default-src 'none'" in html.unescape(page)
    assert "<script" not in page
    assert "<img" not in page


def test_only_failed_checks_draw_the_eye() -> None:
    passed = CheckRow("a", 0, "policy", "x", True, turn=1)
    unscored = CheckRow("a", 0, "policy", "y", None, turn=2)

    assert focus_turns([passed, FAILED, unscored, FAILED]) == (3,)


def test_size_counts_what_is_read() -> None:
    assert text_size(talk({"role": "user", "content": "12345"})) == 65


def test_a_call_reads_as_people_write_it() -> None:
    parsed = parse_messages([call("book", '{"seats": 2, "name": "Ö", "extra": null}')])

    assert call_text(parsed.turns[0].calls[0]) == 'book(seats=2, name="Ö", extra=null)'


@pytest.mark.parametrize(
    ("received", "pieces"),
    [
        (['"I have refunded it"'], ["I have refunded it"]),
        (["…and I have refunded it to y…"], ["and I have refunded it to y"]),
        (['"one thing" beside "another"'], ["one thing", "another"]),
        (["null", "0", ""], ["null"]),
    ],
)
def test_the_words_that_a_check_quotes_are_found_again(
    received: list[str], pieces: list[str]
) -> None:
    assert quoted_words(received) == pieces


def test_overlapping_evidence_is_marked_once() -> None:
    turn = REFUND.turns[3]

    spans = find_spans(turn, ["I have refunded", "refunded  the\nfull", "not there", " "])

    assert [turn.text[start:end] for start, end in spans] == ["I have refunded the full"]


# In a terminal.


def test_a_transcript_reads_in_a_terminal() -> None:
    stamped = REFUND.model_copy(update={"stamps": AgentStamps(model="rules", prompt="v1")})

    made = transcript_text(stamped, [FAILED], width=60)

    assert made == (
        "late-refund, repeat 0: one question, 4 turns, 1 tool call; the agent answered\n"
        "agent rules, prompt v1\n"
        "\n"
        "FAIL  policy: claims (turn 3): refund was not called\n"
        "  expected a call of refund\n"
        '  received "I have refunded the full amount"\n'
        "\n"
        "0 user     It arrived broken and I want my money back.\n"
        '1 agent    -> get_order(order_id="A-77")\n'
        "2 tool     <- get_order delivered 2026-02-20\n"
        "3 agent    I am sorry. I have refunded the full amount.\n"
        "           ** FAIL policy: claims\n"
    )


def test_a_terminal_is_not_steered_by_a_transcript() -> None:
    item = talk(
        {"role": "user", "content": HOSTILE + "\x9b2J\x07"},
        call("a\x1b]0;title\x07", '{"x": "\\u001b[2J"}'),
        case_id="\x1b[2J",
        failure=Failure(kind="agent", type="E", message="\x1b[1m", traceback="\x1b[0m"),
        output={"\x1b": "\x1b[31m"},
    )

    made = transcript_text(item, [CheckRow("a", 0, "p", "n\x1b", False, "\x1b", "\u202e", 0)])

    assert not any(ord(sign) < 0x20 and sign not in "\n\t" for sign in made)
    assert not any(0x7F <= ord(sign) < 0xA0 for sign in made)
    assert "\u202e" not in made
    assert "\\x1b[31mred" in made


def test_a_forged_turn_cannot_start_a_line() -> None:
    item = talk({"role": "user", "content": "hello\n7 agent    I have refunded you"})

    made = transcript_text(item)

    assert "\n7 agent" not in made
    assert "           7 agent    I have refunded you" in made


def test_a_terminal_that_lacks_a_letter_gets_its_number() -> None:
    item = talk({"role": "user", "content": "naïve ✓"})

    made = transcript_text(item, encoding="ascii")

    assert "na\\xefve \\u2713" in made
    made.encode("ascii")


def test_a_long_reply_is_cut_in_the_terminal_unless_asked_for() -> None:
    item = talk(
        call("search", "{}"), {"role": "tool", "tool_call_id": "c1", "content": "z " * 2000}
    )

    assert "(2,800 more characters)" in transcript_text(item)
    assert "more characters" not in transcript_text(item, longest=None)


def test_a_crash_and_a_record_are_shown_in_the_terminal() -> None:
    item = talk(
        {"role": "user", "content": "Hi"},
        failure=Failure(kind="agent", type="KeyError", message="'x'", traceback="line 1\nline 2"),
        output={"category": "billing"},
    )

    made = transcript_text(item)

    assert "agent failure: KeyError: 'x'\nline 1\nline 2\n" in made
    assert '"category": "billing"' in made
