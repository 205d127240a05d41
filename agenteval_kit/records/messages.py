"""OpenAI chat messages to turns: every oddity becomes a named state, none a crash.

May not read files: importers do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from agenteval_kit.records.transcripts import Finding, ToolCall, Turn
from agenteval_kit.text import counted

__all__ = ["ParsedMessages", "parse_arguments", "parse_messages"]


class ParsedMessages:
    """Turns, findings and the system message of one message list."""

    __slots__ = ("findings", "system", "turns")

    def __init__(
        self, turns: tuple[Turn, ...], findings: tuple[Finding, ...], system: str | None
    ) -> None:
        self.turns = turns
        self.findings = findings
        self.system = system


def parse_messages(messages: Sequence[Mapping[str, Any]]) -> ParsedMessages:
    """Turns of a list of OpenAI chat messages, with a finding for each oddity.

    Tool replies are matched to calls by id; a reply without id is matched by name and order
    among the calls still open. Old-style ``function_call`` messages are read as tool calls. An
    entry that is no object, or has a role that nobody knows, becomes a user turn that holds what
    came, and the finding ``unknown_role``. Nothing that JSON can hold raises.

    Returns
    -------
    ParsedMessages
        ``turns`` (system and developer messages left out), ``findings``, ``system`` (their
        texts, joined).
    """
    findings: list[Finding] = []
    system: list[str] = []
    drafts: list[dict[str, Any]] = []
    for entry in _entries(messages):
        message = entry if isinstance(entry, Mapping) else {"content": _shown(entry)}
        role = message.get("role")
        if role in ("system", "developer"):
            system.append(_text(message.get("content"), None, findings))
            continue
        index = len(drafts)
        if role == "function":
            role = "tool"
        if role not in ("user", "assistant", "tool"):
            came = role if message is entry else f"an entry that is a JSON {_kind(entry)}"
            findings.append(Finding(state="unknown_role", turn=index, detail=_clean(str(came))))
            role = "user"
        draft: dict[str, Any] = {
            "role": role,
            "text": _text(message.get("content"), index, findings),
            "calls": [],
            "refusal": None,
            "reply_to": None,
            "name": _name(message.get("name")),
        }
        if role == "assistant":
            _read_agent(message, index, draft, findings)
        elif role == "tool":
            raw_id = message.get("tool_call_id")
            draft["reply_to"] = _clean(str(raw_id)) if raw_id not in (None, "") else None
        elif drafts and drafts[-1]["role"] == "user":
            findings.append(Finding(state="user_turns_in_a_row", turn=index))
        drafts.append(draft)
    _match_replies(drafts, findings)
    if not drafts:
        findings.append(Finding(state="empty_transcript"))
    turns = tuple(
        Turn(**{**draft, "calls": tuple(ToolCall(**call) for call in draft["calls"])})
        for draft in drafts
    )
    findings.sort(key=lambda finding: -1 if finding.turn is None else finding.turn)
    return ParsedMessages(turns, tuple(findings), "\n\n".join(system) if system else None)


def parse_arguments(raw: Any) -> tuple[dict[str, Any] | None, str | None, bool]:
    """Read a tool call's arguments as they came.

    Returns
    -------
    tuple
        The arguments (None if malformed), the reason if malformed, and whether a key stood
        twice. ``""`` and a missing value mean no arguments; a doubly encoded object is
        malformed, since no tool would accept it.
    """
    if raw is None or raw == "":
        return {}, None, False
    if isinstance(raw, Mapping):
        try:
            made: dict[str, Any] = json.loads(json.dumps(dict(raw), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            return None, f"arguments hold what JSON cannot: {_clean(str(error))}", False
        return cleaned(made), None, False
    if not isinstance(raw, str):
        return None, f"arguments are a JSON {_kind(raw)}, not an object", False
    twice = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        made = dict(items)
        twice = twice or len(made) != len(items)
        return made

    try:
        value = json.loads(
            raw, object_pairs_hook=pairs, parse_constant=_constant, parse_float=_float
        )
    except (ValueError, RecursionError) as error:
        return None, f"arguments are not JSON: {_clean(str(error))}", False
    if isinstance(value, dict):
        # An escape such as \ud800 makes a half of a pair that no utf-8 file can hold.
        return (cleaned(value) if "\\u" in raw or not _encodes(raw) else value), None, twice
    if isinstance(value, str):
        return None, "arguments are encoded twice", False
    return None, f"arguments are a JSON {_kind(value)}, not an object", False


def _entries(messages: Any) -> Sequence[Any]:
    if isinstance(messages, Mapping):
        return [messages]
    if messages is None:
        return []
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes):
        return messages
    return [messages]


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _float(text: str) -> float:
    # 1e999 parses to infinity without ever meeting parse_constant.
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return type(value).__name__


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return f"[{_kind(value)}]"


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _clean(text: str) -> str:
    # Half a surrogate pair, which cut replies end in, cannot be written to any file.
    if text.isascii() or _encodes(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def cleaned(value: Any) -> Any:
    """A JSON value whose texts can be written: half a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): cleaned(item) for key, item in value.items()}
    return value


