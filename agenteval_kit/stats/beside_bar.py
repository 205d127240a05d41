"""A number beside its bar: whether it reaches it, printed so that it is seen on which side.

May not know what the number measures, nor decide.
"""

from __future__ import annotations

from agenteval_kit.stats.estimate import Estimate

__all__ = ["TOLERANCE", "in_words", "more_exactly", "on_its_side", "reaches"]

TOLERANCE = 1e-9
"""A number this close to its bar counts as equal to it: sums of thirds must not decide."""


def reaches(value: float, bar: float) -> bool:
    """Whether a value is at or over its bar, up to `TOLERANCE`."""
    return value >= bar - TOLERANCE


def in_words(value: float, *, percent: bool = False) -> str:
    """A threshold as it was written: "0.9" is "90 %"."""
    return f"{100 * value:.12g} %" if percent else f"{value:.12g}"


def on_its_side(value: float, bar: float, *, percent: bool = False, digits: int = 0) -> str:
    """A value with the fewest digits, `digits` or more, that leave it on its side of the bar."""
    scale, unit = (100, " %") if percent else (1, "")
    for many in range(digits, 13):
        text = f"{scale * value:.{many}f}"
        # The printed figure must stand on the same side of the bar as the real one.
        if reaches(float(text) / scale, bar) == reaches(value, bar):
            return text + unit
    return f"{scale * value!r}{unit}"


def more_exactly(estimate: Estimate, bar: float, *, percent: bool = False) -> str:
    """What to add where the text of an estimate would put it on the other side of its bar."""
    if estimate.value is None:
        return ""
    printed = estimate.text(percent=percent).split(" ", 1)[0]
    digits = len(printed.partition(".")[2])
    shown = on_its_side(estimate.value, bar, percent=percent, digits=digits)
    return "" if shown.split(" ", 1)[0] == printed else f" (more exactly {shown})"
