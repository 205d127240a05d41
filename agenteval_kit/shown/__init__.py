"""What judges are shown: a record as data, numbered, delimited and escaped.

May not ask a judge.
"""

from agenteval_kit.shown.orders import reads_like_an_order
from agenteval_kit.shown.record import (
    Item,
    block,
    escape,
    expected_outcomes,
    quoted,
    show_input,
    shown_lines,
    turn_text,
)

__all__ = [
    "Item",
    "block",
    "escape",
    "expected_outcomes",
    "quoted",
    "reads_like_an_order",
    "show_input",
    "shown_lines",
    "turn_text",
]
