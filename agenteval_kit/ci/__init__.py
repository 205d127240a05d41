"""What CI shows of a check or a decision: JUnit for its test tab, Markdown for a pull request.

May not compute a number: each comes from `summary` or `gate` with its interval.
"""

from agenteval_kit.ci.junit import write_check_junit, write_gate_junit
from agenteval_kit.ci.markdown import (
    LONGEST,
    check_markdown,
    decision_markdown,
    write_markdown,
)

__all__ = [
    "LONGEST", "check_markdown", "decision_markdown", "write_check_junit", "write_gate_junit",
    "write_markdown",
]  # fmt: skip
