"""One dimension in two runs, paired by case under one and the same judge.

May not pair what two judges said: where the judge or the rubric changed, it says so instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agenteval_kit.judge.scores import DimensionScores, judged_scores
from agenteval_kit.runs import Run, unchanged_cases
from agenteval_kit.stats.estimate import Estimate, digits_shown
from agenteval_kit.stats.noninferiority import Answer, non_inferiority
from agenteval_kit.stats.paired import paired_scores
from agenteval_kit.text import counted

__all__ = [
    "JudgedPair",
    "PairedDimension",
    "pair_dimension",
    "pair_dimensions",
    "read_pair",
    "why_not_one_judge",
]


@dataclass(frozen=True, slots=True)
class PairedDimension:
    """One dimension of two runs over the cases that both scored.

    Attributes
    ----------
    dimension, layer : str
        What was judged.
    levels : tuple of int
        The scale.
    ids : tuple of str
        The paired cases.
    old, new : tuple of float
        Mean score over the repeats, a case each.
    difference : Estimate
        New minus old in scale units, anchored interval over cases. It decides.
    p, p_exact : float or None
        The sign-flip test; the exact sign test, which is conservative and never decides.
    worse, better : tuple of str
        Cases whose score fell, rose.
    dropped : tuple of str
        Cases that both runs judged and that were not scored on both sides.
    refused : str
        Why nothing was paired; empty where it was.
    same_model : bool
        A judge is an agent's own model.
    judge_digest : str
        Of the judge that scored both runs; the new run's where they were not paired.
    """

    dimension: str
    layer: str
    levels: tuple[int, ...]
    ids: tuple[str, ...]
    old: tuple[float, ...]
    new: tuple[float, ...]
    difference: Estimate
    p: float | None
    p_exact: float | None
    worse: tuple[str, ...]
    better: tuple[str, ...]
    dropped: tuple[str, ...]
    refused: str = ""
    same_model: bool = False
    judge_digest: str = ""

    @property
    def n(self) -> int:
        """Number of paired cases."""
        return len(self.ids)

    @property
    def shown(self) -> bool | None:
        """Whether the interval of the difference excludes 0; None without an interval."""
        return self.difference.excludes(0)

    @property
    def finding(self) -> str:
        """Lower, higher or no difference shown, with both means and the interval."""
        if self.refused:
            return f"cannot tell: {self.refused}"
        if self.difference.value is None:
            return f"not computable: {self.difference.reason}"
        word = "no difference shown"
        if self.shown:
            word = "lower" if self.difference.value < 0 else "higher"
        digits = digits_shown(self.difference.half_width, scale=1, fewest=2)
        old, new = (f"{math.fsum(side) / self.n:.{digits}f}" for side in (self.old, self.new))
        return (
            f"{word}: {new} against {old} over {counted(self.n, 'case')}, difference "
            f"{self.difference.text()}"
        )

    def claim(self, margin: float) -> tuple[Answer, str]:
        """Whether a drop beyond the margin, in scale units, is ruled out, shown, or neither.

        Returns
        -------
        tuple of str
            pass, fail or undecided; and the reason.

        Raises
        ------
        ConfigError
            If the margin is not above 0.
        """
        span = float(self.levels[-1] - self.levels[0])
        changes = [round(new - old, 12) for old, new in zip(self.old, self.new, strict=True)]
        found = non_inferiority(changes, margin, low=-span, high=span, levels=_steps(self.levels))
        return found.answer, found.reason


def pair_dimension(old: DimensionScores, new: DimensionScores, *, seed: int = 0) -> PairedDimension:
    """Pair one dimension of two runs by case id; a case's repeats are averaged first."""
    refused = why_not_one_judge(old, new)
    before, after = old.by_case(), new.by_case()
    ids = [] if refused else [case_id for case_id in after if case_id in before]
    left, right = [before[one] for one in ids], [after[one] for one in ids]
    why = refused or "no case was scored in both runs"
    difference, p, p_exact = Estimate.undefined(why), None, None
    if ids:
        found = paired_scores(left, right, levels=new.stamp.levels, seed=seed)
        difference, p, p_exact = found.difference, found.p_sign_flip, found.p_exact_sign
    pairs = [(case_id, round(b - a, 12)) for case_id, a, b in zip(ids, left, right, strict=True)]
    judged = {one.case_id for one in old.verdicts}
    both = dict.fromkeys(one.case_id for one in new.verdicts if one.case_id in judged)
    paired = set(ids)
    return PairedDimension(
        dimension=new.name,
        layer=new.judged.layer,
        levels=new.stamp.levels,
        ids=tuple(ids),
        old=tuple(left),
        new=tuple(right),
        difference=difference,
        p=p,
        p_exact=p_exact,
        worse=tuple(case_id for case_id, change in pairs if change < 0),
        better=tuple(case_id for case_id, change in pairs if change > 0),
        dropped=() if refused else tuple(case_id for case_id in both if case_id not in paired),
        refused=refused,
        same_model=old.same_model or new.same_model,
        judge_digest=new.judged.judge_digest,
    )


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """What judges said of a run, and of its baseline under the same judges where they judged it.

    Attributes
    ----------
    new, old : mapping of str to DimensionScores
        By dimension; empty where nobody was asked. Of another version of the suite `old` holds
        the verdicts of those cases alone that both versions ask alike.
    """

    new: Mapping[str, DimensionScores]
    old: Mapping[str, DimensionScores]


