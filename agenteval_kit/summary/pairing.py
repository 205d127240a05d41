"""Two summaries of one suite, paired by case id: what changed, with the interval of the change.

May not judge by two separate intervals, and may not pair what was not scored on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agenteval_kit.runs import Run, unchanged_cases
from agenteval_kit.stats.estimate import Estimate, digits_shown
from agenteval_kit.summary.scores import CaseScore, Counts
from agenteval_kit.summary.total import Summary
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.stats.noninferiority import Answer

__all__ = ["PairedLayer", "asked_alike", "pair_layer", "points", "why_not_comparable"]

_NAMED = 6


@dataclass(frozen=True, slots=True)
class PairedLayer:
    """One layer of two runs over the cases that both scored.

    Attributes
    ----------
    layer : str
        Or `ALL_CHECKS`.
    ids : tuple of str
        The paired cases.
    old, new : tuple of float
        Share of the repeats that passed, a case each.
    difference : Estimate
        New minus old, in [-1, 1]: Tango's interval, or with repeats the anchored one over cases.
        It decides.
    p, p_exact : float or None
        McNemar's z, or with repeats the sign-flip test; the exact sign test, which is
        conservative and never decides.
    worse, better : tuple of str
        Cases whose share fell, rose; without repeats these are the broken and the fixed ones.
    dropped : tuple of str
        Cases of both runs that were not scored on both sides.
    repeated : bool
        Whether some case has more than one scored repeat.
    """

    layer: str
    ids: tuple[str, ...]
    old: tuple[float, ...]
    new: tuple[float, ...]
    difference: Estimate
    p: float | None
    p_exact: float | None
    worse: tuple[str, ...]
    better: tuple[str, ...]
    dropped: tuple[str, ...]
    repeated: bool

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.ids)

    @property
    def shown(self) -> bool | None:
        """Whether the interval of the difference excludes 0; None without an interval."""
        return self.difference.excludes(0)

    @property
    def changes(self) -> tuple[float, ...]:
        """New share minus old share, a case each."""
        return tuple(new - old for old, new in zip(self.old, self.new, strict=True))

    @property
    def broke(self) -> tuple[str, ...]:
        """Of the worse cases those that pass in no repeat now."""
        now = dict(zip(self.ids, self.new, strict=True))
        return tuple(name for name in self.worse if not now[name])

    @property
    def less_often(self) -> tuple[str, ...]:
        """Of the worse cases those that still pass in some repeat."""
        broke = set(self.broke)
        return tuple(name for name in self.worse if name not in broke)

    @property
    def mended(self) -> tuple[str, ...]:
        """Of the better cases those that pass in every repeat now."""
        now = dict(zip(self.ids, self.new, strict=True))
        return tuple(name for name in self.better if now[name] == 1)

    @property
    def more_often(self) -> tuple[str, ...]:
        """Of the better cases those that still fail in some repeat."""
        mended = set(self.mended)
        return tuple(name for name in self.better if name not in mended)

    @property
    def fallen(self) -> str:
        """The cases that got worse: "2 cases broke (a, b), 1 passes less often (c)", or nothing."""
        less = self.less_often
        told = [f"{counted(len(self.broke), 'case')} broke ({_some(self.broke)})"]
        told *= bool(self.broke)
        if less:
            many = f"{len(less):,}" if told else counted(len(less), "case")
            told.append(f"{many} pass{'es' * (len(less) == 1)} less often ({_some(less)})")
        return ", ".join(told)

    def fell_further(self, layers: Iterable[PairedLayer]) -> tuple[str, ...]:
        """Cases that fell in one of these layers and not in this: here something failed before."""
        fell = dict.fromkeys(name for pair in layers for name in pair.worse)
        return tuple(name for name in fell if name not in self.worse)

    def all_fallen(self, layers: Iterable[PairedLayer]) -> str:
        """`fallen`, and the cases that fell further: "3 that failed before fell in a layer (a)"."""
        further = self.fell_further(layers)
        if not further:
            return self.fallen
        who = counted(len(further), "case") if not self.fallen else f"{len(further):,} more"
        said = f"{who} that failed before too fell in a layer ({_some(further)})"
        return ", ".join(part for part in (self.fallen, said) if part)

    @property
    def finding(self) -> str:
        """Worse, better or no difference shown, with the shares and the interval."""
        change = self.difference
        if change.value is None:
            return f"not computable: {change.reason}"
        word = "no difference shown"
        if self.shown:
            word = "worse" if change.value < 0 else "better"
        # The claim beside it reads a one-sided bound, so each says which it is.
        return f"{word}: {self.shares()}, difference {points(change, said=', two-sided 95 %')}"

    def claim(
        self, margin: float, *, unit: Literal["pass share", "win rate"] = "pass share"
    ) -> tuple[Answer, str]:
        """Whether a drop beyond the margin is ruled out (pass), shown (fail), or neither.

        In `unit`, which the reason names where it is the win rate: a case lost for one won moves
        that by half of what it moves the share.

        Returns
        -------
        tuple of str
            pass, fail or undecided; and the reason in points, with the cases it would take.

        Raises
        ------
        ConfigError
            If the margin is not above 0.
        """
        from agenteval_kit.stats.noninferiority import non_inferiority  # numpy: checks need none

        scale, of = (0.5, " of win rate") if unit == "win rate" else (1.0, "")
        found = non_inferiority(
            [scale * change for change in self.changes], margin, low=-scale, high=scale
        )
        wanted = counted(100 * margin, "point") + of
        bound = "(one-sided 95 %)"
        if found.drop_not_ruled_out is None:
            return found.answer, found.reason
        if found.answer == "pass":
            return "pass", f"a drop of {wanted} is ruled out {bound}"
        if found.answer == "fail":
            return "fail", f"the drop is larger than {wanted} {bound}"
        drop = _over(found.drop_not_ruled_out, margin)
        text = f"a drop of up to {drop} points{of} is not ruled out {bound}"
        if found.n_needed is None:
            return "undecided", text
        if found.n_needed > self.n:
            more = f"to rule out {100 * margin:.12g} would take about {found.n_needed:,} cases"
        else:
            many = counted(found.n_needed, "case")
            more = f"{many} rule it out four times in five if nothing changed"
        return "undecided", f"{text}; {more}"

    def shares(self) -> str:
        """New against old: "44 of 60 against 44 of 60"."""
        if not self.ids:
            return "no case was scored in both runs"
        old, new = math.fsum(self.old), math.fsum(self.new)
        if not self.repeated:
            return f"{round(new):,} of {self.n:,} against {round(old):,} of {self.n:,}"
        digits = max(_digits(self.difference), 1)
        left, right = (f"{100 * side / self.n:.{digits}f} %" for side in (new, old))
        return f"{left} against {right} (mean over {counted(self.n, 'case')})"

    def sentence(self, *, margin: float = 0.05) -> str:
        """What the comparison shows, and what it does not rule out.

        Raises
        ------
        ConfigError
            If the margin is not above 0.
        """
        if self.difference.value is None:
            return f"cannot tell: {self.difference.reason}"
        parts = [self.finding, self.claim(margin)[1]]
        if self.dropped:
            parts.append(f"{counted(len(self.dropped), 'case')} not scored in both runs")
        return "; ".join(parts)


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return f"{', '.join(ids[:_NAMED])}{more}"


def pair_layer(old: Summary, new: Summary, layer: str) -> PairedLayer:
    """Pair one layer (or `ALL_CHECKS`) of two runs by case id.

    Cases that stand in one run only are not here, nor of two versions of a suite those that were
    edited; see `agenteval_kit.compare`.
    """
    before = asked_alike(old, new)
    ids: list[str] = []
    left: list[float] = []
    right: list[float] = []
    dropped: list[str] = []
    repeated = False
    for case in new.cases:
        partner = before.get(case.case_id)
        if partner is None:
            continue
        one, two = partner.counts.get(layer), case.counts.get(layer)
        if not _wanted(one) and not _wanted(two):
            continue
        if one is None or two is None or one.rate is None or two.rate is None:
            dropped.append(case.case_id)
            continue
        ids.append(case.case_id)
        left.append(one.rate)
        right.append(two.rate)
        repeated = repeated or max(one.n, two.n) > 1
    difference, p, p_exact = _difference(left, right, repeated=repeated)
    pairs = list(zip(ids, left, right, strict=True))
    return PairedLayer(
        layer=layer,
        ids=tuple(ids),
        old=tuple(left),
        new=tuple(right),
        difference=difference,
        p=p,
        p_exact=p_exact,
        worse=tuple(name for name, one, two in pairs if two < one),
        better=tuple(name for name, one, two in pairs if two > one),
        dropped=tuple(dropped),
        repeated=repeated,
    )


def asked_alike(old: Summary, new: Summary) -> dict[str, CaseScore]:
    """Cases of the old run that the new one was asked word for word, by id."""
    before = {case.case_id: case for case in old.cases}
    if old.suite_digest == new.suite_digest:
        return before
    after = {case.case_id: case.plan.digest for case in new.cases}
    return {
        name: case
        for name, case in before.items()
        if case.plan.digest is not None and case.plan.digest == after.get(name)
    }


def why_not_comparable(old: Run, new: Run) -> str:
    """Why two runs may not be compared; empty where they may."""
    # A copied folder is the same run still.
    if old.info.id == new.info.id:
        return "a run is not compared with itself; name another run as the baseline"
    if old.info.suite != new.info.suite:
        return (
            f'the suites differ: "{new.info.suite}" here, "{old.info.suite}" in the baseline; '
            "name a run of the same suite"
        )
    if unchanged_cases(old.info, new.info) == frozenset():
        digests = f"digest {new.info.suite_digest} here, {old.info.suite_digest} in the baseline"
        noted = all(case.digest is not None for case in (*old.info.cases, *new.info.cases))
        why = (
            "no case is the same in both"
            if noted
            else "a run of an older package does not note which cases are the same"
        )
        return (
            f"the suites differ ({digests}): cases or expectations were edited in between, and "
            f"{why}; run the baseline's agent on the suite as it is now"
        )
    return ""


def points(change: Estimate, *, said: str = "") -> str:
    """A difference of shares in percentage points: "0 points (-12 to +12)".

    `said` follows the interval inside its brackets.
    """
    if change.value is None:
        return f"not computable: {change.reason}"
    digits = _digits(change)

    def shown(value: float) -> str:
        # Adding 0.0 turns a rounded "-0" into "0".
        rounded = round(100 * value, digits) + 0.0
        return f"{rounded:+.{digits}f}" if rounded else f"{rounded:.{digits}f}"

    if change.low is None or change.high is None:
        return f"{shown(change.value)} points (no interval: {change.reason})"
    return f"{shown(change.value)} points ({shown(change.low)} to {shown(change.high)}{said})"


def _digits(change: Estimate) -> int:
    return digits_shown(change.half_width, scale=100.0, fewest=0)


def _over(drop: float, margin: float) -> str:
    # Upward: what is left above the printed figure is not ruled out either. And rounding may not
    # make a drop look as small as the margin that it misses.
    for digits in range(0 if drop >= 0.1 else 1, 12):
        fine = 10**digits
        text = f"{math.ceil(100 * drop * fine - 1e-6) / fine:.{digits}f}"
        if float(text) > 100 * margin:
            return text
    return f"{100 * drop!r}"


def _wanted(counts: Counts | None) -> bool:
    # A case without a check in this layer has nothing that could have been scored.
    return counts is not None and counts.n + counts.unscored > 0


def _difference(
    old: list[float], new: list[float], *, repeated: bool
) -> tuple[Estimate, float | None, float | None]:
    from agenteval_kit.stats.paired import paired_binary, paired_scores  # numpy, see above

    if not old:
        return Estimate.undefined("no case was scored in both runs"), None, None
    if repeated:
        scores = paired_scores(old, new, levels=(0, 1))
        return scores.difference, scores.p_sign_flip, scores.p_exact_sign
    binary = paired_binary([round(x) for x in old], [round(x) for x in new])
    return binary.difference, binary.p_mcnemar, binary.p_exact
