"""OpenAI chat messages to transcripts: one conversation a file, a list of them, or JSON Lines.

May not guess which agent spoke: stamps are given by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.errors import Problems
from agenteval_kit.files import read_items
from agenteval_kit.importers.placed import Placed
from agenteval_kit.records import Transcript, Usage, parse_messages

__all__ = ["read_openai"]

_READ = ("id", "messages", "repeat", "reward", "model", "usage", "tags")


def read_openai(path: Path, *, problems: Problems) -> Iterator[Placed]:
    """Transcripts of a file of chat messages; what cannot be read goes to `problems`.

    Accepted: a list of messages (or one a line), which is one conversation, named after its file;
    objects with ``messages``, in a list, one a line, or alone; a list of lists of messages. Of an
    object ``id`` (case id), ``repeat``, ``reward``, ``model`` (as served), ``usage`` and ``tags``
    are read, and all other keys are kept in `extra`. An object without id is named after its
    file and its position, from 0.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    """
    loose: list[dict[str, Any]] = []
    start = 1
    for number, item in enumerate(read_items(path)):
        value = item.value
        if isinstance(value, dict) and "messages" not in value and "role" in value:
            start = start if loose else item.line
            loose.append(value)
            continue
        if isinstance(value, list):
            value = {"messages": value}
        complaint = _complaint(value)
        if complaint is None and loose:
            complaint = (
                "is a conversation of its own, after messages that stand alone; "
                "a file holds one or the other"
            )
        if complaint is not None:
            problems.add(complaint, file=path, line=item.line)
            continue
        model = value.get("model")
        yield Placed(
            _transcript(value, f"{path.stem}-{number:04d}"),
            item.line,
            model if isinstance(model, str) and model else None,
        )
    if loose:
        yield Placed(_transcript({"messages": loose}, path.stem), start)


def _complaint(value: Any) -> str | None:
    if not isinstance(value, dict):
        return f"holds a {type(value).__name__}; an object with messages was wanted"
    messages = value.get("messages")
    if not isinstance(messages, list):
        came = "is missing" if "messages" not in value else f"holds a {type(messages).__name__}"
        return f'"messages" {came}; a list of chat messages was wanted'
    name = value.get("id")
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int)):
        return f'"id" wants text, but holds {name!r}'
    if name == "":
        return '"id" is empty; give a name, or leave it out'
    repeat = value.get("repeat")
    if repeat is not None and (
        isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0
    ):
        return f'"repeat" wants a whole number from 0, but holds {repeat!r}'
    reward = value.get("reward")
    if reward is not None and (isinstance(reward, bool) or not isinstance(reward, int | float)):
        return f'"reward" wants a number, but holds {reward!r}'
    tags = value.get("tags")
    if tags is not None and not (
        isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
    ):
        return f'"tags" wants a list of texts, but holds {tags!r}'
    return None


def _transcript(value: dict[str, Any], fallback_id: str) -> Transcript:
    parsed = parse_messages(value["messages"])
    name, repeat, reward = (value.get(key) for key in ("id", "repeat", "reward"))
    extra = {key: item for key, item in value.items() if key not in _READ}
    return Transcript(
        case_id=fallback_id if name is None else str(name),
        repeat=0 if repeat is None else repeat,
        turns=parsed.turns,
        findings=parsed.findings,
        reward=None if reward is None else float(reward),
        system=parsed.system,
        stop="recorded",
        usage=_usage(value.get("usage")),
        tags=tuple(value.get("tags") or ()),
        extra=extra or None,
    )


def _usage(came: Any) -> Usage:
    if not isinstance(came, dict):
        return Usage()
    # Both names are OpenAI's: chat completions and responses.
    return Usage(
        input_tokens=_count(came.get("prompt_tokens", came.get("input_tokens"))),
        output_tokens=_count(came.get("completion_tokens", came.get("output_tokens"))),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
