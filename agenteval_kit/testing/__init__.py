"""For wiring tests: a scripted model, and a scripted OpenAI-compatible server on loopback.

May not be needed to run the package: only tests import it.
"""

from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.testing.answers import (
    Answer,
    Asked,
    call_tools,
    cut,
    drop,
    fail,
    html,
    out_of_quota,
    raw,
    refuse,
    refuse_parameter,
    say,
    too_many,
)

__all__ = [
    "Answer",
    "Asked",
    "ScriptedModel",
    "ScriptedServer",
    "call_tools",
    "cut",
    "drop",
    "fail",
    "html",
    "out_of_quota",
    "raw",
    "refuse",
    "refuse_parameter",
    "say",
    "too_many",
]


def __getattr__(name: str) -> object:
    # Late, so that `python -m agenteval_kit.testing.server` does not load the module twice.
    if name == "ScriptedServer":
        from agenteval_kit.testing.server import ScriptedServer

        return ScriptedServer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
