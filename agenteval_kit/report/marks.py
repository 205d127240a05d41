"""Small drawings for table cells: an interval on a scale, a row of repeats, a share.

May not be the only carrier of a number: each has its words beside it or in its label.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence

from agenteval_kit.report.markup import Html
from agenteval_kit.stats.estimate import Estimate

__all__ = ["interval_mark", "scale_mark", "share_mark", "used_scale"]

WIDTH = 190
_PAD = 10
_STEP = 0.1


def used_scale(shown: Iterable[Estimate], *, bars: Iterable[float] = ()) -> tuple[float, float]:
    """The part of 0 to 1, in whole tenths, that holds the estimates, their intervals and the bars.

    Marks of one column share it: most shares lie near 1, where the whole scale shows nothing.
    """
    ends = [*bars]
    for one in shown:
        ends += [end for end in (one.value, one.low, one.high) if end is not None]
    if not ends:
        return 0.0, 1.0
    low = math.floor(round(min(ends) / _STEP, 6)) * _STEP
    high = math.ceil(round(max(ends) / _STEP, 6)) * _STEP
    # Two tenths at the least: a narrower scale would make much of little.
    low = min(low, high - 2 * _STEP)
    return (round(low, 1), round(high, 1)) if low >= 0 else (0.0, max(2 * _STEP, round(high, 1)))


def interval_mark(
    new: Estimate,
    old: Estimate | None = None,
    *,
    bar: float | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> Html:
    """This release (round, thick) over the baseline (diamond, thin), and the bar as a dashed line.

    Parameters
    ----------
    new, old : Estimate
        Drawn with their intervals; an undefined one is left out.
    bar : float, optional
        Where the bar lies.
    low, high : float
        Ends of the scale.
    """

    def x(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(_PAD + share * (WIDTH - 2 * _PAD), 1)

    # Each estimate lies on its own line of the scale.
    lines = (15,) if old is None else (10, 21)
    drawn = [
        f'<line class="axis" x1="{_PAD}" x2="{WIDTH - _PAD}" y1="{y}" y2="{y}"/>' for y in lines
    ]
    for tick in (low, (low + high) / 2, high):
        drawn.append(f'<line class="axis" x1="{x(tick)}" x2="{x(tick)}" y1="4" y2="27"/>')
    said = [f"this release {new.text()}"]
    if bar is not None:
        drawn.append(f'<line class="bar" x1="{x(bar)}" x2="{x(bar)}" y1="2" y2="28"/>')
        said.append(f"bar {bar:g}")
    if old is not None:
        said.insert(1, f"baseline {old.text()}")
        if old.value is not None:
            drawn.append(_interval("old", old, x, y=21))
            at = x(old.value)
            drawn.append(f'<path class="old" d="M{at - 4} 21 l4 -4 l4 4 l-4 4 z"/>')
    if new.value is not None:
        drawn.append(_interval("new", new, x, y=lines[0]))
        drawn.append(f'<circle class="new" cx="{x(new.value)}" cy="{lines[0]}" r="5"/>')
    return _svg(drawn, label="; ".join(said), width=WIDTH, height=30)


def _interval(kind: str, shown: Estimate, x: Callable[[float], float], *, y: int) -> str:
    if shown.low is None or shown.high is None:
        return ""
    return f'<line class="{kind}" x1="{x(shown.low)}" x2="{x(shown.high)}" y1="{y}" y2="{y}"/>'


def scale_mark(low: float, high: float, *, percent: bool = False) -> Html:
    """The scale under a column heading of intervals: its ends and its middle."""
    times, unit = (100, " %") if percent else (1, "")
    ends = {low: _PAD, (low + high) / 2: WIDTH // 2, high: WIDTH - _PAD}
    drawn = [
        f'<text x="{at}" y="10" text-anchor="middle">{times * value:g}</text>'
        for value, at in ends.items()
    ]
    said = f"scale from {times * low:g} to {times * high:g}{unit}"
    return _svg(drawn, label=said, width=WIDTH, height=13)


def share_mark(part: int, whole: int) -> Html:
    """A bar that is filled by `part` of `whole`."""
    width = 90
    filled = round(width * part / whole, 1) if whole else 0
    drawn = [
        f'<rect class="whole" x="0" y="3" width="{width}" height="8"/>',
        f'<rect class="part" x="0" y="3" width="{filled}" height="8"/>',
    ]
    return _svg(drawn, label=f"{part:,} of {whole:,}", width=width, height=14)


def _svg(drawn: Sequence[str], *, label: str, width: int, height: int) -> Html:
    return Html(
        f'<svg class="mark" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{html.escape(label)}">{"".join(drawn)}</svg>'
    )
