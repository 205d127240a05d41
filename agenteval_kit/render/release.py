"""The release report: the release notebook executed, rendered, and its verdict read back.

May not decide: the verdict is what the notebook wrote, which is what the gate said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agenteval_kit.errors import Problems
from agenteval_kit.places import own_name
from agenteval_kit.release import read_verdict
from agenteval_kit.render.notebook import execute_notebook
from agenteval_kit.runs import Run

__all__ = ["ReleaseReport", "render_release", "require_ours"]

NOTEBOOK = "7_release"
_SAYS = {
    "SHIP": "may ship",
    "HOLD": "may not ship",
    "REVIEW": "may not ship yet",
    "NO BAR": "was not held to a bar",
}
_COPY = re.compile(r"release\.save_verdict\(page")
_VERDICT = re.compile(r'\A\{\s*"verdict":')
"""What every executed copy of the notebook holds, and how a verdict of ours begins."""


class BarFile(Protocol):
    """What is read of a bar: the file it stands in (see `agenteval_kit.gate.LoadedBar`)."""

    @property
    def file(self) -> str:
        """As the person named it."""


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """Where the report is, and what it says.

    Attributes
    ----------
    html : pathlib.Path
        The page.
    notebook : pathlib.Path
        The executed copy of the notebook.
    verdict : str
        SHIP, HOLD or REVIEW; "NO BAR" where none was given.
    verdict_file : pathlib.Path
        The decision as JSON.
    files : pathlib.Path or None
        Folder of whole transcripts, where the page holds excerpts only.
    """

    html: Path
    notebook: Path
    verdict: str
    verdict_file: Path
    files: Path | None = None


def render_release(
    run: Run | str | Path,
    *,
    baseline: Run | str | Path | None = None,
    bar: BarFile | str | Path | None = None,
    history: str | Path | None = None,
    baseline_bar: BarFile | str | Path | None = None,
    calibration: str | Path | None = None,
    labels: str | Path | None = None,
    out: str | Path | None = None,
) -> ReleaseReport:
    """Make the release report of a run: one HTML file that works offline.

    Parameters
    ----------
    run, baseline : Run or path
        What is released, and what it is compared with.
    bar, baseline_bar : loaded bar or path, optional
        What decides; and what the baseline was held to.
    history : path, optional
        A folder of run folders, for the trends.
    calibration, labels : path, optional
        Who is trusted, and what people said; those of the run's suite by default.
    out : path, optional
        The page; ``reports/<run id>.html`` by default. The executed notebook, the verdict as JSON
        and, for a large run, a folder of whole transcripts lie beside it.

    Raises
    ------
    ConfigError
        If a run or a bar cannot be read, or if beside the page lies what no report wrote.
    AgentEvalError
        If the notebook failed.
    """
    folder = _folder(run)
    page = Path(out) if out is not None else Path("reports") / f"{folder.name}.html"
    require_ours(page)
    verdict_file = _verdict_file(page)
    files = page.with_name(f"{page.stem}_transcripts")
    # What an earlier report left must not be taken for this one's.
    verdict_file.unlink(missing_ok=True)
    for old in files.glob("[tb]-*.html") if files.is_dir() else ():
        old.unlink()
    execute_notebook(
        NOTEBOOK,
        parameters={
            "run": folder,
            "baseline": None if baseline is None else _folder(baseline),
            "bar": _file(bar),
            "history": history,
            "baseline_bar": _file(baseline_bar),
            "calibration": calibration,
            "labels": labels,
            "files": files,
            "verdict_file": verdict_file,
        },
        out_html=page,
        title=lambda: f"{_verdict(verdict_file)}: {folder.name}, release report",
        heading=lambda: _finding(folder, _verdict(verdict_file)),
        code="last",
    )
    return ReleaseReport(
        html=page,
        notebook=page.with_suffix(".ipynb"),
        verdict=_verdict(verdict_file),
        verdict_file=verdict_file,
        files=files if any(files.glob("*.html")) else None,
    )


def require_ours(page: Path) -> None:
    """Refuse a page beside which a notebook or a verdict lies that no report of ours wrote.

    Raises
    ------
    ConfigError
        If one does: it would be replaced, though nobody named it.
    """
    problems = Problems()
    for file, mark in ((page.with_suffix(".ipynb"), _COPY), (_verdict_file(page), _VERDICT)):
        if not file.exists():
            continue
        text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
        # An empty file holds nothing that could be lost.
        if file.is_dir() or (text and not mark.search(text)):
            problems.add(
                "is there and is not of an earlier report, so it is not replaced; name another "
                f"page than {page.name}",
                file=file,
            )
    problems.raise_any()


def _verdict(file: Path) -> str:
    return read_verdict(file) or "NO BAR"


def _finding(run: Path, verdict: str) -> str:
    """The verdict as a sentence: which version, by which suite."""
    info = Run.open(run).info
    who, suite = f"{info.agent.model} {info.agent.prompt}", f"{info.suite} {info.suite_version}"
    return f"{verdict}: {who} {_SAYS[verdict]} (suite {suite})"


def _verdict_file(page: Path) -> Path:
    return page.with_suffix(".verdict.json")


def _folder(run: Run | str | Path) -> Path:
    return run.path if isinstance(run, Run) else own_name(Path(run))


def _file(bar: BarFile | str | Path | None) -> str | None:
    if bar is None:
        return None
    return str(bar) if isinstance(bar, str | Path) else bar.file
