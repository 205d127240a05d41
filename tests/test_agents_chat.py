"""Agents that are chat models with tools."""

from __future__ import annotations

import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agenteval_kit.agents import ChatAgent, Tool, load_agent
from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import AgentSpec, AgentStamps, Case
from agenteval_kit.simulate import converse
from agenteval_kit.testing import call_tools, cut, say
from agenteval_kit.testing.server import ScriptedServer

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much leave do I have?")


def write(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(code))
    return path


def spec(**given: object) -> AgentSpec:
    return AgentSpec(**{"model": "rules", "prompt": "v1", **given})  # type: ignore[arg-type]


# Chat agents.


class Desk:
    """A world with one tool that works, one that raises, one whose back end is down."""

    def __init__(self) -> None:
        number = {"type": "object", "properties": {"days": {"type": "integer"}}}
        nothing = {"type": "object", "properties": {}}
        self.tools = [
            Tool("book", "Book leave.", number, self.book),
            Tool("fail", "Raises.", nothing, self.fail),
            Tool("leave", "Ends the process.", nothing, self.leave),
            Tool("down", "Its back end is down.", nothing, self.down),
        ]
        self.booked = 0

    def reset(self, case: Case, now: datetime) -> None:
        self.booked = (case.state or {}).get("booked", 0)

    async def book(self, days: int) -> dict[str, int]:
        self.booked += days
        return {"booked": self.booked}

    def fail(self) -> None:
        raise LookupError("no such person")

    def leave(self) -> None:
        sys.exit(0)

    def down(self) -> None:
        raise InfrastructureError("the desk is down")

    def state(self) -> dict[str, object]:
        return {"booked": self.booked}

    def events(self) -> list[object]:
        return [{"name": "booked", "days": self.booked}] if self.booked else []


def chat(replies: object, **given: object) -> ChatAgent:
    stamps = AgentStamps(model="m-2026-01-01", prompt="v1")
    return ChatAgent(ScriptedModel(replies), stamps=stamps, environment=Desk, **given)  # type: ignore[arg-type]


