"""What every figure shares: colours, axes, dots with their intervals, and numbers in words.

May not name a layer or know a run.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.json_schema import load_jsonschema
from agenteval_kit.stats.estimate import digits_shown

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

# Okabe and Ito's palette, safe for colour-blind readers; shape and dash repeat what colour says.
BLUE, GREY, VERMILION = "#0072b2", "#8a949e", "#d55e00"
# Readable on white and on near-black alike; the report's style sheet sharpens it to the theme.
INK = "#75808a"
LINE = "rgba(125,135,145,0.35)"
BAND = "rgba(125,135,145,0.16)"
_AXIS = {"title": {"font": {"size": 12}}}


def read_rows(
    frame: pd.DataFrame, who: str, *, also: Sequence[str] = (), value: str = "score"
) -> list[dict[str, Any]]:
    """The rows of a frame, the column `value` as "score", missing numbers as None.

    Raises
    ------
    ConfigError
        If a column is missing.
    """
    wanted = ("layer", value, "low", "high", "n", *also)
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"{who}: the frame has no column {', '.join(missing)}; it wants {', '.join(wanted)}"
        )
    rows = frame[list(wanted)].rename(columns={value: "score"}).to_dict("records")
    made = [{str(key): item for key, item in row.items()} for row in rows]
    for row in made:
        for name in ("score", "low", "high"):
            # A missing number is the one value that differs from itself, or it is None or NA.
            known = isinstance(row[name], int | float) and row[name] == row[name]
            row[name] = float(row[name]) if known else None
    return made


def new_figure(*, height: int, panels: int = 1) -> go.Figure:
    """An empty figure that is legible on light and dark, with one panel over the other."""
    import plotly.graph_objects as go  # heavy: only who draws pays for it

    # A figure that is shown has plotly import nbformat, which would build a grammar for a second.
    load_jsonschema()
    figure = go.Figure()
    if panels > 1:
        from plotly.subplots import make_subplots  # heavy, see above

        figure = make_subplots(
            rows=panels, cols=1, shared_xaxes=True, vertical_spacing=min(0.3, 0.42 / panels)
        )
    figure.update_layout(
        template={"layout": {"xaxis": _AXIS, "yaxis": _AXIS}},
        height=height,
        margin={"l": 8, "r": 16, "t": 56, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK, "size": 13, "family": "system-ui, 'DejaVu Sans', sans-serif"},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        hoverlabel={"font": {"size": 12}},
        dragmode=False,
    )
    axes = {"gridcolor": LINE, "zeroline": False, "automargin": True, "linecolor": LINE}
    figure.update_xaxes(**axes, fixedrange=True)
    figure.update_yaxes(**axes, fixedrange=True)
    return figure


def titled(figure: go.Figure, finding: str) -> go.Figure:
    """The figure with its finding as the title."""
    figure.update_layout(
        title={"text": plain(finding), "x": 0, "xanchor": "left", "y": 0.98, "yanchor": "top",
               "font": {"size": 15}},
    )  # fmt: skip
    return figure


def draw_dots(
    figure: go.Figure,
    rows: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str],
    *,
    name: str,
    colour: str,
    symbol: str,
    shift: float,
    points: bool = False,
) -> None:
    """Estimates as dots at the height of their layer, with their intervals."""
    place = {layer: at for at, layer in enumerate(labels)}
    drawn = [row for row in rows if row["score"] is not None]
    figure.add_scatter(
        x=[row["score"] for row in drawn],
        y=[place[str(row["layer"])] - shift for row in drawn],
        error_x=errors(drawn, colour),
        mode="markers",
        name=name,
        marker={"color": colour, "size": 10, "symbol": symbol},
        customdata=[
            f"{plain(row['layer'])}: {words(row, points)}, n = {row['n']:,}" for row in drawn
        ],
        hovertemplate="%{customdata}<extra>" + name + "</extra>",
    )


def draw_line(
    figure: go.Figure,
    rows: Sequence[Mapping[str, Any]],
    *,
    x: list[Any],
    name: str,
    panel: int | None = None,
    say: Callable[[Mapping[str, Any]], str] | None = None,
) -> None:
    """Estimates joined by a line, with their intervals; `say` puts one into words."""
    say = say or share
    kept = [(at, row) for at, row in zip(x, rows, strict=True) if row["score"] is not None]
    drawn = [row for _, row in kept]
    figure.add_scatter(
        x=[at for at, _ in kept],
        y=[row["score"] for row in drawn],
        error_y=errors(drawn, BLUE),
        mode="lines+markers",
        name=plain(name),
        cliponaxis=False,
        line={"color": BLUE, "width": 2},
        marker={"color": BLUE, "size": 8},
        customdata=[f"{say(row)}, n = {row['n']:,}" for row in drawn],
        hovertemplate="%{customdata}<extra></extra>",
        row=panel if panel and panel > 1 else None,
        col=1 if panel and panel > 1 else None,
    )


def errors(rows: Sequence[Mapping[str, Any]], colour: str) -> dict[str, Any]:
    """The intervals as plotly wants them: distances from the value."""
    up = [0.0 if row["high"] is None else row["high"] - row["score"] for row in rows]
    down = [0.0 if row["low"] is None else row["score"] - row["low"] for row in rows]
    return {
        "type": "data",
        "symmetric": False,
        "array": up,
        "arrayminus": down,
        "color": colour,
        "thickness": 2.5,
        "width": 0,
    }


def ends(row: Mapping[str, Any]) -> list[float]:
    """The value and the ends of its interval, those that are there."""
    return [row[name] for name in ("score", "low", "high") if row[name] is not None]


def words(row: Mapping[str, Any], points: bool) -> str:
    """The estimate in words: "73 % (61 to 83)", or in points with a sign."""
    if row["score"] is None:
        return "not computable"
    digits = _digits(row, scale=100.0, fewest=0)

    def signed(end: str) -> str:
        # Rounded first: a rounded "-0" is "0", and 0 has no sign.
        rounded = round(100 * row[end], digits) + 0.0
        sign = "+" if points and rounded else ""
        return f"{rounded:{sign}.{digits}f}".replace("-", "−")

    value = signed("score")
    unit = " points" if points else " %"
    if row["low"] is None or row["high"] is None:
        return f"{value}{unit}"
    return f"{value}{unit} ({signed('low')} to {signed('high')})"


def _digits(row: Mapping[str, Any], *, scale: float, fewest: int) -> int:
    """As many as a table gives the same estimate."""
    half = None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2
    return digits_shown(half, scale=scale, fewest=fewest)


def share(row: Mapping[str, Any]) -> str:
    """A share in words: "73 % (61 to 83)"."""
    return words(row, False)


def on_scale(row: Mapping[str, Any]) -> str:
    """A mean on a judge's scale in words: "3.41 (3.22 to 3.58)"."""
    if row["score"] is None:
        return "not computable"
    form = f"{{:.{_digits(row, scale=1.0, fewest=2)}f}}"
    if row["low"] is None or row["high"] is None:
        return form.format(row["score"])
    return f"{form.format(row['score'])} ({form.format(row['low'])} to {form.format(row['high'])})"


def spaced(name: object) -> str:
    """A layer's or a dimension's name as it is read."""
    return str(name).replace("_", " ")


def plain(value: object) -> str:
    """Text that plotly shows as it is."""
    # plotly reads tags in its texts; a layer's or a run's name must not be one.
    return html.escape(str(value), quote=False)
