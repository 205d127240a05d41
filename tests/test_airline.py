"""The airline suite: real transcripts, four trials a task, four layers, pass^k over the trials.

The expected values are computed here from the recorded rewards by another route: with json and
itertools, subsets enumerated, none of the package's readers or formulas.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, ToolCall, Transcript, Turn
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import Summary, summarise

DATA = Path(__file__).resolve().parent.parent / "data"
RECORDING = DATA / "recorded" / "tau_bench_airline" / "gpt-4o.jsonl"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = load_suite(DATA / "suites" / "airline.yaml")
    return run_suite(suite, out=tmp_path_factory.mktemp("runs") / "airline").run


@pytest.fixture(scope="module")
def summary(run: Run) -> Summary:
    return summarise(run)


@pytest.fixture(scope="module")
def rewards() -> dict[int, list[float]]:
    """Recorded rewards by task, in the order of the trials."""
    found: dict[int, dict[int, float]] = defaultdict(dict)
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["task_id"]][row["trial"]] = row["reward"]
    return {task: [trials[trial] for trial in range(4)] for task, trials in found.items()}


def test_every_task_and_trial_is_scored(run: Run, summary: Summary) -> None:
    assert run.complete
    assert (summary.repeats, len(summary.cases), summary.transcripts) == (4, 30, 120)
    assert (summary.unscored, summary.missing, summary.crashes) == (0, 0, 0)


def test_outcome_is_the_recorded_reward_of_every_single_trial(
    run: Run, rewards: dict[int, list[float]]
) -> None:
    rows = {
        (row.case_id, row.repeat): row.passed
        for row in run.check_rows()
        if row.name == "recorded_reward"
    }

    expected = {
        (f"task-{task:03d}", trial): reward == 1.0
        for task, trials in rewards.items()
        for trial, reward in enumerate(trials)
    }

    assert rows == expected


def test_outcome_rate_is_the_mean_of_the_recorded_rewards(
    summary: Summary, rewards: dict[int, list[float]]
) -> None:
    every = [reward for trials in rewards.values() for reward in trials]

    layer = summary.layer("outcome")

    assert layer is not None
    assert (layer.passed, layer.n) == (int(sum(every)), len(every)) == (54, 120)
    assert layer.estimate.value == pytest.approx(sum(every) / len(every), abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_hat_k_is_the_share_of_k_subsets_of_trials_that_all_passed(
    k: int, summary: Summary, rewards: dict[int, list[float]]
) -> None:
    # pass^k of a task: the chance that k of its trials, drawn without replacement, all passed.
    shares = []
    for trials in rewards.values():
        subsets = list(itertools.combinations(trials, k))
        shares.append(Fraction(sum(all(subset) for subset in subsets), len(subsets)))

    estimate = summary.pass_hat(k, layer="outcome")

    assert estimate.value == pytest.approx(float(sum(shares) / len(shares)), abs=1e-12)
    assert estimate.n == 30


def test_pass_hat_four_is_what_the_eye_counts(
    summary: Summary, rewards: dict[int, list[float]]
) -> None:
    # Tasks 12, 20, 35, 36 and 42 passed in all four trials; 5 / 30.
    always = [task for task, trials in rewards.items() if all(trials)]

    assert always == [12, 20, 35, 36, 42]
    assert summary.pass_hat(4, layer="outcome").value == pytest.approx(5 / 30)


def test_four_layers_are_scored_and_none_is_blended_into_another(summary: Summary) -> None:
    assert [layer.layer for layer in summary.layers] == [
        "outcome",
        "trajectory",
        "grounding",
        "policy",
    ]
    assert all(layer.n == 120 for layer in summary.layers)


def test_checking_the_recording_again_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    again = run_suite(load_suite(DATA / "suites" / "airline.yaml"), out=tmp_path / "again").run

    for name in ("transcripts.jsonl", "checks.jsonl"):
        assert (again.path / name).read_bytes() == (run.path / name).read_bytes()


def test_the_recorded_policy_and_clock_reach_the_checks(run: Run) -> None:
    transcript = next(run.transcripts())

    assert transcript.system is not None
    assert transcript.system.startswith("# Airline Agent Policy")
    assert transcript.now == "2024-05-15T20:00:00+00:00"
    assert transcript.stamps is not None
    assert transcript.stamps.model == "gpt-4o"


def failures(run: Run, name: str, *, trials: tuple[int, ...] = (0, 1)) -> set[tuple[str, int, Any]]:
    return {
        (row.case_id, row.repeat, row.turn)
        for row in run.check_rows()
        if row.name.startswith(name) and row.passed is False and row.repeat in trials
    }


def test_writes_without_a_confirmation_are_found_at_their_turn(run: Run) -> None:
    # Read by hand: docs/importing.md says which of these are faults.
    assert failures(run, "confirmed_before_write") == {
        ("task-000", 1, 15),
        ("task-010", 0, 35),
        ("task-015", 1, 19),
        ("task-020", 1, 23),
        ("task-025", 1, 23),
        ("task-027", 0, 29),
        ("task-032", 0, 29),
    }


def test_a_claim_of_bags_that_were_never_added_is_found(run: Run) -> None:
    # "... and three checked bags have been added", and no update_reservation_baggages.
    assert failures(run, "claims") == {("task-005", 0, 23)}


def test_transfers_that_no_reference_has_are_found(run: Run) -> None:
    found = {(case_id, repeat) for case_id, repeat, _ in failures(run, "transfer_only_where_due")}

    transferred = set()
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        reference = {action["name"] for action in row["info"]["task"]["actions"]}
        called = {
            call["function"]["name"]
            for turn in row["traj"]
            for call in turn.get("tool_calls") or []
        }
        if row["trial"] < 2 and "transfer_to_human_agents" in called - reference:
            transferred.add((f"task-{row['task_id']:03d}", row["trial"]))
    assert found == transferred
    assert len(found) == 10


def test_text_beside_a_call_is_found_in_every_transcript_that_has_it(run: Run) -> None:
    found = {
        (case_id, repeat)
        for case_id, repeat, _ in failures(run, "one_thing_at_a_time", trials=(0, 1, 2, 3))
    }

    expected = set()
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if any(turn.get("tool_calls") and turn.get("content") for turn in row["traj"]):
            expected.add((f"task-{row['task_id']:03d}", row["trial"]))
    assert found == expected


def test_a_call_made_three_times_alike_is_found(run: Run) -> None:
    found = {
        (case_id, repeat)
        for case_id, repeat, _ in failures(run, "max_identical_calls", trials=(0, 1, 2, 3))
    }

    expected = set()
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        calls = [
            (
                call["function"]["name"],
                repr(sorted(json.loads(call["function"]["arguments"]).items())),
            )
            for turn in row["traj"]
            for call in turn.get("tool_calls") or []
        ]
        if any(calls.count(call) >= 3 for call in calls):
            expected.add((f"task-{row['task_id']:03d}", row["trial"]))
    assert found == expected
    assert expected == {("task-011", 2)}


# The policy checks themselves


def checks_of(name: str) -> ModuleType:
    folder = DATA / "checks"
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def conversation(*turns: str) -> Transcript:
    """Turns as ``user: text``, ``agent: text`` or ``call: tool``, in the order given."""
    made = []
    for turn in turns:
        role, _, text = turn.partition(": ")
        if role == "call":
            call = ToolCall(id=text, name=text, arguments={}, result="ok")
            made.append(Turn(role="assistant", calls=(call,)))
        else:
            made.append(Turn(role="user" if role == "user" else "assistant", text=text))
    return Transcript(case_id="a", turns=tuple(made))


def confirmed(*turns: str) -> CheckResult:
    result = checks_of("airline_checks").confirmed_before_write(
        conversation(*turns), Case(id="a", input="x")
    )
    assert isinstance(result, CheckResult)
    return result


@pytest.mark.parametrize(
    "turns",
    [
        ("user: Yes, please.", "call: cancel_reservation"),
        ("user: Go ahead.", "call: get_user_details", "call: book_reservation"),
        ("user: Sure!", "call: book_reservation"),
        ("user: Yes.", "agent: Which card?", "user: The Visa.", "call: book_reservation"),
        ("user: Yes, all of them.", "call: cancel_reservation", "call: cancel_reservation"),
        ("user: Yes.", "call: cancel_reservation", "user: Confirmed.", "call: book_reservation"),
        ("user: Hello.", "call: get_user_details"),
        ("user: Hello.", "call: send_certificate"),
    ],
)
def test_a_write_that_was_confirmed_passes(turns: tuple[str, ...]) -> None:
    assert confirmed(*turns).passed is True


@pytest.mark.parametrize(
    ("turns", "turn"),
    [
        (("user: Cancel my flight.", "call: cancel_reservation"), 1),
        (("call: cancel_reservation",), 0),
        (("user: Sure, my id is mia_li_3668.", "call: cancel_reservation"), 1),
        (("user: Okay, I'll use the gift card.", "call: book_reservation"), 1),
        (("user: Yes.", "call: cancel_reservation", "user: And 2.", "call: cancel_reservation"), 3),
        (
            ("user: Yes.", "agent: Id?", "user: It's 7.", "agent: Seat?", "user: 9A.",
             "call: book_reservation"),
            5,
        ),
    ],
)  # fmt: skip
def test_a_write_that_was_not_confirmed_fails_at_its_turn(
    turns: tuple[str, ...], turn: int
) -> None:
    found = confirmed(*turns)

    assert (found.passed, found.turn) == (False, turn)
    assert "no user turn had confirmed it" in found.why


def test_a_transfer_passes_only_where_the_reference_has_one() -> None:
    check = checks_of("airline_checks").transfer_only_where_due
    transcript = conversation("user: Help.", "call: transfer_to_human_agents")
    due = Case(id="a", input="x", tags=("transfer_to_human_agents",))

    assert check(transcript, Case(id="a", input="x")).passed is False
    assert check(transcript, due).passed is True
    assert check(conversation("user: Help."), Case(id="a", input="x")).passed is True


def test_two_calls_at_once_and_text_beside_a_call_fail() -> None:
    check = checks_of("airline_checks").one_thing_at_a_time
    case = Case(id="a", input="x")
    call = ToolCall(id="1", name="think", arguments={}, result="")

    def passed(turn: Turn) -> bool | None:
        result: CheckResult = check(Transcript(case_id="a", turns=(turn,)), case)
        return result.passed

    assert passed(Turn(role="assistant", calls=(call,))) is True
    assert passed(Turn(role="assistant", text="Hello.")) is True
    assert passed(Turn(role="assistant", text=" ", calls=(call,))) is True
    assert passed(Turn(role="assistant", text="One moment.", calls=(call,))) is False
    assert passed(Turn(role="assistant", calls=(call, call))) is False
