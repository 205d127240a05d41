"""Checks over many recorded cases: cases a second with the rows written, and memory.

May not check results: the tests do.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CASES = 10_000


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        write_suite(Path(folder))
        # A process of its own, so that the memory is its own too.
        told = subprocess.run(
            [sys.executable, __file__, folder], capture_output=True, text=True, check=True
        )
    measured = json.loads(told.stdout)
    return [
        line(f"{CASES:,} recorded cases x 7 assertions, rows written",
             CASES / measured["run"], 10_000, "cases/s", more_is_better=True),
        line("the same with the suite loaded from its file first",
             CASES / (measured["load"] + measured["run"]), 5_000, "cases/s", more_is_better=True),
        line("memory of the same", measured["megabytes"], 250, "MB", more_is_better=False),
    ]  # fmt: skip


def write_suite(folder: Path) -> None:
    with (folder / "recorded.jsonl").open("w") as transcripts:
        for number in range(CASES):
            transcripts.write(json.dumps(transcript(number)) + "\n")
    with (folder / "cases.jsonl").open("w") as cases:
        for number in range(CASES):
            cases.write(json.dumps(case(number)) + "\n")
    (folder / "suite.yaml").write_text(
        'name: bench\nversion: "1"\ncases: cases.jsonl\n'
        "agent: {recorded: recorded.jsonl, model: m-2026-01-01, prompt: p}\n"
    )


def transcript(number: int) -> dict[str, Any]:
    call = {"id": "c", "name": "leave_balance", "arguments": {"employee": f"E-{number}"},
            "result": '{"days": 30}', "result_turn": 2}  # fmt: skip
    return {
        "case_id": f"c{number}",
        "turns": [
            {"role": "user", "text": f"How many days of leave do I have, number {number}?"},
            {"role": "assistant", "calls": [call]},
            {"role": "tool", "text": '{"days": 30}', "reply_to": "c", "name": "leave_balance"},
            {"role": "assistant", "text": "You have 30 days left, worth INR 1,20,734.00."},
        ],
        "stop": "recorded",
    }


def case(number: int) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "question": "How many days?",
        "tools": ["leave_balance"],
        "must_include": ["30", "120734"],
        "must_not_include": ["refund"],
        "forbidden_tools": ["raise_ticket"],
        "max_turns": 6,
        "max_words": 60,
    }


def measure(folder: Path) -> dict[str, float]:
    from agenteval_kit.suite import load_suite, run_suite

    started = time.perf_counter()
    suite = load_suite(folder / "suite.yaml")
    loaded = time.perf_counter()
    result = run_suite(suite, root=folder / "runs")
    ended = time.perf_counter()
    assert result.made == CASES
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"load": loaded - started, "run": ended - loaded, "megabytes": peak}


def line(
    workload: str, measured: float, target: float, unit: str, *, more_is_better: bool
) -> dict[str, Any]:
    ok = measured >= target if more_is_better else measured <= target
    return {
        "workload": workload,
        "measured": measured,
        "target": target,
        "unit": unit,
        "ok": ok,
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
