"""The release report of 1,000 transcripts with a baseline, and the trends of 200 runs.

May not look inside: each is the call that the command line makes, kernel and rendering included.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from agenteval_kit.compare import runs_frame
from agenteval_kit.records import AgentStamps, CheckRow, Transcript
from agenteval_kit.records.messages import parse_messages
from agenteval_kit.render import render_release
from agenteval_kit.report import read_trends
from agenteval_kit.runs import CasePlan, Run, RunInfo

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("outcome", "trajectory", "grounding", "policy")
CASES = 1000
RUNS, RUN_CASES = 200, 60


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        old = make_run(root, "old", cases=CASES, fails=lambda at: at % 7 == 0)
        new = make_run(root, "new", cases=CASES, fails=lambda at: at % 6 == 0)
        bar = root / "bar.yaml"
        bar.write_text(
            "hard_layers: [policy]\n"
            "pass_rate: {outcome: 0.8}\n"
            "no_worse: {outcome: {margin: 0.05}}\n"
        )
        started = time.perf_counter()
        made = render_release(new, baseline=old, bar=bar, out=root / "report.html")
        seconds = time.perf_counter() - started
        size = made.html.stat().st_size / 1e6
        history = root / "history"
        runs = [
            make_run(
                history,
                f"run-{at:03d}",
                cases=RUN_CASES,
                fails=lambda case, at=at: (case + at) % 5 == 0,
            )
            for at in range(RUNS)
        ]
        started = time.perf_counter()
        read_trends(history, runs[-1])
        trends = time.perf_counter() - started
        started = time.perf_counter()
        runs_frame(history)
        table = time.perf_counter() - started
    what = f"release report of {CASES:,} transcripts with a baseline"
    return [
        line(f"{what}, kernel and rendering included", seconds, 15, "s"),
        line(f"{what}, the page", size, 8, "MB"),
        line(f"trends over {RUNS} runs of {RUN_CASES} transcripts", trends, 5, "s"),
        line("the same runs as one table, with stamps", table, 5, "s"),
    ]


def make_run(root: Path, name: str, *, cases: int, fails: Any) -> Run:
    """A run whose transcripts are as long as those of a customer-service agent."""
    info = RunInfo(
        id=name,
        created=f"2026-03-02T09:00:00Z {name}",
        suite="bench",
        suite_version="1",
        suite_digest="0",
        agent=AgentStamps(model="made up", prompt=name),
        cases=tuple(CasePlan(id=f"case-{at:04d}", layers=LAYERS) for at in range(cases)),
        package="0",
    )
    run = Run.create(root, info, at=root / name)
    writer = run.writer()
    writer.add_transcripts(transcript(at, salt=name) for at in range(cases))
    writer.add_checks(
        CheckRow(
            f"case-{at:04d}",
            0,
            layer,
            f"{layer} check",
            not (fails(at) and layer in LAYERS[::3]),
            expected="this",
            received="that",
            turn=9,
            why="not this",
        )
        for at in range(cases)
        for layer in LAYERS
    )
    writer.close()
    return run


def transcript(at: int, *, salt: str) -> Transcript:
    """Twelve rounds of a question, a call with its reply, and an answer: some 16,000 characters."""
    messages: list[dict[str, Any]] = []
    for round_ in range(12):
        call = {
            "id": f"c{round_}",
            "type": "function",
            "function": {"name": "get_order", "arguments": f'{{"order_id": "W-{at}-{round_}"}}'},
        }
        reply = '{"item": "office chair", "price": 129.5, "options": ["blue", "mesh"]}, ' * 14
        messages += [
            {"role": "user", "content": f"Where is order {at}.{round_}? " + "I have waited. " * 6},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{round_}", "content": f"[{reply}]"},
            {"role": "assistant", "content": f"Order {at}.{round_} ({salt}) is on its way. " * 4},
        ]
    return Transcript(case_id=f"case-{at:04d}", turns=parse_messages(messages).turns)


def line(workload: str, measured: float, target: float, unit: str) -> dict[str, Any]:
    return {
        "workload": workload,
        "measured": measured,
        "target": target,
        "unit": unit,
        "ok": measured <= target,
    }
