"""Suites over recordings: what was recorded is the agent, and nothing of it is lost or mixed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agenteval_kit.cli import main
from agenteval_kit.errors import StampError
from agenteval_kit.suite import load_suite, run_suite

GOOD, BAD = "Leave is 30 days.", "I do not know."


def transcript(case_id: str, answer: str, *, repeat: int = 0) -> dict:
    turns = [{"role": "user", "text": "?"}, {"role": "assistant", "text": answer}]
    return {"case_id": case_id, "repeat": repeat, "turns": turns}


def record(folder: Path, *rows: dict, cases: bool = True) -> Path:
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = [{"id": name, "must_include": ["30"]} for name in ("a", "b")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in named))
    (folder / "suite.yaml").write_text(
        'name: rec\nversion: "1"\nagent: {recorded: r.jsonl, model: m, prompt: p}\n'
        + ("cases: cases.jsonl\n" if cases else 'recorded: r.jsonl\nchecks: {matches: ["30"]}\n')
    )
    return folder / "suite.yaml"


def test_another_content_of_a_recording_is_another_version(tmp_path: Path) -> None:
    suite = record(tmp_path, transcript("a", GOOD))
    run_suite(load_suite(suite), out=tmp_path / "run")
    record(tmp_path, transcript("a", BAD), transcript("b", GOOD))

    with pytest.raises(StampError, match="agent source_digest was"):
        run_suite(load_suite(suite), out=tmp_path / "run")


def test_filters_reach_the_cases_of_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path, transcript("a", GOOD), transcript("b", BAD), cases=False)

    codes = [
        main(["check", "suite.yaml", "--only", "a"]),
        main(["check", "suite.yaml", "--shard", "2/2"]),
        main(["check", "suite.yaml", "--only", "zzz"]),
    ]

    assert codes == [0, 1, 2]
    assert '--only: no case "zzz"' in capsys.readouterr().err


def test_what_the_suite_does_not_ask_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path, transcript("a", GOOD), transcript("a", BAD, repeat=1),
           transcript("b", GOOD), transcript("c", BAD))  # fmt: skip

    code = main(["check", "suite.yaml"])

    assert code == 0
    told = capsys.readouterr().err
    assert "not evaluated: 2 transcripts of the recording" in told
    assert "a repeat 1, c repeat 0" in told


def test_half_a_character_of_a_model_does_not_stop_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path, transcript("a", GOOD + " \ud83d"), transcript("b", GOOD))

    assert main(["check", "suite.yaml"]) == 0


def test_junit_is_well_formed_whatever_the_agent_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = record(tmp_path, transcript("a", "\ufffe \x00 <b> \x1b[1m ]]>"), transcript("b", GOOD))
    suite.write_text(suite.read_text().replace("model: m", 'model: "m\\e"'))
    (tmp_path / "real.xml").touch()
    (tmp_path / "link.xml").symlink_to("real.xml")

    code = main(["check", "suite.yaml", "--junit", "link.xml"])

    assert code == 1
    assert (tmp_path / "link.xml").is_symlink()
    assert ElementTree.parse(tmp_path / "real.xml").getroot()[0].attrib["failures"] == "1"


def test_memory_does_not_grow_with_the_number_of_transcripts(tmp_path: Path) -> None:
    def peak(count: int) -> float:
        folder = tmp_path / str(count)
        folder.mkdir()
        rows = []
        for number in range(count):
            row = transcript(f"c{number}", GOOD)
            row["turns"] = row["turns"] * 100
            rows.append(row)
        suite = record(folder, *rows, cases=False)
        code = (
            "import resource, sys\n"
            "from pathlib import Path\n"
            "from agenteval_kit.suite import load_suite, run_suite\n"
            "run_suite(load_suite(sys.argv[1]), root=Path(sys.argv[2]))\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
        )
        made = subprocess.run(
            [sys.executable, "-c", code, suite, folder / "runs"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return float(made.stdout)

    few, many = peak(250), peak(1000)

    # 750 more transcripts of 200 turns would be some 100 MB if they were held.
    assert many - few < 30
