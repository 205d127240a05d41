"""The work of one comparison: which pairs are wanted, and which have a row.

May not ask or write anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from agenteval_kit.models.asking import Asking
from agenteval_kit.models.estimate import CallEstimate
from agenteval_kit.pairwise.instrument import Instrument
from agenteval_kit.pairwise.pairs import Pair
from agenteval_kit.pairwise.pending import Pending, Versions
from agenteval_kit.text import counted

__all__ = ["Key", "PairwiseEstimate", "Source", "Wanted", "still_wanted"]

Key = tuple[str, int, str, str, str, str]
"""See `PreferenceRow.key`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One pair under one instrument; `make` shows it, which costs more than to look it up."""

    instrument: Instrument
    versions: Versions
    case_id: str
    repeat: int
    make: Callable[[], Pair]

    @property
    def key(self) -> Key:
        """The key of its row."""
        return (
            self.case_id, self.repeat, self.instrument.criterion.name, self.versions.old,
            self.versions.new, self.instrument.judge_digest,
        )  # fmt: skip


class Source(Protocol):
    """Where pairs come from."""

    def pairs(self) -> Iterator[Wanted]:
        """Every pair under every instrument; may be called again."""
        ...


@dataclass(frozen=True, slots=True)
class PairwiseEstimate:
    """What a comparison would still ask, each pair twice.

    Attributes
    ----------
    pairs : int
        Rows to be made.
    calls : CallEstimate
        First requests; a cut reply comes on top.
    """

    pairs: int
    calls: CallEstimate

    def text(self) -> str:
        """The estimate in one line."""
        return f"{counted(self.pairs, 'pair')} in both orders: {self.calls.text()}"


def still_wanted(
    source: Source, there: Mapping[Key, tuple[str, ...]], count: Asking[Pending]
) -> Iterator[Pending]:
    """Every pair that has no row, or had a side missing that is there now.

    Parameters
    ----------
    source : Source
        Of all pairs.
    there : mapping
        The flags of every row that was made before, by its key.
    count : Asking
        Told how many are kept.
    """
    count.kept = 0
    for wanted in source.pairs():
        found = there.get(wanted.key)
        if found is not None and "missing" not in found:
            count.kept += 1
            continue
        pair = wanted.make()
        if found is not None and "missing" in pair.flags:
            count.kept += 1
            continue
        yield Pending(wanted.instrument, pair, wanted.versions)
