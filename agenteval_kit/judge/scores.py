"""The scores of a run under one judge a dimension: which judge speaks is chosen here, and said.

May not hold a reply, blend two judges, or apply a bar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.judge.result import JudgedDimension, judged_dimension
from agenteval_kit.records import JudgeStamp, VerdictRow
from agenteval_kit.runs import Run, choose_judge

__all__ = ["DimensionScores", "VerdictScore", "judged_scores"]


@dataclass(frozen=True, slots=True)
class VerdictScore:
    """One verdict without its texts.

    Attributes
    ----------
    score : int or None
        None is unscored; `reason` says why.
    seats, again : tuple of int or None
        What each seat said, and what was said when the level was asked for again.
    same_model : bool
        A judge is the agent's own model.
    """

    case_id: str
    repeat: int
    score: int | None
    reason: str
    seats: tuple[int | None, ...]
    again: tuple[int | None, ...]
    flags: tuple[str, ...]
    same_model: bool

    @property
    def said(self) -> tuple[int, ...]:
        """What the seats that scored say."""
        return tuple(score for score in self.seats if score is not None)

    def at_most(self, level: int) -> bool | None:
        """Whether the majority of three askings or more say `level` or less; None if asked less."""
        asked = self.seats if len(self.seats) > 1 else (*self.seats, *self.again)
        if len(asked) < 3:
            return None
        return 2 * sum(score is not None and score <= level for score in asked) > len(asked)


@dataclass(frozen=True, slots=True)
class DimensionScores:
    """One dimension of a run under the judge that was chosen for it.

    Attributes
    ----------
    judged : JudgedDimension
        Mean with interval, and what could not be told.
    verdicts : tuple of VerdictScore
        In the order of the file.
    note : str
        Which judge was chosen where several judged; empty where there was one.
    arrived : int
        Transcripts that came after this dimension was judged.
    """

    judged: JudgedDimension
    verdicts: tuple[VerdictScore, ...]
    note: str = ""
    arrived: int = 0

    @property
    def name(self) -> str:
        """The dimension."""
        return self.judged.name

    @property
    def stamp(self) -> JudgeStamp:
        """Who judged, on which scale."""
        return self.judged.stamp

    @property
    def same_model(self) -> bool:
        """Whether a judge is the agent's own model in some verdict."""
        return any(one.same_model for one in self.verdicts)

    @property
    def scripted(self) -> bool:
        """Whether a judge is a script by its name: what it says was written beforehand."""
        return any(seat.model.startswith("scripted") for seat in self.stamp.seats)

    @property
    def open(self) -> int:
        """Transcripts that this judge has still to score."""
        return self.judged.missing + self.arrived

    @property
    def unscored_share(self) -> float:
        """What has no score, as a share of all that should have one."""
        wanted = self.judged.n + self.judged.unscored + self.open
        return (self.judged.unscored + self.open) / wanted if wanted else 0.0

    def by_case(self) -> dict[str, float]:
        """The mean score of each case over its scored repeats; cases without one are left out."""
        found: dict[str, list[int]] = {}
        for one in self.verdicts:
            if one.score is not None:
                found.setdefault(one.case_id, []).append(one.score)
        return {case_id: sum(scores) / len(scores) for case_id, scores in found.items()}


def judged_scores(
    run: Run, *, judges: Mapping[str, str] | None = None
) -> tuple[DimensionScores, ...]:
    """Every judged dimension of a run, each under one judge.

    Parameters
    ----------
    run : Run
        With verdicts or without.
    judges : mapping of str to str, optional
        Judge digest by dimension. By default the judge asked last among those that judged
        everything; where none did, the one asked last.

    Returns
    -------
    tuple of DimensionScores
        In the order of the stamps; empty where nobody judged.

    Raises
    ------
    ConfigError
        If `judges` names a digest that this run has no stamp of, or a row cannot be read.
    """
    stamps = run.judge_stamps()
    if not stamps:
        return ()
    rows: dict[str, list[VerdictRow]] = {one.judge_digest: [] for one in stamps}
    for row in run.verdict_rows():
        if row.judge_digest in rows:
            rows[row.judge_digest].append(row)
    by_name: dict[str, list[JudgeStamp]] = {}
    for stamp in stamps:
        by_name.setdefault(stamp.dimension, []).append(stamp)
    counts = {digest: len(each) for digest, each in rows.items()}
    transcripts = len(run.done())
    made = []
    for name, listed in by_name.items():
        stamp = choose_judge(listed, counts)
        wanted = (judges or {}).get(name)
        if wanted is not None:
            stamp = _named(run, listed, name, wanted)
        mine = rows[stamp.judge_digest]
        made.append(
            DimensionScores(
                judged_dimension(stamp, mine),
                tuple(map(_score, mine)),
                _said(stamp, listed, counts),
                _arrived(stamp, transcripts),
            )
        )
    return tuple(made)


def _named(run: Run, stamps: Sequence[JudgeStamp], name: str, wanted: str) -> JudgeStamp:
    for stamp in stamps:
        if stamp.judge_digest == wanted:
            return stamp
    near = did_you_mean(wanted, [one.judge_digest for one in stamps])
    raise ConfigError(f'run {run.id} was not judged on "{name}" by judge {wanted}.{near}')


def _score(row: VerdictRow) -> VerdictScore:
    return VerdictScore(
        case_id=row.case_id,
        repeat=row.repeat,
        score=row.score,
        reason=row.reason,
        seats=tuple(seat.score for seat in row.seats),
        again=tuple(seat.score for seat in row.again),
        flags=row.flags,
        same_model=row.same_model,
    )


def _said(stamp: JudgeStamp, every: Sequence[JudgeStamp], verdicts: Mapping[str, int]) -> str:
    # Who was asked in vain has a stamp, and is no judge of this run.
    every = [one for one in every if one is stamp or verdicts[one.judge_digest]]
    if len(every) < 2:
        return ""
    last = every[-1]
    told = f"judged by {len(every)} judges, never mixed: {stamp.judge} ({stamp.judge_digest})"
    if last.judge_digest == stamp.judge_digest:
        return f"{told} was asked last"
    return (
        f"{told} is the latest that judged all; {last.judge} ({last.judge_digest}) was asked "
        f"later and has {verdicts[last.judge_digest]} of {last.wanted}"
    )


def _arrived(stamp: JudgeStamp, transcripts: int) -> int:
    return 0 if stamp.transcripts is None else max(transcripts - stamp.transcripts, 0)
