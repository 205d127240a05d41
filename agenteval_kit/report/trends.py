"""One suite over its runs: where each layer stood, and where the line must break.

May not join what is not comparable: another suite, or another model behind the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.report.judged_trends import judged_points
from agenteval_kit.report.markup import Html, Part, absent, folded, join, tag
from agenteval_kit.report.release import Release, Trend
from agenteval_kit.report.tables import Column, table
from agenteval_kit.runs import Run, RunInfo, break_between, list_runs, release_of
from agenteval_kit.summary import ALL_CHECKS, Summary, asked_alike, summarise

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.history import Before

__all__ = ["read_trends", "show_trends", "trends_frame"]

_SHOWN = 12


def read_trends(
    folder: Path, run: Run, *, known: Mapping[str, Summary] | None = None
) -> tuple[tuple[Trend, ...], tuple[str, ...]]:
    """The runs of the same suite under a folder, oldest first, this run the last.

    Parameters
    ----------
    folder : pathlib.Path
        A folder of run folders.
    run : Run
        The run of the report; runs made after it are left out.
    known : mapping, optional
        Summaries that were made already, by run id.

    Returns
    -------
    tuple
        The points, and a sentence for each run that is left out.

    Raises
    ------
    ConfigError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is not a folder of runs; name one with --history")
    found = {item.id: item for item in list_runs(folder, suite=run.info.suite)}
    found[run.id] = run
    ordered = sorted(found.values(), key=lambda item: (item.info.created, item.id))
    now = (known or {}).get(run.id) or summarise(run)
    points: list[Trend] = []
    left_out: list[str] = []
    previous: RunInfo | None = None
    series = 0
    judged: dict[str, Before] = {}
    for item in ordered[: ordered.index(run) + 1]:
        try:
            summary = now if item is run else (known or {}).get(item.id) or summarise(item)
        except ConfigError as error:
            left_out.append(f"{item.id}: {error}")
            continue
        if item is not run and (summary.missing or summary.partial):
            why = "covers a part of the suite" if summary.partial else "is incomplete"
            left_out.append(f"{item.id}: {why}")
            continue
        broke = break_between(previous, item.info)
        series += bool(broke)
        released = release_of(item)
        points.append(
            Trend(
                run_id=item.id,
                label=item.id if released is None else released.name,
                published=released is not None,
                prompt=item.info.agent.prompt,
                created=item.info.created,
                series=series,
                broke=broke,
                layers={layer.layer: layer.estimate for layer in summary.layers},
                dimensions=judged_points(item, judged),
                failed={
                    name: case.counts[ALL_CHECKS].failed > 0
                    for name, case in asked_alike(summary, now).items()
                    if case.n
                },
            )
        )
        previous = item.info
    return tuple(points), tuple(left_out)


def trends_frame(trends: Sequence[Trend]) -> pd.DataFrame:
    """One row per run and layer, oldest first, as `plots.plot_trend` takes it.

    Columns: layer, run (the published name, else the id), run_id, created (str); score, low, high
    (in [0, 1]; missing where nothing was scored); n; series (int: values of two series are not
    comparable); what (str: why the series changed here).
    """
    import pandas as pd  # heavy, and only a page with a history comes here

    rows = [
        (name, item.label, item.run_id, item.created, one.value, one.low, one.high, one.n,
         item.series, item.broke)
        for item in trends
        for name, one in item.layers.items()
    ]  # fmt: skip
    columns = ["layer", "run", "run_id", "created", "score", "low", "high", "n", "series", "what"]
    return pd.DataFrame(rows, columns=columns)


def show_trends(release: Release) -> Html:
    """Where the line breaks; the figure draws the runs, and their numbers are folded away."""
    if not release.trends:
        said = "No history was given, so nothing is said about earlier runs."
        return absent("trends", "Trends", said)
    layers = list(dict.fromkeys(name for item in release.trends for name in item.layers))
    rows: list[list[Part]] = []
    for item in reversed(release.trends[-_SHOWN:]):
        marks = [item.layers.get(name) for name in layers]
        rows.append(
            [
                item.named,
                item.created[:10],
                *("–" if mark is None else mark.text(percent=True) for mark in marks),
                item.broke,
            ]
        )
    columns: list[Column | str] = [
        "run", Column("made", "number"), *(Column(name, "number") for name in layers),
        Column("break", "note"),
    ]  # fmt: skip
    shown = min(_SHOWN, len(release.trends))
    caption = f"The last {shown} of {len(release.trends)} runs of this suite, latest first."
    out = "; ".join(release.left_out[:_SHOWN])
    return join(
        [
            tag("h2", {"id": "trends"}, _finding(release.trends)),
            tag(
                "p",
                {"class": "lead"},
                "Share passed with its 95 % interval. Values before a break are not comparable.",
            ),
            folded("These runs in numbers", table(columns, rows, caption=caption)),
            tag("p", {"class": "note"}, f"Left out: {out}.") if out else None,
        ]
    )


def _finding(trends: Sequence[Trend]) -> str:
    breaks = sum(bool(item.broke) for item in trends)
    runs = "one run" if len(trends) == 1 else f"{len(trends)} runs"
    if not breaks:
        return f"{runs[0].upper()}{runs[1:]} of this suite, all comparable"
    times = "once" if breaks == 1 else f"{breaks} times"
    return f"{runs[0].upper()}{runs[1:]} of this suite; the line breaks {times}"
