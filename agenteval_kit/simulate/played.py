"""A user that a model plays from persona, goal and known facts; and what it may not do.

May not be charged to the agent: what the simulator gets wrong is its own fault, and is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest, ModelError
from agenteval_kit.models.template import fill
from agenteval_kit.models.wire import sound_text
from agenteval_kit.records import Scenario, Usage
from agenteval_kit.simulate.users import Said, text_of
from agenteval_kit.text import fold

__all__ = ["PlayedUser", "invented"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string"},
        "done": {"type": "boolean"},
        "reason": {"type": "string", "enum": ["going_on", "goal_reached", "gave_up"]},
    },
    "required": ["say", "done", "reason"],
    "additionalProperties": False,
}
ATTEMPTS = 2

_OUT_OF_ROLE = re.compile(
    r"\b(?:as an ai|an ai (?:language )?model|language model|ai assistant|simulated (?:user|"
    r"customer)|my persona|system prompt|my instructions (?:are|say)|"
    r"how (?:can|may) i (?:help|assist) you)\b"
)
_ASKS_FOR_MORE = re.compile(r"\b(?:else|further|more questions|other questions)\b")
_FIGURE = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[a-z]*[-_#]?\d[\w./:-]*")


@cache
def _template() -> str:
    return files("agenteval_kit").joinpath("prompts/user.md").read_text(encoding="utf-8")


@dataclass(slots=True)
class PlayedUser:
    """A model in the role of the user.

    A reply is thrown away and asked for once more if it cannot be read; after that, and at once
    if it invents a fact, leaves its role or stops while the agent waits, it is a fault.
    """

    scenario: Scenario
    model: ChatModel
    now: datetime
    repeat: int
    usage: list[Usage] = field(default_factory=list)

    def __post_init__(self) -> None:
        missing = [name for name in ("persona", "goal") if not getattr(self.scenario, name)]
        if missing:
            raise ConfigError(
                f'scenario "{self.scenario.id}" lets a model play the user, which wants '
                f"{' and '.join(missing)}; add {'them' if len(missing) > 1 else 'it'}"
            )

    def next(self, messages: Sequence[Mapping[str, Any]], last_text: str) -> Said:
        """What the model says for the user, or why the conversation ends.

        Raises
        ------
        InfrastructureError, ConfigError
            As the model raises them.
        """
        limit = self.scenario.user.simulate
        assert limit is not None
        if sum(one.get("role") == "user" for one in messages) >= limit.max_turns:
            return Said(None, "turn_budget")
        read: dict[str, Any] | None = None
        trouble = ""
        for attempt in range(ATTEMPTS):
            try:
                reply = self.model.complete(self._request(messages, attempt))
            except ModelError as error:
                return _fault(f"the simulated user could not be asked: {error}")
            self._count(reply)
            read, trouble = _read(reply)
            if read is not None:
                break
        if read is None:
            return _fault(f"the simulated user's reply could not be read: {trouble}")
        return self._judge(read, messages, last_text)

    def _judge(
        self, read: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], last_text: str
    ) -> Said:
        say = sound_text(read["say"]).strip()
        found = _OUT_OF_ROLE.search(fold(say))
        if found is not None:
            return _fault(f'the simulated user left its role: "{found[0]}"')
        foreign = invented(say, [*self._facts(), *map(text_of, messages)])
        if foreign:
            return _fault(f"the simulated user stated what it cannot know: {', '.join(foreign)}")
        if not read["done"]:
            if say:
                return Said(say)
            return _fault("the simulated user said nothing and did not end the conversation")
        if read["reason"] == "gave_up":
            return Said(None, "user_stopped")
        waits = last_text.rstrip().endswith("?") and not _ASKS_FOR_MORE.search(fold(last_text))
        if waits:
            return _fault("the simulated user stopped early: the agent had asked a question")
        return Said(None, "goal_reached")

    def _facts(self) -> Iterator[str]:
        one = self.scenario
        yield from (one.persona or "", one.goal or "", one.opening, self.now.isoformat())
        yield from _leaves(one.known)

    def _request(self, messages: Sequence[Mapping[str, Any]], attempt: int) -> ChatRequest:
        one = self.scenario
        system = fill(
            _template(),
            {
                "persona": (one.persona or "").strip(),
                "goal": (one.goal or "").strip(),
                "known": json.dumps(one.known, ensure_ascii=False, indent=1, sort_keys=True),
                "now": f"{self.now.isoformat()} ({self.now.strftime('%A')})",
            },
        )
        # One JSON object a line: no text of the agent can end its line and speak for the user.
        lines = []
        for said in messages:
            text = text_of(said) if said.get("role") in ("user", "assistant") else ""
            if text:
                who = "you" if said["role"] == "user" else "agent"
                lines.append(json.dumps({"who": who, "text": text}, ensure_ascii=False))
        return ChatRequest(
            model=self.model.name,
            endpoint=self.model.endpoint,
            messages=(
                {"role": "system", "content": system},
                {"role": "user", "content": "\n".join(lines)},
            ),
            schema=SCHEMA,
            repeat=self.repeat,
            attempt=attempt,
        )

    def _count(self, reply: ChatReply) -> None:
        self.usage.append(
            Usage(
                calls=1,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                from_tape=int(reply.from_tape),
            )
        )


def _fault(why: str) -> Said:
    return Said(None, "simulator_fault", why)


def _read(reply: ChatReply) -> tuple[dict[str, Any] | None, str]:
    if reply.refusal is not None:
        return None, f"it refused to play ({reply.refusal[:100]})"
    if reply.finish == "length":
        return None, "it was cut at the token limit"
    decoder = json.JSONDecoder()
    text = reply.text
    for start in (place.start() for place in re.finditer(r"\{", text)):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if (
            isinstance(value, dict)
            and isinstance(value.get("say"), str)
            and isinstance(value.get("done"), bool)
        ):
            reasons = SCHEMA["properties"]["reason"]["enum"]
            reason = value.get("reason")
            if reason not in reasons:
                reason = "goal_reached" if value["done"] else "going_on"
            return {"say": value["say"], "done": value["done"], "reason": reason}, ""
    return None, f"it holds no object with say and done: {text[:100]!r}"


def invented(say: str, facts: Sequence[str]) -> list[str]:
    """Figures, identifiers and e-mail addresses in `say` that stand in none of the facts.

    Single digits and words for numbers are let pass. A part of a fact is known with it: of
    ``2026-03-12`` also ``12``; separators and leading zeros do not count.
    """
    known: set[str] = set()
    for fact in facts:
        for token in _tokens(fact):
            known.add(_bare(token))
            known.update(_bare(part) for part in re.split(r"[^\w]|_", token))
    found: list[str] = []
    for token in _tokens(say):
        bare = _bare(token)
        parts = [_bare(part) for part in re.split(r"[^\w]|_", token) if part]
        if len(bare) < 2 or bare in known or all(part in known for part in parts):
            continue
        found.append(token)
    return found


def _tokens(text: str) -> list[str]:
    return [token.strip(".:/-") for token in _FIGURE.findall(fold(text))]


def _bare(token: str) -> str:
    if re.fullmatch(r"\d+\.\d+", token):
        token = token.rstrip("0")
    bare = re.sub(r"[\W_]", "", token)
    # "12th" and "12" are the same day.
    bare = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", bare)
    return bare.lstrip("0") or bare[-1:]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield str(value)
