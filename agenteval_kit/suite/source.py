"""Which agent a suite is run with: its own, or another file that brings its own stamps.

May not load the agent's code.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, Problems, StampError
from agenteval_kit.files import Document, read_yaml
from agenteval_kit.records import AgentSpec, SuiteFile
from agenteval_kit.suite.reading import parse_document
from agenteval_kit.targets import find_module

__all__ = ["AgentSource", "find_agent"]


@dataclass(frozen=True, slots=True)
class AgentSource:
    """An agent's specification and the folder that its relative paths resolve against."""

    spec: AgentSpec
    folder: Path
    file: Path
    line: int


def find_agent(
    spec: SuiteFile, document: Document, other: str | Path | None, problems: Problems
) -> AgentSource | None:
    """The suite's own agent or the one in its place; complaints go to `problems`."""
    file = document.file
    line = document.line("agent")
    if other is not None:
        path = Path(other)
        if path.suffix not in (".yaml", ".yml"):
            raise StampError(
                Problem(
                    f'--agent "{other}" names no agent file, so its results would have no stamps; '
                    "write a YAML file with call, model and prompt, and name that"
                )
            )
        return _agent_file(path, problems)
    if isinstance(spec.agent, str):
        return _agent_file(file.parent / spec.agent, problems, named=(file, line))
    given = spec.agent
    if given is None and spec.recorded is None:
        problems.add(
            "names no agent; add agent: {call, model, prompt} or a path to an agent file",
            file=file,
            line=1,
        )
        return None
    given = given or AgentSpec()
    if spec.recorded is not None and given.kind == "chat":
        given = given.model_copy(update={"recorded": spec.recorded})
    source = AgentSource(given, file.parent, file, line)
    _require_stamps(source, problems)
    _require_files(source, document, problems, at=("agent",))
    return source


def _agent_file(
    path: Path, problems: Problems, *, named: tuple[Path, int] | None = None
) -> AgentSource | None:
    if not path.is_file() and named is not None:
        problems.add(f'"agent": there is no file {path}', file=named[0], line=named[1])
        return None
    try:
        document = read_yaml(path)
    except ConfigError as error:
        problems.extend(error)
        return None
    spec = parse_document(AgentSpec, document, "agent", problems)
    if spec is None:
        return None
    source = AgentSource(spec, path.parent, path, 1)
    _require_stamps(source, problems)
    _require_files(source, document, problems)
    return source


def _require_stamps(source: AgentSource, problems: Problems) -> None:
    spec = source.spec
    # A recording may carry its own stamps; that is settled when it is read.
    if spec.kind == "recorded" and spec.model is None and spec.prompt is None:
        return
    missing = [name for name in ("model", "prompt") if getattr(spec, name) is None]
    if missing:
        problems.add(
            f"the agent has no {' and no '.join(missing)} stamp, and a score without its stamps "
            f"is refused; add {' and '.join(f'{name}: <name of the version>' for name in missing)}",
            file=source.file,
            line=source.line,
        )


def _require_files(
    source: AgentSource, document: Document, problems: Problems, *, at: tuple[str, ...] = ()
) -> None:
    """Tell at its line what the agent names and is not there, before anything is run."""
    spec = source.spec
    for key in ("prompt_file", "recorded"):
        named = getattr(spec, key)
        if named is not None and not (source.folder / named).is_file():
            problems.add(
                f'"{key}": there is no file {source.folder / named}',
                file=document.file,
                line=document.line(*at, key),
            )
    for key in ("call", "tools"):
        target = getattr(spec, key)
        if target is None:
            continue
        module = target.partition(":")[0]
        if find_module(module, folder=source.folder) is None and not _importable(module):
            looked = f"{source.folder} and {source.folder / '../agents'}"
            problems.add(
                f'"{key}": "{target}": there is no module {module} (looked in {looked}, and on '
                "the path)",
                file=document.file,
                line=document.line(*at, key),
            )


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
