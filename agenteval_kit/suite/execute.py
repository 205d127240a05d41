"""Runs a suite into a run folder and checks what came; the same call resumes.

May not print: progress goes to a callback, results come back as a value.
"""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agenteval_kit import __version__
from agenteval_kit.agents import Agent, load_agent
from agenteval_kit.checks import run_checks
from agenteval_kit.errors import (
    BudgetReached,
    ConfigError,
    Problem,
    QuotaExhausted,
)
from agenteval_kit.files import file_digest
from agenteval_kit.importers import import_files
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import AgentStamps, Case, Scenario, Transcript
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
from agenteval_kit.simulate import converse, sources_of
from agenteval_kit.suite.load import Suite

__all__ = ["Progress", "RunResult", "check_run", "run_suite"]

Item = Case | Scenario
DOWN_AFTER = 3
"""Infrastructure failures in a row after which no further case is started."""
BATCH = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: told after each transcript."""

    done: int
    total: int
    unscored: int
    last: str


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


@dataclass(slots=True)
class _State:
    writer: RunWriter
    total: int
    done: int = 0
    made: int = 0
    from_tape: int = 0
    unscored: list[tuple[str, int, str]] = field(default_factory=list)
    down: int = 0
    stopped: str = ""
    fatal: BaseException | None = None


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
        Plays the simulated users.

    Raises
    ------
    ConfigError
        If the agent cannot be made, a key is refused, or the run folder belongs to another run.
    """
    recorded = suite.agent.spec.kind == "recorded"
    if recorded:
        stamps, items = _recorded_stamps(suite)
    else:
        items = suite.items
        stamps = load_agent(suite.agent.spec, folder=suite.agent.folder).stamps
    info = _info(suite, items, stamps, kind=_kind(suite))
    run = _open_run(info, root, out)
    with run.lock():
        writer = run.writer()
        kept = len(run.wanted()) - len(run.missing())
        state = _State(writer, total=len(run.wanted()), done=kept)
        try:
            if kept or (run.path / "checks.jsonl").exists():
                _catch_up(run, suite, items, writer)
            if recorded:
                _read_recording(run, suite, items, stamps, state, progress)
            else:
                _converse_all(
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


def _info(suite: Suite, items: tuple[Item, ...], stamps: AgentStamps, *, kind: Any) -> RunInfo:
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
        suite_file=_shown(suite.file),
        agent=stamps,
        clock=clock,
        frozen_clock=suite.spec.freeze_clock,
        repeats=suite.repeats,
        selection=suite.selection,
        cases=tuple(_plans(suite, items)),
        tools=None if suite.spec.tools is None else tuple(suite.spec.tools),
        kind=kind,
        data_note=" ".join(notes) or None,
        package=__version__,
        commit=_commit(suite.file.parent),
        prompt_text=prompt.read_text(encoding="utf-8") if prompt and prompt.is_file() else None,
    )


def _plans(suite: Suite, items: Iterable[Item]) -> Iterator[CasePlan]:
    for item in items:
        yield suite.plan(item)


