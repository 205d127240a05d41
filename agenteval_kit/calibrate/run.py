"""Calibrates the judges of a run on the labels of people.

May not draw, ask or decide a release; keeps what was known before, so that trust can come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from agenteval_kit.calibrate.apart import of_what, set_apart, used_up
from agenteval_kit.calibrate.beside import Beside, judge_beside_people
from agenteval_kit.calibrate.ceiling import Ceiling, CeilingRule, human_ceiling
from agenteval_kit.calibrate.entry import add_entries, make_entry
from agenteval_kit.calibrate.first import as_first_said, said_first, stand_by_first
from agenteval_kit.calibrate.join import Joined, join_labels
from agenteval_kit.calibrate.result import CalibrationResult, DimensionResult
from agenteval_kit.calibrate.seen import pairs_digest, stand_as_seen
from agenteval_kit.calibrate.split import Split, costs, count_looks, split_scenarios
from agenteval_kit.calibrate.standing import DRAWN
from agenteval_kit.calibrate.trust import chance_as_good, decide_trust, order_of_repair
from agenteval_kit.labels import LabelSet, list_samples, names_of_run
from agenteval_kit.places import own_name
from agenteval_kit.records import JudgeStamp, Rubric
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration, LabelPair, Look
from agenteval_kit.records.labels import LabelRow, Sample
from agenteval_kit.runs import Run
from agenteval_kit.runs.verdicts import first_asked

__all__ = ["calibrate_run"]


def calibrate_run(
    run: Run,
    labels: LabelSet,
    *,
    now: str,
    rubric: Rubric | None = None,
    rule: TrustRule | None = None,
    known: Calibration | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
    ceiling_rule: CeilingRule | None = None,
    seed: int = 0,
) -> CalibrationResult:
    """Who is trusted on what, found from labels: the ceiling first, then the judge beside it.

    Parameters
    ----------
    run, labels
        The run that was judged, and what people said of its transcripts.
    now : str
        When, as `runs.now_text` writes it.
    rubric : Rubric, optional
        As it stands now; a dimension that reads otherwise than when it was judged is said.
    rule : TrustRule, optional
        The bar's.
    known : Calibration, optional
        The file so far: earlier looks cost, and earlier entries stay.
    judges : mapping of str to str, optional
        Judge digest by dimension, where not the last complete one is meant.
    dimensions : sequence of str, optional
        These only.
    ceiling_rule : CeilingRule, optional
        Where a rubric is called ambiguous.
    seed : int
        Of every interval.

    Returns
    -------
    CalibrationResult
        With an entry for each dimension that was judged and labelled.

    Raises
    ------
    ConfigError
        If a named dimension or judge is not there.
    """
    rule = rule or TrustRule()
    known = known or Calibration(
        name=own_name(labels.folder).name if labels.folder else run.info.suite,
        # What was recorded or scripted says so wherever it goes.
        note=run.info.data_note or "",
    )
    joined, notes = join_labels(run, labels, rubric=rubric, judges=judges, dimensions=dimensions)
    samples = list_samples(labels.folder) if labels.folder is not None else []
    since = _known_since(run, samples, known)
    named = names_of_run(labels.rows, (run.id, run.info.id), transcripts=run.transcripts())
    # Those that were changed or taken back too.
    ever = [row for row in labels.rows if row.kind != "review" and row.run in named]
    found = []
    looks: list[Look] = []
    for one in joined:
        measure = partial(
            _dimension,
            run=run,
            rule=rule,
            ceiling_rule=ceiling_rule,
            samples={sample.name: sample for sample in samples},
            since=since,
            now=now,
            seed=seed,
        )
        result, look = measure(one, labels=labels, known=known, ever=ever)
        found.append(_beside_first(result, one, run, labels, known, since, ever, measure))
        looks += [look] if look is not None and look not in known.looks else []
    return CalibrationResult(
        calibration=add_entries(
            known, [one.entry for one in found if one.entry is not None], looks
        ),
        dimensions=tuple(found),
        notes=notes,
    )


def _known_since(run: Run, samples: Sequence[Sample], known: Calibration) -> dict[str, str]:
    """The earliest time that each judge digest is known from.

    A run that is made again from its tape asks anew; a sample that was drawn by the judge's
    verdicts, or an earlier calibration, proves that the judge is older.
    """
    found = first_asked(run.path)
    seen = [(digest, one.at) for one in samples for digest in one.judge_digest.split()]
    seen += [(entry.judge_digest, entry.at) for entry in known.dimensions]
    for digest, at in seen:
        # ISO 8601 in UTC sorts as text.
        found[digest] = min(found.get(digest, at), at)
    return found


def _beside_first(
    found: DimensionResult,
    one: Joined,
    run: Run,
    labels: LabelSet,
    known: Calibration,
    since: Mapping[str, str],
    ever: Sequence[LabelRow],
    measure: Callable[..., tuple[DimensionResult, Look | None]],
) -> DimensionResult:
    """What was found, held against the labels as they were when the judge had spoken."""
    digest = one.stamp.judge_digest if one.stamp is not None else ""
    lines = [
        row
        for row in ever
        if row.kind == "label"
        and row.dimension == one.dimension
        and row.score in one.levels
        and one.reads_as_judged(row)
    ]
    first = said_first(labels, lines, since=since.get(digest, ""))
    now = {(row.case_id, row.repeat, row.rater): (row.score, row.purpose) for row in one.rows}
    if not digest or all(now.get(at) == (row.score, row.purpose) for at, row in first.items()):
        return found
    then = as_first_said(labels, lines, first)
    (joined,), _ = join_labels(
        run, then, judges={one.dimension: digest}, dimensions=[one.dimension]
    )
    named = {row.run for row in ever}
    # Earlier looks are at labels as they stood later: they cost, and do not say what came first.
    bare = [
        entry.model_copy(
            update={"pairs": tuple(pair for pair in entry.pairs if pair.half == "tuning")}
        )
        for entry in known.dimensions
    ]
    before, _ = measure(
        joined,
        labels=then,
        known=known.model_copy(update={"dimensions": tuple(bare)}),
        ever=[row for row in then.rows if row.kind != "review" and row.run in named],
        looks=found.looks,
    )
    return stand_by_first(found, before)


def _dimension(
    one: Joined,
    run: Run,
    labels: LabelSet,
    known: Calibration,
    *,
    rule: TrustRule,
    ceiling_rule: CeilingRule | None,
    samples: Mapping[str, Sample],
    since: Mapping[str, str],
    ever: Sequence[LabelRow],
    now: str,
    seed: int,
    looks: int | None = None,
) -> tuple[DimensionResult, Look | None]:
    ceiling, notes = _ceiling(one, ceiling_rule, seed)
    if one.stamp is None or not one.rows:
        why = "nobody has judged it" if one.stamp is None else "nobody has labelled it"
        more = rule.min_labels if one.stamp is not None else None
        return _uncalibrated(one, ceiling, (*one.notes, *notes), why, more), None
    stamp = one.stamp
    earlier = [entry for entry in known.dimensions if entry.dimension == one.dimension]
    past = [look for look in known.looks if look.dimension == one.dimension]
    lines = [row for row in ever if row.kind == "label" and row.dimension == one.dimension]
    tuned_on = {row.case_id for row in labels.labels(one.dimension) if row.purpose == "tuning"}
    split = split_scenarios(
        [row for row in one.rows if one.reads_as_judged(row)],
        tuned_on=tuned_on,
        read_before={
            pair.case_id for entry in earlier for pair in entry.pairs if pair.half == "tuning"
        },
        looks=past,
        dimension_digest=stamp.dimension_digest,
        judge_since=since.get(stamp.judge_digest, now),
        lines=lines,
    )
    standing = stand_as_seen(
        _pairs(one, split),
        entries=[
            entry
            for entry in earlier
            if entry.is_of(run.info.id) and entry.dimension_digest == stamp.dimension_digest
        ],
        looks=[
            look
            for look in past
            if look.dimension_digest == stamp.dimension_digest and costs(look, rule.min_labels)
        ],
        lines=lines,
        scores=one.scores,
    )
    pairs = standing.pairs
    look = _look(stamp, pairs, now)
    if looks is None and look.cases:
        looks = count_looks(
            past,
            cases=look.cases,
            judge_digest=stamp.judge_digest,
            dimension_digest=stamp.dimension_digest,
            labels=look.labels,
            min_labels=rule.min_labels,
        )
    looks = looks or 0
    held = set(look.cases)
    apart = set_apart(
        held,
        tuned_on=tuned_on,
        looks=past,
        dimension_digest=stamp.dimension_digest,
        drawn=[
            samples.get(name)
            for name in {
                row.sample for row in one.rows if row.case_id in held and row.design in DRAWN
            }
        ],
        lines=ever,
    )
    beside = judge_beside_people(
        [pair for pair in pairs if pair.case_id not in apart],
        one.levels,
        suite=Counter(
            score
            for (case, _), score in one.scores.items()
            if score is not None and case not in apart
        ),
        looks=max(looks, 1),
        seed=seed,
    )
    spent = used_up(one.scores, apart)
    beside = replace(beside, open=(*beside.open, spent)) if spent and beside.drawn else beside
    decided = decide_trust(beside, rule, looks=looks).doubted(standing.withdrawn)
    part = of_what(one.scores, apart) if beside.drawn and held else ""
    chance = chance_as_good(beside, ceiling, rule, seed=seed)
    repair = order_of_repair(stamp, decided, beside, earlier=earlier, rule=rule)
    told = (
        *repair, *([f"agreement, kappa and the gap are {part}"] if part else []), *one.notes,
        *notes, *standing.notes, *ceiling.notes, *beside.notes, *split.lines(),
    )  # fmt: skip
    result = DimensionResult(
        dimension=one.dimension,
        layer=one.layer,
        levels=one.levels,
        stamp=stamp,
        ceiling=ceiling,
        beside=beside,
        chance=chance,
        state=decided.state,
        reason="; ".join(text for text in (decided.reason, part) if text),
        more_labels=decided.more_labels,
        looks=looks,
        pairs=pairs,
        notes=tuple(dict.fromkeys(told)),
        entry=None,
    )
    look = look.model_copy(update={"transcripts": beside.scenarios})
    fresh = bool(look.cases) and not any(_same_look(look, other) for other in past)
    entry = make_entry(
        result, one, run, rule=rule, apart=apart, untold=_untold(one, pairs, apart), now=now
    )
    if entry.on_what_text:
        notes = (*result.notes, entry.on_what_text)
        result = replace(result, notes=notes)
        entry = entry.model_copy(update={"notes": notes})
    return replace(result, entry=entry), look if fresh else None


def _untold(one: Joined, pairs: Sequence[LabelPair], apart: Collection[str]) -> int:
    """Labels that trust rests on which do not say which text they were given on."""
    held = {
        (pair.case_id, pair.repeat, pair.rater)
        for pair in pairs
        if pair.half == "held out" and pair.judge is not None and pair.case_id not in apart
    }
    return sum(
        not row.transcript_digest and (row.case_id, row.repeat, row.rater) in held
        for row in one.rows
    )


def _ceiling(one: Joined, rule: CeilingRule | None, seed: int) -> tuple[Ceiling, tuple[str, ...]]:
    as_judged = [row for row in one.rows if one.reads_as_judged(row)]
    levels = one.levels or (0, 1)  # a scale that is not known has no labels
    found = human_ceiling(as_judged, levels, scores=one.scores, rule=rule, seed=seed)
    if found.known or len(as_judged) == len(one.rows):
        return found, ()
    older = human_ceiling(one.rows, levels, scores=one.scores, rule=rule, seed=seed)
    if not older.known:
        return found, ()
    return older, ("the ceiling is of labels given under another wording",)


def _pairs(one: Joined, split: Split) -> tuple[LabelPair, ...]:
    made = [
        LabelPair(
            case_id=row.case_id,
            repeat=row.repeat,
            rater=row.rater,
            human=row.score,
            judge=one.scores[row.case_id, row.repeat],
            inclusion=row.inclusion,
            design=row.design,
            dimension_digest=row.dimension_digest,
            half="held out"
            if row.case_id in split.held_out and one.reads_as_judged(row)
            else "tuning",
        )
        for row in one.rows
        if row.score is not None and (row.case_id, row.repeat) in one.scores
    ]
    return tuple(made)


def _look(stamp: JudgeStamp, pairs: Sequence[LabelPair], now: str) -> Look:
    return Look(
        at=now,
        dimension=stamp.dimension,
        judge_digest=stamp.judge_digest,
        dimension_digest=stamp.dimension_digest,
        cases=tuple(sorted({pair.case_id for pair in pairs if pair.half == "held out"})),
        labels=pairs_digest(pairs),
    )


def _same_look(now: Look, past: Look) -> bool:
    """Whether the same judge was held against the same labels of the same scenarios before."""
    same = (past.judge_digest, set(past.cases), past.labels or now.labels) == (
        now.judge_digest, set(now.cases), now.labels,
    )  # fmt: skip
    return same and (past.transcripts is None or past.transcripts >= (now.transcripts or 0))


def _uncalibrated(
    one: Joined, ceiling: Ceiling, notes: tuple[str, ...], why: str, more_labels: int | None
) -> DimensionResult:
    from agenteval_kit.stats.estimate import Estimate

    nothing: Beside = judge_beside_people((), one.levels or (0, 1))
    return DimensionResult(
        dimension=one.dimension,
        layer=one.layer,
        levels=one.levels,
        stamp=one.stamp,
        ceiling=ceiling,
        beside=nothing,
        chance=Estimate.undefined("no held-out labels"),
        state="never calibrated",
        reason=why,
        more_labels=more_labels,
        looks=0,
        pairs=(),
        notes=(*notes, *ceiling.notes),
        entry=None,
    )