def read_pair(new: Run, old: Run | None = None) -> JudgedPair:
    """Read the judged scores of a run, and of its baseline.

    Raises
    ------
    ConfigError
        If a row of a run cannot be read.
    """
    after = {one.name: one for one in judged_scores(new)}
    stamps = old.judge_stamps() if old is not None else []
    if old is None or not stamps:
        return JudgedPair(after, {})
    known = {(one.dimension, one.judge_digest) for one in stamps}
    shared = {
        name: one.judged.judge_digest
        for name, one in after.items()
        if (name, one.judged.judge_digest) in known
    }
    alike = unchanged_cases(old.info, new.info)
    before = judged_scores(old, judges=shared)
    return JudgedPair(after, {one.name: _only(one, alike) for one in before})


def _only(scores: DimensionScores, cases: frozenset[str] | None) -> DimensionScores:
    if cases is None:
        return scores
    kept = tuple(one for one in scores.verdicts if one.case_id in cases)
    return replace(scores, verdicts=kept)


def pair_dimensions(
    old: Run, new: Run, *, judged: JudgedPair | None = None
) -> tuple[PairedDimension, ...]:
    """Every dimension that both runs were judged on, under the new run's judge.

    Where the old run was never judged by that judge the pair is refused, with the reason.

    Parameters
    ----------
    old, new : Run
        Two runs.
    judged : JudgedPair, optional
        Theirs, if it was read before.

    Raises
    ------
    ConfigError
        If a row of a run cannot be read.
    """
    both = judged if judged is not None else read_pair(new, old)
    return tuple(
        pair_dimension(both.old[name], one) for name, one in both.new.items() if name in both.old
    )


def why_not_one_judge(old: DimensionScores, new: DimensionScores) -> str:
    """Why the scores of two runs may not be held against each other; empty where they may."""
    if old.judged.judge_digest == new.judged.judge_digest:
        return ""
    one, two = old.stamp, new.stamp
    what = []
    if one.dimension_digest != two.dimension_digest:
        what.append(f"the rubric's text of {new.name}")
    if one.seats != two.seats:
        what.append(f"the judge ({two.judge} here, {one.judge} in the baseline)")
    if one.clock != two.clock:
        what.append("the clock")
    changed = " and ".join(what) or "the prompt"
    return (
        f"judge changed: {changed} differs (digest {two.judge_digest} here, {one.judge_digest} in "
        "the baseline); judge the baseline with the same rubric and judge"
    )


def _steps(levels: tuple[int, ...]) -> list[float]:
    """Every difference that two scores on the scale can have."""
    return sorted({float(one - other) for one in levels for other in levels})
