"""The airline's back end, as far as four recorded trials of each task hold it.

May not know the airline: `recorded_tools` finds what was recorded.
"""

from __future__ import annotations

from recorded_tools import RecordedTools, load_recordings


def airline_tools() -> RecordedTools:
    """The tools of one conversation."""
    return RecordedTools(load_recordings("tau_bench_airline", "gpt-4o.jsonl"))
