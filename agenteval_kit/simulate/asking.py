"""Asks an agent for one reply; whatever goes wrong becomes a failure with the turns so far.

May not decide what is said next: the user does.
"""

from __future__ import annotations

import contextvars
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agenteval_kit.errors import ConfigError, QuotaExhausted
from agenteval_kit.models.agent import Agent, AgentReply, Item
from agenteval_kit.models.blame import blame_of
from agenteval_kit.models.secrets import scrub, without_paths
from agenteval_kit.records import Event, Failure, Source, Transcript, Usage
from agenteval_kit.simulate.users import text_of

__all__ = ["Asker", "Talk", "describe_failure"]

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class _Late(Exception):
    """The agent did not answer in time."""


@dataclass(slots=True)
class Talk:
    """What has come together of a conversation so far."""

    messages: list[dict[str, Any]]
    output: Any = None
    state: dict[str, Any] | None = None
    events: list[Event] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    seconds: float = 0.0
    served: str | None = None
    notes: dict[str, None] = field(default_factory=dict)
    stop: str = "answered"
    failure: Failure | None = None
    whole: Transcript | None = None

    @property
    def last_text(self) -> str:
        """What the agent said last."""
        for message in reversed(self.messages):
            if message.get("role") == "assistant":
                return text_of(message)
        return ""


@dataclass(slots=True)
class Asker:
    """Asks one agent in one conversation.

    Attributes
    ----------
    agent : Agent
        A fresh one.
    timeout : float or None
        Seconds a reply. An agent that is late is left behind in a daemon thread: Python has no
        way to stop it.
    """

    agent: Agent
    item: Item
    now: datetime
    repeat: int
    timeout: float | None

    def start(self, talk: Talk) -> bool:
        """Reset the agent; False if that failed."""
        return self._guard(talk, lambda: self.agent.reset(self.item, now=self.now)) is not _FAILED

    def ask(self, talk: Talk) -> bool:
        """Get one reply and add it to the talk; False if there is none and the talk is over.

        Raises
        ------
        ConfigError
            A key, a model name, a file is wrong.
        QuotaExhausted, BudgetReached, UserInterrupt
            The run is to stop here.
        """
        before = time.perf_counter()
        reply = self._guard(
            talk,
            lambda: self.agent.reply(
                tuple(talk.messages), now=self.now, case=self.item, repeat=self.repeat
            ),
        )
        took = time.perf_counter() - before
        if reply is _FAILED:
            talk.seconds += took
            talk.messages.extend(self.agent.said)
            return False
        assert isinstance(reply, AgentReply)
        talk.seconds += took if reply.seconds is None else reply.seconds
        _add(talk, reply)
        return True

    def _guard(self, talk: Talk, call: Callable[[], Any]) -> Any:
        try:
            return call() if self.timeout is None else _within(self.timeout, call)
        except _Late:
            talk.stop = "agent_timeout"
            talk.failure = Failure(
                kind="timeout",
                type="Timeout",
                message=f"the agent did not answer within {self.timeout:g} s",
            )
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            blame = blame_of(error)
            if blame in ("stop", "config", "quota"):
                _pass_on(error, blame)
            infrastructure = blame == "infrastructure"
            talk.stop = "infrastructure" if infrastructure else "agent_error"
            talk.failure = describe_failure(error, "infrastructure" if infrastructure else "agent")
        return _FAILED


_FAILED = object()


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    box: list[Any] = []
    context = contextvars.copy_context()

    def work() -> None:
        try:
            box.append((True, context.run(call)))
        except BaseException as error:
            box.append((False, error))

    thread = threading.Thread(target=work, name="agenteval-agent", daemon=True)
    thread.start()
    thread.join(seconds)
    if not box:
        raise _Late
    good, value = box[0]
    if good:
        return value
    raise value


def _pass_on(error: BaseException, blame: str) -> None:
    ours = (ConfigError, QuotaExhausted)
    if blame == "stop" or isinstance(error, ours):
        raise error
    text = scrub(f"{type(error).__name__}: {error}")
    if blame == "quota":
        raise QuotaExhausted(
            f"the agent's provider says that the quota is used up ({text}); run the same command "
            "when it is filled again"
        ) from error
    raise ConfigError(
        f"the agent's provider refused the key or the model name ({text}); check the key's "
        "variable, the model and the base URL"
    ) from error


def _add(talk: Talk, reply: AgentReply) -> None:
    if reply.transcript is not None:
        talk.whole = reply.transcript
        return
    talk.messages.extend(reply.messages)
    turn = sum(message.get("role") not in ("system", "developer") for message in talk.messages) - 1
    if reply.output is not None:
        talk.output = reply.output
    if reply.state is not None:
        talk.state = reply.state
    # An environment tells all that happened; what is new happened in this reply.
    for raw in reply.events[len(talk.events) :]:
        talk.events.append(_event(raw, turn))
    talk.sources = [_source(raw, index) for index, raw in enumerate(reply.sources)]
    talk.usage.append(reply.usage)
    talk.costs.append(reply.cost_usd)
    talk.served = reply.model_served or talk.served
    talk.notes.update(dict.fromkeys(reply.notes))


def _event(raw: Any, turn: int) -> Event:
    if not isinstance(raw, Mapping):
        return Event(name=str(raw), turn=turn)
    named = raw.get("name") or raw.get("event") or raw.get("type") or "unnamed"
    given = raw.get("data")
    rest = {str(key): item for key, item in raw.items() if key not in ("name", "turn", "data")}
    data = dict(given) if isinstance(given, Mapping) else rest or None
    return Event(name=str(named), turn=_turn(raw.get("turn"), turn), data=data)


def _source(raw: Any, index: int) -> Source:
    if not isinstance(raw, Mapping):
        return Source(id=str(index), text=str(raw))
    name, text = raw.get("id", index), raw.get("text", "")
    return Source(id=str(name), text=str(text), turn=_turn(raw.get("turn"), None))


def _turn(value: Any, otherwise: int | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def describe_failure(error: BaseException, kind: Literal["agent", "infrastructure"]) -> Failure:
    """An exception as a failure: its traceback names files without this machine's folders."""
    told = traceback.TracebackException.from_exception(error, limit=-30)
    seen: set[int] = set()
    found: traceback.TracebackException | None = told
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        frames = list(found.stack)
        while len(frames) > 1 and frames[0].filename.startswith(_PACKAGE):
            del frames[0]
        for frame in frames:
            _ = frame.line  # read from the file while its name is whole
            frame.filename = Path(frame.filename).name
        found.stack[:] = frames
        found = found.__cause__ or found.__context__
    return Failure(
        kind=kind,
        type=type(error).__name__,
        message=without_paths(scrub(str(error)))[:4000],
        traceback=without_paths(scrub("".join(told.format())))[-20000:],
    )
