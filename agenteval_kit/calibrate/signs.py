"""Signs that a judge goes by something else: split panels, lost evidence, length.

May not call a sign a proof: what people gave stands beside what the judge gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.compared import Disagreements
from agenteval_kit.calibrate.disagreements import chosen_judges
from agenteval_kit.calibrate.join import Key
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import Transcript
from agenteval_kit.runs import Run
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.panel import majority

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.length import LengthBias

__all__ = ["JudgeSigns", "LengthSign", "judge_signs", "lengths_frame", "preference_lengths"]


@dataclass(frozen=True, slots=True)
class LengthSign:
    """Rank correlations with the number of words that the agent said.

    Attributes
    ----------
    judge : Estimate
        Of the judge's scores, over all transcripts that it scored.
    people, judge_same : Estimate
        Of the mean score of the people, and of the judge's scores on the same transcripts.
    apart : Estimate
        Of judge minus people: above 0 the judge is milder than people where more is said.
        Undefined for a judge that gave one level throughout: it goes by nothing.
    """

    judge: Estimate
    people: Estimate
    judge_same: Estimate
    apart: Estimate


@dataclass(frozen=True, slots=True)
class JudgeSigns:
    """What may mislead one judge on one dimension.

    Attributes
    ----------
    verdicts : int
        Verdicts on transcripts, scored or not.
    disagreement, split : Estimate
        Share of panels whose seats differ; that have no majority. Undefined with one seat.
    evidence_lost : Estimate
        Share of verdicts in which a seat cited what is not there.
    unscored : Estimate
        Share of verdicts without a score.
    length : LengthSign
        Scores against words.
    """

    dimension: str
    judge: str
    judge_digest: str
    verdicts: int
    disagreement: Estimate
    split: Estimate
    evidence_lost: Estimate
    unscored: Estimate
    length: LengthSign


def judge_signs(
    run: Run,
    found: Disagreements | None = None,
    *,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[JudgeSigns, ...]:
    """What may mislead the judges of a run, over all their verdicts, a dimension each.

    Parameters
    ----------
    run : Run
        A judged run.
    found : Disagreements, optional
        Of the same run: what people gave the same transcripts, under the same judges.
    judges : mapping of str to str, optional
        The judge digest to read, by dimension; by default those of `found`, else those that speak
        for their dimensions.
    dimensions : sequence of str, optional
        Only these.
    seed : int
        Of the resampling.

    Raises
    ------
    ConfigError
        If no such judge judged.
    """
    if judges is None and found is not None:
        judges = {one.name: one.judge_digest for one in found.scales.values() if one.judge_digest}
    stamps = chosen_judges(run, judges=judges)
    wanted = {(name, stamp.judge_digest) for name, stamp in stamps.items()
              if dimensions is None or name in dimensions}  # fmt: skip
    scores: dict[str, dict[Key, int | None]] = {name: {} for name, _ in wanted}
    seats: dict[str, list[tuple[str, tuple[int | None, ...]]]] = {name: [] for name, _ in wanted}
    lost: dict[str, list[tuple[str, bool]]] = {name: [] for name, _ in wanted}
    for row in run.verdict_rows() if wanted else ():
        if (row.dimension, row.judge_digest) in wanted:
            scores[row.dimension][row.case_id, row.repeat] = row.score
            seats[row.dimension].append((row.case_id, tuple(seat.score for seat in row.seats)))
            lost[row.dimension].append((row.case_id, "evidence_not_found" in row.flags))
    words = {(one.case_id, one.repeat): _words(one) for one in run.transcripts()} if wanted else {}
    made = []
    for name in [name for name in stamps if name in scores]:
        panels = [(case, said) for case, said in seats[name] if len(said) - said.count(None) > 1]
        empty = "" if panels else "one seat only"
        made.append(
            JudgeSigns(
                dimension=name,
                judge=stamps[name].judge,
                judge_digest=stamps[name].judge_digest,
                verdicts=len(seats[name]),
                disagreement=_share([(case, len(set(said) - {None}) > 1) for case, said in panels],
                                    seed=seed, nothing=empty),
                split=_share([(case, majority(said).score is None) for case, said in panels],
                             seed=seed, nothing=empty),
                evidence_lost=_share(lost[name], seed=seed),
                unscored=_share([(key[0], score is None) for key, score in scores[name].items()],
                                seed=seed),
                length=_length(name, scores[name], words, found, seed=seed),
            )
        )  # fmt: skip
    return tuple(made)


def lengths_frame(found: Disagreements) -> pd.DataFrame:
    """Words and scores of every labelled transcript, for a figure.

    One row per transcript and dimension: case_id (str), repeat (int), dimension (str), words (int,
    of the agent's turns), judge (float, missing where unscored), people (float, their mean).
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    wanted = {one.key for one in found.compared}
    words = {
        (one.case_id, one.repeat): _words(one)
        for one in found.run.transcripts()
        if (one.case_id, one.repeat) in wanted
    }
    rows = [
        (*one.key, one.scale.name, words[one.key], one.judge, fmean(one.humans.values()))
        for one in found.compared
    ]
    names = ["case_id", "repeat", "dimension", "words", "judge", "people"]
    return pd.DataFrame(rows, columns=names).astype({"judge": "float64", "people": "float64"})


def preference_lengths(run: Run, old: Run, *, level: float = 0.95) -> dict[str, LengthBias]:
    """The win rate of a run against another by how much more its agent says.

    One answer per criterion and judge, the keys read "criterion by judge". Pairs that code decided
    were read by no judge and are left out.

    Raises
    ------
    ConfigError
        If the run was not compared with that one.
    """
    from agenteval_kit.stats.length import length_bias  # numpy

    rows = [row for row in run.preference_rows(old=old.id) if row.by != "code"]
    if not rows:
        raise ConfigError(
            f"run {run.id} was not compared with {old.id}; "
            "`agenteval compare OLD NEW --judge MODEL` first"
        )
    new_words = {(one.case_id, one.repeat): _words(one) for one in run.transcripts()}
    old_words = {(one.case_id, one.repeat): _words(one) for one in old.transcripts()}
    pairs: dict[str, list[tuple[float | None, float | None]]] = {}
    for row in rows:
        key = (row.case_id, row.repeat)
        longer = None
        if key in new_words and key in old_words:
            longer = float(new_words[key] - old_words[key])
        pairs.setdefault(f"{row.criterion} by {row.judge}", []).append((row.score, longer))
    return {
        name: length_bias([won for won, _ in both], [gap for _, gap in both], level=level)
        for name, both in pairs.items()
    }


def _length(
    name: str,
    scores: Mapping[Key, int | None],
    words: Mapping[Key, int],
    found: Disagreements | None,
    *,
    seed: int,
) -> LengthSign:
    from agenteval_kit.stats.length import length_correlation  # numpy

    def against(values: Mapping[Key, float | None]) -> Estimate:
        keys = [key for key in values if key in words]
        repeated = len({case for case, _ in keys}) < len(keys)
        return length_correlation(
            [values[key] for key in keys],
            [words[key] for key in keys],
            clusters=[case for case, _ in keys] if repeated else None,
            seed=seed,
        )

    read = list(found.of(name)) if found is not None and name in found.scales else []
    people: dict[Key, float | None] = {
        one.key: fmean(one.humans.values()) for one in read if one.judge is not None
    }
    same: dict[Key, float | None] = {key: scores.get(key) for key in people}
    apart: dict[Key, float | None] = {one.key: one.difference for one in read if one.key in people}
    levels = set(same.values())
    if len(levels) == 1:
        said = f"the judge gave {next(iter(levels))} to all {len(same):,}"
        only = Estimate.undefined(said, n=len({case for case, _ in same}))
        return LengthSign(
            judge=against({key: score for key, score in scores.items() if score is not None}),
            people=against(people),
            judge_same=only,
            apart=only,
        )
    return LengthSign(
        judge=against({key: score for key, score in scores.items() if score is not None}),
        people=against(people),
        judge_same=against(same),
        apart=against(apart),
    )


def _words(transcript: Transcript) -> int:
    """Words of the agent's own turns: what it sent to tools does not count."""
    return sum(len(turn.text.split()) for turn in transcript.turns if turn.role == "assistant")


def _share(
    counted: Sequence[tuple[str, bool]], *, seed: int, nothing: str = "no verdicts"
) -> Estimate:
    if not counted:
        return Estimate.undefined(nothing or "no verdicts")
    from agenteval_kit.stats.mean import share_by_case  # numpy

    cases, hits = zip(*counted, strict=True)
    return share_by_case(hits, cases, seed=seed)
