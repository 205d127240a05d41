"""Commands of people: label, calibrate, review.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.cli.codes import PASS
from agenteval_kit.cli.complaints import complain, say_which_suite, tell
from agenteval_kit.cli.label_import import bring_in
from agenteval_kit.cli.outputs import require_apart
from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.calibrate import CalibrationResult, DimensionResult
    from agenteval_kit.labels import LabelSet
    from agenteval_kit.records import Rubric
    from agenteval_kit.records.labels import Purpose
    from agenteval_kit.runs import Run

__all__ = ["calibrate", "label", "review"]


def label(given: argparse.Namespace) -> int:
    """Open the labelling notebook for one rater, and stay until the server is ended."""
    if given.import_:
        return bring_in(given)
    if given.map or given.format:
        raise ConfigError("--map and --format are for labels of --import FILE; leave them out")
    if given.rater is None:
        raise ConfigError("who reads? name the rater with --rater NAME")
    from agenteval_kit.gate.known import labels_place, suite_key
    from agenteval_kit.labels import rater_file, read_labels
    from agenteval_kit.render.opened import copy_with_parameters, require_server, serve_notebook
    from agenteval_kit.runs import Run

    require_server(voila=given.voila)
    run = Run.open(given.run)
    say_which_suite(run)
    folder = given.labels or labels_place(run)
    # A name that cannot name a file is said before anything opens.
    rater = rater_file(folder, given.rater).stem
    rubric = given.rubric or suite_key(run, "rubric")
    if rubric is None:
        complain(
            f"warning: the run's suite ({run.info.suite_file or 'not noted'}) is not here or names "
            "no rubric: failures are read, without a scale; for levels name one with --rubric"
        )
    purpose = given.purpose or _purpose_of(folder, given.sample) or "tuning"
    sample = given.sample or ("first-look" if purpose == "tuning" else purpose)
    drawn = _draw(run, folder, sample, purpose=purpose, n=given.n)
    copy = copy_with_parameters(
        "5_label",
        {
            "run": run.path,
            "suite": _suite_of(run),
            "agent": None,
            "tape": None,
            "rubric": rubric,
            "dimensions": given.dimensions.split(",") if given.dimensions else None,
            "labels": folder,
            "rater": rater,
            "sample": sample,
            "purpose": purpose,
            "n": drawn,
        },
        out=Path("reports") / f"label-{run.id}-{rater}.ipynb",
        only="page" if given.voila else "",
    )
    known = len(read_labels(folder).current)
    tell(
        f"{counted(drawn, 'transcript')} of {run.path} in the sample {sample}; "
        f"{counted(known, 'line')} in {folder}"
    )
    serve_notebook(copy, voila=given.voila, browser=not given.no_open, told=print)
    return PASS


def calibrate(given: argparse.Namespace) -> int:
    """People beside people, then judges beside people; writes who is trusted on what."""
    from agenteval_kit.calibrate import calibrate_run, hold_calibration, write_calibration
    from agenteval_kit.files import canonical_json
    from agenteval_kit.gate import load_bar
    from agenteval_kit.gate.known import calibration_place, suite_key
    from agenteval_kit.runs import Run, now_text

    run = Run.open(given.run)
    say_which_suite(run)
    out = given.out or calibration_place(run)
    require_apart("--out", out)
    labels = _labels_of(run, given.labels)
    bar = given.bar or suite_key(run, "bar")
    with hold_calibration(out) as known:
        result = calibrate_run(
            run,
            labels,
            rubric=_rubric_of(run, given.rubric),
            rule=load_bar(bar).bar.trust if bar is not None else None,
            known=known,
            judges=_judges(run, given.judge),
            now=now_text(),
        )
        write_calibration(out, result.calibration)
    for warning in labels.warnings:
        complain(f"warning: {warning}")
    if given.json:
        print(canonical_json(_as_json(result, run, out)))
    else:
        for line in _lines(result):
            tell(line)
        tell(f"written: {out}")
    return PASS


def review(given: argparse.Namespace) -> int:
    """Confirm or overrule one verdict, with a name and a reason."""
    from agenteval_kit.gate.known import labels_place
    from agenteval_kit.judge.scores import judged_scores
    from agenteval_kit.label import review_verdict
    from agenteval_kit.runs import Run

    run = Run.open(given.run)
    digests = {one.name: one.judged.judge_digest for one in judged_scores(run)}
    wanted = (given.case, given.repeat, digests.get(given.dimension))
    for verdict in run.verdict_rows():
        if (verdict.case_id, verdict.repeat, verdict.judge_digest) == wanted:
            break
    else:
        known = ", ".join(digests) or "none"
        raise ConfigError(
            f'{run.path}: case "{given.case}", repeat {given.repeat} has no verdict on '
            f'"{given.dimension}"; judged dimensions: {known}'
        )
    row = review_verdict(
        given.labels or labels_place(run),
        given.rater,
        run=run,
        verdict=verdict,
        answer="confirm" if given.score == verdict.score else "overrule",
        score=given.score,
        reason=given.reason,
    )
    assert row.review is not None
    was = "unscored" if verdict.score is None else verdict.score
    tell(f"{row.rater} {row.review.answer}s {given.case} on {given.dimension}: {was} by the judge")
    return PASS


def _suite_of(run: Run) -> Path | None:
    """The run's suite, for the expected outcomes that its judges saw too; None where it changed."""
    from agenteval_kit.runs.suites import find_suite_file
    from agenteval_kit.suite import load_suite

    file = find_suite_file(run)
    if file is not None and load_suite(file).digest == run.info.suite_digest:
        return file
    complain("warning: the run's suite is not here as it was, so no expected outcome is shown")
    return None


