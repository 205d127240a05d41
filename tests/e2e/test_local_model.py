"""A real model behind the real path: it answers, plays the user and judges; then a tape does.

SmolLM2-135M-Instruct is a poor judge. This shows that the path holds with whatever a real model
says (free text, replies that are cut, evidence that is not there), and nothing about the scores.
`make local-model-test` installs the model and runs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.cli import main
from agenteval_kit.judge import JudgeResult, judge_run, load_judges
from agenteval_kit.models.tape import Tape
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, run_suite

pytestmark = [pytest.mark.local_model, pytest.mark.timeout(900)]

NAME = "SmolLM2-135M-Instruct.Q4_1"
URL = "LOCAL_MODEL_URL"

SUITE = f"""
name: local-model
version: "1"
data_note: A model of 135 million parameters plays all three parts, to try the path, nothing else.
scenarios: scenarios.jsonl
agent:
  model: {NAME}
  prompt: v1
  prompt_file: prompt.md
  base_url_env: {URL}
  parameters: {{temperature: 0, max_tokens: 60}}
  timeout: 300
clock: "2026-03-02T09:00:00+00:00"
simulator: {{name: {NAME}, base_url_env: {URL}}}
rubric: rubric.yaml
judge: {{models: [{{name: {NAME}, base_url_env: {URL}, parameters: {{max_tokens: 120}}}}]}}
checks: {{max_turns: 12}}
"""

PROMPT = "You work at the desk of a library. Answer in one or two short sentences."

# Evidence is asked for in two conversations only: there the model writes until it is cut.
PLAIN = ["answered", "brevity", "in_role"]

SCENARIOS: list[dict[str, Any]] = [
    {
        "id": "hours",
        "opening": "Good morning! When does the library open on Saturday?",
        "user": {"script": []},
    },
    {
        "id": "lost-card",
        "opening": "I have lost my library card.",
        "user": {"script": [{"say": "What does a new one cost?"}]},
    },
    {
        "id": "noise",
        "dimensions": PLAIN,
        "opening": "It is very loud in the reading room today.",
        "user": {"script": []},
    },
    {
        "id": "thanks",
        "dimensions": PLAIN,
        "opening": "Thank you for the book tip, it was lovely.",
        "user": {"script": []},
    },
    {
        "id": "renew",
        "dimensions": PLAIN,
        "persona": "A reader who writes short, friendly messages.",
        "goal": "Keep the borrowed book for two more weeks.",
        "opening": "Hello, can I keep my book longer?",
        "known": {"book": "The Sea Road"},
        "user": {"simulate": {"max_turns": 2}},
    },
]

RUBRIC = """
name: desk
version: "1"
dimensions:
  - name: answered
    layer: outcome
    definition: Whether the last thing that the user said gets an answer.
    anchors:
      3: The agent answers what was said last.
      2: The agent answers something that was said before, and not what was said last.
      1: The agent answers nothing that was said.
    evidence: {kind: none}
  - name: brevity
    layer: conversation
    definition: How many sentences the longest turn of the agent has.
    anchors:
      3: No turn of the agent has more than two sentences.
      2: The longest turn of the agent has three or four sentences.
      1: The longest turn of the agent has five sentences or more.
    evidence: {kind: none}
  - name: in_role
    layer: policy
    definition: Whether the agent speaks as the desk of a library.
    anchors:
      3: Each turn of the agent could be said at the desk of a library.
      2: One turn of the agent speaks about something else.
      1: Two or more turns of the agent speak about something else.
    evidence: {kind: none}
  # Asked for evidence, a model of this size writes turns until it is cut.
  - name: grounded
    layer: grounding
    definition: Whether the figures and names of the agent stand in a turn of the user.
    anchors:
      3: Each figure and name of the agent stands in a turn of the user, or it states none.
      2: One figure or name of the agent stands in no turn of the user.
      1: Two or more figures or names of the agent stand in no turn of the user.
    evidence: {kind: turns, required_at: all}
