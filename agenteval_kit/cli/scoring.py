"""Commands that run agents and check them: demo, check, run.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from agenteval_kit.cli.codes import FAIL, INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain, tell
from agenteval_kit.cli.outputs import claim
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.suite import RunResult

__all__ = ["check", "demo", "run"]


def demo(given: argparse.Namespace) -> int:
    """A first look at the shipped A/B; exit 0 whatever the verdict."""
    from agenteval_kit.demo import run_demo

    outcome = run_demo(runs=given.runs, broken=given.broken, report=not given.no_report)
    tell(outcome.text())
    return PASS


def check(given: argparse.Namespace) -> int:
    """The deterministic half."""
    from agenteval_kit.console import check_json, check_lines
    from agenteval_kit.summary import summarise

    claim({"--junit": given.junit, "--markdown": given.markdown}, run=given.out)
    result = _evaluate(given)
    summary = summarise(result.run)
    if given.junit is not None:
        from agenteval_kit.ci import write_check_junit

        write_check_junit(given.junit, result.run.info, summary)
    if given.markdown is not None:
        from agenteval_kit.ci import check_markdown, write_markdown

        text = check_markdown(result.run.info, summary, complete=result.complete, link=given.link)
        write_markdown(given.markdown, text)
    if given.json:
        print(check_json(result, summary))
    else:
        for line in check_lines(result, summary):
            tell(line)
    if not result.complete:
        return INCOMPLETE
    if summary.assertions == 0 and summary.unscored == 0:
        raise ConfigError(
            f"{given.suite}: nothing was evaluated by code: no case has a check that was due. "
            "Cases with a rubric alone are for the judge"
        )
    return FAIL if summary.failed or summary.unscored else PASS


def run(given: argparse.Namespace) -> int:
    """Fill a run folder."""
    from agenteval_kit.console import run_json, run_lines

    result = _evaluate(given)
    if given.json:
        print(run_json(result))
    else:
        for line in run_lines(result):
            tell(line)
    return PASS if result.complete else INCOMPLETE


def _evaluate(given: argparse.Namespace) -> RunResult:
    from agenteval_kit.console import progress_line
    from agenteval_kit.suite import load_suite, run_suite

    suite = load_suite(
        given.suite,
        agent=given.agent,
        repeats=given.repeats,
        only=[item.strip() for item in given.only.split(",")] if given.only is not None else None,
        tag=given.tag,
        shard=given.shard,
        simulator=given.simulator,
    )
    with progress_line() as progress:
        result = run_suite(
            suite,
            root=given.runs,
            out=given.out,
            jobs=given.jobs,
            timeout=given.timeout,
            progress=progress,
        )
    for warning in result.warnings:
        complain(f"warning: {warning}")
    if result.kept:
        complain(
            f"resumed {result.run.path}: {result.kept:,} kept, {result.made:,} added, "
            f"{counted(result.from_tape, 'model reply')} from the tape"
        )
    for case_id, repeat, reason in result.unscored[:5]:
        complain(f"unscored: {case_id}, repeat {repeat}: {reason}")
    if not result.complete:
        complain(f"incomplete: {result.remedy}")
    return result
