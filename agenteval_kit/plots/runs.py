"""Figures of repeats and of runs over time.

May not draw a line through a break: values of two series are not comparable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.plots.parts import (
    BAND,
    INK,
    VERMILION,
    draw_line,
    ends,
    new_figure,
    on_scale,
    plain,
    read_rows,
    share,
    spaced,
    titled,
)
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["plot_repeats", "plot_trend"]

_LONGEST = 14


def plot_repeats(frame: pd.DataFrame, *, layer: str) -> go.Figure:
    """pass^k: the chance that k repeats of a case all pass, with its interval, over k.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per layer and k: layer, k, score, low, high, n.
    layer : str
        Which layer is drawn.

    Raises
    ------
    ConfigError
        If a column is missing, or the layer is not in the frame.
    """
    every = read_rows(frame, "plot_repeats", also=("k",))
    rows = [row for row in every if str(row["layer"]) == layer]
    if not rows:
        known = {str(row["layer"]) for row in every}
        raise ConfigError(
            f'plot_repeats: no layer "{layer}" in the frame.{did_you_mean(layer, known)}'
        )
    figure = new_figure(height=300)
    draw_line(figure, rows, x=[row["k"] for row in rows], name=f"pass^k, {layer}")
    figure.update_xaxes(
        title="k, repeats of a case that must all pass",
        tickvals=[row["k"] for row in rows],
        range=[0.7, max(row["k"] for row in rows) + 0.3],
        showgrid=False,
    )
    figure.update_yaxes(range=[-0.02, 1.02], title="chance", tickformat=".0%")
    figure.update_layout(showlegend=False)
    first, last = rows[0], rows[-1]
    title = f"{layer}: one repeat passes in {share(first)}"
    if last["k"] > first["k"]:
        title += f", all {last['k']} in {share(last)}"
    n = counted(first["n"], "case")
    if last["n"] != first["n"]:
        n += f"; {counted(last['n'], 'case')} with {last['k']} scored repeats"
    return titled(figure, f"{title} (n = {n})")


def plot_trend(
    frame: pd.DataFrame,
    *,
    layers: Sequence[str] | None = None,
    bars: Mapping[str, float] | None = None,
    scales: Mapping[str, Sequence[int]] | None = None,
    noise: Mapping[str, tuple[float, float]] | None = None,
) -> go.Figure:
    """Layers over runs, a panel each: intervals, the bar, and a break wherever it must be.

    Judged dimensions are drawn the same way where their scales are given.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of one suite, from `runs_frame`; or one row per run and layer, oldest first: layer, run,
        run_id, score, low, high, n, series (the line breaks between two), what (why the series
        changed). In a frame of runs a judged dimension is called "tone (judged)", and runs that
        are comparable with none are left out.
    layers : sequence of str, optional
        Which are drawn; all of the frame by default.
    bars : mapping, optional
        The bar of a layer, where it has one.
    scales : mapping, optional
        The levels of a judged dimension, by its name in the column "layer"; what is not named is
        a share.
    noise : mapping, optional
        By name, the ends of the band in which the latest value does not differ from the baseline's,
        by their paired interval.

    Raises
    ------
    ConfigError
        If a column is missing, a layer is not in the frame, or it holds runs of two suites.
    """
    if "dimension" in frame.columns:
        frame, of_runs = _of_runs(frame)
        scales = {**of_runs, **(scales or {})}
    scales = scales or {}
    every = read_rows(frame, "plot_trend", also=("run", "run_id", "series", "what"))
    known = list(dict.fromkeys(str(row["layer"]) for row in every))
    names = list(layers) if layers is not None else known
    for name in names:
        if name not in known:
            raise ConfigError(
                f'plot_trend: no layer "{name}" in the frame.{did_you_mean(name, known)}'
            )
    order = list(dict.fromkeys(row["run_id"] for row in every))
    place = {run_id: at for at, run_id in enumerate(order)}
    panels = max(1, len(names))
    figure = new_figure(height=126 + 164 * panels, panels=panels)
    figure.update_layout(margin={"t": 90, "r": 58, "b": 44})
    for at, name in enumerate(names, start=1):
        rows = [row for row in every if str(row["layer"]) == name]
        _panel(
            figure, rows, name, panel=at, place=place, bar=(bars or {}).get(name),
            scale=scales.get(name), noise=(noise or {}).get(name),
        )  # fmt: skip
    labels = {row["run_id"]: plain(_short(str(row["run"]))) for row in every}
    shown = _few(len(order))
    figure.update_xaxes(
        tickvals=shown,
        ticktext=[labels[order[at]] for at in shown],
        range=[-0.5, len(order) - 0.5],
        showgrid=False,
    )
    told = ["dotted: bar"] * bool(bars) + ["grey: within noise of the baseline"] * bool(noise)
    # A title of the axis moves down where a narrow page makes plotly turn the names of the runs.
    figure.layout[f"xaxis{panels}" if panels > 1 else "xaxis"].update(
        title={"text": " · ".join(told), "font": {"size": 11}, "standoff": 8}
    )
    figure.update_layout(showlegend=False)
    breaks = len({row["run_id"] for row in every if row["what"] and str(row["layer"]) in names})
    broke = "no break" if not breaks else counted(breaks, "break")
    return titled(figure, f"{counted(len(order), 'run')}, {broke}: {_now(every, names, scales)}")


def _of_runs(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, tuple[int, ...]]]:
    """A frame of runs as a trend reads it: a dimension has a name of its own, and its scale."""
    suites = list(dict.fromkeys(str(name) for name in frame["suite"]))
    if len(suites) > 1:
        raise ConfigError(
            f"plot_trend: the frame holds runs of {len(suites)} suites ({', '.join(suites)}); draw "
            "one at a time, as runs_frame(folder, suite) gives it"
        )
    made = frame[frame["series"].notna() & frame["layer"].notna()].copy()
    judged = made["dimension"].notna()
    made.loc[judged, "layer"] = made.loc[judged, "dimension"] + " (judged)"
    scales: dict[str, set[int]] = {}
    for name, levels in zip(made["layer"][judged], made["levels"][judged], strict=True):
        scales.setdefault(str(name), set()).update(levels)
    return made, {name: tuple(sorted(levels)) for name, levels in scales.items()}


def _panel(
    figure: go.Figure,
    rows: Sequence[Mapping[str, Any]],
    name: str,
    *,
    panel: int,
    place: Mapping[str, int],
    bar: float | None,
    scale: Sequence[int] | None,
    noise: tuple[float, float] | None,
) -> None:
    say = share if scale is None else on_scale
    axis = "" if panel == 1 else str(panel)
    start = 0
    for at in range(1, len(rows) + 1):
        if at < len(rows) and rows[at]["series"] == rows[start]["series"]:
            continue
        some = rows[start:at]
        at_runs = [place[row["run_id"]] for row in some]
        draw_line(figure, some, x=at_runs, name=name, panel=panel, say=say)
        if at < len(rows):
            x = place[rows[at]["run_id"]] - 0.5
            # In place of a line, where no value is drawn, so that nothing is written over.
            figure.add_annotation(
                x=x, y=0.5, xref=f"x{axis}", yref=f"y{axis} domain", textangle=-90,
                showarrow=False, text=plain(rows[at]["what"] or "not comparable"),
                font={"size": 10},
            )  # fmt: skip
            for ends_at in ((0, 0.1), (0.9, 1)):
                figure.add_shape(
                    type="line", x0=x, x1=x, y0=ends_at[0], y1=ends_at[1], xref=f"x{axis}",
                    yref=f"y{axis} domain", line={"color": INK, "width": 1},
                )  # fmt: skip
        start = at
    if noise is not None:
        x = place[rows[-1]["run_id"]]
        wide = min(0.4, len(place) / 30)
        figure.add_shape(
            type="rect", x0=x - wide, x1=x + wide, y0=noise[0], y1=noise[1], fillcolor=BAND,
            line_width=0, layer="below", xref=f"x{axis}", yref=f"y{axis}",
        )  # fmt: skip
    # Last: plotly leaves a line out of a panel that is empty yet.
    if bar is not None:
        figure.add_hline(
            y=bar, row=panel, col=1, line={"color": VERMILION, "width": 1.5, "dash": "dot"},
        )  # fmt: skip
        figure.add_annotation(
            x=1, y=bar, xref=f"x{axis} domain", yref=f"y{axis}", xanchor="left", xshift=4,
            showarrow=False, font={"size": 11},
            text=f"bar {bar:g}" if scale else f"bar {100 * bar:g} %",
        )  # fmt: skip
    figure.add_annotation(
        x=0, y=1.02, xref=f"x{axis} domain", yref=f"y{axis} domain", xanchor="left",
        yanchor="bottom", showarrow=False, align="left", font={"size": 11},
        text=f"<b>{plain(spaced(name))}</b>, n = {rows[-1]['n']:,}<br>{_steps(rows, say)}",
    )  # fmt: skip
    held = [value for row in rows for value in ends(row)]
    held += [value for value in (bar, *(noise or ())) if value is not None]
    whole = (0.0, 1.0) if scale is None else (float(min(scale)), float(max(scale)))
    figure.layout[f"yaxis{axis}"].update(
        range=_around(held, whole), nticks=5, tickformat=".0%" if scale is None else ".1f"
    )


def _around(held: Sequence[float], whole: tuple[float, float]) -> list[float]:
    """The part of a scale that holds these values, with room: a fifth of it, or more."""
    low, high = whole
    if not held:
        return [low, high]
    reach = high - low
    span = max(1.2 * (max(held) - min(held)), 0.2 * reach)
    middle = min(max((max(held) + min(held)) / 2, low + span / 2), high - span / 2)
    room = 0.03 * reach
    return [max(low - room, middle - span / 2 - room), min(high + room, middle + span / 2 + room)]


def _steps(rows: Sequence[Mapping[str, Any]], say: Callable[[Mapping[str, Any]], str]) -> str:
    now = rows[-1]
    said = f"{say(now)} now"
    if len(rows) > 1:
        before = rows[-2]
        comparable = before["series"] == now["series"]
        said += f",<br>{say(before)} before" if comparable else ", not comparable with before"
    return said


def _now(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], scales: Mapping[str, Sequence[int]]
) -> str:
    latest = {str(row["layer"]): row for row in rows}
    scored = [latest[name] for name in names if latest[name]["score"] is not None]
    if not scored:
        return "nothing scored in the latest"

    def height(row: Mapping[str, Any]) -> float:
        levels = scales.get(str(row["layer"]), (0, 1))
        return float((row["score"] - min(levels)) / (max(levels) - min(levels)))

    least = min(scored, key=height)
    say = on_scale if str(least["layer"]) in scales else share
    return f"lowest now is {spaced(least['layer'])}, {say(least)}"


def _short(name: str) -> str:
    """A name that fits under a figure: of the id of a run its day and minute."""
    made = re.search(r"\d{4}(\d{2})(\d{2})-(\d{2})(\d{2})\d{2}-\d{3}", name)
    if made is not None:
        return "{}-{} {}:{}".format(*made.groups())
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _few(n: int, *, most: int = 8) -> list[int]:
    """Some of n runs, evenly, the latest among them."""
    return list(range(n - 1, -1, -max(1, math.ceil(n / most))))[::-1]
