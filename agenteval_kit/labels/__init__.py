"""Label files: one a rater, appended and never rewritten; read, merged and brought in.

May not weigh a label or compare it with anything.
"""

from agenteval_kit.labels.content import transcript_digest
from agenteval_kit.labels.folder import (
    LabelWriter,
    list_samples,
    rater_file,
    read_sample,
    write_sample,
)
from agenteval_kit.labels.reading import LabelSet, current_rows, labels_frame, read_labels

__all__ = [
    "LabelSet",
    "LabelWriter",
    "current_rows",
    "labels_frame",
    "list_samples",
    "rater_file",
    "read_labels",
    "read_sample",
    "transcript_digest",
    "write_sample",
]