"""


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The base URL of the model, and its process."""
    server = subprocess.Popen(
        [sys.executable, str(root / "scripts" / "local_model.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address, "the model is not installed here; `make local-model` installs it"
        yield address, server
    finally:
        stop(server)


def stop(server: subprocess.Popen[str]) -> None:
    server.kill()
    server.wait(timeout=20)
    if server.stdout is not None:
        server.stdout.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of five conversations, and its rubric."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (folder / "prompt.md").write_text(PROMPT, encoding="utf-8")
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    lines = [json.dumps(one) + "\n" for one in SCENARIOS]
    (folder / "scenarios.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def converse_and_judge(project: Path) -> tuple[Run, JudgeResult]:
    suite = load_suite(project / "suite.yaml")
    run = run_suite(suite, out=project / "run").run
    assert suite.spec.judge is not None
    # One at a time: the server answers one after the other, and nobody should wait in vain.
    judges = load_judges(suite.spec.judge, max_concurrency=1, timeout=300)
    rubric = load_rubric(project / "rubric.yaml")
    return run, judge_run(run, rubric, judges, items=suite.items)


def rows_of(run: Run) -> list[dict[str, Any]]:
    rows = [row.model_dump() for row in run.verdict_rows()]
    return sorted(rows, key=lambda row: (row["dimension"], row["case_id"]))


def test_a_real_model_goes_the_whole_path_and_a_tape_goes_it_again(
    project: Path,
    served: tuple[str, subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, server = served
    monkeypatch.setenv(URL, address)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    began = time.monotonic()

    run, result = converse_and_judge(project)

    took = time.monotonic() - began
    transcripts = {one.case_id: one for one in run.transcripts()}
    rows = rows_of(run)
    # The agent: real text, counted tokens, the name that the server gave.
    assert set(transcripts) == {one["id"] for one in SCENARIOS}
    assert all(one.turns[1].text for one in transcripts.values())
    assert {one.stamps.model_served for one in transcripts.values() if one.stamps} == {NAME}
    assert all(one.usage.output_tokens for one in transcripts.values())
    # The user: whatever it said, the conversation has an end with a name.
    assert transcripts["renew"].extra is not None
    assert transcripts["renew"].extra["user"]["user_model"] == NAME
    assert transcripts["renew"].stop in {
        "goal_reached", "user_stopped", "turn_budget", "simulator_fault",
    }  # fmt: skip
    # The judge: a score where there is exactly one, a reason where there is none; and the agent's
    # own model on the bench is said on every row.
    assert result.complete
    assert len(rows) == 5 * 3 + 2
    assert all(row["score"] in (1, 2, 3) or row["reason"] for row in rows)
    assert sum(row["score"] is not None for row in rows) >= 6
    assert all(row["same_model"] for row in rows)
    assert any("judge = agent model" in one.diag for one in result.summary.dimensions)
    assert result.replies >= 12

    # The server is gone, and the agent, the user and the judge say the same once more.
    stop(server)
    again = project / "again"
    again.mkdir()
    (again / "calls.jsonl").write_bytes(run.tape_path.read_bytes())
    replayed = run_suite(load_suite(project / "suite.yaml"), out=again)
    assert replayed.complete
    assert {one.case_id: one.turns for one in replayed.run.transcripts()} == {
        case_id: one.turns for case_id, one in transcripts.items()
    }
    monkeypatch.delenv(URL)
    (again / "calls.jsonl").unlink()
    asked = ["judge", str(again), "--suite", str(project / "suite.yaml"),
             "--replay", str(run.tape_path)]  # fmt: skip
    assert main(asked) == 0

    assert rows_of(replayed.run) == rows
    tell(capsys, run, result, rows, took)


def tell(
    capsys: pytest.CaptureFixture[str],
    run: Run,
    result: JudgeResult,
    rows: list[dict[str, Any]],
    took: float,
) -> None:
    """What the model made of it, for whoever runs this by hand."""
    scores = Counter("unscored" if row["score"] is None else row["score"] for row in rows)
    reasons = Counter(str(row["reason"]).partition(":")[0] for row in rows if row["reason"])
    with capsys.disabled():
        print(
            f"\n{NAME}: {len(Tape(run.tape_path))} replies in {took:.0f} s, {result.replies} of "
            f"them verdicts; scores {dict(scores)}, unscored because {dict(reasons)}.\n"
            "A poor judge: this shows that the path holds, and says nothing about the scores. "
            f"({os.cpu_count()} cores, one thread)"
        )
