"""Whether a live agent made the changes that a task's reference actions make, and no others.

May not see a database: this is not tau-bench's reward, which compares how the database ends.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, Scenario, Transcript
from agenteval_kit.targets import load_target

DATA = Path(__file__).resolve().parent.parent
HANDS_OVER = "transfer_to_human_agents"
NOT_RECORDED = "not in the recordings"

Change = tuple[str, str]


def airline_changes(transcript: Transcript, case: Case | Scenario) -> CheckResult:
    """The reservations and certificates are changed as the reference changes them."""
    return _compare(transcript, *_reference("tau_bench_airline", "gpt-4o.jsonl", case.id))


def retail_changes(transcript: Transcript, case: Case | Scenario) -> CheckResult:
    """The orders and addresses are changed as the reference changes them."""
    return _compare(transcript, *_reference("tau_bench_retail", "tool_calling.jsonl", case.id))


def _compare(
    transcript: Transcript, wanted: Counter[Change] | None, changing: frozenset[str]
) -> CheckResult:
    """Compare calls with calls.

    A call that the recordings could not answer counts as made: that its result is not known is
    no fault of the agent. If a change is wanting and nothing was done that is wrong, such a call
    leaves open what the agent would have done with an answer.
    """
    if wanted is None:
        return CheckResult(None, why="the recordings have no task of this id")
    made: Counter[Change] = Counter()
    where: dict[Change, int] = {}
    open_at: tuple[int, str] | None = None
    for turn, call in transcript.calls():
        # Every recording ends when a person takes over, so nothing after it can be compared.
        if call.name == HANDS_OVER:
            break
        unknown = call.error is not None and call.error.startswith(NOT_RECORDED)
        if unknown and open_at is None:
            open_at = (turn, call.name)
        if call.name not in changing or call.arguments is None:
            continue
        change = (call.name, _canonical()(call.arguments))
        if unknown:
            made[change] = max(made[change], 1)  # asked for again, it is still one change
        elif call.error is None and call.result is not None:
            made[change] += 1
        where.setdefault(change, turn)
    return _result(made, wanted, where, open_at)


def _result(
    made: Counter[Change],
    wanted: Counter[Change],
    where: dict[Change, int],
    open_at: tuple[int, str] | None,
) -> CheckResult:
    expected, received = _shown(wanted), _shown(made)
    extra, missing = made - wanted, wanted - made
    if extra:
        first = min(extra, key=lambda change: where[change])
        return CheckResult(
            False, expected, received, where[first],
            f"not in the reference: {_shown(extra)}",
        )  # fmt: skip
    if missing and open_at is not None:
        return CheckResult(
            None, expected, received, open_at[0],
            f"cannot tell: {open_at[1]} had no recorded answer, and what would have come after "
            f"it is not known; not made: {_shown(missing)}",
        )  # fmt: skip
    if missing:
        return CheckResult(False, expected, received, None, f"not made: {_shown(missing)}")
    return CheckResult(True, expected, received)


def _shown(changes: Counter[Change]) -> str:
    text = "; ".join(f"{name}({key})" for name, key in sorted(changes.elements()))
    return (text if len(text) <= 1000 else f"{text[:999]}…") or "no change"


@cache
def _reference(folder: str, file: str, task: str) -> tuple[Counter[Change] | None, frozenset[str]]:
    references, changing = _references(folder, file)
    return references.get(task), changing


@cache
def _references(folder: str, file: str) -> tuple[dict[str, Counter[Change]], frozenset[str]]:
    home = DATA / "recorded" / folder
    tools = json.loads((home / "tools.json").read_text(encoding="utf-8"))
    changing = frozenset(tool["name"] for tool in tools if tool["kind"] == "changes")
    return _calls("read_references")(home / file, changing=changing), changing


def _canonical() -> Any:
    return _calls("canonical")


def _calls(name: str) -> Any:
    return load_target(f"recorded_calls:{name}", folder=DATA / "agents")
