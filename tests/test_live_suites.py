"""The live counterparts of the recorded suites: tools that answer from recordings, and no more.

The expected values come from the recordings by another route: json alone, or the importer.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.agents import load_agent
from agenteval_kit.checks import CheckResult
from agenteval_kit.files import read_yaml
from agenteval_kit.importers import import_files
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.records import AgentSpec, Case, Scenario, ToolCall, Transcript, Turn
from agenteval_kit.simulate import converse
from agenteval_kit.suite import Suite, load_suite, run_suite
from agenteval_kit.targets import load_target
from agenteval_kit.testing import ScriptedServer, say

DATA = Path(__file__).resolve().parent.parent / "data"
RECORDED = DATA / "recorded"
NOW = datetime.fromisoformat("2024-05-15T15:00:00-05:00")
NAMES = ("airline", "retail")
FILES = {
    "airline": ["tau_bench_airline/gpt-4o.jsonl"],
    "retail": [
        "tau_bench_retail/tool_calling.jsonl",
        "tau_bench_retail/tool_calling_with_preconditions.jsonl",
    ],
}
COMPUTED = {"calculate", "think", "transfer_to_human_agents"}
STOP = "###STOP###"
DOCS = (DATA.parent / "docs" / "importing.md").read_text(encoding="utf-8")


def target(name: str) -> Any:
    return load_target(name, folder=DATA / "agents", siblings=("../checks",))


@cache
def rows(name: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(
        (file, json.loads(line))
        for file in FILES[name]
        for line in (RECORDED / file).read_text(encoding="utf-8").splitlines()
    )


@cache
def suite_of(name: str) -> Suite:
    return load_suite(DATA / "suites" / f"{name}_live.yaml")


@cache
def imported(name: str) -> dict[tuple[str, str, int], Transcript]:
    return {
        (file, one.case_id, one.repeat): one
        for file in FILES[name]
        for one in import_files([RECORDED / file])
    }


def scene(task: str) -> Scenario:
    return Scenario(id=task, opening="Hello.", user={"script": []})


def back_end(name: str, task: str) -> Any:
    made = target(f"{name}_tools:{name}_tools")()
    made.reset(scene(task), NOW)
    return made


def call(world: Any, tool_name: str, /, **arguments: Any) -> str:
    return {tool.name: tool.function for tool in world.tools}[tool_name](**arguments)


def script_row(name: str, scenario: Scenario) -> tuple[str, dict[str, Any]]:
    """The recording whose user the scenario's script repeats: the first that was rewarded."""
    mine = [
        (file, row)
        for file, row in sorted(
            rows(name), key=lambda one: (FILES[name].index(one[0]), one[1]["trial"])
        )
        if f"task-{row['task_id']:03d}" == scenario.id
    ]
    return next((one for one in mine if one[1]["reward"] == 1), mine[0])


def agent_lines(row: dict[str, Any]) -> list[dict[str, Any]]:
    """What the recorded agent said, as a model would; after a transfer it says goodbye."""
    kept = ("role", "content", "tool_calls")
    said = [
        {key: message[key] for key in kept if message.get(key) is not None}
        for message in row["traj"]
        if message["role"] == "assistant"
    ]
    return [*said, {"role": "assistant", "content": "You are being transferred."}]


def as_a_live_agent_sees(result: str | None) -> str:
    text = result or ""
    return re.sub(r"^Error: ", "error: ", text)


@pytest.mark.parametrize(("name", "tasks"), [("airline", 30), ("retail", 60)])
def test_live_suite_has_the_tasks_and_checks_of_the_recorded_one(name: str, tasks: int) -> None:
    recorded = load_suite(DATA / "suites" / f"{name}.yaml")

    live = suite_of(name)

    assert [item.id for item in live.items] == [item.id for item in recorded.items]
    assert len(live.items) == tasks
    assert live.spec.tools == recorded.spec.tools
    theirs = recorded.spec.checks.model_dump(exclude={"recorded_reward", "python", "where"})
    ours = live.spec.checks.model_dump(exclude={"recorded_reward", "python", "where"})
    assert ours == theirs
    assert live.spec.checks.recorded_reward is None
    added = [one for one in live.spec.checks.python or [] if one.name == "reference_changes"]
    assert (live.spec.checks.python or []) == added + (recorded.spec.checks.python or [])


@pytest.mark.parametrize("name", NAMES)
def test_suite_says_what_the_recordings_cannot_answer(name: str) -> None:
    live = suite_of(name)

    for text in (live.spec.data_note, live.agent.spec.note, DOCS):
        told = " ".join((text or "").split())
        assert "a low score may be the recording's limit, not the agent's" in told


