"""Figures of the layers: where each stands, and how far it moved against the baseline.

May not compute a statistic: a frame brings value, interval and n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.plots.parts import (
    BAND,
    BLUE,
    GREY,
    INK,
    VERMILION,
    draw_dots,
    ends,
    new_figure,
    plain,
    read_rows,
    share,
    titled,
)
from agenteval_kit.stats.estimate import digits_shown
from agenteval_kit.summary import ALL_CHECKS
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["plot_differences", "plot_layers"]

_REACHES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
_TICKS = 4


def plot_layers(
    frame: pd.DataFrame,
    baseline: pd.DataFrame | None = None,
    *,
    bars: Mapping[str, float] | None = None,
) -> go.Figure:
    """Share of cases passed, by layer, with intervals; the baseline under it and the bar as a line.

    Parameters
    ----------
    frame, baseline : pandas.DataFrame
        One row a layer, as `Summary.frame` gives it: layer, score, low, high (in [0, 1]; missing
        where undefined), n; and cases, where n counts their repeats.
    bars : mapping, optional
        The bar of a layer, where it has one.

    Returns
    -------
    plotly.graph_objects.Figure
        The title names the lowest layer with its interval.

    Raises
    ------
    ConfigError
        If a column is missing.
    """
    layers = _over_cases(frame)
    names = [str(row["layer"]) for row in layers]
    figure = new_figure(height=110 + 54 * max(1, len(layers)))
    labels = {
        str(row["layer"]): f"{plain(row['layer'])}<br><i>n = {row['n']:,}</i>" for row in layers
    }
    if baseline is not None:
        old = [row for row in _over_cases(baseline) if str(row["layer"]) in labels]
        draw_dots(figure, old, labels, name="baseline", colour=GREY, symbol="diamond", shift=-0.16)
    draw_dots(figure, layers, labels, name="this release", colour=BLUE, symbol="circle", shift=0.16)
    for at, name in enumerate(names):
        if bars and name in bars:
            figure.add_shape(
                type="line",
                x0=bars[name],
                x1=bars[name],
                y0=at - 0.42,
                y1=at + 0.42,
                line={"color": VERMILION, "width": 2, "dash": "dot"},
            )
    ticks = list(range(len(names)))
    figure.update_yaxes(
        tickvals=ticks,
        ticktext=[labels[name] for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(
        range=[-0.02, 1.02],
        title={"text": "share of cases passed", "font": {"size": 12}},
        tickformat=".0%",
    )
    return titled(figure, _lowest(layers))


def plot_differences(
    frame: pd.DataFrame, *, margin: float | Mapping[str, float] | None = None
) -> go.Figure:
    """Change against the baseline by layer, paired by case, with intervals around no change.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a layer, as `Comparison.frame` gives it: layer, difference (this minus baseline,
        in [-1, 1]), low, high (missing where there is no interval), n; and broken, the cases whose
        share fell, which the title names where no layer moved.
    margin : float or mapping, optional
        The drop that the bar allows, of every layer or by layer: a dotted line to the left of no
        change.

    Returns
    -------
    plotly.graph_objects.Figure
        The title names what moved. The grey band of a layer is its noise: a change within it is
        one whose interval reaches no change.

    Raises
    ------
    ConfigError
        If a column is missing.
    """
    worse = ("broken",) if "broken" in frame.columns else ()
    rows = read_rows(frame, "plot_differences", value="difference", also=worse)
    labels = {
        str(row["layer"]): f"{plain(row['layer'])}<br><i>n = {row['n']:,}</i>" for row in rows
    }
    figure = new_figure(height=120 + 48 * max(1, len(rows)))
    names = list(labels)
    allowed = margin if isinstance(margin, Mapping) else dict.fromkeys(names, margin or 0.0)
    allowed = {name: drop for name, drop in allowed.items() if name in labels and drop}
    reach = max((abs(value) for row in rows for value in ends(row)), default=0.1)
    reach = next(
        one for one in (*_REACHES, 1.0) if one >= min(1.0, 1.1 * max([reach, *allowed.values()]))
    )
    for at, row in enumerate(rows):
        if row["score"] is not None and row["low"] is not None and row["high"] is not None:
            figure.add_shape(
                type="rect", x0=row["score"] - row["high"], x1=row["score"] - row["low"],
                y0=at - 0.3, y1=at + 0.3, fillcolor=BAND, line_width=0, layer="below",
            )  # fmt: skip
    spoken: set[float] = set()
    for name, drop in allowed.items():
        at = names.index(name)
        figure.add_shape(
            type="line", x0=-drop, x1=-drop, y0=at - 0.5, y1=at + 0.5,
            line={"color": VERMILION, "width": 1.5, "dash": "dot"},
        )  # fmt: skip
        if drop not in spoken:  # a line through several layers has one name
            figure.add_annotation(
                x=-drop, y=at - 0.5, yanchor="middle", xanchor="right", showarrow=False,
                text=f"bar −{100 * drop:g}", font={"size": 11},
            )  # fmt: skip
        spoken.add(drop)
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    draw_dots(
        figure,
        rows,
        labels,
        name="this release minus baseline",
        colour=BLUE,
        symbol="circle",
        shift=0.0,
        points=True,
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=list(labels.values()),
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    step = next(step for step in (0.02, 0.05, 0.1, 0.25) if reach / step <= _TICKS or step == 0.25)
    ticks = [at * step for at in range(-int(reach / step), int(reach / step) + 1)]
    figure.update_xaxes(
        range=[-reach, reach],
        title={"text": "change in points<br>grey: within noise", "font": {"size": 12}},
        tickvals=ticks,
        ticktext=[f"{100 * at:+.0f}".replace("-", "−") if at else "0" for at in ticks],
    )
    figure.update_layout(showlegend=False)
    return titled(figure, _moved(rows))


def _over_cases(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, with n as what the intervals are over: cases, not their repeats."""
    rows = read_rows(frame, "plot_layers")
    if "cases" in frame.columns:
        for row, cases in zip(rows, frame["cases"].tolist(), strict=True):
            row["n"] = cases
    return rows


