"""A number against its bar, with one stated tolerance and no rounding that hides a miss.

May not know what the number measures.
"""

from __future__ import annotations

from typing import Literal

from agenteval_kit.gate.rows import Status
from agenteval_kit.stats.estimate import Estimate

__all__ = [
    "TOLERANCE", "held_against", "in_words", "more_exactly", "not_ruled_out", "on_its_side",
    "reaches",
]  # fmt: skip

TOLERANCE = 1e-9
"""A number this close to its bar counts as equal to it: sums of thirds must not decide."""


def reaches(value: float, bar: float) -> bool:
    """Whether a value is at or over its bar, up to `TOLERANCE`."""
    return value >= bar - TOLERANCE


def held_against(
    estimate: Estimate,
    bar: float,
    *,
    applies_to: Literal["estimate", "bound"],
    percent: bool = False,
) -> tuple[Status, str]:
    """Compare an estimate, or the bound of its interval, with a bar.

    Returns
    -------
    tuple of str
        pass, fail or cannot tell; and the reason. An estimate without a value, or on `bound`
        without an interval, cannot tell, whichever way round the comparison is written.
    """
    if estimate.value is None:
        return "cannot tell", f"not computable: {estimate.reason}"
    text = estimate.text(percent=percent)
    wanted = in_words(bar, percent=percent)
    if applies_to == "bound":
        if estimate.low is None or estimate.high is None:
            return "cannot tell", f"{text}: the bar applies to a bound"
        if reaches(estimate.low, bar):
            return "pass", f"{text}: the lower end reaches {wanted}"
        if not reaches(estimate.high, bar):
            return "fail", f"{text}: the upper end is under {wanted}"
        return "cannot tell", f"{text}: the interval holds the bar of {wanted}, on either side"
    passed = reaches(estimate.value, bar)
    reason = f"{text}, {'at or over' if passed else 'under'} {wanted}"
    if abs(estimate.value - bar) <= TOLERANCE and estimate.value != bar:
        reason += f" (unrounded {estimate.value!r}: equal within {TOLERANCE:g})"
    else:
        reason += more_exactly(estimate, bar, percent=percent)
    if estimate.low is None or estimate.high is None:
        return ("pass" if passed else "fail"), reason
    if not reaches(estimate.low, bar) and reaches(estimate.high, bar):
        reason += "; the interval holds the bar: it could be either side"
    return ("pass" if passed else "fail"), reason


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


def not_ruled_out(m: int, cases: int) -> str:
    """What is not ruled out where m runs of so many cases showed nothing.

    The exact one-sided 95 % bound of a rate that was never seen in m runs (Clopper and Pearson,
    "The use of confidence or fiducial limits", Biometrika 1934): 1 - 0.05^(1/m), which is close to
    3/m where m is large, and does not say 100 % for three runs.
    """
    text = f"a true failure rate of up to {_never_seen(m)} is not ruled out"
    if m > cases:
        text += f", and up to {_never_seen(cases)} if repeats of a case are all alike"
    return text


def _never_seen(m: int) -> str:
    return f"{100 * (1 - 0.05 ** (1 / m)):.2g} %"
