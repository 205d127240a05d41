"""Conversations: scripted users, clocks, failures with the turns so far."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agenteval_kit.agents import AgentReply, ProgramAgent
from agenteval_kit.errors import BudgetReached, ConfigError, InfrastructureError
from agenteval_kit.records import AgentStamps, Case, Scenario
from agenteval_kit.simulate import converse, first_messages, sources_of

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
Messages = list[dict[str, str]]


def agent(target: Callable[..., object]) -> ProgramAgent:
    return ProgramAgent(target, stamps=STAMPS)


def echo(messages: Messages) -> str:
    return f"you said {messages[-1]['content']}"


def scenario(**given: object) -> Scenario:
    fields = {"id": "s1", "opening": "Hello.", "user": {"script": []}, **given}
    return Scenario(**fields)  # type: ignore[arg-type]


# What the agent finds.


@pytest.mark.parametrize(
    ("case", "messages"),
    [
        (Case(id="c", input="text"), [("user", "text")]),
        (Case(id="c", input={"b": 1, "a": "ä"}), [("user", '{"a":"ä","b":1}')]),
        (
            Case(id="c", input="now", thread=[{"role": "user", "content": "then"},
                                              {"role": "assistant", "content": "ok"}]),
            [("user", "then"), ("assistant", "ok"), ("user", "now")],
        ),
        (Case(id="c", messages=[{"role": "user", "content": "as is"}]), [("user", "as is")]),
        (
            Case(id="c", input="now", thread={"messages": [{"role": "user", "content": "then"}],
                                              "state": {"open": True}}),
            [("user", "then"), ("user", "now")],
        ),
        (
            Case(id="c", input="now", thread=[{"from": "ann@example.com", "body": "then"}]),
            [("user", '{"body":"then","from":"ann@example.com"}'), ("user", "now")],
        ),
        (scenario(opening="Hi."), [("user", "Hi.")]),
    ],
)  # fmt: skip
def test_the_thread_comes_first_and_the_input_last(
    case: Case, messages: list[tuple[str, str]]
) -> None:
    assert [(one["role"], one["content"]) for one in first_messages(case)] == messages


def test_a_case_with_nothing_to_ask_is_configuration() -> None:
    with pytest.raises(ConfigError) as raised:
        converse(agent(echo), Case(id="empty"), now=NOW)

    assert str(raised.value) == (
        'case "empty" has neither input nor messages, so there is nothing to ask; add input'
    )


def test_a_clock_without_offset_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no offset"):
        converse(agent(echo), Case(id="c", input="x"), now=datetime(2026, 3, 2))


def test_the_transcript_says_when_it_was_and_what_made_it() -> None:
    transcript = converse(agent(echo), Case(id="c", input="x", tags=("t",)), now=NOW, repeat=3)

    assert transcript.now == "2026-03-02T09:00:00+00:00"
    assert (transcript.case_id, transcript.repeat, transcript.tags) == ("c", 3, ("t",))
    assert transcript.stamps == STAMPS
    assert transcript.seconds is not None
    assert transcript.cost_usd is None
    assert transcript.usage.input_tokens is None


# Scripted users.


def test_lines_are_said_in_order_until_the_script_is_exhausted() -> None:
    transcript = converse(agent(echo), scenario(user={"script": ["one", "two"]}), now=NOW)

    assert [turn.text for turn in transcript.turns] == [
        "Hello.", "you said Hello.", "one", "you said one", "two", "you said two",
    ]  # fmt: skip
    assert transcript.stop == "script_exhausted"


def test_a_line_with_when_waits_for_its_question_and_lets_the_next_go_first() -> None:
    answers = {"Hello.": "Which order?", "OR-1": "Shall I go ahead?", "yes": "Done."}
    script = [{"say": "yes", "when": "go AHEAD"}, {"say": "OR-1", "when": "which order"}, "bye"]

    transcript = converse(
        agent(lambda messages: answers.get(messages[-1]["content"], "?")),
        scenario(user={"script": script}), now=NOW,
    )  # fmt: skip

    said = [turn.text for turn in transcript.turns if turn.role == "user"]
    assert said == ["Hello.", "OR-1", "yes", "bye"]


def test_lines_that_wait_in_vain_end_the_conversation() -> None:
    script = [{"say": "yes", "when": "go ahead"}]

    transcript = converse(agent(echo), scenario(user={"script": script}), now=NOW)

    assert len(transcript.turns) == 2
    assert transcript.stop == "script_exhausted"


def test_stop_when_ends_with_the_goal_reached() -> None:
    user = {"script": ["one", "two", "three"], "stop_when": "said two"}

    transcript = converse(agent(echo), scenario(user=user), now=NOW)

    assert transcript.turns[-1].text == "you said two"
    assert transcript.stop == "goal_reached"


def test_the_turn_budget_ends_the_conversation() -> None:
    user = {"script": [str(number) for number in range(50)]}

    transcript = converse(agent(echo), scenario(user=user, max_turns=6), now=NOW)

    assert len(transcript.turns) == 6
    assert transcript.stop == "turn_budget"


def test_a_pattern_sees_through_typography() -> None:
    user = {"script": [{"say": "yes", "when": "don't"}]}

    transcript = converse(agent(lambda m: "Don’t you?"), scenario(user=user), now=NOW)

    assert transcript.turns[2].text == "yes"


def test_state_and_events_are_those_of_the_end_with_the_turn_they_happened_in() -> None:
    class Counts:
        def __init__(self) -> None:
            self.count = 0

        def __call__(self, messages: Messages) -> str:
            self.count += 1
            return "ok"

        def state(self) -> dict[str, int]:
            return {"count": self.count}

        def events(self) -> list[object]:
            return ["first", {"name": "second", "amount": 3}][: self.count]

    transcript = converse(agent(Counts), scenario(user={"script": ["one"]}), now=NOW)

    assert transcript.state == {"count": 2}
    assert [(one.name, one.turn, one.data) for one in transcript.events] == [
        ("first", 1, None), ("second", 3, {"amount": 3}),
    ]  # fmt: skip


# Failures.


def test_what_an_agent_raises_is_its_failure_with_the_turns_so_far() -> None:
    def fails_late(messages: Messages) -> str:
        if len(messages) > 2:
            raise ValueError("cannot read '12 March'")
        return "And then?"

    transcript = converse(agent(fails_late), scenario(user={"script": ["more"]}), now=NOW)

    assert [turn.text for turn in transcript.turns] == ["Hello.", "And then?", "more"]
    assert transcript.stop == "agent_error"
    failure = transcript.failure
    assert failure is not None
    assert (failure.kind, failure.type) == ("agent", "ValueError")
    assert failure.message == "cannot read '12 March'"
    assert failure.traceback.splitlines()[:2] == [
        "Traceback (most recent call last):",
        f'  File "test_simulate.py", line {fails_late.__code__.co_firstlineno + 2}, in fails_late',
    ]


def test_a_failure_names_no_folder_of_this_machine_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_API_KEY", "planted-0123456789")

    def fails(messages: Messages) -> str:
        try:
            (tmp_path / "data" / "orders.csv").read_text()
        except OSError as error:
            raise RuntimeError(f"with planted-0123456789 in {os.getcwd()}/x.py") from error
        return ""

    failure = converse(agent(fails), Case(id="c", input="x"), now=NOW).failure

    assert failure is not None
    told = failure.message + failure.traceback
    assert failure.message == "with [secret] in x.py"
    assert "orders.csv" in told
    for hidden in (str(tmp_path), os.getcwd(), str(Path.home()), "planted"):
        assert f"{hidden}/" not in told
    assert "planted-0123456789" not in told


def test_an_agent_that_leaves_the_process_is_a_failed_case() -> None:
    def leaves(messages: Messages) -> str:
        raise SystemExit(3)

    failure = converse(agent(leaves), Case(id="c", input="x"), now=NOW).failure

    assert failure is not None
    assert (failure.kind, failure.type) == ("agent", "SystemExit")


def test_an_agent_whose_constructor_or_state_raises_is_a_failed_case() -> None:
    class Broken:
        def __init__(self) -> None:
            raise KeyError("seed")

        def __call__(self, messages: Messages) -> str:
            return ""

    class BadState:
        def __call__(self, messages: Messages) -> str:
            return "ok"

        def state(self) -> list[int]:
            return [1]

    broken = converse(agent(Broken), Case(id="c", input="x"), now=NOW)
    bad = converse(agent(BadState), Case(id="c", input="x"), now=NOW)

    assert broken.failure is not None
    assert broken.failure.type == "KeyError"
    assert bad.failure is not None
    assert bad.failure.message == "state() returned list; a dict was wanted"


@pytest.mark.parametrize("raised", [InfrastructureError("down"), ConnectionResetError("gone")])
def test_infrastructure_is_kept_apart(raised: Exception) -> None:
    def fails(messages: Messages) -> str:
        raise raised

    transcript = converse(agent(fails), Case(id="c", input="x"), now=NOW)

    assert transcript.stop == "infrastructure"
    assert transcript.failure is not None
    assert transcript.failure.kind == "infrastructure"


@pytest.mark.parametrize("raised", [ConfigError("a key"), BudgetReached("ten calls")])
def test_what_stops_a_run_passes_through(raised: Exception) -> None:
    def fails(messages: Messages) -> str:
        raise raised

    with pytest.raises(type(raised)):
        converse(agent(fails), Case(id="c", input="x"), now=NOW)


def test_an_interrupt_passes_through() -> None:
    def interrupted(messages: Messages) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converse(agent(interrupted), Case(id="c", input="x"), now=NOW)
    with pytest.raises(KeyboardInterrupt):
        converse(agent(interrupted), Case(id="c", input="x"), now=NOW, timeout=5)


def test_an_agent_that_hangs_is_a_failed_case_and_the_next_one_goes_on() -> None:
    release = threading.Event()

    def hangs(messages: Messages) -> str:
        if messages[-1]["content"] == "hang":
            release.wait(30)
        return "ok"

    began = time.perf_counter()
    hung = converse(agent(hangs), Case(id="a", input="hang"), now=NOW, timeout=0.2)
    fine = converse(agent(hangs), Case(id="b", input="fine"), now=NOW, timeout=5)
    took = time.perf_counter() - began
    release.set()

    assert hung.stop == "agent_timeout"
    assert hung.failure is not None
    assert (hung.failure.kind, hung.failure.message) == (
        "timeout", "the agent did not answer within 0.2 s",
    )  # fmt: skip
    assert fine.answer == "ok"
    assert took < 4


def test_an_async_agent_that_blocks_does_not_hold_up_another_for_ever() -> None:
    import asyncio

    async def sleeps(messages: Messages) -> str:
        await asyncio.sleep(30)
        return ""

    hung = converse(agent(sleeps), Case(id="a", input="x"), now=NOW, timeout=0.2)

    assert hung.stop == "agent_timeout"


# Retrieved passages.


def with_result(result: str) -> ProgramAgent:
    call = {"id": "c1", "function": {"name": "search_policy", "arguments": "{}"}}
    return agent(
        lambda messages: [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
            {"role": "assistant", "content": "ok"},
        ]
    )


@pytest.mark.parametrize(
    ("result", "sources"),
    [
        ("Thirty days.", [("c1", "Thirty days.")]),
        (
            json.dumps([{"id": "1.1", "text": "Thirty."}, {"title": "Sick", "content": "Ten."}]),
            [("1.1", "Thirty."), ("Sick", "Ten.")],
        ),
        (json.dumps({"query": "x", "hits": [{"text": "Thirty."}]}), [("c1", "Thirty.")]),
        (json.dumps([{"text": "a"}, {"text": "b"}]), [("c1.0", "a"), ("c1.1", "b")]),
        (json.dumps({"id": 7, "body": "Seven."}), [("7", "Seven.")]),
        ('[{"no": "text"}]', [("c1", '[{"no": "text"}]')]),
        ("[broken", [("c1", "[broken")]),
        ("[]", [("c1", "[]")]),
        ("error: LookupError: nothing", []),
    ],
)
def test_the_results_of_source_tools_are_the_passages(
    result: str, sources: list[tuple[str, str]]
) -> None:
    transcript = converse(
        with_result(result), Case(id="c", input="x"), now=NOW, source_tools=["search_policy"]
    )

    assert [(one.id, one.text) for one in transcript.sources] == sources
    assert all(one.turn == 2 for one in transcript.sources)
    assert sources_of(transcript, ["other"]) == ()


# The same talk twice.


def test_the_same_conversation_twice_is_the_same_transcript_but_for_the_stopwatch() -> None:
    item = scenario(user={"script": ["one", "two"]})

    one, two = (
        converse(agent(echo), item, now=NOW).model_copy(update={"seconds": 0.0}) for _ in range(2)
    )

    assert one.model_dump_json() == two.model_dump_json()


def test_usage_adds_up_and_one_unknown_makes_the_sum_unknown() -> None:
    class Costs:
        def __init__(self, costs: list[float | None]) -> None:
            self.costs = costs

        def __call__(self, messages: Messages) -> AgentReply:
            message = {"role": "assistant", "content": "ok"}
            return AgentReply(messages=(message,), cost_usd=self.costs.pop(0))

    def total(*costs: float | None) -> float | None:
        made = agent(Costs(list(costs)))
        return converse(made, scenario(user={"script": ["one"]}), now=NOW).cost_usd

    assert total(0.25, 0.5) == 0.75
    assert total(0.25, None) is None
