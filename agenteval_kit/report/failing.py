"""What failed, row by row, and one transcript on its own: for notebooks that look at a run.

May not score: the rows were written by the checks.
"""

from __future__ import annotations

from agenteval_kit.report.excerpt import focus_turns
from agenteval_kit.report.markup import Html, Part, anchor
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.report.wording import clip
from agenteval_kit.runs import Run
from agenteval_kit.summary import Summary
from agenteval_kit.text import counted

__all__ = ["show_failing", "show_transcript"]

_LONGEST = 200


def show_failing(summary: Summary, *, layer: str | None = None, most: int = 20) -> Html:
    """One row a failed check: which, what was wanted, what came, where, and why.

    Parameters
    ----------
    summary : Summary
        Of a run.
    layer : str, optional
        Only checks of this layer.
    most : int
        How many rows are shown; the caption says how many there are.
    """
    failed = [
        row
        for case in summary.cases
        for item in case.transcripts
        for row in item.failing
        if layer is None or row.layer == layer
    ]
    rows: list[list[Part]] = [
        [
            row.case_id if summary.repeats == 1 else f"{row.case_id}, repeat {row.repeat}",
            f"{row.layer}: {row.name}",
            clip(row.expected, _LONGEST),
            clip(row.received, _LONGEST),
            "" if row.turn is None else str(row.turn),
            clip(row.why, _LONGEST),
        ]
        for row in failed[:most]
    ]
    columns: list[Column | str] = [
        "case", "check", "expected", "received", Column("turn", "number"), Column("why", "note"),
    ]  # fmt: skip
    where = "" if layer is None else f" of layer {layer}"
    more = f"; the first {most} stand here" if len(failed) > most else ""
    caption = f"{counted(len(failed), 'failed check')}{where} in "
    caption += f"{counted(summary.transcripts, 'transcript')}{more}."
    return table(columns, rows, caption=caption, empty="no check failed")


def show_transcript(run: Run, case_id: str, *, repeat: int = 0) -> Html:
    """One transcript of a run, opened at the turn of its first failed check.

    Raises
    ------
    ConfigError
        If the run has none of that case and repeat.
    """
    item = run.transcript(case_id, repeat=repeat)
    rows = [row for row in run.check_rows() if row.case_id == case_id and row.repeat == repeat]
    turns = focus_turns(rows)
    return transcript_html(
        item,
        rows=rows,
        place=anchor("one", case_id, repeat),
        open_at=turns[0] if turns else None,
    )
