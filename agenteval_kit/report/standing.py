"""What a verdict rests on: how many cases, what they do not rule out, and what no clause read.

May not decide, and may not soften what the gate said.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenteval_kit.report.release import Release
from agenteval_kit.report.views import ClauseView, DecisionView
from agenteval_kit.report.wording import count_word, listed, sentence
from agenteval_kit.text import counted

__all__ = ["cases_in_words", "holds_the_bar", "not_ruled_out", "unread"]


def cases_in_words(release: Release) -> str:
    """The size of the evidence: "60 cases", "12 cases × 5"."""
    total, repeats = len(release.summary.cases), release.summary.repeats
    many = counted(total, "case")
    return many if repeats == 1 else f"{many} × {repeats}"


def holds_the_bar(row: ClauseView) -> bool:
    """Whether a clause's interval holds its threshold: the truth could be on either side."""
    shown, bar = row.estimate, row.threshold
    if shown is None or bar is None or shown.low is None or shown.high is None:
        return False
    return shown.low < bar <= shown.high


def not_ruled_out(release: Release) -> str:
    """The highest failure rate that stays open; empty where no clause reads a rate.

    Of the layers that clauses read: the exact one-sided 95 % bound 1 - 0.05^(1/n) where nothing
    failed, else the end of the interval. Where no layer is read: the bound of the critical cases.
    """
    found = [] if release.decision is None else list(_open(release, release.decision))
    bound, n, clean = max(((one[0], one[2], one[3]) for one in found), default=(0.0, 0, False))
    if not n:
        return ""
    names = [name for other, name, m, _ in found if (other, m) == (bound, n)]
    where = listed([names[0], *(f"in {name}" for name in names[1:])])
    cases = "" if n == len(release.summary.cases) else f" ({counted(n, 'case')})"
    # Beside a two-sided interval of the same share the two would seem to differ.
    which = " (one-sided 95 %, as none failed)" if clean else ""
    most = f"{100 * bound:.2g} % in {where}{cases}"
    return f"A true failure rate of up to {most} is not ruled out{which}."


def _open(release: Release, decision: DecisionView) -> Iterator[tuple[float, str, int, bool]]:
    read = dict.fromkeys(
        row.layer
        for row in decision.rows
        if row.layer and row.clause in ("pass_rate", "hard_layers")
    )
    for layer in read:
        # Over cases, whatever unit the clause counts in: repeats of a case may be all alike.
        score = release.summary.layer(layer)
        if score is None or score.estimate.value is None or not score.estimate.n:
            continue
        estimate = score.estimate
        if score.passed == score.n:
            yield 1 - 0.05 ** (1 / estimate.n), layer, estimate.n, True
        else:
            yield 1 - (estimate.low or 0.0), layer, estimate.n, False
    if read or decision.bar.bar.critical is None:
        return
    asked = sum(
        any(item.critical is not None for item in case.transcripts)
        for case in release.summary.cases
    )
    if asked:
        yield 1 - 0.05 ** (1 / asked), "critical cases", asked, True


def unread(release: Release) -> str:
    """That judged dimensions are shown and no clause read them; empty where one did."""
    many = len(release.judgements.dimensions)
    if release.decision is None or not many or any(row.trust for row in release.decision.rows):
        return ""
    if many == 1:
        return "One judged dimension is reported below; no clause of this bar reads it."
    said = f"{count_word(many)} judged dimensions are reported below"
    return f"{sentence(said)}; no clause of this bar reads them."
