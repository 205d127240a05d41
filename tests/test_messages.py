"""Every odd state of a message list has a name, and nothing that JSON can hold raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.records import FINDINGS, Transcript, parse_messages
from agenteval_kit.records.messages import parse_arguments


def call(name: str, arguments: Any, call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def agent(*calls: Any, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def reply(text: str, call_id: Any = "c1", name: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"role": "tool", "content": text}
    if call_id is not None:
        made["tool_call_id"] = call_id
    if name is not None:
        made["name"] = name
    return made


def user(text: str = "Hello") -> dict[str, Any]:
    return {"role": "user", "content": text}


def states(messages: list[Any]) -> list[tuple[str, int | None]]:
    return [(finding.state, finding.turn) for finding in parse_messages(messages).findings]


def test_a_plain_conversation_has_no_finding() -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        user(),
        agent(call("look_up", '{"id": 7}')),
        reply("found"),
        {"role": "assistant", "content": "Here it is."},
    ]

    parsed = parse_messages(messages)

    assert parsed.findings == ()
    assert parsed.system == "Be kind."
    assert [turn.role for turn in parsed.turns] == ["user", "assistant", "tool", "assistant"]
    (made,) = parsed.turns[1].calls
    assert (made.name, made.arguments, made.result, made.result_turn) == (
        "look_up",
        {"id": 7},
        "found",
        2,
    )


def test_several_system_and_developer_messages_are_joined_and_are_no_turns() -> None:
    messages = [
        {"role": "system", "content": "One."},
        user(),
        {"role": "developer", "content": [{"type": "text", "text": "Two."}]},
    ]

    parsed = parse_messages(messages)

    assert parsed.system == "One.\n\nTwo."
    assert len(parsed.turns) == 1


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"id": 7', "arguments are not JSON"),
        ("null", "arguments are a JSON null, not an object"),
        ("[]", "arguments are a JSON array, not an object"),
        ("7", "arguments are a JSON number, not an object"),
        ("true", "arguments are a JSON boolean, not an object"),
        (json.dumps(json.dumps({"id": 7})), "arguments are encoded twice"),
        ("{'id': 7}", "arguments are not JSON"),
        ('{"id": NaN}', "arguments are not JSON: NaN is not JSON"),
        ('{"id": 1e999}', "arguments are not JSON: 1e999 is too large for a number"),
        ([1], "arguments are a JSON array, not an object"),
        (7, "arguments are a JSON number, not an object"),
        (True, "arguments are a JSON boolean, not an object"),
        ({"id": float("nan")}, "arguments hold what JSON cannot"),
    ],
)
def test_malformed_arguments_are_a_finding_and_stay_malformed(raw: Any, reason: str) -> None:
    parsed = parse_messages([user(), agent(call("look_up", raw)), reply("ok")])

    (made,) = parsed.turns[1].calls
    assert made.arguments is None
    assert made.malformed is not None
    assert made.malformed.startswith(reason)
    assert made.raw is not None
    assert [finding.state for finding in parsed.findings] == ["malformed_arguments"]
    assert parsed.findings[0].turn == 1


@pytest.mark.parametrize("raw", ["", None, "{}", {}])
def test_no_arguments_are_no_finding(raw: Any) -> None:
    parsed = parse_messages([user(), agent(call("ping", raw)), reply("pong")])

    assert parsed.turns[1].calls[0].arguments == {}
    assert parsed.findings == ()


def test_arguments_that_are_an_object_already_are_taken_as_they_are() -> None:
    arguments, malformed, twice = parse_arguments({"id": 7, "tags": ["a"]})

    assert (arguments, malformed, twice) == ({"id": 7, "tags": ["a"]}, None, False)


def test_a_key_that_stands_twice_is_told_and_the_last_counts() -> None:
    parsed = parse_messages([user(), agent(call("f", '{"id": 1, "id": 2}')), reply("ok")])

    assert parsed.turns[1].calls[0].arguments == {"id": 2}
    assert [finding.state for finding in parsed.findings] == ["duplicate_argument_keys"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("look_up", "the call is a JSON string, not an object"),
        (None, "the call is a JSON null, not an object"),
        ({"id": "c1", "function": {"arguments": "{}"}}, "the call names no tool"),
        ({"id": "c1"}, "the call names no tool"),
        ({"id": "c1", "function": {"name": 7, "arguments": "{}"}}, "the call names no tool"),
    ],
)
def test_a_call_that_names_no_tool_is_malformed_not_dropped(raw: Any, reason: str) -> None:
    parsed = parse_messages([user(), agent(raw), reply("ok")])

    (made,) = parsed.turns[1].calls
    assert (made.name, made.arguments, made.malformed) == ("?", None, reason)


def test_tool_calls_that_are_one_object_are_one_call() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": call("f", "{}")}

    parsed = parse_messages([user(), message, reply("ok")])

    assert [made.name for made in parsed.turns[1].calls] == ["f"]
    assert parsed.findings == ()


def test_content_parts_are_joined_with_placeholders_for_what_is_no_text() -> None:
    content = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:..."}},
        "and this",
        {"type": "input_audio"},
        7,
    ]

    parsed = parse_messages([{"role": "user", "content": content}])

    assert parsed.turns[0].text == "Look:\n[image_url]\nand this\n[input_audio]\n[number]"
    assert [finding.state for finding in parsed.findings] == ["content_parts"]


@pytest.mark.parametrize("kind", ["reasoning", "thinking", "redacted_thinking"])
def test_hidden_reasoning_is_not_the_answer(kind: str) -> None:
    content = [{"type": kind, "text": "secret plan"}, {"type": "text", "text": "Yes."}]

    parsed = parse_messages([user(), {"role": "assistant", "content": content}])

    assert parsed.turns[1].text == "Yes."
    assert [finding.state for finding in parsed.findings] == ["content_parts", "reasoning_hidden"]


def test_null_content_with_tool_calls_is_no_finding() -> None:
    assert states([user(), agent(call("f", "{}")), reply("ok")]) == []


@pytest.mark.parametrize("content", [None, "", []])
def test_an_agent_message_with_nothing_in_it_is_told(content: Any) -> None:
    found = states([user(), {"role": "assistant", "content": content}])

    assert ("no_content", 1) in found


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "refusal": "I cannot help with that."},
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I cannot help with that."}],
        },
    ],
)
def test_a_refusal_is_a_state_of_its_own(message: dict[str, Any]) -> None:
    parsed = parse_messages([user(), message])

    assert parsed.turns[1].refusal == "I cannot help with that."
    assert parsed.turns[1].text == ""
    assert "refusal" in [finding.state for finding in parsed.findings]
    assert "no_content" not in [finding.state for finding in parsed.findings]
    transcript = Transcript(case_id="a", turns=parsed.turns)
    assert transcript.answer == "I cannot help with that."


@pytest.mark.parametrize("refusal", [None, "", {"why": "policy"}, 7])
def test_a_refusal_that_is_no_text_is_none(refusal: Any) -> None:
    parsed = parse_messages([user(), {"role": "assistant", "content": "Hi", "refusal": refusal}])

    assert parsed.turns[1].refusal is None
    assert parsed.findings == ()


def test_parallel_calls_count_each_and_replies_out_of_order_find_their_call() -> None:
    messages = [
        user(),
        agent(call("f", '{"n": 1}', "a"), call("f", '{"n": 2}', "b")),
        reply("two", "b"),
        reply("one", "a"),
    ]

    parsed = parse_messages(messages)

    first, second = parsed.turns[1].calls
    assert (first.result, first.result_turn) == ("one", 3)
    assert (second.result, second.result_turn) == ("two", 2)
    assert [(item.state, item.turn) for item in parsed.findings] == [("replies_out_of_order", 2)]


def test_replies_without_ids_are_matched_by_name_and_order() -> None:
    messages = [
        user(),
        agent(call("f", "{}", None), call("g", "{}", None), call("f", "{}", None)),
        reply("from g", None, "g"),
        reply("first f", None, "f"),
        reply("second f", None, "f"),
    ]

    parsed = parse_messages(messages)

    assert [made.result for made in parsed.turns[1].calls] == ["first f", "from g", "second f"]
    assert [made.id for made in parsed.turns[1].calls] == ["turn1.0", "turn1.1", "turn1.2"]
    assert [item.state for item in parsed.findings].count("reply_without_id") == 3


def test_a_reply_with_neither_id_nor_name_takes_the_first_open_call() -> None:
    messages = [user(), agent(call("f", "{}"), call("g", "{}", "c2")), reply("ok", None)]

    parsed = parse_messages(messages)

    assert parsed.turns[1].calls[0].result == "ok"
    assert parsed.turns[2].name == "f"
    assert [item.state for item in parsed.findings] == ["unanswered_call", "reply_without_id"]


@pytest.mark.parametrize("message", [reply("ok", "nobody"), reply("ok", None, "nobody")])
def test_a_reply_to_no_call_is_an_orphan(message: dict[str, Any]) -> None:
    parsed = parse_messages([user(), agent(call("f", "{}")), message])

    assert ("orphan_reply", 2) in [(item.state, item.turn) for item in parsed.findings]
    assert ("unanswered_call", 1) in [(item.state, item.turn) for item in parsed.findings]
    assert parsed.turns[1].calls[0].result is None


def test_a_reply_that_stands_before_its_call_is_an_orphan() -> None:
    found = states([user(), reply("ok"), agent(call("f", "{}"))])

    assert found == [("orphan_reply", 1), ("unanswered_call", 2)]


def test_an_id_that_is_used_again_answers_the_call_that_is_open() -> None:
    messages = [
        user(),
        agent(call("f", "{}", "same")),
        reply("one", "same"),
        agent(call("g", "{}", "same")),
        reply("two", "same"),
    ]

    parsed = parse_messages(messages)

    assert parsed.turns[1].calls[0].result == "one"
    assert parsed.turns[3].calls[0].result == "two"
    assert parsed.findings == ()


def test_an_empty_reply_is_an_answer() -> None:
    parsed = parse_messages([user(), agent(call("f", "{}")), reply("")])

    assert parsed.turns[1].calls[0].result == ""
    assert parsed.findings == ()


def test_old_style_function_calls_are_calls() -> None:
    messages = [
        user(),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "ok"},
    ]

    parsed = parse_messages(messages)

    assert parsed.turns[2].role == "tool"
    assert parsed.turns[1].calls[0].result == "ok"


@pytest.mark.parametrize("messages", [[], None, [{"role": "system", "content": "Be kind."}]])
def test_no_turn_at_all_is_told(messages: Any) -> None:
    parsed = parse_messages(messages)

    assert parsed.turns == ()
    assert [(item.state, item.turn) for item in parsed.findings] == [("empty_transcript", None)]


def test_two_user_turns_in_a_row_are_told_once_for_each_further_turn() -> None:
    found = states([user(), user(), user(), {"role": "assistant", "content": "Hi"}])

    assert found == [("user_turns_in_a_row", 1), ("user_turns_in_a_row", 2)]


@pytest.mark.parametrize("role", ["critic", "", None, 7, ["user"], {"a": 1}])
def test_a_role_that_nobody_knows_is_told(role: Any) -> None:
    parsed = parse_messages([{"role": role, "content": "Hm."}])

    assert parsed.turns[0].role == "user"
    assert parsed.turns[0].text == "Hm."
    assert [(item.state, item.turn) for item in parsed.findings] == [("unknown_role", 0)]


@pytest.mark.parametrize(
    ("entry", "text", "kind"),
    [
        ("just text", "just text", "string"),
        (7, "7", "number"),
        (None, "null", "null"),
        (["a"], '["a"]', "array"),
    ],
)
def test_an_entry_that_is_no_object_keeps_what_came(entry: Any, text: str, kind: str) -> None:
    parsed = parse_messages([{"role": "assistant", "content": "Hi"}, entry])

    assert parsed.turns[1].text == text
    assert parsed.findings[0].state == "unknown_role"
    assert parsed.findings[0].detail == f"an entry that is a JSON {kind}"


def test_half_a_surrogate_pair_is_replaced_so_that_the_transcript_can_be_written() -> None:
    # json.loads makes this of a reply that was cut within an emoji.
    broken = "cut \ud83d"
    arguments = '{"text": "cut \\ud83d", "list": ["\\ud83d"]}'

    parsed = parse_messages(
        [user(broken), agent(call(broken, arguments), refusal=broken), reply(broken, broken)]
    )

    transcript = Transcript(case_id="a", turns=parsed.turns, findings=parsed.findings)
    assert transcript.turns[0].text == "cut �"
    assert transcript.turns[1].calls[0].arguments == {"text": "cut �", "list": ["�"]}
    assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript


def test_whole_surrogate_pairs_and_emoji_survive() -> None:
    parsed = parse_messages([user("ok 😀"), agent(call("f", '{"a": "\\ud83d\\ude00"}')), reply("")])

    assert parsed.turns[0].text == "ok 😀"
    assert parsed.turns[1].calls[0].arguments == {"a": "😀"}


def test_content_that_is_an_object_is_shown_as_json() -> None:
    parsed = parse_messages([{"role": "user", "content": {"subject": "Hi", "n": 1}}])

    assert parsed.turns[0].text == '{"subject": "Hi", "n": 1}'


ANY_TEXT = st.text(st.characters(), max_size=12)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
# Mostly right messages reach much deeper than arbitrary JSON does.
CALL = st.one_of(
    JSON_VALUE,
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["a", "b", "", None]) | JSON_VALUE,
            "function": st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["f", "g"]) | JSON_VALUE,
                    "arguments": st.sampled_from(['{"a": 1}', "", "{", '"{}"']) | JSON_VALUE,
                },
            ),
        },
    ),
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
        | JSON_VALUE
    },
    optional={
        "content": JSON_VALUE
        | st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["text", "refusal", "reasoning", "image"]) | JSON_VALUE},
                optional={"text": JSON_VALUE, "refusal": JSON_VALUE},
            ),
            max_size=3,
        ),
        "tool_calls": st.lists(CALL, max_size=3) | JSON_VALUE,
        "function_call": JSON_VALUE,
        "tool_call_id": st.sampled_from(["a", "b"]) | JSON_VALUE,
        "name": st.sampled_from(["f", "g"]) | JSON_VALUE,
        "refusal": JSON_VALUE,
    },
)


def assert_sound(messages: Any) -> None:
    parsed = parse_messages(messages)
    for finding in parsed.findings:
        assert finding.state in FINDINGS
        assert finding.turn is None or 0 <= finding.turn <= max(0, len(parsed.turns) - 1)
    for index, turn in enumerate(parsed.turns):
        for made in turn.calls:
            assert (made.arguments is None) == (made.malformed is not None)
            assert (made.result is None) == (made.result_turn is None)
            assert made.result_turn is None or made.result_turn > index
    transcript = Transcript(
        case_id="a", turns=parsed.turns, findings=parsed.findings, system=parsed.system
    )
    assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript


@given(JSON_VALUE)
def test_arbitrary_json_never_raises(value: Any) -> None:
    assert_sound(value)


@given(st.lists(MESSAGE | JSON_VALUE, max_size=6))
def test_arbitrary_messages_never_raise_and_can_be_written(messages: Any) -> None:
    assert_sound(messages)


@given(st.lists(MESSAGE, max_size=6))
def test_every_message_that_is_not_the_systems_is_one_turn(messages: list[dict[str, Any]]) -> None:
    parsed = parse_messages(messages)

    spoken = [item for item in messages if item["role"] not in ("system", "developer")]
    assert len(parsed.turns) == len(spoken)


@given(JSON_VALUE)
def test_any_object_survives_being_encoded_as_arguments(value: Any) -> None:
    arguments, malformed, _ = parse_arguments(json.dumps({"value": value}, allow_nan=True))

    assert (arguments is None) == (malformed is not None)
