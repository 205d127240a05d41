"""The command line: each command is a thin call of a public function.

The only place with exit codes: 0 pass or SHIP, 1 a case failed or HOLD or REVIEW, 2 configuration
broken, 3 incomplete. Progress goes to stderr, results to stdout.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from agenteval_kit import __version__
from agenteval_kit.errors import AgentEvalError, ConfigError, did_you_mean

__all__ = ["main"]

PASS, FAIL, BROKEN, INCOMPLETE = 0, 1, 2, 3
Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback for a person's mistake."""
    _forgiving_streams()
    parser = _parser()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse exits by itself for --help and for a bad call
        return int(stop.code or 0)
    try:
        return int(given.command(given))
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        return BROKEN
    except BrokenPipeError:
        # The reader went away (| head): not an error of ours, and stdout is of no use any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASS
    except KeyboardInterrupt:
        print("interrupted; run the same command to resume", file=sys.stderr)
        return INCOMPLETE
    except AgentEvalError as error:
        print(f"{error}\nrun the same command to resume", file=sys.stderr)
        return INCOMPLETE
    except OSError as error:
        named = f" ({Path(error.filename).name})" if error.filename else ""
        print(
            f"{error.strerror or error}{named}; what was written before stays; make room or "
            "mend the path, then run the same command to resume",
            file=sys.stderr,
        )
        return INCOMPLETE


