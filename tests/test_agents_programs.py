"""Agents that are programs: what they are given, may return, and may not keep."""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agenteval_kit.agents import ProgramAgent, load_agent
from agenteval_kit.agents.plain import plain
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import canonical_json
from agenteval_kit.models.agent import without_expectations
from agenteval_kit.records import AgentSpec, AgentStamps, Case, Scenario, Transcript
from agenteval_kit.simulate import converse

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much leave do I have?")


def write(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(code))
    return path


def spec(**given: object) -> AgentSpec:
    return AgentSpec(**{"model": "rules", "prompt": "v1", **given})  # type: ignore[arg-type]


# What a callable may return.


class Ticket(BaseModel):
    category: str


@dataclasses.dataclass
class Order:
    total: Decimal


@pytest.mark.parametrize(
    ("returned", "text", "output"),
    [
        ("18 days", "18 days", None),
        ({"b": 1, "a": "x"}, '{"a":"x","b":1}', {"b": 1, "a": "x"}),
        (Ticket(category="billing"), '{"category":"billing"}', {"category": "billing"}),
        (Order(Decimal("1.50")), '{"total":"1.50"}', {"total": "1.50"}),
        ([{"role": "assistant", "content": "18"}], "18", None),
    ],
)
def test_a_callable_may_return_text_a_record_or_messages(
    returned: object, text: str, output: object
) -> None:
    agent = ProgramAgent(lambda messages: returned, stamps=STAMPS)

    transcript = converse(agent, CASE, now=NOW)

    assert transcript.answer == text
    assert transcript.output == output
    assert transcript.stop == "answered"
    assert transcript.stamps == STAMPS


def test_messages_with_tool_calls_become_turns_with_results() -> None:
    call = {"id": "x", "type": "function",
            "function": {"name": "leave_balance", "arguments": "{}"}}  # fmt: skip
    returned = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "18"},
        {"role": "assistant", "content": "18 days."},
    ]
    agent = ProgramAgent(lambda messages: returned, stamps=STAMPS)

    transcript = converse(agent, CASE, now=NOW)

    assert [turn.role for turn in transcript.turns] == ["user", "assistant", "tool", "assistant"]
    assert [(turn, one.name, one.result) for turn, one in transcript.calls()] == [
        (1, "leave_balance", "18")
    ]


def test_a_returned_list_that_begins_with_the_given_messages_is_not_doubled() -> None:
    def whole(messages: list[dict[str, str]]) -> list[dict[str, str]]:
        return [*messages, {"role": "assistant", "content": "18 days."}]

    transcript = converse(ProgramAgent(whole, stamps=STAMPS), CASE, now=NOW)

    assert [turn.text for turn in transcript.turns] == [CASE.input, "18 days."]


def test_a_returned_transcript_is_taken_whole_under_this_case_and_these_stamps() -> None:
    made = Transcript(case_id="elsewhere", turns=({"role": "assistant", "text": "hi"},))  # type: ignore[arg-type]

    transcript = converse(ProgramAgent(lambda m: made, stamps=STAMPS), CASE, now=NOW, repeat=2)

    assert (transcript.case_id, transcript.repeat) == ("c1", 2)
    assert transcript.stamps == STAMPS
    assert transcript.now == NOW.isoformat()


@pytest.mark.parametrize(
    "returned", [None, 3, [], ["text"], [{"content": "no role"}], b"bytes", object()]
)
def test_anything_else_is_the_agents_failure_in_plain_words(returned: object) -> None:
    transcript = converse(ProgramAgent(lambda m: returned, stamps=STAMPS), CASE, now=NOW)

    assert transcript.failure is not None
    assert transcript.failure.kind == "agent"
    assert "the agent returned" in transcript.failure.message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.integers() | st.text(), inner, max_size=3)
            | st.frozensets(st.integers(), max_size=3)
        ),
        max_leaves=10,
    )
)
def test_plain_values_are_strict_json_whatever_a_program_returns(value: object) -> None:
    made = plain(value)

    assert json.loads(canonical_json(made)) == made


# What a callable is given.


def test_a_callable_is_given_what_it_names_and_no_more() -> None:
    seen: dict[str, object] = {}

    def bare(messages: object) -> str:
        return "bare"

    def full(messages: object, *, now: datetime, case: Case, repeat: int) -> str:
        seen.update(now=now, id=case.id, repeat=repeat)
        return "full"

    def rest(messages: object, **given: object) -> str:
        return ",".join(sorted(given))

    answers = [
        converse(ProgramAgent(one, stamps=STAMPS), CASE, now=NOW, repeat=1).answer
        for one in (bare, full, rest)
    ]

    assert answers == ["bare", "full", "case,now,repeat"]
    assert seen == {"now": NOW, "id": "c1", "repeat": 1}


def test_an_async_callable_is_awaited() -> None:
    async def answer(messages: object) -> str:
        return "async"

    assert converse(ProgramAgent(answer, stamps=STAMPS), CASE, now=NOW).answer == "async"


@pytest.mark.asyncio
async def test_an_async_callable_is_awaited_inside_a_running_loop() -> None:
    async def answer(messages: object) -> str:
        return "async"

    assert converse(ProgramAgent(answer, stamps=STAMPS), CASE, now=NOW).answer == "async"