def called(*calls: tuple[str, object]) -> dict[str, object]:
    return {
        "content": None,
        "tool_calls": [
            {"id": f"t{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ],
    }


def test_a_chat_agent_calls_tools_until_it_answers() -> None:
    agent = chat([called(("book", '{"days": 2}'), ("book", '{"days": 3}')), "Booked."])
    case = Case(id="c", input="Book it.", state={"booked": 1})

    transcript = converse(agent, case, now=NOW)

    assert [one.result for _, one in transcript.calls()] == ['{"booked": 3}', '{"booked": 6}']
    assert transcript.answer == "Booked."
    assert transcript.state == {"booked": 6}
    assert [(one.name, one.turn, one.data) for one in transcript.events] == [
        ("booked", 4, {"days": 6})
    ]
    assert transcript.usage.calls == 2


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("book", '{"days": 7', "error: arguments are not JSON: Expecting ',' delimiter: line 1 "
         "column 11 (char 10)"),
        ("book", '"{}"', "error: arguments are encoded twice"),
        ("book", "[]", "error: arguments are a JSON array, not an object"),
        ("book", "null", "error: arguments are a JSON null, not an object"),
        ("book", '{"weeks": 1}', "error: TypeError: Desk.book() got an unexpected keyword "
         "argument 'weeks'"),
        ("fail", "", "error: LookupError: no such person"),
        ("leave", "", "error: SystemExit: 0"),
        ("fly", "{}", "error: there is no tool fly; there are book, down, fail, leave"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_a_tool_is_told_to_the_model(
    name: str, arguments: str, result: str
) -> None:
    model = ScriptedModel([called((name, arguments)), "Sorry."])
    agent = ChatAgent(model, stamps=STAMPS, environment=Desk)

    transcript = converse(agent, CASE, now=NOW)

    assert model.requests[1].messages[-1]["content"] == result
    _, call = transcript.calls()[0]
    assert call.error == result.removeprefix("error: ")
    assert transcript.failure is None


def test_a_tool_whose_back_end_is_down_is_not_charged_to_the_agent() -> None:
    transcript = converse(chat([called(("down", "{}")), "?"]), CASE, now=NOW)

    assert transcript.failure is not None
    assert transcript.failure.kind == "infrastructure"
    # The turns so far are kept.
    assert [turn.role for turn in transcript.turns] == ["user", "assistant"]


def test_a_model_that_never_answers_fails_at_max_steps_with_its_turns() -> None:
    agent = chat(lambda request: called(("book", '{"days": 1}')), max_steps=3)

    transcript = converse(agent, CASE, now=NOW)

    assert transcript.failure is not None
    assert (transcript.failure.kind, transcript.failure.type) == ("agent", "TooManySteps")
    assert len(transcript.calls()) == 3


def test_the_prompt_is_filled_in_one_pass_and_always_tells_the_clock() -> None:
    def system(prompt: str) -> str:
        model = ScriptedModel(["ok"])
        case = Case(id="c", input="x", state={"who": "{{now}} {lone"})
        converse(ChatAgent(model, stamps=STAMPS, prompt=prompt), case, now=NOW)
        return str(model.requests[0].messages[0]["content"])

    assert system("At {{now}}: {{ state }} {") == (
        'At 2026-03-02T09:00:00+00:00: {"who": "{{now}} {lone"} {'
    )
    assert system("Be brief.\n") == (
        "Be brief.\n\nThe current date and time is 2026-03-02T09:00:00+00:00 (Monday)."
    )
    with pytest.raises(ConfigError, match=r"names \{\{user\}\}, which nothing fills"):
        ChatAgent(ScriptedModel([]), stamps=STAMPS, prompt="{{user}}")


@pytest.mark.parametrize(
    ("text", "output"),
    [('{"a": 1}', {"a": 1}), ('```json\n{"a": 1}\n```', {"a": 1}), ("no record", None)],
)
def test_a_chat_agent_with_a_schema_gives_a_record(text: str, output: object) -> None:
    agent = ChatAgent(ScriptedModel([text]), stamps=STAMPS, schema={"type": "object"})

    transcript = converse(agent, CASE, now=NOW)

    assert transcript.output == output
    assert transcript.answer == text


def test_two_repeats_are_two_samples_and_a_rerun_is_none(tmp_path: Path) -> None:
    model = ScriptedModel(["one", "two"])
    agent = load_agent(
        spec(model="m", prompt_file=None), folder=tmp_path, model=model,
        tape=Tape(tmp_path / "calls.jsonl"),
    )  # fmt: skip

    texts = [converse(agent, CASE, now=NOW, repeat=n).answer for n in (0, 1, 0)]
    again = converse(agent, CASE, now=NOW, repeat=1)

    assert texts == ["one", "two", "one"]
    assert again.usage.from_tape == 1
    assert len(model.requests) == 2


def served(tmp_path: Path, **given: object) -> AgentSpec:
    write(tmp_path / "prompt.md", "You help.")
    write(
        tmp_path / "desk.py",
        """
        from agenteval_kit.agents import Tool
        class Desk:
            def __init__(self):
                self.tools = [Tool("look", "Look.", {"type": "object"}, lambda: "found")]
            def reset(self, case, now): pass
            def state(self): return {}
            def events(self): return []
        """,
    )
    return spec(
        model="gpt-4.1-mini-2025-04-14", prompt_file="prompt.md", tools="desk:Desk",
        parameters={"temperature": 0}, **given,
    )  # fmt: skip


def test_a_served_chat_agent_goes_through_the_real_client(tmp_path: Path) -> None:
    answers = [call_tools(("look", {})), say("done", model="m-served", tokens=(100, 10))]
    with ScriptedServer(answers) as server:
        agent = load_agent(served(tmp_path, base_url=server.base_url), folder=tmp_path)
        transcript = converse(agent, CASE, now=NOW)

    first = server.asked[0].body
    assert first["model"] == "gpt-4.1-mini-2025-04-14"
    assert first["temperature"] == 0
    assert [tool["function"]["name"] for tool in first["tools"]] == ["look"]
    assert [m["role"] for m in server.asked[1].body["messages"]] == [
        "system", "user", "assistant", "tool",
    ]  # fmt: skip
    stamps = transcript.stamps
    assert stamps is not None
    assert stamps.model_served == "m-served"
    assert stamps.prompt_digest is not None
    assert stamps.source_digest is not None
    endpoint = server.base_url.removeprefix("http://")
    assert stamps.parameters == {"temperature": 0, "max_steps": 12, "endpoint": endpoint}
    assert transcript.usage.input_tokens == 120
    # Not OpenAI's own server: whatever it costs is unknown, not 0.
    assert transcript.cost_usd is None


def test_a_known_price_gives_the_cost_of_all_calls() -> None:
    from agenteval_kit.models.prices import Price

    model = ScriptedModel([called(("book", '{"days": 1}')), "Booked."])
    agent = ChatAgent(model, stamps=STAMPS, environment=Desk, price=Price(1e6, 2e6, "2026-01-01"))

    transcript = converse(agent, Case(id="c", input="one two"), now=NOW)

    usage = transcript.usage
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    assert transcript.cost_usd == pytest.approx(usage.input_tokens + 2 * usage.output_tokens)


def test_a_reply_that_was_cut_is_noted() -> None:
    with ScriptedServer([cut("Half an ans")]) as server:
        agent = load_agent(spec(model="m", base_url=server.base_url), folder=Path())
        transcript = converse(agent, CASE, now=NOW)

    assert transcript.extra == {"notes": ["the reply was cut at the token limit"]}


@pytest.mark.parametrize(
    ("name", "noted"),
    [("gpt-4o", True), ("gpt-4o-2024-08-06", False), ("claude-x-20250514", False), ("o3", True)],
)
def test_a_model_without_version_is_noted_as_not_pinned(name: str, noted: bool) -> None:
    agent = load_agent(spec(model=name), folder=Path())

    assert any("model not pinned" in note for note in agent.notes) == noted


def test_a_base_url_variable_that_is_not_set_is_refused_but_for_openais_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("MY_SERVER_URL", raising=False)

    load_agent(spec(model="m", base_url_env="OPENAI_BASE_URL"), folder=Path())
    with pytest.raises(ConfigError, match="MY_SERVER_URL says, which is not set"):
        load_agent(spec(model="m", base_url_env="MY_SERVER_URL"), folder=Path())
