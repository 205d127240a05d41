"""Where a person and the judge, or two people, do not give one transcript the same level.

May not say who is right, nor whether a judge is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from agenteval_kit.calibrate.compared import Compared, Disagreements, Scale
from agenteval_kit.calibrate.join import Key, speaking, times
from agenteval_kit.calibrate.standing import DRAWN
from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.labels import LabelSet, SaidOfRun, one_each, said_of_run
from agenteval_kit.records import JudgeStamp, Rubric, VerdictRow
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.runs import Run, wordings_of
from agenteval_kit.text import counted

__all__ = ["chosen_judges", "disagreements"]


def disagreements(
    run: Run,
    labels: LabelSet,
    *,
    rubric: Rubric | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
) -> Disagreements:
    """Where people and the judge, or two people, differ on a run.

    Labels that say "cannot tell" are no score and are counted in a warning. What was looked at
    here is no longer held out: it may be used to mend the rubric, not to measure the judge again.

    Parameters
    ----------
    run : Run
        Judged or not: without a judge only people are compared.
    labels : LabelSet
        Those of other runs, of a transcript that reads otherwise, and of another wording than the
        judge reads are left out, as from a calibration.
    rubric : Rubric, optional
        For dimensions that nobody judged; a judged one is shown as the judge read it.
    judges : mapping of str to str, optional
        The judge digest to read, by dimension; else the one that speaks for it.
    dimensions : sequence of str, optional
        Only these.

    Raises
    ------
    ConfigError
        If a named dimension or judge is not there, a label is no level of its scale, or there is
        no label of this run.
    """
    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    mine = said.rows
    scored = [row for row in mine if row.kind == "label" and row.score is not None]
    if not scored:
        runs = sorted({row.run for row in labels.current} - said.names)
        raise ConfigError(
            f"there is no label with a score of run {run.id}; "
            + (
                times(
                    said.other_text,
                    "label is",
                    "labels are",
                    "of a transcript that reads otherwise or is not there",
                )
                if said.other_text
                else f"the labels are of {', '.join(runs)}"
                if runs
                else "none of its labels says a level"
                if labels.current
                else "there are no labels at all"
            )
            + ". See `agenteval label`."
        )
    stamps = chosen_judges(run, judges=judges)
    names = list(dict.fromkeys(row.dimension for row in scored))
    for name in dimensions or ():
        if name not in names:
            raise ConfigError(
                f'nobody labelled "{name}"; labelled are {", ".join(names)}.'
                f"{did_you_mean(name, names)}"
            )
    names = list(dimensions or names)
    given = [row for row in mine if row.kind == "label"]
    scored, older = _as_judged(given, {name: stamps.get(name) for name in names}, run)
    scales = {name: _scale(name, stamps.get(name), rubric, scored) for name in names}
    verdicts = _verdicts(run, scales)
    for name, scale in scales.items():
        scores = {key: row.score for (of, key), row in verdicts.items() if of == name}
        scales[name] = replace(scale, scores=scores)
    there = run.done()
    warnings = [*_warnings(run, said, scored, scales, there), *older]
    return Disagreements(
        run=run,
        data_note=run.info.data_note or "",
        scales=scales,
        compared=tuple(_compare(scored, mine, scales, verdicts, there)),
        overruled=tuple(
            row
            for row in mine
            if row.review is not None
            and row.review.answer == "overrule"
            and row.dimension in scales
            and row.review.judge_digest == scales[row.dimension].judge_digest
        ),
        warnings=tuple(warnings),
    )


def chosen_judges(run: Run, *, judges: Mapping[str, str] | None = None) -> dict[str, JudgeStamp]:
    """The judge that speaks for each dimension of a run, or the one that is asked for.

    Raises
    ------
    ConfigError
        If no such judge judged that dimension.
    """
    stamps = run.judge_stamps()
    counts = Counter(row.judge_digest for row in run.verdict_rows()) if stamps else Counter()
    return speaking(stamps, counts, judges=judges)


def _scale(
    name: str, stamp: JudgeStamp | None, rubric: Rubric | None, scored: Iterable[LabelRow]
) -> Scale:
    mine = [row for row in scored if row.dimension == name]
    given = {row.score for row in mine if row.score is not None}
    written = {one.name: one for one in rubric.absolute()}.get(name) if rubric else None
    if stamp is not None:
        scale = Scale(
            name, stamp.layer, stamp.levels, stamp.definition, stamp.anchors, stamp.judge,
            stamp.judge_digest, stamp.dimension_digest,
            any(seat.model.startswith("scripted") for seat in stamp.seats),
        )  # fmt: skip
    elif written is not None:
        scale = Scale(name, written.layer, written.levels, written.definition, written.anchors)
    else:
        levels = next((row.levels for row in mine if row.levels), tuple(sorted(given)))
        scale = Scale(name, "", levels, "", {})
    odd = sorted(given - set(scale.levels))
    if odd:
        raise ConfigError(
            f'labels of "{name}" say {", ".join(map(str, odd))}, but the scale is '
            f"{', '.join(map(str, scale.levels))}. They were given on another scale: leave them "
            "out, or judge again with the rubric that the raters read."
        )
    return scale


def _verdicts(run: Run, scales: Mapping[str, Scale]) -> dict[tuple[str, Key], VerdictRow]:
    wanted = {(one.name, one.judge_digest) for one in scales.values() if one.judge_digest}
    return {
        (row.dimension, (row.case_id, row.repeat)): row
        for row in (run.verdict_rows() if wanted else ())
        if (row.dimension, row.judge_digest) in wanted
    }


def _compare(
    scored: Iterable[LabelRow],
    mine: Iterable[LabelRow],
    scales: Mapping[str, Scale],
    verdicts: Mapping[tuple[str, Key], VerdictRow],
    there: set[Key],
) -> Iterable[Compared]:
    remarks: dict[Key, list[LabelRow]] = {}
    for row in mine:
        if row.kind in ("note", "failure"):
            remarks.setdefault((row.case_id, row.repeat), []).append(row)
    found: dict[tuple[str, Key], list[LabelRow]] = {}
    for row in scored:
        key = (row.case_id, row.repeat)
        if row.dimension in scales and key in there:
            found.setdefault((row.dimension, key), []).append(row)
    for (name, key), rows in found.items():
        said = [row for row in remarks.get(key, ()) if row.dimension in ("", name)]
        yield Compared(
            *key, scales[name], tuple(rows), tuple(said), verdicts.get((name, key))
        )  # fmt: skip


def _warnings(
    run: Run,
    said: SaidOfRun,
    scored: Sequence[LabelRow],
    scales: Mapping[str, Scale],
    there: set[Key],
) -> list[str]:
    told = []
    unsure = sum(row.kind == "label" and row.score is None for row in said.rows)
    if said.other_text:
        told.append(
            times(
                said.other_text,
                "label is",
                "labels are",
                "of a transcript that reads otherwise, or is not there",
            )
        )
    if unsure:
        told.append(f'compared with nothing: {counted(unsure, "label")} of "cannot tell"')
    gone = {(row.case_id, row.repeat) for row in scored} - there
    if gone:
        told.append(f"not in the run {run.id}: {counted(len(gone), 'labelled transcript')}")
    if any(row.design not in DRAWN for row in scored if row.dimension in scales):
        told.append(
            "some labelled transcripts were not drawn from the run: shares leave them out where "
            "others were, and else are of these transcripts, and not of the run"
        )
    told += [
        f"{scale.name}: no judge scored it; people are compared with each other"
        for scale in scales.values()
        if not scale.judge_digest
    ]
    return told


def _as_judged(
    given: Sequence[LabelRow], stamps: Mapping[str, JudgeStamp | None], run: Run
) -> tuple[list[LabelRow], list[str]]:
    """The labels under the wording that the judge reads, as a calibration takes them; and words.

    Where every label of a dimension is of another wording there is nothing else to read.
    """
    kept: list[LabelRow] = []
    told: list[str] = []
    every = run.judge_stamps()
    for name, stamp in stamps.items():
        alike = wordings_of(stamp, every) if stamp is not None else frozenset[str]()
        mine = one_each([row for row in given if row.dimension == name], wordings=alike)
        own = [row for row in mine if row.score is not None]
        read = [row for row in own if not alike or row.dimension_digest in {"", *alike}]
        kept += read or own
        other = len(own) - len(read)
        end = "left out" if read else "no other is there, so these are shown"
        told.append(times(other, "label was", "labels were", f"given under another wording: {end}"))
        blank = sum(not row.dimension_digest for row in own) if stamp is not None else 0
        told.append(
            times(
                blank,
                "label does not say its wording and is",
                "labels do not say their wording and are",
                "taken to be of the one that the judge reads",
            )
        )
        told[-2:] = [f"{name}: {one}" for one in told[-2:] if one]
    return kept, told
