"""What a judge sees of a pair: the request, what the case says of it, and the two candidates.

May not tell the judge which version a candidate is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agenteval_kit.errors import ConfigError
from agenteval_kit.records import Dimension, Transcript, Turn
from agenteval_kit.shown import Item, block, escape, quoted, shown_lines

__all__ = ["CANDIDATE_INPUTS", "REQUEST_INPUTS", "ShownPair", "check_inputs", "show_pair"]

CANDIDATE_INPUTS = ("transcript", "answer", "output", "sources")
"""What can be shown of each candidate."""

REQUEST_INPUTS = ("expected_outcome", "rubric")
"""What the case can say of the request, for both candidates alike."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """The texts of one pair, escaped and ready to be put into a prompt.

    Attributes
    ----------
    request : mapping of str to list of str
        Lines by the name of their block: now, question, expected_outcome, rubric.
    old, new : tuple of str
        Lines of each candidate.
    """

    request: Mapping[str, list[str]]
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether a judge would be shown the same twice."""
        return self.old == self.new

    def blocks(self) -> str:
        """The blocks of the request."""
        return "\n\n".join(block(name, lines) for name, lines in self.request.items())


def check_inputs(criterion: Dimension) -> None:
    """Refuse what cannot be shown of a pair.

    Raises
    ------
    ConfigError
        If the criterion asks for the agent's own instructions.
    """
    if "system" in criterion.inputs:
        raise ConfigError(
            f'criterion "{criterion.name}" asks for "system": the agent\'s own instructions would '
            "tell the judge which version a candidate is; take it out of inputs"
        )


def show_pair(
    criterion: Dimension, old: Transcript, new: Transcript, item: Item | None
) -> ShownPair | None:
    """Two transcripts of one case as a pair; None where they were given different inputs.

    A candidate is what the criterion's inputs name. Where they name nothing of a candidate it is
    the final answer with the structured record, or the whole conversation where the user spoke
    again after the two had parted.
    """
    shared = _shared_turns(old, new)
    if shared == 0 and (old.turns or new.turns) and _starts_with_user(old, new):
        return None
    named = [name for name in CANDIDATE_INPUTS if name in criterion.inputs]
    if not named:
        talked = any(turn.role == "user" for side in (old, new) for turn in side.turns[shared:])
        named = ["transcript"] if talked else ["answer", "output"]
    request: dict[str, list[str]] = {}
    now = new.now or old.now
    if now:
        request["now"] = [escape(now)]
    question = _question(new, item, shared=0 if "transcript" in named else shared)
    if question:
        request["question"] = question
    for name in REQUEST_INPUTS:
        lines = shown_lines(name, new, item) if name in criterion.inputs else None
        if lines:
            request[name] = lines
    return ShownPair(request, _candidate(old, named), _candidate(new, named))


def _shared_turns(old: Transcript, new: Transcript) -> int:
    """How many turns both begin with."""
    count = 0
    for one, two in zip(old.turns, new.turns, strict=False):
        if _said(one) != _said(two):
            break
        count += 1
    return count


def _said(turn: Turn) -> tuple[object, ...]:
    # Identifiers of calls differ from run to run and mean nothing.
    calls = [(call.name, call.arguments, call.raw, call.result) for call in turn.calls]
    return (turn.role, turn.text, turn.refusal, calls)


def _starts_with_user(old: Transcript, new: Transcript) -> bool:
    return any(side.turns and side.turns[0].role == "user" for side in (old, new))


def _question(transcript: Transcript, item: Item | None, *, shared: int) -> list[str] | None:
    """The request: all shared turns up to the user's last, or what the user said first."""
    last = max(
        (number for number in range(shared) if transcript.turns[number].role == "user"), default=0
    )
    if last > 0:
        whole = transcript.model_copy(
            update={"turns": transcript.turns[: last + 1], "failure": None, "stop": ""}
        )
        return shown_lines("transcript", whole, item)
    for turn in transcript.turns:
        if turn.role == "user":
            return quoted(turn.text)
    return shown_lines("question", transcript, item)


def _candidate(transcript: Transcript, named: list[str]) -> tuple[str, ...]:
    lines: list[str] = []
    for name in named:
        if name == "answer":
            lines += quoted(transcript.answer) if transcript.answer else ["(no text)"]
        elif name == "output":
            lines += _record(transcript)
        else:
            lines += shown_lines(name, transcript, None) or []
    return tuple(lines)


def _record(transcript: Transcript) -> list[str]:
    if transcript.output is None or _is_json(transcript.answer, transcript.output):
        return []
    return ["[record]", *quoted(json.dumps(transcript.output, ensure_ascii=False, indent=1))]


def _is_json(text: str, value: object) -> bool:
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
