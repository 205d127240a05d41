"""What the commands print: lines for people, JSON for machines.

May not compute a number: each comes from `summary` or `gate` with its interval.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agenteval_kit.files import canonical_json
from agenteval_kit.records import CheckRow, Transcript
from agenteval_kit.runs import Run, RunInfo
from agenteval_kit.text import counted
from agenteval_kit.visible import printable

if TYPE_CHECKING:
    from agenteval_kit.gate import Decision
    from agenteval_kit.suite import Progress, RunResult
    from agenteval_kit.summary import LayerScore, Summary, TranscriptScore

__all__ = [
    "check_json",
    "check_lines",
    "decision_lines",
    "progress_line",
    "run_json",
    "run_lines",
    "stamp_line",
]

WORDS = {
    "passed": "PASS",
    "failed": "FAIL",
    "unscored": "UNSCORED",
    "missing": "MISSING",
    "judge only": "JUDGE ONLY",
}


def safe_text(text: str, *, keep_lines: bool = False) -> str:
    """Text that cannot steer a terminal; on one line unless `keep_lines`."""
    shown = printable(text, encoding=sys.stdout.encoding or "utf-8")
    return shown if keep_lines else " ".join(shown.splitlines())


@contextmanager
def progress_line() -> Iterator[Callable[[Progress], None] | None]:
    """A counter on one line of stderr, where that is a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(progress: Progress) -> None:
        unscored = f", {progress.unscored:,} unscored" if progress.unscored else ""
        sys.stderr.write(f"\r\x1b[K{progress.done:,} of {progress.total:,} done{unscored}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def stamp_line(info: RunInfo) -> str:
    """Which agent, suite, clock and package stand behind the numbers."""
    agent = info.agent
    # A recording ran under a clock that nobody noted.
    clock = info.clock or ("the wall clock" if info.kind == "live" else "not noted")
    parts = [
        f"suite {info.suite} {info.suite_version} · {info.suite_digest}",
        f"agent {agent.model}",
        f"prompt {agent.prompt}"
        + (f" · {agent.prompt_digest}" if agent.prompt_digest else "")
        + (f" · source {agent.source_digest}" if agent.source_digest else ""),
        f"clock {clock}",
        f"agenteval-kit {info.package}",
    ]
    if info.kind != "live":
        parts.append(info.kind)
    return safe_text("  ".join(parts))


def check_lines(result: RunResult, summary: Summary) -> Iterator[str]:
    """One line a case and repeat, the whole story under a failure, and three numbers."""
    info = result.run.info
    yield stamp_line(info)
    if info.data_note:
        yield safe_text(info.data_note)
    transcripts = _shown_transcripts(result.run, summary)
    for case in summary.cases:
        for scored in case.transcripts:
            transcript = transcripts.get((scored.case_id, scored.repeat))
            yield _case_line(scored, transcript, repeats=summary.repeats, flaky=case.flaky)
            if scored.status == "failed":
                yield from _failure_lines(scored.failing, transcript)
            elif scored.status in ("unscored", "missing") and scored.why:
                yield f"      {safe_text(scored.why)}"
    yield ""
    yield summary.sentence
    for layer in summary.layers:
        unscored = f", {layer.unscored:,} unscored" if layer.unscored else ""
        yield (
            f"  {layer.layer:<13}{layer.passed:,} of {layer.n:,} passed{unscored}  "
            f"{_of_cases(layer)}{layer.estimate.text(percent=True)} (95 %, {layer.estimate.method})"
        )
    if summary.repeats > 1:
        for k in range(1, summary.repeats + 1):
            yield f"  pass^{k}       {summary.pass_hat(k).text(percent=True)} over cases"
        yield f"  flaky        {', '.join(summary.flaky) or 'none'}"
    for warning in summary.warnings:
        yield f"  note: {warning}"
    yield f"run {result.run.path}"


def _of_cases(layer: LayerScore) -> str:
    """What the share is of where it is not that of the transcripts before it."""
    return "" if layer.n == layer.cases else f"mean over {counted(layer.cases, 'case')} "


def _shown_transcripts(run: Run, summary: Summary) -> dict[tuple[str, int], _Shown]:
    """Tools called of every transcript; the answer only of those that failed: memory is flat."""
    failed = {
        (scored.case_id, scored.repeat)
        for case in summary.cases
        for scored in case.transcripts
        if scored.status == "failed"
    }
    shown = {}
    for transcript in run.transcripts():
        key = (transcript.case_id, transcript.repeat)
        shown[key] = _Shown(transcript, whole=key in failed)
    return shown


class _Shown:
    __slots__ = ("answer", "tools", "traceback")

    def __init__(self, transcript: Transcript, *, whole: bool) -> None:
        self.tools = [call.name for _, call in transcript.calls()]
        self.answer = transcript.answer if whole else ""
        failure = transcript.failure
        self.traceback = failure.traceback if whole and failure is not None else ""


def _case_line(scored: TranscriptScore, shown: _Shown | None, *, repeats: int, flaky: bool) -> str:
    name = scored.case_id + (f" #{scored.repeat}" if repeats > 1 else "")
    tools = f"  tools: {', '.join(shown.tools)}" if shown is not None and shown.tools else ""
    mark = "  flaky" if flaky else ""
    return safe_text(f"{WORDS[scored.status]:<10}  {name}{mark}{tools}")


def _failure_lines(failing: tuple[CheckRow, ...], shown: _Shown | None) -> Iterator[str]:
    for row in failing:
        where = f" (turn {row.turn})" if row.turn is not None else ""
        critical = " [critical]" if row.critical else ""
        yield f"      {safe_text(f'{row.layer} · {row.name}{critical}{where}: {row.why}')}"
        if row.name != "agent_completed":
            yield f"        expected: {_indented(row.expected)}"
            yield f"        received: {_indented(row.received)}"
    if shown is None:
        return
    if shown.traceback:
        yield f"      traceback: {_indented(shown.traceback)}"
    if shown.answer:
        yield f"      answer: {_indented(shown.answer)}"


def _indented(text: str) -> str:
    lines = safe_text(text, keep_lines=True).splitlines() or [""]
    return ("\n" + " " * 10).join(lines)


def check_json(result: RunResult, summary: Summary) -> str:
    """The same for machines: one JSON object, strict."""
    return canonical_json(
        {
            "run": result.run.path.as_posix(),
            "complete": result.complete,
            "stopped": result.stopped,
            "stamps": result.run.info.stamps(),
            "package": result.run.info.package,
            "data_note": result.run.info.data_note,
            "kept": result.kept,
            "replies_from_tape": result.from_tape,
            "assertions": {
                "passed": summary.overall.assertions_passed,
                "n": summary.overall.assertions,
                "unscored": summary.overall.assertions_unscored,
            },
            "cases": {
                "passed": summary.overall.passed,
                "failed": summary.overall.n - summary.overall.passed,
                "n": summary.overall.n,
                "unscored": summary.overall.unscored,
                "judge_only": summary.judge_only,
                "crashed": summary.crashes,
            },
            "layers": [_layer_json(layer) for layer in summary.layers],
            "flaky": list(summary.flaky),
            "drafts": list(result.run.info.drafts),
            "unscored": [
                {"case_id": case_id, "repeat": repeat, "reason": reason}
                for case_id, repeat, reason in result.unscored
            ],
            "results": [
                _scored_json(scored) for case in summary.cases for scored in case.transcripts
            ],
        }
    )


def _layer_json(layer: Any) -> dict[str, Any]:
    estimate = layer.estimate
    return {
        "layer": layer.layer,
        "passed": layer.passed,
        "n": layer.n,
        "unscored": layer.unscored,
        "share": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
        "method": estimate.method,
        "diag": estimate.diag or estimate.reason,
    }


def _scored_json(scored: TranscriptScore) -> dict[str, Any]:
    return {
        "case_id": scored.case_id,
        "repeat": scored.repeat,
        "status": scored.status,
        "layers": dict(scored.layers),
        "why": scored.why,
        "failing": [row.as_dict() for row in scored.failing],
    }


def run_lines(result: RunResult) -> Iterator[str]:
    """What `run` says: the stamps, how many transcripts there are, and where."""
    run = result.run
    yield stamp_line(run.info)
    wanted = len(run.wanted())
    yield (
        f"{wanted - len(run.missing()):,} of {counted(wanted, 'transcript')}, "
        f"{result.made:,} of them now, {counted(result.from_tape, 'model reply')} from the tape"
    )
    yield f"run {run.path}"


def run_json(result: RunResult) -> str:
    """The same for machines."""
    run = result.run
    return canonical_json(
        {
            "run": run.path.as_posix(),
            "complete": result.complete,
            "stopped": result.stopped,
            "stamps": run.info.stamps(),
            "wanted": len(run.wanted()),
            "missing": len(run.missing()),
            "made": result.made,
            "kept": result.kept,
            "replies_from_tape": result.from_tape,
        }
    )


def decision_lines(decision: Decision) -> Iterator[str]:
    """The verdict, then each clause with its value, interval and reason; hard fails first."""
    yield decision.verdict
    for fail in decision.hard_fails:
        turn = f", turn {fail.turn}" if fail.turn is not None else ""
        yield safe_text(
            f"  hard fail  {fail.case_id} #{fail.repeat}{turn}: {fail.name}: {fail.why}"
        )
    for row in decision.rows:
        yield safe_text(f"  {row.status:<11}  {row.name}: {row.reason}")
    before = decision.baseline_stamps
    if "release" in before:
        yield safe_text(
            f"  baseline {before['release']}, published on {before['verdict']}  run {before['run']}"
        )
        if before["verdict"] != "SHIP":
            yield safe_text(f"  note: {decision.notes[0]}")
    for warning in decision.summary.warnings:
        yield safe_text(f"  note: {warning}")
    yield safe_text(f"  bar {decision.bar_digest}  run {decision.run_id}")
