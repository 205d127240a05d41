"""What the policies of both tau-bench agents say in the same words, as checks.

May not read more than the transcript and the tags of its case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, ToolCall, Transcript

TRANSFER = "transfer_to_human_agents"

# Written on airline trials 0 and 1 and on the retail baseline only. "Sure" and "okay" begin any
# answer ("Sure, my user id is ..."), so they confirm only where they are all that is said.
CONFIRMS = re.compile(
    r"\b(?:yes|yeah|yep|yup|confirm(?:ed)?|proceed|continue|go ahead|please do|do it"
    r"|sounds (?:good|great|perfect)|looks (?:good|great|right|correct)|that works|works for me"
    r"|(?:that's|that is|everything is|all|it's) (?:all )?(?:correct|right|fine|good)"
    r"|absolutely|definitely|exactly|agreed?)\b"
    r"|^\W*(?:sure|ok|okay|correct|right)(?:,? (?:please|thanks|thank you))?\W*$",
    re.IGNORECASE,
)


def unconfirmed_write(transcript: Transcript, writes: Collection[str]) -> CheckResult:
    """Each write has a user turn that confirms: the last one before it, or the one before that.

    The one before that: an agent may be told yes, and then ask which card to charge. Writes with
    no user turn between them are one batch: "yes, all of them" confirms them all, and a
    confirmation that a batch has used up confirms nothing after it.
    """
    wanted = "the last or the second last user turn confirms"
    recent: list[str] = []
    used = False
    for turn, said in enumerate(transcript.turns):
        if said.role == "user":
            recent = [said.text] if used else [*recent[-1:], said.text]
            used = False
        for call in said.calls:
            if call.name not in writes:
                continue
            if not any(CONFIRMS.search(text) for text in recent):
                return CheckResult(
                    False,
                    wanted,
                    f'user: "{recent[-1][:200]}"' if recent else "no user turn",
                    turn,
                    f"{call.name} was called, and no user turn had confirmed it",
                )
            used = True
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
