"""Applies a release bar to a run: one row a clause, and SHIP, HOLD or REVIEW.

May not score anything and may not hold a threshold: those stand in the bar's file.
"""

from agenteval_kit.gate.bars import LoadedBar, load_bar
from agenteval_kit.gate.known import Known, read_known
from agenteval_kit.gate.rows import ClauseRow, Decision
from agenteval_kit.gate.verdict import decide

__all__ = [
    "ClauseRow", "Decision", "Known", "LoadedBar", "decide", "load_bar", "read_known",
]  # fmt: skip
