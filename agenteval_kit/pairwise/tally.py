"""From preference rows to what they come to: win rate, flips, noise, and all that is in doubt.

May not mix two judges, two criteria or two pairs of versions, and may not apply a bar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.pairwise.result import Comparison
from agenteval_kit.records.preferences import ComparisonStamp, OrderRecord, PreferenceRow
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import wilson

if TYPE_CHECKING:
    from agenteval_kit.stats.pairwise import PositionFlips

__all__ = ["flips_of", "measure", "measured"]

_OLD_GETS = {"old": 1.0, "tie": 0.5, "new": 0.0}


def measure(
    rows: Iterable[PreferenceRow],
    *,
    stamp: ComparisonStamp | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """What the rows of one comparison come to.

    Parameters
    ----------
    rows : iterable of PreferenceRow
        Of one criterion, one judge digest, one old and one new version.
    stamp : ComparisonStamp, optional
        Says how many pairs there were to compare; without it the rows are all there were.
    level, draws, seed
        Of the intervals and of the resampling.

    Returns
    -------
    Comparison
        Undefined estimates with their reason where nothing was scored.

    Raises
    ------
    ConfigError
        If there is no row and no stamp, or rows of several comparisons are mixed.

    References
    ----------
    Tango (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B; Zheng et
    al. (2023), arXiv:2306.05685. Flip rates and agreement checked against pandas on the published
    verdicts of MT-Bench and LLMBar.
    """
    from agenteval_kit.stats.pairwise import noise_margin, preference_p, win_rate_clustered  # numpy

    listed = sorted(rows, key=lambda row: (row.case_id, row.repeat))
    head = _head(listed, stamp)
    scores = [row.score for row in listed]
    cases = [row.case_id for row in listed]
    counts = Counter(row.outcome for row in listed)
    by_case = _by_case(listed)
    repeated = any(len(each) > 1 for each in by_case.values())
    rate = win_rate_clustered(scores, clusters=cases, level=level, draws=draws, seed=seed)
    noise = noise_margin(scores, clusters=cases, level=level, draws=draws, seed=seed)
    if listed and not by_case:
        rate = replace(rate, reason="every pair is unscored")
    tests = preference_p(counts["new"], counts["old"])
    p: float | None = tests.p_mcnemar
    p_exact: float | None = tests.p_exact
    p_method = "McNemar's z"
    if repeated:
        p, p_exact = _clustered_p(by_case)
        p_method = "sign-flip over scenarios"
    if not by_case:
        p = p_exact = None
    missing = max(stamp.wanted - len(listed), 0) if stamp is not None else 0
    diag = "; ".join(_doubts(listed, missing))
    return Comparison(
        old=head.old,
        new=head.new,
        criterion=head.criterion,
        layer=head.layer,
        judge=head.judge,
        judge_digest=head.judge_digest,
        wins=counts["new"],
        ties=counts["tie"],
        losses=counts["old"],
        unscored=counts[None],
        missing=missing,
        cases=len(by_case),
        reasons=dict(
            Counter(_kind(row.reason) for row in listed if row.outcome is None).most_common()
        ),
        flags=dict(Counter(flag for row in listed for flag in row.flags)),
        win_rate=rate.noted(diag),
        worst=_worst(listed, missing),
        p=p,
        p_exact=p_exact,
        p_method=p_method,
        flips=flips_of(listed, level=level, draws=draws, seed=seed),
        noise=noise,
        scores={case: sum(each) / len(each) for case, each in by_case.items()},
        a_against_a=head.same_agent,
        repeated=repeated,
        diag=diag,
    )


def measured(
    rows: Iterable[PreferenceRow],
    stamps: Sequence[ComparisonStamp],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> tuple[Comparison, ...]:
    """One comparison a stamp, each from its own rows."""
    by_stamp: dict[tuple[str, ...], list[PreferenceRow]] = {_key(one): [] for one in stamps}
    for row in rows:
        key = (row.old, row.new, row.criterion, row.judge_digest)
        if key in by_stamp:
            by_stamp[key].append(row)
    return tuple(
        measure(by_stamp[_key(one)], stamp=one, level=level, draws=draws, seed=seed)
        for one in stamps
    )


def flips_of(
    rows: Iterable[PreferenceRow], *, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> PositionFlips:
    """Position flips over rows of any comparisons.

    Pairs that no judge was shown in both orders are left out and counted. Where a source only says
    that a pair flipped, and not which way, the rate is there and the preference for the first
    slot is undefined. Where cases have several pairs, the intervals are by case; the exact p of
    `p_first` then takes each pair as a case of its own and is too small, which `diag` says.

    Raises
    ------
    ConfigError
        If some rows hold both orders and others only say whether they disagree.
    """
    from agenteval_kit.stats.pairwise import PositionFlips, position_flips  # numpy

    # What code decided was never shown, so no order could have changed it.
    listed = [row for row in rows if row.by != "code"]
    told = [row for row in listed if row.flipped is not None and not row.orders]
    if not told:
        found = position_flips(
            [_old_gets(row, first="old") for row in listed],
            [_old_gets(row, first="new") for row in listed],
            level=level,
        )
        return _by_cases(found, listed, level=level, draws=draws, seed=seed)
    if any(row.orders for row in listed):
        raise ConfigError(
            "some rows hold both orders and some only say whether they disagree; measure the two "
            "kinds apart"
        )
    flips, dropped = sum(row.flipped is True for row in told), len(listed) - len(told)
    note = f"{dropped} not judged in both orders" if dropped else ""
    rate = wilson(flips, len(told), level=level).noted(note)
    nothing = Estimate.undefined(
        "the source says that pairs flipped, not toward which slot", level=level
    )
    found = PositionFlips(len(told), flips, dropped, rate, nothing, None, rate.diag)
    return _by_cases(found, listed, level=level, draws=draws, seed=seed)


def _by_cases(
    found: PositionFlips,
    rows: Sequence[PreferenceRow],
    *,
    level: float,
    draws: int,
    seed: int,
) -> PositionFlips:
    """The same flips with intervals over cases, where a case has several pairs."""
    from agenteval_kit.stats.mean import anchored_mean  # numpy

    both = [row for row in rows if row.flipped is not None]
    if len({row.case_id for row in both}) == len(both):
        return found

    def share(of: Sequence[PreferenceRow], yes: Sequence[bool], was: Estimate) -> Estimate:
        if was.value is None:
            return was
        made = anchored_mean(
            [float(one) for one in yes], levels=(0.0, 1.0), clusters=[row.case_id for row in of],
            estimand="case", level=level, draws=draws, seed=seed,
        )  # fmt: skip
        return made.noted(was.diag)

    flipped = [row for row in both if row.flipped]
    first = [(_old_gets(row, first="old") or 0) > (_old_gets(row, first="new") or 0)
             for row in flipped]  # fmt: skip
    doubt = "pairs of one case are not independent: p_first is too small" if found.p_first else ""
    return replace(
        found,
        rate=share(both, [row.flipped is True for row in both], found.rate),
        toward_first=share(flipped, first, found.toward_first),
        diag="; ".join(part for part in (found.diag, doubt) if part),
    )


def _old_gets(row: PreferenceRow, *, first: str) -> float | None:
    order: OrderRecord | None = next((one for one in row.orders if one.first == first), None)
    return None if order is None or order.preferred is None else _OLD_GETS[order.preferred]


def _head(rows: Sequence[PreferenceRow], stamp: ComparisonStamp | None) -> PreferenceRow:
    """What all rows have in common."""
    if not rows:
        if stamp is None:
            raise ConfigError("nothing was compared: there is no preference row")
        return PreferenceRow(
            case_id="", criterion=stamp.criterion, layer=stamp.layer, old=stamp.old, new=stamp.new,
            reason="nothing was compared", judge=stamp.judge, judge_digest=stamp.judge_digest,
            same_agent=stamp.same_agent,
        )  # fmt: skip
    kinds = {(row.criterion, row.judge, row.judge_digest, row.old, row.new) for row in rows}
    if len(kinds) > 1:
        shown = "; ".join(
            f"{criterion} by {judge} ({digest}), {new} against {old}"
            for criterion, judge, digest, old, new in sorted(kinds)[:3]
        )
        raise ConfigError(
            f"{len(kinds)} comparisons are not mixed into one: {shown}. Measure each by itself; "
            "more than two versions are ranked by rank_rows"
        )
    return rows[0]


def _by_case(rows: Iterable[PreferenceRow]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.score is not None:
            found.setdefault(row.case_id, []).append(row.score)
    return found


def _clustered_p(by_case: dict[str, list[float]]) -> tuple[float | None, float | None]:
    from agenteval_kit.stats.paired import paired_scores  # numpy

    means = [sum(each) / len(each) for each in by_case.values()]
    change = paired_scores([0.5] * len(means), means, levels=(0.0, 0.5, 1.0))
    return change.p_sign_flip, change.p_exact_sign


def _worst(rows: Iterable[PreferenceRow], missing: int) -> float | None:
    """The rate over cases with what could not be told as lost."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.case_id, []).append(row.score or 0.0)
    means = [sum(each) / len(each) for each in found.values()]
    # Which case a missing pair belongs to is not known here; each counts as one of its own.
    means += [0.0] * missing
    return sum(means) / len(means) if means else None


def _doubts(rows: Sequence[PreferenceRow], missing: int) -> list[str]:
    flags = Counter(flag for row in rows for flag in row.flags)
    told = [f"{missing:,} not compared yet"] if missing else []
    sides = sorted({side for row in rows for side in row.same_model}, reverse=True)
    if sides:
        told.append(f"judge = agent model ({' and '.join(sides)})")
    if flags["identical"]:
        told.append(f"{flags['identical']} identical outputs tied without a call")
    if flags["crash"]:
        told.append(f"{flags['crash']} decided by a crash")
    if flags["instruction_in_candidate"]:
        told.append(f"{flags['instruction_in_candidate']} hold what reads like an order to a judge")
    served = {order.model_served for row in rows for order in row.orders if order.model_served}
    if len(served) > 1:
        told.append(f"served by {len(served)} models: {', '.join(sorted(served))}")
    notes = {note for row in rows for order in row.orders for note in order.notes}
    return told + sorted(note for note in notes if "refused" in note)


def _kind(reason: str) -> str:
    """A reason without its particulars, so that equal ones can be counted."""
    bare = reason.removeprefix("old first: ").removeprefix("new first: ")
    if " is none of " in bare:
        return "none of A, B and TIE"
    return bare.partition(":")[0].partition(";")[0]


def _key(stamp: ComparisonStamp) -> tuple[str, ...]:
    return (stamp.old, stamp.new, stamp.criterion, stamp.judge_digest)
