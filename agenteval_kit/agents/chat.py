"""An agent that is a chat model with a prompt and tools, on any OpenAI-compatible endpoint.

May not know the provider: it asks a `ChatModel`.
"""

from __future__ import annotations

import copy
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from agenteval_kit.agents.plain import plain, plain_mapping, tool_text
from agenteval_kit.agents.program import call_hook, settle
from agenteval_kit.errors import AgentEvalError, ConfigError
from agenteval_kit.models.agent import AgentReply, Item, Tool, without_expectations
from agenteval_kit.models.blame import blame_of
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest
from agenteval_kit.models.prices import Price, price_of
from agenteval_kit.models.template import check_placeholders, fill, placeholders
from agenteval_kit.models.wire import sound
from agenteval_kit.records import AgentStamps, Usage
from agenteval_kit.records.messages import parse_arguments

__all__ = ["ChatAgent", "TooManySteps"]


class TooManySteps(AgentEvalError):
    """The model called tools again and again and did not answer: the agent's own failure."""


class ChatAgent:
    """A chat model as an agent: it may call tools, several at a time, until it answers.

    Arguments that are no JSON object, a tool that does not exist and an error that a tool raises
    are told to the model as ``error: ...``, and stand in the transcript.

    Parameters
    ----------
    model : ChatModel
        Who is asked.
    stamps : AgentStamps
        Which agent this is.
    prompt : str
        The system prompt. ``{{now}}`` becomes the case's clock (where it does not stand, a
        sentence at the end tells it) and ``{{state}}`` the case's state as JSON.
    environment : callable, optional
        Makes the world that the tools act on, anew for every conversation; or an
        `Environment`, which is then shared.
    parameters : dict, optional
        temperature, max_tokens and so on.
    schema : dict, optional
        JSON Schema of the record that the final answer is to be; it becomes `output`.
    max_steps : int
        Model calls for one reply at most.
    price : Price, optional
        By default from the shipped list; unknown stays unknown.
    """

    plays_back = False
    timeout: float | None = None

    def __init__(
        self,
        model: ChatModel,
        *,
        stamps: AgentStamps,
        prompt: str = "",
        environment: Any = None,
        parameters: Mapping[str, Any] | None = None,
        schema: dict[str, Any] | None = None,
        max_steps: int = 12,
        price: Price | None = None,
    ) -> None:
        check_placeholders(prompt, ("now", "state"))
        self.name = f"{stamps.model} with {stamps.prompt}"
        self.stamps = stamps
        self.notes: tuple[str, ...] = ()
        self.said: tuple[dict[str, Any], ...] = ()
        self.model = model
        self._prompt = prompt
        self._made_from = environment
        self._environment: Any = None
        self.shares_state = environment is not None and not _is_factory(environment)
        self._parameters = dict(parameters or {})
        self._schema = schema
        self._max_steps = max_steps
        self._price = price or price_of(model.name, endpoint=model.endpoint)

    def fresh(self) -> ChatAgent:
        """The same agent and model, with an environment of its own."""
        twin = copy.copy(self)
        twin.said = ()
        twin._environment = None
        return twin

    def reset(self, case: Item, *, now: datetime | None = None) -> None:
        """Make the environment anew and set its stage."""
        made = self._made_from
        self._environment = made() if _is_factory(made) else made
        seen = without_expectations(case)
        call_hook(getattr(self._environment, "reset", None), case=seen, now=now)

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, now: datetime, case: Item, repeat: int = 0
    ) -> AgentReply:
        """Ask the model until it answers, calling the tools that it asks for.

        Raises
        ------
        TooManySteps
            If it did not answer within `max_steps` calls.
        InfrastructureError, ConfigError, ModelError
            As the model raises them.
        """
        self.said = ()
        if self._environment is None and self._made_from is not None:
            self.reset(case, now=now)
        tools = {tool.name: tool for tool in _tools(self._environment)}
        before = [{"role": "system", "content": self._system(case, now)}, *map(dict, messages)]
        replies: list[ChatReply] = []
        seconds = 0.0
        for _ in range(self._max_steps):
            reply = self.model.complete(
                ChatRequest(
                    model=self.model.name,
                    endpoint=self.model.endpoint,
                    messages=(*before, *self.said),
                    tools=tuple(tool.definition() for tool in tools.values()),
                    schema=self._schema,
                    parameters=self._parameters,
                    repeat=repeat,
                )
            )
            replies.append(reply)
            self.said = (*self.said, sound(reply.message))
            calls = reply.message.get("tool_calls")
            if not isinstance(calls, list) or not calls:
                return self._answer(replies, seconds)
            began = time.perf_counter()
            for call in calls:
                self.said = (*self.said, _tool_reply(call, tools))
            seconds += time.perf_counter() - began
        raise TooManySteps(
            f"the model asked for tools {self._max_steps} times without an answer; that is "
            "max_steps"
        )

    def _system(self, case: Item, now: datetime) -> str:
        values = {
            "now": now.isoformat(),
            "state": json.dumps(plain(case.state or {}), ensure_ascii=False, sort_keys=True),
        }
        made = fill(self._prompt, values)
        if "now" not in placeholders(self._prompt):
            clock = f"The current date and time is {now.isoformat()} ({now.strftime('%A')})."
            made = f"{made.rstrip()}\n\n{clock}" if made.strip() else clock
        return made

    def _answer(self, replies: list[ChatReply], tool_seconds: float) -> AgentReply:
        last = replies[-1]
        costs = [
            self._price.cost(one.input_tokens, one.output_tokens) if self._price else None
            for one in replies
        ]
        known = [cost for cost in costs if cost is not None]
        times = [one.seconds for one in replies if one.seconds is not None]
        world = self._environment
        state = call_hook(getattr(world, "state", None))
        events = call_hook(getattr(world, "events", None))
        sources = call_hook(getattr(world, "sources", None))
        notes = dict.fromkeys(note for one in replies for note in one.notes)
        if last.finish == "length":
            notes["the reply was cut at the token limit"] = None
        return AgentReply(
            messages=self.said,
            output=_record(last.text) if self._schema is not None else None,
            state=None if state is None else plain_mapping(state, "state()"),
            events=tuple(plain(events or ())),
            sources=tuple(plain(sources or ())),
            usage=Usage(
                calls=len(replies),
                input_tokens=_sum([one.input_tokens for one in replies]),
                output_tokens=_sum([one.output_tokens for one in replies]),
                from_tape=sum(one.from_tape for one in replies),
            ),
            cost_usd=sum(known) if len(known) == len(costs) else None,
            model_served=last.model,
            seconds=sum(times) + tool_seconds if len(times) == len(replies) else None,
            notes=tuple(notes),
        )


