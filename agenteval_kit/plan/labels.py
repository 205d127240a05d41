"""How many labels a trust decision takes, for a judge that is as good as a person.

May not say that a judge is trusted: labels do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.plan.shown import answer_html
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.trust import TrustRule, chance_trusted

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ACCURACY",
    "ENOUGH_FOR",
    "SHAPES",
    "LabelsChance",
    "LabelsNeeded",
    "labels_table",
    "plan_labels",
]

SHAPES: Mapping[str, tuple[float, ...]] = {
    "balanced": (0.15, 0.25, 0.35, 0.25),
    "skewed": (0.03, 0.07, 0.25, 0.65),
    "very skewed": (0.01, 0.02, 0.07, 0.90),
}
"""Shares of transcripts at each level of a 1 to 4 scale, to plan with while none was judged."""

ACCURACY = 0.8
"""How often people give the true level, while nobody has measured it."""

ENOUGH_FOR: tuple[tuple[str, str], ...] = (
    (
        "20 to 30 labels",
        "finding disagreements to read; exact agreement to within 13 to 18 points; no trust "
        "decision on kappa",
    ),
    (
        "60 labels, 10 or more that people failed",
        "a corrected pass rate to within 7 points, a corrected mean to within 0.15",
    ),
    (
        "100 labels, half from judged failures",
        "a corrected rate to within 4 to 6 points (8 where about 60 % pass); quadratic kappa to "
        "within 0.14 to 0.16",
    ),
    (
        "200 labelled by two people",
        "showing that a judge is 11 points below the agreement of people, nine times in ten",
    ),
    ("fewer than 10 scenarios", "no interval over scenarios without a warning"),
)
"""What an amount of evidence is enough for, from the simulations behind docs/methods.md."""


@dataclass(frozen=True, slots=True)
class LabelsChance:
    """What becomes of a judge at one number of labels; the three chances add up to 1."""

    labels: int
    trusted: Estimate
    not_trusted: float
    provisional: float


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How many doubly labelled, held-out transcripts a trust decision takes.

    Attributes
    ----------
    dimension : str
        Empty where it is any.
    shape : str
        Where the shares come from.
    shares : tuple of float
        Share of transcripts at each level, lowest first.
    accuracy : float
        How often a person gives the true level; the judge is taken to be as good.
    chances : tuple of LabelsChance
        A number of labels each; the chance of "trusted" with the interval of the simulation.
    target : float
        The chance that `labels` is to reach.
    labels : int or None
        The smallest number tried at which the judge is trusted with that chance; None if none was.
    rule : TrustRule
        What trust takes.
    assumption, method : str
        In words.
    """

    dimension: str
    shape: str
    shares: tuple[float, ...]
    accuracy: float
    chances: tuple[LabelsChance, ...]
    target: float
    labels: int | None
    rule: TrustRule
    assumption: str
    method: str

    @property
    def question(self) -> str:
        """What this answers."""
        where = f" for {self.dimension}" if self.dimension else ""
        return f"How many labels for a trust decision{where}?"

    def lines(self) -> tuple[str, ...]:
        """The answer in words."""
        shown = ", ".join(
            f"{one.labels:,} labels: {one.trusted.text(percent=True)}" for one in self.chances
        )
        wanted = f"{100 * self.target:g} % of the time"
        if self.labels is not None:
            found = (
                f"about {self.labels:,} labels find a judge as good as a person trusted {wanted}"
            )
        else:
            most = max(one.labels for one in self.chances)
            found = f"even {most:,} labels do not find a judge as good as a person trusted {wanted}"
            if self.shares and max(self.shares) >= 0.8:
                found += ": failures are missing, not labels; sample them"
        return (f"{found} ({self.shape} scores)", f"chance of being trusted at {shown}")

    @property
    def sentence(self) -> str:
        """The lines as one."""
        return "; ".join(self.lines())

    def frame(self) -> pd.DataFrame:
        """One row per number of labels.

        Columns: dimension, scores (str), labels (int), trusted, low, high (chance with the
        interval of the simulation), not_trusted, provisional (chances).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        rows = [
            (
                self.dimension, self.shape, one.labels, one.trusted.value, one.trusted.low,
                one.trusted.high, one.not_trusted, one.provisional,
            )
            for one in self.chances
        ]  # fmt: skip
        names = ["dimension", "scores", "labels", "trusted", "low", "high", "not_trusted",
                 "provisional"]  # fmt: skip
        return pd.DataFrame(rows, columns=names)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "question": self.question,
            "answer": self.sentence,
            "dimension": self.dimension,
            "scores": self.shape,
            "shares": list(self.shares),
            "accuracy": self.accuracy,
            "labels": self.labels,
            "target": self.target,
            "chances": [
                {
                    "labels": one.labels,
                    "trusted": one.trusted.value,
                    "low": one.trusted.low,
                    "high": one.trusted.high,
                    "not_trusted": one.not_trusted,
                    "provisional": one.provisional,
                }
                for one in self.chances
            ],
            "assumption": self.assumption,
            "method": self.method,
        }

    def _repr_html_(self) -> str:
        return answer_html(self)


def plan_labels(
    shares: Sequence[float] | str = "skewed",
    *,
    labels: Sequence[int] = (50, 100, 200),
    accuracy: float = ACCURACY,
    target: float = 0.8,
    rule: TrustRule | None = None,
    dimension: str = "",
    source: str = "",
    replicates: int = 400,
    seed: int = 0,
) -> LabelsNeeded:
    """The chance that a judge exactly as good as the people would be found trusted.

    Parameters
    ----------
    shares : sequence of float, or str
        Share of transcripts at each true level, lowest first; or a name of `SHAPES`. From scores,
        see `stats.raters.true_shares`.
    labels : sequence of int
        Numbers of doubly labelled, held-out transcripts to try.
    accuracy : float
        How often a person gives the true level; errors go to the neighbours.
    target : float
        The chance that is wanted.
    rule : TrustRule, optional
        What trust takes. Below its `min_labels` the answer is provisional whatever the labels say;
        the chance given there is what the labels alone would say.
    dimension, source : str
        Which dimension, and where the shares come from.
    replicates, seed : int
        Simulated calibrations at each number, and their seed.

    Raises
    ------
    ConfigError
        If there is no such shape, no number of labels, or the accuracy is not between 0 and 1.
    """
    if isinstance(shares, str):
        if shares not in SHAPES:
            raise ConfigError(f'shares: no shape "{shares}"; known are {", ".join(SHAPES)}.')
        shape, given = shares, SHAPES[shares]
    else:
        shape = "observed"
        total = float(sum(shares))
        if len(shares) < 2 or total <= 0 or min(shares) < 0:
            raise ConfigError(f"shares: {list(shares)} are no shares of two levels or more.")
        given = tuple(one / total for one in shares)
    if not labels or min(labels) < 2:
        raise ConfigError(f"labels: {list(labels)} holds no number of labels of 2 or more.")
    rule = rule or TrustRule()
    asked = sorted(set(labels))
    chances = tuple(_chance(given, n, accuracy, rule, replicates, seed) for n in asked)
    reached = [
        one.labels
        for one in chances
        if (one.trusted.value or 0) >= target and one.labels >= rule.min_labels
    ]
    below = [n for n in asked if n < rule.min_labels]
    note = (
        f"; the bar calls fewer than {rule.min_labels:,} labels provisional, whatever they say"
        if below
        else ""
    )
    return LabelsNeeded(
        dimension=dimension,
        shape=shape,
        shares=given,
        accuracy=accuracy,
        chances=chances,
        target=target,
        labels=min(reached, default=None),
        rule=rule,
        assumption=(
            f"people and judge give the true level {100 * accuracy:g} % of the time and else a "
            f"neighbour; scores at {_shown(given)} ({source or f'assumed, {shape}'}){note}"
        ),
        method=(
            f"{replicates} simulated calibrations at each number, seed {seed}, decided by the "
            f"rule of the bar: {rule.statistic} at least {rule.at_least:g} and a gap to a second "
            f"person above -{rule.gap_margin:g}, on the {rule.on}"
        ),
    )


def labels_table() -> pd.DataFrame:
    """One row per amount of evidence: evidence, enough_for (str)."""
    import pandas as pd  # heavy: only who wants a frame pays for it

    return pd.DataFrame(ENOUGH_FOR, columns=["evidence", "enough_for"])


def _chance(
    shares: Sequence[float], n: int, accuracy: float, rule: TrustRule, replicates: int, seed: int
) -> LabelsChance:
    # What the labels say, apart from the floor that the rule sets: the floor is said in words.
    found = chance_trusted(
        shares,
        accuracy,
        n,
        rule=replace(rule, min_labels=min(rule.min_labels, n)),
        replicates=replicates,
        seed=seed,
    )
    trusted = wilson(round(found["trusted"] * replicates), replicates)
    return LabelsChance(n, trusted, found["not trusted"], found["provisional"])


def _shown(shares: Sequence[float]) -> str:
    return "/".join(f"{100 * one:.3g}" for one in shares) + " %"