def _shown(path: Path) -> str:
    """A path that says nothing about this machine: relative to here, or just its name."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.name


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


# Recorded transcripts: read, stamped, checked; in the order of the recording.


def _recorded_stamps(suite: Suite) -> tuple[AgentStamps, tuple[Item, ...]]:
    spec = suite.agent.spec
    given: AgentStamps | None = None
    if spec.model is not None and spec.prompt is not None:
        prompt_file = suite.agent.folder / spec.prompt_file if spec.prompt_file else None
        given = AgentStamps(
            model=spec.model,
            prompt=spec.prompt,
            prompt_digest=file_digest(prompt_file) if prompt_file else None,
            parameters=spec.parameters or None,
            origin=spec.note,
        )
    path = suite.agent.folder / str(spec.recorded)
    if given is not None and suite.items:
        return given, suite.items
    found: AgentStamps | None = given
    names: dict[str, None] = {}
    for transcript in import_files([path]):
        names[transcript.case_id] = None
        if given is None:
            if transcript.stamps is None or (found is not None and transcript.stamps != found):
                raise ConfigError(
                    Problem(
                        f'transcript "{transcript.case_id}" has '
                        + ("no stamps" if transcript.stamps is None else "stamps of its own")
                        + "; say who made the recording with agent: {recorded, model, prompt}",
                        str(path),
                    )
                )
            found = transcript.stamps
    if found is None:
        raise ConfigError(Problem("nothing was evaluated: the recording is empty", str(path)))
    return found, suite.items or tuple(Case(id=name) for name in names)


def _read_recording(
    run: Run,
    suite: Suite,
    items: tuple[Item, ...],
    stamps: AgentStamps,
    state: _State,
    progress: Callable[[Progress], None] | None,
) -> None:
    path = suite.agent.folder / str(suite.agent.spec.recorded)
    wanted = set(run.missing())
    by_id = {item.id: item for item in items}
    checks: dict[str, Any] = {}
    transcripts: list[Transcript] = []
    rows: list[Any] = []
    source_tools = _source_tools(suite)
    for found in import_files([path], stamps=stamps, system=run.info.prompt_text):
        key = (found.case_id, found.repeat)
        if key not in wanted:
            continue
        wanted.discard(key)
        item = by_id[found.case_id]
        if found.case_id not in checks:
            checks[found.case_id] = suite.checks(item)
        transcript = _complete(found, suite, item, source_tools)
        transcripts.append(transcript)
        rows.extend(run_checks(transcript, item, checks[found.case_id]))
        state.done += 1
        state.made += 1
        if transcript.failure is not None and transcript.failure.kind == "infrastructure":
            state.unscored.append((*key, transcript.failure.message))
        if len(transcripts) >= BATCH:
            state.writer.add_transcripts(transcripts)
            state.writer.add_checks(rows)
            transcripts, rows = [], []
        _tell(progress, state, found.case_id)
    state.writer.add_transcripts(transcripts)
    state.writer.add_checks(rows)
    if wanted:
        some = ", ".join(f"{name} repeat {repeat}" for name, repeat in sorted(wanted)[:5])
        state.stopped = (
            f"the recording holds no transcript of {len(wanted)} of {state.total} wanted: {some}"
        )


def _complete(
    found: Transcript,
    suite: Suite,
    item: Item,
    source_tools: tuple[str, ...],
) -> Transcript:
    """Add what the suite knows and the recording cannot: the clock, the sources."""
    add: dict[str, Any] = {}
    now = suite.now(item)
    if found.now is None and now is not None:
        add["now"] = now.isoformat()
    if source_tools and not found.sources:
        add["sources"] = sources_of(found, source_tools)
    return found.model_copy(update=add) if add else found


def _source_tools(suite: Suite) -> tuple[str, ...]:
    return tuple(suite.spec.sources.tools) if suite.spec.sources else ()


# Live agents: `converse` gives each conversation a fresh one, so that no state is shared.


def _converse_all(
    run: Run,
    suite: Suite,
    items: tuple[Item, ...],
    state: _State,
    *,
    jobs: int,
    timeout: float | None,
    progress: Callable[[Progress], None] | None,
    user_model: Any,
) -> None:
    by_id = {item.id: item for item in items}
    todo: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
    for key in run.missing():
        todo.put(key)
    tape = Tape(run.tape_path)
    agent = load_agent(suite.agent.spec, folder=suite.agent.folder, tape=tape)
    run.warnings += [*tape.warnings, *agent.notes]
    one_at_a_time = jobs <= 1 or suite.spec.freeze_clock or agent.shares_state
    lock = threading.Lock()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                case_id, repeat = todo.get_nowait()
            except queue.Empty:
                return
            item = by_id[case_id]
            try:
                transcript = _one(suite, agent, item, repeat, timeout, user_model)
            except (BudgetReached, QuotaExhausted) as error:
                with lock:
                    state.stopped = state.stopped or str(error)
                stop.set()
                return
            with lock:
                _take(state, suite, item, transcript, progress, stop)

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            state.fatal = state.fatal or error
            stop.set()

    try:
        if one_at_a_time:
            guarded()
        else:
            threads = [threading.Thread(target=guarded, daemon=True) for _ in range(jobs)]
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
    except KeyboardInterrupt:
        stop.set()
        state.fatal = KeyboardInterrupt()
    if isinstance(state.fatal, KeyboardInterrupt):
        state.fatal = None
        state.stopped = "interrupted"


def _one(
    suite: Suite,
    agent: Agent,
    item: Item,
    repeat: int,
    timeout: float | None,
    user_model: Any,
) -> Transcript:
    now = suite.now(item) or datetime.now(UTC).replace(microsecond=0)
    with _frozen(now) if suite.spec.freeze_clock else nullcontext():
        transcript = converse(
            agent,
            item,
            now=now,
            repeat=repeat,
            user_model=user_model,
            source_tools=_source_tools(suite),
            timeout=timeout,
        )
    return transcript


def _frozen(now: datetime) -> Any:
    import time_machine  # only suites that hold the process clock pay for it

    return time_machine.travel(now, tick=False)


def _take(
    state: _State,
    suite: Suite,
    item: Item,
    transcript: Transcript,
    progress: Callable[[Progress], None] | None,
    stop: threading.Event,
) -> None:
    failure = transcript.failure
    state.from_tape += transcript.usage.from_tape
    if failure is not None and failure.kind == "infrastructure":
        # Not written: the same command asks for it again.
        state.unscored.append((transcript.case_id, transcript.repeat, failure.message))
        state.down += 1
        if state.down >= DOWN_AFTER and not stop.is_set():
            state.stopped = (
                f"{DOWN_AFTER} infrastructure failures in a row: the provider seems to be down"
            )
            stop.set()
        return
    state.down = 0
    state.writer.add_transcripts([transcript])
    state.writer.add_checks(run_checks(transcript, item, suite.checks(item)))
    state.done += 1
    state.made += 1
    _tell(progress, state, transcript.case_id)


def _tell(progress: Callable[[Progress], None] | None, state: _State, last: str) -> None:
    if progress is not None:
        progress(Progress(state.done, state.total, len(state.unscored), last))
