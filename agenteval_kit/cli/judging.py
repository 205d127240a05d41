"""Commands that ask judges: judge, compare; and plan, which says what it would cost.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agenteval_kit.cli.codes import INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain
from agenteval_kit.errors import ConfigError

if TYPE_CHECKING:
    from agenteval_kit.compare import Comparison
    from agenteval_kit.judge import JudgeResult, Judges
    from agenteval_kit.pairwise import PairwiseResult
    from agenteval_kit.runs import Run
    from agenteval_kit.suite import Suite
    from agenteval_kit.summary import PairedLayer

__all__ = ["compare", "judge", "plan"]


class Estimated(Protocol):
    """What would be asked, told before anything is paid for."""

    def text(self) -> str:
        """The estimate in one line."""
        ...


def judge(given: argparse.Namespace) -> int:
    """Ask the judges of a run; the same command resumes."""
    from agenteval_kit.files import canonical_json
    from agenteval_kit.gate import load_bar
    from agenteval_kit.judge import judge_run, progress_line
    from agenteval_kit.rubrics import load_rubric, rubric_warnings
    from agenteval_kit.runs import Run

    run = Run.open(given.run)
    suite = suite_of(run, given.suite)
    rubric = load_rubric(_rubric_path(given.rubric, suite))
    for warning in rubric_warnings(rubric):
        complain(f"warning: {warning}")
    bar = given.bar or (suite.bar if suite is not None else None)
    judges = judges_of(given, suite, run)
    with progress_line() as progress:
        result = judge_run(
            run,
            rubric,
            judges,
            items=suite.items if suite is not None else (),
            dimensions=given.dimensions.split(",") if given.dimensions else None,
            never=load_bar(bar).bar.never if bar is not None else None,
            confirm=confirmer(given),
            progress=progress,
            again=asks_again(given),
        )
    for warning in result.warnings:
        complain(f"warning: {warning}")
    if given.json:
        print(canonical_json(_judge_json(result)))
    else:
        for line in _judge_lines(result):
            print(line)
    if not result.complete:
        reason = result.stopped or f"{result.failed} verdicts without an answer"
        if given.replay is None:
            reason += " (a tape of replies answers without a server: --replay TAPE)"
        complain(f"incomplete: {reason}; run the same command to resume")
    return PASS if result.complete else INCOMPLETE


def compare(given: argparse.Namespace) -> int:
    """Two runs side by side: checks always; preferences where judges are named or replayed."""
    from agenteval_kit.compare import compare_checks
    from agenteval_kit.files import canonical_json
    from agenteval_kit.runs import Run

    old, new = Run.open(given.old), Run.open(given.new)
    found = compare_checks(old, new)
    preferred = None
    if given.judge or given.replay is not None:
        preferred = _preferences(given, old, new)
    if given.json:
        print(
            canonical_json(
                {
                    "old": old.path.as_posix(),
                    "new": new.path.as_posix(),
                    "stamps": {"old": old.info.stamps(), "new": new.info.stamps()},
                    "sentence": found.sentence,
                    "refused": found.refused,
                    "layers": [
                        {
                            "layer": pair.layer,
                            "n": pair.n,
                            "difference": pair.difference.value,
                            "low": pair.difference.low,
                            "high": pair.difference.high,
                            "method": pair.difference.method,
                            "p": pair.p,
                            "p_exact": pair.p_exact,
                            "broken": list(pair.worse),
                            "fixed": list(pair.better),
                        }
                        for pair in found.layers
                    ],
                    "preferences": None if preferred is None else _preferences_json(preferred),
                }
            )
        )
    else:
        for line in _compare_lines(old, new, found):
            print(line)
        for one in preferred.comparisons if preferred is not None else ():
            print(f"  {one.criterion} by {one.judge} · {one.judge_digest}: {one.finding}")
            print(f"    flips with the order in {one.flips.rate.text(percent=True)} of pairs")
            if one.diag:
                print(f"    {one.diag}")
    complete = preferred is None or preferred.complete
    if preferred is not None and not complete:
        reason = preferred.stopped or f"{preferred.failed} pairs without an answer"
        complain(f"incomplete: {reason}; run the same command to resume")
    return PASS if complete else INCOMPLETE


def plan(given: argparse.Namespace) -> int:
    """Sizes and costs: how many cases and labels, and would an unchanged agent ship."""
    from agenteval_kit.files import canonical_json
    from agenteval_kit.gate import load_bar
    from agenteval_kit.plan import plan_suite
    from agenteval_kit.rubrics import load_rubric
    from agenteval_kit.runs import list_runs
    from agenteval_kit.suite import load_suite

    suite = load_suite(given.suite)
    found = plan_suite(
        suite,
        runs=[run for run in list_runs(given.runs, suite=suite.spec.name) if run.complete],
        bar=load_bar(given.bar) if given.bar is not None else None,
        rubric=load_rubric(given.rubric) if given.rubric is not None else None,
        judges=given.judge,
        cases=given.cases,
        repeats=given.repeats,
        drop=given.drop,
        seed=given.seed,
    )
    if given.json:
        print(canonical_json(found.as_dict()))
    else:
        for line in found.lines():
            print(line)
    return PASS


def suite_of(run: Run, named: Path | None) -> Suite | None:
    """The suite of a run: the file that is named, or the run's own where it still stands here.

    Raises
    ------
    ConfigError
        If the file is broken, or its content is not what the run was made of.
    """
    from agenteval_kit.suite import load_suite

    noted = Path(run.info.suite_file) if run.info.suite_file else None
    path = named or (noted if noted is not None and noted.is_file() else None)
    if path is None:
        print(
            "warning: the run's suite is not here, so judges see no expected outcome; "
            "name it with --suite",
            file=sys.stderr,
        )
        return None
    suite = load_suite(path)
    if suite.digest != run.info.suite_digest:
        raise ConfigError(
            f"{path}: is not the suite that {run.path} was made of (digest {suite.digest}, the "
            f"run's is {run.info.suite_digest}); name the right one with --suite, or run again"
        )
    return suite


def judges_of(given: argparse.Namespace, suite: Suite | None, run: Run) -> Judges:
    """The judges that the command line or the suite names, asked through the run's tape."""
    from agenteval_kit.judge import load_judges, replay_judges
    from agenteval_kit.models.limits import Limits
    from agenteval_kit.models.tape import Tape

    spec: Any = given.judge or (suite.spec.judge if suite is not None else None)
    if spec is None:
        raise ConfigError("no judge is named; give --judge MODEL, or judge: in the suite")
    if given.replay is not None:
        return replay_judges(spec, given.replay)
    age = timedelta(days=given.max_age) if given.max_age is not None else None
    tape = Tape(run.tape_path, max_age=age, fresh=given.fresh)
    limits = Limits(calls=given.max_calls, tokens=given.max_tokens, usd=given.max_usd)
    return load_judges(spec, tape=tape, limits=limits)


