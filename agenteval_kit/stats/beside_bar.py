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
    """What to add where the text of an estimate would put it, or an end, across from its bar."""
    if estimate.value is None:
        return ""
    printed = estimate.text(percent=percent)
    digits = len(printed.split(" ", 1)[0].partition(".")[2])

    def exactly(value: float | None) -> str:
        if value is None:
            return ""
        shown = on_its_side(value, bar, percent=percent, digits=digits)
        many = len(shown.removesuffix(" %").partition(".")[2])
        return "" if many == digits else shown

    if shown := exactly(estimate.value):
        return f" (more exactly {shown})"
    # "(3.20 to 3.30)" would hold a bar of 3.3 that the interval ends below.
    low, high = exactly(estimate.low), exactly(estimate.high)
    ends = [f"from {low}"] * bool(low) + [f"to {high}"] * bool(high)
    return f" (more exactly {' '.join(ends)})" if ends else ""
