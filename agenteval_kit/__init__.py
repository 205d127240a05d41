"""Evaluate agents with two instruments that are never blended: checks and judges.

May do no work at import: each name below is loaded from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Sorted by journey: write it down, run it, read it, decide. The value is the module it lives in.
_PUBLIC = {
    # write it down
    "new_suite": "scaffold",
    "Case": "records",
    "Scenario": "records",
    "Checks": "records",
    "Bar": "records",
    # bring an agent, or what one has said
    "Tool": "agents",
    "load_agent": "agents",
    "import_files": "importers",
    "Transcript": "records",
    # run it
    "load_suite": "suite",
    "run_suite": "suite",
    "check_run": "suite",
    "converse": "simulate",
    "Run": "runs",
    # judge it
    "load_rubric": "rubrics",
    "load_judges": "judge",
    "judge_run": "judge",
    # hear people
    "sample_run": "label",
    "Session": "label",
    "Labeler": "label.labeler",
    "read_labels": "labels",
    "import_labels": "labels",
    "add_labels": "labels",
    # calibrate the judges
    "calibrate_run": "calibrate",
    "read_calibration": "calibrate",
    "write_calibration": "calibrate",
    "corrected_run": "calibrate",
    "label_next": "calibrate",
    "disagreements": "calibrate.disagreements",
    # read it
    "summarise": "summary",
    "compare_checks": "compare",
    "runs_frame": "compare",
    "plot_layers": "plots",
    "plot_differences": "plots",
    "plot_repeats": "plots",
    "plot_trend": "plots",
    "plot_verdicts": "plots",
    "plot_lengths": "plots",
    # decide
    "load_bar": "gate",
    "read_known": "gate",
    "decide": "gate",
    "render_release": "render",
    # the way back
    "promote_case": "suite.promote",
    "find_baseline": "runs",
    # what can go wrong
    "doctor": "scaffold",
    "AgentEvalError": "errors",
    "ConfigError": "errors",
    "StampError": "errors",
    "InfrastructureError": "errors",
    "QuotaExhausted": "errors",
    "BudgetReached": "errors",
    "UserInterrupt": "errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
