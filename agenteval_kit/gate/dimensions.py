"""Which judged dimensions a clause binds, what a row of one says, and what trust makes of it.

May not hold a number against a bar.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.gate.evidence import Evidence
from agenteval_kit.gate.rows import ClauseRow, Status
from agenteval_kit.gate.thresholds import in_words, reaches
from agenteval_kit.records.rubrics import span
from agenteval_kit.stats.estimate import Estimate

if TYPE_CHECKING:
    from agenteval_kit.judge.scores import DimensionScores

__all__ = [
    "DEFAULT", "Bound", "bound_by_mean", "is_level", "judged_row", "judged_targets", "not_judged",
    "unscored_part", "why_not_judged",
]  # fmt: skip

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Bound:
    """A dimension that `mean` binds: to which value, and why it cannot be told if it cannot.

    Attributes
    ----------
    found : DimensionScores or None
        None where nobody judged it.
    by_default : bool
        Bound by the default, not by its own name.
    why : str
        Why it cannot be told; empty where it can.
    """

    name: str
    least: float
    found: DimensionScores | None
    by_default: bool = False
    why: str = ""


def bound_by_mean(evidence: Evidence) -> Iterator[Bound]:
    """Every dimension that the bar's `mean` is about.

    The default binds each dimension that has no bar of its own and whose scale holds the number.
    Where two scales hold it, it is not guessed which one was meant.

    Raises
    ------
    ConfigError
        If a dimension's bar lies outside its scale.
    """
    named = evidence.bar.mean
    for name, least in named.items():
        if name == DEFAULT:
            continue
        found = evidence.judged.get(name)
        if found is not None:
            on_scale(evidence, f"mean.{name}", least, found.stamp.levels)
        yield Bound(name, least, found)
    if DEFAULT not in named:
        return
    least = named[DEFAULT]
    scales = {
        name: levels
        for name, levels in _scales(evidence).items()
        if name not in named and levels[0] <= least <= levels[-1]
    }
    if not scales:
        yield Bound(DEFAULT, least, None, True, _why_none(evidence, least))
    kinds = dict.fromkeys(span(levels) for levels in scales.values())
    why = ""
    if len(kinds) > 1:
        why = (
            f"the default of {in_words(least)} could be meant on more than one scale "
            f"({', '.join(kinds)}); name this dimension in the bar"
        )
    for name in scales:
        yield Bound(name, least, evidence.judged.get(name), True, why)


def judged_targets(evidence: Evidence) -> list[DimensionScores]:
    """Every judged dimension that a clause of the bar is about, each once."""
    bar = evidence.bar
    names = [one.name for one in bound_by_mean(evidence) if one.found is not None]
    names += list(bar.never)
    for name, clause in bar.no_worse.items():
        if clause.unit == "score":
            names += [
                one.name for one in evidence.judged.values() if name in (one.name, one.judged.layer)
            ]
    known = dict.fromkeys(name for name in names if name in evidence.judged)
    return [evidence.judged[name] for name in known]


def on_scale(evidence: Evidence, key: str, value: float, levels: tuple[int, ...]) -> None:
    """Refuse a bar outside its dimension's scale: it would pass or fail whatever was scored.

    Raises
    ------
    ConfigError
        If it lies outside.
    """
    if not levels[0] <= value <= levels[-1]:
        raise ConfigError(
            Problem(
                f'"{key}" is {in_words(value)}, outside the scale {span(levels)} that run '
                f"{evidence.run.id} was judged on; write a value on that scale",
                evidence.bar_file or None,
            )
        )


def is_level(evidence: Evidence, key: str, value: int, levels: tuple[int, ...]) -> None:
    """Refuse what is no level of its dimension: nothing could ever score it.

    Raises
    ------
    ConfigError
        If it is none.
    """
    if value not in levels:
        raise ConfigError(
            Problem(
                f'"{key}" is {value}, no level of the scale {span(levels)} that run '
                f"{evidence.run.id} was judged on; write one of its levels",
                evidence.bar_file or None,
            )
        )


def judged_row(
    evidence: Evidence,
    dimension: DimensionScores,
    row: ClauseRow,
) -> ClauseRow:
    """A row as it counts: who judged is said, and an untrusted judge cannot tell."""
    told = [row.reason]
    if dimension.same_model:
        told.append("judge = agent model")
    if dimension.note:
        told.append(dimension.note)
    reason = "; ".join(told)
    trust = evidence.trust_of(dimension)
    row = replace(row, layer=row.layer or dimension.judged.layer, trust=trust.state)
    who = "SCRIPTED judge" if dimension.scripted else "judge"
    # People who do not agree with each other come before any number of a judge.
    ceiling = f"{trust.rubric_state}; " if trust.rubric_state else ""
    if trust.trusted:
        said = [reason, *([who] if dimension.scripted else []), trust.note]
        return replace(row, reason=ceiling + "; ".join(filter(None, said)))
    why = f"{ceiling}{who} {trust.state}" + (f" ({trust.reason})" if trust.reason else "")
    would = "" if row.status == "cannot tell" else f"it would {row.status}: "
    counted = "; reported, not counted" if evidence.bar.untrusted == "report" else ""
    return replace(
        row, status="cannot tell", if_untold=evidence.bar.untrusted,
        reason=f"{why}; {would}{reason}{counted}",
    )  # fmt: skip


def unscored_part(
    evidence: Evidence, dimension: DimensionScores, status: Status
) -> tuple[Status, str]:
    """What has no score, in words; too much of it keeps a clause from passing."""
    judged = dimension.judged
    told = []
    if judged.unscored:
        worst = (
            ""
            if judged.worst is None
            else (f" (mean {judged.worst:.2f} if each were a {dimension.stamp.levels[0]})")
        )
        told.append(f"{judged.unscored:,} of {judged.unscored + judged.n:,} unscored{worst}")
    if dimension.open:
        told.append(f"{dimension.open:,} not judged yet; run the same `agenteval judge` again")
        status = "cannot tell" if status == "pass" else status
    if not reaches(evidence.bar.max_unscored, dimension.unscored_share):
        told.append(f"more than {in_words(evidence.bar.max_unscored, percent=True)} without score")
        status = "cannot tell" if status == "pass" else status
    return status, "; ".join(told)


def not_judged(
    evidence: Evidence,
    clause: str,
    target: str,
    *,
    bar: str,
    threshold: float,
    why: str = "",
    estimate: Estimate | None = None,
) -> ClauseRow:
    """The row of a judged clause whose dimension nobody judged."""
    reason = why or why_not_judged(evidence, target)
    if evidence.bar.untrusted == "report":
        reason += "; reported, not counted"
    return ClauseRow(
        clause, target, "cannot tell", reason, bar=bar, threshold=threshold, estimate=estimate,
        if_untold=evidence.bar.untrusted, trust="not judged",
    )  # fmt: skip


def why_not_judged(evidence: Evidence, target: str) -> str:
    """Why a dimension has no verdicts, with the next step."""
    if not evidence.judged:
        return (
            f"not judged: run {evidence.summary.run_id} has no verdicts; "
            "`agenteval judge RUN` first"
        )
    if target in _scales(evidence):
        return f'not judged: "{target}" is in the rubric, and no judge was asked for it'
    near = did_you_mean(target, evidence.judged)
    return f'not judged: no judge scored "{target}".{near}'.rstrip(".")


def _scales(evidence: Evidence) -> dict[str, tuple[int, ...]]:
    """Every dimension of the rubrics that this run was judged by, asked or not."""
    found: dict[str, tuple[int, ...]] = {}
    for one in evidence.judged.values():
        found |= one.stamp.scales
    return found | {name: one.stamp.levels for name, one in evidence.judged.items()}


def _why_none(evidence: Evidence, least: float) -> str:
    if not evidence.judged:
        return ""
    scales = ", ".join(f"{name} {span(levels)}" for name, levels in _scales(evidence).items())
    return f"the default of {in_words(least)} lies on the scale of no other dimension ({scales})"
