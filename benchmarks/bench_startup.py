"""What a person waits for before anything happens: whole processes, the best of several.

May not look inside: each workload is a command as it is typed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 7


def rows() -> list[dict[str, Any]]:
    empty = best([sys.executable, "-c", "pass"])
    package = best([sys.executable, "-c", "import agenteval_kit"])
    kit = [sys.executable, "-m", "agenteval_kit"]
    suite = str(ROOT / "data" / "suites" / "triage.yaml")
    with tempfile.TemporaryDirectory() as runs:
        helped = best([*kit, "--help"])
        checked = best([*kit, "check", suite, "--runs", runs])
    return [
        line("import agenteval_kit, beyond an empty interpreter", package - empty, 0.10),
        line("agenteval --help, whole process", helped, 0.15),
        line("agenteval check on 12 cases, whole process", checked, 0.5),
    ]


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
