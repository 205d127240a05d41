"""Agents that are programs: a function or a class, sync or async, behind the one call.

May not know where they were found: `agenteval_kit.agents.load` looks them up.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from agenteval_kit.agents.plain import plain, plain_mapping, read_return
from agenteval_kit.errors import ConfigError
from agenteval_kit.models.agent import AgentReply, Item, without_expectations
from agenteval_kit.records import AgentStamps

__all__ = ["ProgramAgent", "call_hook", "settle"]

_HOOKS = ("reset", "state", "events", "sources")


class ProgramAgent:
    """A plain callable as an agent.

    Parameters
    ----------
    target : callable
        ``agent(messages, *, now, case)``, of which it may leave out `now` and `case`; or a class
        whose instances are such callables, and which is then made anew for every conversation.
        It may have ``reset(case, now)``, ``state()``, ``events()`` and ``sources()``.
    stamps : AgentStamps
        Which agent this is.
    name : str, optional
        For people; by default the name of the target.
    timeout : float, optional
        Seconds within which each reply must come.
    """

    plays_back = False

    def __init__(
        self,
        target: Callable[..., Any],
        *,
        stamps: AgentStamps,
        name: str | None = None,
        timeout: float | None = None,
    ) -> None:
        self.name: str = name or str(getattr(target, "__name__", type(target).__name__))
        self.stamps = stamps
        self.timeout = timeout
        self.notes: tuple[str, ...] = ()
        self.said: tuple[dict[str, Any], ...] = ()
        self._target = target
        self._made: Any = target
        if inspect.isclass(target) and "__call__" not in dir(target):
            raise ConfigError(
                f"the class {self.name} cannot answer; give it "
                "`def __call__(self, messages, *, now, case)`"
            )
        hooked = any(_hook(target, name) is not None for name in _HOOKS)
        self.shares_state = hooked and not inspect.isclass(target)

    def fresh(self) -> ProgramAgent:
        """The same agent; of a class target a new instance."""
        twin = copy.copy(self)
        twin.said = ()
        twin._made = self._target
        return twin

    def reset(self, case: Item, *, now: datetime | None = None) -> None:
        """Call the target's own `reset`, if it has one, with what it takes of case and now."""
        made = self._instance()
        call_hook(_hook(made, "reset"), case=without_expectations(case), now=now)

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, now: datetime, case: Item, repeat: int = 0
    ) -> AgentReply:
        """Call the target and read what it returned.

        Raises
        ------
        TypeError
            If it returned nothing that can be read; whatever the target raises passes through.
        """
        self.said = ()
        made = self._instance()
        # A copy: an agent that writes into its input must not write into the transcript.
        given = [copy.deepcopy(dict(message)) for message in messages]
        offered = {"now": now, "case": without_expectations(case), "repeat": repeat}
        reply = read_return(settle(made(given, **_accepted(made, offered))), messages)
        if reply.transcript is not None:
            return reply
        self.said = reply.messages
        state = call_hook(_hook(made, "state"))
        events = call_hook(_hook(made, "events"))
        sources = call_hook(_hook(made, "sources"))
        return dataclasses.replace(
            reply,
            state=reply.state if state is None else plain_mapping(state, "state()"),
            events=tuple(plain(events)) if events else reply.events,
            sources=tuple(plain(sources)) if sources else reply.sources,
        )

    def _instance(self) -> Any:
        if inspect.isclass(self._made):
            self._made = self._target()
        return self._made


def _hook(target: Any, name: str) -> Callable[..., Any] | None:
    found = getattr(target, name, None)
    if found is None and inspect.isfunction(target):
        # Beside a function, its module may define the hook.
        module = sys.modules.get(target.__module__)
        beside = getattr(module, name, None)
        found = beside if inspect.isfunction(beside) and beside is not target else None
    return found if callable(found) else None


def call_hook(hook: Callable[..., Any] | None, **offered: Any) -> Any:
    """Call an optional method with what it takes of what is offered; None if there is none."""
    if hook is None:
        return None
    named = _accepted(hook, offered)
    rest = [value for name, value in offered.items() if name not in named]
    # A hook may name its arguments as it likes; then they come in the order of the offer.
    return settle(hook(*rest[: _unnamed(hook, named)], **named))


def _unnamed(hook: Callable[..., Any], named: Mapping[str, Any]) -> int:
    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError):
        return 0
    plain_kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return sum(
        one.kind in plain_kinds and one.default is inspect.Parameter.empty and one.name not in named
        for one in parameters
    )


def settle(value: Any) -> Any:
    """The value itself, or what an awaitable gives."""
    if not inspect.isawaitable(value):
        return value
    import asyncio  # only async agents pay

    from agenteval_kit.models.background import run_apart  # as asyncio

    left: list[BaseException] = []

    async def wait() -> Any:
        try:
            return await value
        except (Exception, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:
            # Within a task, sys.exit would end the loop, and whoever waits would wait for ever.
            left.append(error)

    settled = run_apart(wait(), loop="agents")
    if left:
        raise left[0]
    return settled


def _accepted(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return dict(offered)
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes = {one.name for one in parameters if one.kind in by_name}
    return {name: value for name, value in offered.items() if name in takes}
