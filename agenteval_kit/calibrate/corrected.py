"""What people would have scored the whole run, from a calibration of its judge.

May not pick an estimator against the design of the labels, nor use labels that tuned the rubric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.calibrate.join import Key, read_scores, speaking, times
from agenteval_kit.calibrate.parts import Parts
from agenteval_kit.calibrate.result import CalibrationResult
from agenteval_kit.calibrate.standing import DRAWN
from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records import JudgeStamp
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration, LabelPair
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.corrected import Corrected
    from agenteval_kit.stats.joint import Design

__all__ = ["FRESH", "CorrectedDimension", "CorrectedRun", "corrected_run"]

FRESH = 20
"""Labelled transcripts of a run from which on its correction rests on them."""


@dataclass(frozen=True, slots=True)
class CorrectedDimension:
    """One dimension as people would have scored it.

    Attributes
    ----------
    found : Corrected or None
        Corrected beside raw figures; None where there is nothing to correct with.
    reason : str
        Why there is none.
    labelled_run : str
        The run whose labels were used.
    transported : bool
        The labels are of another agent: that this judge errs on both alike is assumed.
    notes : tuple of str
        Doubts in plain words.
    """

    dimension: str
    judge_digest: str
    found: Corrected | None
    reason: str = ""
    labelled_run: str = ""
    transported: bool = False
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The corrected mean in words, beside the judge's own."""
        if self.found is None:
            return f"{self.dimension}: no corrected mean ({self.reason})"
        told = "; ".join(part for part in (*self.notes, self.found.diag) if part)
        return (
            f"{self.dimension}: people would give {self.found.mean.text()}, the judge gave "
            f"{self.found.raw_mean.text()}" + (f" ({told})" if told else "")
        )


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """Every judged dimension of a run, as people would have scored it."""

    run: str
    dimensions: Mapping[str, CorrectedDimension]

    def frame(self) -> pd.DataFrame:
        """One row a dimension.

        Columns: dimension (str), corrected, low, high, raw, raw_low, raw_high (means; missing
        where undefined), pass_rate, pass_low, pass_high, raw_pass_rate (shares, missing without a
        threshold), labels, suite (int, transcripts), design (str), transported (bool), diag (str).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        names = ["dimension", "corrected", "low", "high", "raw", "raw_low", "raw_high",
                 "pass_rate", "pass_low", "pass_high", "raw_pass_rate", "labels", "suite",
                 "design", "transported", "diag"]  # fmt: skip
        rows = [_row(one) for one in self.dimensions.values()]
        return pd.DataFrame.from_records(rows, columns=names)

    def lines(self) -> tuple[str, ...]:
        """A sentence a dimension."""
        return tuple(one.sentence() for one in self.dimensions.values())

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(escape=True, index=False))


def corrected_run(
    run: Run,
    calibration: Calibration | CalibrationResult,
    *,
    pass_at: Mapping[str, float] | float | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
    seed: int = 0,
) -> CorrectedRun:
    """The mean and pass rate that people would have given the run, per judged dimension.

    Held-out labels only, projected on what they stand for: transcripts of scenarios that could not
    be held out count as people labelled them, and where nobody did as anything on the scale. Of
    labels of this run there must be 20; else those of the newest calibration of the same judge are
    used, and marked transported if they are another agent's.

    Parameters
    ----------
    run : Run
        Any run that was judged by a judge that was calibrated.
    calibration : Calibration or CalibrationResult
        Where the labels stand beside the verdicts.
    pass_at : float, or mapping of str to float, optional
        Lowest score that passes, for all dimensions or by name.
    judges : mapping of str to str, optional
        Judge digest by dimension, where not the one that speaks for it is meant.
    dimensions : sequence of str, optional
        These only.
    seed : int
        Of the intervals.

    Raises
    ------
    ConfigError
        If a named dimension or judge is not there.

    References
    ----------
    As `stats.corrected`.
    """
    known = calibration.calibration if isinstance(calibration, CalibrationResult) else calibration
    stamps = run.judge_stamps()
    scores, agents = read_scores(run)
    chosen = speaking(stamps, {digest: len(own) for digest, own in scores.items()}, judges=judges)
    for name in dimensions or ():
        if name not in chosen:
            raise ConfigError(
                f'nobody has judged "{name}" in run {run.id}; judged are '
                f"{', '.join(chosen) or 'none'}.{did_you_mean(name, chosen)}"
            )
    made: dict[str, CorrectedDimension] = {}
    for name in dimensions or chosen:
        stamp = chosen[name]
        at = pass_at.get(name) if isinstance(pass_at, Mapping) else pass_at
        made[name] = _corrected(
            stamp,
            known,
            run,
            scores.get(stamp.judge_digest, {}),
            agents.get(stamp.judge_digest, ""),
            pass_at=at,
            seed=seed,
        )
    return CorrectedRun(run.id, made)


def _corrected(
    stamp: JudgeStamp,
    known: Calibration,
    run: Run,
    scores: Mapping[Key, int | None],
    agent: str,
    *,
    pass_at: float | None,
    seed: int,
) -> CorrectedDimension:
    from agenteval_kit.stats.corrected import corrected  # numpy
    from agenteval_kit.stats.joint import Labels

    name, digest = stamp.dimension, stamp.judge_digest
    entries = [
        one for one in known.dimensions if (one.dimension, one.judge_digest) == (name, digest)
    ]
    if not entries:
        other = any(one.dimension == name for one in known.dimensions)
        why = "calibrated for another judge" if other else "never calibrated"
        return CorrectedDimension(name, digest, None, why)
    entry = _entry_for(entries, run.info.id, agent)
    transported = not entry.is_of(run.info.id) and entry.agent_digest != agent
    pairs, design, notes = one_design(
        [one for one in entry.pairs if one.half == "held out" and one.judge is not None]
    )
    if not entry.is_of(run.info.id):
        notes += (_elsewhere(entry, pairs, scores, transported=transported),)
    shared: dict[str, Any] = {"labelled_run": entry.run, "transported": transported}
    if not pairs:
        why = "no held-out labels with a score beside them"
        return CorrectedDimension(name, digest, None, why, notes=notes, **shared)
    keys = [(one.case_id, one.repeat) for one in pairs]
    cases = [case for case, _ in keys]
    labels = Labels(
        judge=[one.judge for one in pairs],
        human=[one.human for one in pairs],
        design=design,
        items=keys,
        inclusion=[one.inclusion or 1.0 for one in pairs]
        if all(one.inclusion is not None for one in pairs)
        else None,
        clusters=cases if len(set(cases)) < len(set(keys)) else None,
    )
    parts = Parts.of(entry, run.info.id, scores, drawn=design in DRAWN)

    def project(suite: Mapping[Key, int | None]) -> Corrected:
        of = [case for case, _ in suite]
        return corrected(
            labels,
            list(suite.values()),
            levels=stamp.levels,
            pass_at=pass_at,
            suite_clusters=of if len(set(of)) < len(of) else None,
            seed=seed,
        )

    try:
        found = project(parts.rest)
        if len(parts.rest) < len(scores):
            found = parts.together(
                found,
                project({**parts.rest, **parts.unread}) if parts.unread else found,
                project(scores),
                levels=stamp.levels,
                pass_at=pass_at,
            )
    except ConfigError as error:
        # The wrong estimator for these labels: refused with its reason, not computed.
        return CorrectedDimension(name, digest, None, str(error), notes=notes, **shared)
    notes += parts.words(stamp.levels)
    return CorrectedDimension(name, digest, found, notes=notes, **shared)


def _entry_for(
    entries: Sequence[DimensionCalibration], run: str, agent: str
) -> DimensionCalibration:
    """The labels that say most of a run: its own, else its agent's, where there are enough."""
    own = [one for one in entries if one.is_of(run)]
    alike = [one for one in entries if one.agent_digest == agent]
    for some in (own, alike, entries):
        enough = [one for one in some if one.held_out >= FRESH]
        if enough:
            return enough[-1]
    return (own or alike or list(entries))[-1]


