"""A figure of verdicts: how many stand at each level, by dimension.

May not compute a mean: the table beside it has that, with its interval.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.plots.parts import INK, new_figure, plain, titled
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["plot_verdicts"]

# From vermilion, the bottom of a scale, to blue, its top; the level is written in each piece.
_LOWEST, _MIDDLE, _HIGHEST = (213, 94, 0), (150, 158, 166), (0, 114, 178)
_UNSCORED = "rgba(125,135,145,0.16)"


def plot_verdicts(frame: pd.DataFrame) -> go.Figure:
    """Verdicts at each level as the pieces of one bar a dimension, the lowest level first.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a verdict, as `Run.verdicts_frame` gives it: dimension (str), score (int, missing
        where unscored), judge_digest (str). Verdicts of several judges get a bar each.

    Returns
    -------
    plotly.graph_objects.Figure
        The title says how many verdicts stand at the lowest level that was given, and where.

    Raises
    ------
    ConfigError
        If a column is missing.
    """
    bars = _bars(frame)
    levels = sorted({level for counts in bars.values() for level in counts if level is not None})
    figure = new_figure(height=110 + 44 * max(1, len(bars)))
    names = [
        f"{plain(_name(key, bars))}<br><i>n = {sum(counts.values()):,}</i>"
        for key, counts in bars.items()
    ]
    for level in [*levels, None]:
        counts = [found[level] for found in bars.values()]
        if not any(counts):
            continue
        word = "unscored" if level is None else str(level)
        figure.add_bar(
            x=counts,
            y=names,
            orientation="h",
            name=word,
            marker={"color": _colour(level, levels), "line": {"width": 1, "color": INK}},
            text=[f"{word}: {count:,}" if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate="%{x} at " + word + "<extra>%{y}</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35, uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title="verdicts", rangemode="tozero")
    return titled(figure, _finding(bars))


def _bars(frame: pd.DataFrame) -> dict[tuple[str, str], Counter[int | None]]:
    wanted = ("dimension", "score", "judge_digest")
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"plot_verdicts: the frame has no column {', '.join(missing)}; "
            f"it wants {', '.join(wanted)}"
        )
    found: dict[tuple[str, str], Counter[int | None]] = {}
    scores: list[Any] = frame["score"].astype(object).tolist()
    for name, score, digest in zip(frame["dimension"], scores, frame["judge_digest"], strict=True):
        level = int(score) if isinstance(score, int | float) and score == score else None
        found.setdefault((str(name), str(digest)), Counter())[level] += 1
    return found


def _name(key: tuple[str, str], bars: dict[tuple[str, str], Counter[int | None]]) -> str:
    name, digest = key
    several = sum(other == name for other, _ in bars) > 1
    return f"{name} ({digest})" if several else name


def _colour(level: int | None, levels: list[int]) -> str:
    if level is None:
        return _UNSCORED
    at = levels.index(level) / max(1, len(levels) - 1)
    low, high, share = (_LOWEST, _MIDDLE, 2 * at) if at <= 0.5 else (_MIDDLE, _HIGHEST, 2 * at - 1)
    mixed = [round(a + share * (b - a)) for a, b in zip(low, high, strict=True)]
    # Half transparent: the words within are read on light and on dark.
    return f"rgba({mixed[0]},{mixed[1]},{mixed[2]},0.5)"


def _finding(bars: dict[tuple[str, str], Counter[int | None]]) -> str:
    if not bars:
        return "Nothing was judged"
    given = [level for counts in bars.values() for level in counts if level is not None]
    if not given:
        return "No verdict has a score"
    lowest = min(given)
    where = {_name(key, bars): counts[lowest] for key, counts in bars.items() if counts[lowest]}
    most = sorted(where.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{count:,} on {name}" for name, count in most[:3])
    more = " and others" if len(most) > 3 else ""
    return f"{counted(sum(where.values()), 'verdict')} at {lowest}: {shown}{more}"
