"""Evaluate agents with two instruments that are never blended: checks and judges.

May do no work at import: each name below is loaded from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Sorted by journey: write it down, run it, read it, decide. The value is the module it lives in.
_PUBLIC = {
    # write it down
    "Case": "records",
    "Scenario": "records",
    "Checks": "records",
    "Transcript": "records",
    "Bar": "records",
    # what can go wrong
    "AgentEvalError": "errors",
    "ConfigError": "errors",
    "StampError": "errors",
    "InfrastructureError": "errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
