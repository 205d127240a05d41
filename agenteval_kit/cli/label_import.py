"""`agenteval label --import`: what people said in tables and other tools, into the label files.

Modules are imported inside the command, so that the others do not pay for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.cli.codes import PASS
from agenteval_kit.cli.complaints import complain, say_which_suite, tell
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.labels import Added
    from agenteval_kit.records.labels import LabelRow

__all__ = ["bring_in"]

_OF_READING = ("n", "purpose", "dimensions", "voila")


def bring_in(given: argparse.Namespace) -> int:
    """Read labels from files, hold them against the run and its rubric, and keep them."""
    from agenteval_kit.gate.known import labels_place, suite_key
    from agenteval_kit.label.opening import is_of_run
    from agenteval_kit.label.shelf import Shelf
    from agenteval_kit.labels import (
        add_labels,
        import_labels,
        list_samples,
        read_sample,
        transcript_digest,
    )
    from agenteval_kit.labels.argilla import NOT_SAID
    from agenteval_kit.labels.folder import sample_file
    from agenteval_kit.rubrics import load_rubric
    from agenteval_kit.runs import Run, now_text

    unused = [f"--{name}" for name in _OF_READING if getattr(given, name)]
    if unused:
        raise ConfigError(
            f"--import opens nothing to read and draws nothing; leave {', '.join(unused)} out"
        )
    run = Run.open(given.run)
    say_which_suite(run)
    folder = given.labels or labels_place(run)
    rubric = given.rubric or suite_key(run, "rubric")
    if rubric is None:
        raise ConfigError(
            f"{run.path}: its suite ({run.info.suite_file or 'not noted'}) is not here or names no "
            "rubric, so that no dimension and no level could be checked; name the rubric with "
            "--rubric"
        )
    shelf = Shelf(run)
    samples = [one for one in list_samples(folder) if is_of_run(one, run, shelf)]
    if given.sample is not None and given.sample not in {one.name for one in samples}:
        stands = read_sample(sample_file(folder, given.sample))
        raise ConfigError(f'sample "{stands.name}" was drawn from run "{stands.run}"; {run.id} is '
                          "another")  # fmt: skip
    # A name of a run is soon given again; the text that was read is not.
    texts = {(one.case_id, one.repeat): transcript_digest(one) for one in run.transcripts()}
    rows = import_labels(
        given.import_,
        run.id,
        now=now_text(),
        rubric=load_rubric(rubric),
        items=texts,
        texts=texts,
        format=given.format,
        rater=given.rater,
        mapping=dict(_mapped(text) for text in given.map or ()),
        samples=samples,
        sample=given.sample or "",
    )
    made = add_labels(folder, rows)
    for rater, count in made.added.items():
        tell(f"{rater}: {counted(count, 'line')} added" if count else f"{rater}: nothing new")
    labels = sum(row.kind == "label" for row in rows)
    tell(f"{counted(labels, 'label')} read, {counted(made.known, 'line')} stood already: {folder}")
    for line in _about(made, rows, given.sample):
        complain(line)
    untold = sum(row.origin.endswith(f"{NOT_SAID})") for row in rows)
    if untold:
        complain(
            f"note: the file does not say of {counted(untold, 'label')} whether it was submitted; "
            "drafts may be among them. Argilla's to_list(flatten=True) says so"
        )
    return PASS


def _about(made: Added, rows: Sequence[LabelRow], sample: str | None) -> Iterator[str]:
    """What these labels cannot be used for as they are, and what was done with those known."""
    labels = [row for row in rows if row.kind == "label"]
    yield from (f"warning: {one}" for one in made.warnings)
    if made.filled:
        yield f"note: labels that stood already are given again with {_fields(made.filled)}"
    if made.unlike:
        yield (
            f"note: the file says {_fields(made.unlike)} otherwise than the same labels that stand "
            "already; what stands there counts"
        )
    undated = sum(row.undated for row in labels)
    if undated:
        yield (
            f"note: {counted(undated, 'label')} without a time: as they may be older than the "
            "judge, half of their scenarios are kept for tuning. Add a column at (like "
            "2026-03-31T14:05:00Z) and import again"
        )
    undrawn = sum(row.design == "external" for row in labels)
    if undrawn:
        remedy = (
            f"the sample {sample} did not draw these transcripts"
            if sample
            else "where a sample in the folder drew the transcripts, import again with --sample "
            "NAME or a column sample"
        )
        yield (
            f"note: {counted(undrawn, 'label')} without a draw: beside labels that were drawn they "
            f"are left out of the comparison with the judge; {remedy}"
        )


def _fields(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items())


def _mapped(text: str) -> tuple[str, str | int]:
    theirs, sign, ours = text.rpartition("=")
    if not sign or not theirs or not ours:
        raise ConfigError(
            f'--map "{text}": THEIRS=OURS was wanted, like quality=groundedness or good=4'
        )
    return theirs, int(ours) if ours.isascii() and ours.isdigit() else ours
