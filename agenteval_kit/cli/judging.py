"""The command that asks judges, judge; and plan, which says what it would cost.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agenteval_kit.cli.codes import INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain, say_which_suite, tell, to_resume
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.judge import JudgeResult, Judges
    from agenteval_kit.records.trust import DimensionTrust
    from agenteval_kit.runs import Run
    from agenteval_kit.suite import Suite

__all__ = ["judge", "plan"]


class Estimated(Protocol):
    """What would be asked, told before anything is paid for."""

    def text(self) -> str:
        """The estimate in one line."""
        ...


def judge(given: argparse.Namespace) -> int:
    """Ask the judges of a run; the same command resumes."""
    from agenteval_kit.files import canonical_json
    from agenteval_kit.gate import load_bar, read_known
    from agenteval_kit.judge import judge_run, progress_line
    from agenteval_kit.rubrics import load_rubric, rubric_warnings
    from agenteval_kit.runs import Run

    run = Run.open(given.run)
    suite = suite_of(run, given.suite)
    rubric = load_rubric(rubric_path(given.rubric, suite))
    for warning in rubric_warnings(rubric):
        complain(f"warning: {warning}")
    path = given.bar or (suite.bar if suite is not None else None)
    bar = load_bar(path).bar if path is not None else None
    judges = judges_of(given, suite, run)
    with progress_line() as progress:
        result = judge_run(
            run,
            rubric,
            judges,
            items=suite.items if suite is not None else (),
            dimensions=given.dimensions.split(",") if given.dimensions else None,
            never=bar.never if bar is not None else None,
            confirm=confirmer(given),
            progress=progress,
            again=asks_again(given),
        )
    for warning in result.warnings:
        complain(f"warning: {warning}")
    known = read_known(run, suite=suite.file if suite is not None else None)
    trust = known.trust(run, bar.trust if bar is not None else None)
    if given.json:
        print(canonical_json(_judge_json(result, trust)))
    else:
        for line in _judge_lines(result, trust):
            tell(line)
    if not result.complete:
        reason = result.stopped or f"{counted(result.failed, 'verdict')} without an answer"
        if given.replay is None:
            reason += " (a tape of replies answers without a server: --replay TAPE)"
        complain(to_resume(f"incomplete: {reason}"))
    return PASS if result.complete else INCOMPLETE


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
            tell(line)
    return PASS


def suite_of(run: Run, named: Path | None) -> Suite | None:
    """The suite of a run: the file that is named, or the run's own where it still stands here.

    Raises
    ------
    ConfigError
        If the file is broken, or its content is not what the run was made of.
    """
    from agenteval_kit.runs.suites import find_suite_file
    from agenteval_kit.suite import load_suite

    if named is None:
        say_which_suite(run)
    path = named or find_suite_file(run)
    if path is None:
        complain(
            "warning: the run's suite is not here, so judges see no expected outcome; "
            "name it with --suite"
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
    return load_judges(
        spec,
        tape=tape,
        limits=limits,
        max_concurrency=given.max_concurrency,
        timeout=given.timeout,
    )


def asks_again(given: argparse.Namespace) -> bool:
    """Whether verdicts that are there are made anew: new samples are there to be counted."""
    return bool(given.fresh or given.max_age is not None)


def confirmer(given: argparse.Namespace) -> Callable[[Estimated], bool]:
    """Tell the estimate before anything is paid for; at a terminal, ask."""

    def confirm(estimate: Estimated) -> bool:
        complain(estimate.text())
        if given.yes or given.replay is not None or not sys.stdin.isatty():
            return True
        print("Ask the judges? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in ("y", "yes")

    return confirm


def trust_json(known: DimensionTrust) -> dict[str, Any]:
    """Whether a judge is trusted, beside its numbers."""
    return {
        "rubric_state": known.rubric_state,
        "trust": known.state,
        "trust_reason": known.reason,
        "more_labels": known.more_labels,
    }


def rubric_path(given: Path | None, suite: Suite | None) -> Path:
    if given is not None:
        return given
    if suite is not None and suite.spec.rubric is not None:
        return suite.file.parent / suite.spec.rubric
    raise ConfigError("no rubric is named; give --rubric FILE, or rubric: in the suite")


def _judge_lines(result: JudgeResult, trust: Sequence[DimensionTrust]) -> Iterator[str]:
    """A line a dimension: mean with interval, n, what is unscored, who judged, doubts."""
    from agenteval_kit.console import stamp_line
    from agenteval_kit.records.trust import trust_in

    yield stamp_line(result.run.info)
    for one in result.summary.dimensions:
        known = trust_in(one.name, one.judge_digest, trust)
        if known.rubric_state:
            # People who do not agree with each other come before any number of a judge.
            yield f"  {one.name}: {known.rubric_state}"
        levels = " ".join(f"{level}:{count:,}" for level, count in one.distribution.items())
        worst = f", {one.worst:.2f} if those were lowest" if one.worst is not None else ""
        why = ", ".join(f"{what} {count:,}" for what, count in one.reasons.items())
        unscored = f"  {one.unscored:,} unscored ({why}){worst}" if one.unscored else ""
        missing = f"  {one.missing:,} not judged yet" if one.missing else ""
        yield (
            f"  {one.layer:<13} {one.name:<24} {one.estimate.text()}  "
            f"{counted(one.estimate.n, 'case')}, {counted(one.n, 'verdict')} [{levels}]"
            f"{unscored}{missing}"
        )
        if one.disagreement is not None:
            yield f"{'':<16}seats disagree in {one.disagreement.text(percent=True)} of verdicts"
        state = known.state + (f" ({known.reason})" if known.reason else "")
        told = [f"judge {one.stamp.judge} · {one.judge_digest}", state, one.diag]
        yield f"{'':<16}{'; '.join(part for part in told if part)}"
    yield (
        f"{counted(result.made, 'verdict')} made, {result.kept:,} kept; "
        f"{counted(result.replies, 'reply')}, {result.from_tape} of them from the tape"
    )
    yield "A trend over the suite, not a verdict on one transcript."
    yield f"run {result.run.path}"


def _judge_json(result: JudgeResult, trust: Sequence[DimensionTrust]) -> dict[str, Any]:
    from agenteval_kit.records.trust import trust_in

    known = {
        one.name: trust_in(one.name, one.judge_digest, trust) for one in result.summary.dimensions
    }
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
                **trust_json(known[one.name]),
                "diag": one.diag or one.estimate.reason,
            }
            for one in result.summary.dimensions
        ],
    }
