"""The tape: what arrived is never asked for again, and what was not is never made up."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.models.tape import Tape, Taped, TapeModel


def request(text: str = "hello", **changed: object) -> ChatRequest:
    base = ChatRequest(
        model="judge-1",
        endpoint="api.example.com/v1",
        messages=(
            {"role": "system", "content": "You judge."},
            {"role": "user", "content": text},
            {"role": "tool", "tool_call_id": "a", "content": "30 days"},
        ),
        schema={"type": "object", "properties": {"score": {"enum": [1, 2, 3, 4]}}},
        parameters={"temperature": 0},
    )
    return replace(base, **changed)  # type: ignore[arg-type]


REPLY = ChatReply(
    message={"role": "assistant", "content": "fine"},
    finish="stop",
    model="judge-1-2026",
    input_tokens=12,
    output_tokens=3,
    seconds=0.25,
    notes=("temperature refused, dropped",),
)


def test_what_was_put_is_read_back_in_another_process_marked_as_taped(tmp_path: Path) -> None:
    with Tape(tmp_path / "calls.jsonl") as tape:
        tape.put(request(), REPLY)

    again = Tape(tmp_path / "calls.jsonl")

    assert again.get(request().digest()) == replace(REPLY, from_tape=True)
    assert again.get(request("other").digest()) is None


def test_a_row_has_its_keys_in_a_fixed_order_and_no_message_text_of_the_request(
    tmp_path: Path,
) -> None:
    tape = Tape(tmp_path / "calls.jsonl")

    tape.put(request("a secret question"), REPLY)

    line = (tmp_path / "calls.jsonl").read_text()
    row = json.loads(line)
    assert list(row) == ["digest", "model", "reply", "usage", "seconds", "at", "parts"]
    assert row["usage"] == {"input_tokens": 12, "output_tokens": 3}
    assert "a secret question" not in line


# Everything that can change an answer; nothing else is in a request.
CHANGES = {
    "anchor text": request("hallo"),
    "judge model": request(model="judge-2"),
    "endpoint": request(endpoint="other.example.com/v1"),
    "temperature": request(parameters={"temperature": 0.1}),
    "system prompt": request(
        messages=({"role": "system", "content": "You judge!"}, *request().messages[1:])
    ),
    "tool result": request(
        messages=(
            *request().messages[:2],
            {"role": "tool", "tool_call_id": "a", "content": "31 days"},
        )
    ),
    "schema": request(schema={"type": "object"}),
    "tools": request(tools=({"type": "function", "function": {"name": "f"}},)),
    "pair order": request(order=1),
    "panel seat": request(seat=1),
    "repeat": request(repeat=1),
    "attempt": request(attempt=1),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_request_misses_and_a_pure_rerun_hits(tmp_path: Path, changed: str) -> None:
    model = ScriptedModel(lambda asked: "fine")
    tape = Tape(tmp_path / "calls.jsonl")
    taped = Taped(model, tape)
    taped.complete(request())

    rerun = Taped(model, Tape(tmp_path / "calls.jsonl")).complete(request())
    taped.complete(CHANGES[changed])

    assert rerun.from_tape
    assert len(model.requests) == 2
    assert len(tape) == 2


def test_a_digest_ignores_the_order_of_keys() -> None:
    one = request(parameters={"temperature": 0, "max_tokens": 9})
    two = request(parameters={"max_tokens": 9, "temperature": 0})

    assert one.digest() == two.digest()


def test_failures_are_not_taped(tmp_path: Path) -> None:
    answers = [InfrastructureError("down"), "well again"]
    taped = Taped(ScriptedModel(answers), Tape(tmp_path / "calls.jsonl"))

    with pytest.raises(InfrastructureError):
        taped.complete(request())
    reply = taped.complete(request())

    assert reply.text == "well again"
    assert len(taped.tape) == 1


@pytest.mark.parametrize("cut", [1, 30, 120])
def test_a_torn_last_line_is_dropped_with_a_warning_and_asked_again(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "calls.jsonl"
    with Tape(path) as tape:
        tape.put(request("one"), REPLY)
        tape.put(request("two"), REPLY)
    path.write_bytes(path.read_bytes()[:-cut])

    again = Tape(path)

    if cut == 1:
        # Only the newline was lost: the row is whole.
        assert again.get(request("two").digest()) is not None
        assert again.warnings == []
    else:
        assert again.warnings == [f"{path}:2: the last line was torn and is dropped"]
        assert again.get(request("two").digest()) is None
        again.put(request("two"), REPLY)
    again.put(request("three"), REPLY)
    assert [Tape(path).get(request(name).digest()) is not None
            for name in ("one", "two", "three")] == [True] * 3  # fmt: skip


def test_a_damaged_line_in_the_middle_is_a_config_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Tape(path) as tape:
        tape.put(request("one"), REPLY)
    path.write_text("not a row\n" + path.read_text())

    with pytest.raises(ConfigError) as raised:
        Tape(path)

    assert str(raised.value) == (
        f"{path}:1: is no row of a tape; restore the file, or remove the line to ask for that "
        "reply again"
    )


def test_a_row_that_only_looks_whole_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    key = request().digest()
    path.write_text(f'{{"digest":"{key}","reply":\n')

    with pytest.raises(ConfigError, match="the row at byte 0 is damaged"):
        Tape(path).get(key)


def test_fresh_asks_again_and_serves_what_it_got(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Tape(path) as tape:
        tape.put(request(), REPLY)

    fresh = Tape(path, fresh=True)
    before = fresh.get(request().digest())
    fresh.put(request(), replace(REPLY, finish="length"))

    assert before is None
    assert fresh.get(request().digest()) == replace(REPLY, finish="length", from_tape=True)
    # The last row of a digest counts.
    assert Tape(path).get(request().digest()) == replace(REPLY, finish="length", from_tape=True)


def test_replies_older_than_max_age_are_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Tape(path) as tape:
        tape.put(request("old"), REPLY)
        tape.put(request("new"), REPLY)
    old, new = path.read_text().splitlines()
    row = json.loads(old)
    row["at"] = "2020-01-01T00:00:00+00:00"
    path.write_text(json.dumps(row, separators=(",", ":")) + "\n" + new + "\n")

    tape = Tape(path, max_age=timedelta(days=30))

    assert tape.get(request("old").digest()) is None
    assert tape.get(request("new").digest()) is not None


def test_a_frozen_process_clock_does_not_date_the_rows(tmp_path: Path) -> None:
    import time_machine

    tape = Tape(tmp_path / "calls.jsonl")

    with time_machine.travel("1999-12-31T00:00:00+00:00", tick=False):
        tape.put(request(), REPLY)

    assert not json.loads((tmp_path / "calls.jsonl").read_text())["at"].startswith("1999")


def test_threads_write_whole_rows(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")

    def put(part: int) -> None:
        for number in range(25):
            tape.put(request(f"{part}/{number}"), REPLY)

    threads = [threading.Thread(target=put, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    again = Tape(tmp_path / "calls.jsonl")
    assert len(again) == len(tape) == 200
    assert all(again.get(request(f"{part}/7").digest()) for part in range(8))


def test_a_thousand_replies_are_replayed_within_the_target(tmp_path: Path) -> None:
    asked = [request(f"{number} " + "x" * 3000) for number in range(1000)]
    Tape(tmp_path / "calls.jsonl").put_many((one, REPLY, one.digest()) for one in asked)

    began = time.perf_counter()
    tape = Tape(tmp_path / "calls.jsonl")
    replies = [tape.get(one.digest()) for one in asked]
    took = time.perf_counter() - began

    assert all(replies)
    # The target is 0.15 s on a quiet machine; twice that leaves room for a busy one.
    assert took < 0.3


def test_a_full_disk_loses_one_reply_and_no_row_that_stood(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")
    tape.put(request("one"), REPLY)
    good = tape._appender
    assert good is not None
    good.close()
    good._stream = open("/dev/full", "ab", buffering=0)  # noqa: SIM115

    with pytest.raises(OSError, match="No space left"):
        tape.put(request("two"), REPLY)
    tape.put(request("three"), REPLY)

    assert tape.get(request("two").digest()) is None
    again = Tape(tmp_path / "calls.jsonl")
    assert again.get(request("one").digest()) is not None
    assert again.get(request("three").digest()) is not None


def test_a_tape_model_replays_under_the_recorded_name_and_endpoint(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")
    tape.put(request(), REPLY)

    model = TapeModel(tape)

    assert (model.name, model.endpoint) == ("judge-1", "api.example.com/v1")
    assert model.complete(request()).text == "fine"


def test_a_tape_model_names_what_differs_from_the_nearest_request(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")
    tape.put(request("far", seat=0), REPLY)
    tape.put(request("near"), REPLY)
    model = TapeModel(tape)

    with pytest.raises(ConfigError) as raised:
        model.complete(request("near", parameters={"temperature": 0.5}, seat=2))

    assert str(raised.value) == (
        f"{tape.path}: holds no reply to this request. Of the nearest request on the tape "
        "parameters was {'temperature': 0} and is {'temperature': 0.5}, seat was 0 and is 2. "
        "Record it again."
    )


def test_an_empty_tape_says_how_to_fill_it(tmp_path: Path) -> None:
    model = TapeModel(Tape(tmp_path / "calls.jsonl"))

    with pytest.raises(ConfigError, match="The tape is empty; record one by running with a model"):
        model.complete(request())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(content=JSON, finish=st.sampled_from([None, "stop", "length"]))
def test_any_reply_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, content: object, finish: str | None
) -> None:
    path = tmp_path_factory.mktemp("tape") / "calls.jsonl"
    reply = ChatReply(message={"role": "assistant", "content": content}, finish=finish)

    Tape(path).put(request(), reply)

    assert Tape(path).get(request().digest()) == replace(reply, from_tape=True)
