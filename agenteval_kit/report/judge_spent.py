"""What judging a run took: requests, tokens, money and time, as far as its tape says.

May not guess: what a reply does not say is not known, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agenteval_kit.models.prices import price_of
from agenteval_kit.models.tape import Tape
from agenteval_kit.runs import Run

__all__ = ["JudgeSpent", "read_spent"]


@dataclass(frozen=True, slots=True)
class JudgeSpent:
    """What judging took, as far as the run's tape says; None is not known, never 0.

    Attributes
    ----------
    asked : int
        Requests behind the verdicts and preferences shown, first and further ones.
    kept : int
        Replies of those models on the run's tape.
    tokens, usd, seconds : optional
        Sums over those replies; None where one of them does not say.
    first, last : str
        When the first and the last of them arrived; empty without any.
    """

    asked: int
    kept: int
    tokens: int | None
    usd: float | None
    seconds: float | None
    first: str
    last: str


def read_spent(run: Run, judges: Sequence[str], *, asked: int) -> JudgeSpent:
    """What these judges took on the tape of a run; `asked` is how many requests are behind them."""
    kept = 0
    tokens: int | None = 0
    usd: float | None = 0.0
    seconds: float | None = 0.0
    times: list[str] = []
    names = set(judges)
    with Tape(run.tape_path) as tape:
        for row in tape.rows():
            if row.get("model") not in names:
                continue
            kept += 1
            usage = row.get("usage") or {}
            read, written = usage.get("input_tokens"), usage.get("output_tokens")
            if read is None or written is None or tokens is None:
                tokens = None
            else:
                tokens += read + written
            endpoint = str((row.get("parts") or {}).get("endpoint") or "")
            price = price_of(str(row["model"]), endpoint=endpoint)
            cost = None if price is None else price.cost(read, written)
            usd = None if usd is None or cost is None else usd + cost
            took = row.get("seconds")
            seconds = None if seconds is None or took is None else seconds + took
            times.append(str(row.get("at") or ""))
    if not kept:
        return JudgeSpent(asked, 0, None, None, None, "", "")
    return JudgeSpent(asked, kept, tokens, usd, seconds, min(times), max(times))
