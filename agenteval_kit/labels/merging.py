"""Brings the labels of several folders together, rater by rater; merging twice adds nothing.

May not decide which of two labels is right: the later one counts, as everywhere.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.errors import ConfigError, InfrastructureError, Problem
from agenteval_kit.files import write_together
from agenteval_kit.labels.folder import LabelWriter, list_samples, write_sample
from agenteval_kit.labels.reading import read_labels
from agenteval_kit.labels.units import Unit, units_of
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.text import counted

__all__ = ["Merged", "merge_labels", "merge_rows"]

Name = tuple[str, int]


@dataclass(frozen=True)
class Merged:
    """What a merge added.

    Attributes
    ----------
    added : dict of str to int
        Lines by rater; raters with nothing new among them.
    samples : tuple of str
        Samples that were not there yet.
    twice : tuple of str
        Raters who had labelled in two places, so that their lines were put in order of time.
    warnings : tuple of str
        Torn lines that were dropped.
    """

    added: dict[str, int]
    samples: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """What happened, in sentences."""
        told = [
            f"{rater}: {counted(count, 'line')} added" if count else f"{rater}: nothing new"
            for rater, count in self.added.items()
        ]
        told += [
            f"{rater} has labelled in two places; of two labels on one thing the later counts"
            for rater in self.twice
        ]
        return told + [f"sample {name} added" for name in self.samples] + list(self.warnings)


def merge_labels(folder: str | Path, *sources: str | Path) -> Merged:
    """Add the lines and samples of other folders of labels to this one.

    A line that stands there already is not added again. Where one person has labelled in two
    places, both files' lines are kept, each file's in its order and else by time.

    Parameters
    ----------
    folder : path
        What is added to; made where it is missing.
    *sources : path
        Folders of labels from other machines; they stay as they are.

    Raises
    ------
    ConfigError
        If a source is no folder, holds faulty lines or another sample of the same name, or
        somebody is labelling in `folder` as one of its raters.
    """
    target = Path(folder)
    added: Counter[str] = Counter()
    samples: list[str] = []
    twice: dict[str, None] = {}
    torn: list[str] = []
    for source in map(Path, sources):
        if not source.is_dir():
            raise ConfigError(Problem("there is no such folder of labels", str(source)))
        rows = read_labels(source).rows
        known = {one.name for one in list_samples(target)}
        for sample in list_samples(source):
            write_sample(target, sample)
            if sample.name not in known:
                samples.append(sample.name)
        made = merge_rows(target, rows)
        added.update(made.added)
        twice.update(dict.fromkeys(made.twice))
        torn += made.warnings
    return Merged(dict(added), tuple(samples), tuple(twice), tuple(torn))


def merge_rows(
    folder: Path,
    rows: Iterable[LabelRow],
    *,
    raters: Iterable[str] = (),
    after: Mapping[str, Sequence[LabelRow]] | None = None,
) -> Merged:
    """Add lines to the files of their raters, without those that stand there already.

    Of several raters all are written or none: a disk that fills up leaves the files as they were.

    Parameters
    ----------
    raters : iterable of str
        Whose files have to be free as well.
    after : mapping of str to sequence of LabelRow, optional
        Lines by rater that go behind all others, whatever the time they tell.

    Raises
    ------
    ConfigError
        If a file is no label file, or somebody is labelling in it. Then nothing is written.
    InfrastructureError
        If one cannot be written; it says what was.
    """
    by_rater: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_rater.setdefault(row.rater, []).append(row)
    added: dict[str, int] = {}
    twice = []
    with ExitStack() as held:
        # All of them before the first line: nothing is written where one cannot be.
        writers: dict[str, LabelWriter] = {}
        spelt: dict[str, str] = {}
        for rater in dict.fromkeys((*by_rater, *raters)):
            other = spelt.setdefault(rater.casefold(), rater)
            if other != rater:
                raise ConfigError(
                    f'rater "{rater}" differs from "{other}" by capitals alone; give one person '
                    "one name, or two people names that differ by more"
                )
            writers[rater] = LabelWriter(folder, rater)
            held.callback(writers[rater].close)
        blocks: dict[Path, bytes] = {}
        for rater in dict.fromkeys((*by_rater, *(after or {}))):
            path = writers[rater].path
            mine = units_of(read_labels(path).rows) if path.exists() else []
            merged = _merged(mine, units_of(by_rater.get(rater, [])))
            last = list((after or {}).get(rater, ()))
            if merged[: len(mine)] == mine:
                # What stands there stays as it is, byte for byte.
                old = path.read_bytes() if path.exists() else b""
                new = [*_lines(merged[len(mine) :]), *last]
            else:
                twice.append(rater)
                old, new = b"", [*_lines(merged), *last]
            lines = (f"{row.model_dump_json(exclude_defaults=True)}\n" for row in new)
            if new:
                blocks[path] = old + "".join(lines).encode()
            added[rater] = len(_lines(merged)) - len(_lines(mine)) + len(last)
        _write(blocks)
    torn = tuple(writer.warning for writer in writers.values() if writer.warning)
    return Merged(added, twice=tuple(twice), warnings=torn)


def _write(blocks: Mapping[Path, bytes]) -> None:
    written: list[Path] = []
    try:
        write_together(blocks, written=written)
    except OSError as error:
        names = ", ".join(path.stem for path in written)
        left = ", ".join(path.stem for path in blocks if path not in written)
        stands = (
            f"the lines of {names} are written, those of {left} are not"
            if names
            else (f"no line of {left} is written")
        )
        raise InfrastructureError(
            f"{error.filename}: cannot be written: {error.strerror}; {stands}. Make room and run "
            "the same command again: what stands is not added twice"
        ) from None


def _lines(units: Iterable[Unit]) -> list[LabelRow]:
    return [row for unit in units for row in unit.rows]


def _merged(mine: Sequence[Unit], theirs: Sequence[Unit]) -> list[Unit]:
    """What either holds, each once: shared lines are the seams, between them the earlier is first.

    The result is the same whichever stands first, and `mine` where `theirs` holds nothing new.
    """
    left, right = _named(mine), _named(theirs)
    queues = [deque(left), deque(right)]
    merged: list[Unit] = []
    placed: set[Name] = set()
    while True:
        for queue in queues:
            while queue and queue[0] in placed:
                queue.popleft()
        heads = [queue[0] for queue in queues if queue]
        if not heads:
            return merged
        # What only one file holds comes before the next shared line, which the other is at.
        own = [head for head in heads if not (head in left and head in right)]
        head = min(own or heads, key=lambda name: (_unit(name, left, right).row.at, name))
        placed.add(head)
        merged.append(_unit(head, left, right))


def _unit(name: Name, left: Mapping[Name, Unit], right: Mapping[Name, Unit]) -> Unit:
    """The unit of either file; undone where it was undone in one of them."""
    found = [units[name] for units in (left, right) if name in units]
    return min(found, key=lambda unit: (unit.undo is None, str(unit.undo)))


def _named(units: Sequence[Unit]) -> dict[Name, Unit]:
    """Units by the text of their line, and how often that text stood before."""
    seen: Counter[str] = Counter()
    named: dict[Name, Unit] = {}
    for unit in units:
        text = unit.row.model_dump_json(exclude_defaults=True)
        named[text, seen[text]] = unit
        seen[text] += 1
    return named
