"""Run folders: stamps, append-only rows, the tape; opened, resumed, and read into frames.

May not score anything. The wall clock is read here, and nowhere above.
"""

from agenteval_kit.runs.find import find_resumable, list_runs, require_same_stamps
from agenteval_kit.runs.folder import Run
from agenteval_kit.runs.info import CasePlan, RunInfo, Selection, new_run_id, now_text, waiting
from agenteval_kit.runs.published import (
    Published,
    choose_baseline,
    find_baseline,
    publish_run,
    read_published,
    release_of,
)
from agenteval_kit.runs.verdicts import choose_judge, wordings_of
from agenteval_kit.runs.versions import break_between, only_in_part, unchanged_cases
from agenteval_kit.runs.writer import RunWriter

__all__ = [
    "CasePlan",
    "Published",
    "Run",
    "RunInfo",
    "RunWriter",
    "Selection",
    "break_between",
    "choose_baseline",
    "choose_judge",
    "find_baseline",
    "find_resumable",
    "list_runs",
    "new_run_id",
    "now_text",
    "only_in_part",
    "publish_run",
    "read_published",
    "release_of",
    "require_same_stamps",
    "unchanged_cases",
    "waiting",
    "wordings_of",
]
