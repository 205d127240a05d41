"""Trusted, not trusted or open: what held-out labels settle, and what it takes to settle the rest.

It may not decide from a point where the rule says bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from agenteval_kit.stats.agreement import RARE_BELOW
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import counted

__all__ = ["State", "Statistic", "TrustDecision", "TrustRule", "look_error", "trust_decision"]

State = Literal["trusted", "not trusted", "provisional"]
Statistic = Literal["kappa", "kappa_linear", "kappa_quadratic", "ac1", "ac2_quadratic", "exact"]

_NO_CEILING = "ceiling unknown: no doubly labelled transcripts"


@dataclass(frozen=True, slots=True)
class TrustRule:
    """What it takes to trust a judge on a dimension.

    Attributes
    ----------
    statistic, at_least
        Judge-human statistic and the value it must reach.
    on
        "bound": the interval decides; "estimate": the point does, for those who accept it.
    min_labels
        Labelled transcripts below which the answer is provisional; scenarios, where some have
        several transcripts.
    gap_margin
        How far below a second person the judge may be, in exact agreement.
    raters
        2 asks for the gap; 1 does without, and the ceiling is unknown.
    """

    statistic: Statistic = "kappa_quadratic"
    at_least: float = 0.4
    on: Literal["bound", "estimate"] = "bound"
    min_labels: int = 100
    gap_margin: float = 0.10
    raters: int = 2


@dataclass(frozen=True, slots=True)
class TrustDecision:
    """Whether the judge is trusted, with the evidence that is missing.

    Attributes
    ----------
    state
        "trusted", "not trusted" or "provisional" (the labels do not settle it).
    reason
        In plain words.
    more_labels
        About how many further labelled transcripts (scenarios, where some have several) it takes
        to trust the judge, if they come out like these; None where labels are not what is missing,
        or where more of them would lead to "not trusted", which the reason says with its own
        number.
    """

    state: State
    reason: str
    more_labels: int | None


def look_error(look: int) -> float:
    """How often an interval of the look of that number may err.

    The first look at held-out labels keeps the usual 1 in 20. Look k has 0.05 / (k (k + 1)): all
    further ones together add up to 0.025, so that over any number of looks an interval errs at most
    0.075 of the time, which is 1.5 times as often as at one look.
    """
    return 0.05 if look < 2 else 0.05 / (look * (look + 1))


def trust_decision(
    statistic: Estimate,
    gap: Estimate | None,
    *,
    labels: int,
    outside_commonest: int,
    doubly: int | None = None,
    scenarios: int | None = None,
    rule: TrustRule | None = None,
) -> TrustDecision:
    """Whether held-out labels settle that the judge may be trusted.

    Parameters
    ----------
    statistic
        Judge with people, the statistic of the rule, two-sided interval.
    gap
        `ceiling_gap`, or None where one rater labelled.
    labels
        Labelled transcripts that were held out.
    outside_commonest
        Of those, transcripts on which a rater left the commonest level.
    doubly
        Of those, transcripts that two people labelled, on which the gap rests; all of them where
        it is not given.
    scenarios
        Of which the labels are, where some have several transcripts: then the rule, and
        `outside_commonest` and `doubly`, count scenarios. Repeats of one scenario are no evidence
        of another: 100 labels on 20 scenarios tell little more than 20.
    rule
        By default `TrustRule()`.

    Returns
    -------
    TrustDecision
        "provisional" where anything is missing or open.
    """
    rule = rule or TrustRule()
    many = labels if scenarios is None else scenarios
    unit = "labelled transcript" if many == labels else "scenario"
    checks = [_Check(rule.statistic, statistic, rule.at_least, many)]
    if rule.raters >= 2:
        none = Estimate.undefined(_NO_CEILING)
        twice = many if doubly is None else doubly
        checks.append(_Check("gap to a second person", gap or none, -rule.gap_margin, twice))
    early = _too_few(labels, many, outside_commonest, rule)
    answers = [one.answer(rule) for one in checks]
    if not early and "not trusted" in answers:
        failed = [one.shown for one in checks if one.answer(rule) == "not trusted"]
        return TrustDecision("not trusted", "; ".join(failed), None)
    if not early and set(answers) == {"trusted"}:
        words = "; ".join(one.shown for one in checks)
        alone = "; ceiling unknown" if rule.raters < 2 else ""
        return TrustDecision("trusted", words + alone, None)
    still = [one for one in checks if one.answer(rule) == "provisional"]
    said = [early, *checks[0].so_far] if early else [one.shown for one in still]
    hopeless = [one.hopeless for one in checks if one.hopeless]
    if hopeless:
        said.append(
            f"{' and '.join(hopeless)}: as it stands, no number of further labels makes this "
            "judge trusted"
        )
    least = _least(many, outside_commonest, rule)
    falling = [need for one in checks if (need := one.to_refuse) is not None]
    if rule.on == "estimate":
        falling = [0] * len(falling)
    if falling:
        if least is not None:
            more = max(least, min(falling))
            said.append(
                f"about {counted(more, f'more {unit}')} like these would make it not trusted"
            )
        return TrustDecision("provisional", "; ".join(said), None)
    if rule.on == "estimate":
        return TrustDecision("provisional", "; ".join(said), least or None)
    second = [one for one in checks[1:] if one.to_trust and one.n < many]
    said += [f"about {one.to_trust} second readings could settle the gap" for one in second]
    # A transcript that has one label takes a second reading, and no further transcript.
    needs = [least, *(one.n + one.to_trust - many for one in checks if one.to_trust is not None)]
    known = all(one.to_trust is not None for one in still) or bool(early)
    further = max((need for need in needs if need is not None), default=0)
    settled = known and least is not None and further > 0
    return TrustDecision("provisional", "; ".join(said), further if settled else None)


@dataclass(frozen=True, slots=True)
class _Check:
    """One number against what is wanted of it, on `n` transcripts."""

    name: str
    found: Estimate
    wanted: float
    n: int

    @property
    def shown(self) -> str:
        if self.found.value is None or self.found.low is None:
            reason = self.found.reason
            return reason if reason.startswith("ceiling unknown") else f"{self.name}: {reason}"
        return f"{self.name} {self.found.text()} against {self.wanted:g}"

    @property
    def so_far(self) -> list[str]:
        return [] if self.found.value is None else [f"{self.name} {self.found.text()} so far"]

    def answer(self, rule: TrustRule) -> State:
        value, low, high = self.found.value, self.found.low, self.found.high
        if value is None or low is None or high is None:
            return "provisional"
        if rule.on == "estimate":
            return "trusted" if value >= self.wanted else "not trusted"
        if low >= self.wanted:
            return "trusted"
        return "not trusted" if high < self.wanted else "provisional"

    @property
    def hopeless(self) -> str:
        high = self.found.high
        if high is None or high >= self.wanted:
            return ""
        return f"the upper bound of {self.name}, {high:.2f}, is already below {self.wanted:g}"

    @property
    def to_trust(self) -> int | None:
        """Further transcripts until the lower bound is there; None if the point is not."""
        value, low = self.found.value, self.found.low
        if value is None or low is None or value <= self.wanted:
            return None
        return self._further((value - low) / (value - self.wanted))

    @property
    def to_refuse(self) -> int | None:
        """Further transcripts until the upper bound is below; None if the point is not."""
        value, high = self.found.value, self.found.high
        if value is None or high is None or value >= self.wanted:
            return None
        return self._further((high - value) / (self.wanted - value))

    def _further(self, times: float) -> int:
        # The distance to a bound shrinks with the root of the labels.
        return max(0, math.ceil(self.n * times**2 - 1e-9) - self.n)


def _too_few(labels: int, many: int, outside: int, rule: TrustRule) -> str:
    if many < labels and many < rule.min_labels:
        return (
            f"{counted(labels, 'labelled transcript')} on {counted(many, 'scenario')}; "
            f"{counted(rule.min_labels, 'scenario')} wanted"
        )
    if many < rule.min_labels:
        return f"{counted(labels, 'labelled transcript')}, below {rule.min_labels:,}"
    if outside < RARE_BELOW:
        what = "transcript" if many == labels else "scenario"
        return f"too few failures: {counted(outside, what)} outside the commonest score"
    return ""


def _least(labels: int, outside: int, rule: TrustRule) -> int | None:
    """Further labels for the least numbers of labels and failures; None without any failure."""
    if outside >= RARE_BELOW:
        return max(0, rule.min_labels - labels)
    if not outside:
        return None
    # In labels drawn like these.
    failures = math.ceil(RARE_BELOW * labels / outside) - labels
    return max(0, rule.min_labels - labels, failures)
