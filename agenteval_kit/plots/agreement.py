"""A figure of agreement: people with each other, and the judge with people, by dimension.

May not compute an agreement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.plots.parts import BLUE, GREY, INK, errors, new_figure, on_scale, plain, titled
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["plot_agreement"]

_SIDES = (
    ("people", "people with each other", GREY, "diamond-open", 0.12),
    ("judge", "judge with people", BLUE, "circle", -0.12),
)


def plot_agreement(
    frame: pd.DataFrame, *, statistic: str = "quadratic kappa", at_least: float | None = None
) -> go.Figure:
    """People and judge as two dots a dimension, with their intervals and the line of the rule.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per dimension and statistic, as `CalibrationResult.agreement_frame` gives it.
    statistic : str
        Which rows.
    at_least : float, optional
        What trust asks for, drawn as a line.

    Returns
    -------
    plotly.graph_objects.Figure
        The title says on how many dimensions the judge reaches the rule, or where it is lowest.

    Raises
    ------
    ConfigError
        If the frame has no such statistic.
    """
    known = frame["statistic"].unique().tolist() if "statistic" in frame.columns else []
    if statistic not in known:
        raise ConfigError(
            f'plot_agreement: no row of "{statistic}"; the frame has {", ".join(known) or "none"}'
        )
    rows = frame[frame["statistic"] == statistic].to_dict("records")
    figure = new_figure(height=130 + 62 * len(rows))
    for side, name, colour, symbol, shift in _SIDES:
        drawn = [
            (at, made)
            for at, row in enumerate(rows)
            if (made := _side(row, side))["score"] is not None
        ]
        figure.add_scatter(
            x=[row["score"] for _, row in drawn],
            y=[at - shift for at, _ in drawn],
            error_x=errors([row for _, row in drawn], colour),
            mode="markers",
            name=name,
            marker={"color": colour, "size": 10, "symbol": symbol},
            customdata=[on_scale(row) for _, row in drawn],
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
        )
    if at_least is not None:
        figure.add_vline(x=at_least, line={"dash": "dash", "color": INK, "width": 1.5},
                         annotation_text=f"the rule: {at_least:g}",
                         annotation_position="bottom right")  # fmt: skip
    labels = [f"{plain(row['dimension'])}<br><i>n = {row['n']:,}</i>" for row in rows]
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=labels, range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )  # fmt: skip
    figure.update_xaxes(title=f"{statistic}, intervals as in the table; 0 is chance")
    return titled(figure, _finding(rows, statistic, at_least))


def _side(row: dict[Any, Any], side: str) -> dict[str, Any]:
    names = {"score": side, "low": f"{side}_low", "high": f"{side}_high"}
    values = {name: row[column] for name, column in names.items()}
    # A missing number is the one value that differs from itself.
    return {name: None if x is None or x != x else float(x) for name, x in values.items()}


def _finding(rows: list[dict[Any, Any]], statistic: str, at_least: float | None) -> str:
    judged = [(row, one) for row in rows if (one := _side(row, "judge"))["score"] is not None]
    if not judged:
        return f"No {statistic} of a judge with people"
    # Two separate intervals are not compared here: the gap in the table is what does that.
    if at_least is not None:
        held = sum(one["low"] is not None and one["low"] >= at_least for _, one in judged)
        return (
            f"The judge's lower bound reaches {at_least:g} on {held} of "
            f"{counted(len(judged), 'dimension')}"
        )
    row, one = min(judged, key=lambda each: each[1]["score"])
    people = _side(row, "people")["score"]
    beside = "not known" if people is None else f"{people:.2f}"
    return f"{row['dimension']}: {statistic} {one['score']:.2f}, between people {beside}"
