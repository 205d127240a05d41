"""A run that is killed with SIGKILL at any moment, then started again by the same command."""

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

from agenteval_kit.runs import Run

AGENT = """\
import os, time


def answer(messages, *, now, case):
    with open(os.environ["ASKED"], "a") as log:
        log.write(case.id + "\\n")
    time.sleep(0.01)
    return f"The answer is {case.id[1:]}."
"""
SUITE = """\
name: many
version: "1"
cases: cases.jsonl
agent: {call: "many_agent:answer", model: rules, prompt: v1}
clock: "2026-03-02T09:00:00+00:00"
"""
CASES = 60
JOBS = 4


def prepare(folder: Path) -> None:
    (folder / "many_agent.py").write_text(AGENT)
    (folder / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"c{number}", "question": "?", "must_include": [str(number)], "max_words": 9}
        for number in range(CASES)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def start(folder: Path, out: str, log: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "agenteval_kit", "check", "suite.yaml", "--out", out]
    return subprocess.Popen(
        [*command, "--jobs", str(JOBS)],
        cwd=folder,
        env={**os.environ, "ASKED": str(folder / log)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(folder: Path, out: str, log: str) -> tuple[int, str]:
    process = start(folder, out, log)
    _, error = process.communicate(timeout=60)
    return process.returncode, error.decode()


def rows_of(path: Path) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.as_dict().values())) for row in Run.open(path).check_rows())


def test_kill_9_at_random_moments_then_the_same_command_gives_the_same_rows(
    tmp_path: Path,
) -> None:
    prepare(tmp_path)
    assert finish(tmp_path, "whole", "whole.log") == (0, "")
    moments = random.Random(20260302)

    kills = 0
    for _ in range(10):
        process = start(tmp_path, "killed", "killed.log")
        try:
            process.communicate(timeout=moments.uniform(0.35, 0.9))
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
    code, _ = finish(tmp_path, "killed", "killed.log")

    asked = Counter((tmp_path / "killed.log").read_text().split())
    assert code == 0
    assert kills >= 1
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    assert len(asked) == CASES
    # Only what was in flight at a kill is repeated.
    assert sum(asked.values()) - CASES <= kills * JOBS


def test_an_interrupt_leaves_a_resumable_run(tmp_path: Path) -> None:
    prepare(tmp_path)
    process = start(tmp_path, "run", "run.log")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        log = tmp_path / "run.log"
        if log.exists() and len(log.read_text().split()) > 5:
            break
        time.sleep(0.01)

    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)

    assert process.returncode == 3
    assert b"run the same command to resume" in error
    assert b"Traceback" not in error
    assert finish(tmp_path, "run", "run.log")[0] == 0
    assert len(rows_of(tmp_path / "run")) == 2 * CASES
