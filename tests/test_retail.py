"""The retail suite: a real A/B on sixty tasks, and runs that the provider cut off.

The expected values are computed here from the recorded rewards, with json alone.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from agenteval_kit.cli import main
from agenteval_kit.demo import break_copy, degrade
from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import decide, load_bar
from agenteval_kit.importers import import_files
from agenteval_kit.records import AgentStamps, Case, ToolCall, Transcript, Turn
from agenteval_kit.runs import Run
from agenteval_kit.suite import RunResult, load_suite, run_suite
from agenteval_kit.summary import pair_layer, summarise

DATA = Path(__file__).resolve().parent.parent / "data"
RECORDED = DATA / "recorded" / "tau_bench_retail"
BASELINE = DATA / "agents" / "retail_tool_calling.yaml"
CANDIDATE = DATA / "agents" / "retail_with_preconditions.yaml"


def run_with(agent: Path, out: Path) -> Run:
    return run_suite(load_suite(DATA / "suites" / "retail.yaml", agent=agent), out=out).run


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(BASELINE, tmp_path_factory.mktemp("runs") / "baseline")


@pytest.fixture(scope="module")
def candidate(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(CANDIDATE, tmp_path_factory.mktemp("runs") / "candidate")


def rewards(name: str) -> dict[str, float]:
    text = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {f"task-{row['task_id']:03d}": row["reward"] for row in rows}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DATA / "recorded" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_agents_passed_44_of_60_and_moved_on_the_same_14_tasks(
    baseline: Run, candidate: Run
) -> None:
    old, new = rewards("tool_calling"), rewards("tool_calling_with_preconditions")
    broken = tuple(task for task in old if old[task] == 1 and new[task] == 0)
    fixed = tuple(task for task in old if old[task] == 0 and new[task] == 1)

    pair = pair_layer(summarise(baseline), summarise(candidate), "outcome")

    assert (sum(old.values()), sum(new.values())) == (44, 44)
    assert (sum(pair.old), sum(pair.new), pair.n) == (44, 44, 60)
    assert pair.worse == broken
    assert pair.better == fixed
    # Read off the two files by eye.
    assert broken == tuple(f"task-{task:03d}" for task in (13, 18, 27, 29, 46, 54, 57))
    assert fixed == tuple(f"task-{task:03d}" for task in (3, 12, 21, 32, 34, 47, 55))
    assert pair.finding.startswith("no difference shown")


def test_each_version_wears_its_own_stamps(baseline: Run, candidate: Run) -> None:
    assert baseline.info.agent.prompt == "tool-calling"
    assert candidate.info.agent.prompt == "tool-calling with preconditions"
    for run in (baseline, candidate):
        assert run.info.agent.model == "not stated in the recording"
        assert run.info.kind == "recorded"
        assert {one.stamps for one in run.transcripts()} == {run.info.agent}


# Runs that the provider cut off


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    suite = load_suite(DATA / "suites" / "retail_api_errors.yaml")
    return run_suite(suite, out=tmp_path_factory.mktemp("runs") / "errors")


def test_runs_that_the_provider_cut_off_are_unscored_and_not_the_agents(
    cut_off: RunResult,
) -> None:
    summary = summarise(cut_off.run)
    layer = summary.layer("outcome")

    assert layer is not None
    # Ten runs: four rate limits; of the other six one passed and one broke in its own parser.
    assert (layer.passed, layer.n, layer.unscored) == (1, 6, 4)
    assert layer.unscored_ids == ("task-090", "task-094", "task-096", "task-099")
    assert (summary.infrastructure, summary.crashes) == (4, 1)
    assert not cut_off.complete


def test_a_run_with_infrastructure_failures_exits_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["check", str(DATA / "suites" / "retail_api_errors.yaml"), "--out", str(tmp_path / "run")]
    )

    assert code == 3
    assert "4 unscored" in capsys.readouterr().out


# A copy that is made worse on purpose


def degraded(n: int, *, seed: int = 0) -> list[Transcript]:
    return degrade(
        import_files(RECORDED / "tool_calling.jsonl"),
        n,
        stamps=AgentStamps(model="m", prompt="p"),
        seed=seed,
    )


@pytest.mark.parametrize("n", [0, 2, 9, 44])
def test_a_degraded_copy_fails_just_so_many_tasks_that_passed(n: int) -> None:
    before = rewards("tool_calling")

    after = {one.case_id: one.reward for one in degraded(n)}

    assert sum(before.values()) - sum(reward or 0 for reward in after.values()) == n
    assert {task for task in before if after[task] != before[task]} <= {
        task for task, reward in before.items() if reward == 1.0
    }


def test_a_degraded_copy_says_in_every_stamp_that_it_is_simulated() -> None:
    for one in degraded(9):
        assert one.stamps is not None
        assert one.stamps.prompt == "p, simulated: 9 passing tasks made to fail"
        assert one.stamps.origin == (
            "a simulated degradation (seed 0) of a recording; no agent behaved like this"
        )


def test_degrading_is_seeded_and_fewer_tasks_are_among_more() -> None:
    def failed(n: int, seed: int = 0) -> set[str]:
        return {one.case_id for one in degraded(n, seed=seed) if one.reward == 0.0}

    assert failed(9) == failed(9)
    assert failed(2) < failed(9)
    assert failed(9) != failed(9, seed=1)


def test_more_tasks_than_passed_cannot_be_made_to_fail() -> None:
    with pytest.raises(ConfigError, match="45 tasks to be made to fail, but 44 passed"):
        degraded(45)


@pytest.mark.parametrize(
    ("n", "status", "verdict"), [(2, "cannot tell", "REVIEW"), (9, "fail", "HOLD")]
)
def test_the_gate_tells_nine_broken_tasks_and_cannot_tell_two(
    n: int, status: str, verdict: str, baseline: Run, tmp_path: Path
) -> None:
    agent = break_copy(BASELINE, n, folder=tmp_path)
    worse = run_with(agent, tmp_path / "run")

    decision = decide(worse, load_bar(DATA / "bars" / "retail.yaml"), baseline=baseline)

    assert decision.verdict == verdict
    assert {row.status for row in decision.rows if row.clause == "no_worse"} == {status}
    assert worse.info.agent.origin is not None
    assert "simulated" in worse.info.agent.origin
    assert worse.info.kind == "simulated"


# What the handbook says of the checks


def test_the_handbooks_counts_of_flags_are_what_the_checks_find(
    baseline: Run, tmp_path: Path
) -> None:
    airline = run_suite(load_suite(DATA / "suites" / "airline.yaml"), out=tmp_path / "a").run
    stated = re.findall(
        r"^\| (airline|retail) \| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$",
        (DATA.parent / "docs" / "importing.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )

    found = {
        (name, check): len(
            {
                (row.case_id, row.repeat, row.name)
                for row in run.check_rows()
                if row.passed is False and row.repeat < 2 and row.name.split()[0] == check
            }
        )
        for name, run in (("airline", airline), ("retail", baseline))
        for check in {row.name.split()[0] for row in run.check_rows()} - {"recorded_reward"}
    }

    assert {(name, check): int(flagged) for name, check, flagged, *_ in stated} == found
    for _, _, flagged, *judged in stated:
        assert sum(map(int, judged)) == int(flagged)


# The cases


def test_case_files_are_what_the_recordings_say() -> None:
    make = script("make_cases")

    for name in ("airline", "retail"):
        path = DATA / "cases" / f"{name}.jsonl"
        assert path.read_text(encoding="utf-8") == make.make_cases(name), (
            "run data/recorded/make_cases.py"
        )


def test_both_retail_recordings_have_the_same_tasks() -> None:
    def tasks(name: str) -> list[object]:
        text = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line)["info"]["task"] for line in text.splitlines()]

    assert tasks("tool_calling") == tasks("tool_calling_with_preconditions")


# The policy check that only retail has


def authenticated(*names: str, errors: tuple[str, ...] = ()) -> bool | None:
    folder = str(DATA / "checks")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import retail_checks  # data/checks is on the path only now

    turns = tuple(
        Turn(
            role="assistant",
            calls=(
                ToolCall(
                    id=name,
                    name=name,
                    arguments={},
                    result="Error: no" if name in errors else "ok",
                    error="Error: no" if name in errors else None,
                ),
            ),
        )
        for name in names
    )
    passed: bool | None = retail_checks.authenticated_first(
        Transcript(case_id="a", turns=turns), Case(id="a", input="x")
    ).passed
    return passed


def test_orders_may_be_read_only_once_the_user_was_found() -> None:
    assert authenticated("find_user_id_by_email", "get_order_details") is True
    assert authenticated("list_all_product_types", "get_product_details") is True
    assert authenticated("get_order_details", "find_user_id_by_email") is False
    assert authenticated("get_order_details") is False
    assert (
        authenticated(
            "find_user_id_by_email", "cancel_pending_order", errors=("find_user_id_by_email",)
        )
        is False
    )