class Leaver:
    """Leaves the process in one of its methods; the others do nothing."""

    def __init__(self, where: str) -> None:
        self.where = where

    def _at(self, place: str) -> None:
        if place == self.where:
            sys.exit(0)

    async def __call__(self, messages: object) -> str:
        self._at("reply")
        return "ok"

    def reset(self) -> None:
        self._at("reset")

    async def state(self) -> dict[str, object]:
        self._at("state")
        return {}

    def events(self) -> list[object]:
        self._at("events")
        return []

    def sources(self) -> list[object]:
        self._at("sources")
        return []


@pytest.mark.parametrize("where", ["reset", "reply", "state", "events", "sources"])
def test_an_agent_that_leaves_the_process_has_failed_and_ends_nothing_else(where: str) -> None:
    agent = ProgramAgent(Leaver(where), stamps=STAMPS)

    transcript = converse(agent, CASE, now=NOW, timeout=20)
    after = converse(ProgramAgent(Leaver("nowhere"), stamps=STAMPS), CASE, now=NOW, timeout=20)

    assert transcript.failure is not None
    assert (transcript.failure.kind, transcript.failure.type) == ("agent", "SystemExit")
    # The loop that asynchronous agents share goes on.
    assert after.answer == "ok"


def test_an_agent_cannot_read_what_is_expected_of_it() -> None:
    case = Case(id="c", input="x", must_include=["18"], rubric="Says 18.", reference="18",
                state={"employee": "E-1"}, critical=True, tags=("t",), note="n")  # fmt: skip
    scenario = Scenario(
        id="s", opening="x", goal="g", known={"k": 1}, user={"script": ["secret line"]},
        final_state={"a": 1}, markers=["m"], invariants={"no_tools": True}, clock="2026-01-01",
    )  # fmt: skip

    seen, played = without_expectations(case), without_expectations(scenario)

    assert seen == Case(id="c", input="x", state={"employee": "E-1"})
    assert played == Scenario(id="s", opening="x", clock="2026-01-01", user={"script": []})


def test_an_agent_that_writes_into_its_messages_does_not_write_into_the_transcript() -> None:
    def scribble(messages: list[dict[str, str]]) -> str:
        messages[0]["content"] = "something else"
        messages.append({"role": "user", "content": "more"})
        return "ok"

    transcript = converse(ProgramAgent(scribble, stamps=STAMPS), CASE, now=NOW)

    assert [turn.text for turn in transcript.turns] == [CASE.input, "ok"]


# State of one case never reaches the next.


class Remembers:
    """Keeps what it was told, and raises on the first case."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, messages: list[dict[str, str]], *, case: Case) -> str:
        self.told.append(messages[-1]["content"])
        if case.id == "c1":
            raise RuntimeError("broken in the middle")
        return "ok"

    def state(self) -> dict[str, object]:
        return {"told": self.told}

    def events(self) -> list[str]:
        return [f"told {text}" for text in self.told]


def test_a_case_that_raised_leaves_no_trace_in_the_next() -> None:
    agent = ProgramAgent(Remembers, stamps=STAMPS)

    first = converse(agent, CASE, now=NOW)
    second = converse(agent, Case(id="c2", input="clean"), now=NOW)

    assert first.failure is not None
    assert second.failure is None
    assert second.state == {"told": ["clean"]}
    assert [event.name for event in second.events] == ["told clean"]


def test_a_function_with_hooks_in_its_module_is_reset_before_each_case(tmp_path: Path) -> None:
    write(
        tmp_path / "counting.py",
        """
        seen = []
        def agent(messages):
            seen.append(messages[-1]["content"])
            return "ok"
        def reset():
            seen.clear()
        def state():
            return {"seen": list(seen)}
        """,
    )
    agent = load_agent(spec(call="counting:agent"), folder=tmp_path)

    states = [converse(agent, Case(id=name, input=name), now=NOW).state for name in ("a", "b")]

    assert states == [{"seen": ["a"]}, {"seen": ["b"]}]
    assert agent.shares_state


def test_a_reset_may_name_its_arguments_as_it_likes() -> None:
    class Agent:
        def reset(self, item: Case, clock: datetime) -> None:
            self.at = f"{item.id} {clock.year}"

        def __call__(self, messages: object) -> str:
            return self.at

    assert converse(ProgramAgent(Agent, stamps=STAMPS), CASE, now=NOW).answer == "c1 2026"


def test_a_class_that_cannot_answer_is_refused() -> None:
    class Silent:
        pass

    with pytest.raises(ConfigError, match="the class Silent cannot answer; give it `def __call__"):
        ProgramAgent(Silent, stamps=STAMPS)


def test_half_a_character_does_not_spoil_a_transcript() -> None:
    returned = {"text": "half \ud83d", "whole": "\ud83d\ude00"}

    transcript = converse(ProgramAgent(lambda m: returned, stamps=STAMPS), CASE, now=NOW)

    assert transcript.output == {"text": "half \ufffd", "whole": "\U0001f600"}
    assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript
