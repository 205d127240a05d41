"""A check of one's own: any function of a transcript and its case.

May not charge the agent with a crash of the function.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agenteval_kit.checks.reading import Reading
from agenteval_kit.checks.result import CheckResult, Item, show

__all__ = ["Own"]


@dataclass(frozen=True, slots=True)
class Own:
    """``function(transcript, case)`` says true, false, None (cannot tell), or one with a why."""

    call: str
    function: Callable[..., Any]

    def __call__(self, reading: Reading, item: Item, /) -> CheckResult:
        """Decide."""
        try:
            answer = self.function(reading.transcript, item)
        except Exception as error:
            return CheckResult(
                None,
                f"{self.call} says true",
                "".join(traceback.format_exception(error)).strip(),
                why=f"{self.call} raised {type(error).__name__}; a check's crash is not a failure",
            )
        if isinstance(answer, CheckResult):
            return answer
        passed, why = answer, ""
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
            passed, why = answer
        if passed is None or isinstance(passed, bool):
            if not why and passed is not True:
                why = "it said false" if passed is False else "it could not tell"
            return CheckResult(passed, f"{self.call} says true", show(passed), None, why)
        return CheckResult(
            None,
            f"{self.call} says true",
            show(answer),
            why=f"it returned a {type(answer).__name__}; it wants true, false, or (bool, why)",
        )
