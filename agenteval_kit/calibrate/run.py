"""Calibrates the judges of a run on the labels of people.

May not draw, ask or decide a release; keeps what was known before, so that trust can come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenteval_kit.calibrate.ceiling import CeilingRule
from agenteval_kit.calibrate.result import CalibrationResult
from agenteval_kit.labels import LabelSet
from agenteval_kit.records import Rubric
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.runs import Run

__all__ = ["calibrate_run"]


def calibrate_run(
    run: Run,
    labels: LabelSet,
    *,
    now: str,
    rubric: Rubric | None = None,
    rule: TrustRule | None = None,
    known: Calibration | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
    ceiling_rule: CeilingRule | None = None,
    seed: int = 0,
) -> CalibrationResult:
    """Who is trusted on what, found from labels: the ceiling first, then the judge beside it.

    Parameters
    ----------
    run, labels
        The run that was judged, and what people said of its transcripts.
    now : str
        When, as `runs.now_text` writes it.
    rubric : Rubric, optional
        As it stands now; a dimension that reads otherwise than when it was judged is said.
    rule : TrustRule, optional
        The bar's.
    known : Calibration, optional
        The file so far: earlier looks cost, and earlier entries stay.
    judges : mapping of str to str, optional
        Judge digest by dimension, where not the last complete one is meant.
    dimensions : sequence of str, optional
        These only.
    ceiling_rule : CeilingRule, optional
        Where a rubric is called ambiguous.
    seed : int
        Of every interval.
    """
    raise NotImplementedError
