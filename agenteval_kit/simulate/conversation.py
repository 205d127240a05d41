"""One conversation of one case under its clock: from an agent and a user to a transcript.

May not read the wall clock but as a stopwatch, may not write, and may not know what kind of
agent it talks to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agenteval_kit.errors import ConfigError, InfrastructureError, QuotaExhausted
from agenteval_kit.files import canonical_json
from agenteval_kit.models.agent import Agent, Item
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.records import (
    Failure,
    Scenario,
    Source,
    Transcript,
    Turn,
    Usage,
    parse_messages,
)
from agenteval_kit.simulate.asking import Asker, Talk, describe_failure
from agenteval_kit.simulate.played import PlayedUser
from agenteval_kit.simulate.users import Said, ScriptedUser, User, matches

__all__ = ["converse", "first_messages", "sources_of"]


def converse(
    agent: Agent,
    item: Item,
    *,
    now: datetime,
    repeat: int = 0,
    user_model: ChatModel | None = None,
    source_tools: Sequence[str] = (),
    timeout: float | None = None,
) -> Transcript:
    """Hold the conversation of one case or scenario and give its transcript.

    The agent is asked through a `fresh()` one that is reset first, so that nothing of another
    case is left in it. What the agent raises becomes a `Failure` of the transcript, with the
    turns so far.

    Parameters
    ----------
    agent : Agent
        From `agenteval_kit.agents.load_agent`.
    item : Case or Scenario
        A case gets one reply; a scenario a conversation.
    now : datetime.datetime
        The case's clock, with offset.
    repeat : int
        Which repeat this is, from 0.
    user_model : ChatModel, optional
        Plays the user of a scenario with ``user: {simulate: ...}``.
    source_tools : sequence of str
        Tools whose results are the retrieved passages of the transcript.
    timeout : float, optional
        Seconds within which each reply of the agent must come; by default the agent's own limit.

    Raises
    ------
    ConfigError
        If the agent or the case is not usable as it is written; nothing was evaluated.
    QuotaExhausted, BudgetReached, UserInterrupt
        The run is to stop here, resumably.
    """
    if now.tzinfo is None:
        raise ConfigError(f'the clock of "{item.id}" has no offset: {now.isoformat()}')
    talk = Talk(first_messages(item))
    if not talk.messages and not agent.plays_back:
        raise ConfigError(
            f'case "{item.id}" has neither input nor messages, so there is nothing to ask; '
            "add input"
        )
    user = None
    if isinstance(item, Scenario) and not agent.plays_back:
        user = _user(item, now=now, repeat=repeat, model=user_model)
    own = agent.fresh()
    asker = Asker(own, item, now, repeat, agent.timeout if timeout is None else timeout)
    if asker.start(talk) and asker.ask(talk) and user is not None and talk.whole is None:
        assert isinstance(item, Scenario)
        _play(item, talk, asker, user)
    if talk.whole is not None:
        return _whole(talk.whole, own, item, now=now, repeat=repeat, source_tools=source_tools)
    made = _transcript(talk, own, item, now=now, repeat=repeat, source_tools=source_tools)
    if isinstance(user, PlayedUser):
        played = {"user_model": user.model.name, **_total(user.usage).model_dump()}
        made = made.model_copy(update={"extra": {**(made.extra or {}), "user": played}})
    return made


def first_messages(item: Item) -> list[dict[str, Any]]:
    """What the agent finds before its first reply: the thread, then the input or the opening."""
    if isinstance(item, Scenario):
        return [{"role": "user", "content": item.opening}]
    thread = item.thread
    if isinstance(thread, Mapping):
        thread = thread.get("messages")
    earlier = [_message(one) for one in thread] if isinstance(thread, list) else []
    if item.messages is not None:
        return earlier + [_message(one) for one in item.messages]
    if item.input is None:
        return earlier
    text = item.input if isinstance(item.input, str) else canonical_json(item.input)
    return [*earlier, {"role": "user", "content": text}]


def _message(raw: Any) -> dict[str, Any]:
    if isinstance(raw, Mapping) and isinstance(raw.get("role"), str):
        return dict(raw)
    # An earlier message in a shape of one's own is still something that was said.
    return {"role": "user", "content": raw if isinstance(raw, str) else canonical_json(raw)}


def _user(item: Scenario, *, now: datetime, repeat: int, model: ChatModel | None) -> User:
    if item.user.script is not None:
        return ScriptedUser(item)
    if model is None:
        raise ConfigError(
            f'scenario "{item.id}" lets a model play the user, and none is named; name one, or '
            "write user: {script: [...]}"
        )
    return PlayedUser(item, model, now, repeat)


def _play(item: Scenario, talk: Talk, asker: Asker, user: User) -> None:
    while True:
        if item.user.stop_when is not None and matches(item.user.stop_when, talk.last_text):
            talk.stop = "goal_reached"
            return
        if len(talk.messages) >= item.max_turns:
            talk.stop = "turn_budget"
            return
        said = _say(user, talk)
        if said.text is None:
            talk.stop = said.stop
            if said.fault:
                talk.failure = Failure(kind="simulator", type="SimulatorFault", message=said.fault)
            return
        talk.messages.append({"role": "user", "content": said.text})
        if not asker.ask(talk) or talk.whole is not None:
            return


def _say(user: User, talk: Talk) -> Said:
    try:
        return user.next(talk.messages, talk.last_text)
    except QuotaExhausted:
        raise
    except InfrastructureError as error:
        talk.failure = describe_failure(error, "infrastructure")
        return Said(None, "infrastructure")


def _transcript(
    talk: Talk, agent: Agent, item: Item, *, now: datetime, repeat: int, source_tools: Sequence[str]
) -> Transcript:
    parsed = parse_messages(talk.messages)
    turns = tuple(_with_errors(turn) for turn in parsed.turns)
    made = Transcript(
        case_id=item.id,
        repeat=repeat,
        turns=turns,
        output=talk.output,
        state=talk.state,
        events=tuple(talk.events),
        sources=tuple(talk.sources),
        findings=parsed.findings,
        system=parsed.system,
        now=now.isoformat(),
        stop=talk.stop,
        failure=talk.failure,
        usage=_total(talk.usage),
        cost_usd=_cost(talk.costs),
        seconds=round(talk.seconds, 4),
        stamps=agent.stamps.model_copy(update={"model_served": talk.served}),
        tags=item.tags,
        extra={"notes": list(talk.notes)} if talk.notes else None,
    )
    return _with_sources(made, source_tools)


def _whole(
    found: Transcript, agent: Agent, item: Item, *, now: datetime, repeat: int,
    source_tools: Sequence[str],
) -> Transcript:  # fmt: skip
    update: dict[str, Any] = {"case_id": item.id, "repeat": repeat, "stamps": agent.stamps}
    if found.now is None:
        update["now"] = now.isoformat()
    if not found.tags:
        update["tags"] = item.tags
    return _with_sources(found.model_copy(update=update), source_tools)


def _with_sources(transcript: Transcript, tools: Sequence[str]) -> Transcript:
    found = sources_of(transcript, tools)
    if not found:
        return transcript
    return transcript.model_copy(update={"sources": (*transcript.sources, *found)})


def _with_errors(turn: Turn) -> Turn:
    if not any(
        call.result is not None and call.result.startswith("error: ") for call in turn.calls
    ):
        return turn
    calls = tuple(
        call.model_copy(update={"error": call.result.removeprefix("error: ")})
        if call.result is not None and call.result.startswith("error: ")
        else call
        for call in turn.calls
    )
    return turn.model_copy(update={"calls": calls})


def sources_of(transcript: Transcript, tools: Sequence[str]) -> tuple[Source, ...]:
    """The retrieved passages: the results of `tools`, one by one where a result lists them.

    A result that is a JSON list of objects with a text, or an object with such a list, gives a
    source each, under its own id where it has one; any other result is one source.
    """
    wanted = frozenset(tools)
    found: list[Source] = []
    for _, call in transcript.calls():
        if call.name not in wanted or call.result is None or call.result.startswith("error: "):
            continue
        passages = _passages(call.result)
        for index, (name, text) in enumerate(passages or [(None, call.result)]):
            own = call.id if passages is None or len(passages) == 1 else f"{call.id}.{index}"
            found.append(Source(id=name or own, text=text, turn=call.result_turn))
    return tuple(found)


def _passages(result: str) -> list[tuple[str | None, str]] | None:
    if result[:1] not in "[{":
        return None
    try:
        value = json.loads(result)
    except ValueError:
        return None
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        value = lists[0] if len(lists) == 1 else [value]
    found: list[tuple[str | None, str]] = []
    for item in value:
        if not isinstance(item, dict):
            return None
        text = next(
            (item[key] for key in ("text", "content", "passage", "body", "snippet")
             if isinstance(item.get(key), str)), None,
        )  # fmt: skip
        if text is None:
            return None
        name = next(
            (item[key] for key in ("id", "section", "source", "title")
             if isinstance(item.get(key), str | int)), None,
        )  # fmt: skip
        found.append((None if name is None else str(name), text))
    return found or None


def _total(parts: Sequence[Usage]) -> Usage:
    def add(name: str) -> int | None:
        values = [getattr(part, name) for part in parts if part.calls]
        return None if not values or None in values else sum(values)

    return Usage(
        calls=sum(part.calls for part in parts),
        input_tokens=add("input_tokens"),
        output_tokens=add("output_tokens"),
        from_tape=sum(part.from_tape for part in parts),
    )


def _cost(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    # One unknown makes the sum unknown: it is not 0.
    return sum(known) if costs and len(known) == len(costs) else None
