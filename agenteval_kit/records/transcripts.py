"""What happened: a transcript is a plain value, whoever or whatever produced it.

May not judge it: checks and judges do.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt

__all__ = [
    "FINDINGS",
    "STOP_REASONS",
    "AgentStamps",
    "Event",
    "Failure",
    "Finding",
    "Source",
    "ToolCall",
    "Transcript",
    "Turn",
    "Usage",
]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _whole(value: Any) -> Any:
    # Some writers of JSON know no whole numbers.
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Strict: true is no number, and a negative cost would pass any limit.
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Reward = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count = Annotated[StrictInt, BeforeValidator(_whole), Field(ge=0)]

FINDINGS: dict[str, str] = {
    "malformed_arguments": "a tool call's arguments are not one JSON object",
    "duplicate_argument_keys": "a tool call's arguments name a key twice; the last one counts",
    "content_parts": "a message's content is a list of parts; its text was joined",
    "no_content": "an agent message has neither text, nor a tool call, nor a refusal",
    "refusal": "the model returned a refusal in place of an answer",
    "reasoning_hidden": "reasoning parts were left out: they are not the answer",
    "replies_out_of_order": "the replies to parallel calls came in another order",
    "reply_without_id": "a tool's reply names no call; it was matched by name and order",
    "orphan_reply": "a tool's reply answers no call of this transcript",
    "unanswered_call": "a tool call has no reply",
    "empty_transcript": "no turn at all",
    "user_turns_in_a_row": "two user turns without an agent turn between them",
    "unknown_role": "a message has a role that is not user, assistant, tool or system",
}
"""The named states that a message list can be in; each is told, none is a crash."""

STOP_REASONS: dict[str, str] = {
    "answered": "the agent answered a single question",
    "goal_reached": "the user said that the goal was reached",
    "user_stopped": "the user ended the conversation",
    "script_exhausted": "the scripted user had nothing more to say",
    "turn_budget": "the conversation reached its limit of turns",
    "agent_error": "the agent raised an error",
    "agent_timeout": "the agent did not answer in time",
    "simulator_fault": "the simulated user broke its role or invented a fact",
    "infrastructure": "the provider or the network failed",
    "recorded": "read from a recording",
}


class ToolCall(BaseModel):
    """One call of a tool, with its reply where there is one.

    `arguments` is None when they were malformed; then `raw` holds what came and `malformed`
    says why. `result` is None when no reply came; `result_turn` is the turn of the reply.
    """

    model_config = FROZEN

    id: str
    name: str
    arguments: dict[str, Any] | None = None
    raw: str | None = None
    malformed: str | None = None
    result: str | None = None
    result_turn: int | None = None
    error: str | None = None


class Turn(BaseModel):
    """One message; its index in `Transcript.turns` is the turn number, from 0."""

    model_config = FROZEN

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    reply_to: str | None = None
    name: str | None = None


class Finding(BaseModel):
    """A named state of the messages (see `FINDINGS`), with its turn."""

    model_config = FROZEN

    state: str
    turn: int | None = None
    detail: str = ""


class Event(BaseModel):
    """Something that the agent's environment says happened; `markers` read the names."""

    model_config = FROZEN

    name: str
    turn: int | None = None
    data: dict[str, Any] | None = None


class Source(BaseModel):
    """A retrieved passage that the answer may rest on."""

    model_config = FROZEN

    id: str
    text: str
    turn: int | None = None


class Usage(BaseModel):
    """Tokens and calls; None means unknown, which is not 0."""

    model_config = FROZEN

    calls: Count = 0
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    from_tape: Count = 0


class Failure(BaseModel):
    """What was raised while the transcript was made.

    `kind` is "agent" (the agent's own failure: a failed case), "timeout" (the same) or
    "infrastructure" (unscored: the agent is not to blame) or "simulator" (unscored).
    """

    model_config = FROZEN

    kind: Literal["agent", "timeout", "infrastructure", "simulator"]
    type: str
    message: str
    traceback: str = ""


class AgentStamps(BaseModel):
    """Which agent produced a transcript.

    `model` is what was asked for, `model_served` what the reply named. `prompt` is a person's
    name of the version; `prompt_digest` and `source_digest` are over the contents.
    """

    model_config = FROZEN

    model: str
    prompt: str
    model_served: str | None = None
    prompt_digest: str | None = None
    source_digest: str | None = None
    parameters: dict[str, Any] | None = None
    origin: str | None = None


class Transcript(BaseModel):
    """One conversation of one case and repeat, complete enough to be scored anywhere.

    Attributes
    ----------
    turns : tuple of Turn
        A turn's index is its message's position with the system message left out and tool
        results counted.
    output : object
        The structured record that the agent returned, if any.
    state, events
        What the agent's environment exposes at the end.
    sources : tuple of Source
        The retrieved passages.
    reward : float or None
        A reward that a recording brought along; it may be negative.
    now : str or None
        The case's clock, ISO 8601 with offset.
    seconds : float or None
        Wall time of the agent; None where a recording does not say.
    """

    model_config = FROZEN

    case_id: str
    repeat: Count = 0
    turns: tuple[Turn, ...] = ()
    output: Any = None
    state: dict[str, Any] | None = None
    events: tuple[Event, ...] = ()
    sources: tuple[Source, ...] = ()
    findings: tuple[Finding, ...] = ()
    reward: Reward | None = None
    system: str | None = None
    now: str | None = None
    stop: str = "answered"
    failure: Failure | None = None
    usage: Usage = Usage()
    cost_usd: Amount | None = None
    seconds: Amount | None = None
    stamps: AgentStamps | None = None
    tags: tuple[str, ...] = ()
    extra: dict[str, Any] | None = None

    @property
    def answer(self) -> str:
        """The final answer: the text of the last agent turn, or "" if there is none."""
        for turn in reversed(self.turns):
            if turn.role == "assistant" and (turn.text or turn.refusal):
                return turn.text or turn.refusal or ""
        return ""

    @property
    def answer_turn(self) -> int | None:
        """The index of the turn that `answer` is read from."""
        for index in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[index]
            if turn.role == "assistant" and (turn.text or turn.refusal):
                return index
        return None

    def calls(self) -> list[tuple[int, ToolCall]]:
        """Every tool call in order, with the turn that made it; parallel calls count each."""
        return [(index, call) for index, turn in enumerate(self.turns) for call in turn.calls]
