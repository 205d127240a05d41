"""What the dimensions of a run came to, read lightly: for a history of many runs.

May not read a reply or a reason, and chooses among judges as `scores` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from agenteval_kit.files import read_jsonl
from agenteval_kit.records import JudgeStamp
from agenteval_kit.runs import Run, choose_judge
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean

__all__ = ["Before", "JudgedMean", "judged_means"]


@dataclass(frozen=True, slots=True)
class JudgedMean:
    """One dimension of one run: who judged it, and its mean with interval.

    `missing` verdicts were wanted and are not there; `same_model` says that a judge is the agent's
    own model.
    """

    stamp: JudgeStamp
    estimate: Estimate
    missing: int = 0
    same_model: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """The last run in which a dimension was judged, and which series its value belongs to."""

    run: Run
    stamp: JudgeStamp
    series: int

    def break_to(self, run: Run, stamp: JudgeStamp) -> str:
        """Why scores of the next judged run are not comparable with these; empty where they are."""
        if self.run.info.suite_digest != run.info.suite_digest:
            return "suite changed"
        if self.stamp.dimension_digest != stamp.dimension_digest:
            return "rubric changed"
        if self.stamp.judge_digest != stamp.judge_digest:
            return "judge changed"
        return ""


def judged_means(run: Run, *, level: float = 0.95, seed: int = 0) -> dict[str, JudgedMean]:
    """The mean of each dimension of a run under the judge that speaks for it; empty without.

    Raises
    ------
    ConfigError
        If a line of the run cannot be read.
    """
    stamps = run.judge_stamps()
    path = run.path / "verdicts.jsonl"
    if not stamps or not path.exists():
        return {}
    # The last row of a key counts; a history needs no more of a verdict than its score.
    scores: dict[str, dict[tuple[str, int], int | None]] = {one.judge_digest: {} for one in stamps}
    own: set[str] = set()
    for row in read_jsonl(path, torn="drop"):
        mine = scores.get(str(row.value.get("judge_digest")))
        if mine is not None:
            key = (str(row.value.get("case_id")), int(row.value.get("repeat", 0)))
            mine[key] = row.value.get("score")
            if row.value.get("same_model"):
                own.add(str(row.value.get("judge_digest")))
    by_name: dict[str, list[JudgeStamp]] = {}
    for stamp in stamps:
        by_name.setdefault(stamp.dimension, []).append(stamp)
    counts = {name: len(each) for name, each in scores.items()}
    found = {}
    for name, listed in by_name.items():
        stamp = choose_judge(listed, counts)
        mine = scores[stamp.judge_digest]
        cases = [case_id for case_id, _ in mine]
        estimate = anchored_mean(
            list(mine.values()),
            levels=stamp.levels,
            clusters=cases if len(set(cases)) < len(cases) else None,
            level=level,
            seed=seed,
        )
        found[name] = JudgedMean(
            stamp,
            estimate,
            missing=max(0, stamp.wanted - len(mine)),
            same_model=stamp.judge_digest in own,
        )
    return found