def _purpose_of(folder: Path, sample: str | None) -> Purpose | None:
    """What a sample that stands there was drawn for."""
    from agenteval_kit.labels import read_sample
    from agenteval_kit.labels.folder import sample_file

    if sample is None or not (path := sample_file(folder, sample)).is_file():
        return None
    return read_sample(path).purpose


def _draw(run: Run, folder: Path, sample: str, *, purpose: Purpose, n: int | None) -> int:
    """Keep the sample beside the labels, and say how large it is."""
    from agenteval_kit.label import keep_sample
    from agenteval_kit.labels import read_labels

    folder.mkdir(parents=True, exist_ok=True)
    fresh = purpose == "calibration"
    drawn = keep_sample(
        folder,
        run,
        name=sample,
        n=n,
        purpose=purpose,
        # What was read to mend the anchors must not measure the judge.
        skip=read_labels(folder) if fresh else (),
    )
    return len(drawn.items)


def _labels_of(run: Run, given: Path | None) -> LabelSet:
    from agenteval_kit.gate.known import labels_place
    from agenteval_kit.labels import read_labels

    folder = given or labels_place(run)
    if given is None and not folder.is_dir():
        raise ConfigError(
            Problem(
                "nobody has labelled yet; `agenteval label RUN --rater NAME` first, or name the "
                "folder with --labels",
                str(folder),
            )
        )
    labels = read_labels(folder)
    if given is not None and not labels.rows:
        raise ConfigError(Problem("holds no label; name the folder that holds them", str(folder)))
    return labels


def _rubric_of(run: Run, given: Path | None) -> Rubric | None:
    from agenteval_kit.gate.known import suite_key
    from agenteval_kit.rubrics import load_rubric

    path = given or suite_key(run, "rubric")
    rubric = load_rubric(path) if path is not None else None
    if given is not None and rubric is not None and not rubric.absolute():
        raise ConfigError(
            Problem(
                "has pairwise criteria only, and labels are levels; name a rubric with anchors",
                str(given),
            )
        )
    return rubric


def _judges(run: Run, digests: list[str] | None) -> dict[str, str] | None:
    """The dimension of each judge digest that was named."""
    from agenteval_kit.errors import did_you_mean

    if not digests:
        return None
    known = {one.judge_digest: one.dimension for one in run.judge_stamps()}
    for digest in digests:
        if digest not in known:
            near = did_you_mean(digest, known)
            raise ConfigError(f"{run.path}: no judge {digest} scored this run.{near}")
    return {known[digest]: digest for digest in digests}


def _lines(result: CalibrationResult) -> Iterator[str]:
    for one in result.dimensions:
        first, *rest = one.lines()
        yield first
        yield from (f"  {line}" for line in rest)
        if one.looks > 1:
            yield f"  look {one.looks} at these held-out labels"
    yield from result.notes


def _as_json(result: CalibrationResult, run: Run, out: Path) -> dict[str, Any]:
    return {
        "run": run.path.as_posix(),
        "stamps": run.info.stamps(),
        "calibration": out.as_posix(),
        "dimensions": [_dimension(one) for one in result.dimensions],
        "notes": list(result.notes),
    }


def _dimension(one: DimensionResult) -> dict[str, Any]:
    found = {} if one.entry is None else one.entry.model_dump(mode="json", exclude={"pairs"})
    return {
        "dimension": one.dimension,
        "rubric_state": one.ceiling.state,
        "ceiling": found.get("ceiling", {}),
        "agreement": found.get("agreement", {}),
        "gap": found.get("gap"),
        "trust": one.state,
        "reason": one.reason,
        "more_labels": one.more_labels,
        "held_out": one.held_out,
        "looks": one.looks,
        "judge_digest": found.get("judge_digest", ""),
        "raters": found.get("raters", []),
        "rule": found.get("rule"),
        "notes": list(one.notes),
    }