def asks_again(given: argparse.Namespace) -> bool:
    """Whether verdicts that are there are made anew: new samples are there to be counted."""
    return bool(given.fresh or given.max_age is not None)


def confirmer(given: argparse.Namespace) -> Callable[[Estimated], bool]:
    """Tell the estimate before anything is paid for; at a terminal, ask."""

    def confirm(estimate: Estimated) -> bool:
        print(estimate.text(), file=sys.stderr)
        if given.yes or given.replay is not None or not sys.stdin.isatty():
            return True
        print("Ask the judges? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in ("y", "yes")

    return confirm


def _preferences(given: argparse.Namespace, old: Run, new: Run) -> PairwiseResult:
    from agenteval_kit.judge import progress_line
    from agenteval_kit.pairwise import compare_runs
    from agenteval_kit.rubrics import load_rubric

    suite = suite_of(new, given.suite)
    rubric = load_rubric(_rubric_path(given.rubric, suite))
    if all(one.kind != "pairwise" for one in rubric.dimensions):
        raise ConfigError(
            f"rubric {rubric.name} has no pairwise criterion; name one with --rubric, such as "
            "data/rubrics/outcome_pairwise.yaml"
        )
    with progress_line() as progress:
        found = compare_runs(
            old,
            new,
            rubric,
            judges_of(given, suite, new),
            items=suite.items if suite is not None else None,
            confirm=confirmer(given),
            progress=progress,
            again=asks_again(given),
        )
    for warning in found.warnings:
        complain(f"warning: {warning}")
    return found


def _compare_lines(old: Run, new: Run, found: Comparison) -> Iterator[str]:
    from agenteval_kit.console import stamp_line

    yield f"old {old.path}  {stamp_line(old.info)}"
    yield f"new {new.path}  {stamp_line(new.info)}"
    yield found.sentence
    for pair, adjusted in zip(found.layers, found.p_holm, strict=False):
        p = "" if pair.p is None else f"  p {pair.p:.3f}"
        holm = "" if adjusted is None else f" (Holm over all {len(found.p_holm)}: {adjusted:.3f})"
        yield f"  {pair.layer:<13} {pair.shares()}  {points(pair)}{p}{holm}"
        for word, ids in (("broken", pair.worse), ("fixed", pair.better)):
            if ids:
                more = f" and {len(ids) - 12} more" if len(ids) > 12 else ""
                yield f"{'':<16}{word}: {', '.join(ids[:12])}{more}"


def points(pair: PairedLayer) -> str:
    """The change of a share in points, with its interval."""
    change = pair.difference
    if change.value is None or change.low is None or change.high is None:
        return f"not computable: {change.reason}"
    low, high = 100 * change.low, 100 * change.high
    return f"{100 * change.value:+.0f} points ({low:+.0f} to {high:+.0f}, {change.method})"


def _preferences_json(found: PairwiseResult) -> list[dict[str, Any]]:
    return [
        {
            "criterion": one.criterion,
            "judge": one.judge,
            "judge_digest": one.judge_digest,
            "wins": one.wins,
            "ties": one.ties,
            "losses": one.losses,
            "unscored": one.unscored,
            "win_rate": one.win_rate.value,
            "low": one.win_rate.low,
            "high": one.win_rate.high,
            "method": one.win_rate.method,
            "flip_rate": one.flips.rate.value,
            "noise_margin": one.noise.margin,
            "finding": one.finding,
            "diag": one.diag,
        }
        for one in found.comparisons
    ]


def _rubric_path(given: Path | None, suite: Suite | None) -> Path:
    if given is not None:
        return given
    if suite is not None and suite.spec.rubric is not None:
        return suite.file.parent / suite.spec.rubric
    raise ConfigError("no rubric is named; give --rubric FILE, or rubric: in the suite")


def _judge_lines(result: JudgeResult) -> Iterator[str]:
    """A line a dimension: mean with interval, n, what is unscored, who judged, doubts."""
    from agenteval_kit.console import stamp_line

    yield stamp_line(result.run.info)
    for one in result.summary.dimensions:
        levels = " ".join(f"{level}:{count}" for level, count in one.distribution.items())
        worst = f", {one.worst:.2f} if those were lowest" if one.worst is not None else ""
        unscored = f"  {one.unscored} unscored{worst}" if one.unscored else ""
        missing = f"  {one.missing} not judged yet" if one.missing else ""
        yield (
            f"  {one.layer:<13} {one.name:<24} {one.estimate.text()}  n {one.n}  [{levels}]"
            f"{unscored}{missing}"
        )
        if one.disagreement is not None:
            yield f"{'':<16}seats disagree in {one.disagreement.text(percent=True)} of verdicts"
        yield f"{'':<16}judge {one.stamp.judge} · {one.judge_digest}; not calibrated; {one.diag}"
    yield (
        f"{result.made} verdicts made, {result.kept} kept; {result.replies} replies, "
        f"{result.from_tape} of them from the tape"
    )
    yield "A trend over the suite, not a verdict on one transcript."
    yield f"run {result.run.path}"


def _judge_json(result: JudgeResult) -> dict[str, Any]:
    return {
        "run": result.run.path.as_posix(),
        "complete": result.complete,
        "stopped": result.stopped,
        "stamps": result.run.info.stamps(),
        "made": result.made,
        "kept": result.kept,
        "failed": result.failed,
        "replies": result.replies,
        "replies_from_tape": result.from_tape,
        "dimensions": [
            {
                "dimension": one.name,
                "layer": one.layer,
                "judge": one.stamp.judge,
                "judge_digest": one.judge_digest,
                "mean": one.estimate.value,
                "low": one.estimate.low,
                "high": one.estimate.high,
                "level": one.estimate.level,
                "method": one.estimate.method,
                "n": one.n,
                "unscored": one.unscored,
                "missing": one.missing,
                "worst": one.worst,
                "distribution": {str(level): count for level, count in one.distribution.items()},
                "trust": "never calibrated",
                "diag": one.diag or one.estimate.reason,
            }
            for one in result.summary.dimensions
        ],
    }