def _forgiving_streams() -> None:
    """A terminal that cannot print a sign gets a plain one instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        if "invalid choice" in message and "'" in message:
            name = message.split("'")[1]
            message = f'there is no command "{name}".{did_you_mean(name, COMMANDS)}'
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(BROKEN)


COMMANDS = ("demo", "check", "run", "gate", "report", "show", "import", "new", "doctor")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="agenteval",
        description="Score what has a right answer by code, judge the rest, and decide a release.",
        epilog="Exit codes: 0 pass or SHIP; 1 a case failed, HOLD or REVIEW; 2 configuration "
        "broken, nothing was scored; 3 incomplete, run the same command to resume.",
    )
    parser.add_argument("--version", action="version", version=f"agenteval-kit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    demo = commands.add_parser("demo", help="a first look: a real A/B, its verdict, its report")
    demo.add_argument(
        "--broken",
        type=int,
        metavar="N",
        help="put a simulated candidate in place of the recorded one: a copy of the baseline in "
        "which N tasks that passed are made to fail",
    )
    demo.add_argument("--no-report", action="store_true", help="the verdict only")
    _runs_options(demo)
    demo.set_defaults(command=_demo)

    check = commands.add_parser("check", help="the deterministic half: run the agent and check")
    _suite_options(check)
    check.add_argument("--json", action="store_true", help="the same for machines")
    check.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML for CI")
    check.set_defaults(command=_check)

    run = commands.add_parser("run", help="fill a run folder; the same command resumes it")
    _suite_options(run)
    run.add_argument("--json", action="store_true", help="the same for machines")
    run.set_defaults(command=_run)

    gate = commands.add_parser("gate", help="SHIP, HOLD or REVIEW")
    _gate_options(gate)
    gate.add_argument("--json", action="store_true", help="the same for machines")
    gate.add_argument("--review-exit", type=int, default=FAIL, metavar="N", help="for REVIEW")
    gate.set_defaults(command=_gate)

    report = commands.add_parser("report", help="the release report, one HTML file")
    _gate_options(report)
    report.add_argument("--history", type=Path, metavar="DIR", help="run folders for the trends")
    report.add_argument("--out", type=Path, metavar="FILE", help="where the HTML goes")
    report.add_argument("--review-exit", type=int, default=FAIL, metavar="N", help="for REVIEW")
    report.set_defaults(command=_report)

    show = commands.add_parser("show", help="one transcript in the terminal")
    show.add_argument("run", type=Path, metavar="RUN")
    show.add_argument("case", metavar="CASE")
    show.add_argument("--repeat", type=int, default=0)
    show.set_defaults(command=_show)

    import_ = commands.add_parser("import", help="other tools' logs to transcripts.jsonl")
    import_.add_argument("files", type=Path, nargs="+", metavar="FILE")
    import_.add_argument("--format", metavar="F", help="openai_chat or tau_bench; else guessed")
    import_.add_argument("--out", type=Path, required=True, metavar="transcripts.jsonl")
    import_.add_argument("--model", help="stamp: the model that made them")
    import_.add_argument("--prompt", help="stamp: the prompt version that made them")
    import_.set_defaults(command=_import)

    new = commands.add_parser("new", help="a new suite that works, to start from")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--folder", type=Path, default=Path("."), metavar="DIR")
    new.set_defaults(command=_new)

    doctor = commands.add_parser("doctor", help="what is wrong here, and its remedy")
    doctor.set_defaults(command=_doctor)
    return parser


def _runs_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=Path, default=Path("data/runs"), metavar="DIR", help="where run folders lie"
    )


def _suite_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", type=Path, metavar="SUITE")
    parser.add_argument("--agent", type=Path, metavar="A", help="another agent file")
    parser.add_argument("--repeats", type=_positive, metavar="K", help="each case K times")
    parser.add_argument("--only", metavar="IDS", help="case ids, separated by commas")
    parser.add_argument("--tag", metavar="T", help="cases with this tag")
    parser.add_argument("--shard", metavar="i/n", help="every n-th case, starting with the i-th")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="cases at once")
    parser.add_argument(
        "--timeout", type=float, metavar="S", help="a hanging agent is a failed case"
    )
    parser.add_argument("--simulator", metavar="MODEL", help="the model that plays the users")
    parser.add_argument("--out", type=Path, metavar="RUN", help="this very run folder")
    _runs_options(parser)


def _gate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--bar", type=Path, help="in place of the suite's")
    parser.add_argument("--baseline", type=Path, metavar="RUN", help="the run to compare with")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" wants a whole number from 1')
    return int(text)


# Commands. Their modules are imported here, so that `--help` and a bad call start in a blink.


def _demo(given: argparse.Namespace) -> int:
    from agenteval_kit.demo import run_demo

    outcome = run_demo(runs=given.runs, broken=given.broken, report=not given.no_report)
    print(outcome.text())
    return PASS


def _check(given: argparse.Namespace) -> int:
    from agenteval_kit.console import check_json, check_lines, write_junit
    from agenteval_kit.summary import summarise

    result = _evaluate(given)
    summary = summarise(result.run)
    if given.junit is not None:
        write_junit(given.junit, result, summary)
    if given.json:
        print(check_json(result, summary))
    else:
        for line in check_lines(result, summary):
            print(line)
    if not result.complete:
        return INCOMPLETE
    if summary.assertions == 0:
        raise ConfigError(
            f"{given.suite}: nothing was evaluated by code: no case has a check. "
            "Cases with a rubric alone are for the judge"
        )
    return FAIL if summary.failed or summary.unscored else PASS


def _run(given: argparse.Namespace) -> int:
    from agenteval_kit.console import run_json, run_lines

    result = _evaluate(given)
    if given.json:
        print(run_json(result))
    else:
        for line in run_lines(result):
            print(line)
    return PASS if result.complete else INCOMPLETE


def _evaluate(given: argparse.Namespace):  # type: ignore[no-untyped-def]
    from agenteval_kit.console import progress_line
    from agenteval_kit.suite import load_suite, run_suite

    suite = load_suite(
        given.suite,
        agent=given.agent,
        repeats=given.repeats,
        only=[item.strip() for item in given.only.split(",")] if given.only else None,
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
        print(f"warning: {warning}", file=sys.stderr)
    if result.kept:
        print(
            f"resumed {result.run.path}: {result.kept} kept, {result.made} added, "
            f"{result.from_tape} model replies from the tape",
            file=sys.stderr,
        )
    for case_id, repeat, reason in result.unscored[:5]:
        print(f"unscored: {case_id}, repeat {repeat}: {reason}", file=sys.stderr)
    if not result.complete:
        reason = result.stopped or f"{len(result.unscored)} unscored"
        print(f"incomplete: {reason}; run the same command to resume", file=sys.stderr)
    return result


def _gate(given: argparse.Namespace) -> int:
    from agenteval_kit.console import decision_lines
    from agenteval_kit.gate import decide

    run, bar, baseline = _gated(given)
    decision = decide(run, bar, baseline=baseline)
    if given.json:
        from agenteval_kit.files import canonical_json

        print(canonical_json(decision.as_dict()))
    else:
        for line in decision_lines(decision):
            print(line)
    return _verdict_code(decision.verdict, given.review_exit)


def _gated(given: argparse.Namespace):  # type: ignore[no-untyped-def]
    from agenteval_kit.gate import load_bar
    from agenteval_kit.runs import Run

    run = Run.open(given.run)
    baseline = Run.open(given.baseline) if given.baseline is not None else None
    path = given.bar
    if path is None:
        path = _bar_of(run.info.suite_file)
    return run, load_bar(path), baseline


def _bar_of(suite_file: str | None) -> Path:
    from agenteval_kit.files import read_yaml

    file = Path(suite_file) if suite_file else None
    if file is not None and file.is_file():
        named = read_yaml(file).value.get("bar")
        if isinstance(named, str):
            return file.parent / named
    raise ConfigError(
        f"the run's suite ({suite_file or 'not noted'}) is not here or names no bar; "
        "name one with --bar"
    )


def _report(given: argparse.Namespace) -> int:
    from agenteval_kit.render import render_release

    run, bar, baseline = _gated(given)
    made = render_release(run, baseline=baseline, bar=bar, history=given.history, out=given.out)
    print(f"{made.verdict}\n{made.html}")
    return _verdict_code(made.verdict, given.review_exit)


def _verdict_code(verdict: str, review_exit: int) -> int:
    return {"SHIP": PASS, "HOLD": FAIL}.get(verdict, review_exit)


def _show(given: argparse.Namespace) -> int:
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


def _import(given: argparse.Namespace) -> int:
    from agenteval_kit.files import Appender
    from agenteval_kit.importers import import_files
    from agenteval_kit.records import AgentStamps

    if (given.model is None) != (given.prompt is None):
        raise ConfigError("--model and --prompt are stamps that belong together; give both")
    if given.out.exists():
        raise ConfigError(f"{given.out}: is there already; name another file")
    stamps = AgentStamps(model=given.model, prompt=given.prompt) if given.model else None
    made = list(import_files(given.files, format=given.format, stamps=stamps))
    if not made:
        raise ConfigError("nothing was imported: the files hold no transcript")
    appender = Appender(given.out)
    appender.append_lines(item.model_dump_json(exclude_defaults=True) for item in made)
    appender.close()
    failed = sum(item.failure is not None for item in made)
    print(f"{len(made)} transcripts, {failed} of them with a failure: {given.out}")
    return PASS


def _new(given: argparse.Namespace) -> int:
    from agenteval_kit.scaffold import new_suite

    for path in new_suite(given.name, given.folder):
        print(path)
    return PASS


def _doctor(given: argparse.Namespace) -> int:
    from agenteval_kit.scaffold import doctor

    findings = doctor()
    for finding in findings:
        print(finding)
    return BROKEN if any(finding.level == "broken" for finding in findings) else PASS
