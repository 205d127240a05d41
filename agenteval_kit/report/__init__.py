"""The release page: sections of escaped HTML, each made by one function from one gathered value.

May not decide or compute a statistic: `gate`, `compare` and `stats` do.
"""

from agenteval_kit.report.calibrating import (
    show_beside,
    show_ceiling,
    show_confusion,
    show_corrected,
    show_next,
    show_trust,
)
from agenteval_kit.report.changes import show_changes, show_cost
from agenteval_kit.report.coverage import show_coverage
from agenteval_kit.report.dimensions import dimension_bars, show_dimensions
from agenteval_kit.report.disagreements import (
    show_anchors,
    show_cells,
    show_disagreements,
    show_overruled,
    show_recalibration,
    show_shared_notes,
)
from agenteval_kit.report.ends import show_ends
from agenteval_kit.report.failing import show_failing, show_transcript
from agenteval_kit.report.gather import gather_release
from agenteval_kit.report.hard import show_hard_fails
from agenteval_kit.report.judged import Judged, read_judged
from agenteval_kit.report.judged_trends import judged_trends_frame, show_judged_trends, trend_scales
from agenteval_kit.report.judging import show_doubtful, show_judged, show_rubric, show_seats
from agenteval_kit.report.labelling import show_labelled, show_sample
from agenteval_kit.report.layers import show_layers, show_repeats
from agenteval_kit.report.markup import Html, note
from agenteval_kit.report.method import show_method
from agenteval_kit.report.noise import judged_noise, trend_noise
from agenteval_kit.report.page import show_clauses, show_stamps, show_verdict, style
from agenteval_kit.report.preferred import show_preferences
from agenteval_kit.report.reading import show_reading_list
from agenteval_kit.report.records import show_records
from agenteval_kit.report.release import Release, Trend
from agenteval_kit.report.side_by_side import show_cell
from agenteval_kit.report.signs import show_length, show_pairs, show_signs
from agenteval_kit.report.tables import frame_table
from agenteval_kit.report.terminal import transcript_text
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.report.trends import read_trends, show_trends, trends_frame

__all__ = [
    "Html",
    "Judged",
    "Release",
    "Trend",
    "dimension_bars",
    "frame_table",
    "gather_release",
    "judged_noise",
    "judged_trends_frame",
    "note",
    "read_judged",
    "read_trends",
    "show_anchors",
    "show_beside",
    "show_ceiling",
    "show_cell",
    "show_cells",
    "show_changes",
    "show_clauses",
    "show_confusion",
    "show_corrected",
    "show_cost",
    "show_coverage",
    "show_dimensions",
    "show_disagreements",
    "show_doubtful",
    "show_ends",
    "show_failing",
    "show_hard_fails",
    "show_judged",
    "show_judged_trends",
    "show_labelled",
    "show_layers",
    "show_length",
    "show_method",
    "show_next",
    "show_overruled",
    "show_pairs",
    "show_preferences",
    "show_reading_list",
    "show_recalibration",
    "show_records",
    "show_repeats",
    "show_rubric",
    "show_sample",
    "show_seats",
    "show_shared_notes",
    "show_signs",
    "show_stamps",
    "show_transcript",
    "show_trends",
    "show_trust",
    "show_verdict",
    "style",
    "transcript_html",
    "transcript_text",
    "trend_noise",
    "trend_scales",
    "trends_frame",
]
