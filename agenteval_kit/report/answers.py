"""What a reader asks first, answered in words: may it ship, what broke, what to read, how sure.

May not decide, and may not hold a number that no section below shows with its method.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.reading import gravest, gravest_first, open_reasons, why_first
from agenteval_kit.report.release import Release
from agenteval_kit.report.standing import holds_the_bar, not_ruled_out
from agenteval_kit.report.views import ClauseView
from agenteval_kit.report.wording import clip, count_word, in_points, listed, minus, sentence
from agenteval_kit.stats.beside_bar import in_words, on_its_side
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import ALL_CHECKS

__all__ = ["ANSWERS", "show_answers"]

ANSWERS = ("May it ship", "What broke", "Read first", "How sure")
"""The questions, as they stand before their answers."""
_LINKED, _NAMED, _LONGEST = 6, 3, 160
_UNIT = re.compile(r"pass\^\d+|\bassertions\b")
_HARD = ("hard_layers", "critical")
_RATED = {"pass_rate": "rate", "mean": "mean"}


def show_answers(release: Release) -> Html:
    """One line a question, for the first screen: each answer is whole without another section."""
    told: tuple[Part, ...] = (
        _may_it_ship(release),
        _what_broke(release),
        _read_first(release),
        _how_sure(release),
    )
    lines = (
        tag("div", None, tag("b", None, f"{asked}: "), tag("span", None, answer))
        for asked, answer in zip(ANSWERS, told, strict=True)
    )
    return tag("div", {"class": "answers"}, *lines)


def _may_it_ship(release: Release) -> str:
    decision = release.decision
    if decision is None:
        return "That is not decided: no bar was given."
    if decision.verdict == "HOLD":
        return "No: a clause of the bar fails, and no other number makes up for it."
    if decision.verdict == "REVIEW":
        return "Not yet: no clause fails, but what cannot be told is not passed."
    bar = decision.bar.bar
    name = f"the bar {bar.name}" if bar.name else "this bar"
    judged = bar.mean or bar.never or bar.win_rate or any(row.trust for row in decision.rows)
    asks = "" if judged else " It asks for checks alone: no clause of it reads a judge."
    return f"Yes, under {name}: every clause that counts passes.{asks}"


def _what_broke(release: Release) -> Html:
    overall = release.pairs.get(ALL_CHECKS)
    if overall is None or not overall.n:
        return join([_not_told(release), " ", _failing(release)])
    broke = gravest_first(overall.broke, release)
    layers = [pair for name, pair in release.pairs.items() if name != ALL_CHECKS]
    further = gravest_first(overall.fell_further(layers), release)
    less = [name for name in overall.worse if name not in broke]
    better = len(overall.better)
    many = count_word(better) if better else "none"
    more: Part = f"{many} {'are' if better > 1 else 'is'} mended"
    how = "passing before and failing now"
    if overall.repeated:
        how = "passing in no repeat now"
        more = f"{many} {_verb(max(1, better), 'pass')} more often"
    told: list[Part] = [join([sentence(_cases(len(broke))), " broke", _links(broke, release)])]
    if broke:
        told[0] = join([told[0], f", {how}"])
    if less:
        said = f"{count_word(len(less))} {_verb(len(less), 'pass')} less often"
        told.append(join([said, _links(less, release)]))
    if further:
        said = f"{count_word(len(further))} that failed before too fell in a layer"
        told.append(join([said, _links(further, release)]))
    return join([join([*told, more], between="; "), ". ", _moved(release)])


def _not_told(release: Release) -> str:
    if release.baseline is None:
        return "Without a baseline nothing can be called broken."
    why = release.not_comparable or "no case was scored in both runs"
    return f"Nothing is held against the baseline ({why})."


def _failing(release: Release) -> Html:
    """What fails now, by layer; for a run that stands alone."""
    failed = [case.case_id for case in release.summary.cases if case.status == "failed"]
    if not release.summary.overall.n:
        return join(["No check ran."])
    if not failed:
        return join(["No case fails a check."])
    layers = Counter(
        name
        for case in release.summary.cases
        for name, counts in case.counts.items()
        if name != ALL_CHECKS and counts.failed
    )
    by = ", ".join(f"{name} {count:,}" for name, count in layers.most_common())
    said = f"{sentence(_cases(len(failed)))} {_verb(len(failed), 'fail')} now, by layer {by}"
    return join([said, _links(failed, release), "."])


def _moved(release: Release) -> str:
    """Layers and dimensions whose change lies beyond its interval; "none" is an answer too."""
    layers = [pair for name, pair in release.pairs.items() if name != ALL_CHECKS and pair.shown]
    told = [_way(pair.layer, pair.difference, in_points(pair.difference)) for pair in layers]
    judged = [pair for pair in release.judgements.pairs.values() if pair.shown]
    told += [
        _way(pair.dimension.replace("_", " "), pair.difference, minus(pair.difference.text()))
        for pair in judged
    ]
    if told:
        worse = [one for one in told if " fell, " in one]
        better = [one for one in told if one not in worse]
        said = [f"{sentence('; '.join(worse))}."] if worse else []
        # Under a question for what broke, what got better is said to be no answer to it.
        return " ".join([*said, *([f"Better: {'; '.join(better)}."] if better else [])])
    asked = "layer or judged dimension" if release.judgements.pairs else "layer"
    overall = release.pairs.get(ALL_CHECKS)
    if overall is not None and overall.worse:
        # A share that cannot tell takes nothing back of what broke.
        return (
            f"Too few to show that the share of a {asked} moved; what broke is broken all the same."
        )
    return f"No {asked} moved beyond noise."


def _way(name: str, change: Estimate, shown: str) -> str:
    return f"{name} {'fell' if (change.value or 0) < 0 else 'rose'}, {shown}"


def _read_first(release: Release) -> Html:
    """The gravest hard fail, else what leads the reading list, else the gravest failure; and why.

    Linked where the transcript first went wrong: what fails at the end often follows from it.
    """
    decision = release.decision
    hard = decision.hard_fails if decision is not None else ()
    reason = None if hard else next(open_reasons(release), None)
    if reason is not None:
        link = record_link(reason.case_id, release, turn=reason.turn, repeat=reason.repeat)
        return join([link, f": {clip(reason.why, _LONGEST)}.{_first(why_first(reason, release))}"])
    rows = hard or tuple(
        row for case in release.summary.cases for item in case.transcripts for row in item.failing
    )
    if rows:
        row = gravest(rows, release)
        link = record_link(row.case_id, release, turn=row.turn, repeat=row.repeat)
        first = _first(why_first(row, release))
        return join([link, f": {clip(f'{row.layer}, {row.name}: {row.why}', _LONGEST)}.{first}"])
    critical = [case for case in release.summary.cases if case.plan.critical]
    for case in (*critical, *release.summary.cases):
        what = "a critical case" if case.plan.critical else "the first of the records"
        said = f": no transcript stands out, so any will do; this is {what}."
        return join([record_link(case.case_id, release), said])
    return join(["There is no transcript."])


def _first(why: Sequence[str]) -> str:
    return f" First because it {listed(why)}." if why else ""


def _how_sure(release: Release) -> Html:
    """A line each: what is certain, which numbers lean on few cases, which judges are trusted."""
    lines = (_certain, _numbers, _judges)
    told = (" ".join(filter(None, line(release))) for line in lines)
    return join((tag("span", None, one) for one in told if one), between=" ")


def _certain(release: Release) -> Iterator[str]:
    decision = release.decision
    if decision is None:
        yield "No clause was asked; each number below stands with its interval."
        return
    hard = [row.name for row in decision.rows if row.clause in _HARD and row.status == "fail"]
    if hard:
        yield f"Certain, as checks are exact: the failures of {_named(hard)}."
    if decision.verdict != "HOLD":
        yield not_ruled_out(release)
    if release.summary.repeats == 1:
        yield "Each case ran once: how steady the agent is, is not known."


def _numbers(release: Release) -> Iterator[str]:
    rows = list(release.decision.rows) if release.decision is not None else []
    rated = [row for row in rows if _rated(row)]
    under = [row for row in rated if _wholly_under(row)]
    either = [row for row in rated if holds_the_bar(row)]
    if under:
        yield f"Under the bar with the whole interval: {_measured(under)}."
    if either:
        yield f"Could be on either side of the bar: {_measured(either)}."
    open_changes = [row for row in rows if _undecided_change(row)]
    if open_changes:
        yield f"Could be a larger drop than is allowed: {_changes(open_changes)}."
    if rated and not under and not either:
        asked = {row.clause for row in rated}
        of = " and ".join(name for clause, name in _RATED.items() if clause in asked)
        yield f"Each {of} that was measured lies with its whole interval over its bar."
    without = [row for row in rows if row.clause in _RATED and row not in rated]
    if without:
        yield f"No value yet: {_named([row.name.replace('_', ' ') for row in without])}."


def _rated(row: ClauseView) -> bool:
    """Whether the clause holds the interval of a rate or a mean against a threshold."""
    shown = row.estimate
    return row.clause in _RATED and shown is not None and shown.low is not None


def _undecided_change(row: ClauseView) -> bool:
    """Whether a drop against the baseline is neither ruled out nor shown."""
    shown = row.estimate
    told = shown is not None and shown.low is not None
    return told and row.clause == "no_worse" and row.status == "cannot tell"


def _changes(rows: Sequence[ClauseView]) -> str:
    """Changes as "outcome 0 points (−13 to +13; 5 allowed)", in the unit of their clause."""
    told = []
    for row in rows:
        change, allowed = row.estimate, row.threshold
        if change is None or allowed is None:
            continue
        in_hundredths = "point" in row.bar
        shown = in_points(change) if in_hundredths else minus(change.text())
        most = f"{100 * allowed:.12g}" if in_hundredths else f"{allowed:.12g}"
        told.append(f"{row.target.replace('_', ' ')} {shown.removesuffix(')')}; {most} allowed)")
    return _named(told)


def _wholly_under(row: ClauseView) -> bool:
    high = None if row.estimate is None else row.estimate.high
    return high is not None and row.threshold is not None and high < row.threshold


def _measured(rows: Sequence[ClauseView]) -> str:
    """Clauses as "outcome 72 % (bar 85 %)"; the clauses below hold the intervals."""
    told = []
    for row in rows:
        percent = row.clause == "pass_rate"
        bar, value = row.threshold or 0.0, None if row.estimate is None else row.estimate.value
        wanted, digits = in_words(bar, percent=percent), 0 if percent else 2
        shown = "" if value is None else on_its_side(value, bar, percent=percent, digits=digits)
        name = row.name.removeprefix(f"{row.clause} ").replace("_", " ")
        # A figure of repeats that all pass, or of assertions, is no share of cases: it says so.
        unit = _UNIT.search(row.bar)
        name += f" {unit[0]}" if unit and row.clause == "pass_rate" else ""
        told.append(f"{name} {shown} (bar {wanted})")
    return _named(told)


def _untold(rows: Sequence[ClauseView]) -> str:
    """How many clauses cannot be told, and what they wait for."""
    waits: Counter[str] = Counter()
    for row in rows:
        if "not judged" in (row.trust, row.reason[:10]):
            waits["a judge"] += 1
        elif row.trust and row.trust != "trusted":
            waits["labels that make the judge trusted"] += 1
        elif row.clause == "open_flags":
            waits["a person to read what is flagged"] += 1
        else:
            waits["more evidence"] += 1
    if len(rows) == 1:
        return f"one clause cannot be told and waits for {next(iter(waits))}"
    told = [f"{what} ({count_word(count)})" for what, count in waits.items()]
    if len(told) == 1:
        told = list(waits)
    return f"{_count(len(rows), 'clause')} cannot be told and wait for {listed(told)}"


def _judges(release: Release) -> Iterator[str]:
    judged = release.judgements
    names = [one.name.replace("_", " ") for one in judged.dimensions]
    known = [judged.trust_of(one).trusted for one in judged.dimensions]
    sure = [name for name, trusted in zip(names, known, strict=True) if trusted]
    rest = [name for name, trusted in zip(names, known, strict=True) if not trusted]
    who = "SCRIPTED judges" if judged.scripted else "Judges"
    if not names:
        yield "No judge scored this run."
    elif not sure:
        yield f"{who} are trusted on no dimension, so what they say decides nothing."
    elif not rest:
        yield f"{who} are trusted on every judged dimension."
    else:
        yield f"{who} are trusted on {_named(sure)}, not on {_named(rest)}."
    rows = release.decision.rows if release.decision is not None else ()
    untold = [row for row in rows if row.status == "cannot tell"]
    if untold:
        yield f"{sentence(_untold(untold))}."


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more."""
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more])


def _count(n: int, what: str) -> str:
    return f"{count_word(n)} {what}{'' if n == 1 else 's'}"


def _cases(n: int) -> str:
    return _count(n, "case")


def _verb(n: int, verb: str) -> str:
    if n != 1:
        return verb
    return f"{verb}es" if verb.endswith("s") else f"{verb}s"


def _links(ids: Sequence[str], release: Release) -> Part:
    if not ids:
        return None
    links = join((record_link(name, release) for name in ids[:_LINKED]), between=", ")
    more = f" and {len(ids) - _LINKED:,} more" if len(ids) > _LINKED else None
    return join([" (", links, more, ")"])
