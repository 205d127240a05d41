"""Many requests, and the tape in front of them, through the real openai client."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenteval_kit.errors import (
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
)
from agenteval_kit.models.chat import ChatRequest, ModelError
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.retries import Retries
from agenteval_kit.models.tape import Tape
from agenteval_kit.testing import (
    Answer,
    Asked,
    fail,
    out_of_quota,
    say,
    too_many,
)
from agenteval_kit.testing.server import ScriptedServer

QUICK = Retries(first=0.01)


def request(text: str = "hello", **changed: object) -> ChatRequest:
    fields = {"model": "m-1", "messages": ({"role": "user", "content": text},), **changed}
    return ChatRequest(**fields)  # type: ignore[arg-type]


def requests(count: int) -> Iterator[ChatRequest]:
    return (request(f"question {number}") for number in range(count))


def model(server: ScriptedServer, **given: object) -> OpenAIModel:
    return OpenAIModel("m-1", base_url=server.base_url, **{"retries": QUICK, **given})  # type: ignore[arg-type]


# The tape in front.


def test_a_reply_that_arrived_is_never_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ScriptedServer() as server:
        first = model(server, tape=Tape(path)).complete(request())
        second = model(server, tape=Tape(path)).complete(request())

    assert not first.from_tape
    assert second.from_tape
    assert second.seconds == pytest.approx(first.seconds, abs=1e-4)
    assert len(server.asked) == 1


def test_a_replay_wants_no_key_and_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = tmp_path / "calls.jsonl"
    with ScriptedServer() as server:
        list(model(server, tape=Tape(path)).complete_many(requests(30)))
    away = OpenAIModel("m-1", tape=Tape(path))

    replayed = list(away.complete_many(requests(30)))

    assert all(one.reply is not None and one.reply.from_tape for one in replayed)
    assert away.requests_sent == 0
    with pytest.raises(ConfigError, match="set the environment variable OPENAI_API_KEY"):
        away.complete(request("not on the tape"))


def test_the_same_question_from_two_threads_is_paid_for_once(tmp_path: Path) -> None:
    with ScriptedServer(latency=0.2) as server:
        asked = model(server, tape=Tape(tmp_path / "calls.jsonl"))
        replies: list[bool] = []
        threads = [
            threading.Thread(target=lambda: replies.append(asked.complete(request()).from_tape))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(replies) == [False, True, True, True]
    assert len(server.asked) == 1


def test_a_disk_that_is_full_is_infrastructure_and_not_the_agents_fault(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    tape = Tape(tmp_path / "in the way" / "calls.jsonl")
    with ScriptedServer() as server, pytest.raises(InfrastructureError, match="cannot be kept"):
        model(server, tape=tape).complete(request())


# Many at once.


def test_every_request_is_answered_once_in_whatever_order() -> None:
    with ScriptedServer(lambda asked: say(asked.text.upper()), latency=0.01) as server:
        answers = list(model(server, max_concurrency=20).complete_many(requests(100)))

    assert sorted(one.index for one in answers) == list(range(100))
    assert {one.reply.text for one in answers if one.reply} == {
        f"QUESTION {number}" for number in range(100)
    }
    assert 1 < server.most_in_flight <= 20


def test_requests_are_drawn_as_there_is_room() -> None:
    drawn = 0

    def draw() -> Iterator[ChatRequest]:
        nonlocal drawn
        for one in requests(1000):
            drawn += 1
            yield one

    with ScriptedServer(latency=0.02) as server:
        stream = model(server, max_concurrency=5).complete_many(draw())
        next(stream)
        stream.close()

    assert drawn <= 11


def test_one_bad_request_does_not_stop_the_others() -> None:
    def answer(asked: Asked) -> Answer:
        return fail(400, "too long") if asked.text == "question 3" else say("ok")

    with ScriptedServer(answer) as server:
        answers = list(model(server).complete_many(requests(10)))

    bad = [one for one in answers if one.error is not None]
    assert [(one.index, type(one.error)) for one in bad] == [(3, ModelError)]


def test_the_concurrency_settles_near_what_the_server_bears() -> None:
    with ScriptedServer(latency=0.05, limit=20) as server:
        asked = model(server, max_concurrency=100)
        answers = list(asked.complete_many(requests(600)))

    assert all(one.error is None for one in answers)
    assert 15 <= asked.settled_at <= 24
    wasted = server.statuses[429] / sum(server.statuses.values())
    assert wasted < 0.10


@pytest.mark.parametrize("told", [0.5, None])
def test_an_account_with_a_rate_limit_is_waited_for_and_nothing_is_given_up(
    told: float | None,
) -> None:
    # Ten a second, and ten in store: 30 requests want two seconds.
    store = {"left": 10.0, "at": time.monotonic()}

    def answer(asked: Asked) -> Answer:
        now = time.monotonic()
        store["left"] = min(10.0, store["left"] + 10 * (now - store["at"]))
        store["at"] = now
        if store["left"] < 1:
            return too_many(told).after(0)
        store["left"] -= 1
        return say("ok")

    with ScriptedServer(answer, latency=0.02) as server:
        answers = list(model(server, max_concurrency=50).complete_many(requests(30)))

    assert all(one.error is None for one in answers)
    assert server.statuses[200] == 30
    assert server.statuses[429] < 90


def test_a_hundred_are_in_flight_where_the_server_bears_them() -> None:
    with ScriptedServer(latency=0.3) as server:
        answers = list(model(server, max_concurrency=100).complete_many(requests(300)))

    assert len(answers) == 300
    assert server.most_in_flight == 100


def test_a_used_up_quota_stops_the_rest_after_giving_out_what_arrived() -> None:
    def answer(asked: Asked) -> Answer:
        return say("ok") if asked.n < 10 else out_of_quota()

    arrived = []
    with ScriptedServer(answer, latency=0.01) as server:
        stream = model(server, max_concurrency=4).complete_many(requests(500))
        with pytest.raises(QuotaExhausted):
            arrived.extend(stream)

    assert len(arrived) == 10
    assert len(server.asked) < 30


def test_a_provider_that_is_down_stops_the_rest() -> None:
    with ScriptedServer([fail(500)]) as server:
        stream = model(server, max_concurrency=2).complete_many(requests(1000))
        with pytest.raises(InfrastructureError, match="run the same command to resume"):
            list(stream)

    assert len(server.asked) < 60
