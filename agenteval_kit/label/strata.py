"""Parts of a run that transcripts are drawn from: by what judges or checks found in them.

May not draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.label.shelf import Key
from agenteval_kit.records import JudgeStamp
from agenteval_kit.runs import Run, choose_judge

__all__ = ["Strata", "by_checks", "by_verdicts", "quotas"]

NO_SCORE = "no score"
FAILED, PASSED = "a check failed", "no check failed"


@dataclass(frozen=True)
class Strata:
    """Which stratum each transcript lies in.

    Attributes
    ----------
    of : dict of (str, int) to str
        Name of its stratum.
    low : str
        The stratum where failures are to be expected; half of the labels go there.
    by, judge_digest : str
        See `Sample`.
    """

    of: Mapping[Key, str]
    low: str
    by: str
    judge_digest: str


def by_verdicts(run: Run, keys: Iterable[Key], *, dimension: str | None) -> Strata | None:
    """Low half of the scale, upper half, and no score; None where nothing was judged.

    Of a scale with an odd number of levels the middle one belongs to the upper half. Over several
    dimensions a transcript stands where its lowest verdict stands.

    Raises
    ------
    ConfigError
        If there is no verdict on the dimension.
    """
    judges = _speakers(run)
    if not judges:
        return None
    if dimension is not None:
        if dimension not in judges:
            raise ConfigError(
                Problem(
                    f'has no verdict on "{dimension}".{did_you_mean(dimension, judges)}',
                    str(run.path),
                )
            )
        judges = {dimension: judges[dimension]}
    digests = {name: one.judge_digest for name, one in judges.items()}
    worst: dict[Key, int] = {}
    for row in run.verdict_rows():
        if digests.get(row.dimension) != row.judge_digest:
            continue
        # 0 low, 1 no score, 2 upper: a low verdict counts more than one that is missing.
        place = 1 if row.score is None else 2 * (row.score in _upper(row.levels))
        key = (row.case_id, row.repeat)
        worst[key] = min(worst.get(key, 2), place)
    scales = {one.levels for one in judges.values()}
    low, upper = "low half of the scale", "upper half of the scale"
    if len(scales) == 1:
        levels = scales.pop()
        low = _span(levels[: len(levels) // 2])
        upper = _span(_upper(levels))
    names = (low, NO_SCORE, upper)
    listed = ", ".join(judges)
    return Strata(
        of={key: names[worst.get(key, 1)] for key in keys},
        low=low,
        by=f"verdicts on {listed}"
        if len(judges) == 1
        else f"the lowest of the verdicts on {listed}",
        judge_digest=" ".join(dict.fromkeys(digests.values())),
    )


def by_checks(run: Run, keys: Iterable[Key]) -> Strata | None:
    """A failed check, or none; None where nothing was checked."""
    failed: set[Key] = set()
    checked = False
    for row in run.check_rows():
        checked = True
        if row.passed is False:
            failed.add((row.case_id, row.repeat))
    if not checked:
        return None
    of = {key: FAILED if key in failed else PASSED for key in keys}
    return Strata(of=of, low=FAILED, by="failed checks", judge_digest="")


def quotas(n: int, totals: Mapping[str, int], *, low: str) -> dict[str, int]:
    """How many are drawn from each stratum: half from `low`, the rest by size, one at least.

    What a stratum has too few of goes to the others.
    """
    there = sum(totals.values())
    n = min(n, there)
    others = {name: total for name, total in totals.items() if name != low and total}
    first = min(totals.get(low, 0), (n + 1) // 2)
    rest = min(n - first, sum(others.values()))
    found = dict.fromkeys(totals, 0)
    if low in totals:
        found[low] = n - rest
    for _ in range(rest):
        open_ = [name for name, total in others.items() if found[name] < total]
        # Whoever has none yet comes first; then the divisors of Webster and Sainte-Lague.
        best = max(
            open_,
            key=lambda name: (not found[name], others[name] / (2 * found[name] + 1), name),
        )
        found[best] += 1
    return found


def _speakers(run: Run) -> dict[str, JudgeStamp]:
    """The judge that speaks for each dimension, as everywhere."""
    stamps = run.judge_stamps()
    counts = Counter(row.judge_digest for row in run.verdict_rows()) if stamps else Counter()
    by_name: dict[str, list[JudgeStamp]] = {}
    for one in stamps:
        by_name.setdefault(one.dimension, []).append(one)
    chosen = {name: choose_judge(each, counts) for name, each in by_name.items()}
    return {name: one for name, one in chosen.items() if counts[one.judge_digest]}


def _upper(levels: tuple[int, ...]) -> tuple[int, ...]:
    return levels[len(levels) // 2 :]


def _span(levels: tuple[int, ...]) -> str:
    return str(levels[0]) if len(levels) == 1 else f"{levels[0]}-{levels[-1]}"
