"""Recorded transcripts: read, stamped, checked, in the order of the recording.

May not run an agent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agenteval_kit.checks import run_checks
from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import bytes_digest, file_digest
from agenteval_kit.importers import import_files
from agenteval_kit.records import AgentStamps, Case, Transcript
from agenteval_kit.runs import Run, Selection
from agenteval_kit.simulate import sources_of
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.load import Suite
from agenteval_kit.suite.selection import select
from agenteval_kit.suite.state import Progress, State, source_tools_of, tell
from agenteval_kit.text import counted

__all__ = ["read_recording", "recorded_stamps"]

BATCH = 200
"""Transcripts that are written at once."""


def recorded_stamps(suite: Suite) -> tuple[AgentStamps, tuple[Item, ...]]:
    """Who made the recording, and the cases that it is of."""
    spec = suite.agent.spec
    given: AgentStamps | None = None
    if spec.model is not None and spec.prompt is not None:
        prompt_file = suite.agent.folder / spec.prompt_file if spec.prompt_file else None
        given = AgentStamps(
            model=spec.model,
            prompt=spec.prompt,
            prompt_digest=file_digest(prompt_file) if prompt_file else None,
            parameters=spec.parameters or None,
            origin=spec.note,
        )
    path = suite.agent.folder / str(spec.recorded)
    # What was recorded is the agent: another content is another version.
    content = {"source_digest": bytes_digest(path)}
    if given is not None and suite.items:
        return given.model_copy(update=content), suite.items
    found: AgentStamps | None = given
    names: dict[str, None] = {}
    for transcript in import_files([path]):
        names[transcript.case_id] = None
        if given is None:
            if transcript.stamps is None or (found is not None and transcript.stamps != found):
                raise ConfigError(
                    Problem(
                        f'transcript "{transcript.case_id}" has '
                        + ("no stamps" if transcript.stamps is None else "stamps of its own")
                        + "; say who made the recording with agent: {recorded, model, prompt}",
                        str(path),
                    )
                )
            found = transcript.stamps
    if found is None:
        raise ConfigError(Problem("nothing was evaluated: the recording is empty", str(path)))
    items = suite.items or tuple(
        select([Case(id=name) for name in names], suite.selection, suite.file)
    )
    return found.model_copy(update=content), items


def read_recording(
    run: Run,
    suite: Suite,
    items: tuple[Item, ...],
    stamps: AgentStamps,
    state: State,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Read what a run still misses from its recording, check it, and write both."""
    path = suite.agent.folder / str(suite.agent.spec.recorded)
    wanted = set(run.missing())
    planned = set(run.wanted())
    left_out: list[str] = []
    by_id = {item.id: item for item in items}
    checks: dict[str, Any] = {}
    transcripts: list[Transcript] = []
    rows: list[Any] = []
    source_tools = source_tools_of(suite)
    for found in import_files([path], stamps=stamps, system=run.info.prompt_text):
        key = (found.case_id, found.repeat)
        if key not in planned:
            left_out.append(f"{found.case_id} repeat {found.repeat}")
        if key not in wanted:
            continue
        wanted.discard(key)
        item = by_id[found.case_id]
        if found.case_id not in checks:
            checks[found.case_id] = suite.checks(item)
        transcript = _complete(found, suite, item, source_tools)
        transcripts.append(transcript)
        rows.extend(run_checks(transcript, item, checks[found.case_id]))
        state.done += 1
        state.made += 1
        if transcript.failure is not None and transcript.failure.kind == "infrastructure":
            state.unscored.append((*key, transcript.failure.message))
        if len(transcripts) >= BATCH:
            state.writer.add_transcripts(transcripts)
            state.writer.add_checks(rows)
            transcripts, rows = [], []
        tell(progress, state, found.case_id)
    state.writer.add_transcripts(transcripts)
    state.writer.add_checks(rows)
    if left_out and suite.selection == Selection():
        more = f" and {len(left_out) - 5:,} more" if len(left_out) > 5 else ""
        run.warnings.append(
            f"not evaluated: {counted(len(left_out), 'transcript')} of the recording, since "
            f"the suite names no such case or repeat: {', '.join(left_out[:5])}{more}"
        )
    if wanted:
        some = ", ".join(f"{name} repeat {repeat}" for name, repeat in sorted(wanted)[:5])
        state.stopped = (
            f"the recording holds no transcript of {len(wanted):,} of {state.total:,} wanted: "
            f"{some}"
        )


def _complete(
    found: Transcript,
    suite: Suite,
    item: Item,
    source_tools: tuple[str, ...],
) -> Transcript:
    """Add what the suite knows and the recording cannot: the clock, the sources."""
    add: dict[str, Any] = {}
    now = suite.now(item)
    if found.now is None and now is not None:
        add["now"] = now.isoformat()
    if source_tools and not found.sources:
        add["sources"] = sources_of(found, source_tools)
    return found.model_copy(update=add) if add else found
