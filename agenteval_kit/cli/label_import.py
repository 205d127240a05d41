"""`agenteval label --import`: what people said in tables and other tools, into the label files.

Modules are imported inside the command, so that the others do not pay for it.
"""

from __future__ import annotations

import argparse

from agenteval_kit.cli.codes import PASS
from agenteval_kit.cli.complaints import complain
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted

__all__ = ["bring_in"]


def bring_in(given: argparse.Namespace) -> int:
    """Read labels from files, hold them against the run and its rubric, and keep them."""
    from agenteval_kit.gate.known import labels_place, suite_key
    from agenteval_kit.labels import add_labels, import_labels
    from agenteval_kit.labels.argilla import NOT_SAID
    from agenteval_kit.rubrics import load_rubric
    from agenteval_kit.runs import Run, now_text

    run = Run.open(given.run)
    folder = given.labels or labels_place(run)
    rubric = given.rubric or suite_key(run, "rubric")
    if rubric is None:
        raise ConfigError(
            f"{run.path}: its suite ({run.info.suite_file or 'not noted'}) is not here or names no "
            "rubric, so that no dimension and no level could be checked; name the rubric with "
            "--rubric"
        )
    rows = import_labels(
        given.import_,
        run.id,
        now=now_text(),
        rubric=load_rubric(rubric),
        items=run.done(),
        format=given.format,
        rater=given.rater,
        mapping=dict(_mapped(text) for text in given.map or ()),
    )
    made = add_labels(folder, rows)
    for rater, count in made.added.items():
        print(f"{rater}: {counted(count, 'line')} added" if count else f"{rater}: nothing new")
    labels = sum(row.kind == "label" for row in rows)
    print(f"{counted(labels, 'label')} read, {counted(made.known, 'line')} stood already: {folder}")
    untold = sum(row.origin.endswith(f"{NOT_SAID})") for row in rows)
    if untold:
        complain(
            f"note: the file does not say of {counted(untold, 'label')} whether it was submitted; "
            "drafts may be among them. Argilla's to_list(flatten=True) says so"
        )
    return PASS


def _mapped(text: str) -> tuple[str, str | int]:
    theirs, sign, ours = text.rpartition("=")
    if not sign or not theirs or not ours:
        raise ConfigError(
            f'--map "{text}": THEIRS=OURS was wanted, like quality=groundedness or good=4'
        )
    return theirs, int(ours) if ours.isascii() and ours.isdigit() else ours
