"""One rater's file in one run and sample: what stands in it, and each new line on disk at once.

May not know in which order transcripts are read, nor show anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from agenteval_kit.errors import InfrastructureError
from agenteval_kit.label.given import Given, Said
from agenteval_kit.label.shelf import Key, Shelf
from agenteval_kit.labels import LabelWriter, names_of_run, read_labels, transcript_digest
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.records.labels import LabelKind, LabelRow, Sample
from agenteval_kit.rubrics import dimension_digest, rubric_digest
from agenteval_kit.runs import Run

__all__ = ["Book", "Scales"]


@dataclass(frozen=True)
class Scales:
    """What is asked for: the dimensions by name, and the digests of their wording."""

    rubric: str
    rubric_digest: str
    by_name: Mapping[str, Dimension]
    wording: Mapping[str, str]

    @classmethod
    def of(cls, rubric: Rubric | None, dimensions: Iterable[Dimension]) -> Scales:
        """The chosen dimensions of a rubric, or none without one."""
        by_name = {one.name: one for one in dimensions}
        return cls(
            rubric="" if rubric is None else f"{rubric.name} {rubric.version}",
            rubric_digest="" if rubric is None else rubric_digest(rubric),
            by_name=by_name,
            wording={name: dimension_digest(one) for name, one in by_name.items()},
        )


class Book:
    """A rater's lines, held open for writing, and how far the rater has come.

    `warning` says what an earlier kill tore off.

    Raises
    ------
    ConfigError
        If another process holds the file, or it cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        rater: str,
        *,
        run: Run,
        shelf: Shelf,
        keys: tuple[Key, ...],
        scales: Scales,
        sample: Sample | None,
        now: Callable[[], str],
    ) -> None:
        self._run, self._shelf, self._keys, self._scales = run, shelf, keys, scales
        self._sample, self._now = sample, now
        self._chance = {(one.case_id, one.repeat): one for one in sample.items} if sample else {}
        self._writer = LabelWriter(folder, rater)
        self.warning = self._writer.warning
        self._given = Given((), "", wording={})
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def release(self) -> None:
        """Let another window have the file until the next line is written here."""
        self._writer.release()

    def close(self) -> None:
        """Let go of the file."""
        self._writer.close()

    @property
    def last(self) -> LabelRow | None:
        """The line that an undo would take back, wherever it was said."""
        return self._given.last

    def here(self, row: LabelRow) -> bool:
        """Whether a line was said on what is read here."""
        known = not row.dimension or row.dimension in self._scales.by_name
        return self._given.here(row) and (row.case_id, row.repeat) in self._keys and known

    def said(self, key: Key) -> Said:
        """What the rater has said of a transcript."""
        return self._given.said(key)

    def is_done(self, said: Said) -> bool:
        """Whether nothing is left to say: a label on each dimension, or read where none is."""
        wanted = self._scales.by_name
        return len(said.labels) == len(wanted) if wanted else said.read

    def next_open(self, *, after: int) -> int | None:
        """The next place among the keys that is not done; a skipped one where no other is left."""
        skipped: int | None = None
        for place in chain(range(after + 1, len(self._keys)), range(after + 1)):
            said = self.said(self._keys[place])
            if self.is_done(said):
                continue
            if not said.skipped:
                return place
            skipped = place if skipped is None else skipped
        return skipped

    @property
    def progress(self) -> dict[str, int]:
        """Transcripts done and skipped, of how many; and labels given."""
        return {
            "done": self._done,
            "skipped": self._skipped,
            "total": len(self._keys),
            "labels": self._labels,
        }

    @property
    def outdated(self) -> dict[str, int]:
        """Labels that were given under other words of a dimension, and do not count."""
        return self._given.outdated()

    def refresh(self) -> None:
        """Read the file again where another cell, or another program, has added to it."""
        if self._writer.state() != self._state:
            self._read()

    def add(
        self,
        kind: LabelKind,
        key: Key,
        *,
        dimension: str = "",
        score: int | None = None,
        note: str = "",
        failure: str = "",
        turn: int | None = None,
    ) -> None:
        """Write a line; it is on the disk before this returns, or nothing has changed.

        Raises
        ------
        InfrastructureError
            If it cannot be written.
        """
        item, scale, sample = self._chance.get(key), self._scales, self._sample
        row = LabelRow(
            kind=kind,
            run=self._run.id,
            case_id=key[0],
            repeat=key[1],
            transcript_digest=transcript_digest(self._shelf.fetch(key)),
            dimension=dimension,
            score=score,
            levels=scale.by_name[dimension].levels if dimension else (),
            rubric=scale.rubric,
            rubric_digest=scale.rubric_digest,
            dimension_digest=scale.wording.get(dimension, ""),
            rater=self._writer.rater,
            at=self._now(),
            note=note,
            failure=failure,
            turn=turn,
            sample=sample.name if sample else "",
            # Without a sample everything is read, so each had the chance 1.
            design=sample.design if sample else "uniform",
            purpose=sample.purpose if sample else "tuning",
            stratum=item.stratum if item else "",
            inclusion=item.inclusion if item else 1.0,
        )
        try:
            self._writer.append([row])
        except OSError as error:
            raise InfrastructureError(
                f"{self._writer.path}: this was NOT saved: {error.strerror}; make room, then say "
                "it again"
            ) from None
        self._count(key, -1)
        self._given.take([row])
        self._count(key, 1)
        self._state = self._writer.state()

    def _read(self) -> None:
        path = self._writer.path
        sample = self._sample.name if self._sample else ""
        self._state = self._writer.state()
        rows = read_labels(path).rows if path.is_file() else ()
        names = names_of_run(
            rows, (self._run.id, self._run.info.id), transcripts=self._run.transcripts()
        )
        self._given = Given(names, sample, wording=self._scales.wording)
        self._given.take(rows)
        self._done = self._skipped = self._labels = 0
        for key in self._keys:
            self._count(key, 1)

    def _count(self, key: Key, sign: int) -> None:
        said = self._given.said(key)
        done = self.is_done(said)
        self._done += sign * done
        self._skipped += sign * (said.skipped and not done)
        self._labels += sign * len(said.labels)
