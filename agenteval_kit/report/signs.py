"""Signs that a judge goes by something else, as tables: panels, evidence, order, length.

May not call a sign a proof, nor count: `agenteval_kit.calibrate` and `agenteval_kit.pairwise` do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.report.markup import Html, Part, join, note
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import in_shares, minus
from agenteval_kit.runs import Run
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.text import p_value

if TYPE_CHECKING:
    # numpy, which a page without a judge has no use for.
    from agenteval_kit.calibrate.signs import JudgeSigns
    from agenteval_kit.stats.length import LengthBias

__all__ = ["show_length", "show_pairs", "show_signs"]


def show_signs(signs: Sequence[JudgeSigns]) -> Html:
    """One row a dimension: seats that differ, no majority, evidence that is not there, unscored."""
    columns: list[Column | str] = [
        "dimension",
        Column("verdicts", "number"),
        Column("seats differ", "note"),
        Column("no majority", "note"),
        Column("evidence not found", "note"),
        Column("unscored", "note"),
        Column("judge", "note"),
    ]
    rows: list[list[Part]] = [
        [
            one.dimension,
            str(one.verdicts),
            _or_why(one.disagreement),
            _or_why(one.split),
            _or_why(one.evidence_lost),
            _or_why(one.unscored),
            one.judge,
        ]
        for one in signs
    ]
    caption = (
        "Over all verdicts of the run, labelled or not; seats over the panels in which two scored "
        "or more. Wilson's interval, or by scenario where cases repeat."
    )
    return table(columns, rows, caption=caption, empty="nothing was judged")


def show_length(signs: Sequence[JudgeSigns]) -> Html:
    """One row a dimension: rank correlation of scores with words, the judge's and the people's."""
    columns: list[Column | str] = [
        "dimension",
        Column("people", "note"),
        Column("judge, same transcripts", "note"),
        Column("judge minus people", "note"),
        Column("judge, all transcripts", "note"),
        Column("n of each", "note"),
    ]
    rows: list[list[Part]] = []
    for one in signs:
        found = (one.length.people, one.length.judge_same, one.length.apart, one.length.judge)
        rows.append(
            [
                one.dimension,
                *(minus(each.text()) if each.value is not None else each.reason for each in found),
                f"{one.length.people.n:,} labelled, {one.length.judge.n:,} judged",
            ]
        )
    caption = (
        "Spearman's rank correlation of scores with the words in the agent's own turns; 95 % "
        "percentile interval over resampled scenarios, of these transcripts as they are and not "
        "weighted by how they were drawn. Where people rise alike, length may be what "
        "quality looks like here; where only the judge does, or judge minus people, it is rewarded."
    )
    return table(columns, rows, caption=caption, empty="nothing was judged")


def show_pairs(run: Run, old: Run | None = None) -> Html:
    """What decided in pairs beside the answers: the order of showing, and their length.

    Parameters
    ----------
    run : Run
        Compared with others, or not.
    old : Run, optional
        The one whose transcripts are at hand, for the lengths.

    Raises
    ------
    ConfigError
        If the run was not compared with `old`.
    """
    if not run.comparison_stamps() and old is None:
        return note("This run was compared with none in pairs: no order of showing to look at.")
    if old is None:
        return join([_flips(run), note("Lengths: name the run that it was compared with.")])
    from agenteval_kit.calibrate.signs import preference_lengths  # numpy

    return join([_flips(run), _lengths(preference_lengths(run, old))])


def _flips(run: Run) -> Html:
    from agenteval_kit.pairwise.summary import preference_summary  # numpy

    rows: list[list[Part]] = []
    for old in dict.fromkeys(stamp.old for stamp in run.comparison_stamps()):
        for one in preference_summary(run, old).comparisons:
            flips = one.flips
            rows.append(
                [
                    f"{one.criterion} against {old}",
                    one.judge,
                    f"{flips.n:,}",
                    _or_why(flips.rate),
                    _or_why(flips.toward_first),
                    "" if flips.p_first is None else p_value(flips.p_first).removeprefix("p "),
                    flips.diag,
                ]
            )
    columns: list[Column | str] = [
        "comparison",
        "judge",
        Column("pairs", "number"),
        Column("order changed the verdict", "note"),
        Column("of those, toward the first shown", "note"),
        Column("exact p", "number"),
        Column("doubts", "note"),
    ]
    caption = (
        "Position flips over pairs judged in both orders, with Wilson's interval (by case where "
        "cases have several pairs). Exact p: two-sided binomial, that flips favour neither slot."
    )
    return table(columns, rows, caption=caption, empty="this run was compared with none in pairs")


def _lengths(biases: Mapping[str, LengthBias]) -> Html:
    columns: list[Column | str] = [
        "comparison",
        Column("pairs", "number"),
        Column("shortest third", "note"),
        Column("middle third", "note"),
        Column("longest third", "note"),
        Column("at equal length", "note"),
    ]
    rows: list[list[Part]] = [
        [
            name,
            f"{one.n:,}",
            *(_or_why(each) for each in (one.shorter, one.alike, one.longer, one.at_equal_length)),
        ]
        for name, one in biases.items()
    ]
    caption = (
        "Win rate of this run by how many more words its agent used than the other's; ties count "
        "half. At equal length: logistic regression, from 100 pairs on."
    )
    return table(columns, rows, caption=caption, empty="nothing was compared")


def _or_why(found: Estimate) -> str:
    return in_shares(found) if found.value is not None else found.reason
