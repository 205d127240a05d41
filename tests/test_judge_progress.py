"""The line that says how far the judging is: in a kernel, at a terminal, and in a log."""

from __future__ import annotations

import io
import sys

import pytest

from agenteval_kit.judge import JudgeProgress, progress_line, progress_text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(done: int, **changed: object) -> JudgeProgress:
    fields = {
        "done": done, "total": 24, "unscored": 1, "replies": 8, "from_tape": 2, "tokens": 5120,
        "usd": None, "seconds": 3.2, "left": 9.6, **changed,
    }  # fmt: skip
    return JudgeProgress(**fields)  # type: ignore[arg-type]


def test_the_line_says_what_is_done_unscored_spent_and_left() -> None:
    text = progress_text(told(6, usd=0.0123))

    assert text.endswith(
        " 6 of 24, 1 unscored · 8 replies, 2 from the tape · 5,120 tokens, 0.01 US dollars · "
        "3 s, 10 s left"
    )
    assert text.count("▓") == 4
    assert text.count("░") == 12


def test_an_unknown_cost_is_not_zero_and_a_replay_spends_nothing() -> None:
    assert "5,120 tokens, cost unknown" in progress_text(told(6))
    assert "tokens not counted" in progress_text(told(6, tokens=0))
    assert "nothing spent" in progress_text(told(6, from_tape=8, tokens=0, usd=0.0))


def test_nothing_to_do_is_no_division_by_zero() -> None:
    assert progress_text(told(0, total=0)).count("░") == 16


def test_a_log_gets_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line() as progress:
        progress(told(6))

    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")

    with progress_line(every=0) as progress:
        progress(told(6))
        progress(told(7))

    lines = terminal.getvalue().split("\r\x1b[K")
    assert [line.split()[1] for line in lines[1:3]] == ["6", "7"]
    assert lines[3:] == [""]
    # One that wraps could not be written over.
    assert all(len(line) <= 39 for line in lines)


def test_the_line_is_not_drawn_more_often_than_a_reader_can_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    with progress_line(every=60) as progress:
        for done in range(20):
            progress(told(done))

    assert terminal.getvalue().count("of 24") == 1
