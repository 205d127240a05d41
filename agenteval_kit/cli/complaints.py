"""What goes to stderr: nothing that a file or a model wrote may steer the terminal.

May not decide an exit code.
"""

from __future__ import annotations

import sys

__all__ = ["complain"]


def complain(text: str) -> None:
    """Say it on stderr, with acting and hidden characters made visible."""
    from agenteval_kit.visible import printable  # only a complaint pays for it

    print(printable(text, encoding=sys.stderr.encoding or "utf-8"), file=sys.stderr)
