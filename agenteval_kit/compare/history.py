"""The runs of a folder as one table: where each layer and each judged dimension stood, with stamps.

May not join what is not comparable, and may not leave a run out without saying so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.runs import Run, RunInfo, break_between, list_runs, read_published
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import Summary, summarise
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.history import Before, JudgedMean

__all__ = ["runs_frame"]

COLUMNS = {
    "run_id": "str", "run": "str", "created": "str", "published": "str", "layer": "str",
    "dimension": "str", "score": "float64", "low": "float64", "high": "float64", "n": "Int64",
    "method": "str", "diag": "str", "series": "Int64", "what": "str", "suite": "str",
    "suite_version": "str", "suite_digest": "str", "kind": "str", "agent_model": "str",
    "model_served": "str", "agent_prompt": "str", "prompt_digest": "str", "source_digest": "str",
    "clock": "str", "repeats": "Int64", "simulator": "str", "judge": "str", "judge_digest": "str",
    "rubric": "str", "dimension_digest": "str", "levels": "object", "package": "str",
    "commit": "str",
}  # fmt: skip


def runs_frame(folder: str | Path, suite: str | None = None) -> pd.DataFrame:
    """Every run of a folder, layer by layer and dimension by dimension, oldest first.

    Layers are what checks found, dimensions what a judge said; they are rows of their own and
    never blended. `plot_trend` draws the frame of one suite as it stands.

    Parameters
    ----------
    folder : path
        A folder of run folders, such as data/runs.
    suite : str, optional
        The name of a suite; all of them without.

    Returns
    -------
    pandas.DataFrame
        One row per run and layer, and one per run and judged dimension, oldest run first.

        run_id, run (what figures call it: the published name, else the id), created,
        published (the name of the release; missing where it was none); layer, dimension (missing
        on rows of checks). score, low, high: the share of transcripts that passed, in [0, 1], or
        the mean on the dimension's scale `levels`; missing where nothing was scored. n
        (transcripts, or scenarios where cases were repeated), method, diag (doubts in words).

        series: of one suite and layer or dimension, values with the same number are comparable;
        what says why the number changed. It is missing for a run that is incomplete, that covers
        a part of its suite, or that cannot be read: such a value is comparable with none, and a run
        that cannot be read is one row without a layer.

        The other columns are stamps: of the suite, the agent (kind: live, recorded, simulated), the
        clock, the judge and its rubric (missing on rows of checks), the package and the commit.

    Raises
    ------
    ConfigError
        If there is no such folder, or no run in it.
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    root = Path(folder)
    runs = list_runs(root, suite=suite)
    if not runs:
        what = "is no folder" if not root.is_dir() else "holds no run"
        if suite is not None and root.is_dir():
            what += f" of suite {suite}"
        raise ConfigError(Problem(f"{what}; `agenteval run` makes runs in data/runs", str(root)))
    released = {(one.run, one.suite): one.name for one in read_published(root)}
    lines: dict[str, _Line] = {}
    rows: list[dict[str, Any]] = []
    for run in runs:
        stamps = _stamps(run, released.get((run.id, run.info.suite)))
        line = lines.setdefault(run.info.suite, _Line())
        rows += ({**stamps, **row} for row in _rows(run, line))
    return pd.DataFrame.from_records(rows, columns=list(COLUMNS)).astype(COLUMNS)


@dataclass
class _Line:
    """How far the lines of one suite were drawn: the last whole run, and its series."""

    last: RunInfo | None = None
    series: int = 0
    judged: dict[str, Before] = field(default_factory=dict)


def _rows(run: Run, line: _Line) -> Iterator[dict[str, Any]]:
    """The rows of a run; the line is moved on to it, where it is whole."""
    try:
        summary = summarise(run)
        judged = _judged(run)
    except ConfigError as error:
        yield {"diag": f"cannot be read: {error}", "what": "cannot be read"}
        return
    apart = _apart(summary)
    what = ""
    if not apart:
        what = break_between(line.last, run.info)
        line.series += bool(what)
        line.last = run.info
    place = {"series": None if apart else line.series, "what": apart or what}
    for layer in summary.layers:
        yield {"layer": layer.layer, **_numbers(layer.estimate, apart), **place}
    for name, mean in judged.items():
        yield _dimension(run, name, mean, apart, line)


def _dimension(run: Run, name: str, mean: JudgedMean, apart: str, line: _Line) -> dict[str, Any]:
    from agenteval_kit.judge.history import Before  # late, see _judged

    stamp, series, what = mean.stamp, None, apart
    if not apart:
        last = line.judged.get(name)
        what = "" if last is None else last.break_to(run, stamp)
        series = 0 if last is None else last.series + bool(what)
        line.judged[name] = Before(run, stamp, series)
    doubts = [
        apart,
        f"{mean.missing:,} not judged yet" if mean.missing else "",
        "judge = agent model" if mean.same_model else "",
        "SCRIPTED judge" if any(one.model.startswith("scripted") for one in stamp.seats) else "",
    ]
    return {
        "layer": stamp.layer, "dimension": name, **_numbers(mean.estimate, *doubts),
        "series": series, "what": what, "judge": stamp.judge, "judge_digest": stamp.judge_digest,
        "rubric": stamp.rubric, "dimension_digest": stamp.dimension_digest, "levels": stamp.levels,
    }  # fmt: skip


def _judged(run: Run) -> dict[str, JudgedMean]:
    if not run.judge_stamps():
        return {}
    from agenteval_kit.judge.history import judged_means  # late: checks alone load no judge

    return judged_means(run)


def _apart(summary: Summary) -> str:
    """Why a run is comparable with no other; empty where it is whole."""
    if summary.missing:
        return f"incomplete: {counted(summary.missing, 'transcript')} missing"
    return f"a part of the suite ({summary.partial})" if summary.partial else ""


def _numbers(one: Estimate, *doubts: str) -> dict[str, Any]:
    told = [text for text in (*doubts, one.diag or one.reason) if text]
    return {
        "score": one.value, "low": one.low, "high": one.high, "n": one.n, "method": one.method,
        "diag": "; ".join(told),
    }  # fmt: skip


def _stamps(run: Run, published: str | None) -> dict[str, Any]:
    info, agent = run.info, run.info.agent
    return {
        "run_id": run.id, "run": published or run.id, "created": info.created,
        "published": published, "suite": info.suite, "suite_version": info.suite_version,
        "suite_digest": info.suite_digest, "kind": info.kind, "agent_model": agent.model,
        "model_served": agent.model_served, "agent_prompt": agent.prompt,
        "prompt_digest": agent.prompt_digest, "source_digest": agent.source_digest,
        "clock": info.clock, "repeats": info.repeats, "simulator": info.simulator,
        "package": info.package, "commit": info.commit,
    }  # fmt: skip
