"""'Run the same command to resume' is said once, and only where the same command goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import make_run, passes

from agenteval_kit.cli import main
from agenteval_kit.errors import InfrastructureError
from agenteval_kit.gate import decide
from agenteval_kit.records.bars import Bar
from agenteval_kit.runs import Run

RESUME = "run the same command to resume"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "resumes"),
    [
        (["gate", "run", "--bar", "bar.yaml"], False),
        (["report", "run", "--bar", "bar.yaml"], False),
        (["show", "run", "case-000"], False),
        (["compare", "run", "run"], False),
        (["compare", "run", "run", "--judge", "j"], True),
        (["judge", "run", "--judge", "j"], True),
    ],
)
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), InfrastructureError("the disk is full")])
def test_who_breaks_off_is_told_to_resume_only_what_resumes(
    words: list[str],
    resumes: bool,
    stop: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(path: object) -> Run:
        raise stop

    monkeypatch.setattr(Run, "open", broken)

    assert main(words) == 3

    said = capsys.readouterr().err
    assert said == f"{str(stop) or 'interrupted'}{f'; {RESUME}' * resumes}\n"


def test_what_a_message_says_already_is_not_said_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(path: object) -> Run:
        raise InfrastructureError(f"no space; make room and {RESUME}")

    monkeypatch.setattr(Run, "open", broken)

    main(["judge", "run", "--judge", "j"])

    assert capsys.readouterr().err.count("same command") == 1


def test_a_recording_that_lacks_a_case_is_not_finished_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [{"role": "user", "text": "?"}, {"role": "assistant", "text": "30"}]
    Path("r.jsonl").write_text(json.dumps({"case_id": "a", "turns": turns}) + "\n")
    cases = [{"id": name, "must_include": ["30"]} for name in ("a", "b")]
    Path("cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    Path("suite.yaml").write_text(
        'name: rec\nversion: "1"\nagent: {recorded: r.jsonl, model: m, prompt: p}\n'
        "cases: cases.jsonl\n"
    )

    assert main(["check", "suite.yaml", "--out", "run"]) == 3

    told = capsys.readouterr().err
    assert "the recording holds no transcript of 1 of 2 wanted: b repeat 0; check a " in told
    assert "same command" not in told
    (row,) = [
        row
        for row in decide(Run.open(Path("run")), Bar(pass_rate={"outcome": 0.5})).rows
        if row.clause == "max_unscored"
    ]
    assert row.reason.endswith("1 of 2 transcripts missing; its recording lacks them; check one "
                               "that holds them")  # fmt: skip


def test_a_gate_sends_nobody_to_the_command_of_the_gate(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(5, 5), missing=[("case-001", 0)])

    (row,) = [
        row
        for row in decide(run, Bar(pass_rate={"outcome": 0.5})).rows
        if row.clause == "max_unscored"
    ]

    assert row.reason.endswith("missing; finish it with the command that began it")
