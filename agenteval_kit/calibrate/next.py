"""Which transcripts to label next, drawn so that the labels can be used like the others.

May not choose by what a person said: such labels could not correct a mean.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.allot import allot, reason_of
from agenteval_kit.calibrate.ceiling import by_transcript
from agenteval_kit.calibrate.join import Joined, Key, join_labels
from agenteval_kit.calibrate.standing import DRAWN
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import LabelSet, said_of_run, transcript_digest
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.records.labels import Sample, SampledItem, Stratum
from agenteval_kit.runs import Run
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NextLabels", "label_next"]


@dataclass(frozen=True, slots=True)
class NextLabels:
    """Transcripts whose labels would narrow the decision most, with the reasons.

    Attributes
    ----------
    dimension : str
        Which one they are drawn for; a transcript is labelled on all.
    sample : Sample or None
        Drawn at random within each score of the judge, ready for `labels.write_sample`; None where
        nothing is left to be drawn.
    reasons : mapping of str to str
        By stratum, why so many of it.
    second : tuple of (str, int)
        Case and repeat of transcripts with one label: a second person on them tells the ceiling.
    notes : tuple of str
        What could not be drawn.
    """

    dimension: str
    sample: Sample | None
    reasons: Mapping[str, str]
    second: tuple[Key, ...] = ()
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row a transcript.

        Columns: case_id (str), repeat (int), stratum (str), inclusion (float, the probability with
        which it was drawn from what is not labelled yet), reason (str).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        items = self.sample.items if self.sample else ()
        return pd.DataFrame(
            [
                (one.case_id, one.repeat, one.stratum, one.inclusion, self.reasons[one.stratum])
                for one in items
            ],
            columns=["case_id", "repeat", "stratum", "inclusion", "reason"],
        )

    def lines(self) -> tuple[str, ...]:
        """What to label, and why, in words."""
        told = [f"{self.dimension}, {name}: {why}" for name, why in self.reasons.items()]
        if self.second:
            told.append(
                f"{counted(len(self.second), 'transcript')} with one label: a second person on "
                f"{', '.join(case for case, _ in self.second[:5])} "
                "and so on tells how far people agree, without which no judge is trusted"
            )
        return (*told, *self.notes)

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(escape=True, index=False))


def label_next(
    run: Run,
    labels: LabelSet,
    *,
    now: str,
    n: int = 10,
    dimension: str | None = None,
    pass_at: float | None = None,
    known: Calibration | None = None,
    name: str = "next",
    seed: int = 0,
) -> NextLabels:
    """The transcripts of a judged run that are worth a label most.

    While fewer than 10 labelled transcripts lie outside the commonest score, they are drawn
    outside it. Then each goes to the score of the judge where one more label shrinks the
    uncertainty of the corrected mean most: scores that many transcripts have, that few labels
    stand behind, and on which people differ. With `pass_at` the pass rate counts instead, and
    scores near the bar win. Within a score chance decides. Only labels that can carry trust count
    as had, and only transcripts whose labels could are drawn: of scenarios that can be held out,
    and not what everybody who read it could not tell.

    Parameters
    ----------
    run, labels
        A judged run, and what was said of it so far.
    now : str
        When, as `runs.now_text` writes it.
    n : int
        How many.
    dimension : str, optional
        The judged one with the fewest labels where none is named.
    pass_at : float, optional
        Lowest score that passes.
    known : Calibration, optional
        The file so far: scenarios of an earlier tuning half, or looked at under another wording,
        cannot be held out.
    name : str
        Of the sample.
    seed : int
        Of the draw.

    Raises
    ------
    ConfigError
        If the dimension was not judged.
    """
    joined, _ = join_labels(run, labels, dimensions=[dimension] if dimension else None)
    judged = [one for one in joined if one.stamp is not None]
    if not judged:
        raise ConfigError(
            f"run {run.id} holds no verdict{f' on {dimension}' if dimension else ''}; judge it, "
            "or draw a sample with sample_run"
        )
    one = min(judged, key=lambda each: len(by_transcript(each.rows)))
    tuned = _spent(one, labels, known)
    read = _read(one, run, labels)
    own = [row for row in one.rows if row.case_id not in tuned and one.reads_as_judged(row)]
    # Beside what is drawn now, labels that were not drawn are left out of every figure.
    fair = [row for row in own if row.design in DRAWN]
    said = by_transcript(fair)
    pool: dict[int, list[Key]] = {level: [] for level in one.levels}
    for key, score in one.scores.items():
        if score is not None and key not in read and key[0] not in tuned:
            pool[score].append(key)
    sizes = Counter(score for score in one.scores.values() if score is not None)
    drawn, first = allot(one, said, {level: len(keys) for level, keys in pool.items()}, n, pass_at)
    items: list[SampledItem] = []
    for level, count in drawn.items():
        ordered = sorted(pool[level], key=lambda key: _hash(seed, key))
        items += [
            SampledItem(
                case_id=key[0],
                repeat=key[1],
                stratum=f"score {level}",
                inclusion=count / len(ordered),
            )
            for key in ordered[:count]
        ]
    have = Counter(one.scores.get(key) for key in said)
    reasons = {
        f"score {level}": reason_of(level, count, have[level], sizes[level], first, pass_at)
        for level, count in drawn.items()
        if count
    }
    alone = [key for key, each in by_transcript(fair or own).items() if len(each) == 1]
    unsure = len(read - set(by_transcript(one.rows)))
    unscored = sum(score is None for score in one.scores.values())
    notes = []
    if len(items) < n:
        why = "labelled, or cannot be held out" if tuned else "labelled"
        notes.append(f"only {len(items):,} of {n:,}: the other judged transcripts are {why}")
    if unsure:
        notes.append(f"not drawn again: {counted(unsure, 'transcript')} that nobody could tell")
    if unscored:
        notes.append(f"not drawn: {counted(unscored, 'unscored transcript')}; see the reading list")
    if tuned:
        notes.append(
            f"used for tuning: {counted(len(tuned), 'scenario')}, not to be held out and not "
            "drawn; labels there do not count here"
        )
    return NextLabels(
        dimension=one.dimension,
        sample=_sample(one, run, items, pool, drawn, name=name, now=now, seed=seed)
        if items
        else None,
        reasons=reasons,
        second=tuple(sorted(alone, key=lambda key: _hash(seed, key))[:n]),
        notes=tuple(notes),
    )


def _spent(one: Joined, labels: LabelSet, known: Calibration | None) -> set[str]:
    """Scenarios that can no longer be held out for this judge, as a calibration parts them."""
    assert one.stamp is not None  # only what was judged is drawn from
    spent = {row.case_id for row in labels.labels(one.dimension) if row.purpose == "tuning"}
    first: dict[str, str] = {}
    if known is not None:
        entries = [each for each in known.dimensions if each.dimension == one.dimension]
        spent |= {pair.case_id for each in entries for pair in each.pairs if pair.half == "tuning"}
        for look in known.looks:
            for case in look.cases if look.dimension == one.dimension else ():
                first.setdefault(case, look.dimension_digest)
    held = {case for case, digest in first.items() if digest == one.stamp.dimension_digest}
    return (spent | set(first)) - held


def _read(one: Joined, run: Run, labels: LabelSet) -> set[Key]:
    """Transcripts of which somebody said a level, or that it cannot be told."""
    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    return {
        (row.case_id, row.repeat)
        for row in said.rows
        if row.kind == "label" and row.dimension == one.dimension
    }


def _sample(
    one: Joined,
    run: Run,
    items: Sequence[SampledItem],
    pool: Mapping[int, Sequence[Key]],
    drawn: Mapping[int, int],
    *,
    name: str,
    now: str,
    seed: int,
) -> Sample:
    assert one.stamp is not None  # only what was judged is drawn from
    chosen = {(item.case_id, item.repeat) for item in items}
    left = {case for keys in pool.values() for case, _ in keys}
    read = {
        (each.case_id, each.repeat): transcript_digest(each)
        for each in run.transcripts()
        if (each.case_id, each.repeat) in chosen
    }
    return Sample(
        name=name,
        run=run.id,
        run_path=run.path.as_posix(),
        suite=run.info.suite,
        suite_digest=run.info.suite_digest,
        agent_digest=one.agent_digest,
        design="by_judge",
        purpose="calibration",
        by=f"verdicts on {one.dimension}, of what is not labelled yet",
        judge_digest=one.stamp.judge_digest,
        strata=tuple(
            Stratum(name=f"score {level}", total=len(keys), drawn=drawn[level])
            for level, keys in pool.items()
        ),
        items=tuple(
            item.model_copy(update={"transcript_digest": read.get((item.case_id, item.repeat), "")})
            for item in items
        ),
        seed=seed,
        apart=tuple(sorted({case for case, _ in one.scores} - left)),
        at=now,
    )


def _hash(seed: int, key: Key) -> str:
    return hashlib.sha256(f"{seed}/{key[0]}/{key[1]}".encode()).hexdigest()
