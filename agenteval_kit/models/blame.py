"""Whose fault an exception is: the provider's, the configuration's, or the agent's.

May not raise or retry; it reads what other libraries raised, by shape, without importing them.
"""

from __future__ import annotations

from typing import Literal

from agenteval_kit.errors import (
    BudgetReached,
    ConfigError,
    InfrastructureError,
    QuotaExhausted,
    UserInterrupt,
)

__all__ = ["QUOTA_CODES", "Blame", "blame_of", "status_of"]

Blame = Literal["infrastructure", "quota", "config", "stop", "agent"]

_PROVIDERS = frozenset(
    {"openai", "anthropic", "mistralai", "cohere", "groq", "litellm", "together", "ollama"}
)
_NETWORK = frozenset(
    {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp", "urllib",
     "http", "botocore", "google", "websockets"}
)  # fmt: skip
_BROKEN = ("Connect", "Timeout", "Disconnected", "Protocol", "Network", "Transport", "URLError",
           "IncompleteRead", "ReadError", "WriteError")  # fmt: skip


QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)


def blame_of(error: BaseException) -> Blame:
    """Say whom an exception of an agent is charged to.

    Connection errors, time-outs, 408, 409, 429 and 5xx are "infrastructure"; 401, 403 and 404
    from a model provider's own client are "config" (of another HTTP library they are the
    agent's: it may have asked for a page that does not exist); limits and interrupts are
    "stop"; a used-up quota is "quota"; everything else is "agent". An exception that was raised
    *from* another is read as that other one, unless it says more itself.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        blame = _one(found)
        if blame is not None:
            return blame
        found = found.__cause__
    return "agent"


def _one(error: BaseException) -> Blame | None:
    if isinstance(error, ConfigError):
        return "config"
    if isinstance(error, BudgetReached | UserInterrupt):
        return "stop"
    if isinstance(error, QuotaExhausted) or getattr(error, "code", None) in QUOTA_CODES:
        return "quota"
    if isinstance(error, InfrastructureError | ConnectionError | TimeoutError):
        return "infrastructure"
    roots = {kind.__module__.split(".")[0] for kind in type(error).__mro__}
    provider, network = bool(roots & _PROVIDERS), bool(roots & _NETWORK)
    if not (provider or network):
        return None
    status = status_of(error)
    if status is not None:
        if status in (408, 409, 425, 429) or status >= 500:
            return "infrastructure"
        return "config" if provider and status in (401, 403, 404) else "agent"
    names = [kind.__name__ for kind in type(error).__mro__]
    if any(part in name for name in names for part in _BROKEN):
        return "infrastructure"
    return None


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, under any of the names that are in use."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
                return value
    return None
