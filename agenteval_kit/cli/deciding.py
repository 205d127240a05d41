"""Commands that decide and show: gate, report, show.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

from agenteval_kit.cli.codes import FAIL, PASS
from agenteval_kit.cli.complaints import complain, say_which_suite, tell
from agenteval_kit.cli.outputs import claim
from agenteval_kit.errors import ConfigError

if TYPE_CHECKING:
    from agenteval_kit.gate import LoadedBar
    from agenteval_kit.runs import Run

__all__ = ["gate", "gated", "report", "show"]


def gate(given: argparse.Namespace) -> int:
    """SHIP, HOLD or REVIEW."""
    from agenteval_kit.console import decision_lines
    from agenteval_kit.gate import decide, read_known

    claim({"--junit": given.junit, "--markdown": given.markdown})
    run, bar, baseline = gated(given)
    known = read_known(run, calibration=given.calibration, labels=given.labels)
    decision = decide(
        run, bar, baseline=baseline, trust=known.trust(run, bar.bar.trust), labels=known.labels
    )
    if given.junit is not None:
        from agenteval_kit.ci import write_gate_junit

        write_gate_junit(given.junit, decision)
    if given.markdown is not None:
        from agenteval_kit.ci import decision_markdown, write_markdown

        write_markdown(given.markdown, decision_markdown(decision, link=given.link))
    if given.json:
        from agenteval_kit.files import canonical_json

        print(canonical_json(decision.as_dict()))
    else:
        for line in decision_lines(decision):
            tell(line)
    return _verdict_code(decision.verdict, given.review_exit)


def gated(given: argparse.Namespace) -> tuple[Run, LoadedBar, Run | None]:
    """The run, its bar and its baseline: those that are given, else those that its suite names."""
    from agenteval_kit.gate import load_bar
    from agenteval_kit.gate.known import suite_key
    from agenteval_kit.runs import Run, choose_baseline

    run = Run.open(given.run)
    say_which_suite(run)
    written = suite_key(run, "baseline") if given.baseline is None else None
    baseline = choose_baseline(run, given=given.baseline, written=written)
    if written is not None and baseline is None:
        complain(f"note: no other run of {run.info.suite} is published yet: there is no baseline")
    path = given.bar or suite_key(run, "bar")
    if path is None:
        raise ConfigError(
            f"the run's suite ({run.info.suite_file or 'not noted'}) is not here or names no bar; "
            "name one with --bar"
        )
    return run, load_bar(path), baseline


def report(given: argparse.Namespace) -> int:
    """The release report."""
    from agenteval_kit.render import render_release, require_ours

    if given.out is not None:
        require_ours(given.out)  # before an earlier page is taken away
    claim({"--out": given.out})
    run, bar, baseline = gated(given)
    made = render_release(
        run,
        baseline=baseline,
        bar=bar,
        history=given.history,
        baseline_bar=given.baseline_bar,
        calibration=given.calibration,
        labels=given.labels,
        out=given.out,
    )
    tell(f"{made.verdict}\n{made.html}")
    return _verdict_code(made.verdict, given.review_exit)


def _verdict_code(verdict: str, review_exit: int) -> int:
    return {"SHIP": PASS, "HOLD": FAIL}.get(verdict, review_exit)


def show(given: argparse.Namespace) -> int:
    """One transcript in the terminal."""
    from agenteval_kit.report.terminal import transcript_text
    from agenteval_kit.runs import Run

    run = Run.open(given.run)
    transcript = run.transcript(given.case, repeat=given.repeat)
    rows = [
        row for row in run.check_rows() if row.case_id == given.case and row.repeat == given.repeat
    ]
    width = shutil.get_terminal_size().columns
    print(transcript_text(transcript, rows=rows, width=width, encoding=sys.stdout.encoding))
    return PASS
