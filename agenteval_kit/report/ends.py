"""How conversations ended, and whom that is charged to: for notebooks that simulate users.

May not score: the end and the failure of each conversation were noted when it was held.
"""

from __future__ import annotations

from agenteval_kit.records import Transcript
from agenteval_kit.records.transcripts import STOP_REASONS
from agenteval_kit.report.markup import Html, Part
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import clip
from agenteval_kit.runs import Run
from agenteval_kit.text import counted

__all__ = ["show_ends"]

_LONGEST = 200
_CHARGED = {
    "agent": "the agent",
    "timeout": "the agent",
    "simulator": "the simulated user: not scored",
    "infrastructure": "the provider: not scored",
}


def show_ends(run: Run) -> Html:
    """One row a conversation: why it ended, what went wrong, and whom that is charged to."""
    rows: list[list[Part]] = [
        [
            one.case_id if run.repeats == 1 else f"{one.case_id}, repeat {one.repeat}",
            one.stop,
            STOP_REASONS.get(one.stop, one.stop),
            "" if one.failure is None else clip(one.failure.message, _LONGEST),
            _charged(one),
            str(sum(turn.role == "user" for turn in one.turns)),
            str(sum(len(turn.calls) for turn in one.turns)),
        ]
        for one in run.transcripts()
    ]
    columns: list[Column | str] = [
        "conversation", "end", "which says that", Column("what went wrong", "prose"), "charged to",
        Column("user turns", "number"), Column("tool calls", "number"),
    ]  # fmt: skip
    faults = sum(_charged(one).endswith("not scored") for one in run.transcripts())
    caption = f"{counted(len(rows), 'conversation')}, {faults:,} of them not scored."
    return table(columns, rows, caption=caption, empty="no conversation was held")


def _charged(one: Transcript) -> str:
    return "nobody" if one.failure is None else _CHARGED[one.failure.kind]
