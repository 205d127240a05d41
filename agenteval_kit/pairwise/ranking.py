"""More than two versions: Bradley-Terry strengths from preferences, against a reference.

May not rank two versions (that is a win rate), and may not mix judges or criteria.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError
from agenteval_kit.records.preferences import PreferenceRow
from agenteval_kit.runs import Run
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.stats.ranking import Ranking

__all__ = ["rank_rows", "rank_runs"]


def rank_runs(
    runs: Sequence[Run],
    *,
    reference: str,
    criterion: str | None = None,
    judge_digest: str | None = None,
    add_half: bool = False,
    level: float = 0.95,
    draws: int = 1_000,
    seed: int = 0,
) -> Ranking:
    """Strengths of several runs from what they were compared by; nothing is asked.

    Every pair of runs that `compare_runs` has compared counts, as far as both are among `runs`.

    Parameters
    ----------
    runs : sequence of Run
        Three or more.
    reference : str
        Id of the run that the others are measured against.
    criterion, judge_digest : str, optional
        Which rows; needed where the runs hold rows of several.
    add_half, level, draws, seed
        As in `stats.ranking.bradley_terry`.

    Raises
    ------
    ConfigError
        If there are fewer than three runs, the reference is none of them, or rows of several
        criteria or judges would be mixed.
    """
    names = {run.id for run in runs}
    rows = [
        row
        for run in runs
        for row in run.preference_rows()
        if row.old in names
        and row.new in names
        and criterion in (None, row.criterion)
        and judge_digest in (None, row.judge_digest)
    ]
    return rank_rows(
        rows, reference=reference, names=names, add_half=add_half, level=level, draws=draws,
        seed=seed,
    )  # fmt: skip


def rank_rows(
    rows: Iterable[PreferenceRow],
    *,
    reference: str,
    names: Iterable[str] = (),
    add_half: bool = False,
    level: float = 0.95,
    draws: int = 1_000,
    seed: int = 0,
) -> Ranking:
    """Strengths of several versions from preference rows, ties as half-wins.

    Parameters
    ----------
    rows : iterable of PreferenceRow
        Of one criterion and one judge; unscored rows are left out.
    reference : str
        The version that the others are measured against.
    names : iterable of str, optional
        Versions that are to be ranked, where some may not stand in the rows.
    add_half, level, draws, seed
        As in `stats.ranking.bradley_terry`.

    Returns
    -------
    Ranking
        Undefined, with the reason, where the pairs do not settle it.

    Raises
    ------
    ConfigError
        If there are fewer than three versions, the reference is none of them, or rows of several
        criteria or judges are mixed.

    References
    ----------
    Bradley and Terry (1952), doi:10.2307/2334029. By evalica.
    """
    from agenteval_kit.stats.ranking import bradley_terry  # numpy

    listed = list(rows)
    met = {name for row in listed for name in (row.old, row.new)}
    alone = sorted(set(names) - met)
    if alone:
        raise ConfigError(
            f"{', '.join(alone)}: compared with none of the others, so there is nothing to rank by"
        )
    kinds = {(row.criterion, row.judge_digest) for row in listed}
    if len(kinds) > 1:
        shown = ", ".join(f"{name} ({judge})" for name, judge in sorted(kinds)[:4])
        raise ConfigError(f"rows of several criteria or judges are not mixed: {shown}; name one")
    if len(met) < 3:
        raise ConfigError(
            f"{counted(len(met), 'version')}: a ranking wants three or more; two are a win rate"
        )
    return bradley_terry(
        [row.new for row in listed],
        [row.old for row in listed],
        [row.score for row in listed],
        reference=reference,
        cases=[row.case_id for row in listed],
        add_half=add_half,
        level=level,
        draws=draws,
        seed=seed,
    )
