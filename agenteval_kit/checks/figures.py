"""Guesses from text: which figures of an answer stand in nothing that the agent was given.

May not add, round or count: a sum that no tool returned is untraceable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agenteval_kit.checks.result import Span
from agenteval_kit.text import fold, tidy

__all__ = ["untraceable_figures"]

_FIGURE = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_LIST_NUMBER = re.compile(r"^([ \t>*#-]*)[0-9]{1,3}(?=[.)](?:\s|\*))", re.MULTILINE)
_TIME = re.compile(
    r"(?<![0-9.:])([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?(?::[0-5][0-9])?\s?(?:([ap])\.?m\b\.?)?"
    r"(?![0-9:])",
    re.IGNORECASE,
)


def untraceable_figures(
    answer: str, evidence: Iterable[str], *, now: str | None = None
) -> list[Span]:
    """Figures of two digits or more in an answer that occur nowhere in the evidence.

    Thousands separators and closing zeros do not matter (``$1,234.50`` is 1234.5), nor does
    the way a time of day is written (``3:30 PM`` is 15:30). Exempt are the numbers of a list and
    the parts of the clock's date.

    Parameters
    ----------
    answer : str
        What the agent said.
    evidence : iterable of str
        What it was given before: tool results, sources, user turns.
    now : str, optional
        The case's clock, ISO 8601.

    Returns
    -------
    list of Span
        Within ``fold`` of the answer without its list numbers; `text` is the figure.
    """
    known: set[str] = set()
    times: set[int] = set()
    texts = list(evidence)
    if now:
        texts.append(now[:10])
    for text in texts:
        # Folded, "[30,45]" of compact JSON is one number; as it stands it is two.
        for form in (fold(text), tidy(text)):
            for one in _FIGURE.findall(form):
                known.add(_plain(one))
                if one.count(".") > 1:
                    known.update(map(_plain, one.split(".")))
        times.update(_times(text))
    plain = fold(_LIST_NUMBER.sub(r"\1", answer))
    told: set[int] = set()
    for found in _TIME.finditer(plain):
        if _minutes(found) in times:
            told.update(range(found.start(), found.end()))
    missing = [
        Span(one.start(), one.end(), one[0])
        for one in _FIGURE.finditer(plain)
        if one.start() not in told and not _known(one[0], known)
    ]
    return missing


def _plain(figure: str) -> str:
    if figure.count(".") == 1:
        return figure.rstrip("0").rstrip(".")
    # "08" of a date is 8; a longer run of digits is an identifier, whose zeros count.
    return (figure.lstrip("0") or "0") if len(figure) == 2 else figure


def _known(figure: str, known: set[str]) -> bool:
    plain = _plain(figure)
    if sum(map(str.isdigit, plain)) < 2 or plain in known:
        return True
    return figure.count(".") > 1 and all(_known(part, known) for part in figure.split("."))


def _times(text: str) -> set[int]:
    minutes = (_minutes(found) for found in _TIME.finditer(text))
    return {each for each in minutes if each is not None}


def _minutes(found: re.Match[str]) -> int | None:
    """Minutes since midnight; None for a bare number, which is no time of day."""
    hour, minute, half = found[1], found[2], found[3]
    if minute is None and half is None:
        return None
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half.lower() == "p" else 0)
    return hours * 60 + int(minute or 0)
