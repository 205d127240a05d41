"""The scripted server and model that wiring tests rest on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import openai
import pytest

from agenteval_kit.testing import Answer, call_tools, say
from agenteval_kit.testing.answers import read_answer
from agenteval_kit.testing.server import ScriptedServer, main


def post(url: str, body: object) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def chat(server: ScriptedServer, text: str = "hi") -> tuple[int, bytes]:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return post(f"{server.base_url}/chat/completions", body)


def test_the_official_client_understands_it() -> None:
    with ScriptedServer(["one", call_tools(("look", {"a": 1}))]) as server:
        client = openai.OpenAI(api_key="unused", base_url=server.base_url, max_retries=0)
        with client:
            messages = [{"role": "user", "content": "x"}]
            one, two = (
                client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
                for _ in range(2)
            )
            models = [model.id for model in client.models.list()]

    assert one.choices[0].message.content == "one"
    assert one.usage is not None
    assert one.usage.prompt_tokens == 20
    assert two.choices[0].message.tool_calls is not None
    assert two.choices[0].message.tool_calls[0].function.arguments == '{"a": 1}'
    assert models == ["scripted-1"]


def test_the_last_answer_of_a_list_is_given_for_ever() -> None:
    with ScriptedServer(["one", "two"]) as server:
        texts = [json.loads(chat(server)[1])["choices"][0]["message"]["content"] for _ in range(4)]

    assert texts == ["one", "two", "two", "two"]


def test_it_remembers_what_it_was_asked_and_how_often() -> None:
    with ScriptedServer(lambda asked: f"{asked.text} {asked.times}") as server:
        for text in ("a", "b", "a"):
            chat(server, text)

    assert [(one.n, one.text, one.times) for one in server.asked] == [
        (0, "a", 0), (1, "b", 0), (2, "a", 1),
    ]  # fmt: skip
    assert server.asked[0].digest == server.asked[2].digest != server.asked[1].digest
    assert server.statuses == {200: 3}


def test_a_hundred_connections_are_served_at_once() -> None:
    with ScriptedServer(latency=0.5) as server:
        threads = [threading.Thread(target=chat, args=(server, str(n))) for n in range(120)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert server.statuses == {200: 120}
    assert server.most_in_flight > 60


def test_above_its_limit_it_answers_429_at_once() -> None:
    with ScriptedServer(latency=0.3, limit=1) as server:
        found: list[int] = []
        threads = [
            threading.Thread(target=lambda n=n: found.append(chat(server, str(n))[0]))
            for n in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(found) == [200, 429, 429]


@pytest.mark.parametrize(
    ("script", "said"),
    [([], "the script is empty"), (lambda asked: 1 / 0, "ZeroDivisionError")],
)
def test_a_mistake_in_the_script_is_seen_by_the_client(script: object, said: str) -> None:
    with ScriptedServer(script) as server:  # type: ignore[arg-type]
        status, body = chat(server)

    assert status == 501
    assert said in body.decode()


def test_what_is_no_chat_request_is_404() -> None:
    with ScriptedServer() as server:
        assert post(f"{server.base_url}/chat/completions", b"not json")[0] == 404
        assert server.asked == []


def test_a_port_that_is_taken_is_an_error_at_once() -> None:
    with ScriptedServer() as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="address already in use"):
            ScriptedServer(port=port).__enter__()


@pytest.mark.parametrize(
    ("value", "status", "part"),
    [
        ("plain", 200, '"content": "plain"'),
        ({"text": "hi"}, 200, '"content": "hi"'),
        ({"json": {"score": 3}}, 200, r"{\"score\": 3}"),
        ({"score": 3}, 200, r"{\"score\": 3}"),
        ({"tools": [{"name": "f", "arguments": {"a": 1}}]}, 200, '"name": "f"'),
        ({"tools": [{"name": "f", "arguments": '{"a":'}]}, 200, r"{\"a\":"),
        ({"cut": "half"}, 200, '"finish_reason": "length"'),
        ({"refuse": "No."}, 200, '"refusal": "No."'),
        ({"status": 500}, 500, "error"),
        ({"status": 429}, 429, "rate_limit_exceeded"),
        ({"quota": True}, 429, "insufficient_quota"),
        ({"refuse_parameter": "temperature"}, 400, "'temperature' is not supported"),
        ({"html": True}, 200, "<html>"),
        ({"raw": "{"}, 200, "{"),
    ],
)
def test_a_script_file_can_hold_every_answer(value: object, status: int, part: str) -> None:
    answer = read_answer(value)

    assert answer.status == status
    assert part in answer.body.decode()


def test_retry_after_latency_and_drop_can_stand_in_a_script_file() -> None:
    assert read_answer({"status": 429, "retry_after": -5}).headers == {"Retry-After": "-5"}
    assert read_answer({"text": "x", "latency": 0.5}).latency == 0.5
    assert read_answer({"drop": True}).drop
    assert read_answer(say("x")) == say("x")
    assert isinstance(read_answer(3), Answer)


def test_from_a_shell_it_serves_a_script_and_logs_what_it_was_asked(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("replies: [one, {status: 500}, {json: {score: 3}}]\nlatency: 0.01\n")
    log = tmp_path / "asked.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-m", "agenteval_kit.testing.server", "--script", str(script),
         "--log", str(log)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert child.stdout is not None
    url = child.stdout.readline().strip()
    try:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        statuses = [post(f"{url}/chat/completions", body)[0] for _ in range(3)]
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=10)

    assert statuses == [200, 500, 200]
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(row["event"], row["n"], row.get("status")) for row in rows] == [
        ("asked", 0, None), ("answered", 0, 200), ("asked", 1, None), ("answered", 1, 500),
        ("asked", 2, None), ("answered", 2, 200),
    ]  # fmt: skip
    assert child.returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("answers: [x]", "wants replies, latency and limit"), ("[", "is not YAML")],
)
def test_a_bad_script_file_is_told_and_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "script.yaml").write_text(text)

    code = main(["--script", str(tmp_path / "script.yaml")])

    assert code == 2
    assert said in capsys.readouterr().err
