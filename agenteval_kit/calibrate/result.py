"""What a calibration found: per dimension the ceiling first, then the judge, then trust.

May not compute anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.ceiling import Ceiling
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration, LabelPair
from agenteval_kit.records.trust import TrustState
from agenteval_kit.records.verdicts import JudgeStamp

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["CalibrationResult", "DimensionResult"]


@dataclass(frozen=True, slots=True)
class DimensionResult:
    """One dimension under the judge that speaks for it.

    Attributes
    ----------
    stamp : JudgeStamp or None
        The judge; None where nobody has judged the dimension, and then only the ceiling stands.
    ceiling : Ceiling
        People with each other.
    agreement : Agreement or None
        Judge (rows) with people (columns) on held-out transcripts.
    alpha, gap, kappa_gap, chance : Estimate
        Krippendorff's alpha with the judge as one more rater; judge with people minus people with
        each other; the same in kappa; the chance that a judge as good as a person would be found
        trusted on so many labels.
    state, reason, more_labels
        Trust.
    pairs : tuple of LabelPair
        What it was computed from.
    notes : tuple of str
        Doubts in plain words.
    entry : DimensionCalibration or None
        What goes into the file; None where nothing was labelled or judged.
    """

    dimension: str
    layer: str
    levels: tuple[int, ...]
    stamp: JudgeStamp | None
    ceiling: Ceiling
    agreement: Agreement | None
    alpha: Estimate
    gap: Estimate
    kappa_gap: Estimate
    chance: Estimate
    state: TrustState
    reason: str
    more_labels: int | None
    held_out: int
    looks: int
    pairs: tuple[LabelPair, ...]
    notes: tuple[str, ...]
    entry: DimensionCalibration | None


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """What labels say of the judges of a run.

    Attributes
    ----------
    calibration : Calibration
        To be written: what was known, and what was found now.
    dimensions : tuple of DimensionResult
        In the order of the rubric.
    notes : tuple of str
        Labels that were left out, in plain words.
    """

    calibration: Calibration
    dimensions: tuple[DimensionResult, ...]
    notes: tuple[str, ...] = ()

    def of(self, dimension: str) -> DimensionResult:
        """One dimension.

        Raises
        ------
        ConfigError
            If it was not calibrated.
        """
        raise NotImplementedError

    def frame(self) -> pd.DataFrame:
        """One row a dimension."""
        raise NotImplementedError

    def ceiling_frame(self) -> pd.DataFrame:
        """One row a dimension and statistic, people with each other."""
        raise NotImplementedError

    def agreement_frame(self) -> pd.DataFrame:
        """One row a dimension and statistic, people and judge side by side."""
        raise NotImplementedError

    def confusion_frame(self, dimension: str) -> pd.DataFrame:
        """Held-out labels by judge level (rows) and human level (columns)."""
        raise NotImplementedError

    def lines(self) -> tuple[str, ...]:
        """The findings in words, the ceiling of each dimension before its judge."""
        raise NotImplementedError
