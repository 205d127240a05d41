"""The command line: exit codes, plain errors, and machines' output."""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.cli.options import make_parser
from agenteval_kit.demo import shipped_data

RETAIL = str(shipped_data() / "suites" / "retail.yaml")
BAR = str(shipped_data() / "bars" / "retail.yaml")
CANDIDATE = str(shipped_data() / "agents" / "retail_with_preconditions.yaml")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("runs")
    old, new = str(folder / "old"), str(folder / "new")
    assert main(["run", RETAIL, "--out", old]) == 0
    assert main(["run", RETAIL, "--agent", CANDIDATE, "--out", new]) == 0
    return old, new


def test_the_gate_tells_review_apart_where_asked(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = pair

    codes = [
        main(["gate", new, "--bar", BAR, "--baseline", old]),
        main(["gate", new, "--bar", BAR, "--baseline", old, "--review-exit", "4"]),
    ]

    assert codes == [1, 4]
    assert capsys.readouterr().out.startswith("REVIEW\n")


def test_the_gate_without_its_baseline_cannot_tell(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["gate", pair[1], "--bar", BAR, "--json"])

    decision = json.loads(capsys.readouterr().out)
    assert code == 1
    assert decision["verdict"] == "REVIEW"
    row = next(row for row in decision["rows"] if row["clause"] == "no_worse")
    assert row["status"] == "cannot tell"


def test_every_number_of_the_gate_has_its_interval_and_stamps(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["gate", pair[1], "--bar", BAR, "--baseline", pair[0], "--json"])

    decision = json.loads(capsys.readouterr().out)
    text = json.dumps(decision)
    assert "with preconditions" in text
    for row in decision["rows"]:
        estimate = row["estimate"]
        if estimate is not None and estimate["value"] is not None:
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
            assert estimate["low"] < estimate["high"]
            assert estimate["n"] > 0
            assert estimate["method"]


def test_a_copied_run_is_not_its_own_baseline(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(pair[0], tmp_path / "copy")

    main(["gate", pair[0], "--bar", BAR, "--baseline", str(tmp_path / "copy")])

    text = capsys.readouterr().out
    assert text.startswith("REVIEW")
    assert "a run is not compared with itself" in text


def test_a_check_row_that_is_no_verdict_is_refused(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pair[0], copy)
    rows = (copy / "checks.jsonl").read_text().replace('"passed":true', '"passed":"yes"', 1)
    (copy / "checks.jsonl").write_text(rows)

    code = main(["gate", str(copy), "--bar", BAR])

    assert code == 2
    assert "\"passed\" holds 'yes'; it wants true, false or null" in capsys.readouterr().err


def test_show_prints_one_transcript_with_its_rows(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["show", pair[0], "task-005"])

    text = capsys.readouterr().out
    assert code == 0
    assert "task-005" in text
    assert "recorded_reward" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek", "x"], 'there is no command "chek". Did you mean "check"?'),
        ([], "the following arguments are required: COMMAND"),
        (["gate", "nowhere"], "is not a run folder: it has no run.json"),
        (["check", "nowhere.yaml"], "nowhere.yaml: there is no such file"),
        (["import", "nowhere.json", "--out", "x.jsonl"], "nowhere.json"),
        (["check", "x.yaml", "--repeats", "0"], '"0" wants a whole number from 1'),
        (["import", "x.jsonl", "--out", "y.jsonl", "--model", ""], "--model: is empty; is a va"),
        (["gate", "x", "--labels", ""], "--labels: is empty; is a variable not set?"),
        (["gate", "x", "--baseline", " "], "--baseline: is empty; is a variable not set?"),
        (["gate", ""], "RUN: is empty; is a variable not set?"),
        (["demo", "--broken", "45", "--no-report"], "45 tasks to be made to fail"),
    ],
)
def test_a_bad_call_exits_2_with_one_plain_sentence(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    code = main(arguments)

    output = capsys.readouterr()
    assert code == 2
    assert said in output.err
    assert "Traceback" not in output.err


def test_the_demo_says_no_difference_shown_and_exits_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    code = main(["demo", "--no-report"])

    text = capsys.readouterr().out
    assert code == 0
    assert "no difference shown: 44 of 60 against 44 of 60" in text
    assert "REVIEW" in text


@pytest.mark.parametrize(
    ("broken", "verdict", "status"), [("9", "HOLD", "fail"), ("2", "REVIEW", "cannot tell")]
)
def test_the_demo_with_broken_tasks_is_called_or_cannot_be_told(
    broken: str,
    verdict: str,
    status: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    main(["demo", "--no-report", "--broken", broken])

    lines = capsys.readouterr().out.splitlines()
    assert verdict in lines
    assert any(line.split("no_worse")[0].strip() == status for line in lines if "no_worse" in line)
    assert any("simulated" in line for line in lines)


def test_import_writes_transcripts_that_check_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Leave is 30."}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"id": "a", "messages": chat}) + "\n")
    code = main(
        ["import", "log.jsonl", "--out", "t.jsonl", "--model", "m-2026-01-01", "--prompt", "v1"]
    )
    (tmp_path / "suite.yaml").write_text(
        'name: logs\nversion: "1"\nrecorded: t.jsonl\nchecks: {must_include: ["30"]}\n'
    )

    checked = main(["check", "suite.yaml"])

    assert (code, checked) == (0, 0)
    assert "1 of 1 assertion passed" in capsys.readouterr().out


def test_a_terminal_that_cannot_print_a_sign_does_not_crash(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "agenteval_kit", "demo", "--no-report"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert made.returncode == 0, made.stderr
    assert made.stderr == ""


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    made = subprocess.run(
        f"{sys.executable} -m agenteval_kit check {RETAIL} | head -n 1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert made.stdout.startswith("suite retail")
    assert "Traceback" not in made.stderr
    assert "BrokenPipe" not in made.stderr


def test_a_disk_that_takes_no_more_is_told_and_the_run_resumes(
    tmp_path: Path, pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    made = subprocess.run(
        [sys.executable, "-m", "agenteval_kit", "run", RETAIL, "--out", str(run)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
        capture_output=True,
        text=True,
        check=False,
    )

    code = main(["run", RETAIL, "--out", str(run)])

    assert made.returncode == 3
    assert ".jsonl: File too large" in made.stderr
    assert "run the same command again" in made.stderr
    assert "Traceback" not in made.stderr
    assert code == 0
    rows = [sorted(Path(at, "checks.jsonl").read_text().splitlines()) for at in (run, pair[0])]
    assert rows[0] == rows[1]


def test_every_command_says_what_it_is_for_and_what_each_of_its_words_means() -> None:
    (commands,) = (
        action for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )  # fmt: skip

    silent = [
        (name, action.dest)
        for name, parser in commands.choices.items()
        for action in parser._actions
        if not action.help
    ]

    assert silent == []
    assert all(parser.description for parser in commands.choices.values())
