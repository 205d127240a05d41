"""Which transcripts to label next, drawn so that the labels can be used like the others.

May not choose by what a person said: such labels could not correct a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.labels import LabelSet
from agenteval_kit.records.labels import Sample
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NextLabels", "label_next"]


@dataclass(frozen=True, slots=True)
class NextLabels:
    """Transcripts whose labels would narrow the decision most, with the reasons."""

    dimension: str
    sample: Sample
    reasons: dict[str, str]

    def frame(self) -> pd.DataFrame:
        """One row a transcript: case_id, repeat, stratum, inclusion, reason."""
        raise NotImplementedError


def label_next(
    run: Run,
    labels: LabelSet,
    *,
    now: str,
    n: int = 10,
    dimension: str | None = None,
    seed: int = 0,
) -> NextLabels:
    """The transcripts of a judged run that are worth a label most."""
    raise NotImplementedError
