"""What the page needs to know of each transcript, read in one pass and small enough to keep.

May not keep a transcript: with 2,000 of 200 turns memory stays flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from agenteval_kit.records import Transcript
from agenteval_kit.records.transcripts import Failure, Finding

__all__ = ["Facts", "Key", "Spent", "read_facts", "spent"]

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is kept of one transcript.

    `tools` are the names called, in order, each call counted; unknown cost, tokens and seconds
    are None.
    """

    case_id: str
    repeat: int
    turns: int
    tools: tuple[str, ...]
    findings: tuple[Finding, ...]
    failure: Failure | None
    stop: str
    input_tokens: int | None
    output_tokens: int | None
    from_tape: int
    calls: int
    cost_usd: float | None
    seconds: float | None
    model_served: str | None


def read_facts(
    transcripts: Iterable[Transcript], *, also: Callable[[Transcript], None] | None = None
) -> dict[Key, Facts]:
    """Facts by case and repeat; `also` sees each transcript once as it passes."""
    found: dict[Key, Facts] = {}
    for item in transcripts:
        found[item.case_id, item.repeat] = Facts(
            case_id=item.case_id,
            repeat=item.repeat,
            turns=len(item.turns),
            tools=tuple(call.name for _, call in item.calls()),
            findings=item.findings,
            failure=item.failure,
            stop=item.stop,
            input_tokens=item.usage.input_tokens,
            output_tokens=item.usage.output_tokens,
            from_tape=item.usage.from_tape,
            calls=item.usage.calls,
            cost_usd=item.cost_usd,
            seconds=item.seconds,
            model_served=item.stamps.model_served if item.stamps is not None else None,
        )
        if also is not None:
            also(item)
    return found


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took: sums that are known for every transcript, else None and for how many.

    `seconds` is the median of a transcript and `slow` its 90th percentile, over those that say.
    """

    transcripts: int
    cost_usd: float | None
    cost_known: int
    tokens: int | None
    tokens_known: int
    seconds: float | None
    slow: float | None
    seconds_known: int
    turns: float | None
    calls: float | None
    model_calls: int
    from_tape: int


def spent(facts: Mapping[Key, Facts]) -> Spent:
    """Cost, tokens and time of a run; what is unknown stays unknown, it is never 0."""
    every = list(facts.values())
    costs = [item.cost_usd for item in every if item.cost_usd is not None]
    tokens = [
        item.input_tokens + item.output_tokens
        for item in every
        if item.input_tokens is not None and item.output_tokens is not None
    ]
    seconds = sorted(item.seconds for item in every if item.seconds is not None)
    return Spent(
        transcripts=len(every),
        cost_usd=sum(costs) if costs and len(costs) == len(every) else None,
        cost_known=len(costs),
        tokens=sum(tokens) if tokens and len(tokens) == len(every) else None,
        tokens_known=len(tokens),
        seconds=median(seconds) if seconds else None,
        slow=seconds[min(len(seconds) - 1, int(0.9 * len(seconds)))] if seconds else None,
        seconds_known=len(seconds),
        turns=sum(item.turns for item in every) / len(every) if every else None,
        calls=sum(len(item.tools) for item in every) / len(every) if every else None,
        model_calls=sum(item.calls for item in every),
        from_tape=sum(item.from_tape for item in every),
    )
