"""Makes the shipped tapes: the scripted models of data/tapes, asked through the real client.

May not ask a model: the server is data/tapes/scripted_models.py on loopback. Everything that is
written is the same each time; `--check` makes the tapes elsewhere and compares.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.errors import AgentEvalError
from agenteval_kit.files import write_atomic
from agenteval_kit.judge import Judge, Judges, judge_run
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.pairwise import compare_runs
from agenteval_kit.records import JudgeSpec
from agenteval_kit.records.suites import SeatSpec
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.suite import Suite, load_suite, run_suite
from agenteval_kit.targets import load_target
from agenteval_kit.testing import ScriptedServer

DATA = Path(__file__).resolve().parent.parent / "data"
NOT_KEPT = ("seconds", "at")
"""What a tape holds of a call's time: of a scripted server it says nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one tape holds.

    Both versions of the agent, judged by each of `rubrics` and compared by `pairwise`; or, where
    `played`, the users of the suite.
    """

    suite: str
    rubrics: tuple[str, ...] = ()
    pairwise: str | None = None
    played: bool = False


PLANS = (
    Plan("support", ("support",)),
    Plan("helpdesk", ("case_rubric", "grounding_0_3"), "outcome_pairwise"),
    Plan("support_played", played=True),
)
VERSIONS = ("v1", "v2")


def make_tape(plan: Plan, folder: Path) -> Path:
    """Have everything asked that a plan names, and write the tape into a folder."""
    made = folder / f"{plan.suite}.jsonl"
    script = load_target("scripted_models.py:answer", folder=DATA / "tapes", fresh=True)
    with tempfile.TemporaryDirectory() as scratch, ScriptedServer(script) as server:
        tape = Tape(Path(scratch) / "calls.jsonl")
        if plan.played:
            play(plan, server.base_url, tape, Path(scratch))
        else:
            judge_and_compare(plan, server.base_url, tape, Path(scratch))
        write_atomic(made, "".join(sorted(map(without_times, tape.rows()))))
    return made


def play(plan: Plan, base_url: str, tape: Tape, folder: Path) -> None:
    """Hold the conversations of a suite whose users are played."""
    suite = load_suite(DATA / "suites" / f"{plan.suite}.yaml")
    assert suite.simulator is not None
    user = model_at(base_url, suite.simulator, tape)
    result = run_suite(suite, out=folder / "played", user_model=user)
    if not result.complete:
        raise AgentEvalError(result.stopped or f"{len(result.unscored)} conversations unscored")


def judge_and_compare(plan: Plan, base_url: str, tape: Tape, folder: Path) -> None:
    """Run both versions, judge them by every rubric, and compare the second with the first."""
    suites = [load_suite(DATA / "suites" / f"{plan.suite}.yaml",
                         agent=DATA / "agents" / f"{plan.suite}_{version}.yaml")
              for version in VERSIONS]  # fmt: skip
    runs = [
        run_suite(suite, out=folder / version).run
        for suite, version in zip(suites, VERSIONS, strict=True)
    ]
    judges = judges_at(base_url, suites[0].spec.judge, tape)
    for rubric in plan.rubrics:
        for run in runs:
            judge(run, suites[0], rubric, judges, tape)
    if plan.pairwise is not None:
        compare(runs, suites[0], plan.pairwise, judges, tape)


def judges_at(base_url: str, spec: JudgeSpec | None, tape: Tape) -> Judges:
    """The suite's judges, served at whichever port was free."""
    assert spec is not None
    seats = tuple(Judge(model_at(base_url, seat, tape)) for seat in spec.models)
    return Judges(seats, spec.allow_same_model)


def model_at(base_url: str, seat: SeatSpec, tape: Tape) -> OpenAIModel:
    """One model, asked at an address and stamped with the one that the suite names."""
    model = OpenAIModel(seat.name, base_url=base_url, tape=tape)
    assert seat.base_url is not None
    model.endpoint = endpoint_of(seat.base_url)
    return model


def judge(run: Run, suite: Suite, rubric: str, judges: Judges, tape: Tape) -> None:
    """Judge one run by one rubric, whole or not at all."""
    read = load_rubric(DATA / "rubrics" / f"{rubric}.yaml")
    result = judge_run(run, read, judges, items=suite.items, tape=tape)
    if not result.complete:
        raise AgentEvalError(result.stopped or f"{result.failed} verdicts without an answer")
    refused = [row for row in run.verdict_rows() for seat in row.seats
               if seat.reason.startswith("the request was refused")]  # fmt: skip
    if refused:
        one = refused[0]
        raise AgentEvalError(f"{one.case_id}, {one.dimension}: {one.seats[0].reason}")


def compare(runs: list[Run], suite: Suite, rubric: str, judges: Judges, tape: Tape) -> None:
    """Compare the second version with the first, whole or not at all."""
    old, new = runs
    read = load_rubric(DATA / "rubrics" / f"{rubric}.yaml")
    result = compare_runs(old, new, read, judges, items=suite.items, tape=tape, draws=100)
    if not result.complete:
        raise AgentEvalError(result.stopped or f"{result.failed} pairs without an answer")


def without_times(row: dict[str, object]) -> str:
    """A row of a tape as a line, without what differs from one recording to the next."""
    kept = {name: value for name, value in row.items() if name not in NOT_KEPT}
    return json.dumps(kept, separators=(",", ":")) + "\n"


def main() -> int:
    """Write data/tapes/*.jsonl, or compare them with new ones; 1 where they differ."""
    parser = argparse.ArgumentParser(description="Make the shipped tapes from the scripted models.")
    parser.add_argument("--check", action="store_true", help="make them elsewhere and compare")
    given = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as scratch:
        for plan in PLANS:
            made = make_tape(plan, Path(scratch))
            text = made.read_text(encoding="utf-8")
            kept = DATA / "tapes" / made.name
            same = kept.is_file() and kept.read_text(encoding="utf-8") == text
            if not given.check:
                write_atomic(kept, text)
            differ += given.check and not same
            word = "same" if same else "DIFFERS" if given.check else "written"
            print(f"{word:<8} {kept.name}: {text.count(chr(10))} replies, {len(text) // 1000} kB")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
