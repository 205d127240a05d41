"""Labels of people, and calibrations made of nothing but their state: for tests of who reads them.

May not compute trust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agenteval_kit.labels import LabelSet, LabelWriter, read_labels
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.runs import Run

AT = "2026-03-03T10:00:00Z"


def label(
    run: Run, case_id: str, score: int | None, *, rater: str = "ana", **changed: Any
) -> LabelRow:
    """A line of a person on `tone`, given under the wording of `verdicts.judge`."""
    fields: dict[str, Any] = {
        "run": run.id, "case_id": case_id, "dimension": "tone", "score": score,
        "levels": (1, 2, 3, 4), "rater": rater, "at": AT, "dimension_digest": "dimension-1",
        **changed,
    }  # fmt: skip
    return LabelRow.model_validate(fields)


def labelled(folder: Path, rows: Iterable[LabelRow]) -> LabelSet:
    """Write lines to the files of their raters, and read them all back."""
    folder.mkdir(exist_ok=True, parents=True)
    by_rater: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_rater.setdefault(row.rater, []).append(row)
    for rater, mine in by_rater.items():
        writer = LabelWriter(folder, rater)
        writer.append(mine)
        writer.close()
    return read_labels(folder)


def calibrated(name: str = "tone", *, digest: str = "judge-1", **changed: Any) -> Calibration:
    """A calibration that trusts the judge of `verdicts.judge` on one dimension."""
    fields: Mapping[str, Any] = {
        "dimension": name, "levels": (1, 2, 3, 4), "judge": "judge-x", "judge_digest": digest,
        "dimension_digest": "dimension-1", "seats": ({"model": "judge-x"},), "at": AT,
        "state": "trusted", **changed,
    }  # fmt: skip
    return Calibration(name="made", dimensions=(DimensionCalibration.model_validate(fields),))
