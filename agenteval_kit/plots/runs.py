"""Figures of repeats and of runs over time.

May not draw a line through a break: values of two series are not comparable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.plots.parts import (
    INK,
    VERMILION,
    draw_line,
    new_figure,
    on_scale,
    plain,
    read_rows,
    share,
    titled,
)

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["plot_repeats", "plot_trend"]


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
    return titled(figure, f"{title} (n = {first['n']} cases)")


def plot_trend(
    frame: pd.DataFrame,
    *,
    layers: Sequence[str] | None = None,
    bars: Mapping[str, float] | None = None,
    scales: Mapping[str, Sequence[int]] | None = None,
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
    figure = new_figure(height=80 + 118 * panels, panels=panels)
    for at, name in enumerate(names, start=1):
        rows = [row for row in every if str(row["layer"]) == name]
        _panel(
            figure, rows, name, panel=at, place=place, bar=(bars or {}).get(name),
            scale=scales.get(name),
        )  # fmt: skip
    labels = {row["run_id"]: plain(row["run"]) for row in every}
    shown = _few(len(order))
    figure.update_xaxes(
        tickvals=shown,
        ticktext=[labels[order[at]] for at in shown],
        range=[-0.5, len(order) - 0.5],
        showgrid=False,
    )
    figure.update_yaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1], tickformat=".0%")
    for at, name in enumerate(names, start=1):
        if name in scales:
            low, high = min(scales[name]), max(scales[name])
            room = 0.06 * (high - low)
            figure.layout[f"yaxis{at if at > 1 else ''}"].update(
                range=[low - room, high + room], tickvals=list(scales[name]), tickformat="d"
            )
    figure.update_layout(showlegend=False)
    breaks = len({row["run_id"] for row in every if row["what"] and str(row["layer"]) in names})
    told = "no break" if not breaks else f"{breaks} break{'s' if breaks > 1 else ''}"
    return titled(figure, f"{len(order)} runs, {told}: {_now(every, names, scales)}")


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
            figure.add_vline(x=x, row=panel, col=1, line={"color": INK, "width": 1, "dash": "dash"})
            # Layers break together, dimensions each where its own judge or rubric changed.
            if panel == 1 or scale is not None:
                figure.add_annotation(
                    x=x, y=1, xref=f"x{axis}", yref=f"y{axis} domain", yanchor="bottom",
                    showarrow=False, text=plain(rows[at]["what"] or "not comparable"),
                    font={"size": 11},
                )  # fmt: skip
        start = at
    # Last: plotly leaves a line out of a panel that is empty yet.
    if bar is not None:
        figure.add_hline(
            y=bar, row=panel, col=1, line={"color": VERMILION, "width": 1.5, "dash": "dot"},
            annotation={"text": f"bar {bar:g}", "font": {"size": 11}, "xanchor": "right"},
        )  # fmt: skip
    figure.add_annotation(
        x=0, y=1.02, xref=f"x{axis} domain", yref=f"y{axis} domain", xanchor="left",
        yanchor="bottom", showarrow=False, text=f"<b>{plain(name)}</b>  {plain(_steps(rows, say))}",
        font={"size": 12},
    )  # fmt: skip


def _steps(rows: Sequence[Mapping[str, Any]], say: Callable[[Mapping[str, Any]], str]) -> str:
    now = rows[-1]
    said = f"{say(now)} now"
    if len(rows) > 1:
        before = rows[-2]
        comparable = before["series"] == now["series"]
        said += f", {say(before)} before" if comparable else ", not comparable with before"
    return f"{said}; n = {now['n']}"


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
    return f"lowest now is {least['layer']}, {say(least)}"


def _few(n: int, *, most: int = 8) -> list[int]:
    if n <= most:
        return list(range(n))
    step = math.ceil((n - 1) / (most - 1))
    return sorted({*range(0, n - 1, step), n - 1})
