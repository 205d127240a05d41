"""What verdicts add up to: per dimension a mean with its interval, and all that could not be told.

May not ask a judge, mix two judges, or apply a bar.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records import JudgeStamp, VerdictRow
from agenteval_kit.runs import Run
from agenteval_kit.stats import Estimate, anchored_mean
from agenteval_kit.stats.mean import share_by_case

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JudgedDimension", "JudgedSummary", "judged_dimension", "judged_summary"]


@dataclass(frozen=True, slots=True)
class JudgedDimension:
    """One dimension of a run under one judge.

    Attributes
    ----------
    stamp : JudgeStamp
        Who judged, on which scale.
    estimate : Estimate
        Mean score over cases; repeats of a case are averaged first.
    worst : float or None
        The same with every unscored transcript at the lowest level; None without transcripts.
    distribution : mapping of int to int
        Verdicts at each level.
    n, unscored, missing : int
        Transcripts with a score; judged without one; and not judged yet.
    reasons : mapping of str to int
        Why they are unscored.
    disagreement : Estimate or None
        Share in which the seats do not agree, of the verdicts that two seats or more scored;
        None without any.
    splits : int
        Panel verdicts without a majority.
    flags : mapping of str to int
        How often each flag was raised.
    diag : str
        Doubts in plain words.
    """

    stamp: JudgeStamp
    estimate: Estimate
    worst: float | None
    distribution: Mapping[int, int]
    n: int
    unscored: int
    missing: int
    reasons: Mapping[str, int]
    disagreement: Estimate | None
    splits: int
    flags: Mapping[str, int]
    diag: str

    @property
    def name(self) -> str:
        """The dimension."""
        return self.stamp.dimension

    @property
    def layer(self) -> str:
        """The layer that it belongs to."""
        return self.stamp.layer

    @property
    def judge_digest(self) -> str:
        """What the calibration must match."""
        return self.stamp.judge_digest

    @property
    def unscored_share(self) -> float:
        """Unscored and missing transcripts as a share of all that were to be judged."""
        wanted = self.n + self.unscored + self.missing
        return (self.unscored + self.missing) / wanted if wanted else 0.0


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """All dimensions of a run, each under the judge that judged it last."""

    run_id: str
    dimensions: tuple[JudgedDimension, ...]
    others: int = 0

    def __getitem__(self, name: str) -> JudgedDimension:
        for one in self.dimensions:
            if one.name == name:
                return one
        raise KeyError(name)

    def frame(self) -> pd.DataFrame:
        """One row a dimension.

        Columns: layer, name (str), mean, low, high (scale units, missing where undefined), n,
        unscored, missing (int), worst (float), distribution (str), disagreement (share, missing
        without a panel), splits (int), judge, judge_digest, diag (str).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        return pd.DataFrame(
            [
                {
                    "layer": one.layer,
                    "name": one.name,
                    "mean": one.estimate.value,
                    "low": one.estimate.low,
                    "high": one.estimate.high,
                    "n": one.n,
                    "unscored": one.unscored,
                    "missing": one.missing,
                    "worst": one.worst,
                    "distribution": shown_distribution(one.distribution),
                    "disagreement": one.disagreement.value if one.disagreement else None,
                    "splits": one.splits,
                    "judge": one.stamp.judge,
                    "judge_digest": one.judge_digest,
                    "diag": one.diag,
                }
                for one in self.dimensions
            ],
            columns=["layer", "name", "mean", "low", "high", "n", "unscored", "missing", "worst",
                     "distribution", "disagreement", "splits", "judge", "judge_digest", "diag"],
        )  # fmt: skip

    def _repr_html_(self) -> str:
        heads = ("layer", "dimension", "mean", "n", "distribution", "unscored",
                 "mean if those are lowest", "panel disagrees", "judge", "doubts")  # fmt: skip
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(one)) + "</tr>"
            for one in self.dimensions
        )
        named = "".join(f"<th scope='col'>{head}</th>" for head in heads)
        return (
            f"<table><caption>Judged dimensions of {html.escape(self.run_id)}: a trend over a "
            f"suite, not a verdict on one transcript</caption><thead><tr>{named}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


def judged_summary(
    run: Run, *, judges: Mapping[str, str] | None = None, level: float = 0.95, seed: int = 0
) -> JudgedSummary:
    """What the verdicts of a run come to.

    Parameters
    ----------
    run : Run
        With verdicts or without.
    judges : mapping of str to str, optional
        Judge digest by dimension; by default the judge that was asked last.
    level, seed
        Of the intervals.

    Raises
    ------
    ConfigError
        If `judges` names a digest that this run has no stamp of.
    """
    stamps = run.judge_stamps()
    chosen = {stamp.dimension: stamp for stamp in stamps}
    for name, wanted in (judges or {}).items():
        found = [one for one in stamps if one.dimension == name and one.judge_digest == wanted]
        if not found:
            known = [one.judge_digest for one in stamps if one.dimension == name]
            raise ConfigError(
                f'run {run.id} was not judged on "{name}" by judge {wanted}.'
                f"{did_you_mean(wanted, known)}"
            )
        chosen[name] = found[0]
    digests = {stamp.judge_digest for stamp in chosen.values()}
    rows: dict[str, list[VerdictRow]] = {one: [] for one in digests}
    others = 0
    for row in run.verdict_rows():
        if row.judge_digest in rows:
            rows[row.judge_digest].append(row)
        else:
            others += 1
    return JudgedSummary(
        run.id,
        tuple(
            judged_dimension(stamp, rows[stamp.judge_digest], level=level, seed=seed)
            for stamp in chosen.values()
        ),
        others,
    )


def judged_dimension(
    stamp: JudgeStamp, rows: list[VerdictRow], *, level: float = 0.95, seed: int = 0
) -> JudgedDimension:
    """What the verdicts of one judge on one dimension come to."""
    scores = [row.score for row in rows]
    scored = [score for score in scores if score is not None]
    unscored = len(rows) - len(scored)
    missing = max(stamp.wanted - len(rows), 0)
    clusters = [row.case_id for row in rows]
    repeated = len(set(clusters)) < len(clusters)
    estimate = anchored_mean(
        scores,
        levels=stamp.levels,
        clusters=clusters if repeated else None,
        level=level,
        seed=seed,
    )
    diag = "; ".join(_doubts(stamp, rows, missing))
    # One seat alone agrees with itself.
    panels = [row for row in rows if len(row.scores) > 1]
    flags = Counter(flag for row in rows for flag in row.flags)
    return JudgedDimension(
        stamp=stamp,
        estimate=estimate.noted(diag),
        worst=_worst(rows, stamp, missing),
        distribution={one: scored.count(one) for one in stamp.levels},
        n=len(scored),
        unscored=unscored,
        missing=missing,
        reasons=dict(Counter(_kind(row.reason) for row in rows if row.score is None).most_common()),
        disagreement=share_by_case(
            ["panel_disagreement" in row.flags for row in panels],
            [row.case_id for row in panels],
            level=level,
            seed=seed,
        )
        if panels
        else None,
        splits=flags["panel_split"],
        flags=dict(flags),
        diag="; ".join(part for part in (estimate.diag, diag) if part),
    )


def _worst(rows: Iterable[VerdictRow], stamp: JudgeStamp, missing: int) -> float | None:
    """The mean over cases with what could not be told at the bottom of the scale."""
    lowest = stamp.levels[0]
    by_case: dict[str, list[int]] = {}
    for row in rows:
        by_case.setdefault(row.case_id, []).append(lowest if row.score is None else row.score)
    means = [sum(scores) / len(scores) for scores in by_case.values()]
    # Which case a missing verdict belongs to is not known here; each counts as one of its own.
    means += [float(lowest)] * missing
    return sum(means) / len(means) if means else None


def _doubts(stamp: JudgeStamp, rows: list[VerdictRow], missing: int) -> list[str]:
    told = [f"{missing:,} not judged yet"] if missing else []
    if any(row.same_model for row in rows):
        told.append("judge = agent model")
    if not stamp.independent:
        told.append("seats not independent")
    served = {seat.model_served for row in rows for seat in row.seats if seat.model_served}
    names = {seat.model for seat in stamp.seats}
    if len(served) > len(names):
        told.append(f"served by {len(served)} models: {', '.join(sorted(served))}")
    notes = sorted(
        {note for row in rows for seat in row.seats for note in seat.notes if "refused" in note}
    )
    return told + notes


def _kind(reason: str) -> str:
    """A reason without its particulars, so that equal ones can be counted."""
    return reason.partition(":")[0]


def shown_distribution(distribution: Mapping[int, int]) -> str:
    """Verdicts by level as people read them: "1: 2, 2: 0, 3: 7"."""
    return ", ".join(f"{level}: {count:,}" for level, count in distribution.items())


def _cells(one: JudgedDimension) -> tuple[str, ...]:
    share = one.disagreement.text(percent=True) if one.disagreement else ""
    return (
        one.layer,
        one.name,
        one.estimate.text(),
        str(one.n),
        shown_distribution(one.distribution),
        str(one.unscored + one.missing),
        "n/a" if one.worst is None else f"{one.worst:.2f}",
        share,
        one.stamp.judge,
        one.diag,
    )
