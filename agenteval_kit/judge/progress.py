"""How far the judging is, as one line that moves: in a notebook, and at a terminal.

May not judge, and keeps nothing: it shows the last thing that it was told.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agenteval_kit.models.asking import JudgeProgress
from agenteval_kit.text import counted

__all__ = ["progress_line", "progress_text"]

EVERY = 0.2
"""Seconds between two looks of the line: quicker, and a notebook lags behind its own output."""
WIDTH = 16


@contextmanager
def progress_line(*, every: float = EVERY) -> Iterator[Callable[[JudgeProgress], None]]:
    """A line that shows how far it is; give what you get to ``judge_run(progress=...)``.

    In a notebook it is plain text that is written over, so that it also stands in a page that is
    made of the notebook. At a terminal it is one line of stderr, gone at the end. Elsewhere, in a
    log, nothing is shown.

    Parameters
    ----------
    every : float
        Seconds between two looks of it. The last thing told is always shown.
    """
    write = _in_notebook()
    wipe = write is None and sys.stderr.isatty()
    write = _at_terminal if wipe else write
    if write is None:
        yield lambda told: None
        return
    last: list[JudgeProgress] = []
    at = -every

    def hear(told: JudgeProgress) -> None:
        nonlocal at
        last[:] = [told]
        now = time.monotonic()
        if now - at >= every:
            at = now
            write(progress_text(last.pop()))

    try:
        yield hear
    finally:
        if wipe:
            _at_terminal("")
        elif last:
            write(progress_text(last[0]))


def progress_text(told: JudgeProgress) -> str:
    """What is done, unscored, read from the tape, spent, and left, in one line.

    Examples
    --------
    >>> from agenteval_kit.judge import JudgeProgress
    >>> told = JudgeProgress(6, 24, 1, 8, 2, 5_120, None, 3.2, 9.6)
    >>> for part in progress_text(told).split(" · "):
    ...     print(part)
    ▓▓▓▓░░░░░░░░░░░░ 6 of 24, 1 unscored
    8 replies, 2 from the tape
    5,120 tokens, cost unknown
    3 s, 10 s left
    """
    full = WIDTH * told.done // told.total if told.total else 0
    spent = f"{told.tokens:,} tokens, "
    spent += "cost unknown" if told.usd is None else f"{told.usd:.2f} US dollars"
    # A replay spends nothing, and of a server that does not count nobody knows what it spends.
    if told.replies == told.from_tape:
        spent = "nothing spent"
    elif not told.tokens:
        spent = "tokens not counted"
    return (
        f"{'▓' * full}{'░' * (WIDTH - full)} {told.done:,} of {told.total:,}, "
        f"{told.unscored:,} unscored · {counted(told.replies, 'reply')}, "
        f"{told.from_tape} from the tape · {spent} · {told.seconds:.0f} s, {told.left:.0f} s left"
    )


def _in_notebook() -> Callable[[str], None] | None:
    """Where a kernel runs this: a display that is written over."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # only where it is loaded already
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is None:
        return None
    handle: list[Any] = []

    def write(text: str) -> None:
        data = {"text/plain": text}
        if handle:
            handle[0].update(data, raw=True)
        else:
            handle.append(display(data, raw=True, display_id=True))  # type: ignore[no-untyped-call]

    return write


def _at_terminal(text: str) -> None:
    # A line that wraps cannot be written over.
    sys.stderr.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
    sys.stderr.flush()