@pytest.mark.parametrize("name", NAMES)
def test_chat_configuration_is_pinned_and_reads_its_key_from_the_environment(name: str) -> None:
    path = DATA / "agents" / f"{name}_chat.yaml"

    spec = AgentSpec.model_validate(read_yaml(path).value)

    assert spec.kind == "chat"
    assert spec.model == "gpt-4.1-mini-2025-04-14"
    assert spec.prompt_file is not None
    assert (path.parent / spec.prompt_file).name == "system_prompt.txt"
    assert (path.parent / spec.prompt_file).is_file()
    assert (spec.api_key_env, spec.base_url_env) == ("OPENAI_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    monkeypatch.syspath_prepend(str(RECORDED))
    names = ("make_cases", "make_tools", "make_scenarios")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["make_tools", "make_scenarios"])
def test_generated_files_are_what_their_script_makes_of_the_recordings(
    name: str, scripts: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    assert scripts[name].main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_scenarios_can_be_made_for_users_that_a_model_plays(
    name: str, scripts: dict[str, ModuleType], tmp_path: Path
) -> None:
    assert scripts["make_scenarios"].main(["--simulated", str(tmp_path)]) == 0

    lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    made = [Scenario.model_validate(json.loads(line)) for line in lines]
    assert [one.id for one in made] == [item.id for item in suite_of(name).items]
    for one in made:
        assert one.user.simulate is not None and one.user.simulate.max_turns == 15
        assert one.persona and one.goal
        # Nothing is known to the user that stands neither in the goal nor in their own name.
        for value in one.known.values():
            for fact in value if isinstance(value, list) else [value]:
                assert fact in one.goal or fact.lower() in str(one.known.get("user_id")), one.id


@pytest.mark.parametrize("name", NAMES)
def test_tools_describe_themselves_and_fit_every_reference_action(name: str) -> None:
    tools = {tool.name: tool for tool in back_end(name, "task-000").tools}

    assert sorted(tools) == sorted(suite_of(name).spec.tools or [])
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.description.endswith(".")
    for _, row in rows(name):
        for action in row["info"]["task"]["actions"]:
            jsonschema.validate(action["kwargs"], tools[action["name"]].parameters)


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_call_gets_its_recorded_answer_again(name: str) -> None:
    looked_up = 0

    for (_, task, _), transcript in imported(name).items():
        world = back_end(name, task)
        for _, one in transcript.calls():
            if one.malformed is None:
                got = call(world, one.name, **(one.arguments or {}))
                assert got == as_a_live_agent_sees(one.result), (task, one.name, one.arguments)
                looked_up += one.name not in COMPUTED
        answers = world.state()["answers"]
        assert world.state()["not_in_recordings"] == []
        assert (answers["other_moment"], answers["other_task"]) == (0, 0)

    # 388 + 133 reads and changes in airline, 696 + 180 in retail, counted over the raw files.
    assert looked_up == {"airline": 521, "retail": 876}[name]


@pytest.mark.parametrize("name", NAMES)
def test_agent_that_repeats_a_recording_gets_through_every_task(name: str) -> None:
    suite = suite_of(name)
    model = ScriptedModel(lambda _: next(script))
    agent = load_agent(suite.agent.spec, folder=suite.agent.folder, model=model)

    for item in suite.items:
        assert isinstance(item, Scenario)
        file, row = script_row(name, item)
        script = iter(agent_lines(row))
        live = converse(agent, item, now=NOW)
        before = imported(name)[file, item.id, row["trial"] if name == "airline" else 0]

        assert live.failure is None, item.id
        assert live.stop == "script_exhausted"
        assert calls(live) == calls(before)
        assert texts(live, "user") == [text for text in texts(before, "user") if STOP not in text]
        assert live.state is not None and live.state["not_in_recordings"] == []


def calls(transcript: Transcript) -> list[tuple[str, Any, str]]:
    return [
        (one.name, one.arguments, as_a_live_agent_sees(one.result))
        for _, one in transcript.calls()
        if one.malformed is None
    ]


def texts(transcript: Transcript, role: str) -> list[str]:
    return [turn.text.strip() for turn in transcript.turns if turn.role == role and turn.text]


@pytest.mark.parametrize(("name", "task"), [("airline", "task-012"), ("retail", "task-000")])
def test_suite_runs_through_the_real_client_and_its_outcome_is_decided(
    name: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load_suite(DATA / "suites" / f"{name}_live.yaml", only=[task])
    assert isinstance(suite.items[0], Scenario)
    _, row = script_row(name, suite.items[0])
    monkeypatch.setenv("OPENAI_API_KEY", "unused")

    with ScriptedServer([say(line) for line in agent_lines(row)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        result = run_suite(suite, out=tmp_path / "run")

    transcript = result.run.transcript(task)
    outcome = {one.name: one.passed for one in result.run.check_rows() if one.layer == "outcome"}
    sent = server.asked[0].body
    assert result.complete
    assert transcript.state is not None
    assert transcript.state["answers"]["not_in_recordings"] == 0
    assert outcome["reference_changes"] is True
    assert row["reward"] == 1
    assert [tool["function"]["name"] for tool in sent["tools"]] == suite.spec.tools
    assert sent["messages"][0]["content"].startswith(f"# {name.capitalize()} ")


def test_call_that_no_recording_holds_is_answered_by_an_error_and_told() -> None:
    world = back_end("retail", "task-000")

    said = call(world, "get_order_details", order_id="#W9999999")

    assert said == (
        "error: not in the recordings: no recorded run made this call at this point, "
        "so its result is not known"
    )
    missed = {"tool": "get_order_details", "arguments": {"order_id": "#W9999999"}}
    assert world.state()["not_in_recordings"] == [missed]
    assert world.state()["answers"]["not_in_recordings"] == 1
    assert world.events() == [{"name": "not_in_recordings", "data": missed}]


def test_transcript_marks_an_unrecorded_call_as_an_error_and_lists_it() -> None:
    suite = suite_of("retail")
    asks = {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "one",
                "type": "function",
                "function": {"name": "get_order_details", "arguments": '{"order_id": "#W0"}'},
            }
        ],
    }
    model = ScriptedModel([asks, "I cannot find it."])
    agent = load_agent(suite.agent.spec, folder=suite.agent.folder, model=model)

    transcript = converse(agent, scene("task-000"), now=NOW)

    ((_, made),) = transcript.calls()
    assert made.error is not None and made.error.startswith("not in the recordings")
    assert [event.name for event in transcript.events] == ["not_in_recordings"]


def test_reading_falls_back_to_another_task_and_changing_does_not() -> None:
    # Order #W2378156 belongs to tasks 0 to 4; task 50 never looks at it.
    home, away = back_end("retail", "task-000"), back_end("retail", "task-050")
    exchange = {
        "order_id": "#W2378156",
        "item_ids": ["1151293680", "4983901480"],
        "new_item_ids": ["7706410293", "7747408585"],
        "payment_method_id": "credit_card_9513926",
    }

    read = [call(world, "get_order_details", order_id="#W2378156") for world in (home, away)]
    changed = [call(world, "exchange_delivered_order_items", **exchange) for world in (home, away)]

    assert read[0] == read[1]
    assert json.loads(read[0])["order_id"] == "#W2378156"
    assert away.state()["answers"]["other_task"] == 1
    assert json.loads(changed[0])["status"] == "exchange requested"
    assert changed[1].startswith("error: not in the recordings")
    assert away.state()["changes"] == []


def test_what_a_change_made_out_of_date_is_not_given() -> None:
    world = back_end("retail", "task-000")
    exchange = {
        "order_id": "#W2378156",
        "item_ids": ["1151293680", "4983901480"],
        "new_item_ids": ["7706410293", "7747408585"],
        "payment_method_id": "credit_card_9513926",
    }
    before = call(world, "get_order_details", order_id="#W2378156")
    call(world, "exchange_delivered_order_items", **exchange)

    after = call(world, "get_order_details", order_id="#W2378156")
    product = call(world, "get_product_details", product_id="1656367028")

    assert json.loads(before)["status"] == "delivered"
    # No recorded agent looked at the order again, and what was read before is no longer true.
    assert after.startswith("error: not in the recordings")
    assert "variants" in product
    assert world.state()["answers"]["other_moment"] == 1
    assert [event["name"] for event in world.events()] == [
        "changed",
        "not_in_recordings",
        "other_moment",
    ]


def test_items_may_be_named_in_another_order_but_keep_their_partners() -> None:
    given = {"order_id": "#W2378156", "payment_method_id": "credit_card_9513926"}
    turned = {
        "item_ids": ["4983901480", "1151293680"],
        "new_item_ids": ["7747408585", "7706410293"],
    }
    crossed = {**turned, "new_item_ids": ["7706410293", "7747408585"]}

    right = call(
        back_end("retail", "task-000"), "exchange_delivered_order_items", **given, **turned
    )
    wrong = call(
        back_end("retail", "task-000"), "exchange_delivered_order_items", **given, **crossed
    )

    assert json.loads(right)["status"] == "exchange requested"
    assert wrong.startswith("error: not in the recordings")


def test_nothing_is_answered_after_a_person_took_over() -> None:
    world = back_end("retail", "task-000")

    handed = call(world, "transfer_to_human_agents", summary="Whatever the summary says.")
    later = call(world, "get_order_details", order_id="#W2378156")

    assert handed == "Transfer successful"
    assert later.startswith("error: not in the recordings: they all end when a person takes over")
    assert world.state()["handed_over"] is True


def test_recorded_refusal_is_an_error_of_the_call_and_changes_nothing() -> None:
    # Task 13: the agent tried PayPal first, and the back end refused.
    world = back_end("retail", "task-013")
    items = ["4579334072", "6117189161", "4947717507"]

    said = call(
        world,
        "return_delivered_order_items",
        order_id="#W5490111",
        item_ids=items,
        payment_method_id="paypal_9497703",
    )

    assert said.startswith("error: payment method should be either the original payment method")
    assert world.state()["changes"] == []


def test_nothing_of_one_conversation_is_left_in_the_next() -> None:
    suite = suite_of("retail")
    agent = load_agent(
        suite.agent.spec, folder=suite.agent.folder, model=ScriptedModel(lambda _: next(script))
    )
    items = [item for item in suite.items if item.id in ("task-000", "task-001")]
    made = []

    for item in (*items, items[0]):
        assert isinstance(item, Scenario)
        script = iter(agent_lines(script_row("retail", item)[1]))
        made.append(converse(agent, item, now=NOW))

    assert not agent.shares_state
    assert made[0].state != made[1].state
    assert made[0].state == made[2].state
    assert calls(made[0]) == calls(made[2])
    assert made[0].events == made[2].events


@pytest.mark.parametrize("name", NAMES)
def test_calculate_gives_every_recorded_result(name: str) -> None:
    calculate = target("arithmetic:calculate")
    count = 0

    for transcript in imported(name).values():
        for _, one in transcript.calls():
            if one.name == "calculate":
                assert calculate((one.arguments or {})["expression"]) == one.result
                count += 1

    assert count == {"airline": 58, "retail": 39}[name]


@pytest.mark.parametrize(
    "hostile",
    [
        "__import__('os').system('true')",
        "().__class__",
        "9**9**9",
        "9" * 499,
        "9" * 400 + "." + "9" * 50,
        "(" * 400,
        "-" * 499,
        "-" * 500 + "1",
        "1" + "+1" * 10_000,
        "1/0",
        "1//2",
        "(1)(2)",
        "0777",
        "1 2",
        "()",
        "",
        "   ",
        None,
        7,
        ["1 + 1"],
        "１ + １",
        "1\n+ 1",
        "lambda: 1",
        "1; 2",
    ],
)
def test_arithmetic_answers_hostile_input_with_an_error(hostile: object) -> None:
    assert target("arithmetic:calculate")(hostile).startswith("error: ")


@given(st.text(alphabet="0123456789+-*/(). ", max_size=60))
def test_arithmetic_gives_a_finite_number_or_an_error(expression: str) -> None:
    said = target("arithmetic:calculate")(expression)

    assert said.startswith("error: ") or math.isfinite(float(said))


def test_calculate_through_the_tool_tolerates_arguments_that_are_not_its_own() -> None:
    world = back_end("airline", "task-000")

    assert call(world, "calculate", expression="(158 + 141) * 2") == "598.0"
    assert call(world, "calculate", sum="1 + 1").startswith("error: calculate wants")
    assert call(world, "get_user_details", self="x", name="y").startswith("error: not in the rec")


# What is wanted of a live model's outcome, read off the check's own examples.
RETURNED = {
    "order_id": "#W5490111",
    "item_ids": ["4579334072", "6117189161", "4947717507"],
    "payment_method_id": "credit_card_3124723",
}


def outcome(*made: ToolCall, task: str = "task-013") -> CheckResult:
    transcript = Transcript(case_id=task, turns=(Turn(role="assistant", calls=made),))
    return target("live_checks:retail_changes")(transcript, Case(id=task))


def returned(**more: Any) -> ToolCall:
    given = {"id": "c", "name": "return_delivered_order_items", "result": "{}"} | more
    return ToolCall(**{"arguments": RETURNED, **given})


UNKNOWN = {"result": "error: not in the recordings", "error": "not in the recordings"}
LOOKED = ToolCall(id="l", name="get_order_details", arguments={"order_id": "#W0"}, **UNKNOWN)
TRANSFER = ToolCall(id="t", name="transfer_to_human_agents", arguments={"summary": "s"}, result="")


def test_outcome_wants_the_reference_changes_and_no_others() -> None:
    twice = outcome(returned(), returned(id="d"))
    wrong = outcome(returned(arguments={**RETURNED, "payment_method_id": "paypal_9497703"}))

    assert outcome(returned()).passed is True
    assert outcome(returned(error="refused")).passed is False
    assert twice.passed is False and twice.why.startswith("not in the reference: return_")
    assert wrong.passed is False and "paypal" in wrong.why
    assert outcome().passed is False


def test_outcome_counts_a_change_that_the_recordings_could_not_answer() -> None:
    asked_again = outcome(returned(**UNKNOWN), returned(id="d", **UNKNOWN))
    wrong = outcome(returned(arguments={**RETURNED, "item_ids": ["1"]}, **UNKNOWN))

    assert asked_again.passed is True
    assert wrong.passed is False


def test_outcome_cannot_be_told_when_an_unanswered_call_may_have_led_the_agent_astray() -> None:
    stuck = outcome(LOOKED)

    assert stuck.passed is None
    assert stuck.turn == 0
    assert stuck.why.startswith("cannot tell: get_order_details had no recorded answer")
    assert outcome(LOOKED, returned()).passed is True


def test_outcome_ends_where_a_person_takes_over() -> None:
    assert outcome(returned(), TRANSFER, returned(id="d")).passed is True
    assert outcome(TRANSFER, LOOKED).passed is False


def test_outcome_of_a_task_that_is_not_recorded_is_unscored() -> None:
    assert outcome(task="task-999").passed is None


@pytest.mark.parametrize(
    ("name", "agree", "too_kind", "too_strict"), [("airline", 118, 2, 0), ("retail", 115, 1, 4)]
)
def test_outcome_agrees_with_the_recorded_reward_as_often_as_the_docs_say(
    name: str, agree: int, too_kind: int, too_strict: int
) -> None:
    decide = target(f"live_checks:{name}_changes")
    suite = suite_of(name)
    by_id = {item.id: item for item in suite.items}
    found: Counter[tuple[bool, bool]] = Counter()

    for (_, task, _), transcript in imported(name).items():
        item = by_id[task]
        told = [
            check(transcript, item) for check in suite.checks(item) if "must_include" in check.name
        ]
        right = decide(transcript, item).passed is True
        right = right and all(one is not None and one.passed for one in told)
        found[transcript.reward == 1, right] += 1

    assert found[True, True] + found[False, False] == agree
    assert (found[False, True], found[True, False]) == (too_kind, too_strict)
    assert f"| {name} | {agree} of 120 | {too_kind} | {too_strict} |" in DOCS


@pytest.mark.parametrize("name", NAMES)
def test_share_of_calls_that_the_other_recordings_answer_is_what_the_docs_say(name: str) -> None:
    # Each recording in turn plays the live agent, and its tools know only the others.
    read_calls, tools = (
        target("recorded_calls:read_calls"),
        target("recorded_tools:load_recordings"),
    )
    whole = tools(f"tau_bench_{name}", *(Path(file).name for file in FILES[name]))
    changing = {tool["name"] for tool in whole.tools if tool["kind"] == "changes"}
    per_row = [list(read_calls(row, changing=changing)) for _, row in rows(name)]
    counts: Counter[str] = Counter()

    for left_out, mine in enumerate(per_row):
        known: dict[Any, list[Any]] = defaultdict(list)
        for place, theirs in enumerate(per_row):
            for one in theirs if place != left_out else ():
                known[one.name, one.key].append(one)
        world = target("recorded_tools:RecordedTools")(type(whole)(whole.tools, known))
        world.reset(scene(mine[0].task if mine else "none"), NOW)
        lost_a_change = False
        missed = 0
        for one in mine:
            if one.name in COMPUTED:
                continue
            counts["asked"] += 1
            said = call(world, one.name, **json.loads(one.key))
            if said.startswith("error: not in the recordings"):
                missed += 1
                lost_a_change |= one.name in changing
            elif said == as_a_live_agent_sees(one.result):
                counts["same"] += 1
            else:
                counts["other"] += 1
                # It differs because a change before it was not made, and so is true here.
                assert lost_a_change, (one.task, one.name, one.key)
        counts["whole"] += missed == 0

    answered = counts["same"] + counts["other"]
    share = f"{answered} of {counts['asked']} calls ({answered / counts['asked']:.0%})"
    cells = [name, share, str(counts["other"]), f"{counts['whole']} of {len(per_row)}"]
    assert f"| {' | '.join(cells)} |" in DOCS, cells
