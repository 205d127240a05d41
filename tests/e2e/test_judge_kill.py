"""kill -9 in the middle of judging, then the same call again: no verdict is paid for twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from asked_log import AskedLog
from judged import make_judged_run, rows_of, talk

from agenteval_kit.models.tape import Tape
from agenteval_kit.runs import Run

IN_FLIGHT = 10
MODELS = ("a", "b", "c")

CLIENT = """
import sys
from pathlib import Path
from agenteval_kit.judge import judge_run, load_judges
from agenteval_kit.records import JudgeSpec
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run

folder, rubric, url, at_once = sys.argv[1:]
spec = JudgeSpec.model_validate(
    {"models": [{"name": name, "base_url": url} for name in "abc"]}
)
judges = load_judges(spec, max_concurrency=int(at_once))
result = judge_run(Run.open(Path(folder)), load_rubric(rubric), judges)
print(result.kept, result.made, result.replies, result.from_tape, result.complete)
"""

RUBRIC = """
name: killed
dimensions:
  - name: alone
    layer: outcome
    definition: Whether it is done.
    anchors: {1: Nothing of it is done., 2: Some of it is done., 3: All of it is done.}
  - name: panel
    layer: policy
    definition: Whether it was allowed.
    anchors: {1: Nothing of it was allowed., 2: Some of it was., 3: All of it was.}
    panel: 3
"""

# One in seven replies cites a turn that is not there, until it is asked again.
SCRIPT = """
import json, zlib


def answer(asked):
    body = json.dumps([asked.body["model"], asked.body["messages"]])
    dice = zlib.crc32(body.encode())
    bad = dice % 7 == 0 and "was set aside" not in asked.text
    turn = 9 if bad else 1
    verdict = {"evidence": [{"turn": turn}], "justification": "So.", "score": 1 + dice % 3}
    return json.dumps(verdict)
"""


def question(body: dict[str, Any]) -> str:
    """Which model was asked what."""
    return json.dumps([body["model"], body["messages"]])


def on_tape(tape: Path, questions: Counter[str]) -> set[str]:
    """Those of the questions whose reply is on the tape."""
    from agenteval_kit.files import digest

    taped = {(row["model"], row["parts"]["messages"]) for row in Tape(tape).rows()}
    return {
        question
        for question in questions
        if (json.loads(question)[0], digest(json.loads(question)[1])) in taped
    }


@pytest.mark.parametrize(
    ("transcripts", "kills"), [(70, 3), pytest.param(240, 6, marks=pytest.mark.slow)]
)
def test_after_kill_9_no_reply_that_had_arrived_is_asked_for_again(
    tmp_path: Path, transcripts: int, kills: int
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    talks = [talk(f"c{number}", answer=f"Done: {number}.") for number in range(transcripts)]
    whole = make_judged_run(tmp_path, talks, name="whole")
    killed = make_judged_run(tmp_path, talks, name="killed")
    log = AskedLog(tmp_path / "asked.jsonl", question)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    server = subprocess.Popen(
        [sys.executable, "-m", "agenteval_kit.testing.server", "--script",
         str(tmp_path / "script.py"), "--log", str(log.path), "--latency", "0.05"],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert server.stdout is not None
    url = server.stdout.readline().strip()

    def start(run: Run) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(run.path), str(tmp_path / "rubric.yaml"), url,
             str(IN_FLIGHT)],
            stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    try:
        out, _ = start(whole).communicate(timeout=120)
        assert out.split()[-1] == "True"
        calls = int(out.split()[2])
        reference = log.so_far()
        assert set(reference.values()) == {1}

        moments = random.Random(20260302)
        arrived: set[str] = set()
        for _ in range(kills):
            before = log.so_far()
            wanted = sum(before.values()) + moments.randint(1, calls // (kills + 1))
            victim = start(killed)
            while sum(log.so_far().values()) < wanted:
                assert victim.poll() is None, "the client ended before it was killed"
                time.sleep(0.02)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            time.sleep(0.3)

            now = log.so_far()
            again = {question for question, times in now.items() if times > before[question]}
            assert not arrived & again, "a reply that was on the tape was asked for again"
            arrived = on_tape(killed.tape_path, now)

        before = log.so_far()
        last, _ = start(killed).communicate(timeout=120)
        now = log.so_far()
        again = {question for question, times in now.items() if times > before[question]}
    finally:
        server.kill()
        server.communicate()

    assert not arrived & again
    assert last.split()[-1] == "True"
    assert rows_of(killed) == rows_of(whole)
    assert len(rows_of(killed)) == 2 * transcripts
    # Each model has its own requests in flight.
    twice = sum(now.values()) - 2 * calls
    assert 0 <= twice <= kills * IN_FLIGHT * len(MODELS)
    assert set(now) == set(reference)
