"""Files in, transcripts out: which format it is, whose stamps they wear, and no key twice.

May not know what a format's rows mean: its own module does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, Problems, StampError, did_you_mean
from agenteval_kit.files import first_item
from agenteval_kit.importers.openai_chat import read_openai
from agenteval_kit.importers.placed import Placed
from agenteval_kit.importers.tau_bench import read_tau_bench
from agenteval_kit.importers.transcripts import read_transcripts
from agenteval_kit.records import AgentStamps, Transcript

__all__ = ["FORMATS", "detect_format", "import_files"]

FORMATS: dict[str, str] = {
    "transcripts": "this package's own: one transcript a line, as a run folder holds them",
    "openai": "OpenAI chat messages: one list of them, or objects with a list under messages",
    "tau-bench": "tau-bench results: task_id, trial, reward, info, traj",
}
"""What can be read, and how each looks."""

_READERS = {
    "transcripts": read_transcripts,
    "openai": read_openai,
    "tau-bench": read_tau_bench,
}


def detect_format(path: str | Path) -> str:
    """Name of the format of a file, told by its first entry, not by its name.

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    ConfigError
        If the file cannot be read, is empty, or looks like none of them.
    """
    path = Path(path)
    item = first_item(path)
    value = item.value
    if isinstance(value, dict):
        if "task_id" in value and "traj" in value:
            return "tau-bench"
        if "case_id" in value:
            return "transcripts"
        if "messages" in value or "role" in value:
            return "openai"
    if isinstance(value, list) and value and isinstance(value[0], dict) and "role" in value[0]:
        return "openai"
    raise ConfigError(
        Problem(f"is in no format that is known: {_looks(value)}", str(path), item.line)
    )


def import_files(
    paths: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,
    stamps: AgentStamps | None = None,
    system: str | None = None,
) -> Iterator[Transcript]:
    """Transcripts of recordings, in the order of the files, one at a time.

    All files are taken as one run of one agent. Two agents are two calls.

    Parameters
    ----------
    paths : path or iterable of paths
        JSON or JSON Lines.
    format : str, optional
        A key of `FORMATS`; by default each file is sniffed.
    stamps : AgentStamps, optional
        Which agent made the recordings. Transcripts that carry stamps keep them, and are refused
        if these name another model or prompt.
    system : str, optional
        The system message, for recordings that left it out.

    Yields
    ------
    Transcript
        `reward` is the recorded one, or None. What failed outside the agent has a `failure` of
        kind "infrastructure".

    Raises
    ------
    ConfigError
        With file and line, all problems of a file together, after its last good transcript:
        collect the transcripts before you score any. For an unknown format, an unreadable file,
        a row that is not what the format says, NaN, or one case and repeat twice.
    StampError
        If a transcript carries the stamps of another agent.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f'unknown format "{format}".{did_you_mean(format, FORMATS)}')
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise ConfigError("no file to import; name at least one")
    return _import(files, format, stamps, system)


def _import(
    files: list[Path], format: str | None, stamps: AgentStamps | None, system: str | None
) -> Iterator[Transcript]:
    seen: dict[tuple[str, int], tuple[Path, int]] = {}
    for path in files:
        problems = Problems()
        read = _READERS[format or detect_format(path)]
        try:
            for placed in read(path, problems=problems):
                transcript = placed.transcript
                key = (transcript.case_id, transcript.repeat)
                if key in seen:
                    first, line = seen[key]
                    problems.add(
                        f'case "{key[0]}", repeat {key[1]}, stands at {first}:{line} already; '
                        "runs of another agent are imported apart, further repeats want a number "
                        "of their own",
                        file=path,
                        line=placed.line,
                    )
                    continue
                seen[key] = path, placed.line
                yield _completed(placed, path, stamps, system)
        except StampError:
            raise
        except ConfigError as error:
            problems.extend(error)
        problems.raise_any()


def _completed(
    placed: Placed, path: Path, stamps: AgentStamps | None, system: str | None
) -> Transcript:
    transcript = placed.transcript
    update: dict[str, Any] = {}
    if system is not None and transcript.system is None:
        update["system"] = system
    carried = transcript.stamps
    if stamps is not None:
        if carried is None:
            served = placed.model_served
            update["stamps"] = (
                stamps
                if served is None or stamps.model_served is not None
                else stamps.model_copy(update={"model_served": served})
            )
        elif (carried.model, carried.prompt) != (stamps.model, stamps.prompt):
            raise StampError(
                Problem(
                    f'case "{transcript.case_id}" was made by model "{carried.model}", prompt '
                    f'"{carried.prompt}", and cannot be stamped as model "{stamps.model}", prompt '
                    f'"{stamps.prompt}"; leave the stamps out, or name the right file',
                    str(path),
                    placed.line,
                )
            )
    return transcript.model_copy(update=update) if update else transcript


def _looks(value: Any) -> str:
    known = "known are " + "; ".join(f"{name} ({text})" for name, text in FORMATS.items())
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:8]) or "no key at all"
        return f"its first entry has {keys}; {known}"
    return f"its first entry is a {type(value).__name__}; {known}"
