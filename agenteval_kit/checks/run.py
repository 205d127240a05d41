"""All checks of one case on one transcript: a row a check, the same rows every time.

May not raise for any transcript, and may not let a crash or an empty transcript pass anything.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

from agenteval_kit.checks.reading import Reading
from agenteval_kit.checks.result import Check, CheckResult, Item, clip
from agenteval_kit.records import CheckRow, Failure, Transcript

__all__ = ["run_checks"]

_WANTED = "the agent runs to its end"


def run_checks(transcript: Transcript, item: Item, checks: Sequence[Check]) -> list[CheckRow]:
    """What the checks find in a transcript.

    Parameters
    ----------
    transcript : Transcript
        Whole, cut short or empty.
    item : Case or Scenario
        What the transcript is of.
    checks : sequence of Check
        Of `build_checks`.

    Returns
    -------
    list of CheckRow
        One row a check, in the order of the checks; a check that is not due has none. An agent
        that crashed, timed out, or neither said nor did anything has a failed row
        ``agent_completed`` before them; what failed then stays failed, and what would have
        passed is unscored. Where the infrastructure or the simulated user failed every row is
        unscored.
    """
    failure = transcript.failure
    if failure is not None and failure.kind in ("infrastructure", "simulator"):
        return _unscored(transcript, checks, failure)
    reading = Reading(transcript)
    case_id, repeat = transcript.case_id, transcript.repeat
    rows: list[CheckRow] = []
    doubt = ""
    if failure is not None:
        doubt = "the agent crashed before it could be seen to hold"
        if failure.kind == "timeout":
            doubt = "the agent ran out of time before it could be seen to hold"
        rows.append(_completed(transcript, item, _told(failure), why=_what_happened(failure)))
    elif reading.blank:
        doubt = "the agent neither said nor did anything, so it cannot be seen to hold"
        why = "the agent neither said nor did anything"
        rows.append(_completed(transcript, item, "no text, no call, no record", why=why))
    for check in checks:
        try:
            result = check.rule(reading, item)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            result = _broken(error)
        if result is None:
            continue
        passed, why = result.passed, result.why
        if doubt and passed:
            passed, why = None, doubt
        rows.append(
            CheckRow(
                case_id,
                repeat,
                check.layer,
                check.name,
                passed,
                result.expected,
                result.received,
                result.turn,
                why,
                check.critical,
            )
        )
    return rows


def _unscored(transcript: Transcript, checks: Sequence[Check], failure: Failure) -> list[CheckRow]:
    what = "the infrastructure" if failure.kind == "infrastructure" else "the simulated user"
    why = clip(f"{what} failed: {failure.type}: {failure.message}", limit=400)
    return [
        CheckRow(
            transcript.case_id,
            transcript.repeat,
            check.layer,
            check.name,
            None,
            why=why,
            critical=check.critical,
        )
        for check in checks
    ]


def _completed(transcript: Transcript, item: Item, received: str, *, why: str) -> CheckRow:
    last = len(transcript.turns) - 1
    return CheckRow(
        transcript.case_id,
        transcript.repeat,
        "outcome",
        "agent_completed",
        False,
        _WANTED,
        received,
        last if last >= 0 else None,
        why,
        item.critical,
    )


def _told(failure: Failure) -> str:
    told = f"{failure.type}: {failure.message}"
    return f"{told}\n{failure.traceback}" if failure.traceback else told


def _what_happened(failure: Failure) -> str:
    if failure.kind == "timeout":
        return "the agent did not answer in time"
    return f"the agent raised {failure.type}"


def _broken(error: BaseException) -> CheckResult:
    lines = traceback.format_exception_only(error)
    return CheckResult(
        None,
        received=clip("".join(lines).strip(), limit=2000),
        why=f"the check itself failed with {type(error).__name__}, which is not the agent's fault",
    )
