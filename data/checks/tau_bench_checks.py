"""What the policies of both tau-bench agents say in the same words, as checks.

May not read more than the transcript and the tags of its case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, ToolCall, Transcript

TRANSFER = "transfer_to_human_agents"

# Written on airline trials 0 and 1 and on the retail baseline only. "I'd like to" and "let's" are
# what users say when they ask for something, so they are no confirmation.
CONFIRMS = re.compile(
    r"\b(?:yes|yeah|yep|yup|confirm(?:ed)?|proceed|go ahead|please do|do it|sounds good"
    r"|looks good|that works|works for me|(?:that's|that is|all|everything is|it's) (?:all )?"
    r"(?:correct|right|fine|good)|correct|absolutely|definitely|exactly|sure|okay|ok|agreed?)\b",
    re.IGNORECASE,
)


def unconfirmed_write(transcript: Transcript, writes: Collection[str]) -> CheckResult:
    """Each write follows a user turn that confirms, said since the writes before it.

    Writes with no user turn between them are one batch: "yes, all of them" confirms them all.
    """
    wanted = "a user turn that confirms, since the last write"
    confirmed, between, last = False, True, ""
    for turn, said in enumerate(transcript.turns):
        if said.role == "user":
            if not between:
                confirmed = False
            between = True
            confirmed = confirmed or CONFIRMS.search(said.text) is not None
            last = said.text
        for call in said.calls:
            if call.name not in writes:
                continue
            if not confirmed:
                return CheckResult(
                    False,
                    wanted,
                    f'user: "{last[:200]}"' if last else "no user turn",
                    turn,
                    f"{call.name} was called, and no user turn had confirmed it",
                )
            between = False
    return CheckResult(True, wanted)


def undue_transfer(transcript: Transcript, case: Case) -> CheckResult:
    """No transfer to a person, unless the task's reference actions have one."""
    wanted = "no transfer: the task can be handled, or has to be denied"
    if TRANSFER in case.tags:
        return CheckResult(True, "a transfer is in the reference actions")
    for turn, call in transcript.calls():
        if call.name == TRANSFER:
            said = (call.arguments or {}).get("summary", "")
            return CheckResult(
                False, wanted, f"{TRANSFER}: {said}"[:300], turn, "transferred the user to a person"
            )
    return CheckResult(True, wanted)


def call_beside_text(transcript: Transcript) -> CheckResult:
    """One tool call at a time, and no text to the user in the same message."""
    wanted = "one tool call and no text, or text and no tool call"
    for turn, said in enumerate(transcript.turns):
        if len(said.calls) > 1:
            names = ", ".join(call.name for call in said.calls)
            return CheckResult(
                False, wanted, names, turn, f"{len(said.calls)} calls in one message"
            )
        if said.calls and said.text.strip():
            return CheckResult(
                False,
                wanted,
                f'"{said.text.strip()[:200]}" beside {said.calls[0].name}',
                turn,
                "spoke to the user and called a tool in one message",
            )
    return CheckResult(True, wanted)


def done_calls(transcript: Transcript) -> Iterator[tuple[int, ToolCall]]:
    """Calls that were answered without an error."""
    for turn, call in transcript.calls():
        if call.malformed is None and call.error is None and call.result is not None:
            yield turn, call
