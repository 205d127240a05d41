"""A figure of scores against words: what people and the judge gave, a panel a dimension.

May not compute a correlation: it comes along, with its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.plots.parts import BLUE, GREY, new_figure, plain, titled

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from agenteval_kit.calibrate.signs import JudgeSigns
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["plot_lengths"]

_WANTED = ("case_id", "repeat", "dimension", "words", "judge", "people")


def plot_lengths(frame: pd.DataFrame, signs: Sequence[JudgeSigns]) -> go.Figure:
    """Scores against the number of words the agent said, people's mean and the judge's.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per transcript and dimension, as `calibrate.signs.lengths_frame` gives it.
    signs : sequence of JudgeSigns
        The rank correlations that are printed.

    Returns
    -------
    plotly.graph_objects.Figure
        The title says where the judge parts most from people as more is said.

    Raises
    ------
    ConfigError
        If a column is missing.
    """
    missing = [name for name in _WANTED if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"plot_lengths: the frame has no column {', '.join(missing)}; "
            f"it wants {', '.join(_WANTED)}"
        )
    names = list(dict.fromkeys(str(name) for name in frame["dimension"]))
    figure = new_figure(height=90 + 210 * max(1, len(names)), panels=max(1, len(names)))
    known = {one.dimension: one for one in signs}
    for at, name in enumerate(names, start=1):
        rows = frame[frame["dimension"].astype(str) == name]
        for column, who, colour, symbol in (
            ("people", "people, their mean", GREY, "diamond-open"),
            ("judge", "judge", BLUE, "circle"),
        ):
            drawn = rows[rows[column].notna()]
            figure.add_scatter(
                x=drawn["words"].tolist(),
                y=drawn[column].tolist(),
                mode="markers",
                name=who,
                legendgroup=who,
                showlegend=at == 1,
                marker={"color": colour, "symbol": symbol, "size": 8, "opacity": 0.75},
                customdata=[plain(case) for case in drawn["case_id"]],
                hovertemplate="%{customdata}: %{y:.2g}, %{x} words<extra>" + who + "</extra>",
                row=at if len(names) > 1 else None,
                col=1 if len(names) > 1 else None,
            )
        # What the panel shows stands on its axis, so that it is read without a key.
        figure.update_yaxes(
            title=f"{plain(name)}<br>n = {len(rows):,}",
            row=at if len(names) > 1 else None,
            col=1 if len(names) > 1 else None,
        )
    figure.update_xaxes(
        title="words of the agent",
        rangemode="tozero",
        row=len(names) if len(names) > 1 else None,
        col=1 if len(names) > 1 else None,
    )
    figure.update_yaxes(dtick=1, tickformat="d")
    # A finding is long, and may not run into the legend.
    figure.update_layout(margin={"t": 84})
    return titled(figure, _finding([known[name] for name in names if name in known]))


def _finding(signs: Sequence[JudgeSigns]) -> str:
    told = [one for one in signs if one.length.apart.value is not None]
    if not told:
        why = "; ".join(
            f"{one.dimension}: {one.length.apart.reason}" for one in signs if one.length.apart.n
        )
        return why or "Scores against words: nobody labelled what was judged"
    most = max(told, key=lambda one: abs(one.length.apart.value or 0))
    apart = most.length.apart
    shown = apart.text().replace("-", "\N{MINUS SIGN}")
    if _open(apart):
        return (
            f"{most.dimension}: no sign that the judge goes by length more than people "
            f"(rank correlation of judge minus people {shown}, n = {apart.n:,})"
        )
    way = "milder" if (apart.value or 0) > 0 else "harsher"
    return (
        f"{most.dimension}: the judge is {way} than people where more is said "
        f"(rank correlation {shown}, n = {apart.n:,})"
    )


def _open(found: Estimate) -> bool:
    return found.low is None or found.high is None or found.low <= 0 <= found.high
