"""Did the judge change: a frozen set of transcripts, scored by both versions of it.

May not compare judges that scored different transcripts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.join import Key
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import VerdictRow
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.drift import Drift

__all__ = ["AnchorDrift", "anchor_drift"]


@dataclass(frozen=True, slots=True)
class AnchorDrift:
    """Two versions of a judge on the anchor set of one dimension.

    Attributes
    ----------
    dimension, old, new : str
        What was scored, and the judges.
    old_digest, new_digest : str
        Of the judges; empty where there is no verdict.
    found : Drift
        The paired change of the mean, and exact agreement of old with new and of old with itself.
    moved : tuple of (str, int, int, int)
        Case, repeat, score before and score now, where the two differ.
    """

    dimension: str
    old: str
    new: str
    old_digest: str
    new_digest: str
    found: Drift
    moved: tuple[tuple[str, int, int, int], ...]

    @property
    def comparable(self) -> bool:
        """Whether a trend may go on from the one judge to the other."""
        return self.found.comparable

    def sentence(self) -> str:
        """The finding in words."""
        who = f"{self.dimension}, {self.old or 'no judge'} to {self.new or 'no judge'}"
        if not self.found.comparable:
            return f"{who}: not comparable ({self.found.reason}); the trend breaks here"
        change = self.found.change.difference
        own, drifted = self.found.own, self.found.drifted
        word = {True: "drifted", False: "no drift shown", None: "mean unchanged"}[drifted]
        return (
            f"{who}: {word}; mean {change.text()} on "
            f"{counted(self.found.change.n, 'frozen transcript')}, "
            f"the same score on {self.found.exact.text(percent=True)}"
            + ("" if own.value is None else f", and on {own.text(percent=True)} asked twice before")
        )

    def frame(self) -> pd.DataFrame:
        """One row a transcript that moved: case_id (str), repeat, old, new (int)."""
        import pandas as pd  # heavy: only who wants a frame pays for it

        return pd.DataFrame(self.moved, columns=["case_id", "repeat", "old", "new"])


def anchor_drift(
    old: Iterable[VerdictRow],
    new: Iterable[VerdictRow],
    *,
    dimension: str,
    again: Iterable[VerdictRow] = (),
    seed: int = 0,
) -> AnchorDrift:
    """Whether a judge scores a frozen set of transcripts as it did before.

    Keep a set of transcripts that no release changes, and judge it with each version of the judge.

    Parameters
    ----------
    old, new : iterable of VerdictRow
        Verdicts of one judge each on that set; other dimensions are passed over.
    dimension : str
        Which one.
    again : iterable of VerdictRow
        Verdicts of the old judge on that set, asked a second time. Without them an unchanged mean
        is not called "no drift": scores may have moved up and down alike.
    seed : int
        Of the interval.

    Returns
    -------
    AnchorDrift
        Not comparable without transcripts that both scored.

    Raises
    ------
    ConfigError
        If a side holds two judges, `again` another one than `old`, or the scales differ.
    """
    from agenteval_kit.stats.drift import judge_drift  # numpy

    sides = [[row for row in rows if row.dimension == dimension] for rows in (old, new, again)]
    for which, rows in zip(("old", "new", "again"), sides, strict=True):
        digests = sorted({row.judge_digest for row in rows})
        if len(digests) > 1:
            raise ConfigError(
                f"{which}: verdicts of {len(digests)} judges on {dimension} "
                f"({', '.join(digests)}); pass those of one"
            )
    names = [(rows[0].judge, rows[0].judge_digest) if rows else ("", "") for rows in sides]
    if sides[2] and names[2] != names[0]:
        raise ConfigError(
            f"again: verdicts of {names[2][1]} on {dimension}, and old has those of "
            f"{names[0][1] or 'no judge'}; pass what the old judge said a second time"
        )
    scales = {row.levels for rows in sides for row in rows}
    if len(scales) > 1:
        raise ConfigError(
            f"{dimension} was scored on two scales ({', '.join(map(str, sorted(scales)))}): "
            "such judges cannot be compared"
        )
    before, after, twice = (
        {(row.case_id, row.repeat): row.score for row in rows} for rows in sides
    )
    keys: list[Key] = sorted(before.keys() | after.keys())
    was, now = [before.get(key) for key in keys], [after.get(key) for key in keys]
    cases = [case for case, _ in keys]
    return AnchorDrift(
        dimension=dimension,
        old=names[0][0],
        new=names[1][0],
        old_digest=names[0][1],
        new_digest=names[1][1],
        found=judge_drift(
            was,
            now,
            levels=next(iter(scales), (0, 1)),
            again=[twice.get(key) for key in keys] if twice else None,
            clusters=cases if len(set(cases)) < len(cases) else None,
            seed=seed,
        ),
        moved=tuple(
            (*key, one, other)
            for key, one, other in zip(keys, was, now, strict=True)
            if one is not None and other is not None and one != other
        ),
    )
