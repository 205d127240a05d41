"""People read transcripts: what is drawn to be read, one rater's session, and what they found.

May not show a rater anything of a judge or of another rater, and may not compute agreement. The
screen is `agenteval_kit.label.labeler`, which this package does not load.
"""

from agenteval_kit.label.failures import (
    FailureMode,
    FailureModes,
    collect_failures,
    rubric_skeleton,
)
from agenteval_kit.label.reviews import review_verdict
from agenteval_kit.label.sample import SIZES, keep_sample, sample_run
from agenteval_kit.label.session import Session

__all__ = [
    "SIZES",
    "FailureMode",
    "FailureModes",
    "Session",
    "collect_failures",
    "keep_sample",
    "review_verdict",
    "rubric_skeleton",
    "sample_run",
]