def _is_factory(environment: Any) -> bool:
    return callable(environment) and not hasattr(type(environment), "tools")


def _tools(environment: Any) -> Sequence[Tool]:
    if environment is None:
        return ()
    tools = environment if isinstance(environment, list | tuple) else environment.tools
    for tool in tools:
        if not isinstance(tool, Tool):
            raise ConfigError(
                f"the environment's tools hold a {type(tool).__name__}; each wants to be an "
                "agenteval_kit.agents.Tool"
            )
    return tuple(tools)


def _tool_reply(call: Any, tools: Mapping[str, Tool]) -> dict[str, Any]:
    call = call if isinstance(call, Mapping) else {}
    function = call.get("function") if isinstance(call.get("function"), Mapping) else {}
    assert isinstance(function, Mapping)
    name = str(function.get("name") or "?")
    said = _call_tool(name, function.get("arguments"), tools)
    return {"role": "tool", "tool_call_id": str(call.get("id") or ""), "name": name,
            "content": said}  # fmt: skip


def _call_tool(name: str, raw: Any, tools: Mapping[str, Tool]) -> str:
    tool = tools.get(name)
    if tool is None:
        return f"error: there is no tool {name}; there are {', '.join(sorted(tools)) or 'none'}"
    arguments, malformed, _ = parse_arguments(raw)
    if arguments is None:
        return f"error: {malformed}"
    call: Callable[..., Any] = tool.function
    try:
        return tool_text(settle(call(**arguments)))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A tool that calls sys.exit has failed like any other.
        if blame_of(error) != "agent":
            raise
        return f"error: {type(error).__name__}: {error}"


def _record(text: str) -> Any:
    """The record that a final text is; None if it is none."""
    bare = text.strip()
    fenced = re.fullmatch(r"```[a-zA-Z]*\s*\n(.*?)\n?```", bare, re.DOTALL)
    try:
        return plain(json.loads(fenced[1] if fenced else bare))
    except (ValueError, RecursionError):
        return None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
