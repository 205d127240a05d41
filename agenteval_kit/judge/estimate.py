"""What judging will cost, told before anything is paid for.

May not ask a judge. Tokens are guessed from characters; what has no price stays unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from agenteval_kit.judge.question import Pending
from agenteval_kit.models.prices import Price
from agenteval_kit.models.tape import Tape

__all__ = ["JudgeEstimate", "estimate_calls"]

CHARACTERS_A_TOKEN = 4
TOKENS_A_REPLY = 200


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What is still to be asked.

    Attributes
    ----------
    verdicts : int
        Rows to be made.
    calls, on_tape : int
        First requests of all seats that would be sent, and those whose reply is on the tape. A
        cut reply, evidence that is not found, and a level asked for again come on top.
    tokens : int
        Of the calls: what is sent, from its length, and 200 a reply.
    usd : float or None
        None where a model's price is unknown.
    """

    verdicts: int
    calls: int
    on_tape: int
    tokens: int
    usd: float | None

    def text(self) -> str:
        """The estimate in one line."""
        cost = "price unknown" if self.usd is None else f"about {self.usd:.2f} US dollars"
        taped = f", {self.on_tape} more on the tape" if self.on_tape else ""
        return (
            f"{self.verdicts} verdicts: {self.calls} calls{taped}; "
            f"about {self.tokens:,} tokens, {cost}"
        )


def estimate_calls(pending: Iterable[Pending], tape: Tape) -> JudgeEstimate:
    """Count what would be asked of each model."""
    verdicts = calls = on_tape = tokens = 0
    usd: float | None = 0.0
    for one in pending:
        verdicts += 1
        for seat in one.seats:
            request = seat.request()
            if request.digest() in tape:
                on_tape += 1
                continue
            calls += 1
            asked = len(json.dumps(request.messages)) // CHARACTERS_A_TOKEN
            tokens += asked + TOKENS_A_REPLY
            price = getattr(seat.judge.model, "price", None)
            cost = price.cost(asked, TOKENS_A_REPLY) if isinstance(price, Price) else None
            usd = None if usd is None or cost is None else usd + cost
    return JudgeEstimate(verdicts, calls, on_tape, tokens, usd)
