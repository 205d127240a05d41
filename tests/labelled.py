"""Runs that were judged and labelled: verdicts and label files through the real writers.

May not replace anything of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from verdicts import scored_run

from agenteval_kit.labels import LabelSet, LabelWriter, read_labels
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.runs import Run

JUDGED = "2026-03-02T09:00:00Z"
BEFORE = "2026-03-01T09:00:00Z"
AFTER = "2026-03-03T09:00:00Z"
NOW = "2026-03-04T09:00:00Z"
SCALE = (1, 2, 3, 4)


def label(
    folder: Path,
    run: Run,
    said: Mapping[str, Mapping[str, int | None]],
    *,
    name: str = "tone",
    at: str = AFTER,
    levels: tuple[int, ...] = SCALE,
    inclusion: Mapping[str, float] | float | None = 1.0,
    wording: str = "dimension-1",
    **changed: Any,
) -> LabelSet:
    """Append what each rater says of each case, and read the folder."""
    fields = {"design": "uniform", "sample": "first", **changed}
    for rater, scores in said.items():
        writer = LabelWriter(folder, rater)
        writer.append(
            LabelRow(
                run=run.info.id,
                case_id=case_id,
                dimension=name,
                score=score,
                levels=levels,
                rater=rater,
                at=at,
                dimension_digest=wording,
                inclusion=inclusion.get(case_id) if isinstance(inclusion, Mapping) else inclusion,
                **fields,
            )
            for case_id, score in scores.items()
        )
        writer.close()
    return read_labels(folder)


def people_and_judge(
    n: int,
    *,
    shares: Sequence[float] = (0.15, 0.25, 0.35, 0.25),
    accuracy: float = 0.8,
    judge_accuracy: float = 0.8,
    raters: int = 2,
    seed: int = 0,
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Scores of a judge, and of each rater: the truth, or a neighbour of it with the rest."""
    rng = np.random.default_rng(seed)
    k = len(shares)
    truth = rng.choice(k, size=n, p=np.asarray(shares) / sum(shares))

    def rated(hit: float) -> list[int]:
        step = rng.choice((-1, 1), size=n)
        step = np.where((truth + step < 0) | (truth + step >= k), -step, step)
        return [int(one) for one in truth + step * (rng.random(n) >= hit) + 1]

    cases = [f"case-{index:03d}" for index in range(n)]
    people = {
        f"rater-{number}": dict(zip(cases, rated(accuracy), strict=True))
        for number in range(1, raters + 1)
    }
    return dict(zip(cases, rated(judge_accuracy), strict=True)), people


def labelled_run(
    root: Path, n: int = 120, *, how: Mapping[str, Any] | None = None, **behaviour: Any
) -> tuple[Run, LabelSet]:
    """A judged run of `n` scenarios, all labelled after the judge by `people_and_judge`."""
    judge, people = people_and_judge(n, **behaviour)
    run = scored_run(root, judge, **(how or {}))
    return run, label(root / "labels", run, people)
