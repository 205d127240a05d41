"""Runs every benchmarks/bench_*.py and prints one table of what was measured against its target.

May not measure anything itself: each file has `rows() -> list[dict]` with the keys workload,
measured, target, unit and ok, and runs in a process of its own, so that none sees the memory or
the imports of another.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KEYS = ("workload", "measured", "target", "unit", "ok")


def main() -> int:
    """Run the files that were asked for (all by default); 1 when a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="such as startup for bench_startup.py")
    parser.add_argument("--rows-of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rows_of is not None:
        arguments.into.write_text(
            json.dumps(runpy.run_path(str(arguments.rows_of))["rows"]()), encoding="utf-8"
        )
        return 0
    known = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    rows = [row for name in arguments.names or known for row in rows_of(known[name])]
    print_table(rows)
    missed = sum(not row["ok"] for row in rows)
    print(f"\n{len(rows) - missed} of {len(rows)} targets met, on {machine()}")
    return 1 if missed else 0


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of one file, or one row that says how it failed."""
    print(f"{path.stem} ...", file=sys.stderr, flush=True)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "benchmarks", "--rows-of", str(path), "--into", str(into)]
        done = subprocess.run(command, cwd=HERE.parent, stdout=sys.stderr, check=False)
        print(f"{path.stem}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        if done.returncode != 0:
            ended = f"ended with {done.returncode}"
            return [dict(zip(KEYS, (path.stem, ended, "", "", False), strict=True))]
        rows = json.loads(into.read_text(encoding="utf-8"))
    for row in rows:
        if set(row) != set(KEYS):
            raise SystemExit(f"{path.name}: a row has the keys {sorted(row)}, not {sorted(KEYS)}")
    return rows


def print_table(rows: list[dict[str, Any]]) -> None:
    """One line a workload: what was measured, what was wanted, met or missed."""
    table = [("workload", "measured", "target", "unit", "")]
    for row in rows:
        verdict = "met" if row["ok"] else "MISSED"
        cells = (row["workload"], shown(row["measured"]), shown(row["target"]), row["unit"])
        table.append((*cells, verdict))
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    for workload, measured, target, unit, verdict in table:
        print(
            f"{workload:<{widths[0]}}  {measured:>{widths[1]}}  {target:>{widths[2]}}  "
            f"{unit:<{widths[3]}}  {verdict}".rstrip()
        )


def shown(value: Any) -> str:
    """A number with three digits that matter, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def machine() -> str:
    """The machine in a few words; a ratio travels, a time does not."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return (
        f"{os.cpu_count()} cores, load {load:.1f}, "
        f"Python {platform.python_version()}, {platform.system()}"
    )


if __name__ == "__main__":
    sys.exit(main())
