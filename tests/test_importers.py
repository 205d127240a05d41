"""Recordings become transcripts, or a complaint with file and line; nothing in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError, StampError
from agenteval_kit.importers import FORMATS, detect_format, import_files
from agenteval_kit.records import AgentStamps, Transcript

HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
STAMPS = AgentStamps(model="gpt-4o", prompt="v1")


def write(path: Path, content: Any, *, lines: bool = False) -> Path:
    if isinstance(content, str):
        text = content
    elif lines:
        text = "".join(json.dumps(item) + "\n" for item in content)
    else:
        text = json.dumps(content, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def complaints(path: Path, **more: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        list(import_files(path, **more))
    return [str(problem).replace(str(path.parent) + "/", "") for problem in caught.value.problems]


# Telling the formats apart


@pytest.mark.parametrize(
    ("content", "lines", "expected"),
    [
        (HELLO, False, "openai"),
        (HELLO, True, "openai"),
        ([{"messages": HELLO}], False, "openai"),
        ([{"id": "a", "messages": HELLO}], True, "openai"),
        ({"messages": HELLO}, False, "openai"),
        ([HELLO, HELLO], False, "openai"),
        (
            [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": HELLO}],
            False,
            "tau-bench",
        ),
        ([{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": HELLO}], True, "tau-bench"),
        ([{"case_id": "a"}], True, "transcripts"),
    ],
)
def test_the_format_is_told_by_the_content_not_by_the_name(
    tmp_path: Path, content: Any, lines: bool, expected: str
) -> None:
    for name in ("a.json" if not lines else "a.jsonl", "a.log"):
        path = write(tmp_path / name, content, lines=lines)

        assert detect_format(path) == expected
        assert list(import_files(path))


def test_a_file_in_no_known_format_is_refused_with_what_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "\n\n" + json.dumps({"spans": [], "trace": 1}))

    (message,) = complaints(path)

    assert message == (
        "a.json:3: is in no format that is known: its first entry has spans, trace; known are "
        + "; ".join(f"{name} ({text})" for name, text in FORMATS.items())
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", "[]", "a.json: is empty; there is nothing to import"),
        ("a.jsonl", "", "a.jsonl: is empty; there is nothing to import"),
        ("a.log", "\n \n", "a.log: is empty; there is nothing to import"),
    ],
)
def test_an_empty_file_is_refused(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert complaints(write(tmp_path / name, text)) == [expected]


@pytest.mark.parametrize("name", ["gone.json", "gone.jsonl"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    assert complaints(tmp_path / name) == [f"{name}: there is no such file"]


def test_text_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    assert complaints(write(tmp_path / "a.json", "[\n{},\n{,}]")) == [
        "a.json:3: is not JSON: Expecting property name enclosed in double quotes"
    ]


def test_an_unknown_format_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", HELLO)

    with pytest.raises(ConfigError) as caught:
        import_files(path, format="tau_bench")

    assert str(caught.value) == 'unknown format "tau_bench". Did you mean "tau-bench"?'


def test_no_file_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match="no file to import"):
        import_files([])


def test_a_format_that_is_given_is_not_sniffed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", HELLO)

    (message, *_) = complaints(path, format="tau-bench")

    assert message == 'a.json:2: "task_id" wants a number or a name, but holds None'


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_bom_and_crlf_are_read(tmp_path: Path, name: str) -> None:
    rows = [{"id": "a", "messages": HELLO}, {"id": "b", "messages": HELLO}]
    text = (
        json.dumps(rows, indent=1)
        if name == "a.json"
        else "\n".join(json.dumps(row) for row in rows) + "\n"
    )
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode("utf-8"))

    assert [made.case_id for made in import_files(path)] == ["a", "b"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("lines", [True, False])
def test_a_number_that_is_none_is_refused_with_file_and_line(
    tmp_path: Path, number: str, lines: bool
) -> None:
    good = json.dumps({"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": HELLO})
    bad = '{"task_id": 1, "trial": 0, "reward": %s, "info": {}, "traj": []}' % number  # noqa: UP031
    name = "a.jsonl" if lines else "a.json"
    text = f"{good}\n{bad}\n" if lines else f"[\n{good},\n\n{bad}\n]"

    (message,) = complaints(write(tmp_path / name, text))

    assert message.startswith(f"{name}:{2 if lines else 4}: {number} is ")


def test_a_text_that_says_nan_is_no_number(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [{"role": "user", "content": 'Is NaN "1e999"?'}])

    (made,) = import_files(path)

    assert made.turns[0].text == 'Is NaN "1e999"?'


# OpenAI chat messages


@pytest.mark.parametrize("lines", [True, False])
def test_a_list_of_messages_is_one_conversation_named_after_its_file(
    tmp_path: Path, lines: bool
) -> None:
    path = (
        write(tmp_path / "chat one.jsonl", HELLO, lines=True)
        if lines
        else write(tmp_path / "chat one.json", HELLO)
    )

    (made,) = import_files(path)

    assert made.case_id == "chat one"
    assert [turn.text for turn in made.turns] == ["Hello", "Hi."]
    assert (made.repeat, made.reward, made.stop, made.stamps) == (0, None, "recorded", None)


def test_objects_with_messages_keep_what_they_bring_along(tmp_path: Path) -> None:
    row = {
        "id": "refund-1",
        "repeat": 2,
        "messages": [{"role": "system", "content": "Be kind."}, *HELLO],
        "reward": 1,
        "model": "gpt-4o-2024-08-06",
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        "tags": ["refund"],
        "customer": "C-1",
    }
    path = write(tmp_path / "a.jsonl", [row], lines=True)

    (made,) = import_files(path, stamps=STAMPS)

    assert (made.case_id, made.repeat, made.reward, made.tags) == ("refund-1", 2, 1.0, ("refund",))
    assert made.system == "Be kind."
    assert (made.usage.input_tokens, made.usage.output_tokens) == (20, 5)
    assert made.extra == {"customer": "C-1"}
    assert made.stamps == STAMPS.model_copy(update={"model_served": "gpt-4o-2024-08-06"})


def test_ids_stay_texts_and_missing_ones_are_numbered(tmp_path: Path) -> None:
    rows = [{"id": "001", "messages": HELLO}, {"messages": HELLO}, {"id": 1, "messages": HELLO}]
    path = write(tmp_path / "chats.jsonl", rows, lines=True)

    assert [made.case_id for made in import_files(path)] == ["001", "chats-0001", "1"]


def test_unknown_usage_stays_unknown(tmp_path: Path) -> None:
    rows = [{"id": "a", "messages": HELLO}, {"id": "b", "messages": HELLO, "usage": {"x": 1}}]
    path = write(tmp_path / "a.jsonl", rows, lines=True)

    assert [made.usage.input_tokens for made in import_files(path)] == [None, None]


def test_all_problems_of_a_file_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"id": "a", "messages": HELLO},
        {"id": "", "messages": HELLO},
        {"id": True, "messages": HELLO},
        {"id": "b"},
        {"id": "c", "messages": "Hello"},
        {"id": "d", "messages": HELLO, "repeat": -1},
        {"id": "e", "messages": HELLO, "reward": "1"},
        {"id": "f", "messages": HELLO, "tags": "x"},
        {"id": "a", "messages": HELLO},
    ]
    path = write(tmp_path / "a.jsonl", rows, lines=True)

    assert complaints(path) == [
        'a.jsonl:2: "id" is empty; give a name, or leave it out',
        'a.jsonl:3: "id" wants text, but holds True',
        'a.jsonl:4: "messages" is missing; a list of chat messages was wanted',
        'a.jsonl:5: "messages" holds a str; a list of chat messages was wanted',
        'a.jsonl:6: "repeat" wants a whole number from 0, but holds -1',
        "a.jsonl:7: \"reward\" wants a number, but holds '1'",
        "a.jsonl:8: \"tags\" wants a list of texts, but holds 'x'",
        'a.jsonl:9: case "a", repeat 0, stands at a.jsonl:1 already; runs of another agent are '
        "imported apart, further repeats want a number of their own",
    ]


def test_lines_that_are_no_json_do_not_hide_other_problems(tmp_path: Path) -> None:
    good = json.dumps({"id": "a", "messages": HELLO})
    path = write(tmp_path / "a.jsonl", f'{good}\n{{"id": "b"}}\n{{"id":\n[1]\n')

    assert complaints(path) == [
        'a.jsonl:2: "messages" is missing; a list of chat messages was wanted',
        "a.jsonl:3: is not JSON: Expecting value",
        "a.jsonl:4: holds list; each line wants one JSON object",
    ]


def test_lines_are_told_in_a_json_list_too(tmp_path: Path) -> None:
    text = '[\n  {"messages": []},\n  {\n    "messages": 1\n  }\n]'

    assert complaints(write(tmp_path / "a.json", text)) == [
        'a.json:3: "messages" holds a int; a list of chat messages was wanted'
    ]


def test_messages_and_conversations_in_one_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [*HELLO, {"messages": HELLO}], lines=True)

    assert complaints(path) == [
        "a.jsonl:3: is a conversation of its own, after messages that stand alone; "
        "a file holds one or the other"
    ]


def test_a_conversation_without_messages_is_kept_and_told(tmp_path: Path) -> None:
    (made,) = import_files(write(tmp_path / "a.json", {"id": "a", "messages": []}))

    assert made.turns == ()
    assert [finding.state for finding in made.findings] == ["empty_transcript"]


def test_the_same_case_in_two_files_is_refused(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", {"id": "a", "messages": HELLO})
    second = write(tmp_path / "b.json", {"id": "a", "messages": HELLO})

    with pytest.raises(ConfigError) as caught:
        list(import_files([first, second]))

    assert str(caught.value) == (
        f'{second}:1: case "a", repeat 0, stands at {first}:1 already; runs of another agent are '
        "imported apart, further repeats want a number of their own"
    )


def test_files_of_several_formats_are_one_run_in_the_order_given(tmp_path: Path) -> None:
    chat = write(tmp_path / "chat.json", HELLO)
    bench = write(tmp_path / "bench.json", [{"task_id": 3, "reward": 1, "traj": HELLO}])

    assert [made.case_id for made in import_files([bench, chat])] == ["task-003", "chat"]


# Stamps and system message


def test_a_system_message_is_given_only_to_recordings_that_left_it_out(tmp_path: Path) -> None:
    own = [{"role": "system", "content": "Mine."}, *HELLO]
    rows = [{"id": "a", "messages": HELLO}, {"id": "b", "messages": own}]
    path = write(tmp_path / "a.jsonl", rows, lines=True)

    assert [made.system for made in import_files(path, system="Yours.")] == ["Yours.", "Mine."]


def test_transcripts_keep_the_stamps_that_they_carry(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    carried = STAMPS.model_copy(update={"prompt_digest": "abc"})
    path.write_text(Transcript(case_id="a", stamps=carried).model_dump_json() + "\n")

    assert [made.stamps for made in import_files(path)] == [carried]
    assert [made.stamps for made in import_files(path, stamps=STAMPS)] == [carried]


def test_version_b_cannot_wear_the_stamps_of_version_a(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(Transcript(case_id="a", stamps=STAMPS).model_dump_json() + "\n")

    with pytest.raises(StampError) as caught:
        list(import_files(path, stamps=AgentStamps(model="gpt-4o", prompt="v2")))

    assert str(caught.value) == (
        f'{path}:1: case "a" was made by model "gpt-4o", prompt "v1", and cannot be stamped as '
        'model "gpt-4o", prompt "v2"; leave the stamps out, or name the right file'
    )


# Our own transcripts


def test_our_own_transcripts_come_back_as_they_were(tmp_path: Path) -> None:
    source = write(tmp_path / "bench.json", [{"task_id": 3, "reward": 1, "traj": HELLO}])
    made = list(import_files(source, stamps=STAMPS))
    path = tmp_path / "transcripts.jsonl"
    path.write_text("".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in made))

    assert list(import_files(path)) == made


def test_bom_crlf_blank_lines_and_text_like_numbers_are_read_in_transcripts_too(
    tmp_path: Path,
) -> None:
    plain = [json.dumps({"case_id": name, "reward": 1.0}) for name in "abcde"]
    odd = json.dumps({"case_id": "nan", "turns": [{"role": "user", "text": "NaN or 1e400?"}]})
    path = tmp_path / "t.jsonl"
    path.write_bytes("\ufeff".encode() + "\r\n".join([*plain[:3], "", odd, *plain[3:]]).encode())

    made = list(import_files(path))

    assert [one.case_id for one in made] == ["a", "b", "c", "nan", "d", "e"]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_reward_that_is_no_number_is_refused_among_good_transcripts(
    tmp_path: Path, number: str
) -> None:
    lines = ['{"case_id": "a", "reward": 1.0}', '{"case_id": "b", "reward": %s}' % number]  # noqa: UP031
    path = write(tmp_path / "t.jsonl", "\n".join([*lines, '{"case_id": 7}']) + "\n")

    first, second = complaints(path)

    assert first == 't.jsonl:3: "case_id" in transcript of case "7" wants text, but holds 7'
    assert second.startswith(f"t.jsonl:2: {number} is ")


def test_a_transcript_with_an_unknown_key_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"case_id": "a", "rewrad": 1.0}], lines=True)

    assert complaints(path) == [
        't.jsonl:1: unknown key "rewrad" in transcript of case "a". Did you mean "reward"?'
    ]


TEXT = st.text(max_size=20)
MESSAGES = st.lists(
    st.one_of(
        st.fixed_dictionaries({"role": st.just("user"), "content": TEXT}),
        st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": TEXT | st.none()},
            optional={
                "tool_calls": st.lists(
                    st.fixed_dictionaries(
                        {
                            "id": TEXT,
                            "function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT}),
                        }
                    ),
                    max_size=2,
                )
            },
        ),
        st.fixed_dictionaries({"role": st.just("tool"), "content": TEXT, "tool_call_id": TEXT}),
    ),
    min_size=1,
    max_size=5,
)


@given(conversations=st.lists(MESSAGES, min_size=1, max_size=3))
def test_what_is_imported_written_and_imported_again_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, conversations: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("again")
    source = write(
        folder / "a.jsonl",
        [{"id": str(n), "messages": item} for n, item in enumerate(conversations)],
        lines=True,
    )
    made = list(import_files(source, stamps=STAMPS))
    copy = folder / "transcripts.jsonl"
    copy.write_text(
        "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in made),
        encoding="utf-8",
    )

    assert list(import_files(copy)) == made
