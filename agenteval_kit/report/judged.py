"""What judges said of a run, read once and small enough to keep: scores, seats, evidence, cost.

May not keep a reply, decide, or call a judge trusted that no calibration calls so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agenteval_kit.labels import LabelSet, hear_people, said_of_run
from agenteval_kit.records import SeatRecord
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.trust import DimensionTrust, trust_in
from agenteval_kit.report.facts import Key
from agenteval_kit.report.judge_spent import JudgeSpent, read_spent
from agenteval_kit.runs import Run, wordings_of

if TYPE_CHECKING:
    from agenteval_kit.calibrate.corrected import CorrectedDimension
    from agenteval_kit.judge.pairing import JudgedPair, PairedDimension
    from agenteval_kit.judge.scores import DimensionScores
    from agenteval_kit.pairwise.summary import PreferenceSummary

__all__ = ["Judged", "ShownSeat", "ShownVerdict", "read_judged"]

_LONGEST = 600


@dataclass(frozen=True, slots=True)
class ShownSeat:
    """What one seat said: score or reason, its sentence, and what it points at (turn, words)."""

    model: str
    score: int | None
    reason: str
    justification: str
    evidence: tuple[tuple[int | None, str], ...]
    repaired: str


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """One verdict on one transcript, without the replies."""

    dimension: str
    layer: str
    levels: tuple[int, ...]
    score: int | None
    reason: str
    seats: tuple[ShownSeat, ...]
    again: tuple[ShownSeat, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """All that judges said of a run, and of its baseline under the same judges.

    Attributes
    ----------
    dimensions : tuple of DimensionScores
        Each under one judge.
    before : mapping of str to DimensionScores
        The baseline's, by dimension.
    pairs : mapping of str to PairedDimension
        Both runs paired by case.
    verdicts, old_verdicts : mapping
        By case and repeat.
    preferences : PreferenceSummary or None
        Against the baseline.
    spent : JudgeSpent or None
        None where no judge was asked.
    trust : tuple of DimensionTrust
        What calibrations found.
    calibrated : mapping of str to DimensionCalibration
        By dimension, what labels say of the judge that speaks for it.
    corrected : mapping of str to CorrectedDimension
        By dimension, what people would have scored.
    heard : mapping
        By case, repeat and dimension: by rater, the label or review that holds a level.
    """

    dimensions: tuple[DimensionScores, ...] = ()
    before: Mapping[str, DimensionScores] = field(default_factory=dict)
    pairs: Mapping[str, PairedDimension] = field(default_factory=dict)
    verdicts: Mapping[Key, Sequence[ShownVerdict]] = field(default_factory=dict)
    old_verdicts: Mapping[Key, Sequence[ShownVerdict]] = field(default_factory=dict)
    preferences: PreferenceSummary | None = None
    spent: JudgeSpent | None = None
    trust: tuple[DimensionTrust, ...] = ()
    calibrated: Mapping[str, DimensionCalibration] = field(default_factory=dict)
    corrected: Mapping[str, CorrectedDimension] = field(default_factory=dict)
    heard: Mapping[tuple[str, int, str], Mapping[str, LabelRow]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.dimensions) or self.preferred

    @property
    def preferred(self) -> bool:
        """Whether a judge compared this run with its baseline."""
        return self.preferences is not None and bool(self.preferences.comparisons)

    @property
    def seated(self) -> tuple[str, ...]:
        """The names of the judges that scored on a scale."""
        names = (one.model for item in self.dimensions for one in item.stamp.seats)
        return tuple(dict.fromkeys(names))

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of all judges that are shown."""
        names = list(self.seated)
        if self.preferences is not None:
            names += [one.judge for one in self.preferences.comparisons]
        return tuple(dict.fromkeys(names))

    @property
    def scripted(self) -> tuple[str, ...]:
        """Judges that are scripts, by their name: what they say was written beforehand."""
        return tuple(name for name in self.judges if name.startswith("scripted"))

    @property
    def labelled(self) -> Mapping[str, int]:
        """By dimension, how many of this run's transcripts people gave a level."""
        return Counter(
            dimension
            for (*_, dimension), raters in self.heard.items()
            if any(row.kind == "label" for row in raters.values())
        )

    def people_on(self, case_id: str, repeat: int, dimension: str) -> Mapping[str, LabelRow]:
        """What people said of one verdict, by rater; empty where nobody read it."""
        return self.heard.get((case_id, repeat, dimension), {})

    def trust_of(self, dimension: DimensionScores) -> DimensionTrust:
        """Whether the judge of a dimension is trusted."""
        return trust_in(dimension.name, dimension.judged.judge_digest, self.trust)


