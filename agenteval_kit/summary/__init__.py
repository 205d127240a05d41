"""What a run's check rows add up to, by transcript, case and layer; and two runs paired by case.

May not apply a threshold: `agenteval_kit.gate` does. Loads neither numpy nor pandas at import.
"""

from agenteval_kit.summary.gather import summarise
from agenteval_kit.summary.pairing import PairedLayer, asked_alike, pair_layer, why_not_comparable
from agenteval_kit.summary.scores import (
    ALL_CHECKS,
    CaseScore,
    Counts,
    LayerScore,
    TranscriptScore,
)
from agenteval_kit.summary.total import Summary

__all__ = [
    "ALL_CHECKS",
    "CaseScore",
    "Counts",
    "LayerScore",
    "PairedLayer",
    "Summary",
    "TranscriptScore",
    "asked_alike",
    "pair_layer",
    "summarise",
    "why_not_comparable",
]
