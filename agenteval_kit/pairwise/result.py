"""What a comparison came to, as values: one `Comparison` a criterion and judge.

May not compute: `agenteval_kit.pairwise.tally` does.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.stats.estimate import Estimate, estimates_html

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.noninferiority import NonInferiority
    from agenteval_kit.stats.pairwise import NoiseMargin, PositionFlips

__all__ = ["Comparison", "PairwiseResult"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions by one criterion under one judge.

    Attributes
    ----------
    old, new : str
        The versions; the rate is the new one's.
    criterion, layer, judge, judge_digest : str
        By what, and by whom.
    wins, ties, losses, unscored, missing : int
        Pairs that the new version won, tied, lost; without an outcome; and without a row yet.
    cases : int
        Scenarios with an outcome.
    reasons : mapping of str to int
        Why pairs are unscored.
    flags : mapping of str to int
        How often each flag was raised, see `PREFERENCE_FLAGS`.
    win_rate : Estimate
        Wins and half the ties over the scored pairs: Tango's interval; with repeats the anchored
        one over scenarios. It decides.
    worst : float or None
        The rate if every unscored and missing pair were lost.
    p, p_exact : float or None
        McNemar's z, or with repeats the sign-flip test over scenarios; the exact sign test, which
        is conservative and never decides.
    p_method : str
        Which test `p` is.
    flips : PositionFlips
        How often the order of showing decided, and toward which slot.
    noise : NoiseMargin
        The half-width of the bootstrap interval of the rate over cases, beside Tango's.
    scores : mapping of str to float
        Mean score of each scored case.
    a_against_a : bool
        Both versions wear the same stamps.
    repeated : bool
        Whether some case has more than one scored pair.
    diag : str
        Doubts in plain words.
    """

    old: str
    new: str
    criterion: str
    layer: str
    judge: str
    judge_digest: str
    wins: int
    ties: int
    losses: int
    unscored: int
    missing: int
    cases: int
    reasons: Mapping[str, int]
    flags: Mapping[str, int]
    win_rate: Estimate
    worst: float | None
    p: float | None
    p_exact: float | None
    p_method: str
    flips: PositionFlips
    noise: NoiseMargin
    scores: Mapping[str, float]
    a_against_a: bool
    repeated: bool
    diag: str

    @property
    def n(self) -> int:
        """Pairs with an outcome."""
        return self.wins + self.ties + self.losses

    @property
    def unscored_share(self) -> float:
        """Unscored and missing pairs as a share of all that were to be compared."""
        wanted = self.n + self.unscored + self.missing
        return (self.unscored + self.missing) / wanted if wanted else 0.0

    @property
    def shown(self) -> bool | None:
        """Whether the interval of the win rate excludes one half; None without an interval."""
        return self.win_rate.excludes(0.5)

    @property
    def finding(self) -> str:
        """Which version is preferred, or that no preference is shown, with the counts."""
        rate = self.win_rate
        if rate.value is None:
            return f"cannot tell: {rate.reason}"
        word = "no preference shown"
        if self.shown:
            word = f"{self.new if rate.value > 0.5 else self.old} preferred"
            if self.a_against_a:
                word = f"A against A is not even: {word}"
        return (
            f"{word}: win rate {rate.text()}, {self.wins:,} won, {self.ties:,} tied, "
            f"{self.losses:,} lost"
        )

    def claim(self, margin: float) -> NonInferiority:
        """Whether a drop of the win rate beyond the margin is ruled out, shown, or neither.

        "Within the noise" is not this claim: a true drop as large as the noise is within it half
        of the time.

        Raises
        ------
        ConfigError
            If the margin is not above 0.
        """
        from agenteval_kit.stats.noninferiority import non_inferiority  # numpy

        changes = [score - 0.5 for score in self.scores.values()]
        return non_inferiority(changes, margin, low=-0.5, high=0.5)

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name."""
        return {
            "win rate": self.win_rate,
            "win rate, bootstrap": self.noise.bootstrap,
            "position flips": self.flips.rate,
            "flips toward the first": self.flips.toward_first,
        }

    def frame(self) -> pd.DataFrame:
        """One row; see `PairwiseResult.frame`."""
        return _frame((self,))

    def _repr_html_(self) -> str:
        return _html((self,))


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """What `compare_runs` did, and what the preferences come to.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One a criterion and judge; never blended.
    kept, made : int
        Rows that were there already, and those added.
    replies, from_tape : int
        Replies of judges, and those of them that came from the tape.
    failed : int
        Pairs without a row because a provider failed; the same call asks for them again.
    stopped : str
        Why it stopped early; "" if it went to its end.
    warnings : tuple of str
        What a person should know once.
    """

    comparisons: tuple[Comparison, ...]
    kept: int
    made: int
    replies: int
    from_tape: int
    failed: int = 0
    stopped: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every row that was wanted is there."""
        return not self.stopped and not self.failed

    def comparison(self, criterion: str | None = None, *, judge: str | None = None) -> Comparison:
        """The one comparison of that criterion and judge.

        Raises
        ------
        ConfigError
            If there is none, or more than one.
        """
        found = [
            one
            for one in self.comparisons
            if criterion in (None, one.criterion) and judge in (None, one.judge, one.judge_digest)
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            known = {one.criterion for one in self.comparisons}
            raise ConfigError(
                f'there is no comparison by "{criterion}"'
                f"{f' of judge {judge}' if judge else ''}.{did_you_mean(criterion or '', known)}"
            )
        listed = ", ".join(f"{one.criterion} by {one.judge}" for one in found)
        raise ConfigError(f"{len(found)} comparisons fit ({listed}); name criterion and judge")

    def frame(self) -> pd.DataFrame:
        """One row a criterion and judge.

        Columns: layer, criterion, old, new (str), win_rate, low, high (share, missing where
        undefined), wins, ties, losses, unscored, missing, cases (int), worst (share), p, p_exact,
        flip_rate, toward_first (share, missing where undefined), noise_margin (share),
        a_against_a (bool), judge, judge_digest, diag (str).
        """
        return _frame(self.comparisons)

    def _repr_html_(self) -> str:
        return _html(self.comparisons)


def _frame(comparisons: tuple[Comparison, ...]) -> pd.DataFrame:
    import pandas as pd  # heavy: only who wants a frame pays for it

    columns = ["layer", "criterion", "old", "new", "win_rate", "low", "high", "wins", "ties",
               "losses", "unscored", "missing", "cases", "worst", "p", "p_exact", "flip_rate",
               "toward_first", "noise_margin", "a_against_a", "judge", "judge_digest",
               "diag"]  # fmt: skip
    return pd.DataFrame(
        [
            {
                **{name: getattr(one, name) for name in columns if hasattr(one, name)},
                "win_rate": one.win_rate.value,
                "low": one.win_rate.low,
                "high": one.win_rate.high,
                "flip_rate": one.flips.rate.value,
                "toward_first": one.flips.toward_first.value,
                "noise_margin": one.noise.margin,
            }
            for one in comparisons
        ],
        columns=columns,
    )


def _html(comparisons: tuple[Comparison, ...]) -> str:
    parts = []
    for one in comparisons:
        doubts = f"<p>{html.escape(one.diag)}</p>" if one.diag else ""
        parts.append(
            f"<p><b>{html.escape(one.criterion)}</b> by {html.escape(one.judge)}, "
            f"{html.escape(one.new)} against {html.escape(one.old)}: {html.escape(one.finding)}"
            f"</p>{doubts}{estimates_html(one.estimates())}"
        )
    return "".join(parts)
