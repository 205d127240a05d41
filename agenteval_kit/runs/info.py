"""The stamps of a run, as run.json holds them; and the clock that names a run.

The wall clock is read here, and nowhere above.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, StrictStr

from agenteval_kit.records import AgentStamps

__all__ = ["CasePlan", "RunInfo", "Selection", "new_run_id", "now_text", "waiting"]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CasePlan(BaseModel):
    """What a run has to evaluate of one case, and what coverage tables need to know of it.

    `tools` are the tools that the case lists or forbids; None where it lists none, so that a call
    of any tool is nothing to be read. `digest` is over the case and all that the suite asks of it;
    None in runs of older packages.
    """

    model_config = FROZEN

    id: str
    tags: tuple[str, ...] = ()
    critical: bool = False
    judge_only: bool = False
    origin: str | None = None
    broke: str | None = None
    layers: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    digest: str | None = None


class Selection(BaseModel):
    """Which part of the suite a run covers; all None is the whole suite."""

    model_config = FROZEN

    only: tuple[str, ...] | None = None
    tag: str | None = None
    shard: str | None = None


class RunInfo(BaseModel):
    """The stamps of a run, written once when it starts.

    `kind` says what the agent's side is: "live" (an agent ran), "recorded" (transcripts were
    read) or "simulated" (made for a demonstration); `data_note` is the suite's own sentence;
    `tools` are the tools that the suite lists, None where it lists none; `drafts` are cases of the
    suite that waited for a person and were not run.
    """

    model_config = FROZEN

    format: Literal[1] = 1
    id: str
    created: str
    suite: StrictStr
    suite_version: StrictStr
    suite_digest: StrictStr
    suite_file: str | None = None
    agent: AgentStamps
    clock: str | None = None
    frozen_clock: bool = False
    repeats: int = 1
    selection: Selection = Selection()
    cases: tuple[CasePlan, ...]
    tools: tuple[str, ...] | None = None
    kind: Literal["live", "recorded", "simulated"] = "live"
    data_note: str | None = None
    package: str
    commit: str | None = None
    simulator: str | None = None
    prompt_text: str | None = None
    drafts: tuple[str, ...] = ()

    def stamps(self) -> dict[str, Any]:
        """What must be equal for a run to be resumed or merged."""
        return {
            "suite": self.suite,
            "suite_version": self.suite_version,
            "suite_digest": self.suite_digest,
            "agent": self.agent.model_dump(exclude={"model_served"}),
            "clock": self.clock,
            "repeats": self.repeats,
            "selection": self.selection.model_dump(),
            "simulator": self.simulator,
        }


def waiting(drafts: Sequence[str]) -> str:
    """That drafts wait for a person, and which; empty where there is none."""
    if not drafts:
        return ""
    some = ", ".join(drafts[:5]) + (f" and {len(drafts) - 5:,} more" if len(drafts) > 5 else "")
    one = len(drafts) == 1
    return (
        f"{'1 draft waits' if one else f'{len(drafts):,} drafts wait'} for a person and "
        f"{'is' if one else 'are'} not counted ({some}); read it, then take its draft mark off"
    )


def now_text() -> str:
    """This moment, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id(suite: str) -> str:
    """A folder name that sorts by time and is not taken twice by two processes."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")[:19]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', suite)}-{stamp}-{os.getpid() % 10000:04d}"
