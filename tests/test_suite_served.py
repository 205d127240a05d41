"""A suite whose agent is a served model: the provider's faults, and what was paid for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.runs import withdraw
from agenteval_kit.testing import Asked, ScriptedServer, fail, say

AGENT = """\
model: scripted-2026-01-01
prompt: v1
prompt_file: prompt.md
base_url_env: SERVED_URL
api_key_env: SERVED_KEY
parameters: {temperature: 0}
"""
SUITE = """\
name: served
version: "1"
cases: cases.jsonl
agent: agent.yaml
clock: "2026-03-02T09:00:00+00:00"
"""
SECRET = "sk-planted-0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERVED_KEY", SECRET)
    (tmp_path / "prompt.md").write_text("Answer with the number of the question.\n")
    (tmp_path / "agent.yaml").write_text(AGENT)
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"c{number}", "question": f"Question {number}?", "must_include": [str(number)]}
        for number in range(6)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def number_of(asked: Asked) -> int:
    return int(asked.body["messages"][-1]["content"].split()[1].rstrip("?"))


def test_a_provider_that_fails_for_ever_is_exit_3_and_nothing_that_arrived_is_asked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well = False

    def answer(asked: Asked) -> object:
        number = number_of(asked)
        return say(f"It is {number}.") if well or number < 2 else fail(500)

    with ScriptedServer(answer) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url)
        down = main(["check", "suite.yaml"])
        told = capsys.readouterr()
        first = len(server.asked)
        well = True
        up = main(["check", "suite.yaml"])
        asked_again = [number_of(asked) for asked in server.asked[first:]]

    assert down == 3
    assert "run the same command to resume" in told.err
    assert "Traceback" not in told.err + told.out
    assert up == 0
    assert asked_again == [2, 3, 4, 5]


def test_a_wrong_key_is_configuration_and_exit_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: fail(401)) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url)

        code = main(["check", "suite.yaml"])

    assert code == 2
    assert SECRET not in "".join(capsys.readouterr())
    assert len(server.asked) == 1


def test_a_key_is_written_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(f"It is {number_of(asked)}.")) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url.replace("://", "://user:hidden@"))

        main(["check", "suite.yaml", "--json"])

    written = "".join(
        path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()
    )
    shown = "".join(capsys.readouterr())
    assert SECRET not in written + shown
    assert "hidden" not in written + shown


def test_repeats_are_different_samples_and_a_rerun_into_the_same_folder_asks_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(f"It is {number_of(asked)}.")) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url)
        main(["check", "suite.yaml", "--repeats", "3", "--out", "run"])
        first = len(server.asked)
        (folder / "run" / "transcripts.jsonl").unlink()
        (folder / "run" / "checks.jsonl").unlink()
        code = main(["check", "suite.yaml", "--repeats", "3", "--out", "run", "--json"])
        report = capsys.readouterr().out.splitlines()[-1]

    assert first == 18
    assert len(server.asked) == 18
    assert code == 0
    assert json.loads(report)["replies_from_tape"] == 18


def test_a_served_model_without_a_url_says_which_variable_to_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SERVED_KEY")
    monkeypatch.delenv("SERVED_URL", raising=False)

    code = main(["check", "suite.yaml"])

    assert code == 2
    assert "SERVED_URL says, which is not set" in capsys.readouterr().err


def test_another_endpoint_is_another_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(f"It is {number_of(asked)}.")) as first:
        monkeypatch.setenv("SERVED_URL", first.base_url)
        main(["check", "suite.yaml", "--out", "run"])
    with ScriptedServer(lambda asked: say("No.")) as second:
        monkeypatch.setenv("SERVED_URL", second.base_url)

        code = main(["check", "suite.yaml", "--out", "run"])

    assert code == 2
    assert "agent parameters endpoint was 127.0.0.1:" in capsys.readouterr().err
    assert not second.asked


def test_withdrawing_a_case_leaves_none_of_its_words_and_does_not_ask_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(f"It is surely {number_of(asked)}.")) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url)
        main(["check", "suite.yaml", "--out", "run"])
        code = main(["withdraw", "run", "c3", "--by", "privacy office", "--reason", "asked to"])
        again = main(["check", "suite.yaml", "--out", "run"])

    left = "".join(path.read_text() for path in (folder / "run").glob("*.jsonl"))
    assert code == 0
    assert "It is surely 3." not in left
    assert "It is surely 2." in left
    assert '"reason":"asked to"' in left
    # Not complete, and not green: the case is missing, and said to be withdrawn.
    assert again == 1
    assert "withdrawn" in capsys.readouterr().out
    assert len(server.asked) == 6


WITHDRAW = ["withdraw", "run", "c3", "--by", "privacy office", "--reason", "asked to"]


@pytest.fixture
def judged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose model said its piece, and a verdict on each case."""
    with ScriptedServer(lambda asked: say(f"It is surely {number_of(asked)}.")) as server:
        monkeypatch.setenv("SERVED_URL", server.base_url)
        main(["check", "suite.yaml", "--out", "run"])
    run = folder / "run"
    rows = [{"case_id": f"c{number}", "reply": f"verdict on {number}"} for number in range(6)]
    (run / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def left_of(run: Path) -> str:
    return "".join(path.read_text("utf-8") for path in run.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("head", "tail"), [(b"", b'{"case_id":"c3","re'), (b"\n\n", b"\n"), (b"\xef\xbb\xbf", b"")]
)
def test_a_case_leaves_files_that_an_editor_or_a_kill_marked(
    judged: Path, head: bytes, tail: bytes
) -> None:
    file = judged / "verdicts.jsonl"
    file.write_bytes(head + file.read_bytes() + tail)

    code = main(WITHDRAW)

    assert code == 0
    assert "surely 3" not in left_of(judged)
    assert "verdict on 3" not in left_of(judged)
    assert "verdict on 4" in left_of(judged)
    assert file.read_bytes().count(b"c3") == 0


def test_a_case_whose_rows_cannot_be_read_is_not_taken_out_by_half(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = judged / "verdicts.jsonl"
    file.write_text("no row\n" + file.read_text())
    before = {path: path.read_bytes() for path in judged.glob("*.jsonl")}

    code = main(WITHDRAW)

    assert code == 2
    assert "verdicts.jsonl:1: is not JSON" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in judged.glob("*.jsonl")} == before


@pytest.mark.parametrize("files", range(4))
def test_a_kill_while_a_case_is_taken_out_does_not_bring_it_back(
    judged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: int
) -> None:
    real, done = withdraw.write_atomic, []

    def killed(path: Path, text: str) -> None:
        if len(done) == files:
            raise KeyboardInterrupt
        done.append(path)
        real(path, text)

    with monkeypatch.context() as patched:
        patched.setattr(withdraw, "write_atomic", killed)
        assert main(WITHDRAW) == 3
    # No server answers here: a case that came back would be asked for.
    assert main(["check", "suite.yaml", "--out", "run"]) in (0, 1)
    capsys.readouterr()

    assert main(WITHDRAW) == 0

    assert "surely 3" not in left_of(judged)
    assert "verdict on 3" not in left_of(judged)
    # Its transcript, check, verdict and reply, whichever call took them out.
    assert "4 rows of c3 removed" in capsys.readouterr().out
