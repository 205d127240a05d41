"""What an agent is asked and what it answers, as plain values; and the protocols around it.

May not call anything: `agenteval_kit.agents` holds the agents, `agenteval_kit.simulate` talks
to them, and both stand on this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agenteval_kit.records import AgentStamps, Case, Scenario, Transcript, Usage

__all__ = ["Agent", "AgentReply", "Environment", "Item", "Tool", "without_expectations"]

Item = Case | Scenario


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What an agent added to the conversation when it was its turn.

    Attributes
    ----------
    messages : tuple of dict
        OpenAI chat messages: assistant messages with their tool calls, tool replies, the final
        assistant message. Not the messages that the agent was given.
    output : object
        The structured record, if the agent returns one.
    state : dict or None
        What the agent or its environment exposes now.
    events : tuple of dict or str
        Everything that the environment says has happened in this conversation so far.
    sources : tuple of dict
        Retrieved passages: ``id`` and ``text``.
    usage : Usage
        Tokens and calls of this reply.
    cost_usd : float or None
        None is unknown, not 0.
    model_served : str or None
        The model name in the provider's reply.
    seconds : float or None
        Where the agent knows better than a stopwatch (a reply from the tape).
    notes : tuple of str
        What had to be learnt on the way ("temperature refused, dropped").
    transcript : Transcript or None
        The whole conversation, where the agent brings one along: it then ends there.
    """

    messages: tuple[dict[str, Any], ...] = ()
    output: Any = None
    state: dict[str, Any] | None = None
    events: tuple[dict[str, Any] | str, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    model_served: str | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    transcript: Transcript | None = None


class Agent(Protocol):
    """An agent of any kind, behind one call.

    Attributes
    ----------
    name : str
        For people.
    stamps : AgentStamps
        Which agent this is.
    notes : tuple of str
        What a person should know of it ("model not pinned").
    said : tuple of dict
        The messages of the reply that is being made; what is left of it when it fails.
    plays_back : bool
        Whether it brings whole conversations along and wants no input.
    shares_state : bool
        Whether two conversations at once would meet in it; then they run one after the other.
    timeout : float or None
        Seconds within which it says itself that a reply must come; None where it sees to that.
    """

    name: str
    stamps: AgentStamps
    notes: tuple[str, ...]
    said: tuple[dict[str, Any], ...]
    plays_back: bool
    shares_state: bool
    timeout: float | None

    def fresh(self) -> Agent:
        """The same agent with a state of its own: what one conversation talks to."""
        ...

    def reset(self, case: Item, *, now: datetime | None = None) -> None:
        """Forget the conversation before and set the stage for this one."""
        ...

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, now: datetime, case: Item, repeat: int = 0
    ) -> AgentReply:
        """Answer the conversation so far.

        Raises
        ------
        InfrastructureError
            The provider or the network failed.
        ConfigError
            Something that a person can mend: a key, a model name, a file.
        Exception
            Anything else is the agent's own failure.
        """
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of an environment.

    Attributes
    ----------
    name, description : str
        As the model reads them.
    parameters : dict
        JSON Schema of the arguments.
    function : callable
        Called with the arguments by name; sync or async. What it returns is shown to the model
        as it is (text) or as JSON; what it raises as ``error: ...``.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]

    def definition(self) -> dict[str, Any]:
        """The tool as an OpenAI tool definition."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }


class Environment(Protocol):
    """The world that an agent's tools act on; made anew for every conversation.

    It may also have ``sources() -> list of {id, text}``.
    """

    tools: Sequence[Tool]

    def reset(self, case: Item, now: datetime) -> None:
        """Set the stage for one case: its ``state``, its clock."""
        ...

    def state(self) -> dict[str, Any]:
        """What `final_state` reads."""
        ...

    def events(self) -> Sequence[dict[str, Any] | str]:
        """What `markers` read, in order."""
        ...


def without_expectations(item: Item) -> Item:
    """The case as the agent may see it: what it is asked, not what is expected of it.

    An agent that could read its own checks could pass them without doing the work.
    """
    seen = {"id", "clock", "state"}
    seen |= {"input", "messages", "thread"} if isinstance(item, Case) else {"opening"}
    fields = {name: getattr(item, name) for name in seen & item.model_fields_set}
    if isinstance(item, Case):
        return Case(**fields)
    return Scenario(**fields, user={"script": []})
