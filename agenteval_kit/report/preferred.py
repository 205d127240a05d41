"""Which version a judge preferred: the win rate with its ties, in the noise of this very set.

May not call a rate inside the noise a proof that nothing was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agenteval_kit.report.dimensions import scripted_note
from agenteval_kit.report.judged_marks import preference_mark
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, badge, join, note, tag
from agenteval_kit.report.release import Release
from agenteval_kit.report.wording import minus
from agenteval_kit.text import counted, p_value

if TYPE_CHECKING:
    from agenteval_kit.pairwise.result import Comparison
    from agenteval_kit.report.views import ClauseView

__all__ = ["show_preferences"]

_LINKED = 8
_MARGIN = 0.05
"""The drop that is spoken of where the bar names none."""


def show_preferences(release: Release) -> Html:
    """Win, tie and loss against the baseline, the noise drawn as a band; a card a criterion."""
    summary = release.judgements.preferences
    if summary is None or not summary.comparisons:
        if not release.judgements.dimensions or release.baseline is None:
            return Html("")
        return note("Win rate: this run was not compared with the baseline pair by pair.")
    cards = [_card(one, release) for one in summary.comparisons]
    return join(
        [
            tag("h2", {"id": "preferences"}, _finding(summary.comparisons)),
            scripted_note(release) if not release.judgements.dimensions else None,
            tag(
                "p",
                {"class": "lead"},
                "Each pair was judged in both orders; where they disagree it is a tie. Ties count "
                "half. Thick: the rate with its 95 % interval. Grey: how far a rate moves by the "
                "choice of cases alone.",
            ),
            *cards,
        ]
    )


def _finding(comparisons: tuple[Comparison, ...]) -> str:
    shown = [one for one in comparisons if one.shown]
    if not shown:
        return "Against the baseline: no preference shown"
    said = ", ".join(
        f"{'this release' if (one.win_rate.value or 0) > 0.5 else 'the baseline'} preferred by "
        f"{one.criterion}"
        for one in shown
    )
    return f"Against the baseline: {said}"


def _card(one: Comparison, release: Release) -> Html:
    summary = release.judgements.preferences
    assert summary is not None
    measured = summary.margin(one.criterion)
    margin = measured.value if measured is not None else one.noise.margin
    clause = _clause(one, release)
    bar = clause.threshold if clause is not None and clause.clause == "win_rate" else None
    return tag(
        "div",
        {"class": "card preference"},
        tag(
            "p",
            None,
            tag("b", None, one.criterion),
            f" ({one.layer}) by {one.judge} ",
            badge(clause.status) if clause is not None else None,
            tag("span", {"class": "note"}, " preferences: not calibrated"),
        ),
        preference_mark(one.win_rate, margin=margin, old="the baseline", new="this release",
                        bar=bar),
        tag("p", {"class": "note"}, _words(one, release)),
        _moved(one, release),
    )  # fmt: skip


def _words(one: Comparison, release: Release) -> str:
    said = [f"{one.wins:,} won, {one.ties:,} tied, {one.losses:,} lost in {counted(one.n, 'pair')}"]
    flips = one.flips
    if flips.rate.value is not None:
        told = f"the order of showing changed {flips.flips:,} of {flips.n:,}"
        if flips.toward_first.value is not None:
            told += f" ({flips.toward_first.text(percent=True)} toward the first)"
        said.append(told)
    if one.unscored:
        listed = ", ".join(f"{what} {count:,}" for what, count in one.reasons.items())
        worst = "" if one.worst is None else f"; rate {one.worst:.2f} if each were lost"
        said.append(f"{one.unscored:,} unscored ({listed}{worst})")
    if one.p is not None and one.p_exact is not None:
        said.append(
            f"{p_value(one.p)} ({one.p_method}); exact {p_value(one.p_exact)}, conservative"
        )
    if one.win_rate.value is not None:
        claim = one.claim(release.margin("win_rate") or _MARGIN)
        said.append(minus(claim.reason))
    summary = release.judgements.preferences
    measured = summary.margin(one.criterion) if summary is not None else None
    if measured is not None and measured.value is not None:
        said.append(
            f"noise ±{measured.value:.3f}: {measured.source}, {measured.draws:,} draws, seed "
            f"{measured.seed}"
        )
    said += [part for part in one.diag.split("; ") if part]
    if summary is not None and one.criterion in summary.others:
        said.append(f"not mixed with other judges: {'; '.join(summary.others[one.criterion])}")
    return "; ".join(said) + "."


def _moved(one: Comparison, release: Release) -> Part:
    lost = [name for name, score in one.scores.items() if score < 0.5]
    won = [name for name, score in one.scores.items() if score > 0.5]
    parts: list[Part] = []
    for word, ids in (("Lost", lost), ("Won", won)):
        if ids:
            links = join((record_link(name, release) for name in ids[:_LINKED]), between=", ")
            more = f" and {len(ids) - _LINKED:,} more" if len(ids) > _LINKED else ""
            parts.append(join([f"{word}: ", links, f"{more}. "]))
    return tag("p", {"class": "note"}, *parts) if parts else None


def _clause(one: Comparison, release: Release) -> ClauseView | None:
    if release.decision is None:
        return None
    for row in release.decision.rows:
        if row.clause == "win_rate" and row.target in (one.criterion, one.layer):
            return row
    return None
