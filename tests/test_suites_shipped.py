"""The shipped program-driven suites tell a good agent from a worse one, and say where.

May not reach a network: every agent here is a program of data/agents.
"""

from __future__ import annotations

import ast
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agenteval_kit.agents import load_agent
from agenteval_kit.checks import run_checks
from agenteval_kit.cli import main
from agenteval_kit.files import read_yaml
from agenteval_kit.gate import Decision, decide, load_bar
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.records import AgentSpec, Case, Scenario, Turn
from agenteval_kit.runs import Run
from agenteval_kit.simulate import converse
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import Summary, summarise

DATA = Path(__file__).resolve().parent.parent / "data"
SUITES = ("triage", "helpdesk", "support")
WORSE = {
    "triage": {"hold-charge", "thread-card", "power-case", "thread-solved"},
    "helpdesk": {"other-salary", "other-leave", "manager-asks"},
    "support": {"refund-denied", "refund-pending", "claims-approval"},
}
STANDARD = {"helpdesk": "helpdesk_checks", "support": "support_checks", "triage": "triage"}

Runner = Callable[[str, str], tuple[Summary, Decision, Path]]


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Each suite with each version of its agent, run once."""
    root = tmp_path_factory.mktemp("runs")
    done: dict[tuple[str, str], tuple[Summary, Decision, Path]] = {}

    def run(name: str, version: str) -> tuple[Summary, Decision, Path]:
        if (name, version) not in done:
            suite = load_suite(
                DATA / "suites" / f"{name}.yaml", agent=DATA / "agents" / f"{name}_{version}.yaml"
            )
            result = run_suite(suite, out=root / f"{name}-{version}")
            bar = load_bar(DATA / "bars" / f"{STANDARD[name]}.yaml")
            summary = summarise(result.run)
            done[name, version] = (summary, decide(result.run, bar), result.run.path)
        return done[name, version]

    return run


def failed_cases(summary: Summary) -> set[str]:
    return {case_id for layer in summary.layers for case_id in layer.failing}


@pytest.mark.parametrize("name", SUITES)
def test_good_agent_passes_every_case_and_ships(name: str, run_of: Runner) -> None:
    summary, decision, _ = run_of(name, "v1")

    assert failed_cases(summary) == set()
    assert summary.unscored == 0
    assert decision.verdict == "SHIP"


@pytest.mark.parametrize("name", SUITES)
def test_worse_agent_fails_in_the_named_cases_and_is_held(name: str, run_of: Runner) -> None:
    summary, decision, _ = run_of(name, "v2")

    assert failed_cases(summary) == WORSE[name]
    assert decision.verdict == "HOLD"


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize(("version", "code"), [("v1", 0), ("v2", 1)])
def test_check_command_tells_the_versions_apart_by_exit_code(
    name: str, version: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = str(DATA / "suites" / f"{name}.yaml")
    agent = str(DATA / "agents" / f"{name}_{version}.yaml")

    got = main(["check", suite, "--agent", agent, "--out", str(tmp_path / "run")])

    assert got == code
    assert f"prompt {version}" in capsys.readouterr().out


def test_only_the_critical_clause_holds_the_worse_helpdesk(run_of: Runner) -> None:
    summary, decision, _ = run_of("helpdesk", "v2")

    failing = [row.name for row in decision.rows if row.status == "fail"]
    trajectory = summary.layer("trajectory")

    assert failing == ["critical all"]
    assert trajectory is not None
    # 3 of 35 cases open a ticket about somebody else: 32/35 = 0.914, over the bar of 0.90.
    assert (trajectory.passed, trajectory.n) == (32, 35)


def test_judged_bars_wait_for_a_judge_and_do_not_pass_without_one(run_of: Runner) -> None:
    run = Run.open(run_of("support", "v1")[2])

    decision = decide(run, load_bar(DATA / "bars" / "support.yaml"))

    assert decision.verdict == "REVIEW"
    assert {row.clause for row in decision.rows if row.status == "cannot tell"} >= {"mean"}


@pytest.mark.parametrize("name", SUITES)
def test_two_runs_write_the_same_check_rows(name: str, run_of: Runner, tmp_path: Path) -> None:
    first = run_of(name, "v2")[2]
    suite = load_suite(DATA / "suites" / f"{name}.yaml", agent=DATA / "agents" / f"{name}_v2.yaml")

    again = run_suite(suite, out=tmp_path / "again", jobs=2)

    assert sorted(lines(again.run.path)) == sorted(lines(first))


def lines(run: Path) -> list[str]:
    return (run / "checks.jsonl").read_text(encoding="utf-8").splitlines()


GREETERS = {
    "triage": "def greet(messages, *, now, case):\n    return 'Hello.'\n",
    "helpdesk": "from helpdesk_v1 import HelpdeskV1 as Real",
    "support": "from support_v1 import SupportV1 as Real",
}
GREETS = """
class Greeter(Real):
    def __call__(self, messages, *, now, case):
        return "Hello."

