"""Judges from a recording: no key, no server, no variable; and what a tape does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.judge import estimate_run, judge_run, load_judges, open_judges, replay_judges
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape, TapeModel
from agenteval_kit.records import JudgeSpec
from agenteval_kit.testing import ScriptedServer
from tests.judged import dimension, make_judged_run, rows_of, rubric, said, talk


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    """What two models at one server said of one transcript, as a panel of three."""
    run = make_judged_run(tmp_path, [talk()], name="recorded")
    with ScriptedServer(lambda asked: said(4 if asked.body["model"] == "m-1" else 3)) as server:
        judges = load_judges(
            JudgeSpec.model_validate(
                {"models": [{"name": name, "base_url": server.base_url} for name in ("m-1", "m-2")]}
            )
        )
        judge_run(run, rubric(dimension(panel=3)), judges)
    return Tape(run.tape_path)


def test_a_replay_has_the_digests_and_rows_of_the_recording(tape: Tape, tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk()], name="replayed")

    judge_run(run, rubric(dimension(panel=3)), replay_judges(["m-1", "m-2"], tape))

    recorded = make_judged_run(tmp_path, [], name="unused")
    assert [row["score"] for row in rows_of(run)] == [4]
    source = type(recorded).open(tape.path.parent)
    assert rows_of(run) == rows_of(source)


def test_a_replay_wants_no_variable_of_an_address(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGES_URL", raising=False)
    spec = JudgeSpec.model_validate({"models": [{"name": "m-1", "base_url_env": "JUDGES_URL"}]})

    (judge,) = replay_judges(spec, tape.path).models

    assert isinstance(judge.model, TapeModel)
    assert judge.model.endpoint.startswith("127.0.0.1:")
    assert judge.parameters == {"temperature": 0, "max_tokens": 1024}


def test_a_judge_that_the_tape_does_not_know_is_named_with_those_it_knows(tape: Tape) -> None:
    with pytest.raises(ConfigError) as caught:
        replay_judges(["judge-9"], tape)

    assert str(caught.value) == (
        f'{tape.path}: holds no reply of judge "judge-9". Known: m-1, m-2.'
    )


def test_a_tape_that_is_not_there_is_said_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such tape"):
        replay_judges(["m-1"], tmp_path / "none.jsonl")


def test_a_question_that_was_not_recorded_is_an_error_and_not_a_call(
    tape: Tape, tmp_path: Path
) -> None:
    run = make_judged_run(tmp_path, [talk(answer="Something else.")], name="other")

    with pytest.raises(ConfigError, match="holds no reply to this request"):
        judge_run(run, rubric(dimension(panel=3)), replay_judges(["m-1", "m-2"], tape))


def test_the_estimate_of_a_replay_is_no_call(tape: Tape, tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk()], name="replayed")
    asked = rubric(dimension(panel=3))

    replayed = estimate_run(run, asked, replay_judges(["m-1", "m-2"], tape))
    served = estimate_run(run, asked, load_judges(["m-1", "m-2"]))

    assert (replayed.verdicts, replayed.calls, replayed.on_tape) == (1, 0, 3)
    assert (served.verdicts, served.calls, served.on_tape) == (1, 3, 0)
    assert not run.tape_path.exists()
    assert run.judge_stamps() == []


def test_judges_are_opened_from_a_suite_a_list_or_a_tape(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGES_URL", "http://127.0.0.1:9/v1")

    served = open_judges(["m-1"], base_url_env="JUDGES_URL").models[0].model
    replayed = open_judges(["m-1"], replay=tape.path).models[0].model

    assert isinstance(served, OpenAIModel)
    assert served.endpoint == "127.0.0.1:9/v1"
    assert isinstance(replayed, TapeModel)
    for nobody in (None, [], ""):
        with pytest.raises(ConfigError, match="no judge is named"):
            open_judges(nobody)
