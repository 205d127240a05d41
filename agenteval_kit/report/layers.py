"""The layers: what each stands at, against its bar and the baseline, and which of them moved.

May not add layers up: there is no score over them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agenteval_kit.report.links import record_link
from agenteval_kit.report.marks import interval_mark, scale_mark, used_scale
from agenteval_kit.report.markup import Html, Part, absent, badge, join, tag
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import in_points, in_shares, listed, sentence
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import ALL_CHECKS, LayerScore, PairedLayer
from agenteval_kit.text import counted

__all__ = ["FIXES", "layers_finding", "show_layers", "show_repeats"]

FIXES: dict[str, str] = {
    "outcome": "seldom in the outcome itself: look first at the layer that broke with it",
    "trajectory": "in a tool's description, or in how the agent selects tools",
    "grounding": "in retrieval, or in what the prompt says about citing it",
    "policy": "in the system prompt, or in a guardrail",
    "conversation": "in what the prompt says about asking, length and tone",
}
"""Where the fixes of a layer usually lie."""
_MARGIN = 0.05
"""The drop that is spoken of where the bar names none."""


def layers_finding(release: Release) -> str:
    """The finding of the layers table in one line, for its heading."""
    parts = []
    verdicts = _verdicts(release)
    if _critical_failed(release):
        held = list(_critical(release))
        parts.append("critical cases failed" + (f" in {listed(held)}" if held else ""))
    failed = [name for name, status in verdicts.items() if status == "fail"]
    untold = [name for name, status in verdicts.items() if status == "cannot tell"]
    if failed:
        named = _by_whom(failed, "fail", release)
        parts.append(f"{listed(named)} {'fails' if len(failed) == 1 else 'fail'} the bar")
    if untold:
        parts.append(f"{listed(_by_whom(untold, 'cannot tell', release))} cannot be told")
    fell = [pair.layer for pair in _moved(release) if (pair.difference.value or 0) < 0]
    rose = [pair.layer for pair in _moved(release) if (pair.difference.value or 0) > 0]
    if fell:
        parts.append(f"{listed(fell)} fell")
    if rose:
        parts.append(f"{listed(rose)} rose")
    if not (fell or rose) and release.pairs:
        parts.append("no layer moved beyond noise")
    if not parts:
        parts.append("what each layer stands at")
    return sentence("; ".join(parts))


def _by_whom(layers: Sequence[str], status: str, release: Release) -> list[str]:
    """Layers, "(judged)" behind one that no clause on checks brought to this."""
    rows = () if release.decision is None else release.decision.rows
    by_checks = {row.layer for row in rows if row.status == status and not row.trust}
    return [name if name in by_checks else f"{name} (judged)" for name in layers]


def show_layers(release: Release) -> Html:
    """One row a layer: verdict, share passed, its interval, the baseline, and the difference."""
    bars = release.bars()
    verdicts = _verdicts(release)
    critical = _critical(release)
    with_baseline = bool(release.pairs)
    scores = [*release.summary.layers, release.summary.overall]
    before = release.before if with_baseline else None
    olds = {score.layer: before.layer(score.layer) for score in scores} if before else {}
    drawn = [score.estimate for score in (*scores, *olds.values()) if score is not None]
    low, high = used_scale(drawn, bars=(bars[one.layer] for one in scores if one.layer in bars))
    rows: list[list[Part]] = []
    for score in scores:
        pair = release.pairs.get(score.layer)
        old = olds.get(score.layer)
        row: list[Part] = [
            tag("i", None, "all layers at once") if score.layer == ALL_CHECKS else score.layer,
            _verdict(verdicts.get(score.layer), critical.get(score.layer, ())),
            join(
                [
                    tag("div", None, f"{score.passed:,} of {score.n:,}"),
                    tag("div", {"class": "note"}, in_shares(score.estimate)),
                ]
            ),
            interval_mark(
                score.estimate,
                old.estimate if old is not None else None,
                bar=bars.get(score.layer),
                low=low,
                high=high,
            ),
        ]
        if with_baseline:
            row += [
                None if old is None else f"{old.passed:,} of {old.n:,}",
                None if pair is None else in_points(pair.difference).replace(" points", ""),
            ]
        row.append(_to_know(score, pair, release))
        rows.append(row)
    share = join([tag("div", None, "share passed, %"), scale_mark(low, high, percent=True)])
    columns: list[Column | str] = [
        "layer",
        "verdict",
        Column("passed, 95 %", "number"),
        Column(share, "figure", label=f"share passed, {100 * low:g} to {100 * high:g} %"),
    ]
    if with_baseline:
        columns += [
            Column("baseline", "number"),
            Column(
                join([tag("div", None, "change"), tag("div", None, "in points")]),
                "number",
                label="change in points",
            ),
        ]
    columns.append(Column("what to know", "prose"))
    return join(
        [
            tag("h2", {"id": "layers"}, layers_finding(release)),
            table(columns, rows, caption=_caption(release, low, high)),
            _where_fixes_lie(release),
        ]
    )


def _caption(release: Release, low: float, high: float) -> str:
    many = release.summary.repeats > 1
    share = (
        "mean of the cases' own pass rates, anchored bootstrap over cases"
        if many
        else "share of cases, Wilson interval"
    )
    said = [f"Round and thick: this release ({share}; counts are transcripts)."]
    if release.pairs:
        how = "anchored interval" if many else "Tango interval"
        said.append(f"Diamond and thin: the baseline. Change: paired by case, {how}, in points.")
        said.append(
            "Intervals are two-sided 95 %; whether a drop is ruled out, one-sided 95 % (anchored "
            "bound; Gaffke's where few cases moved)."
        )
    if release.bars():
        said.append("Dashed: the bar.")
    if (low, high) != (0.0, 1.0):
        said.append(f"Drawn from {100 * low:g} to {100 * high:g} %, the part in use.")
    said.append("The last row counts a case as passed if all its checks passed; no bar reads it.")
    return " ".join(said)


def _verdicts(release: Release) -> dict[str, str]:
    return dict(release.decision.layers) if release.decision is not None else {}


def _verdict(status: str | None, critical: Collection[str]) -> Html:
    shown = badge(status) if status is not None else tag("span", {"class": "note"}, "no clause")
    if not critical:
        return shown
    many = counted(len(critical), "case")
    # Next to a rate that passes: the clause that holds the release is another one.
    link = tag("a", {"href": "#hard"}, "see above")
    # A short badge: the table has no room beside the drawings for a longer one.
    told = tag("span", {"class": "note"}, f"{many} failed, ", link)
    return tag("div", {"class": "stack"}, shown, badge("fail", words="critical"), told)


def _critical_failed(release: Release) -> bool:
    rows = () if release.decision is None else release.decision.rows
    return any(row.clause == "critical" and row.status == "fail" for row in rows)


def _critical(release: Release) -> dict[str, set[str]]:
    """By layer, the cases whose failed check there fails the critical clause."""
    found: dict[str, set[str]] = {}
    if release.decision is None or not _critical_failed(release):
        return found
    named = {case.case_id for case in release.summary.cases if case.plan.critical}
    for row in release.decision.hard_fails:
        if row.critical or row.case_id in named:
            found.setdefault(row.layer, set()).add(row.case_id)
    return found


def _moved(release: Release) -> list[PairedLayer]:
    return [pair for name, pair in release.pairs.items() if pair.shown and name != ALL_CHECKS]


def _to_know(score: LayerScore, pair: PairedLayer | None, release: Release) -> Html:
    said: list[str] = []
    if pair is not None and pair.difference.value is not None:
        moved_any = pair.worse or pair.better
        said.append(
            "beyond noise" if pair.shown else ("within noise" if moved_any else "nothing moved")
        )
        # The same bound that the gate reads, not the end of the two-sided interval.
        said.append(_claim(pair, release).partition(";")[0].partition(" (")[0])
    if score.unscored:
        said.append(f"{score.unscored:,} unscored")
    if score.crashed:
        said.append(f"{score.crashed} crashed")
    if score.estimate.value is None:
        said.append(score.estimate.reason)
    if pair is None and score.assertions and score.layer != ALL_CHECKS:
        said.append(f"{score.assertions_passed:,} of {counted(score.assertions, 'assertion')}")
    if pair is not None and pair.dropped:
        said.append(f"{len(pair.dropped):,} not scored in both")
    words = ("worse", "better") if pair is not None and pair.repeated else ("broken", "fixed")
    moved: Part = None
    if pair is not None and (pair.worse or pair.better):
        moved = join(
            [
                "; " if said else None,
                f"{len(pair.worse):,} {words[0]}",
                _some(pair.worse, release) if score.layer != ALL_CHECKS else None,
                f", {len(pair.better):,} {words[1]}",
            ]
        )
    return join(["; ".join(said), moved])


def _claim(pair: PairedLayer, release: Release) -> str:
    """In the unit that the bar reads this layer in, else in pass share."""
    decision = release.decision
    for row in decision.rows if decision is not None else ():
        # Where preferences were read in place of checks, the row names what they are worth.
        if row.name == f"no_worse {pair.layer}" and decision is not None and not row.trust:
            clause = decision.bar.bar.no_worse[row.target]
            if clause.unit == "win_rate":
                return pair.claim(clause.margin, unit="win rate")[1]
    return pair.claim(release.margin("pass_share") or _MARGIN)[1]


def _some(ids: tuple[str, ...], release: Release) -> Part:
    if not ids:
        return None
    links = join((record_link(name, release) for name in ids[:3]), between=", ")
    return join([" (", links, ", …" if len(ids) > 3 else None, ")"])


def _where_fixes_lie(release: Release) -> Part:
    failed = [name for name, status in _verdicts(release).items() if status == "fail"]
    fell = [pair.layer for pair in _moved(release) if (pair.difference.value or 0) < 0]
    named = [name for name in dict.fromkeys([*fell, *failed, *_critical(release)]) if name in FIXES]
    if not named:
        return None
    said = "; ".join(f"{name}: {FIXES[name]}" for name in named)
    return tag("p", {"class": "lead"}, f"Where fixes usually lie. {sentence(said)}.")


def _with_n(mark: Estimate) -> Html:
    note = tag("div", {"class": "note"}, f"n = {mark.n:,}") if mark.value is not None else None
    return join([mark.text(percent=True), note])


def show_repeats(release: Release) -> Html:
    """Repeats: pass^k by layer, and the cases that do not agree with themselves."""
    summary = release.summary
    if summary.repeats < 2:
        said = "Each case ran once, so nothing is known of how steady the agent is."
        return absent("repeats", "Repeats", said)
    last = summary.repeats
    twice = sum(case.counts[ALL_CHECKS].n > 1 for case in summary.cases)
    if not twice:
        said = (
            f"Each case ran {last} times, but none has two repeats that checks scored: nothing is "
            "known of how steady the agent is by its checks."
        )
        return absent("repeats", "Repeats", said)
    ks = sorted({1, 2, last} if last <= 8 else {1, 2, 4, last})
    names = [*(item.layer for item in summary.layers), ALL_CHECKS]
    hats = {name: [summary.pass_hat(k, layer=name) for k in ks] for name in names}
    low, high = used_scale(marks[-1] for marks in hats.values())
    rows: list[list[Part]] = []
    for name, marks in hats.items():
        counts = [case.counts[name] for case in summary.cases if name in case.counts]
        # One repeat that was scored has nothing to disagree with.
        flaky, total = sum(one.flaky for one in counts), sum(one.n > 1 for one in counts)
        label: Part = tag("i", None, "all layers at once") if name == ALL_CHECKS else name
        rows.append(
            [
                label,
                *(_with_n(mark) for mark in marks),
                f"{flaky:,} of {total:,}",
                interval_mark(marks[-1], low=low, high=high),
            ]
        )
    flaky_ids = summary.flaky
    finding = (
        f"{len(flaky_ids):,} of {twice:,} cases do not agree with themselves"
        if flaky_ids
        else f"Every case agrees with itself over {last} repeats"
        if twice == len(summary.cases)
        else f"Every case that was checked twice or more ({twice:,} of {len(summary.cases):,}) "
        "agrees with itself"
    )
    columns: list[Column | str] = [
        "layer",
        *(Column(f"pass^{k}", "number") for k in ks),
        Column("flaky cases", "number"),
        Column(
            join([tag("div", None, f"pass^{last}, %"), scale_mark(low, high, percent=True)]),
            "figure",
            label=f"pass^{last}, {100 * low:g} to {100 * high:g} %",
        ),
    ]
    caption = (
        f"pass^k: the chance that k repeats of a case all pass, averaged over cases (unbiased, "
        f"k of {last} repeats), with 95 % anchored bootstrap intervals over cases; n: "
        "cases with k scored repeats or more. Flaky: of the cases with two or more."
    )
    links = join((record_link(name, release) for name in flaky_ids[:24]), between=", ")
    more = f" and {len(flaky_ids) - 24:,} more" if len(flaky_ids) > 24 else None
    return join(
        [
            tag("h2", {"id": "repeats"}, finding),
            table(columns, rows, caption=caption),
            tag("p", {"class": "lead"}, "Flaky: ", links, more) if flaky_ids else None,
        ]
    )
