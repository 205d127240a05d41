"""Live agents: each wanted conversation is held, checked and written as it ends.

May not read a recording. `converse` gives each conversation a fresh agent: no state is shared.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

from agenteval_kit.agents import Agent, load_agent
from agenteval_kit.checks import run_checks
from agenteval_kit.errors import BudgetReached, QuotaExhausted
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import Transcript
from agenteval_kit.records.suites import SeatSpec
from agenteval_kit.runs import Run
from agenteval_kit.simulate import converse
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.load import Suite
from agenteval_kit.suite.state import Progress, State, source_tools_of, tell

__all__ = ["converse_all"]

DOWN_AFTER = 3
"""Infrastructure failures in a row after which no further case is started."""


def converse_all(
    run: Run,
    suite: Suite,
    items: tuple[Item, ...],
    state: State,
    *,
    jobs: int,
    timeout: float | None,
    progress: Callable[[Progress], None] | None,
    user_model: Any,
) -> None:
    """Hold every conversation that the run still misses."""
    by_id = {item.id: item for item in items}
    todo: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
    for key in run.missing():
        todo.put(key)
    tape = Tape(run.tape_path)
    agent = load_agent(suite.agent.spec, folder=suite.agent.folder, tape=tape)
    run.warnings += [*tape.warnings, *agent.notes]
    if user_model is None and suite.simulator is not None:
        user_model = _simulator(suite.simulator, tape)
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


def _simulator(seat: SeatSpec, tape: Tape) -> ChatModel:
    from agenteval_kit.models.served import served_model  # asyncio: only served models pay

    return served_model(
        seat.name,
        "the simulated user",
        base_url=seat.base_url,
        base_url_env=seat.base_url_env,
        api_key_env=seat.api_key_env,
        tape=tape,
    )


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
            source_tools=source_tools_of(suite),
            timeout=timeout,
        )
    return transcript


def _frozen(now: datetime) -> Any:
    import time_machine  # only suites that hold the process clock pay for it

    return time_machine.travel(now, tick=False)


def _take(
    state: State,
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
    tell(progress, state, transcript.case_id)
