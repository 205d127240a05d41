"""tau-bench results (task_id, trial, reward, info, traj) to transcripts.

May not import the reference actions: they are expectations, and belong to cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from agenteval_kit.errors import ConfigError, Problems
from agenteval_kit.files import Item, read_items
from agenteval_kit.importers.placed import Placed
from agenteval_kit.records import Failure, Transcript, Turn, parse_messages

__all__ = ["read_tau_bench", "task_case_id"]

# What providers and networks say when they, and not the agent, fail. Read only in the error
# itself: a traceback's line numbers look like status codes.
_PROVIDER = re.compile(
    r"rate.?limit|token limit is exceeded|too many requests|quota|overloaded"
    r"|service.?unavailable|bad gateway|timed?[ -]?out"
    r"|(?:api|remote|connect\w*|network|ssl|proxy|name resolution).{0,3}error"
    r"|connection.{0,12}(?:error|reset|refused|aborted|closed)"
    r"|internal.?server.?error"
    r"|(?:status|code|http|error)\W{0,6}(?:429|5\d\d)\b",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Exhausted|Interrupt))\b[:(]?",
    re.MULTILINE,
)
# How tau-bench environments answer a call that they did not carry out.
_TOOL_ERRORS = ("Error", "Unknown action")


def task_case_id(task_id: int | str) -> str:
    """Case id of a task: ``task-007`` for a number, text as it stands."""
    return f"task-{task_id:03d}" if isinstance(task_id, int) else task_id


def read_tau_bench(path: Path, *, problems: Problems) -> Iterator[Placed]:
    """Transcripts of a tau-bench result file, JSON or JSON Lines; complaints go to `problems`.

    The file is read twice, so that all its problems are known, and the trials of every task,
    before the first transcript is handed on. `trial` is the repeat where the trials of each task
    are 0, 1, ... k-1. Where they are not (some versions write the task's index there), repeats
    are counted a task in the order of the file, and `extra.trial` keeps what stood there.

    Raises
    ------
    ConfigError
        If the file cannot be read, or a row is not a tau-bench result.
    """
    trials: dict[int | str, list[Any]] = {}
    wrong = Problems()
    try:
        for item in read_items(path):
            complaint = _complaint(item)
            if complaint is not None:
                wrong.add(complaint, file=path, line=item.line)
                continue
            trials.setdefault(item.value["task_id"], []).append(item.value.get("trial"))
    except ConfigError as error:
        wrong.extend(error)
    wrong.raise_any()
    numbered = all(
        all(isinstance(trial, int) for trial in found) and sorted(found) == list(range(len(found)))
        for found in trials.values()
    )
    counted: dict[int | str, int] = {}
    for item in read_items(path):
        row = item.value
        task = row["task_id"]
        repeat = row["trial"] if numbered else counted.get(task, 0)
        counted[task] = counted.get(task, 0) + 1
        yield Placed(_transcript(row, repeat), item.line)


def _complaint(item: Item) -> str | None:
    row = item.value
    if not isinstance(row, dict):
        return f"holds a {type(row).__name__}; a tau-bench result is an object"
    task = row.get("task_id")
    if isinstance(task, bool) or not isinstance(task, int | str) or task == "":
        return f'"task_id" wants a number or a name, but holds {task!r}'
    if isinstance(task, int) and task < 0:
        return f'"task_id" wants 0 or more, but holds {task}'
    what = f"task {task}"
    if row.get("traj") is not None and not isinstance(row["traj"], list):
        return f'"traj" of {what} wants a list of messages, but holds {_short(row["traj"])}'
    if not isinstance(row.get("info") or {}, dict):
        return f'"info" of {what} wants an object, but holds {_short(row["info"])}'
    reward = row.get("reward")
    if reward is not None and (isinstance(reward, bool) or not isinstance(reward, int | float)):
        return f'"reward" of {what} wants a number, but holds {reward!r}'
    trial = row.get("trial")
    if trial is not None and (isinstance(trial, bool) or not isinstance(trial, int)):
        return f'"trial" of {what} wants a whole number, but holds {trial!r}'
    return None


def _transcript(row: dict[str, Any], repeat: int) -> Transcript:
    parsed = parse_messages(row.get("traj") or [])
    failure = _failure(row.get("info") or {})
    extra = {key: row[key] for key in ("task_id", "trial") if key in row}
    reward = row.get("reward")
    stop = "recorded"
    if failure is not None:
        stop = "infrastructure" if failure.kind == "infrastructure" else "agent_error"
        # tau-bench writes reward 0 for a run that never took place; that is not a score.
        reward = None if failure.kind == "infrastructure" else reward
    return Transcript(
        case_id=task_case_id(row["task_id"]),
        repeat=repeat,
        turns=tuple(_with_tool_errors(turn) for turn in parsed.turns),
        findings=parsed.findings,
        reward=None if reward is None else float(reward),
        system=parsed.system,
        stop=stop,
        failure=failure,
        extra=extra,
    )


def _failure(info: dict[str, Any]) -> Failure | None:
    error = info.get("error")
    if not error:
        return None
    message = error if isinstance(error, str) else str(error)
    came = info.get("traceback")
    traceback = came if isinstance(came, str) else ""
    raised = _RAISED.findall(traceback) or _RAISED.findall(message)
    name = raised[-1] if raised else ""
    return Failure(
        kind=_whose(message, name),
        type=name.rpartition(".")[2] or "unknown",
        message=message,
        traceback=traceback,
    )


def _whose(message: str, raised: str) -> Literal["agent", "infrastructure"]:
    if _PROVIDER.search(message) or _PROVIDER.search(raised):
        return "infrastructure"
    # An exception by name that is no provider's was raised by the agent's own code. With nothing
    # to go by, unscored is the claim that the evidence carries.
    return "agent" if raised else "infrastructure"


def _with_tool_errors(turn: Turn) -> Turn:
    if not any(call.result and call.result.startswith(_TOOL_ERRORS) for call in turn.calls):
        return turn
    calls = tuple(
        call.model_copy(update={"error": call.result})
        if call.result and call.result.startswith(_TOOL_ERRORS)
        else call
        for call in turn.calls
    )
    return turn.model_copy(update={"calls": calls})


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
