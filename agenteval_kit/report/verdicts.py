"""A judge's verdicts beside a transcript: each seat with its sentence, the evidence at its turn.

May not hide a seat that disagrees or gave no score.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenteval_kit.records.rubrics import span
from agenteval_kit.records.verdicts import FLAGS
from agenteval_kit.report.judged import ShownSeat, ShownVerdict
from agenteval_kit.report.markup import Html, Part, anchor, badge, join, tag

__all__ = ["evidence_marks", "evidence_notes", "evidence_turns", "verdicts_block"]


def verdicts_block(
    verdicts: Sequence[ShownVerdict], *, place: str, turns: int, brief: bool = False
) -> Html | None:
    """Every verdict on one transcript, a line each, with its seats; None without any.

    Parameters
    ----------
    verdicts : sequence of ShownVerdict
        Of one transcript.
    place : str
        Prefix of the fragment identifiers of its turns.
    turns : int
        How many turns it has: evidence that names another is not linked.
    brief : bool
        Only the scores, where there is no room for what each seat said.
    """
    if not verdicts:
        return None
    if brief:
        each = join((_brief(one) for one in verdicts), between=" · ")
        return tag("p", {"class": "verdicts note"}, "The judge said: ", each)
    return tag(
        "div",
        {"class": "verdicts"},
        tag("p", {"class": "note"}, "What the judge said, a dimension each:"),
        *(_verdict(one, place, turns) for one in verdicts),
    )


def evidence_marks(verdicts: Sequence[ShownVerdict]) -> dict[int, list[str]]:
    """The words that seats quote, by turn."""
    found: dict[int, list[str]] = {}
    for one in verdicts:
        for seat in one.seats:
            for turn, words in seat.evidence if seat.score is not None else ():
                if turn is not None and words:
                    found.setdefault(turn, []).append(words)
    return found


def evidence_turns(verdicts: Sequence[ShownVerdict]) -> list[int]:
    """Turns that verdicts under the top of their scale point at: where to look in a long one."""
    return sorted(
        {
            turn
            for one in verdicts
            if one.score != one.levels[-1]
            for seat in one.seats
            for turn, _ in seat.evidence
            if turn is not None
        }
    )


def evidence_notes(verdicts: Sequence[ShownVerdict]) -> dict[int, list[Part]]:
    """What points at each turn: "evidence: groundedness 2", each once."""
    found: dict[int, dict[str, None]] = {}
    for one in verdicts:
        for seat in one.seats:
            for turn, _ in seat.evidence if seat.score is not None else ():
                if turn is not None:
                    found.setdefault(turn, {})[f"{one.dimension} {seat.score}"] = None
    return {
        turn: [tag("div", {"class": "evidence"}, f"evidence: {', '.join(said)}")]
        for turn, said in found.items()
    }


def _brief(one: ShownVerdict) -> Html:
    score = "unscored" if one.score is None else f"{one.score} of {one.levels[-1]}"
    seats = _seat_scores(one) if len({seat.score for seat in one.seats}) > 1 else ""
    told = f" {score} (seats {seats})" if seats else f" {score}"
    return join([tag("b", None, one.dimension), told])


def _seat_scores(one: ShownVerdict) -> str:
    return " ".join("?" if seat.score is None else str(seat.score) for seat in one.seats)


def _verdict(one: ShownVerdict, place: str, turns: int) -> Html:
    said: list[Part] = [tag("b", None, one.dimension), " "]
    if one.score is None:
        said.append(badge("unscored", words=f"unscored: {one.reason}"))
    else:
        said.append(tag("span", {"class": "score"}, f"{one.score}"))
        said.append(tag("span", {"class": "note"}, f" on {span(one.levels)}"))
    if len(one.seats) > 1:
        said.append(tag("span", {"class": "note"}, f" · seats {_seat_scores(one)}"))
    for flag in one.flags:
        if flag not in ("panel_split", "seat_missing"):
            said.append(tag("span", {"class": "mid"}, f" · {FLAGS.get(flag, flag)}"))
    seats = [_seat(seat, place, turns) for seat in one.seats]
    if one.again:
        again = " ".join("?" if seat.score is None else str(seat.score) for seat in one.again)
        seats.append(tag("li", {"class": "note"}, f"asked again because of its level: {again}"))
    disagree = len({seat.score for seat in one.seats}) > 1
    return tag(
        "details",
        {"class": "verdict-line", "open": disagree or one.score is None},
        tag("summary", None, *said),
        tag("ul", None, *seats),
    )


def _seat(seat: ShownSeat, place: str, turns: int) -> Html:
    head = f"{seat.model}: " + ("unscored" if seat.score is None else str(seat.score))
    said: list[Part] = [tag("span", {"class": "who"}, head)]
    if seat.reason:
        said.append(tag("span", {"class": "mid"}, f" {seat.reason}"))
    if seat.justification:
        said.append(tag("span", {"dir": "auto"}, f" “{seat.justification}”"))
    if seat.evidence:
        links = [_evidence(turn, words, place, turns) for turn, words in seat.evidence]
        said.append(tag("span", {"class": "note"}, " evidence: ", join(links, between="; ")))
    if seat.repaired:
        said.append(tag("span", {"class": "note"}, f" (reply repaired: {seat.repaired})"))
    return tag("li", None, *said)


def _evidence(turn: int | None, words: str, place: str, turns: int) -> Html:
    quoted = f" “{words}”" if words else ""
    if turn is None:
        return join([quoted.strip()])
    if not 0 <= turn < turns:
        return join([f"turn {turn}, which is not there{quoted}"])
    return join([tag("a", {"href": f"#{anchor(f'{place}-turn-{turn}')}"}, f"turn {turn}"), quoted])
