"""What a person is told: nothing that a file or a model wrote may steer the terminal.

May not decide an exit code.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from agenteval_kit.runs import Run

__all__ = ["complain", "say_which_suite", "tell", "to_resume"]


def complain(text: str) -> None:
    """Say it on stderr, with acting and hidden characters made visible."""
    _say(text, sys.stderr)


def tell(text: str) -> None:
    """Say it on stdout, the same way; what is for machines is printed as it is."""
    _say(text, sys.stdout)


def to_resume(why: str) -> str:
    """Why something broke off, and that the same command resumes it, said once."""
    return why if "same command" in why else f"{why}; run the same command to resume"


def say_which_suite(run: Run) -> None:
    """Say which suite file is read, where the working directory has another of that name."""
    from agenteval_kit.runs.suites import other_suite_here

    if other := other_suite_here(run):
        complain(f"note: {other}")


def _say(text: str, stream: TextIO) -> None:
    from agenteval_kit.visible import printable  # only who says something pays for it

    print(printable(text, encoding=stream.encoding or "utf-8"), file=stream)
