"""From seats to one verdict: the majority, or none.

May not average, take a median, or break a tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agenteval_kit.judge.seat import EVIDENCE
from agenteval_kit.records import SeatRecord, Transcript
from agenteval_kit.shown import reads_like_an_order, turn_text

__all__ = ["Decided", "decide", "orders_a_judge"]


@dataclass(frozen=True, slots=True)
class Decided:
    """What the seats come to."""

    score: int | None
    reason: str
    flags: tuple[str, ...]


def decide(seats: Sequence[SeatRecord]) -> Decided:
    """The level that more than half of the seats that scored agree on.

    A seat without a score is missing: those present decide, as long as they are more than half
    of the panel.

    Examples
    --------
    >>> decide([]).reason
    'nobody was asked'
    """
    if not seats:
        return Decided(None, "nobody was asked", ())
    flags: list[str] = []
    scores = [seat.score for seat in seats if seat.score is not None]
    if any(seat.reason.startswith(EVIDENCE) for seat in seats):
        flags.append("evidence_not_found")
    if len(set(scores)) > 1:
        flags.append("panel_disagreement")
    if len(seats) > 1 and len(scores) < len(seats):
        flags.append("seat_missing")
    if 2 * len(scores) <= len(seats):
        return Decided(None, _why_none(seats, scores), tuple(flags))
    level, votes = Counter(scores).most_common(1)[0]
    if 2 * votes <= len(scores):
        counted = ", ".join(map(str, sorted(scores)))
        return Decided(None, f"panel split: {counted}", (*flags, "panel_split"))
    return Decided(level, "", tuple(flags))


def _why_none(seats: Sequence[SeatRecord], scores: Sequence[int]) -> str:
    reasons = list(dict.fromkeys(seat.reason for seat in seats if seat.score is None))
    if len(seats) == 1:
        return reasons[0]
    said = "no seat" if not scores else f"only {len(scores)} of {len(seats)} seats"
    return f"{said} gave a score: {'; '.join(reasons)}"


def orders_a_judge(transcript: Transcript) -> bool:
    """Whether something in a transcript reads like an order to whoever judges it.

    A guess from words, to be read by a person; it changes no score.
    """
    for number, turn in enumerate(transcript.turns):
        if reads_like_an_order(turn_text(transcript, number), by_user=turn.role == "user"):
            return True
    return False
