"""What raters wrote where somebody differs, grouped by the failure modes and words they share.

May not read meaning into a word: whoever reads the page sees why a group is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.compared import Compared
from agenteval_kit.text import fold

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NoteGroup", "SharedNotes", "group_notes"]

_WORD = re.compile(r"[^\W\d_]{4,}")
# English words that two notes share without being about the same thing.
_COMMON = frozenset(
    """about after again agent also although answer answered asked because been before being both
    cannot case could customer does doesn doing done down each else even ever every from gave give
    given gives good have having here into isn its itself just like made make many more most much
    must never none note only other over really said same says score scored seems should some still
    such than that their them then there these they thing think this those though through told too
    under unless until user very wants wasn well were what when where whether which while will with
    without would your""".split()
)


@dataclass(frozen=True, slots=True)
class NoteGroup:
    """Transcripts whose notes share a failure mode or a word.

    Attributes
    ----------
    word : str
        What they share, folded.
    kind : str
        "failure" or "word".
    also : tuple of str
        Further words in half of their notes or more.
    rows : tuple of Compared
        In the order in which they were given.
    """

    word: str
    kind: str
    also: tuple[str, ...]
    rows: tuple[Compared, ...]


@dataclass(frozen=True, slots=True)
class SharedNotes:
    """All groups, the largest first; a transcript is in one group only.

    `alone` have a note that shares nothing, `silent` have none.
    """

    groups: tuple[NoteGroup, ...]
    alone: tuple[Compared, ...]
    silent: tuple[Compared, ...]

    def frame(self) -> pd.DataFrame:
        """One row per group: shared, kind, also (str), transcripts (int), cases (str)."""
        import pandas as pd  # heavy: only who wants a frame pays for it

        return pd.DataFrame(
            [
                (one.word, one.kind, ", ".join(one.also), len(one.rows),
                 ", ".join(dict.fromkeys(row.case_id for row in one.rows)))
                for one in self.groups
            ],
            columns=["shared", "kind", "also", "transcripts", "cases"],
        )  # fmt: skip


def group_notes(rows: Iterable[Compared]) -> SharedNotes:
    """Group transcripts by what their notes share.

    The failure mode or word that most of them share makes the first group; then the same of those
    that are left, until nothing is shared by two. At equal numbers a failure mode goes before a
    word. Words of four letters and more count, folded, without the commonest English ones; "refund"
    and "refunds" are two words.

    Parameters
    ----------
    rows : iterable of Compared
        As `Disagreements.rows` or the rows of a cell.
    """
    given = list(rows)
    terms = [_terms(one) for one in given]
    left = [at for at, found in enumerate(terms) if found]
    silent = tuple(one for one, found in zip(given, terms, strict=True) if not found)
    groups: list[NoteGroup] = []
    while True:
        counts: dict[tuple[str, str], int] = {}
        for at in left:
            for term in terms[at]:
                counts[term] = counts.get(term, 0) + 1
        shared = [term for term, count in counts.items() if count > 1]
        if not shared:
            break
        best = min(shared, key=lambda term: (-counts[term], term[0] != "failure", term[1]))
        members = [at for at in left if best in terms[at]]
        groups.append(_group(best, [terms[at] for at in members], [given[at] for at in members]))
        left = [at for at in left if at not in set(members)]
    return SharedNotes(tuple(groups), tuple(given[at] for at in left), silent)


def _group(
    best: tuple[str, str], terms: Sequence[set[tuple[str, str]]], rows: Sequence[Compared]
) -> NoteGroup:
    kind, word = best
    further = {term[1] for found in terms for term in found} - {word}
    also = sorted(
        one for one in further if 2 * sum(one in {t[1] for t in f} for f in terms) >= len(terms)
    )
    # With two members every word of either is in half of them.
    if len(rows) == 2:
        both = {t[1] for t in terms[0]} & {t[1] for t in terms[1]}
        also = sorted(both - {word})
    return NoteGroup(word, kind, tuple(also), tuple(rows))


def _terms(one: Compared) -> set[tuple[str, str]]:
    found = {("failure", fold(what)) for _, what in one.failures}
    for _, note in one.notes:
        found |= {("word", word) for word in _WORD.findall(fold(note)) if word not in _COMMON}
    return found
