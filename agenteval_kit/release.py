"""Opens what a release page is about: the run, its baseline, the bar, the history.

May not show anything: `report` makes the sections and `plots` the figures, from what this gives.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval_kit import plots, report
from agenteval_kit.compare import compare_checks
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import write_atomic
from agenteval_kit.gate import decide, load_bar, read_known
from agenteval_kit.places import find_place
from agenteval_kit.report import Html, Release, Trend
from agenteval_kit.runs import Run, find_baseline
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import ALL_CHECKS, summarise

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from agenteval_kit.judge.pairing import JudgedPair

__all__ = [
    "draw_changes",
    "draw_judged_trends",
    "draw_repeats",
    "draw_trends",
    "read_release",
    "read_verdict",
    "save_verdict",
]


def read_release(
    run: str | Path | None = None,
    *,
    baseline: str | Path | None = None,
    bar: str | Path | None = None,
    history: str | Path | None = None,
    baseline_bar: str | Path | None = None,
    calibration: str | Path | None = None,
    labels: str | Path | None = None,
    files: str | Path | None = None,
) -> Release:
    """Read a run, compare it with its baseline and hold it against the bar.

    Parameters
    ----------
    run, baseline : path, optional
        Run folders; the baseline also by name (see `runs.find_baseline`). Without a run: the
        shipped A/B of two recorded retail agents under its bar.
    bar : path, optional
        The bar that decides; without one nothing is decided.
    history : path, optional
        A folder of run folders, for the trends.
    baseline_bar : path, optional
        The bar that the baseline was held to, to show every threshold old and new.
    calibration, labels : path, optional
        Who is trusted among the judges, and what people said; by default what the run's suite
        names (see `gate.read_known`).
    files : path, optional
        Where whole transcripts go if the page has room for excerpts only.

    Raises
    ------
    ConfigError
        If one of them cannot be read.
    """
    if run is None:
        run, baseline, bar = _shipped_pair()
    new = Run.open(find_place(run))
    old = find_baseline(baseline, new) if baseline is not None else None
    summary = summarise(new)
    before = summarise(old) if old is not None else None
    scores = _judged(new, old)
    known = read_known(
        new,
        calibration=find_place(calibration) if calibration is not None else None,
        labels=find_place(labels) if labels is not None else None,
    )
    loaded = load_bar(find_place(bar)) if bar is not None else None
    trust = known.trust(new, loaded.bar.trust if loaded is not None else None)
    if known.calibration is not None:
        # The judges of earlier runs, for the trends; what stands last is about this run.
        trust = [*known.calibration.trust(), *trust]
    decision = None
    if loaded is not None:
        decision = decide(
            new, loaded, baseline=old, summary=summary, trust=trust, labels=known.labels,
            judged=scores,
        )  # fmt: skip
    comparison = None
    if old is not None:
        comparison = compare_checks(
            old, new, old_summary=before, new_summary=summary, judged=scores, trust=trust
        )
    trends: tuple[Trend, ...] = ()
    left_out: tuple[str, ...] = ()
    if history is not None:
        summed = {new.id: summary}
        if old is not None and before is not None:
            summed[old.id] = before
        trends, left_out = report.read_trends(find_place(history), new, known=summed)
    return report.gather_release(
        new,
        summary,
        decision=decision,
        baseline=old,
        before=before,
        comparison=comparison,
        trends=trends,
        left_out=left_out,
        old_bar=load_bar(find_place(baseline_bar)).bar if baseline_bar is not None else None,
        files=Path(files) if files is not None else None,
        labels=known.labels,
        judged=report.read_judged(
            new,
            old,
            pairs=comparison.dimensions if comparison is not None else (),
            scores=scores,
            trust=trust,
            calibration=known.calibration,
            labels=known.labels,
        ),
    )


def _judged(new: Run, old: Run | None) -> JudgedPair | None:
    """What judges said of both runs, read once for all who ask; None where nobody judged."""
    if not new.judge_stamps():
        return None
    from agenteval_kit.judge.pairing import read_pair  # late: loads numpy

    return read_pair(new, old)


def _shipped_pair() -> tuple[Path, Path, Path]:
    """The two recorded retail agents as runs, made on the first call, and their bar."""
    folder = find_place("data/runs", must_exist=False)
    suite = find_place("data/suites/retail.yaml")
    made = []
    for name in ("retail_with_preconditions", "retail_tool_calling"):
        loaded = load_suite(suite, agent=find_place(f"data/agents/{name}.yaml"))
        # The digest in the name: an edited suite makes new runs, it does not meet old ones.
        place = folder / f"shipped-{name}-{loaded.digest}"
        made.append(run_suite(loaded, root=folder, out=place).run.path)
    return made[0], made[1], find_place("data/bars/retail.yaml")


def save_verdict(release: Release, path: str | Path | None) -> Html:
    """Write the decision as JSON, for whoever started the notebook; and say so.

    A release without a bar has no verdict: the file then says ``"verdict": null``.
    """
    if path is None:
        return report.note("The verdict was not written to a file.")
    made = {"verdict": None} if release.decision is None else release.decision.as_dict()
    write_atomic(Path(path), json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return report.note(f"The verdict stands for machines in {Path(path).name}.")


def read_verdict(path: Path) -> str | None:
    """The verdict that a notebook wrote: SHIP, HOLD, REVIEW, or None where no bar was given.

    Raises
    ------
    ConfigError
        If there is no such file, or it holds no verdict.
    """
    try:
        verdict = json.loads(path.read_text(encoding="utf-8"))["verdict"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(f"{path.name}: the notebook wrote no verdict") from None
    if verdict not in ("SHIP", "HOLD", "REVIEW", None):
        raise ConfigError(f'{path.name}: "{verdict}" is not a verdict')
    return None if verdict is None else str(verdict)


def draw_changes(release: Release) -> go.Figure | Html:
    """The change of each layer against the baseline; nothing where there is none to draw."""
    if release.comparison is None or not release.pairs:
        return Html("")
    frame = release.comparison.frame()
    frame = frame[frame["layer"] != ALL_CHECKS]
    if frame.empty:
        return Html("")
    return plots.plot_differences(frame, margin=release.margins())


def draw_repeats(release: Release) -> go.Figure | Html:
    """pass^k over k for the layer that the bar names first; nothing where no check was repeated."""
    if release.summary.repeats < 2 or not release.summary.layers:
        return Html("")
    # The layer that the bar holds to a rate says more than all checks together.
    layer = next(iter(release.bars()), ALL_CHECKS)
    return plots.plot_repeats(release.summary.repeats_frame(), layer=layer)


def draw_trends(release: Release) -> go.Figure | Html:
    """Each layer over the runs of the history; nothing where none was given or nothing checked."""
    frame = report.trends_frame(release.trends)
    if frame.empty:
        return Html("")
    return plots.plot_trend(frame, bars=release.bars(), noise=report.trend_noise(release))


def draw_judged_trends(release: Release) -> go.Figure | Html:
    """Judged dimensions over the runs of this suite; nothing where fewer than two were judged."""
    frame = report.judged_trends_frame(release.trends)
    if frame["run_id"].nunique() < 2:
        return Html("")
    return plots.plot_trend(
        frame,
        bars=report.dimension_bars(release),
        scales=report.trend_scales(release.trends),
        noise=report.judged_noise(release),
    )
