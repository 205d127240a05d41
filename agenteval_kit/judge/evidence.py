"""Looks up what a judge points at: the turn exists, and the words stand in it.

May not ask a judge, and may not mend a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agenteval_kit.records import Dimension, Transcript
from agenteval_kit.records.verdicts import Evidence
from agenteval_kit.shown import escape, turn_text
from agenteval_kit.text import contains
from agenteval_kit.visible import one_line, writable

__all__ = ["Checked", "check_evidence", "stands_in"]

_QUOTES = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb`"
_TURN = re.compile(r"\s*(?:turn\s*)?\[?(?:turn\s*)?(\d{1,6})\]?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """The evidence of a verdict as it was understood, and what is wrong with it ("" if nothing)."""

    evidence: tuple[Evidence, ...]
    problem: str = ""


def check_evidence(
    evidence: Any, score: int, *, dimension: Dimension, transcript: Transcript
) -> Checked:
    """Verify the evidence of one verdict.

    Each cited turn must exist and each quotation must stand in its turn, both sides folded; a
    claim may stand in any turn of the agent. At the levels that require evidence there must be
    some. What is given where none is required is verified all the same.
    """
    if dimension.evidence.kind == "none":
        return Checked(())
    required = score in dimension.evidence_at
    if dimension.reply.claim is not None:
        return _check_claim(evidence, required, dimension, transcript)
    if evidence is None:
        evidence = []
    if not isinstance(evidence, list):
        evidence = [evidence]
    found: list[Evidence] = []
    problems: list[str] = []
    for one in evidence:
        read = _read(one)
        if read is None:
            problems.append("an item of the evidence is neither a turn nor a quotation")
            continue
        found.append(read)
        problem = _look_up(read, transcript)
        if problem:
            problems.append(problem)
    wanted = "quote" if dimension.evidence.kind == "quote" else "turn"
    if required and not problems and not any(getattr(one, wanted) is not None for one in found):
        problems.append(f"there is no {wanted} in the evidence, and at {score} one is required")
    return Checked(tuple(found), "; ".join(dict.fromkeys(problems)))


def stands_in(quote: str, texts: Iterable[str]) -> bool:
    """Whether words stand in one of several texts, folded on both sides."""
    ways = {quote.strip(), _bare(quote)}
    # A judge sees the escaped text and may copy that. `contains` finds nothing nowhere.
    return any(
        contains(shown, words) is not None
        for text in texts
        for shown in {text, escape(text)}
        for words in ways
    )


def _check_claim(
    claim: Any, required: bool, dimension: Dimension, transcript: Transcript
) -> Checked:
    name = dimension.reply.claim
    if claim is None or (isinstance(claim, str) and not claim.strip()):
        return Checked((), f'"{name}" is null, and at this level one is required'
                           if required else "")  # fmt: skip
    if not isinstance(claim, str):
        return Checked((), f'"{name}" is neither a text nor null')
    claim = writable(claim)
    for number, turn in enumerate(transcript.turns):
        if turn.role == "assistant" and stands_in(claim, [turn_text(transcript, number)]):
            return Checked((Evidence(turn=number, quote=claim),))
    return Checked((Evidence(quote=claim),), "the claim stands in no turn of the agent")


def _read(one: Any) -> Evidence | None:
    if isinstance(one, bool):
        return None
    if isinstance(one, int):
        return Evidence(turn=one)
    if isinstance(one, str):
        turn = _turn(one)
        return Evidence(turn=turn) if turn is not None else Evidence(quote=writable(one))
    if not isinstance(one, dict):
        return None
    given, quote = one.get("turn"), one.get("quote")
    turn = _turn(given)
    if given is not None and turn is None:
        return None
    if quote is not None and not isinstance(quote, str):
        return None
    if turn is None and not quote:
        return None
    return Evidence(turn=turn, quote=writable(quote) if quote else None)


def _turn(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if abs(value) < 10**6 else None
    found = _TURN.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def _look_up(one: Evidence, transcript: Transcript) -> str:
    turns = len(transcript.turns)
    if one.turn is not None and not 0 <= one.turn < turns:
        last = f"the last one is {turns - 1}" if turns else "there is none"
        return f"there is no turn {one_line(str(one.turn), 60)}; {last}"
    if one.quote is None:
        return ""
    everywhere = range(turns) if one.turn is None else (one.turn,)
    if stands_in(one.quote, (turn_text(transcript, number) for number in everywhere)):
        return ""
    if one.turn is None:
        return f'"{one_line(one.quote, 60)}" stands in no turn'
    for number in range(turns):
        if stands_in(one.quote, [turn_text(transcript, number)]):
            return f'"{one_line(one.quote, 60)}" stands in turn {number}, not in {one.turn}'
    return f'"{one_line(one.quote, 60)}" does not stand in turn {one.turn}'


def _bare(quote: str) -> str:
    """A quotation without the marks and dots that people set around one, and without line bars."""
    text = re.sub(r"(?m)^\| ?", "", quote.strip())
    text = text.strip().strip(_QUOTES).strip()
    text = re.sub(r"^(?:\.\.\.|\u2026)\s*|\s*(?:\.\.\.|\u2026)$", "", text)
    return text.strip().strip(_QUOTES).strip()
