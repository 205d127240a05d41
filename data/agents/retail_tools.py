"""The shop's back end, as far as two recorded agents on the same tasks hold it.

May not know the shop: `recorded_tools` finds what was recorded.
"""

from __future__ import annotations

from recorded_tools import RecordedTools, load_recordings


def retail_tools() -> RecordedTools:
    """The tools of one conversation."""
    return RecordedTools(
        load_recordings(
            "tau_bench_retail", "tool_calling.jsonl", "tool_calling_with_preconditions.jsonl"
        )
    )
