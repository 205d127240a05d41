"""OpenAI chat messages to turns: every oddity becomes a named state, none a crash.

May not read files: importers do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agenteval_kit.records.transcripts import Finding, ToolCall, Turn

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
    among the calls still open. Old-style ``function_call`` messages are read as tool calls.

    Returns
    -------
    ParsedMessages
        ``turns`` (system and developer messages left out), ``findings``, ``system`` (their
        texts, joined).
    """
    findings: list[Finding] = []
    system: list[str] = []
    drafts: list[dict[str, Any]] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            system.append(_text(message.get("content"), None, findings))
            continue
        index = len(drafts)
        if role == "function":
            role = "tool"
        if role not in ("user", "assistant", "tool"):
            findings.append(Finding(state="unknown_role", turn=index, detail=str(role)))
            role = "user"
        draft: dict[str, Any] = {
            "role": role,
            "text": _text(message.get("content"), index, findings),
            "calls": [],
            "refusal": None,
            "reply_to": None,
            "name": message.get("name") if isinstance(message.get("name"), str) else None,
        }
        if role == "assistant":
            _read_agent(message, index, draft, findings)
        elif role == "tool":
            raw_id = message.get("tool_call_id")
            draft["reply_to"] = str(raw_id) if raw_id not in (None, "") else None
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
    findings.sort(key=lambda finding: (-1 if finding.turn is None else finding.turn))
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
        return dict(raw), None, False
    if not isinstance(raw, str):
        return None, f"arguments are a {type(raw).__name__}, not an object", False
    twice = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        made = dict(items)
        twice = twice or len(made) != len(items)
        return made

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(raw, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        return None, f"arguments are not JSON: {error}", False
    if isinstance(value, dict):
        return value, None, twice
    if isinstance(value, str):
        return None, "arguments are encoded twice", False
    return None, f"arguments are a JSON {_kind(value)}, not an object", False


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "array"
    return type(value).__name__


def _text(content: Any, index: int | None, findings: list[Finding]) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False, default=str)
    if index is not None:
        findings.append(Finding(state="content_parts", turn=index, detail=f"{len(content)} parts"))
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
            pieces.append(f"[{kind or type(part).__name__}]")
    return "\n".join(pieces)


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
        draft["refusal"] = refusal
        findings.append(Finding(state="refusal", turn=index, detail=refusal[:200]))
    calls = message.get("tool_calls")
    raw_calls = list(calls) if isinstance(calls, Sequence) and not isinstance(calls, str) else []
    old = message.get("function_call")
    if isinstance(old, Mapping):
        raw_calls.append({"function": old})
    for position, raw in enumerate(raw_calls):
        raw = raw if isinstance(raw, Mapping) else {}
        function = raw.get("function") if isinstance(raw.get("function"), Mapping) else raw
        assert isinstance(function, Mapping)
        came = function.get("arguments")
        arguments, malformed, twice = parse_arguments(came)
        if malformed is not None:
            findings.append(Finding(state="malformed_arguments", turn=index, detail=malformed))
        if twice:
            findings.append(Finding(state="duplicate_argument_keys", turn=index))
        shown = came if isinstance(came, str) else json.dumps(came, default=str)
        draft["calls"].append(
            {
                "id": str(raw.get("id") or f"turn{index}.{position}"),
                "name": str(function.get("name") or "?"),
                "arguments": arguments,
                "raw": shown if malformed is not None else None,
                "malformed": malformed,
            }
        )
    if not draft["text"] and not draft["calls"] and draft["refusal"] is None:
        findings.append(Finding(state="no_content", turn=index))


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
