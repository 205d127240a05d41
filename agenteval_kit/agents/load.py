"""From an agent's specification to an agent, with its stamps.

May not call it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agenteval_kit.agents.chat import ChatAgent
from agenteval_kit.agents.http import HTTPAgent
from agenteval_kit.agents.program import ProgramAgent
from agenteval_kit.agents.recorded import RecordedAgent, recorded_stamps
from agenteval_kit.agents.source import load_own, source_digest
from agenteval_kit.errors import ConfigError, Problem, StampError
from agenteval_kit.files import digest, file_digest, read_json, read_text
from agenteval_kit.importers import import_files
from agenteval_kit.models.agent import Agent
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.tape import Tape, Taped
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
    if spec.kind == "http":
        return _http(spec)
    return _chat(spec, folder, tape, model)


def _program(spec: AgentSpec, folder: Path) -> ProgramAgent:
    assert spec.call is not None
    target = load_own(spec.call, folder=folder)
    if not callable(target):
        kind = type(target).__name__
        raise ConfigError(f'"{spec.call}" cannot be called: it is of type {kind}')
    return ProgramAgent(
        target,
        stamps=_stamps(spec, folder),
        name=spec.call,
        # The default is for requests over a network; a program has a limit if it was given one.
        timeout=spec.timeout if "timeout" in spec.model_fields_set else None,
    )


def _http(spec: AgentSpec) -> HTTPAgent:
    assert spec.url is not None
    parameters = {**spec.parameters, "url": endpoint_of(spec.url)}
    return HTTPAgent(
        spec.url,
        stamps=AgentStamps(model=str(spec.model), prompt=str(spec.prompt), parameters=parameters),
        headers_env=spec.headers_env,
        timeout=spec.timeout,
    )


def _chat(spec: AgentSpec, folder: Path, tape: Tape | None, model: ChatModel | None) -> ChatAgent:
    prompt = read_text(folder / spec.prompt_file) if spec.prompt_file else ""
    schema = spec.response_schema
    if isinstance(schema, str):
        read = read_json(folder / schema)
        if not isinstance(read, dict):
            raise ConfigError(Problem("a JSON Schema wants to be an object", str(folder / schema)))
        schema = read
    environment = load_own(spec.tools, folder=folder) if spec.tools else None
    # What is beside the prompt and changes the answers is part of the version.
    more: dict[str, Any] = {"max_steps": spec.max_steps} if spec.tools else {}
    if schema is not None:
        more["response_schema"] = digest(schema)
    asked = model if model is not None else _served(spec, tape)
    if model is not None and tape is not None:
        asked = Taped(model, tape)
    agent = ChatAgent(
        asked,
        stamps=_stamps(spec, folder, endpoint=asked.endpoint, **more),
        prompt=prompt,
        environment=environment,
        parameters=spec.parameters,
        schema=schema,
        max_steps=spec.max_steps,
    )
    if model is None and not _PINNED.search(str(spec.model)):
        agent.notes = (
            f"model not pinned: {spec.model} names no version, so it may change under the same "
            "stamp",
        )
    return agent


def _served(spec: AgentSpec, tape: Tape | None) -> ChatModel:
    from agenteval_kit.models.served import served_model  # asyncio: only served models pay

    return served_model(
        str(spec.model),
        "the agent",
        base_url=spec.base_url,
        base_url_env=spec.base_url_env,
        api_key_env=spec.api_key_env,
        tape=tape,
        timeout=spec.timeout,
    )


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
