"""One command from its words to its exit code; no traceback for a person's mistake.

May not know what a command does.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from agenteval_kit.cli.codes import BROKEN, INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain, to_resume
from agenteval_kit.cli.options import make_parser
from agenteval_kit.errors import AgentEvalError, ConfigError

__all__ = ["main"]

RESUMING = ("check", "run", "judge", "compare")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback for a person's mistake."""
    _forgiving_streams()
    parser = make_parser()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse exits by itself for --help and for a bad call
        return int(stop.code or 0)
    try:
        return int(given.command(given))
    except ConfigError as error:
        for problem in error.problems:
            complain(str(problem))
        return BROKEN
    except BrokenPipeError:
        # The reader went away (| head): not an error of ours, and stdout is of no use any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASS
    except KeyboardInterrupt:
        complain(to_resume("interrupted") if _resumes(given) else "interrupted")
        return INCOMPLETE
    except AgentEvalError as error:
        # What broke off by itself breaks off again; a provider or a budget does not.
        again = _resumes(given) and type(error) is not AgentEvalError
        complain(to_resume(str(error)) if again else str(error))
        return INCOMPLETE
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        complain(
            f"{named}{error.strerror or error}; what was written before stays; make room or mend "
            "the path, then run the same command again"
        )
        return INCOMPLETE


def _resumes(given: argparse.Namespace) -> bool:
    """Whether the command keeps what arrived, so that the same words go on from there."""
    # A comparison without a judge asks nobody: it starts anew.
    asks = given.word != "compare" or given.judge or given.replay is not None
    return given.word in RESUMING and bool(asks)


def _forgiving_streams() -> None:
    """A terminal that cannot print a sign gets a plain one instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
