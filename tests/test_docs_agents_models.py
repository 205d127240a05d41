"""The Python in docs/agents.md and docs/models.md runs as it stands."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.agents import ProgramAgent
from agenteval_kit.records import AgentStamps, Case
from agenteval_kit.simulate import converse
from agenteval_kit.testing.server import ScriptedServer


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for LangGraph, which is no dependency: the two names that the adapter imports."""
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}

    class Graph:
        def invoke(self, state: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
            said = config["configurable"]["now"]
            added = [{"role": "assistant", "content": "", "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": "1", "content": "18"},
                     {"role": "assistant", "content": f"18 at {said}"}]  # fmt: skip
            return {"messages": [*state["messages"], *added]}

    mine, core, messages = (types.ModuleType(name) for name in ("g", "c", "m"))
    mine.graph = Graph()  # type: ignore[attr-defined]
    messages.convert_to_openai_messages = lambda given: given  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_graph", mine)
    monkeypatch.setitem(sys.modules, "langchain_core", core)
    monkeypatch.setitem(sys.modules, "langchain_core.messages", messages)


def test_the_examples_of_the_agents_page_run(root: Path, graph: None) -> None:
    space: dict[str, Any] = {}

    for block in blocks(root / "docs" / "agents.md"):
        exec(compile(block, "docs/agents.md", "exec"), space)

    agent = ProgramAgent(space["langgraph_agent"], stamps=AgentStamps(model="graph", prompt="v1"))
    talk = converse(agent, Case(id="c", input="How many?"), now=space["datetime"](
        2026, 3, 2, tzinfo=space["UTC"]))  # fmt: skip
    assert [turn.role for turn in talk.turns] == ["user", "assistant", "tool", "assistant"]
    assert talk.answer == "18 at 2026-03-02T00:00:00+00:00"
    asked = converse(
        ProgramAgent(space["answer"], stamps=AgentStamps(model="rules", prompt="v1")),
        Case(id="c", input="Why?"),
        now=space["datetime"](2026, 3, 2, 9, 5, tzinfo=space["UTC"]),
    )
    assert asked.answer == "You asked at 09:05: Why?"


def test_the_examples_of_the_models_page_run(root: Path, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        space: dict[str, Any] = {"server": server, "folder": tmp_path}
        for block in blocks(root / "docs" / "models.md"):
            exec(compile(block, "docs/models.md", "exec"), space)

    assert len(server.asked) == 50


def test_every_answer_of_the_models_page_exists(root: Path) -> None:
    import agenteval_kit.testing as testing

    page = (root / "docs" / "models.md").read_text(encoding="utf-8")
    table = page[page.index("| answer | in Python") : page.index("From a shell")]
    named = set(re.findall(r"`(\w+)\(", table))

    assert named
    assert all(hasattr(testing, name) for name in named)