def _lowest(rows: Sequence[Mapping[str, Any]]) -> str:
    # All checks together are lowest by definition; that would say nothing.
    scored = [row for row in rows if row["score"] is not None and row["layer"] != ALL_CHECKS]
    if not scored:
        return "No layer could be scored"
    least = min(scored, key=lambda row: row["score"])
    if all(row["score"] == least["score"] for row in scored) and len(scored) > 1:
        return f"All layers stand at {share(least)}"
    return f"Lowest is {least['layer']}: {share(least)} passed (n = {counted(least['n'], 'case')})"


def _moved(rows: Sequence[Mapping[str, Any]]) -> str:
    down = [row for row in rows if row["high"] is not None and row["high"] < 0]
    up = [row for row in rows if row["low"] is not None and row["low"] > 0]
    parts = [f"{row['layer']} fell by {_drop(row)}" for row in down]
    parts += [f"{row['layer']} rose by {_drop(row)}" for row in up]
    if parts:
        return "; ".join(parts)
    if not rows:
        return "Nothing to compare"
    # Cases that got worse did so, whatever their number shows of the layer.
    fell = [row for row in rows if row.get("broken") and row["layer"] != ALL_CHECKS]
    worse = [f"{row['layer']} {row['broken']}" for row in fell]
    still = "o difference shown in any layer"
    return f"Cases got worse ({', '.join(worse)}); n{still}" if worse else f"N{still}"


def _drop(row: Mapping[str, Any]) -> str:
    low, high = sorted(abs(100 * row[end]) for end in ("low", "high"))
    digits = digits_shown((high - low) / 200, scale=100.0, fewest=0)
    value = abs(100 * row["score"])
    return f"{value:.{digits}f} points ({low:.{digits}f} to {high:.{digits}f})"
