"""A number against its bar, with one stated tolerance and no rounding that hides a miss.

May not know what the number measures.
"""

from __future__ import annotations

from typing import Literal

from agenteval_kit.gate.rows import Status
from agenteval_kit.stats.beside_bar import TOLERANCE, in_words, more_exactly, reaches
from agenteval_kit.stats.estimate import Estimate

__all__ = ["held_against", "in_words", "not_ruled_out", "reaches"]


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
