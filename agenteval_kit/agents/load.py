"""From an agent's specification to an agent, with its stamps.

May not call it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agenteval_kit.agents.program import ProgramAgent
from agenteval_kit.agents.recorded import RecordedAgent, recorded_stamps
from agenteval_kit.agents.source import load_own, source_digest
from agenteval_kit.errors import ConfigError, Problem, StampError
from agenteval_kit.files import file_digest
from agenteval_kit.importers import import_files
from agenteval_kit.models.agent import Agent
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import AgentSpec, AgentStamps, Transcript

__all__ = ["load_agent"]

_PINNED = re.compile(r"\d{4}-?\d{2}-?\d{2}|[@:]|v\d|-\d{4}\b|\d+\.\d+\.\d+")


def load_agent(
    spec: AgentSpec, *, folder: Path, tape: Tape | None = None, model: ChatModel | None = None
) -> Agent:
    """The agent that a specification describes, ready for `agenteval_kit.simulate.converse`.

    Load it once: `converse` gives each conversation a `fresh()` one, so one agent serves many
    threads, unless it says `shares_state`.

    Parameters
    ----------
    spec : AgentSpec
        From a suite or an agent file.
    folder : pathlib.Path
        Folder of that file; relative paths and modules resolve against it. A module is looked
        for in `folder`, then in ``../agents`` beside it, then on the path.
    tape : Tape, optional
        Where a chat agent's model replies are kept, and read before they are asked for again.
    model : ChatModel, optional
        In place of the OpenAI-compatible model of a chat agent (a `ScriptedModel`).

    Raises
    ------
    StampError
        If `model` or `prompt` is missing.
    ConfigError
        If a module, a file or an environment variable that it names is missing.
    """
    if spec.kind == "recorded":
        return _recorded(spec, folder)
    missing = [name for name in ("model", "prompt") if getattr(spec, name) is None]
    if missing:
        raise StampError(
            Problem(
                f"the agent has no {' and no '.join(missing)} stamp, and a score without its "
                f"stamps is refused; add "
                f"{' and '.join(f'{name}: <name of the version>' for name in missing)}",
                str(folder),
            )
        )
    if spec.kind == "call":
        return _program(spec, folder)
    raise ConfigError(Problem("an agent of this kind cannot be made here", str(folder)))


def _program(spec: AgentSpec, folder: Path) -> ProgramAgent:
    assert spec.call is not None
    target = load_own(spec.call, folder=folder)
    if not callable(target):
        raise ConfigError(
            Problem(
                f'"{spec.call}" is a {type(target).__name__}, which cannot be called', str(folder)
            )
        )
    return ProgramAgent(target, stamps=_stamps(spec, folder), name=spec.call)


def _recorded(spec: AgentSpec, folder: Path) -> RecordedAgent:
    path = folder / str(spec.recorded)
    transcripts: dict[tuple[str, int], Transcript] = {}
    for one in import_files([path]):
        transcripts[(one.case_id, one.repeat)] = one
    if not transcripts:
        raise ConfigError(Problem("the recording holds no transcript", str(path)))
    stamps = recorded_stamps(
        transcripts.values(), model=spec.model, prompt=spec.prompt, file=str(path)
    )
    return RecordedAgent(transcripts, stamps=stamps, name=path.name)


def _stamps(spec: AgentSpec, folder: Path, **parameters: Any) -> AgentStamps:
    code = spec.call or spec.tools
    given = {**spec.parameters, **parameters}
    return AgentStamps(
        model=str(spec.model),
        prompt=str(spec.prompt),
        prompt_digest=file_digest(folder / spec.prompt_file) if spec.prompt_file else None,
        source_digest=source_digest(code, folder=folder) if code else None,
        parameters=given or None,
    )
