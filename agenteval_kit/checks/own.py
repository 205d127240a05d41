"""A check of one's own: any function of a transcript and its case.

May not charge the agent with a crash of the function.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
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
        wanted = f"{self.call} says true"
        try:
            answer = self.function(reading.transcript, item)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            # sys.exit and pytest.fail are no Exception, and no verdict either.
            return CheckResult(
                None,
                wanted,
                "".join(traceback.format_exception(error)).strip(),
                why=f"{self.call} raised {type(error).__name__}; a check's crash is not a failure",
            )
        passed, why = answer, ""
        if isinstance(answer, CheckResult):
            passed = answer.passed
        elif isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
            passed, why = answer
        said = _verdict(passed)
        if said is _NO_VERDICT:
            return CheckResult(
                None,
                wanted,
                show(answer),
                why=f"it returned a {type(passed).__name__}; it wants true, false, or (bool, why)",
            )
        if isinstance(answer, CheckResult):
            return replace(answer, passed=said)
        if not why and said is not True:
            why = "it said false" if said is False else "it could not tell"
        return CheckResult(said, wanted, show(said), None, why)


_NO_VERDICT: Any = object()


def _verdict(value: Any) -> Any:
    """True, false or None; of numpy's scalars the plain one, without loading numpy."""
    if value is None or isinstance(value, bool):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return bool(value) if kind == "b" and getattr(value, "shape", None) == () else _NO_VERDICT
