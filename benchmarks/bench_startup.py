"""What a person waits for before anything happens: whole processes, the best of several.

May not look inside: each workload is a command as it is typed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 7


def rows() -> list[dict[str, Any]]:
    empty = best([sys.executable, "-c", "pass"])
    package = best([sys.executable, "-c", "import agenteval_kit"])
    kit = [sys.executable, "-m", "agenteval_kit"]
    commands = [
        ("agenteval --help, whole process", [*kit, "--help"], 0.15),
        (
            "agenteval check on 12 cases, whole process",
            [*kit, "check", str(ROOT / "data" / "suites" / "triage.yaml")],
            0.5,
        ),
    ]
    found = [line("import agenteval_kit, beyond an empty interpreter", package - empty, 0.10)]
    return found + [line(name, best(command), target) for name, command, target in commands]


def best(command: list[str]) -> float:
    """Seconds of the quickest of several runs: what the machine can do when it is left alone."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    return min(times)


def line(workload: str, seconds: float, target: float) -> dict[str, Any]:
    return {
        "workload": workload,
        "measured": seconds,
        "target": target,
        "unit": "s",
        "ok": seconds <= target,
    }
