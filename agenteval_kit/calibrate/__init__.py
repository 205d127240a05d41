"""Labels beside labels, then beside verdicts: the ceiling, the agreement, and who is trusted.

May not draw what is labelled or ask a judge; loads numpy only when something is computed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenteval_kit.calibrate.ceiling import Ceiling as Ceiling
    from agenteval_kit.calibrate.ceiling import CeilingRule as CeilingRule
    from agenteval_kit.calibrate.ceiling import human_ceiling as human_ceiling
    from agenteval_kit.calibrate.corrected import CorrectedRun as CorrectedRun
    from agenteval_kit.calibrate.corrected import corrected_run as corrected_run
    from agenteval_kit.calibrate.drift import AnchorDrift as AnchorDrift
    from agenteval_kit.calibrate.drift import anchor_drift as anchor_drift
    from agenteval_kit.calibrate.keep import hold_calibration as hold_calibration
    from agenteval_kit.calibrate.keep import read_calibration as read_calibration
    from agenteval_kit.calibrate.keep import write_calibration as write_calibration
    from agenteval_kit.calibrate.next import NextLabels as NextLabels
    from agenteval_kit.calibrate.next import label_next as label_next
    from agenteval_kit.calibrate.pairs import PairAgreement as PairAgreement
    from agenteval_kit.calibrate.pairs import pair_agreement as pair_agreement
    from agenteval_kit.calibrate.result import CalibrationResult as CalibrationResult
    from agenteval_kit.calibrate.result import DimensionResult as DimensionResult
    from agenteval_kit.calibrate.run import calibrate_run as calibrate_run

_HOME = {
    "AnchorDrift": "drift",
    "CalibrationResult": "result",
    "Ceiling": "ceiling",
    "CeilingRule": "ceiling",
    "CorrectedRun": "corrected",
    "DimensionResult": "result",
    "NextLabels": "next",
    "PairAgreement": "pairs",
    "anchor_drift": "drift",
    "calibrate_run": "run",
    "corrected_run": "corrected",
    "hold_calibration": "keep",
    "human_ceiling": "ceiling",
    "label_next": "next",
    "pair_agreement": "pairs",
    "read_calibration": "keep",
    "write_calibration": "keep",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the gate reads a calibration without paying for numpy.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
