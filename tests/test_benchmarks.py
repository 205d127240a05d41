"""`make bench` prints one table, and says by its exit code whether a target was missed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parent.parent / "benchmarks" / "__main__.py"
ROWS = """
def rows():
    return [
        {{"workload": "{name}", "measured": {measured}, "target": 1.3, "unit": "x", "ok": {ok}}}
    ]
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(MAIN, tmp_path / "benchmarks")
    add(tmp_path, "engine", ROWS.format(name="1,000 calls", measured=1.12345, ok=True))
    return tmp_path


def add(folder: Path, name: str, code: str) -> None:
    (folder / "benchmarks" / f"bench_{name}.py").write_text(code)


def run(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *names],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_files_make_one_table_and_met_targets_end_with_0(bench: Path) -> None:
    add(bench, "stats", ROWS.format(name="alpha", measured=12345.6, ok=True))

    done = run(bench)

    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "workload     measured  target  unit",
        "1,000 calls      1.12     1.3  x     met",
        "alpha          12,346     1.3  x     met",
    ]
    assert "2 of 2 targets met, on " in done.stdout


def test_a_missed_target_ends_with_1(bench: Path) -> None:
    add(bench, "stats", ROWS.format(name="alpha", measured=2, ok=False))

    done = run(bench, "stats")

    assert done.returncode == 1
    assert "MISSED" in done.stdout
    assert "1,000 calls" not in done.stdout


def test_a_file_that_crashes_is_a_missed_row_and_the_others_run(bench: Path) -> None:
    add(bench, "crash", "def rows():\n    raise MemoryError\n")

    done = run(bench)

    assert done.returncode == 1
    assert "bench_crash  ended with 1" in done.stdout
    assert "1,000 calls" in done.stdout


def test_an_unknown_name_ends_with_2_and_lists_what_there_is(bench: Path) -> None:
    done = run(bench, "engin")

    assert done.returncode == 2
    assert done.stderr == "no benchmark engin; there are engine\n"


def test_a_row_without_its_target_is_refused(bench: Path) -> None:
    add(bench, "stats", "def rows():\n    return [{'workload': 'alpha', 'measured': 2}]\n")

    done = run(bench, "stats")

    assert done.returncode == 1
    assert "bench_stats.py: a row has the keys ['measured', 'workload'], not" in done.stderr