def _name(value: Any) -> str | None:
    return _clean(value) if isinstance(value, str) and value else None


def _text(content: Any, index: int | None, findings: list[Finding]) -> str:
    if content is None:
        return ""
    if not isinstance(content, list):
        return _clean(_shown(content))
    if index is not None:
        findings.append(
            Finding(state="content_parts", turn=index, detail=counted(len(content), "part"))
        )
    pieces: list[str] = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            pieces.append(part)
        elif kind in ("reasoning", "thinking", "redacted_thinking"):
            if index is not None:
                findings.append(Finding(state="reasoning_hidden", turn=index))
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            pieces.append(part["text"])
        elif kind == "refusal":
            continue
        else:
            pieces.append(f"[{kind if isinstance(kind, str) and kind else _kind(part)}]")
    return _clean("\n".join(pieces))


def _read_agent(
    message: Mapping[str, Any], index: int, draft: dict[str, Any], findings: list[Finding]
) -> None:
    refusal = message.get("refusal")
    content = message.get("content")
    if not refusal and isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping) and part.get("type") == "refusal":
                refusal = part.get("refusal")
    if isinstance(refusal, str) and refusal:
        draft["refusal"] = _clean(refusal)
        findings.append(Finding(state="refusal", turn=index, detail=draft["refusal"][:200]))
    calls = message.get("tool_calls")
    raw_calls = list(calls) if isinstance(calls, list | tuple) else [calls] if calls else []
    old = message.get("function_call")
    if isinstance(old, Mapping):
        raw_calls.append({"function": old})
    for position, raw in enumerate(raw_calls):
        call, twice = _read_call(raw, f"turn{index}.{position}")
        if call["malformed"] is not None:
            findings.append(
                Finding(state="malformed_arguments", turn=index, detail=call["malformed"])
            )
        if twice:
            findings.append(Finding(state="duplicate_argument_keys", turn=index))
        draft["calls"].append(call)
    if not draft["text"] and not draft["calls"] and draft["refusal"] is None:
        findings.append(Finding(state="no_content", turn=index))


def _read_call(raw: Any, fallback_id: str) -> tuple[dict[str, Any], bool]:
    whole: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    inner = whole.get("function")
    function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else whole
    came = function.get("arguments")
    arguments, malformed, twice = parse_arguments(came)
    name = _name(function.get("name"))
    if not isinstance(raw, Mapping):
        arguments, malformed, came = None, f"the call is a JSON {_kind(raw)}, not an object", raw
    elif name is None:
        arguments, malformed, came = None, "the call names no tool", raw
    call_id = whole.get("id")
    return {
        "id": _clean(str(call_id)) if call_id not in (None, "") else fallback_id,
        "name": name or "?",
        "arguments": arguments,
        "raw": _clean(_shown(came)) if malformed is not None else None,
        "malformed": malformed,
    }, twice


def _match_replies(drafts: list[dict[str, Any]], findings: list[Finding]) -> None:
    open_calls: list[tuple[int, dict[str, Any]]] = []
    for index, draft in enumerate(drafts):
        if draft["role"] == "assistant":
            open_calls.extend((index, call) for call in draft["calls"])
            continue
        if draft["role"] != "tool":
            continue
        found = _find_call(draft, index, open_calls, findings)
        if found is None:
            findings.append(
                Finding(state="orphan_reply", turn=index, detail=str(draft["reply_to"] or ""))
            )
            continue
        turn, call = open_calls.pop(found)
        earlier = [other for other in open_calls[:found] if other[0] == turn]
        if earlier:
            findings.append(Finding(state="replies_out_of_order", turn=index))
        call["result"] = draft["text"]
        call["result_turn"] = index
        draft["reply_to"] = call["id"]
        if draft["name"] is None:
            draft["name"] = call["name"]
    for turn, call in open_calls:
        findings.append(Finding(state="unanswered_call", turn=turn, detail=call["name"]))


def _find_call(
    draft: dict[str, Any],
    index: int,
    open_calls: list[tuple[int, dict[str, Any]]],
    findings: list[Finding],
) -> int | None:
    if draft["reply_to"] is not None:
        for position, (_, call) in enumerate(open_calls):
            if call["id"] == draft["reply_to"]:
                return position
        return None
    findings.append(Finding(state="reply_without_id", turn=index))
    for position, (_, call) in enumerate(open_calls):
        if draft["name"] is None or call["name"] == draft["name"]:
            return position
    return None
