"""Runs of one suite side by side: which layer moved, which records broke; and all runs in a table.

May not decide a release, and may not compare what different suites measured.
"""

from agenteval_kit.compare.checks import compare_checks
from agenteval_kit.compare.history import runs_frame
from agenteval_kit.compare.parting import Parting
from agenteval_kit.compare.values import CheckChange, Comparison, RecordChange

__all__ = [
    "CheckChange", "Comparison", "Parting", "RecordChange", "compare_checks", "runs_frame",
]  # fmt: skip
