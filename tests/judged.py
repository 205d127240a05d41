"""Runs to be judged, rubrics in a line, and replies of judges: for tests.

May not replace anything of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.records import AgentStamps, Dimension, Rubric, Transcript, Turn
from agenteval_kit.runs import CasePlan, Run, RunInfo

STAMPS = AgentStamps(model="agent-1", prompt="v1")
CLOCK = "2026-03-02T09:00:00+00:00"
ANSWER = "Your order OR-70233 was refunded: 79.00 GBP."


def dimension(name: str = "goal", **changed: Any) -> Dimension:
    """A dimension on 1 to 4 that wants turns as evidence."""
    fields: dict[str, Any] = {
        "name": name,
        "layer": "outcome",
        "definition": "Whether the customer has what was asked for.",
        "anchors": {level: f"The customer has {level} of 4 things." for level in (1, 2, 3, 4)},
        **changed,
    }
    return Dimension.model_validate(fields)


def rubric(*dimensions: Dimension) -> Rubric:
    """A rubric of these, or of `dimension()`."""
    return Rubric(name="made", dimensions=list(dimensions or [dimension()]))


def talk(case_id: str = "c0", *, answer: str = ANSWER, **changed: Any) -> Transcript:
    """A transcript of two turns."""
    turns = (Turn(role="user", text="Refund me, please."), Turn(role="assistant", text=answer))
    return Transcript(**{"case_id": case_id, "turns": turns, "now": CLOCK, **changed})


def make_judged_run(
    root: Path, transcripts: Iterable[Transcript], *, name: str = "run", **changed: Any
) -> Run:
    """A run folder with these transcripts and no check."""
    made = list(transcripts)
    info = RunInfo(
        **{
            "id": f"made-{name}",
            "created": "2026-03-02T09:00:00Z",
            "suite": "made",
            "suite_version": "1",
            "suite_digest": "digest",
            "agent": STAMPS,
            "clock": CLOCK,
            "repeats": max((one.repeat for one in made), default=0) + 1,
            "cases": tuple(
                CasePlan(id=case_id, judge_only=True)
                for case_id in dict.fromkeys(one.case_id for one in made)
            ),
            "package": "0",
            **changed,
        }
    )
    run = Run.create(root, info, at=root / name)
    writer = run.writer()
    writer.add_transcripts(made)
    writer.close()
    return run


def said(score: Any, *, turn: Any = 1, quote: str | None = None, **more: Any) -> str:
    """A judge's reply."""
    evidence: dict[str, Any] = {"turn": turn}
    if quote is not None:
        evidence["quote"] = quote
    return json.dumps(
        {"evidence": [evidence], "justification": "It says so.", "score": score, **more}
    )


def rows_of(run: Run) -> list[Mapping[str, Any]]:
    """All verdicts of a run, in the order of their keys."""
    rows = [row.model_dump() for row in run.verdict_rows()]
    return sorted(rows, key=lambda row: (row["judge_digest"], row["case_id"], row["repeat"]))
