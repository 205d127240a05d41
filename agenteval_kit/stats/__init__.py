"""Statistics: arrays in, frozen estimates out; one file a question.

It may not know agents, touch a file or call a model, and loads scipy only inside a function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenteval_kit.stats.estimate import Estimate as Estimate
    from agenteval_kit.stats.mean import anchored_mean as anchored_mean
    from agenteval_kit.stats.paired import non_inferiority as non_inferiority
    from agenteval_kit.stats.paired import paired_binary as paired_binary
    from agenteval_kit.stats.paired import paired_scores as paired_scores
    from agenteval_kit.stats.proportion import wilson as wilson
    from agenteval_kit.stats.repeats import pass_at_k as pass_at_k
    from agenteval_kit.stats.repeats import pass_hat_k as pass_hat_k
    from agenteval_kit.stats.score_interval import tango as tango

_HOME = {
    "Estimate": "estimate",
    "anchored_mean": "mean",
    "non_inferiority": "paired",
    "paired_binary": "paired",
    "paired_scores": "paired",
    "pass_at_k": "repeats",
    "pass_hat_k": "repeats",
    "tango": "score_interval",
    "wilson": "proportion",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): `agenteval check` needs Wilson only and must not pay for numpy.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
