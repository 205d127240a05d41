"""Label files: one a rater, appended and never rewritten; read, merged and brought in.

May not weigh a label or compare it with anything.
"""

from agenteval_kit.labels.content import transcript_digest
from agenteval_kit.labels.folder import (
    LabelWriter,
    list_samples,
    rater_file,
    rater_name,
    read_sample,
    write_sample,
)
from agenteval_kit.labels.heard import (
    Heard,
    SaidOfRun,
    hear_people,
    names_of_run,
    one_each,
    said_of_run,
)
from agenteval_kit.labels.importing import (
    LABEL_FORMATS,
    Added,
    add_labels,
    import_labels,
    labels_from_frame,
)
from agenteval_kit.labels.merging import Merged, merge_labels, merge_rows
from agenteval_kit.labels.reading import LabelSet, current_rows, labels_frame, read_labels
from agenteval_kit.labels.tables import write_labels_table
from agenteval_kit.labels.withdrawing import withdraw_labels

__all__ = [
    "LABEL_FORMATS",
    "Added",
    "Heard",
    "LabelSet",
    "LabelWriter",
    "Merged",
    "SaidOfRun",
    "add_labels",
    "current_rows",
    "hear_people",
    "import_labels",
    "labels_frame",
    "labels_from_frame",
    "list_samples",
    "merge_labels",
    "merge_rows",
    "names_of_run",
    "one_each",
    "rater_file",
    "rater_name",
    "read_labels",
    "read_sample",
    "said_of_run",
    "transcript_digest",
    "withdraw_labels",
    "write_labels_table",
    "write_sample",
]
