"""How each number was made, and what it must not be used for: two sentences each.

May not explain what is not on the page.
"""

from __future__ import annotations

from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.release import Release

__all__ = ["show_method"]


def show_method(release: Release) -> Html:
    """Method notes for what this page shows."""
    notes = [_SHARE_REPEATS if release.summary.repeats > 1 else _SHARE]
    if release.summary.repeats > 1:
        notes.append(_PASS_K)
    if release.pairs:
        notes.append(_CHANGE_REPEATS if release.summary.repeats > 1 else _CHANGE)
    if release.decision is not None:
        notes.append(_VERDICT)
        if release.decision.bar.bar.no_worse:
            notes.append(_NO_WORSE)
        if release.decision.bar.bar.hard_layers or release.decision.bar.bar.critical:
            notes.append(_HARD)
    judged = release.judgements
    if judged.dimensions:
        notes += [_JUDGED, _TRUST]
    if judged.preferred:
        notes.append(_PREFERRED)
    notes += [_UNSCORED, _COST]
    if release.trends:
        notes.append(_TRENDS)
    entries: list[Part] = []
    for name, how, limit in notes:
        entries += [tag("dt", None, name), tag("dd", None, f"{how} {limit}")]
    return tag(
        "details",
        {"class": "methods", "id": "method"},
        tag("summary", None, "How each number was made, and what it must not be used for"),
        tag("dl", None, join(entries)),
    )


_SHARE = (
    "Share passed",
    "A case passes a layer when all its checks of that layer pass; the interval is Wilson's, 95 %.",
    "It speaks of cases like these: do not carry it over to traffic that the suite was not drawn "
    "from, and do not average it over layers.",
)
_SHARE_REPEATS = (
    "Share passed",
    "Each case counts once, with the share of its repeats that passed; the interval is an anchored "
    "Bayesian bootstrap over cases, 95 %.",
    "More repeats make a case's own share firmer but are no more cases: do not read their number "
    "as n.",
)
_PASS_K = (
    "pass^k",
    "The share of k-subsets of a case's repeats in which all pass, averaged over cases; unbiased "
    "for each case.",
    "Do not compare pass^k of two runs by whether their intervals overlap; the paired change does "
    "that.",
)
_CHANGE = (
    "Change",
    "Both runs are paired by case and only cases that were scored in both count; the interval is "
    "Tango's for paired shares.",
    "“No difference shown” is not “no difference”: what is not ruled out stands beside it.",
)
_CHANGE_REPEATS = (
    "Change",
    "Both runs are paired by case, each case by its share over repeats; the interval is an "
    "anchored bootstrap over cases.",
    "“No difference shown” is not “no difference”: what is not ruled out stands beside it.",
)
_VERDICT = (
    "Verdict",
    "Each line of the bar is a clause that passes, fails or cannot be told; HOLD if one fails, "
    "REVIEW if none fails but one cannot be told, SHIP if all pass.",
    "It holds for this bar, this suite and these stamps: do not quote it for another version of "
    "any of them.",
)
_NO_WORSE = (
    "No worse than the baseline",
    "A one-sided 95 % bound of the paired change is held against a margin that the bar fixed "
    "beforehand; there are three answers.",
    "Do not choose the margin after looking at the change.",
)
_HARD = (
    "Hard fail",
    "A failed check of a hard layer, or of a critical case, on any repeat.",
    "None seen is not none possible: m clean runs leave a rate of up to 1 - 0.05^(1/m) open.",
)
_JUDGED = (
    "Judged mean",
    "Each verdict is one dimension of one transcript, a panel's the majority of its seats; the "
    "mean is over cases, its interval an anchored Bayesian bootstrap over the levels of the scale.",
    "It is a trend over a suite: do not read a single score as a fact about its transcript, and do "
    "not compare means of two judges or two rubrics.",
)
_TRUST = (
    "Trust",
    "A judge is trusted on a dimension when people agree with it on what was held out as the bar's "
    "rule asks, and no worse than with each other; the corrected mean is what those people would "
    "have scored.",
    "Until then a judged clause neither passes nor fails: do not release on it, and do not hold.",
)
_PREFERRED = (
    "Win rate",
    "Each pair is judged in both orders and is a tie where they disagree; ties count half, the "
    "interval is Tango's (with repeats an anchored one over scenarios), and the grey band is the "
    "half-width of the bootstrap over cases.",
    "A drop as large as the band is missed half of the time; the claim is the one-sided bound that "
    "stands beside it.",
)
_UNSCORED = (
    "Unscored",
    "What could not be told is counted apart and in no share; a crash of the agent is a failure, a "
    "failure of the provider is not.",
    "Do not read a share without its unscored count.",
)
_COST = (
    "Cost and time",
    "Sums of what each transcript reports; where one does not, the sum is not known.",
    "Times of a recording, or of replies from the tape, say nothing about the agent as served.",
)
_TRENDS = (
    "Trends",
    "Runs of the same suite in order of time, each with its own interval; the line breaks where "
    "the suite or the model that was served changed.",
    "Do not read a trend across a break, nor a single step that lies within the intervals.",
)
