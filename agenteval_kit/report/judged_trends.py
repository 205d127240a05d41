"""The judged dimensions over the runs of a suite: each line breaks where its judge changed.

May not join values of two judges, two rubrics or two suites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.records.trust import trust_in
from agenteval_kit.report.dimensions import scripted_note
from agenteval_kit.report.markup import Html, Part, folded, join, tag
from agenteval_kit.report.release import JudgedPoint, Release, Trend
from agenteval_kit.report.tables import Column, table
from agenteval_kit.runs import Run

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.history import Before

__all__ = ["judged_points", "judged_trends_frame", "show_judged_trends", "trend_scales"]

_SHOWN = 12


def judged_points(run: Run, before: dict[str, Before]) -> dict[str, JudgedPoint]:
    """The dimensions of a run as points of their trends; `before` is moved on to this run."""
    if not run.judge_stamps():
        return {}
    from agenteval_kit.judge.history import Before, judged_means  # late: loads numpy

    found = {}
    for name, one in judged_means(run).items():
        last = before.get(name)
        broke = "" if last is None else last.break_to(run, one.stamp)
        series = 0 if last is None else last.series + bool(broke)
        found[name] = JudgedPoint(
            one.estimate, one.stamp.levels, one.stamp.judge, series, broke, one.stamp.judge_digest
        )
        before[name] = Before(run, one.stamp, series)
    return found


def judged_trends_frame(trends: Sequence[Trend]) -> pd.DataFrame:
    """One row per run and judged dimension, oldest first, as `plots.plot_trend` takes it.

    Columns: layer (the dimension's name), run (the published name, else the id), run_id, created
    (str); score, low, high (in scale units; missing where nothing was scored); n; series (int:
    values of two series are not comparable); what (str: why the series changed here).
    """
    import pandas as pd  # heavy, and only a page with a history comes here

    rows = [
        (name, item.label, item.run_id, item.created, one.estimate.value, one.estimate.low,
         one.estimate.high, one.estimate.n, one.series, one.broke)
        for item in trends
        for name, one in item.dimensions.items()
    ]  # fmt: skip
    columns = ["layer", "run", "run_id", "created", "score", "low", "high", "n", "series", "what"]
    return pd.DataFrame(rows, columns=columns)


def trend_scales(trends: Sequence[Trend]) -> Mapping[str, tuple[int, ...]]:
    """The levels of each judged dimension, over all runs that were judged on it."""
    found: dict[str, set[int]] = {}
    for item in trends:
        for name, one in item.dimensions.items():
            found.setdefault(name, set()).update(one.levels)
    return {name: tuple(sorted(levels)) for name, levels in found.items()}


def show_judged_trends(release: Release) -> Html:
    """Where the judged lines break, the numbers folded away; nothing where none was judged."""
    judged = [item for item in release.trends if item.dimensions]
    if not judged:
        return Html("")
    names = list(dict.fromkeys(name for item in judged for name in item.dimensions))
    rows: list[list[Part]] = []
    for item in reversed(judged[-_SHOWN:]):
        marks = [item.dimensions.get(name) for name in names]
        broke = [
            f"{name.replace('_', ' ')}: {mark.broke}"
            for name, mark in zip(names, marks, strict=True)
            if mark is not None and mark.broke
        ]
        rows.append(
            [
                item.named,
                item.created[:10],
                *(
                    "–" if mark is None else _value(name, mark, release)
                    for name, mark in zip(names, marks, strict=True)
                ),
                "; ".join(_once(broke)),
            ]
        )
    columns: list[Column | str] = [
        "run",
        Column("made", "number"),
        *(Column(name.replace("_", " "), "number") for name in names),
        Column("break", "note"),
    ]
    shown = min(_SHOWN, len(judged))
    judges = dict.fromkeys(one.judge for item in judged for one in item.dimensions.values())
    caption = f"The last {shown} of {len(judged)} judged runs, latest first."
    return join(
        [
            tag("h2", {"id": "judged-trends"}, _finding(judged)),
            scripted_note(release),
            tag(
                "p",
                {"class": "lead"},
                "Mean with its 95 % interval. A line breaks wherever its judge, its rubric or the "
                "suite changed: values before a break are not comparable. "
                f"Judges: {', '.join(judges)}.",
            ),
            folded("These runs in numbers", table(columns, rows, caption=caption)),
        ]
    )


def _value(name: str, mark: JudgedPoint, release: Release) -> Html:
    """A mean, and under it whether the judge that gave it is trusted."""
    if mark.estimate.value is None:
        return join([mark.estimate.text()])  # nobody's word, so nobody to trust
    known = trust_in(name, mark.judge_digest, release.judgements.trust)
    told = [part for part in (known.rubric_state, known.state) if part]
    return join([mark.estimate.text(), tag("div", {"class": "note"}, "; ".join(told))])


def _once(broke: Sequence[str]) -> list[str]:
    """Breaks that all dimensions share are said once."""
    whys = {text.partition(": ")[2] for text in broke}
    if len(broke) > 1 and len(whys) == 1:
        return [f"{len(broke)} dimensions: {next(iter(whys))}"]
    return list(broke)


def _finding(judged: Sequence[Trend]) -> str:
    runs = "one judged run" if len(judged) == 1 else f"{len(judged)} judged runs"
    breaks = sum(any(one.broke for one in item.dimensions.values()) for item in judged)
    if not breaks:
        return f"{runs[0].upper()}{runs[1:]}, all under the same judges"
    times = "once" if breaks == 1 else f"{breaks} times"
    return f"{runs[0].upper()}{runs[1:]}; the judge, the rubric or the suite changed {times}"
