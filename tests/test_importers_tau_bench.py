"""tau-bench results: trials, rewards, tool errors, and whose failure an error was."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.importers import import_files
from agenteval_kit.records import Transcript

RECORDED = Path(__file__).parent.parent / "data" / "recorded"
HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]


def row(task: Any = 0, trial: Any = 0, **more: Any) -> dict[str, Any]:
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": {}, "traj": HELLO, **more}


def imported(folder: Path, rows: list[Any]) -> list[Transcript]:
    path = folder / "bench.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in rows), encoding="utf-8")
    return list(import_files(path))


def error(message: str, traceback: str = "") -> dict[str, Any]:
    return row(reward=0.0, traj=[], info={"error": message, "traceback": traceback})


def test_trials_are_repeats_in_whatever_order_they_stand(tmp_path: Path) -> None:
    rows = [row(0, 1), row(1, 0), row(0, 0), row(1, 1)]

    made = imported(tmp_path, rows)

    assert [(one.case_id, one.repeat) for one in made] == [
        ("task-000", 1),
        ("task-001", 0),
        ("task-000", 0),
        ("task-001", 1),
    ]


@pytest.mark.parametrize("trials", [(90, 91, 90), (0, 1, 0), (None, None, None), (1, 0, 2)])
def test_trials_that_do_not_count_from_nought_are_counted_in_order(
    tmp_path: Path, trials: tuple[Any, ...]
) -> None:
    rows = [row(7, trials[0]), row(8, trials[1]), row(7, trials[2])]

    made = imported(tmp_path, rows)

    assert [(one.case_id, one.repeat) for one in made] == [
        ("task-007", 0),
        ("task-008", 0),
        ("task-007", 1),
    ]
    assert [one.extra for one in made] == [
        {"task_id": task, "trial": trial} for task, trial in zip((7, 8, 7), trials, strict=True)
    ]


def test_a_task_that_has_a_name_keeps_it(tmp_path: Path) -> None:
    assert [one.case_id for one in imported(tmp_path, [row("refund"), row("007")])] == [
        "refund",
        "007",
    ]


def test_a_row_with_no_more_than_task_and_messages_is_enough(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, [{"task_id": 0, "traj": HELLO}])

    assert (made.reward, made.failure, made.stop) == (None, None, "recorded")


def test_the_reference_actions_stay_out_of_the_transcript(tmp_path: Path) -> None:
    info = {"task": {"user_id": "u", "actions": [{"name": "cancel"}], "instruction": "secret"}}

    (made,) = imported(tmp_path, [row(info=info)])

    assert "cancel" not in made.model_dump_json()
    assert "secret" not in made.model_dump_json()


def test_a_system_message_in_the_trajectory_is_no_turn(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, [row(traj=[{"role": "system", "content": "Policy."}, *HELLO])])

    assert made.system == "Policy."
    assert len(made.turns) == 2


def test_a_result_that_says_error_is_an_error_of_the_call(tmp_path: Path) -> None:
    calls = [
        {"id": "a", "function": {"name": "book", "arguments": "{}"}},
        {"id": "b", "function": {"name": "look", "arguments": "{}"}},
        {"id": "c", "function": {"name": "fly", "arguments": "{}"}},
    ]
    traj = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "name": "book", "content": "Error: no seats"},
        {"role": "tool", "tool_call_id": "b", "name": "look", "content": "No Error: fine"},
        {"role": "tool", "tool_call_id": "c", "name": "fly", "content": "Unknown action fly"},
    ]

    (made,) = imported(tmp_path, [row(traj=traj)])

    assert [call.error for _, call in made.calls()] == [
        "Error: no seats",
        None,
        "Unknown action fly",
    ]
    assert made.calls()[0][1].result == "Error: no seats"


RAISED = 'Traceback (most recent call last):\n  File "run.py", line 504, in solve\n'


@pytest.mark.parametrize(
    ("message", "last_line", "name"),
    [
        ("Rate limit reached", "openai.RateLimitError: Rate limit", "RateLimitError"),
        ("(None) Token limit is exceeded. Try again in 3 seconds.", "", "unknown"),
        ("Error code: 503 - upstream", "openai.InternalServerError: 503", "InternalServerError"),
        ('{"status": 429, "error": "slow down"}', "", "unknown"),
        ("Connection error.", "openai.APIConnectionError: Conn", "APIConnectionError"),
        ("Request timed out.", "openai.APITimeoutError: Request timed out.", "APITimeoutError"),
        ("You exceeded your current quota", "", "unknown"),
        ("[Errno 104] Connection reset by peer", "OSError: [Errno 104]", "OSError"),
        ("something that nobody recognises", "", "unknown"),
    ],
)
def test_a_failure_of_the_provider_is_infrastructure_and_has_no_reward(
    tmp_path: Path, message: str, last_line: str, name: str
) -> None:
    traceback = RAISED + last_line if last_line else ""

    (made,) = imported(tmp_path, [error(message, traceback)])

    assert made.failure is not None
    assert (made.failure.kind, made.failure.type) == ("infrastructure", name)
    assert (made.failure.message, made.failure.traceback) == (message, traceback)
    assert (made.reward, made.stop) == (None, "infrastructure")


@pytest.mark.parametrize(
    ("message", "last_line", "name"),
    [
        ("'user_id'", "KeyError: 'user_id'", "KeyError"),
        ("unterminated string literal", "ValueError: unterminated", "ValueError"),
        # 504 stands in the traceback as a line number, not as a status.
        ("list index out of range", "IndexError: list index out of range", "IndexError"),
        ("ValueError: bad plan", "", "ValueError"),
        ("Error code: 400 - context", "openai.BadRequestError: 400", "BadRequestError"),
    ],
)
def test_an_error_that_the_agents_own_code_raised_is_the_agents(
    tmp_path: Path, message: str, last_line: str, name: str
) -> None:
    traceback = RAISED + last_line if last_line else ""

    (made,) = imported(tmp_path, [error(message, traceback)])

    assert made.failure is not None
    assert (made.failure.kind, made.failure.type) == ("agent", name)
    assert (made.reward, made.stop) == (0.0, "agent_error")


def test_no_messages_and_no_error_is_an_empty_transcript_not_a_failure(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, [row(reward=0.0, traj=[])])

    assert (made.failure, made.reward) == (None, 0.0)
    assert [finding.state for finding in made.findings] == ["empty_transcript"]


def test_all_problems_are_told_before_the_first_transcript(tmp_path: Path) -> None:
    rows: list[Any] = [
        row(0),
        row(True),
        row(-1),
        row(1, "first"),
        row(2, traj={"role": "user"}),
        row(3, info=[1]),
        row(4, reward="1.0"),
        row(5, reward=True),
    ]
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in rows), encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        next(import_files(path))

    assert [str(problem).partition("bench.jsonl:")[2] for problem in caught.value.problems] == [
        '2: "task_id" wants a number or a name, but holds True',
        '3: "task_id" wants 0 or more, but holds -1',
        "4: \"trial\" of task 1 wants a whole number, but holds 'first'",
        "5: \"traj\" of task 2 wants a list of messages, but holds {'role': 'user'}",
        '6: "info" of task 3 wants an object, but holds [1]',
        "7: \"reward\" of task 4 wants a number, but holds '1.0'",
        '8: "reward" of task 5 wants a number, but holds True',
    ]


# The shipped recordings


def test_the_airline_recording_is_thirty_tasks_of_four_trials() -> None:
    made = list(import_files(RECORDED / "tau_bench_airline" / "gpt-4o.jsonl"))

    assert Counter(one.repeat for one in made) == {0: 30, 1: 30, 2: 30, 3: 30}
    assert len({one.case_id for one in made}) == 30
    # Plain counts over the file by hand: 661 messages with role tool, each with its call.
    assert sum(len(one.calls()) for one in made) == 661
    assert all(one.findings == () for one in made)


def test_the_harness_of_one_retail_agent_wrote_python_in_place_of_json() -> None:
    made = list(
        import_files(RECORDED / "tau_bench_retail" / "tool_calling_with_preconditions.jsonl")
    )

    malformed = Counter(call.name for one in made for _, call in one.calls() if call.malformed)

    assert malformed == {"think": 66}


def test_four_runs_failed_outside_the_agent_and_one_in_its_own_code() -> None:
    made = {
        one.case_id: one
        for one in import_files(RECORDED / "tau_bench_retail" / "with_api_errors.json")
    }

    kinds = {name: one.failure.kind for name, one in made.items() if one.failure is not None}
    # Read in the file: 90, 94, 96 "Token limit is exceeded. Try again in 3 seconds", 99 status
    # 429; 92 is the agent's own parser, which tripped over the apostrophe in "agent's".
    assert kinds == {
        "task-090": "infrastructure",
        "task-092": "agent",
        "task-094": "infrastructure",
        "task-096": "infrastructure",
        "task-099": "infrastructure",
    }
    assert made["task-092"].failure is not None
    assert made["task-092"].failure.type == "ValueError"
    assert [one.reward for one in made.values()] == [
        None, 0.0, 0.0, 0.0, None, 0.0, None, 1.0, 0.0, None
    ]  # fmt: skip
    assert {one.repeat for one in made.values()} == {0}
