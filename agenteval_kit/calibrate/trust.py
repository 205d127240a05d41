"""Whether the judge of a dimension is trusted, in words, and what would settle or mend it.

May not decide by itself: `agenteval_kit.stats.decision` does, by the rule of the bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agenteval_kit.calibrate.beside import Beside
from agenteval_kit.calibrate.ceiling import Ceiling
from agenteval_kit.calibrate.entry import wording_digest
from agenteval_kit.records import bars
from agenteval_kit.records.calibrations import DimensionCalibration
from agenteval_kit.records.trust import TrustState
from agenteval_kit.records.verdicts import JudgeStamp
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.stats.estimate import Estimate
    from agenteval_kit.stats.trust import TrustRule

__all__ = ["Decided", "chance_as_good", "decide_trust", "order_of_repair", "stats_rule"]

_REPLICATES = 200
_ASSUMED = 0.8


@dataclass(frozen=True, slots=True)
class Decided:
    """Trust in one judge on one dimension, why, and the further labels that could settle it."""

    state: TrustState
    reason: str
    more_labels: int | None

    def doubted(self, *why: str) -> Decided:
        """The same where nothing stands in the way; else with it in words, and trust open."""
        said = "; ".join(one for one in (*why, self.reason) if one)
        open_ = self.state == "trusted" and any(why)
        return replace(self, state="provisional" if open_ else self.state, reason=said)


def decide_trust(beside: Beside, rule: bars.TrustRule, *, looks: int) -> Decided:
    """The state by the rule, with what a reader would otherwise overlook.

    Parameters
    ----------
    beside : Beside
        The judge with people, its intervals widened for `looks`.
    rule : bars.TrustRule
        The bar's.
    looks : int
        Looks at the held-out scenarios so far, this one included.
    """
    from agenteval_kit.stats.decision import look_error, trust_decision  # numpy

    asked = stats_rule(rule)
    if not beside.transcripts:
        return Decided("provisional", "no held-out label with a score beside it", rule.min_labels)
    statistic: Estimate = getattr(beside.agreement, asked.statistic)
    found = trust_decision(
        statistic,
        beside.gap if rule.raters > 1 else None,
        labels=beside.transcripts,
        outside_commonest=beside.scenarios_outside,
        doubly=beside.scenarios_doubly,
        scenarios=beside.scenarios,
        rule=asked,
    )
    said = [found.reason]
    if rule.raters > 1 and not beside.doubly:
        held = counted(beside.transcripts, "held-out transcript")
        said.append(
            f"let a second person read the same {held} (`agenteval label RUN --rater NAME`, "
            "with --sample and --purpose as the first had them), then `agenteval calibrate RUN` "
            "again"
        )
    # Below the number of labels the rule names nothing else: the reader still wants the figures.
    figure = f"{asked.statistic} {statistic.text()}"
    if statistic.value is not None and figure not in found.reason:
        said.append(f"{figure} so far")
    one_level = beside.dominated(rule)
    said.append(one_level)
    state = found.state
    if state == "trusted" and beside.constant is not None:
        said, state = [beside.saying_one(), *said], "provisional"
    elif state == "trusted" and one_level and not rule.beyond_chance:
        # Agreement that is not corrected for chance is high for who always says that level.
        said, state = [one_level, *said[:-1]], "provisional"
    left_out = beside.open + (beside.gap_open if rule.raters > 1 else ())
    if left_out:
        # However many labels like these there are: the run holds what they do not speak for.
        said, state = [*left_out, *said], "provisional"
    alone = _hidden(beside, rule) if state == "trusted" else ""
    if alone:
        said, state = [alone, *said], "provisional"
    if rule.raters < 2 and "ceiling unknown" not in found.reason:
        said.append("ceiling unknown")
    if not beside.drawn:
        said.append("on labels that were not drawn from the run")
    if rule.on == "estimate":
        said.append("decided on the point, not on the bound")
    if looks > 1:
        said.append(
            f"look {looks} at these labels or of this judge: its intervals err at most once in "
            f"{round(1 / look_error(looks))}, those of all looks together once in 13"
        )
    return Decided(state, "; ".join(one for one in said if one), found.more_labels)


def _hidden(beside: Beside, rule: bars.TrustRule) -> str:
    """That the gap passes only because of one rater, in words; or empty."""
    if rule.raters < 2 or beside.without is None or beside.without[1] >= -rule.gap_margin:
        return ""
    rater, gap = beside.without
    return (
        f"without {rater} the gap to a second person is {gap:.2f}, below {-rule.gap_margin:g}: see "
        f"whether {rater} reads as the others do, or have another person read the same"
    )


def stats_rule(rule: bars.TrustRule) -> TrustRule:
    """The rule of a bar in the names of the statistics."""
    from agenteval_kit.stats.trust import TrustRule  # numpy

    return TrustRule(
        statistic="ac2_quadratic" if rule.statistic == "ac2" else rule.statistic,
        at_least=rule.at_least,
        on=rule.on,
        min_labels=rule.min_labels,
        gap_margin=rule.gap_margin,
        raters=rule.raters,
    )


def chance_as_good(
    beside: Beside, ceiling: Ceiling, rule: bars.TrustRule, *, seed: int = 0
) -> Estimate:
    """The chance that a judge exactly as good as a person would be found trusted.

    At the number of held-out labels (of scenarios, where some have several transcripts), drawn as
    they were where that is known and else evenly, by the levels of this look; below the rule's
    `min_labels` at that number, because before it the chance is 0, and `diag` says so. True levels
    and people are those under the labels (see `stats.raters`). The interval is that of the
    simulation.
    """
    from agenteval_kit.stats.estimate import Estimate
    from agenteval_kit.stats.proportion import wilson
    from agenteval_kit.stats.raters import person_accuracy, true_shares
    from agenteval_kit.stats.trust import chance_trusted

    if not beside.shares:
        return Estimate.undefined("no held-out labels")
    labels = max(beside.scenarios, rule.min_labels)
    # While nobody has read one twice the chance is 0, and it is told for labels that all are.
    twice = labels
    if rule.raters > 1 and beside.doubly:
        twice = round(labels * beside.scenarios_doubly / beside.scenarios)
    exact = ceiling.agreement.exact.value
    accuracy = _ASSUMED if exact is None else person_accuracy(beside.shares, exact)
    if accuracy is None:
        return Estimate.undefined(
            f"people agree exactly on {exact:.2f}: no simulated person agrees so seldom"
        )
    statistic: Estimate = getattr(beside.agreement, stats_rule(rule).statistic)
    found = chance_trusted(
        true_shares(beside.shares, accuracy).tolist(),
        accuracy,
        labels,
        doubly=twice,
        chances=beside.chances if len(set(beside.chances)) > 1 else None,
        run=beside.run or 10 * labels,
        rule=stats_rule(rule),
        level=statistic.level,
        replicates=_REPLICATES,
        draws=500,
        seed=seed,
    )
    short = beside.scenarios < rule.min_labels
    what = f"{labels:,} doubly labelled transcripts"
    if twice < labels:
        what = f"{labels:,} labelled transcripts, {twice:,} of them doubly,"
    return wilson(round(found["trusted"] * _REPLICATES), _REPLICATES).noted(
        f"at {what} scored and drawn as these are"
        if beside.chances
        else f"at {what} scored as these are, for an even draw",
        "the interval is of the simulation, not of the labels that tell the levels",
        f"at {beside.scenarios:,} it is 0: the rule asks for {rule.min_labels:,}" if short else "",
        "one transcript a scenario" if beside.scenarios < beside.transcripts else "",
        "people taken to be right 80 % of the time: their agreement is not known"
        if exact is None
        else "",
    )


def order_of_repair(
    stamp: JudgeStamp,
    now: Decided,
    beside: Beside,
    *,
    earlier: Sequence[DimensionCalibration],
    rule: bars.TrustRule,
) -> tuple[str, ...]:
    """What this and earlier calibrations say about how the dimension was, or should be, mended.

    The anchors come first and the judge last: a warning where the judge was changed while people
    did not agree or the judge was still short of them; where more labels would be asked for in
    vain; and where a dimension is not trusted after two revisions of its anchors, that people
    should score it.
    """
    told: list[str] = []
    statistic: Estimate = getattr(beside.agreement, stats_rule(rule).statistic)
    short = statistic.high is not None and statistic.high < rule.at_least
    behind = beside.gap.high is not None and beside.gap.high < -rule.gap_margin
    if beside.constant is not None:
        told.append(beside.saying_one())
    elif now.state == "provisional" and (short or (behind and rule.raters > 1)):
        told.append(
            "an upper bound lies below what the rule asks already: mend the anchors before more "
            "is labelled"
        )
    others = [one for one in earlier if one.judge_digest != stamp.judge_digest]
    if others:
        last = others[-1]
        changed = last.seats != stamp.seats and last.dimension_digest == stamp.dimension_digest
        gap = last.gap
        trailing = gap is not None and gap.low is not None and gap.low < -rule.gap_margin
        why = last.rubric_state or ("the gap to a second person was open" if trailing else "")
        if changed and why:
            told.append(
                f"the judge was changed ({last.judge} to {stamp.judge}) while the anchors were "
                f"not settled: {why}; mend the anchors first and the judge last"
            )
    # Another prompt or panel under the same anchors is no revision of them.
    revised = {
        one.wording_digest or one.dimension_digest
        for one in earlier
        if one.dimension_digest != stamp.dimension_digest
    } - {wording_digest(stamp)}
    if now.state == "not trusted" and len(revised) >= 2:
        told.append(
            f"not trusted after {len(revised)} revisions of the anchors: let people score this "
            "dimension instead of a judge"
        )
    return tuple(told)
