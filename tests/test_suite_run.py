"""Running a suite: crashes are counted, the provider's faults are not, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError, StampError
from agenteval_kit.runs import Run
from agenteval_kit.runs.suites import find_suite_file, other_suite_here
from agenteval_kit.suite import check_run, load_suite, run_suite

AGENT = """\
import os
from agenteval_kit.errors import InfrastructureError


def answer(messages, *, now, case):
    number = int(case.id[1:])
    if number >= int(os.environ.get("CRASH_FROM", "99")):
        raise RuntimeError(f"no answer for {case.id}")
    if number >= int(os.environ.get("DOWN_FROM", "99")):
        raise InfrastructureError("the provider is down")
    with open(os.environ["ASKED"], "a") as log:
        log.write(case.id + "\\n")
    return f"The answer of {now:%Y-%m-%d} is {number}."
"""
SUITE = """\
name: ten
version: "1"
cases: cases.jsonl
agent: {call: "ten_agent:answer", model: rules, prompt: v1}
clock: "2026-03-02T09:00:00+00:00"
"""


@pytest.fixture
def suite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKED", str(tmp_path / "asked.log"))
    (tmp_path / "ten_agent.py").write_text(AGENT)
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"c{number}", "question": "?", "must_include": ["2026-03-02", str(number)]}
        for number in range(10)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "suite.yaml"


def asked(folder: Path) -> list[str]:
    log = folder / "asked.log"
    return log.read_text().split() if log.exists() else []


def rows_of(run: Run) -> list[str]:
    return sorted((run.path / "checks.jsonl").read_text().splitlines())


def test_eight_crashes_of_ten_are_two_of_ten_with_eight_tracebacks_and_exit_1(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRASH_FROM", "2")

    code = main(["check", str(suite_file)])

    text = capsys.readouterr().out
    assert code == 1
    assert "8 of 10 cases failed (8 crashed)" in text
    assert "2 of 10 passed" in text
    assert text.count("Traceback (most recent call last)") >= 8
    for number in range(2, 10):
        assert f"RuntimeError: no answer for c{number}" in text


def test_checking_the_same_transcripts_twice_gives_byte_identical_rows(suite_file: Path) -> None:
    suite = load_suite(suite_file)

    run = run_suite(suite).run

    again = "".join(
        json.dumps(row.as_dict(), ensure_ascii=False, separators=(",", ":")) + "\n"
        for row in check_run(run, suite)
    )
    assert (run.path / "checks.jsonl").read_text(encoding="utf-8") == again
    assert again


def test_infrastructure_failures_are_unscored_exit_3_and_resumed(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOWN_FROM", "4")
    first = main(["check", str(suite_file)])
    down = capsys.readouterr()
    monkeypatch.delenv("DOWN_FROM")

    second = main(["check", str(suite_file)])

    up = capsys.readouterr()
    assert first == 3
    assert "run the same command to resume" in down.err
    assert "3 infrastructure failures in a row" in down.err
    assert second == 0
    assert "4 kept, 6 added" in up.err
    assert sorted(asked(suite_file.parent)) == sorted(f"c{number}" for number in range(10))


def test_an_incomplete_run_never_looks_green(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOWN_FROM", "0")

    code = main(["check", str(suite_file), "--json"])

    report = json.loads(capsys.readouterr().out)
    assert code == 3
    assert report["complete"] is False
    assert report["cases"]["n"] == 0
    assert report["cases"]["unscored"] == 10


def test_a_complete_run_is_not_resumed_but_followed_by_a_new_one(suite_file: Path) -> None:
    first = run_suite(load_suite(suite_file))

    second = run_suite(load_suite(suite_file))

    assert first.run.path != second.run.path
    assert second.kept == 0
    assert rows_of(first.run) == rows_of(second.run)


def test_a_run_cut_anywhere_resumes_to_the_rows_of_an_uninterrupted_one(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    whole = run_suite(suite).run
    transcripts = (whole.path / "transcripts.jsonl").read_bytes()
    checks = (whole.path / "checks.jsonl").read_bytes()

    for cut in range(0, len(transcripts), max(1, len(transcripts) // 23)):
        at = suite_file.parent / "cuts" / str(cut)
        at.mkdir(parents=True)
        (at / "run.json").write_bytes((whole.path / "run.json").read_bytes())
        (at / "transcripts.jsonl").write_bytes(transcripts[:cut])
        # Rows follow their transcript: a cut leaves at most those of whole transcripts.
        kept = transcripts[:cut].count(b"\n")
        lines = checks.splitlines(keepends=True)
        (at / "checks.jsonl").write_bytes(b"".join(lines[: 2 * kept])[: -1 if kept else None])
        result = run_suite(suite, out=at)

        assert rows_of(result.run) == rows_of(whole), cut
        assert result.complete


def test_a_torn_last_line_is_dropped_with_a_warning(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOWN_FROM", "4")
    main(["check", str(suite_file), "--out", "run"])
    monkeypatch.delenv("DOWN_FROM")
    path = suite_file.parent / "run" / "transcripts.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    capsys.readouterr()

    code = main(["check", str(suite_file), "--out", "run"])

    assert code == 0
    error = capsys.readouterr().err
    assert "transcripts.jsonl: the last line was torn and is dropped" in error
    assert "3 kept, 7 added" in error


def test_resuming_under_other_stamps_is_refused(suite_file: Path) -> None:
    run_suite(load_suite(suite_file), out=Path("run"))
    suite_file.write_text(SUITE.replace("prompt: v1", "prompt: v2"))

    with pytest.raises(StampError, match=r"other stamps.*agent prompt was v1, is v2.*--out"):
        run_suite(load_suite(suite_file), out=Path("run"))


def test_two_processes_on_one_run_are_refused(suite_file: Path) -> None:
    run = run_suite(load_suite(suite_file), out=Path("run")).run

    with run.lock(), pytest.raises(ConfigError, match="another process is writing this run"):
        run_suite(load_suite(suite_file), out=Path("run"))


def test_another_agent_file_brings_its_own_stamps(suite_file: Path) -> None:
    other = suite_file.parent / "other.yaml"
    other.write_text("call: ten_agent:answer\nmodel: other-rules\nprompt: v7\n")

    run = run_suite(load_suite(suite_file, agent=other)).run

    assert (run.info.agent.model, run.info.agent.prompt) == ("other-rules", "v7")
    assert all(item.stamps is not None and item.stamps.prompt == "v7" for item in run.transcripts())


def test_another_agent_file_without_stamps_is_refused(suite_file: Path) -> None:
    other = suite_file.parent / "other.yaml"
    other.write_text("call: ten_agent:answer\nmodel: other-rules\n")

    with pytest.raises(ConfigError, match="no prompt stamp"):
        load_suite(suite_file, agent=other)


@pytest.mark.parametrize("started_in", [".", "notebooks", "..", "apart/deep/down"])
def test_a_run_finds_its_suite_again_wherever_it_was_made_and_is_read(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, started_in: str
) -> None:
    project = suite_file.parent
    (project / started_in).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(project / started_in)
    made = run_suite(load_suite(suite_file), out=project / "data" / "runs" / "one").run
    monkeypatch.chdir("/")

    found = find_suite_file(Run.open(made.path))

    assert found is not None
    assert found.resolve() == suite_file
    assert not Path(str(made.info.suite_file)).is_absolute()


def test_a_run_is_read_with_the_suite_of_its_own_project_and_the_other_one_is_named(
    suite_file: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = suite_file.parent
    monkeypatch.chdir(project)
    made = run_suite(load_suite(suite_file), out=project / "data" / "runs" / "one").run
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    other = elsewhere / str(made.info.suite_file)
    other.write_text(suite_file.read_text() + "bar: missing.yaml\n")
    run = Run.open(made.path.resolve())
    alone = other_suite_here(run)

    monkeypatch.chdir(elsewhere)
    found = find_suite_file(run)
    code = main(["gate", str(run.path)])

    assert (found, alone) == (suite_file, "")
    told = capsys.readouterr().err
    assert code == 2
    assert (
        f"note: suite {run.info.suite} is read from {suite_file}, in the project of the run; the "
        f"other one here, {other.name}, is not\n"
    ) in told
    assert "names no bar" in told


def test_an_edited_agent_source_is_another_version(suite_file: Path) -> None:
    first = run_suite(load_suite(suite_file)).run
    (suite_file.parent / "ten_agent.py").write_text(AGENT + "\n# edited\n")

    second = run_suite(load_suite(suite_file)).run

    assert first.info.agent.source_digest != second.info.agent.source_digest


def test_jobs_give_the_same_rows_as_one_job(suite_file: Path) -> None:
    one = run_suite(load_suite(suite_file)).run

    four = run_suite(load_suite(suite_file), jobs=4).run

    assert rows_of(one) == rows_of(four)


def test_repeats_report_flaky_and_pass_hat_k_not_the_last_try(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite_file.parent / "ten_agent.py").write_text(
        "COUNT = {}\n\n\ndef answer(messages, *, now, case):\n"
        "    import os, pathlib\n"
        "    path = pathlib.Path(os.environ['ASKED'] + case.id)\n"
        "    tries = int(path.read_text()) if path.exists() else 0\n"
        "    path.write_text(str(tries + 1))\n"
        "    good = case.id != 'c3' or tries != 0\n"
        "    return f'2026-03-02 {case.id[1:]}' if good else 'no'\n"
    )

    code = main(["check", str(suite_file), "--repeats", "3"])

    text = capsys.readouterr().out
    assert code == 1
    assert "flaky        c3" in text
    assert "pass^3" in text


def test_a_frozen_clock_holds_the_process_clock(suite_file: Path) -> None:
    (suite_file.parent / "ten_agent.py").write_text(
        "from datetime import datetime, UTC\n\n\n"
        "def answer(messages, *, now, case):\n"
        "    return f'{datetime.now(UTC):%Y-%m-%d} {case.id[1:]}'\n"
    )
    suite_file.write_text(SUITE + "freeze_clock: true\n")

    result = run_suite(load_suite(suite_file), jobs=4)

    assert all(row.passed for row in result.run.check_rows())


def test_junit_names_failures_and_stamps(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRASH_FROM", "8")

    main(["check", str(suite_file), "--junit", "out/junit.xml"])

    from xml.etree import ElementTree

    suite = ElementTree.parse("out/junit.xml").getroot()[0]
    assert suite.attrib["tests"] == "10"
    assert suite.attrib["failures"] == "2"
    names = {prop.attrib["name"] for prop in suite.iter("property")}
    assert {"suite_digest", "agent", "clock"} <= names
