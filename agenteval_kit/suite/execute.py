"""Runs a suite into a run folder and checks what came; the same call resumes.

May not print: progress goes to a callback, results come back as a value.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agenteval_kit import __version__
from agenteval_kit.agents import load_agent
from agenteval_kit.checks import run_checks
from agenteval_kit.records import AgentStamps, Case
from agenteval_kit.runs import (
    CasePlan,
    Run,
    RunInfo,
    RunWriter,
    find_resumable,
    new_run_id,
    now_text,
    require_same_stamps,
)
from agenteval_kit.runs.suites import note_suite_file
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.live import converse_all
from agenteval_kit.suite.load import Suite
from agenteval_kit.suite.reading import collector_paused
from agenteval_kit.suite.recorded import read_recording, recorded_stamps
from agenteval_kit.suite.state import Progress, State

__all__ = ["RunResult", "check_run", "run_suite"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What `run_suite` did.

    Attributes
    ----------
    run : Run
        The run folder.
    kept : int
        Transcripts that were there already.
    made : int
        Transcripts added by this call.
    from_tape : int
        Model replies that came from the tape, so were not paid for again.
    unscored : tuple of (case id, repeat, reason)
        What failed for reasons that are not the agent's.
    stopped : str
        Why the run stopped early; "" if it went to its end.
    warnings : tuple of str
        What a person should know once.
    """

    run: Run
    kept: int
    made: int
    from_tape: int = 0
    unscored: tuple[tuple[str, int, str], ...] = ()
    stopped: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every case and repeat was evaluated and none is an infrastructure failure."""
        return not self.stopped and not self.unscored and self.run.complete

    @property
    def remedy(self) -> str:
        """Why the run is incomplete, and what finishes it; for one that is not `complete`."""
        why = self.stopped or f"{len(self.unscored):,} unscored"
        if self.run.info.kind == "recorded":
            return f"{why}; check a recording that holds them: this one never will"
        return why if "same command" in why else f"{why}; run the same command to resume"


def run_suite(
    suite: Suite,
    *,
    root: Path = Path("data/runs"),
    out: Path | None = None,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    user_model: Any = None,
) -> RunResult:
    """Evaluate every case of a suite and check it; resume the latest incomplete run.

    Parameters
    ----------
    suite : Suite
        From `load_suite`.
    root : pathlib.Path
        Where run folders lie.
    out : pathlib.Path, optional
        This very folder: resumed if it holds a run with equal stamps, refused if others.
    jobs : int
        Cases at once; 1 where the suite freezes the clock.
    timeout : float, optional
        Seconds after which an answer that did not come is a failed case.
    progress : callable, optional
        Gets a `Progress` after each transcript.
    user_model : ChatModel, optional
        Plays the simulated users, in place of the suite's `simulator`.

    Raises
    ------
    ConfigError
        If the agent cannot be made, a key is refused, or the run folder belongs to another run.
    """
    recorded = suite.agent.spec.kind == "recorded"
    if recorded:
        stamps, items = recorded_stamps(suite)
    else:
        items = suite.items
        stamps = load_agent(suite.agent.spec, folder=suite.agent.folder).stamps
    simulator = user_model.name if user_model is not None else None
    if simulator is None and suite.simulator is not None and not recorded:
        simulator = suite.simulator.name
    with collector_paused():
        info = _info(
            suite, items, stamps, kind=_kind(suite), simulator=simulator,
            place=out or root / suite.spec.name,
        )  # fmt: skip
    run = _open_run(info, root, out)
    with run.lock():
        writer = run.writer()
        kept = len(run.wanted()) - len(run.missing())
        state = State(writer, total=len(run.wanted()), done=kept)
        try:
            if kept or (run.path / "checks.jsonl").exists():
                _catch_up(run, suite, items, writer)
            if recorded:
                with collector_paused():
                    read_recording(run, suite, items, stamps, state, progress)
            else:
                converse_all(
                    run, suite, items, state, jobs=jobs, timeout=timeout, progress=progress,
                    user_model=user_model,
                )  # fmt: skip
        finally:
            writer.close()
    if state.fatal is not None:
        raise state.fatal
    return RunResult(
        run=run,
        kept=kept,
        made=state.made,
        from_tape=state.from_tape,
        unscored=tuple(state.unscored),
        stopped=state.stopped,
        warnings=tuple(writer.warnings + run.warnings),
    )


def check_run(run: Run, suite: Suite) -> Iterator[Any]:
    """Check rows of a run's transcripts under a suite, computed afresh and written nowhere."""
    by_id = {item.id: item for item in suite.items}
    for transcript in run.transcripts():
        item = by_id.get(transcript.case_id) or Case(id=transcript.case_id)
        yield from run_checks(transcript, item, suite.checks(item))


def _kind(suite: Suite) -> Literal["live", "recorded", "simulated"]:
    if suite.agent.spec.simulated:
        return "simulated"
    return "recorded" if suite.agent.spec.kind == "recorded" else "live"


def _info(
    suite: Suite,
    items: tuple[Item, ...],
    stamps: AgentStamps,
    *,
    kind: Any,
    simulator: str | None,
    place: Path,
) -> RunInfo:
    prompt_file = suite.agent.spec.prompt_file
    prompt = suite.agent.folder / prompt_file if prompt_file else None
    notes = [text for text in (suite.spec.data_note, suite.agent.spec.note) if text]
    clock = suite.clock.isoformat() if suite.clock is not None else None
    return RunInfo(
        id=new_run_id(suite.spec.name),
        created=now_text(),
        suite=suite.spec.name,
        suite_version=suite.spec.version,
        suite_digest=suite.digest,
        suite_file=note_suite_file(suite.file, place),
        agent=stamps,
        clock=clock,
        frozen_clock=suite.spec.freeze_clock,
        repeats=suite.repeats,
        selection=suite.selection,
        cases=tuple(_plans(suite, items)),
        tools=None if suite.spec.tools is None else tuple(suite.spec.tools),
        kind=kind,
        simulator=simulator,
        data_note=" ".join(notes) or None,
        package=__version__,
        commit=_commit(suite.file.parent),
        prompt_text=prompt.read_text(encoding="utf-8") if prompt and prompt.is_file() else None,
        drafts=suite.drafts,
    )


def _plans(suite: Suite, items: Iterable[Item]) -> Iterator[CasePlan]:
    for item in items:
        yield suite.plan(item)


def _commit(folder: Path) -> str | None:
    try:
        made = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=folder, capture_output=True, text=True, timeout=5, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return made.stdout.strip() or None


def _open_run(info: RunInfo, root: Path, out: Path | None) -> Run:
    if out is not None:
        if (out / "run.json").exists():
            run = Run.open(out)
            require_same_stamps(run, info)
            return run
        return Run.create(root, info, at=out)
    return find_resumable(root, info) or Run.create(root, info)


def _catch_up(run: Run, suite: Suite, items: Iterable[Item], writer: RunWriter) -> None:
    """Write the check rows that a killed run had no time to write.

    Checks are pure, so rows of a kept transcript are the same whenever they are made.
    """
    have = {(row.case_id, row.repeat, row.name) for row in run.check_rows()}
    by_id = {item.id: item for item in items}
    for transcript in run.transcripts():
        item = by_id.get(transcript.case_id)
        if item is None:
            continue
        rows = run_checks(transcript, item, suite.checks(item))
        writer.add_checks(row for row in rows if (row.case_id, row.repeat, row.name) not in have)
