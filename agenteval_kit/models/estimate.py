"""What a set of requests will cost, told before anything is paid for.

May not ask a model. Tokens are guessed from characters; what has no price stays unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from agenteval_kit.models.chat import ChatModel, ChatRequest
from agenteval_kit.models.prices import Price
from agenteval_kit.models.tape import Tape, TapeModel
from agenteval_kit.text import counted

__all__ = ["CHARACTERS_A_TOKEN", "TOKENS_A_REPLY", "CallEstimate", "estimate_requests"]

CHARACTERS_A_TOKEN = 4
TOKENS_A_REPLY = 200


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """What is still to be asked.

    Attributes
    ----------
    calls, on_tape : int
        Requests that would be sent, and those whose reply is on the tape.
    tokens : int
        Of the calls: what is sent, from its length, and 200 a reply.
    usd : float or None
        None where a model's price is unknown.
    """

    calls: int
    on_tape: int
    tokens: int
    usd: float | None

    def text(self) -> str:
        """The estimate in one line."""
        cost = "price unknown" if self.usd is None else f"about {self.usd:.2f} US dollars"
        taped = f", {self.on_tape} more on the tape" if self.on_tape else ""
        return f"{counted(self.calls, 'call')}{taped}; about {self.tokens:,} tokens, {cost}"


def estimate_requests(
    requests: Iterable[tuple[ChatModel, ChatRequest]], tape: Tape
) -> CallEstimate:
    """Count what would be asked of each model."""
    calls = on_tape = tokens = 0
    usd: float | None = 0.0
    for model, request in requests:
        key = request.digest()
        if key in tape or (isinstance(model, TapeModel) and key in model.tape):
            on_tape += 1
            continue
        calls += 1
        asked = len(json.dumps(request.messages)) // CHARACTERS_A_TOKEN
        tokens += asked + TOKENS_A_REPLY
        price = getattr(model, "price", None)
        cost = price.cost(asked, TOKENS_A_REPLY) if isinstance(price, Price) else None
        usd = None if usd is None or cost is None else usd + cost
    return CallEstimate(calls, on_tape, tokens, usd)
