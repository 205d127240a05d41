"""kill -9 in the middle of a comparison, then the same call again: nothing is paid for twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from asked_log import AskedLog
from pairs_made import new_run, old_run

from agenteval_kit.runs import Run

IN_FLIGHT = 8
PAIRS = 60

CLIENT = """
import sys
from pathlib import Path
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.pairwise import compare_runs
from agenteval_kit.records import Dimension
from agenteval_kit.runs import Run

old, new, url, at_once = sys.argv[1:]
criterion = Dimension(name="outcome", kind="pairwise", definition="Which is better.",
                      inputs=["question"])
model = OpenAIModel("judge", base_url=url, max_concurrency=int(at_once))
result = compare_runs(Run.open(Path(old)), Run.open(Path(new)), criterion, model, draws=50)
print(result.kept, result.made, result.replies, result.from_tape, result.complete)
"""

# Which of the three it says depends on what is shown, and so also on the order.
SCRIPT = """
import json, zlib


def answer(asked):
    dice = zlib.crc32(asked.text.encode()) % 3
    return json.dumps({"because": "So.", "preferred": ["A", "B", "TIE"][dice]})
"""


def shown(body: dict[str, Any]) -> str:
    """Which pair was shown, and in which order."""
    return str(body["messages"][-1]["content"])


def rows(run: Run) -> list[str]:
    """The rows in the order of cases, without the name of the run that they stand in."""
    made = [row.model_copy(update={"new": "new"}) for row in run.preference_rows()]
    return sorted(row.model_dump_json() for row in made)


def test_after_kill_9_no_order_of_a_pair_that_had_arrived_is_asked_for_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    cases = [f"case-{number:03d}" for number in range(PAIRS)]
    old = old_run(tmp_path, {case: f"One, {case}." for case in cases})
    answers = {case: f"Two, {case}." for case in cases}
    whole = new_run(tmp_path / "whole", answers)
    killed = new_run(tmp_path / "killed", answers)
    log = AskedLog(tmp_path / "asked.jsonl", shown)
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
            [sys.executable, "-c", CLIENT, str(old.path), str(run.path), url, str(IN_FLIGHT)],
            stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    try:
        first, _ = start(whole).communicate(timeout=120)
        reference = log.so_far()
        victim = start(killed)
        while sum(log.so_far().values()) < 3 * PAIRS:
            assert victim.poll() is None, "the client ended before it was killed"
            time.sleep(0.02)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        time.sleep(0.3)
        last, _ = start(killed).communicate(timeout=120)
        asked = log.so_far()
    finally:
        server.kill()
        server.communicate()

    assert first.split() == ["0", str(PAIRS), str(2 * PAIRS), "0", "True"]
    assert set(reference.values()) == {1} and len(reference) == 2 * PAIRS
    kept, made = map(int, last.split()[:2])
    assert last.split()[-1] == "True"
    assert kept > 0 and kept + made == PAIRS
    assert rows(killed) == rows(whole)
    # Once for each of the two runs, and what was in flight when it was killed once more.
    assert set(asked) == set(reference)
    assert 0 <= sum(asked.values()) - 4 * PAIRS <= IN_FLIGHT
