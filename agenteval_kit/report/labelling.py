"""What is to be labelled and what was said so far: for the notebook in which people label.

May not show a level that anybody gave: whoever reads it may still have to label.
"""

from __future__ import annotations

from agenteval_kit.labels import LabelSet
from agenteval_kit.records.labels import Sample
from agenteval_kit.report.markup import Html, Part, note
from agenteval_kit.report.tables import Column, table
from agenteval_kit.text import counted

__all__ = ["show_labelled", "show_sample"]


def show_sample(sample: Sample) -> Html:
    """Which transcripts are read and how they were drawn; how many a judge failed is not told."""
    chosen = f"in strata by {sample.by}" if sample.by else "each with the same chance"
    left = "".join(f"; {count:,} left out ({why})" for why, count in sample.left_out.items())
    return note(
        f'Sample "{sample.name}" of run {sample.run}, for {sample.purpose}: '
        f"{counted(len(sample.items), 'transcript')}, drawn {chosen}, seed {sample.seed}{left}. "
        "What was drawn more often counts less: the chance of each stands with its labels. "
        "Each rater reads in another order."
    )


def show_labelled(labels: LabelSet, sample: Sample) -> Html:
    """Of each rater in this sample: transcripts touched, labels, what could not be told, words."""
    rows: list[list[Part]] = []
    for rater in labels.raters:
        said = [
            row
            for row in labels.current
            # Not by the run: its folder may have been renamed, and a sample's name stands once.
            if (row.rater, row.sample) == (rater, sample.name)
        ]
        given = [row for row in said if row.kind == "label"]
        counts = (
            len({(row.case_id, row.repeat) for row in given}),
            len(given),
            sum(row.score is None for row in given),
            sum(bool(row.note) for row in said),
            sum(row.kind == "failure" for row in said),
        )
        last = max((row.at for row in said), default="")
        rows.append([rater, *map(str, counts), last or None])
    columns: list[Column | str] = [
        "rater",
        *(
            Column(name, "number")
            for name in ("transcripts", "labels", "cannot tell", "notes", "failures")
        ),
        "last",
    ]
    caption = (
        f"What was said of {counted(len(sample.items), 'transcript')} in sample "
        f'"{sample.name}". Levels are not shown: they would no longer be blind.'
    )
    return table(columns, rows, caption=caption, empty="nobody has said anything yet", compact=True)
