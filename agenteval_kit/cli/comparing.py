"""The command that holds two runs side by side: compare.

Modules are imported inside the command, so that it pays for what it uses alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agenteval_kit.cli.codes import INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain, tell, to_resume
from agenteval_kit.cli.judging import (
    asks_again,
    confirmer,
    judges_of,
    rubric_path,
    suite_of,
    trust_json,
)
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted, p_value

if TYPE_CHECKING:
    from agenteval_kit.compare import Comparison
    from agenteval_kit.judge.pairing import PairedDimension
    from agenteval_kit.pairwise import PairwiseResult
    from agenteval_kit.runs import Run
    from agenteval_kit.summary import PairedLayer

__all__ = ["compare"]

_NAMED = 12


def compare(given: argparse.Namespace) -> int:
    """Two runs side by side: checks always; preferences where judges are named or replayed."""
    from agenteval_kit.compare import compare_checks
    from agenteval_kit.files import canonical_json
    from agenteval_kit.gate import read_known
    from agenteval_kit.runs import Run, find_baseline, release_of

    new = Run.open(given.new)
    old = find_baseline(given.old, new)
    release = release_of(old)
    if release is not None and release.doubt:
        complain(f"note: {release.doubt}")
    found = compare_checks(old, new, trust=read_known(new, suite=given.suite).trust(new))
    preferred = None
    if given.judge or given.replay is not None:
        preferred = _preferences(given, old, new)
    if given.json:
        print(canonical_json(_compare_json(old, new, found, preferred)))
    else:
        for line in _compare_lines(old, new, found):
            tell(line)
        for one in preferred.comparisons if preferred is not None else ():
            tell(f"  {one.criterion} by {one.judge} · {one.judge_digest}: {one.finding}")
            pairs = counted(one.flips.n, "pair")
            tell(f"    flips with the order in {one.flips.rate.text(percent=True)} of {pairs}")
            if one.diag:
                tell(f"    {one.diag}")
    complete = preferred is None or preferred.complete
    if preferred is not None and not complete:
        reason = preferred.stopped or f"{counted(preferred.failed, 'pair')} without an answer"
        complain(to_resume(f"incomplete: {reason}"))
    return PASS if complete else INCOMPLETE


def _preferences(given: argparse.Namespace, old: Run, new: Run) -> PairwiseResult:
    from agenteval_kit.judge import progress_line
    from agenteval_kit.pairwise import compare_runs
    from agenteval_kit.rubrics import load_rubric

    suite = suite_of(new, given.suite)
    rubric = load_rubric(rubric_path(given.rubric, suite))
    if all(one.kind != "pairwise" for one in rubric.dimensions):
        raise ConfigError(
            f"rubric {rubric.name} has no pairwise criterion; name one with --rubric, such as "
            "data/rubrics/outcome_pairwise.yaml"
        )
    with progress_line() as progress:
        found = compare_runs(
            old,
            new,
            rubric,
            judges_of(given, suite, new),
            items=suite.items if suite is not None else None,
            confirm=confirmer(given),
            progress=progress,
            again=asks_again(given),
        )
    for warning in found.warnings:
        complain(f"warning: {warning}")
    return found


def _compare_json(
    old: Run, new: Run, found: Comparison, preferred: PairwiseResult | None
) -> dict[str, Any]:
    adjusted = found.p_holm
    at = len(found.layers)
    return {
        "old": old.path.as_posix(),
        "new": new.path.as_posix(),
        "stamps": {"old": old.info.stamps(), "new": new.info.stamps()},
        "sentence": found.sentence,
        "refused": found.refused,
        "only_old": list(found.only_old),
        "only_new": list(found.only_new),
        "tested": found.tested,
        "layers": [
            {
                "layer": pair.layer,
                **_paired_json(pair, p_holm),
                "broken": list(pair.worse),
                "less_often": list(pair.less_often),
                "fixed": list(pair.better),
                "more_often": list(pair.more_often),
            }
            for pair, p_holm in zip(found.layers, adjusted[:at], strict=True)
        ],
        "dimensions": [
            {
                "dimension": pair.dimension,
                "layer": pair.layer,
                **_paired_json(pair, p_holm),
                "lower": list(pair.worse),
                "higher": list(pair.better),
                "refused": pair.refused,
                **trust_json(found.trust_of(pair)),
            }
            for pair, p_holm in zip(found.dimensions, adjusted[at:], strict=True)
        ],
        "preferences": None if preferred is None else _preferences_json(preferred),
    }


def _paired_json(pair: PairedLayer | PairedDimension, p_holm: float | None) -> dict[str, Any]:
    change = pair.difference
    return {
        "n": pair.n,
        "dropped": list(pair.dropped),
        "difference": change.value,
        "low": change.low,
        "high": change.high,
        "shown": pair.shown,
        "method": change.method,
        "p": pair.p,
        "p_holm": p_holm,
        "p_exact": pair.p_exact,
        "diag": change.diag or change.reason,
    }


def _compare_lines(old: Run, new: Run, found: Comparison) -> Iterator[str]:
    from agenteval_kit.console import stamp_line
    from agenteval_kit.summary.pairing import points

    yield f"old {old.path}  {stamp_line(old.info)}"
    yield f"new {new.path}  {stamp_line(new.info)}"
    yield found.sentence
    adjusted = found.p_holm
    at = len(found.layers)
    for pair, p_holm in zip(found.layers, adjusted[:at], strict=True):
        change = points(pair.difference, said=f", {pair.difference.method}")
        yield f"  {pair.layer:<13} {pair.shares()}  {change}{_p(pair.p, p_holm, found.tested)}"
        yield from _listed(
            ("broken", pair.broke),
            ("less often", pair.less_often),
            ("fixed", pair.mended),
            ("more often", pair.more_often),
            ("not scored in both runs", pair.dropped),
        )
    for judged, p_holm in zip(found.dimensions, adjusted[at:], strict=True):
        known = found.trust_of(judged)
        if known.rubric_state:
            yield f"  {judged.dimension}: {known.rubric_state}"
        p = _p(judged.p, p_holm, found.tested)
        yield f"  {judged.dimension:<13} {judged.finding}{p}; judge {known.state}"
        yield from _listed(
            ("lower", judged.worse),
            ("higher", judged.better),
            ("not scored in both runs", judged.dropped),
        )


def _p(p: float | None, adjusted: float | None, tested: int) -> str:
    """The p, and beside it what is left of it where several were looked at."""
    if p is None:
        return ""
    if adjusted is None or tested < 2:
        return f"  {p_value(p)}"
    return f"  {p_value(p)} (Holm over all {tested}: {p_value(adjusted)})"


def _listed(*groups: tuple[str, tuple[str, ...]]) -> Iterator[str]:
    for word, ids in groups:
        if ids:
            more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
            yield f"{'':<16}{word}: {', '.join(ids[:_NAMED])}{more}"


def _preferences_json(found: PairwiseResult) -> list[dict[str, Any]]:
    return [
        {
            "criterion": one.criterion,
            "judge": one.judge,
            "judge_digest": one.judge_digest,
            "wins": one.wins,
            "ties": one.ties,
            "losses": one.losses,
            "unscored": one.unscored,
            "win_rate": one.win_rate.value,
            "low": one.win_rate.low,
            "high": one.win_rate.high,
            "method": one.win_rate.method,
            "flip_rate": one.flips.rate.value,
            "noise_margin": one.noise.margin,
            "finding": one.finding,
            "diag": one.diag,
        }
        for one in found.comparisons
    ]
