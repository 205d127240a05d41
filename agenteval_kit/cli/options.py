"""The words that each command takes.

May not import what a command needs: `--help` and a bad call start in a blink.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agenteval_kit import __version__
from agenteval_kit.cli import comparing, deciding, judging, labelling, making, returning, scoring
from agenteval_kit.cli.codes import BROKEN, FAIL
from agenteval_kit.cli.values import positive, seconds_of, some_text, web_address
from agenteval_kit.errors import did_you_mean

__all__ = ["make_parser"]

COMMANDS = (
    "demo", "check", "run", "judge", "label", "calibrate", "review", "compare", "gate", "report",
    "show", "import", "plan", "promote", "publish", "withdraw", "new", "doctor",
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # An empty word is a variable that is not set; as a path it would be the folder we are in.
        self.register("type", None, some_text)
        self.register("type", Path, lambda text: Path(some_text(text)))

    def error(self, message: str) -> None:  # type: ignore[override]
        if "invalid choice" in message and "'" in message:
            name = message.split("'")[1]
            message = f'there is no command "{name}".{did_you_mean(name, COMMANDS)}'
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(BROKEN)


def make_parser() -> argparse.ArgumentParser:
    """The parser of every command."""
    parser = _Parser(
        prog="agenteval",
        description="Score what has a right answer by code, judge the rest, and decide a release.",
        epilog="Exit codes: 0 pass or SHIP; 1 a case failed, HOLD or REVIEW; 2 configuration "
        "broken, nothing was scored; 3 incomplete, run the same command to resume.",
    )
    parser.add_argument("--version", action="version", version=f"agenteval-kit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    commands.type = str  # each command looks at its own words

    demo = _command(commands, "demo", "a first look: a real A/B, its verdict, its report")
    demo.add_argument(
        "--broken",
        type=int,
        metavar="N",
        help="put a simulated candidate in place of the recorded one: a copy of the baseline in "
        "which N tasks that passed are made to fail",
    )
    demo.add_argument("--no-report", action="store_true", help="the verdict only")
    _runs_options(demo)
    demo.set_defaults(command=scoring.demo)

    check = _command(commands, "check", "the deterministic half: run the agent and check")
    _suite_options(check)
    _output_options(check)
    check.set_defaults(command=scoring.check)

    run = _command(commands, "run", "fill a run folder; the same command resumes it")
    _suite_options(run)
    run.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    run.set_defaults(command=scoring.run)

    judge = _command(commands, "judge", "verdicts: one dimension of the rubric a call")
    judge.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    _judge_options(judge)
    _rubric_option(judge)
    judge.add_argument("--dimensions", metavar="NAMES", help="only these, separated by commas")
    judge.add_argument(
        "--bar",
        type=Path,
        help="a bar file, whose `never` levels are asked for again; the suite's by default",
    )
    judge.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    judge.set_defaults(command=judging.judge)

    label = _command(commands, "label", "read transcripts and give levels, in a notebook")
    label.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    label.add_argument("--rater", metavar="NAME", help="who reads")
    _rubric_option(label)
    label.add_argument("--dimensions", metavar="NAMES", help="only these, separated by commas")
    _people_options(label)
    label.add_argument("--sample", metavar="NAME", help="which to read, drawn once; or was read")
    label.add_argument("--n", type=positive, metavar="N", help="transcripts in a new sample")
    label.add_argument(
        "--purpose",
        choices=("tuning", "calibration"),
        help="to mend the rubric (30; the default), or fresh ones that measure the judge (100)",
    )
    label.add_argument("--voila", action="store_true", help="as a page, without a notebook")
    label.add_argument("--no-open", action="store_true", help="print the address alone")
    label.add_argument(
        "--import",
        dest="import_",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="bring labels in from tables, Label Studio or Argilla; nothing is opened",
    )
    label.add_argument("--format", metavar="F", help="csv, label_studio, argilla; else guessed")
    label.add_argument(
        "--map", nargs="+", metavar="THEIRS=OURS", help="their columns, raters, choices in ours"
    )
    label.set_defaults(command=labelling.label)

    calibrate = _command(commands, "calibrate", "who is trusted on what, by people's labels")
    calibrate.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    _people_options(calibrate)
    calibrate.add_argument(
        "--bar", type=Path, help="a bar file, whose rule of trust holds; the suite's by default"
    )
    _rubric_option(calibrate)
    calibrate.add_argument(
        "--judge", nargs="+", metavar="DIGEST", help="in place of the last asked"
    )
    calibrate.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write; the suite's by default"
    )
    calibrate.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    calibrate.set_defaults(command=labelling.calibrate)

    review = _command(commands, "review", "confirm or overrule one verdict of a judge")
    review.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    review.add_argument("case", metavar="CASE", help="its id")
    review.add_argument("dimension", metavar="DIMENSION", help="that the judge scored")
    _repeat_option(review)
    review.add_argument("--rater", required=True, metavar="NAME", help="who says so")
    review.add_argument("--score", type=int, metavar="N", help="the right level, if there is one")
    review.add_argument("--reason", required=True, metavar="TEXT", help="why")
    _people_options(review)
    review.set_defaults(command=labelling.review)

    compare = _command(commands, "compare", "two runs side by side; preferences with judges")
    compare.add_argument("old", metavar="OLD", help="a path, a published name, or latest")
    compare.add_argument("new", type=Path, metavar="NEW", help="a run folder")
    _judge_options(compare)
    _rubric_option(compare, "one with pairwise criteria")
    compare.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    compare.set_defaults(command=comparing.compare)

    plan = _command(commands, "plan", "how many cases and labels, at what cost")
    plan.add_argument("suite", type=Path, metavar="SUITE", help="a suite file")
    plan.add_argument("--bar", type=Path, help="a bar file; the suite's by default")
    _rubric_option(plan)
    plan.add_argument(
        "--judge", nargs="+", metavar="MODEL", help="models to ask; the suite's by default"
    )
    plan.add_argument("--cases", type=positive, metavar="N", help="in place of the suite's")
    plan.add_argument("--repeats", type=positive, metavar="K", help="in place of the suite's")
    plan.add_argument(
        "--drop",
        type=float,
        default=0.05,
        metavar="X",
        help="a fall, as a share, that the bar should catch; 0.05 by default",
    )
    plan.add_argument("--seed", type=int, default=0, help="of the simulation; 0 by default")
    plan.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    _runs_options(plan)
    plan.set_defaults(command=judging.plan)

    gate = _command(commands, "gate", "SHIP, HOLD or REVIEW")
    _gate_options(gate)
    _output_options(gate)
    _review_option(gate)
    gate.set_defaults(command=deciding.gate)

    report = _command(commands, "report", "the release report, one HTML file")
    _gate_options(report)
    report.add_argument(
        "--baseline-bar", type=Path, metavar="BAR", help="the bar that the baseline was held to"
    )
    report.add_argument("--history", type=Path, metavar="DIR", help="run folders, for the trends")
    report.add_argument(
        "--out", type=Path, metavar="FILE", help="where the page goes; reports/RUN.html by default"
    )
    _review_option(report)
    report.set_defaults(command=deciding.report)

    show = _command(commands, "show", "one transcript in the terminal")
    show.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    show.add_argument("case", metavar="CASE", help="its id")
    _repeat_option(show)
    show.set_defaults(command=deciding.show)

    import_ = _command(commands, "import", "other tools' logs to transcripts.jsonl")
    import_.add_argument("files", type=Path, nargs="+", metavar="LOG", help="files to read")
    import_.add_argument(
        "--format", metavar="F", help="openai, tau-bench, transcripts; else guessed"
    )
    import_.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="transcripts.jsonl, to write"
    )
    import_.add_argument("--model", help="stamp: the model that made them")
    import_.add_argument("--prompt", help="stamp: the prompt version that made them")
    import_.set_defaults(command=making.import_)

    promote = _command(commands, "promote", "the way back: a failure becomes a draft case")
    promote.add_argument(
        "run", type=Path, metavar="RUN", help="a run folder, or a file of imported transcripts"
    )
    promote.add_argument("case", metavar="CASE", help="its id")
    promote.add_argument("--layer", required=True, metavar="L", help="the layer that broke")
    _repeat_option(promote)
    promote.add_argument("--suite", type=Path, help="where it goes, in place of the run's own")
    promote.add_argument("--id", metavar="ID", help="of the draft; made of the case's by default")
    promote.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    promote.set_defaults(command=returning.promote)

    publish = _command(commands, "publish", "mark a run as a release, with its verdict")
    _gate_options(publish)
    publish.add_argument("--by", required=True, metavar="NAME", help="who publishes it")
    publish.add_argument("--name", metavar="NAME", help="to find it by; the run's id by default")
    publish.set_defaults(command=returning.publish)

    withdraw = _command(commands, "withdraw", "take one case, a person's data, out of a run")
    withdraw.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    withdraw.add_argument("case", metavar="CASE", help="its id")
    withdraw.add_argument("--by", required=True, metavar="NAME", help="who withdraws it")
    withdraw.add_argument("--reason", required=True, metavar="TEXT", help="why; noted in the run")
    withdraw.add_argument(
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of labels that holds the case too; may be given again",
    )
    withdraw.set_defaults(command=making.withdraw)

    new = _command(commands, "new", "a new suite that works, to start from")
    new.add_argument("name", metavar="NAME", help="of the suite")
    new.add_argument(
        "--folder", type=Path, default=Path("."), metavar="DIR", help="here by default"
    )
    new.set_defaults(command=making.new)

    doctor = _command(commands, "doctor", "what is wrong here, and its remedy")
    doctor.set_defaults(command=making.doctor)
    return parser


def _command(commands: Any, name: str, what: str) -> argparse.ArgumentParser:
    said = f"{what[0].upper()}{what[1:]}."
    made: argparse.ArgumentParser = commands.add_parser(name, help=what, description=said)
    made.set_defaults(word=name)
    return made


def _runs_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path("data/runs"),
        metavar="DIR",
        help="where run folders lie; data/runs by default",
    )


def _rubric_option(parser: argparse.ArgumentParser, what: str = "a rubric file") -> None:
    said = f"{what}; the suite's by default"
    parser.add_argument("--rubric", type=Path, metavar="R", help=said)


def _repeat_option(parser: argparse.ArgumentParser) -> None:
    said = "which one; 0, the first, by default"
    parser.add_argument("--repeat", type=int, default=0, metavar="K", help=said)


def _review_option(parser: argparse.ArgumentParser) -> None:
    said = "exit code of REVIEW; 1 by default"
    parser.add_argument("--review-exit", type=int, default=FAIL, metavar="N", help=said)


def _suite_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", type=Path, metavar="SUITE", help="a suite file")
    parser.add_argument("--agent", type=Path, metavar="A", help="in place of the suite's agent")
    parser.add_argument(
        "--repeats",
        type=positive,
        metavar="K",
        help="each case K times; as the suite says by default",
    )
    parser.add_argument("--only", metavar="IDS", help="case ids, separated by commas")
    parser.add_argument("--tag", metavar="T", help="cases with this tag")
    parser.add_argument("--shard", metavar="i/n", help="every n-th case, starting with the i-th")
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="cases at once; 1 by default"
    )
    parser.add_argument(
        "--timeout",
        type=seconds_of,
        metavar="S",
        help="seconds for a reply of the agent; later is a failed case",
    )
    parser.add_argument(
        "--simulator",
        metavar="MODEL",
        help="the model that plays the users; the suite's by default",
    )
    parser.add_argument(
        "--out", type=Path, metavar="RUN", help="the run folder; a new one in --runs by default"
    )
    _runs_options(parser)


def _judge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge", nargs="+", metavar="MODEL", help="models to ask; the suite's by default"
    )
    parser.add_argument("--suite", type=Path, help="the run's suite, where it lies elsewhere now")
    parser.add_argument("--replay", type=Path, metavar="TAPE", help="answer from a tape alone")
    parser.add_argument(
        "--max-age",
        type=float,
        metavar="DAYS",
        help="judge anew, asking for replies that are older",
    )
    parser.add_argument("--fresh", action="store_true", help="judge anew, asking for everything")
    parser.add_argument(
        "--max-concurrency",
        type=positive,
        default=32,
        metavar="N",
        help="requests in flight of each model: 32 by default, 200 at most",
    )
    parser.add_argument(
        "--timeout",
        type=seconds_of,
        default=120.0,
        metavar="S",
        help="seconds for one request, 120 by default",
    )
    parser.add_argument("--max-calls", type=positive, metavar="N", help="stop after so many calls")
    parser.add_argument("--max-tokens", type=positive, metavar="N", help="stop after so many")
    parser.add_argument("--max-usd", type=float, metavar="X", help="stop after so many US dollars")
    parser.add_argument("--yes", action="store_true", help="do not ask before the first paid call")


def _gate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    parser.add_argument("--bar", type=Path, help="a bar file; the suite's by default")
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="a path, a published name, or latest; the suite's by default",
    )
    _people_options(parser)
    parser.add_argument(
        "--calibration", type=Path, metavar="FILE", help="a calibration; the suite's by default"
    )


def _output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the same as JSON, for machines")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML for CI")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write a summary for a pull request"
    )
    parser.add_argument(
        "--link", type=web_address, metavar="URL", help="an address for that summary"
    )


def _people_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="DIR",
        help="a folder of people's labels; the suite's by default",
    )
