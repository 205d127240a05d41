"""Limits on calls, tokens and money, and the meter that is read against them.

May not stop anything but by an error, which leaves the run resumable.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from agenteval_kit.errors import BudgetReached, ConfigError
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.models.prices import Price
from agenteval_kit.text import counted

__all__ = ["Limits", "Meter"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be spent; None is no limit. Replies from the tape cost nothing.

    A limit is looked at before a request is sent, so requests in flight may pass it by what they
    cost themselves; `calls` is exact.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None


class Meter:
    """What was spent; may be shared by several models, and is safe in threads.

    Attributes
    ----------
    calls, input_tokens, output_tokens : int
        Requests that were begun, and the tokens of their replies as far as they are known.
    usd : float
        What they cost, as far as prices are known.
    unpriced : int
        Replies whose cost is unknown.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.usd = 0.0
        self.unpriced = 0
        self._lock = threading.Lock()

    def begin(self, model: str, price: Price | None) -> None:
        """Count one request.

        Raises
        ------
        BudgetReached
            If a limit was reached.
        ConfigError
            If there is a limit in money and the model has no price: unknown is not 0.
        """
        limits = self.limits
        if limits.usd is not None and price is None:
            raise ConfigError(
                f'a limit of {limits.usd:g} US dollars cannot be kept: the price of "{model}" is '
                "unknown. Limit calls or tokens instead, or give a price table"
            )
        with self._lock:
            tokens = self.input_tokens + self.output_tokens
            for spent, limit, unit in (
                (self.calls, limits.calls, "call"),
                (tokens, limits.tokens, "token"),
                (self.usd, limits.usd, "US dollar"),
            ):
                if limit is not None and spent >= limit:
                    raise BudgetReached(
                        f"the limit of {counted(limit, unit)} is reached ({spent:,.12g} spent); "
                        "what arrived is kept. Raise the limit and run the same command to resume"
                    )
            self.calls += 1

    def give_back(self) -> None:
        """Take one request back: it brought no reply."""
        with self._lock:
            self.calls -= 1

    def end(self, request: ChatRequest, reply: ChatReply, price: Price | None) -> None:
        """Count the tokens and the cost of a reply."""
        cost = price.cost(reply.input_tokens, reply.output_tokens) if price is not None else None
        asked, said = reply.input_tokens, reply.output_tokens
        if self.limits.tokens is not None:
            # A server that does not count must not make the limit void: three characters a
            # token is on the safe side for text.
            asked = asked if asked is not None else len(str(request.messages)) // 3
            said = said if said is not None else len(str(reply.message)) // 3
        with self._lock:
            self.input_tokens += asked or 0
            self.output_tokens += said or 0
            if cost is None:
                self.unpriced += 1
            else:
                self.usd += cost