def _elsewhere(
    entry: DimensionCalibration,
    pairs: Sequence[LabelPair],
    scores: Mapping[Key, int | None],
    *,
    transported: bool,
) -> str:
    """That the labels are of another run, and what is taken for granted then."""
    if transported:
        return (
            f"transported: labels of run {entry.run}, another agent; label {FRESH} transcripts of "
            "this run to know"
        )
    here = {case for case, _ in scores}
    cases = {one.case_id for one in pairs}
    other = len(cases - here)
    told = f"labels of run {entry.run} of the same agent"
    if not other:
        return told
    return (
        f"{told}, {other} of {len(cases)} scenarios are not in this run: taken for granted that "
        "the judge errs alike on both"
    )


def one_design(
    pairs: Sequence[LabelPair],
) -> tuple[list[LabelPair], Design, tuple[str, ...]]:
    """The labels that one estimator can take together, its design, and what was left out.

    Labels drawn at random and labels drawn by a verdict go together by their inclusion
    probabilities. Where there are such, those picked by what a person said, or brought from
    elsewhere, are left out.
    """
    drawn = [one for one in pairs if one.design in ("uniform", "by_judge")]
    left = len(pairs) - len(drawn)
    if drawn:
        only = all(one.design == "uniform" for one in drawn)
        note = times(left, "label", "labels", "not drawn from the run left out of the correction")
        return drawn, "uniform" if only else "by_judge", (note,) if note else ()
    picked = any(one.design == "by_human" for one in pairs)
    return list(pairs), "by_human" if picked else "external", ()


def _row(one: CorrectedDimension) -> dict[str, Any]:
    row: dict[str, Any] = {"dimension": one.dimension, "transported": one.transported}
    doubt = [one.reason, *one.notes]
    if one.found is not None:
        for prefix, name, estimate in (
            ("", "corrected", one.found.mean),
            ("raw_", "raw", one.found.raw_mean),
            ("pass_", "pass_rate", one.found.pass_rate),
        ):
            row[name] = estimate.value
            row[f"{prefix}low"], row[f"{prefix}high"] = estimate.low, estimate.high
        row["raw_pass_rate"] = one.found.raw_pass_rate.value
        row["labels"], row["suite"] = one.found.labels, one.found.suite
        row["design"] = one.found.design
        doubt += [one.found.mean.reason, one.found.diag]
    row["diag"] = "; ".join(part for part in doubt if part)
    return row
