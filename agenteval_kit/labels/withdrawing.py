"""Takes a person's data out of a folder of labels: the one exception to "never rewritten".

May not touch runs, nor copies of the labels that lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import Appender, write_atomic
from agenteval_kit.labels.folder import LabelWriter
from agenteval_kit.labels.reading import read_labels
from agenteval_kit.labels.units import units_of
from agenteval_kit.records.labels import LabelRow

__all__ = ["withdraw_labels"]

NOTE = Path("withdrawn", "labels.jsonl")


def withdraw_labels(
    folder: str | Path,
    runs: Collection[str],
    *,
    case_id: str,
    texts: Collection[str] = (),
    by: str,
    reason: str,
    at: str,
) -> dict[str, int]:
    """Remove every line about a case of a run from every rater's file, and note that it was done.

    Samples keep the case's id, without a word of what was said; so does the note.

    Parameters
    ----------
    runs : collection of str
        The names of the run, see `names_of_run`.
    texts : collection of str
        Digests of its transcripts of the case: whoever read one of them read it, under whatever
        name of a run.

    Returns
    -------
    dict of str to int
        Lines removed, by rater.

    Raises
    ------
    ConfigError
        If there is no such folder, a file cannot be read, or somebody is labelling in it.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ConfigError(Problem("there is no such folder of labels", str(place)))
    removed: dict[str, int] = {}

    def about(row: LabelRow) -> bool:
        return row.case_id == case_id and (row.run in runs or row.transcript_digest in texts)

    for path in sorted(place.glob("*.jsonl")):
        writer = LabelWriter(place, path.stem)
        try:
            rows = read_labels(path).rows
            kept = [
                row
                for unit in units_of(rows)
                # An undo may name the case too, where another program wrote it.
                if not any(map(about, unit.rows))
                for row in unit.rows
            ]
            if any(map(about, rows)):
                # Each undo moves behind its line: what counts stays the same.
                lines = (f"{row.model_dump_json(exclude_defaults=True)}\n" for row in kept)
                write_atomic(path, "".join(lines))
                removed[path.stem] = len(rows) - len(kept)
        finally:
            writer.close()
    note = Appender(place / NOTE, sync=True)
    what = {"runs": sorted(set(runs)), "case_id": case_id, "rows": removed}
    note.append([{**what, "by": by, "reason": reason, "at": at}])
    note.close()
    return removed
