"""What judging will cost, told before anything is paid for.

May not ask a judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agenteval_kit.judge.question import Pending
from agenteval_kit.models.asking import estimate_wholes
from agenteval_kit.models.estimate import CallEstimate
from agenteval_kit.models.tape import Tape
from agenteval_kit.text import counted

__all__ = ["JudgeEstimate", "estimate_calls"]


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
        calls = CallEstimate(self.calls, self.on_tape, self.tokens, self.usd)
        return f"{counted(self.verdicts, 'verdict')}: {calls.text()}"


def estimate_calls(pending: Iterable[Pending], tape: Tape) -> JudgeEstimate:
    """Count what would be asked of each model."""
    verdicts, counted = estimate_wholes(pending, tape)
    return JudgeEstimate(verdicts, counted.calls, counted.on_tape, counted.tokens, counted.usd)
