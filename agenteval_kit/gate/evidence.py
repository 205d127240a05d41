"""What clauses may look at: the run, its summary, the baseline's, and the bar.

May not decide anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from agenteval_kit.errors import did_you_mean
from agenteval_kit.records.bars import Bar
from agenteval_kit.runs import Run
from agenteval_kit.summary import Summary, why_not_comparable

__all__ = ["Evidence"]


@dataclass(frozen=True)
class Evidence:
    """One run under one bar, with the baseline where there is one."""

    run: Run
    bar: Bar
    summary: Summary
    baseline: Run | None = None
    before: Summary | None = None

    def not_run(self, layer: str) -> str:
        """Why a layer has no evidence, for a clause that names it."""
        known = [item.layer for item in self.summary.layers]
        return f'no check of layer "{layer}" ran.{did_you_mean(layer, known)}'.rstrip(".")

    @cached_property
    def no_baseline(self) -> str:
        """Why there is nothing to compare with; empty where there is."""
        if self.baseline is None:
            return "no baseline was given; name one with --baseline RUN"
        return why_not_comparable(self.baseline, self.run)
