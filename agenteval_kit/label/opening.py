"""What has to be right before a rater starts: the dimensions, the sample, and the order.

May not write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.label.shelf import Key, Shelf
from agenteval_kit.labels import transcript_digest
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.records.labels import Sample
from agenteval_kit.runs import Run
from agenteval_kit.runs.withdraw import withdrawn_cases
from agenteval_kit.text import counted

__all__ = ["check_sample", "choose_dimensions", "hash_order", "is_of_run"]


def choose_dimensions(rubric: Rubric | None, names: Sequence[str] | None) -> tuple[Dimension, ...]:
    """The dimensions that are asked for, as they were named; none without a rubric.

    Raises
    ------
    ConfigError
        For an unknown or a pairwise dimension, and for a rubric without a scale.
    """
    if rubric is None:
        if names:
            raise ConfigError("dimensions were named, but no rubric was given; give both")
        return ()
    known = {one.name: one for one in rubric.absolute()}
    where = f'rubric "{rubric.name}"'
    if not known:
        raise ConfigError(
            f"{where}: has pairwise criteria only, so there is no level to give; take a rubric "
            "with anchors"
        )
    problems = Problems()
    for name in names or ():
        if name not in known:
            pairwise = name in {one.name for one in rubric.pairwise()}
            why = "is pairwise and has no level to give" if pairwise else "is no dimension of it"
            problems.add(f'{where}: "{name}" {why}.{did_you_mean(name, known)}')
    problems.raise_any()
    return tuple(known[name] for name in dict.fromkeys(names or known))


def check_sample(
    run: Run, shelf: Shelf, sample: Sample | None
) -> tuple[tuple[Key, ...], list[str]]:
    """What there is to read, and what a reader should be told of it.

    Raises
    ------
    ConfigError
        If the sample is another run's, its transcripts are missing or were changed, or there is
        nothing to read.
    """
    told: list[str] = []
    if sample is None:
        keys = shelf.keys
        if shelf.empty:
            told.append(f"{counted(len(shelf.empty), 'transcript')} without a turn left out.")
    else:
        keys = _of_sample(run, shelf, sample, told)
    if not keys:
        raise ConfigError(Problem("has no transcript to read", str(run.path)))
    return keys, told


def _of_sample(run: Run, shelf: Shelf, sample: Sample, told: list[str]) -> tuple[Key, ...]:
    where = f'sample "{sample.name}"'
    if not is_of_run(sample, run, shelf):
        raise ConfigError(
            f'{where}: was drawn from run "{sample.run}", and this is "{run.id}"; open that run, '
            "or draw a sample of this one"
        )
    gone = withdrawn_cases(run.path)
    problems = Problems()
    keys = []
    for item in sample.items:
        key = (item.case_id, item.repeat)
        if item.case_id in gone:
            continue
        if key not in shelf:
            problems.add(f'{where}: case "{key[0]}", repeat {key[1]} is not in {run.path}')
        elif item.transcript_digest not in ("", transcript_digest(shelf.fetch(key))):
            problems.add(
                f'{where}: case "{key[0]}", repeat {key[1]} reads otherwise than when it was '
                f"drawn from {run.path}; draw a new sample"
            )
        else:
            keys.append(key)
    problems.raise_any()
    if len(keys) < len(sample.items):
        fewer = len(sample.items) - len(keys)
        told.append(f"{counted(fewer, 'transcript')} withdrawn since the draw.")
    return tuple(keys)


def is_of_run(sample: Sample, run: Run, shelf: Shelf) -> bool:
    """Whether a sample was drawn from a run, under this name of its folder or an earlier one."""
    if sample.run in (run.id, run.info.id):
        return True
    there = [one for one in sample.items if (one.case_id, one.repeat) in shelf]
    return bool(there) and all(
        one.transcript_digest == transcript_digest(shelf.fetch((one.case_id, one.repeat)))
        for one in there
    )


def hash_order(keys: Iterable[Key], *, seed: str) -> list[Key]:
    """Keys in an order that looks random, hangs on the seed, and not on the order given."""

    def place(key: Key) -> bytes:
        return hashlib.sha256(f"{seed}\0{key[0]}\0{key[1]}".encode("utf-8", "replace")).digest()

    return sorted(keys, key=lambda key: (place(key), key))
