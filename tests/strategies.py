"""Values for tests of text and checks: conversations told in lines, and whatever hypothesis draws.

May not check anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from agenteval_kit.records import (
    Case,
    CheckRow,
    Checks,
    Event,
    Failure,
    Source,
    ToolCall,
    Transcript,
    Turn,
    Usage,
    parse_messages,
)

FIELDS = ("output", "state", "reward", "cost_usd", "seconds", "now", "stop", "system")


def told(lines: Iterable[Mapping[str, Any]], *, case_id: str = "c", repeat: int = 0) -> Transcript:
    """A transcript told in lines, through the parser of chat messages.

    ``{"user": "..."}``, ``{"agent": "..."}``, ``{"refusal": "..."}``; ``{"call": {"search":
    {...}}, "gives": "..."}`` (several tools are parallel calls; arguments may be a raw text;
    without `gives` there is no reply); and the other fields by name: ``{"output": {...}}``,
    ``{"events": ["paid"]}``, ``{"sources": {"id": "text"}}``, ``{"usage": {...}}``,
    ``{"failure": {...}}``.
    """
    messages: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for line in lines:
        for key, value in line.items():
            if key == "user":
                messages.append({"role": "user", "content": value})
            elif key == "agent":
                messages.append({"role": "assistant", "content": value})
            elif key == "refusal":
                messages.append({"role": "assistant", "content": None, "refusal": value})
            elif key == "call":
                messages.extend(_calls(value, line.get("gives"), len(messages)))
            elif key in FIELDS:
                fields[key] = value
            elif key == "events":
                fields[key] = tuple(Event(name=name) for name in value)
            elif key == "sources":
                fields[key] = tuple(Source(id=name, text=text) for name, text in value.items())
            elif key == "usage":
                fields[key] = Usage(**value)
            elif key == "failure":
                fields[key] = Failure(**value)
            elif key != "gives":
                raise KeyError(key)
    parsed = parse_messages(messages)
    return Transcript(
        case_id=case_id, repeat=repeat, turns=parsed.turns, findings=parsed.findings, **fields
    )


def _calls(tools: Mapping[str, Any], gives: Any, at: int) -> list[dict[str, Any]]:
    calls, replies = [], []
    for position, (name, arguments) in enumerate(tools.items()):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        # YAML has no key twice; "search#2" is a second call of search.
        plain, mark = name.partition("#")[0], f"call-{at}-{position}"
        calls.append({"id": mark, "function": {"name": plain, "arguments": raw}})
        if gives is not None:
            content = gives if isinstance(gives, str) else json.dumps(gives)
            replies.append({"role": "tool", "tool_call_id": mark, "content": content})
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *replies]


def case_of(checks: Mapping[str, Any], **others: Any) -> Case:
    """A case with these check keys."""
    return Case.model_validate({"id": "c", "input": "hello", "checks": dict(checks), **others})


def pass_share(rows: Iterable[CheckRow]) -> float | None:
    """Share of the decided rows that passed; None without any."""
    decided = [row.passed for row in rows if row.passed is not None]
    return sum(decided) / len(decided) if decided else None


texts = st.one_of(
    st.text(max_size=60),
    st.text("0123456789,. \u00a0\u202f-\u00b2\u00bd\uff11$%", max_size=30),
    st.text("iI\u0130\u0131\u00df\ufb00\u01c5\u0390\u0307\u0345\u0301\u03b1'\u2019", max_size=20),
    st.sampled_from(
        [
            "I have refunded $120.50 to your card.",
            "I can't share that.",
            "You will receive an email at joe@example.com",
            "Call +91 98765 43210",
            "Could you please confirm your user ID?",
            '{"category": "billing", "n": 12}',
            "```json\n{\"a\": [1, null]}\n```",
            "",
        ]
    ),
)  # fmt: skip
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=6), values, max_size=3)
tool_names = st.sampled_from(["search", "refund", "get_user", "think", ""])


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    """A tool call in any state: answered, unanswered, failed, malformed."""
    broken = draw(st.booleans())
    return ToolCall(
        id=draw(st.text(max_size=4)),
        name=draw(tool_names),
        arguments=None if broken else draw(objects),
        raw=draw(texts) if broken else None,
        malformed="arguments are not JSON" if broken else None,
        result=draw(st.none() | texts),
        result_turn=draw(st.none() | st.integers(0, 12)),
        error=draw(st.none() | texts),
    )


turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant", "tool"]),
    text=texts,
    calls=st.lists(calls(), max_size=3).map(tuple),
    refusal=st.none() | texts,
)
failures = st.builds(
    Failure,
    kind=st.sampled_from(["agent", "timeout", "infrastructure", "simulator"]),
    type=st.just("ValueError"),
    message=texts,
    traceback=texts,
)
transcripts = st.builds(
    Transcript,
    case_id=st.just("c"),
    repeat=st.integers(0, 3),
    turns=st.lists(turns, max_size=8).map(tuple),
    output=st.none() | values,
    state=st.none() | objects,
    events=st.lists(st.builds(Event, name=tool_names), max_size=4).map(tuple),
    sources=st.lists(st.builds(Source, id=texts, text=texts), max_size=2).map(tuple),
    reward=st.none() | st.floats(0, 1),
    now=st.none() | st.just("2026-03-02T09:00:00+00:00"),
    system=st.none() | texts,
    failure=st.none() | failures,
    usage=st.builds(
        Usage,
        input_tokens=st.none() | st.integers(0, 99),
        output_tokens=st.none() | st.integers(0, 99),
    ),
    cost_usd=st.none() | st.floats(0, 9),
    seconds=st.none() | st.floats(0, 9),
)

EVERYTHING = Checks.model_validate(
    {
        "expect": {"category": "billing", "n": 12, "a.0": None},
        "equals": {"category": "billing"},
        "must_include": ["30|thirty", "refund"],
        "must_not_include": ["94,500", "guarantee"],
        "matches": [r"\d+"],
        "must_not_match": [r"(?i)stupid"],
        "json_schema": {"type": "object", "required": ["category"]},
        "required_fields": ["category", "a.b"],
        "final_state": {"orders.7": "paid"},
        "recorded_reward": 1,
        "tools": ["search", "refund"],
        "tools_exact": ["search"],
        "tools_any_order": ["refund", "search"],
        "no_tools": True,
        "forbidden_tools": ["refund"],
        "max_calls": {"search": 1, "*": 2},
        "max_identical_calls": 1,
        "before": [["search", "refund"]],
        "arguments": {"*": {"type": "object", "minProperties": 1}},
        "not_null": {"*": ["id"]},
        "markers": ["search"],
        "approval": {"before": ["refund"], "when": r"\byes\b"},
        "cited_ids": {"pattern": r"#(\w+)", "in": ["A1"]},
        "figures_traceable": True,
        "read_back": {"category": "billing", "refund.id": 7},
        "forbidden_patterns": [r"as an ai"],
        "no_phone_numbers": "IN",
        "no_emails": True,
        "promises": True,
        "must_refuse": {"when": "salary"},
        "must_not_refuse": True,
        "claims": {"i have refunded": "refund"},
        "asks_at_most": {"id": {"pattern": "user id", "n": 0}},
        "asks_after_given": {"id": {"ask": "user id", "given": "my id is"}},
        "max_turns": 4,
        "max_words": 10,
        "max_chars": 60,
        "max_tokens": 50,
        "max_cost_usd": 1.0,
        "max_seconds": 2.0,
    }
)
"""Every key but `python`."""
