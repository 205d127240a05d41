"""The command that holds two runs side by side: compare.

Modules are imported inside the command, so that it pays for what it uses alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agenteval_kit.cli.codes import INCOMPLETE, PASS
from agenteval_kit.cli.complaints import complain, tell
from agenteval_kit.cli.judging import (
    asks_again,
    confirmer,
    judges_of,
    rubric_path,
    suite_of,
    trust_json,
)
from agenteval_kit.errors import ConfigError
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.compare import Comparison
    from agenteval_kit.pairwise import PairwiseResult
    from agenteval_kit.runs import Run
    from agenteval_kit.summary import PairedLayer

__all__ = ["compare"]


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
        print(
            canonical_json(
                {
                    "old": old.path.as_posix(),
                    "new": new.path.as_posix(),
                    "stamps": {"old": old.info.stamps(), "new": new.info.stamps()},
                    "sentence": found.sentence,
                    "refused": found.refused,
                    "layers": [
                        {
                            "layer": pair.layer,
                            "n": pair.n,
                            "difference": pair.difference.value,
                            "low": pair.difference.low,
                            "high": pair.difference.high,
                            "method": pair.difference.method,
                            "p": pair.p,
                            "p_exact": pair.p_exact,
                            "broken": list(pair.worse),
                            "fixed": list(pair.better),
                        }
                        for pair in found.layers
                    ],
                    "dimensions": [
                        {
                            "dimension": pair.dimension,
                            "layer": pair.layer,
                            "n": pair.n,
                            "difference": pair.difference.value,
                            "low": pair.difference.low,
                            "high": pair.difference.high,
                            "method": pair.difference.method,
                            "p": pair.p,
                            "refused": pair.refused,
                            **trust_json(found.trust_of(pair)),
                        }
                        for pair in found.dimensions
                    ],
                    "preferences": None if preferred is None else _preferences_json(preferred),
                }
            )
        )
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
        complain(f"incomplete: {reason}; run the same command to resume")
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


def _compare_lines(old: Run, new: Run, found: Comparison) -> Iterator[str]:
    from agenteval_kit.console import stamp_line

    yield f"old {old.path}  {stamp_line(old.info)}"
    yield f"new {new.path}  {stamp_line(new.info)}"
    yield found.sentence
    for pair, adjusted in zip(found.layers, found.p_holm, strict=False):
        p = "" if pair.p is None else f"  p {pair.p:.3f}"
        holm = "" if adjusted is None else f" (Holm over all {len(found.p_holm)}: {adjusted:.3f})"
        yield f"  {pair.layer:<13} {pair.shares()}  {points(pair)}{p}{holm}"
        for word, ids in (("broken", pair.worse), ("fixed", pair.better)):
            if ids:
                more = f" and {len(ids) - 12:,} more" if len(ids) > 12 else ""
                yield f"{'':<16}{word}: {', '.join(ids[:12])}{more}"
    for judged in found.dimensions:
        known = found.trust_of(judged)
        if known.rubric_state:
            yield f"  {judged.dimension}: {known.rubric_state}"
        yield f"  {judged.dimension:<13} {judged.finding}; judge {known.state}"


def points(pair: PairedLayer) -> str:
    """The change of a share in points, with its interval."""
    change = pair.difference
    if change.value is None or change.low is None or change.high is None:
        return f"not computable: {change.reason}"
    low, high = 100 * change.low, 100 * change.high
    return f"{100 * change.value:+.0f} points ({low:+.0f} to {high:+.0f}, {change.method})"


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
