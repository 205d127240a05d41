"""Runs with something to read, a rubric of two dimensions, and a session on them.

May not replace anything of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

from builders import make_run

from agenteval_kit.label import Session
from agenteval_kit.records import Dimension, Rubric, ToolCall, Turn
from agenteval_kit.records.labels import Sample
from agenteval_kit.runs import Run

ANCHORS = {
    level: f"The reply names {level} of the four facts that the customer asked for."
    for level in (1, 2, 3, 4)
}
RUBRIC = Rubric(
    name="made",
    version="7",
    dimensions=[
        Dimension(name="tone", definition="How it sounds.", anchors=ANCHORS),
        Dimension(name="facts", definition="What it says.", anchors={0: ANCHORS[1], 1: ANCHORS[4]}),
    ],
)


def talk(about: str) -> tuple[Turn, ...]:
    """A short conversation with a tool call."""
    call = ToolCall(
        id="1", name="find", arguments={"what": about}, result=f"found {about}", result_turn=2
    )
    return (
        Turn(role="user", text=f"Where is {about}?"),
        Turn(role="assistant", calls=(call,)),
        Turn(role="tool", text=f"found {about}", reply_to="1", name="find"),
        Turn(role="assistant", text=f"{about} is here."),
    )


def talk_run(
    root: Path,
    cases: int | Mapping[str, Mapping[str, bool]],
    *,
    name: str = "run",
    repeats: int = 1,
    silent: tuple[str, ...] = (),
    about: str = "",
) -> Run:
    """A run in which each case is a short conversation; `silent` ones broke off before a turn.

    Runs of the same cases read alike, unless they are `about` something else.
    """
    rows = {f"case-{at:03d}": {} for at in range(cases)} if isinstance(cases, int) else dict(cases)
    turns = {
        (case_id, repeat): talk(f"{about}{case_id} {repeat}")
        for case_id in rows
        for repeat in range(repeats)
        if case_id not in silent
    }
    return make_run(
        root,
        {case_id: [each] * repeats for case_id, each in rows.items()},
        name=name,
        turns=turns,
        failures={(one, repeat): "infrastructure" for one in silent for repeat in range(repeats)},
    )


def clock() -> Iterator[str]:
    """A second passes each time it is looked at."""
    for second in count():
        yield f"2026-03-02T{9 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


def open_session(
    run: Run,
    folder: Path,
    rater: str = "ana",
    *,
    rubric: Rubric | None = RUBRIC,
    sample: Sample | None = None,
    dimensions: tuple[str, ...] | None = ("tone",),
) -> Session:
    """A session whose clock is made."""
    ticks = clock()
    return Session(
        run,
        rubric,
        folder,
        rater,
        sample=sample,
        dimensions=dimensions,
        now=lambda: next(ticks),
    )