def read_judged(
    run: Run,
    baseline: Run | None = None,
    *,
    pairs: Sequence[PairedDimension] = (),
    scores: JudgedPair | None = None,
    trust: Iterable[DimensionTrust] = (),
    calibration: Calibration | None = None,
    labels: LabelSet | None = None,
) -> Judged:
    """Read the verdicts and preferences of a run, and the baseline's under the same judges.

    Parameters
    ----------
    run, baseline : Run
        What is released, and what it is compared with.
    pairs : sequence of PairedDimension
        Both runs paired by case, as the comparison made them.
    scores : JudgedPair, optional
        Of both runs, if it was read before.
    trust : iterable of DimensionTrust
        What calibrations found.
    calibration : Calibration, optional
        From which the means are corrected.
    labels : LabelSet, optional
        What people said.

    Raises
    ------
    ConfigError
        If a row cannot be read.
    """
    stamps = run.judge_stamps()
    compared = baseline is not None and bool(run.comparison_stamps())
    if not stamps and not compared:
        return Judged()
    # Late: a page without a judge has no use for numpy.
    from agenteval_kit.judge.pairing import read_pair
    from agenteval_kit.pairwise.summary import preference_summary

    both = scores if scores is not None else read_pair(run, baseline)
    dimensions, before = tuple(both.new.values()), both.old
    digests = {one.judged.judge_digest for one in dimensions}
    preferences = None
    if compared and baseline is not None:
        preferences = preference_summary(run, baseline.id, again=baseline)
    verdicts, asked = _verdicts(run, digests)
    old_verdicts: Mapping[Key, Sequence[ShownVerdict]] = {}
    if baseline is not None:
        old_verdicts, _ = _verdicts(baseline, {one.judged.judge_digest for one in before.values()})
    if preferences is not None:
        wanted = {one.judge_digest for one in preferences.comparisons}
        asked += sum(
            order.attempts
            for row in run.preference_rows(old=preferences.old)
            if row.judge_digest in wanted
            for order in row.orders
        )
    made = Judged(
        dimensions=dimensions,
        before=before,
        pairs={one.dimension: one for one in pairs},
        verdicts=verdicts,
        old_verdicts=old_verdicts,
        preferences=preferences,
        trust=tuple(trust),
        calibrated=_calibrated(run, dimensions, calibration),
        corrected=_corrected(run, dimensions, calibration),
        heard=_heard(run, dimensions, labels),
    )
    return Judged(**{**made.__dict__, "spent": read_spent(run, made.judges, asked=asked)})


def _calibrated(
    run: Run, dimensions: Sequence[DimensionScores], calibration: Calibration | None
) -> dict[str, DimensionCalibration]:
    if calibration is None:
        return {}
    found = {
        one.name: calibration.of(one.name, one.judged.judge_digest, run=run.info.id)
        for one in dimensions
    }
    return {name: entry for name, entry in found.items() if entry is not None}


def _corrected(
    run: Run,
    dimensions: Sequence[DimensionScores],
    calibration: Calibration | None,
) -> Mapping[str, CorrectedDimension]:
    if calibration is None or not _calibrated(run, dimensions, calibration):
        return {}
    mine = {one.name: one.judged.judge_digest for one in dimensions}
    from agenteval_kit.calibrate import corrected_run  # late: loads numpy

    return corrected_run(run, calibration, judges=mine).dimensions


def _heard(
    run: Run, dimensions: Sequence[DimensionScores], labels: LabelSet | None
) -> Mapping[tuple[str, int, str], Mapping[str, LabelRow]]:
    if labels is None:
        return {}
    found: dict[tuple[str, int, str], Mapping[str, LabelRow]] = {}
    names = (run.id, run.info.id)
    said = said_of_run(
        labels, names, transcripts=run.transcripts(), verdicts=run.verdict_rows()
    ).rows
    stamps = run.judge_stamps()
    for one in dimensions:
        wordings = wordings_of(one.stamp, stamps)
        heard = hear_people(said, dimension=one.name, wordings=wordings, levels=one.stamp.levels)
        found |= {(*key, one.name): raters for key, raters in heard.said.items()}
    return found


def _verdicts(run: Run, digests: set[str]) -> tuple[dict[Key, list[ShownVerdict]], int]:
    found: dict[Key, list[ShownVerdict]] = {}
    asked = 0
    for row in run.verdict_rows() if digests else ():
        if row.judge_digest not in digests:
            continue
        asked += sum(seat.attempts for seat in (*row.seats, *row.again))
        shown = ShownVerdict(
            dimension=row.dimension,
            layer=row.layer,
            levels=row.levels,
            score=row.score,
            reason=row.reason,
            seats=tuple(map(_seat, row.seats)),
            again=tuple(map(_seat, row.again)),
            flags=row.flags,
        )
        found.setdefault((row.case_id, row.repeat), []).append(shown)
    return found, asked


def _seat(seat: SeatRecord) -> ShownSeat:
    return ShownSeat(
        model=seat.model,
        score=seat.score,
        reason=seat.reason[:_LONGEST],
        justification=seat.justification[:_LONGEST],
        evidence=tuple((one.turn, (one.quote or "")[:_LONGEST]) for one in seat.evidence),
        repaired=seat.repaired,
    )