greet = Greeter
"""


@pytest.mark.parametrize("name", SUITES)
def test_agent_that_only_greets_fails_every_case(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its world is the real one and stays as it was: no case may pass because nothing happened.
    monkeypatch.syspath_prepend(str(DATA / "agents"))
    code = GREETERS[name] + (GREETS if "Real" in GREETERS[name] else "")
    (tmp_path / f"{name}_greeter.py").write_text(code, encoding="utf-8")
    greeter = tmp_path / "greeter.yaml"
    greeter.write_text(f"call: {name}_greeter:greet\nmodel: rules\nprompt: v0\n", encoding="utf-8")
    suite = load_suite(DATA / "suites" / f"{name}.yaml", agent=greeter)

    summary = summarise(run_suite(suite, out=tmp_path / "run").run)

    assert (summary.failed, summary.n) == (len(suite.items), len(suite.items))


def test_suites_are_as_large_and_as_rooted_in_failures_as_they_say() -> None:
    triage, helpdesk, support = (load_suite(DATA / "suites" / f"{name}.yaml") for name in SUITES)

    tags = [tag for item in helpdesk.items for tag in item.tags]
    grown = [item for item in support.items if item.origin and item.broke]

    assert len(triage.items) == 12
    assert all(item.origin for item in triage.items)
    assert len(helpdesk.items) == 35
    assert {tag: tags.count(tag) for tag in ("common", "mixed", "must_refuse", "dont_know")} == {
        "common": 18,
        "mixed": 6,
        "must_refuse": 6,
        "dont_know": 5,
    }
    assert len(support.items) == 16
    assert len(grown) >= 8
    assert all(item.note for item in grown)


def test_every_helpdesk_question_has_a_rubric_and_a_trajectory_check() -> None:
    suite = load_suite(DATA / "suites" / "helpdesk.yaml")

    for item in suite.items:
        assert isinstance(item, Case)
        assert item.rubric, item.id
        given = set(item.checks.given())
        assert given & {"tools", "tools_exact", "forbidden_tools", "no_tools"}, item.id


def test_every_scenario_guards_its_writes() -> None:
    suite = load_suite(DATA / "suites" / "support.yaml")
    writes = {"refund", "cancel_order", "change_address"}

    for item in suite.items:
        assert isinstance(item, Scenario)
        rules = item.invariants
        guarded = set(rules.forbidden_tools or ()) | set(
            rules.approval.before if rules.approval else ()
        )
        expects_write = {"refund_made", "order_cancelled", "address_changed"} & set(
            item.markers or ()
        )
        assert guarded & writes or item.id == "wants-a-person", item.id
        assert not expects_write or rules.approval is not None, item.id


def test_handbook_index_names_every_section() -> None:
    written = [
        tuple(line.removeprefix("## ").strip().split(" ", 1))
        for path in sorted((DATA / "handbook").glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    ]

    with (DATA / "handbook" / "sections.csv").open(encoding="utf-8", newline="") as stream:
        indexed = [(row["section"], row["title"]) for row in csv.DictReader(stream)]

    assert indexed == sorted(written)


def test_programs_need_the_package_for_nothing_but_tool() -> None:
    ours: set[tuple[str, str, str]] = set()
    others: set[str] = set()
    here = {path.stem for path in (DATA / "agents").glob("*.py")}

    for path in sorted((DATA / "agents").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agenteval"):
                ours |= {(path.stem, str(node.module), alias.name) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                others.add(str(node.module).split(".")[0])
            elif isinstance(node, ast.Import):
                others |= {alias.name.split(".")[0] for alias in node.names}

    assert ours == {
        ("helpdesk_desk", "agenteval_kit.agents", "Tool"),
        ("recorded_tools", "agenteval_kit.agents", "Tool"),
        ("support_shop", "agenteval_kit.agents", "Tool"),
    }
    assert others - here <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", SUITES)
def test_chat_configuration_is_pinned_and_reads_its_key_from_the_environment(name: str) -> None:
    path = DATA / "agents" / f"{name}_chat.yaml"

    spec = AgentSpec.model_validate(read_yaml(path).value)

    assert spec.kind == "chat"
    assert spec.model == "gpt-4.1-mini-2025-04-14"
    assert spec.prompt_file is not None
    assert (path.parent / spec.prompt_file).is_file()
    assert spec.api_key_env == "OPENAI_API_KEY"
    assert spec.base_url_env == "OPENAI_BASE_URL"


@pytest.mark.parametrize("name", SUITES)
def test_model_that_says_what_the_program_says_meets_the_same_world(
    name: str, run_of: Runner
) -> None:
    suite = load_suite(
        DATA / "suites" / f"{name}.yaml", agent=DATA / "agents" / f"{name}_chat.yaml"
    )
    source_tools = suite.spec.sources.tools if suite.spec.sources else ()
    played = Run.open(run_of(name, "v1")[2])
    failed: list[str] = []

    for item in suite.items:
        script = [
            said(turn) for turn in played.transcript(item.id).turns if turn.role == "assistant"
        ]
        # A thread's earlier record was said before; the model is asked for the newest only.
        model = ScriptedModel(script[-1:] if name == "triage" else script)
        agent = load_agent(suite.agent.spec, folder=suite.agent.folder, model=model)
        now = suite.now(item)
        assert now is not None
        transcript = converse(agent, item, now=now, source_tools=source_tools)
        rows = run_checks(transcript, item, suite.checks(item))
        failed += [f"{row.case_id}: {row.name}" for row in rows if row.passed is not True]

    assert failed == []


def said(turn: Turn) -> dict[str, object]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in turn.calls
    ]
    message: dict[str, object] = {"role": "assistant", "content": turn.text or None}
    return {**message, "tool_calls": calls} if calls else message


@pytest.mark.parametrize("path", sorted((DATA / "bars").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_bar_loads_and_is_named_after_its_file(path: Path) -> None:
    loaded = load_bar(path)

    assert loaded.bar.name == path.stem


def test_table_in_the_docs_is_what_the_runs_give(run_of: Runner) -> None:
    docs = (DATA.parent / "docs" / "suites.md").read_text(encoding="utf-8")

    for name in SUITES:
        good, worse = run_of(name, "v1")[0], run_of(name, "v2")[0]
        cells = [
            name,
            str(good.n),
            f"{good.passed} of {good.n}",
            f"{worse.passed} of {worse.n}",
            ", ".join(sorted(failed_cases(worse))),
        ]
        assert f"| {' | '.join(cells)} |" in docs
