"""How far a run is, while it goes on.

May not run anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agenteval_kit.runs import RunWriter
from agenteval_kit.suite.load import Suite

__all__ = ["Progress", "State", "source_tools_of", "tell"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: told after each transcript."""

    done: int
    total: int
    unscored: int
    last: str


@dataclass(slots=True)
class State:
    """What the loop over cases keeps count of."""

    writer: RunWriter
    total: int
    done: int = 0
    made: int = 0
    from_tape: int = 0
    unscored: list[tuple[str, int, str]] = field(default_factory=list)
    down: int = 0
    stopped: str = ""
    fatal: BaseException | None = None


def tell(progress: Callable[[Progress], None] | None, state: State, last: str) -> None:
    """Report progress, where somebody listens."""
    if progress is not None:
        progress(Progress(state.done, state.total, len(state.unscored), last))


def source_tools_of(suite: Suite) -> tuple[str, ...]:
    """The tools whose results are the retrieved passages."""
    return tuple(suite.spec.sources.tools) if suite.spec.sources else ()
