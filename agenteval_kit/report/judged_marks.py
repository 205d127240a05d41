"""Drawings of judged numbers: verdicts at each level, and a win rate in its noise.

May not be the only carrier of a number: each has its words beside it or in its label.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agenteval_kit.report.markup import Html

if TYPE_CHECKING:
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["distribution_mark", "preference_mark"]

_STEP, _TALL = 21, 24


def distribution_mark(distribution: Mapping[int, int], *, unscored: int = 0) -> Html:
    """A column a level, lowest first, as tall as its verdicts; the level stands under it.

    Parameters
    ----------
    distribution : mapping of int to int
        Verdicts at each level.
    unscored : int
        Drawn as an outlined column under "?"; left out at 0.
    """
    every = [(str(level), count, "part") for level, count in distribution.items()]
    if unscored:
        every.append(("?", unscored, "none"))
    most = max((count for _, count, _ in every), default=0)
    drawn = []
    for at, (word, count, kind) in enumerate(every):
        tall = round(_TALL * count / most, 1) if most else 0
        x = at * _STEP
        drawn.append(
            f'<rect class="{kind}" x="{x + 1}" y="{_TALL - tall + 1}" width="{_STEP - 4}" '
            f'height="{tall}"/><line class="axis" x1="{x + 1}" x2="{x + _STEP - 3}" '
            f'y1="{_TALL + 1.5}" y2="{_TALL + 1.5}"/><text x="{x + _STEP / 2 - 1}" '
            f'y="{_TALL + 12}" text-anchor="middle">{word}</text>'
        )
    said = ", ".join(
        f"{count:,} unscored" if word == "?" else f"{count:,} at {word}" for word, count, _ in every
    )
    return _svg(drawn, label=f"verdicts: {said}", width=_STEP * len(every), height=_TALL + 15)


def preference_mark(
    rate: Estimate, *, margin: float | None, old: str, new: str, bar: float | None = None
) -> Html:
    """A win rate with its interval over the band of noise about one half.

    Parameters
    ----------
    rate : Estimate
        In [0, 1], of the new side.
    margin : float or None
        Half-width of the noise about 0.5.
    old, new : str
        What stands at the two ends.
    bar : float, optional
        The rate under which a clause fails.
    """
    width, height, pad = 640, 110, 20

    def x(value: float) -> float:
        return round(pad + min(max(value, 0.0), 1.0) * (width - 2 * pad), 1)

    drawn = []
    said = [f"win rate {rate.text()}"]
    if margin is not None:
        low, high = x(0.5 - margin), x(0.5 + margin)
        drawn.append(
            f'<rect class="whole" x="{low}" y="54" width="{round(high - low, 1)}" height="26"/>'
            f'<text x="{x(0.5)}" y="18" text-anchor="middle">'
            f"noise of this set: ±{margin:.2f}</text>"
        )
        said.append(f"noise of this set plus or minus {margin:.2f} about one half")
    drawn.append(f'<line class="axis" x1="{pad}" x2="{width - pad}" y1="66" y2="66"/>')
    drawn.append(f'<line class="half" x1="{x(0.5)}" x2="{x(0.5)}" y1="54" y2="82"/>')
    if bar is not None:
        drawn.append(f'<line class="bar" x1="{x(bar)}" x2="{x(bar)}" y1="54" y2="80"/>')
        said.append(f"the bar {bar:.2f}")
    if rate.value is not None:
        if rate.low is not None and rate.high is not None:
            drawn.append(
                f'<line class="new" x1="{x(rate.low)}" x2="{x(rate.high)}" y1="66" y2="66"/>'
            )
        drawn.append(f'<circle class="new" cx="{x(rate.value)}" cy="66" r="6"/>')
        place = min(max(x(rate.value), 120), width - 120)
        drawn.append(
            f'<text class="told" x="{place}" y="48" text-anchor="middle">'
            f"{html.escape(rate.text())}</text>"
        )
    for at, word, side in (
        (pad, f"0: {old} always", "start"),
        (width / 2, "0.5", "middle"),
        (width - pad, f"1: {new} always", "end"),
    ):
        drawn.append(f'<text x="{at}" y="103" text-anchor="{side}">{html.escape(word)}</text>')
    return _svg(drawn, label="; ".join(said), width=width, height=height, kind="mark broad")


def _svg(drawn: list[str], *, label: str, width: int, height: int, kind: str = "mark") -> Html:
    return Html(
        f'<svg class="{kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{html.escape(label)}">{"".join(drawn)}</svg>'
    )
