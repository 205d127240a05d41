"""What is asked of a chat model and what it answers, as plain values; and the one protocol.

May not talk to anything: openai, scripted and tape models do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from agenteval_kit.errors import AgentEvalError
from agenteval_kit.files import digest

__all__ = ["ChatModel", "ChatReply", "ChatRequest", "ModelError"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that can change a model's answer, and so everything the digest covers.

    Attributes
    ----------
    model : str
        The requested model name.
    endpoint : str
        Scheme-less host and path of the server ("" for in-process models); never a key, never
        user info, never a query.
    messages : tuple of dict
        OpenAI chat messages.
    tools : tuple of dict
        OpenAI tool definitions.
    schema : dict or None
        JSON Schema of the wanted reply, if structured.
    parameters : dict
        temperature, max_tokens, and so on.
    seat, repeat, order, attempt
        What makes two otherwise equal requests different samples: panel seat, repeat of the
        case, position order of a pair, and which attempt at a usable reply.
    """

    model: str
    messages: tuple[dict[str, Any], ...]
    endpoint: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    schema: dict[str, Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    seat: int = 0
    repeat: int = 0
    order: int = 0
    attempt: int = 0

    def digest(self) -> str:
        """Digest of the request: the key of the tape."""
        return digest(
            {
                "model": self.model,
                "endpoint": self.endpoint,
                "messages": list(self.messages),
                "tools": list(self.tools),
                "schema": self.schema,
                "parameters": self.parameters,
                "seat": self.seat,
                "repeat": self.repeat,
                "order": self.order,
                "attempt": self.attempt,
            }
        )


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model answered.

    Attributes
    ----------
    message : dict
        The assistant message as it came (role, content, tool_calls, refusal).
    finish : str or None
        stop, length, tool_calls, content_filter, or None where the server does not say.
    model : str or None
        The model name in the reply.
    input_tokens, output_tokens : int or None
        None is unknown, not 0.
    seconds : float or None
        Wall time of the request that produced it (kept through the tape).
    from_tape : bool
        Whether it was read rather than asked for.
    notes : tuple of str
        What had to be learnt on the way ("temperature refused, dropped").
    """

    message: dict[str, Any]
    finish: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    from_tape: bool = False
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the message, "" when there is none."""
        content = self.message.get("content")
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            return "\n".join(
                part["text"]
                for part in content
                if isinstance(part, dict) and isinstance(part.get("text"), str)
            )
        return ""

    @property
    def refusal(self) -> str | None:
        """The refusal, where the model returned one in place of an answer."""
        refusal = self.message.get("refusal")
        return refusal if isinstance(refusal, str) and refusal else None


class ChatModel(Protocol):
    """A model that answers chat requests; synchronous outside, whatever it is inside.

    `name` and `endpoint` are stamps. `complete` may be called from several threads at once.
    """

    name: str
    endpoint: str

    def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request.

        Raises
        ------
        InfrastructureError
            The provider or the network failed after all retries.
        ConfigError
            A key or a model name is wrong (401, 403, 404).
        """
        ...


class ModelError(AgentEvalError):
    """The server refused the request itself (400, 422): too long, or malformed by whoever asked.

    Neither the network nor the configuration is to blame; it is charged to whoever built the
    request.
    """
