"""What people would have scored the whole run, from a calibration of its judge.

May not pick an estimator against the design of the labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.result import CalibrationResult
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.corrected import Corrected

__all__ = ["CorrectedDimension", "CorrectedRun", "corrected_run"]


@dataclass(frozen=True, slots=True)
class CorrectedDimension:
    """One dimension as people would have scored it.

    Attributes
    ----------
    found : Corrected or None
        Corrected beside raw figures; None where there is nothing to correct with.
    reason : str
        Why there is none.
    transported : bool
        The labels are of another agent, and fewer than 20 of this run's transcripts are labelled.
    notes : tuple of str
        Doubts in plain words.
    """

    dimension: str
    judge_digest: str
    found: Corrected | None
    reason: str = ""
    transported: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """Every judged dimension of a run, corrected."""

    dimensions: Mapping[str, CorrectedDimension]

    def frame(self) -> pd.DataFrame:
        """One row a dimension."""
        raise NotImplementedError


def corrected_run(
    run: Run,
    calibration: Calibration | CalibrationResult,
    *,
    pass_at: Mapping[str, float] | float | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
    seed: int = 0,
) -> CorrectedRun:
    """The mean and pass rate that people would have given the run, per judged dimension."""
    raise NotImplementedError
