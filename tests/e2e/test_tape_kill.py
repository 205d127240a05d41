"""kill -9 in the middle of many model calls, then the same call again: nothing is paid twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from asked_log import AskedLog

from agenteval_kit.models.tape import Tape

IN_FLIGHT = 20

CLIENT = """
import sys
from agenteval_kit.models.chat import ChatRequest
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

url, path, count, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
tape = Tape(path)
model = OpenAIModel("m-1", base_url=url, tape=tape, max_concurrency=at_once)
asked = (ChatRequest("m-1", ({"role": "user", "content": f"q{n}"},)) for n in range(count))
rows = sorted((one.index, one.reply.text) for one in model.complete_many(asked))
print(tape.warnings)
print(rows)
"""

SCRIPT = """
def answer(asked):
    return f"answer to {asked.text}"
"""


def client(url: str, tape: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, url, str(tape), str(count), str(IN_FLIGHT)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip


def question(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


@pytest.mark.parametrize(
    ("count", "kills"), [(300, 3), pytest.param(1000, 6, marks=pytest.mark.slow)]
)
def test_after_kill_9_only_what_was_in_flight_is_asked_again(
    tmp_path: Path, count: int, kills: int
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    log = AskedLog(tmp_path / "asked.jsonl", question)
    tape = tmp_path / "run" / "calls.jsonl"
    server = subprocess.Popen(
        [sys.executable, "-m", "agenteval_kit.testing.server", "--script",
         str(tmp_path / "script.py"), "--log", str(log.path), "--latency", "0.05"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        moments = random.Random(20260302)
        arrived: set[str] = set()
        for kill in range(1, kills + 1):
            before = log.so_far()
            # Somewhere in this round's share of the work, wherever that falls.
            wanted = sum(before.values()) + moments.randint(1, count // (kills + 1))
            victim = client(url, tape, count)
            while sum(log.so_far().values()) < wanted:
                assert victim.poll() is None, "the client ended before it was killed"
                time.sleep(0.005)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            time.sleep(0.2)

            again = [name for name, times in log.so_far().items() if before[name] < times]
            assert not arrived & set(again), "a reply that was on the tape was asked for again"
            arrived = {row["reply"]["message"]["content"].removeprefix("answer to ")
                       for row in Tape(tape).rows()}  # fmt: skip
            asked = sum(log.so_far().values())
            assert asked - len(arrived) <= kill * IN_FLIGHT

        last = client(url, tape, count)
        out, _ = last.communicate(timeout=60)
    finally:
        server.kill()
        server.communicate()

    assert last.returncode == 0
    rows = [(n, f"answer to q{n}") for n in range(count)]
    assert out.splitlines()[-1] == str(rows)
    asked_in_all = log.so_far()
    assert len(asked_in_all) == count
    twice = sum(asked_in_all.values()) - count
    assert twice <= kills * IN_FLIGHT
