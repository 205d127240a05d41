"""What the list of records can be filtered by: state, hard fail, layer, tag, judged dimension.

May not hide a record without a filter, and needs no script to filter: the rules are style alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.release import STATES, Release
from agenteval_kit.summary import ALL_CHECKS, CaseScore

__all__ = ["record_filter"]

Move = tuple[str, float, float]
"""A layer whose share of passed repeats changed: its name, before, now."""

_GROUPS = ("layer", "tag", "dimension")
_ANY = {"layer": "any layer", "tag": "any tag", "dimension": "any dimension"}
_MOST_TAGS = 60
_LOW_LEVELS = 4


def record_filter(
    release: Release, cases: Sequence[CaseScore], moves: Mapping[str, Sequence[Move]]
) -> tuple[Html, dict[str, str]]:
    """The filter, and by case what it is found under, for the attribute ``data-in`` of its row.

    Each group narrows what the others leave.

    Parameters
    ----------
    release : Release
        What judges and the bar said of the cases.
    cases : sequence of CaseScore
        Those that are listed.
    moves : mapping
        By case, the layers that moved against the baseline.
    """
    found = {case.case_id: list(_found_under(case, moves[case.case_id], release)) for case in cases}
    counts = Counter(choice for mine in found.values() for choice in mine)
    hard = _hard(release)
    order = _order(counts, release)
    names = {choice: f"{choice[0][0]}{at}" for at, choice in enumerate(order)}
    marks = {
        case_id: " ".join(
            [names[one] for one in mine if one in names] + ["hard"] * (case_id in hard)
        )
        for case_id, mine in found.items()
    }
    hard_shown = sum(case_id in hard for case_id in found)
    parts: list[Part] = [tag("legend", None, "show"), *_states(counts, names, len(cases))]
    if hard_shown:
        box = tag("input", {"type": "checkbox", "value": "hard", "autocomplete": "off"})
        parts.append(tag("label", None, box, f"hard fail ({hard_shown})"))
    parts += [_choose(group, counts, names) for group in _GROUPS]
    parts += _helped_by_script(len(cases))
    rules = _rules([*names.values(), *(["hard"] if hard_shown else [])])
    return join([rules, tag("fieldset", {"class": "filter"}, *parts)]), marks


Choice = tuple[str, str]
"""A group, and what is chosen in it, in words."""


def _found_under(case: CaseScore, moves: Sequence[Move], release: Release) -> Iterator[Choice]:
    yield "state", release.states[case.case_id]
    for name, counts in case.counts.items():
        if name == ALL_CHECKS:
            continue
        if counts.failed:
            yield "layer", f"{name} fails"
        if counts.unscored:
            yield "layer", f"{name} unscored"
    yield from (("layer", f"{name} fell") for name, was, now in moves if now < was)
    yield from (("tag", name) for name in dict.fromkeys(case.plan.tags))
    for one in release.judgements.dimensions:
        said = [
            verdict
            for item in case.transcripts
            for verdict in release.judgements.verdicts.get((case.case_id, item.repeat), ())
            if verdict.dimension == one.name
        ]
        scores = [verdict.score for verdict in said if verdict.score is not None]
        for choice, level in _low(one.name, one.judged.stamp.levels):
            if scores and min(scores) <= level:
                yield "dimension", choice
        if len(scores) < len(said):
            yield "dimension", f"{_spaced(one.name)} unscored"
        if any(verdict.flags for verdict in said):
            yield "dimension", f"{_spaced(one.name)} flagged"


def _low(name: str, levels: Sequence[int]) -> list[tuple[str, int]]:
    """The levels of a dimension that are worth looking for, in words; its top is not one."""
    return [
        (f"{_spaced(name)} {level}{' or lower' if at else ''}", level)
        for at, level in enumerate(sorted(levels)[:-1][:_LOW_LEVELS])
    ]


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _hard(release: Release) -> frozenset[str]:
    rows = release.decision.hard_fails if release.decision is not None else ()
    return frozenset(row.case_id for row in rows)


def _order(counts: Counter[Choice], release: Release) -> list[Choice]:
    """Every choice that leaves a record, in the order in which it is offered."""
    layers = [item.layer for item in release.summary.layers]
    wanted: list[Choice] = [("state", name) for name in STATES]
    wanted += [
        ("layer", f"{name} {word}") for name in layers for word in ("fails", "fell", "unscored")
    ]
    tags = sorted((one for one in counts if one[0] == "tag"), key=lambda one: (-counts[one], one))
    wanted += tags[:_MOST_TAGS]
    for dimension in release.judgements.dimensions:
        wanted += [
            ("dimension", words) for words, _ in _low(dimension.name, dimension.judged.stamp.levels)
        ]
        wanted += [
            ("dimension", f"{_spaced(dimension.name)} {word}") for word in ("unscored", "flagged")
        ]
    return [one for one in wanted if counts[one]]


def _states(counts: Counter[Choice], names: Mapping[Choice, str], total: int) -> list[Html]:
    states = [one for one in names if one[0] == "state"]
    options = [("all", f"all ({total:,})", "")]
    options += [(names[one], f"{one[1]} ({counts[one]:,})", STATES[one[1]]) for one in states]
    return [
        tag(
            "label",
            {"title": words or None},
            tag(
                "input",
                {
                    "type": "radio",
                    "name": "state",
                    "value": value,
                    "checked": value == "all",
                    # Firefox would otherwise restore the last choice on reload.
                    "autocomplete": "off",
                },
            ),
            label,
        )
        for value, label, words in options
    ]


def _choose(group: str, counts: Counter[Choice], names: Mapping[Choice, str]) -> Html | None:
    mine = [one for one in names if one[0] == group]
    if not mine:
        return None
    label = "judged dimension" if group == "dimension" else group
    return tag(
        "select",
        {"aria-label": label, "autocomplete": "off"},
        tag("option", {"value": ""}, _ANY[group]),
        *(
            tag("option", {"value": names[one]}, f"{one[1]} ({counts[one]:,})")
            for one in mine
        ),
    )  # fmt: skip


def _helped_by_script(total: int) -> list[Html]:
    """What only the page's script can do; it takes the mark `hidden` away."""
    return [
        tag(
            "input",
            {"type": "search", "placeholder": "find a record", "hidden": True,
             "aria-label": "find a record by its name", "autocomplete": "off"},
        ),
        tag("button", {"type": "button", "hidden": True}, "show all"),
        tag("output", {"class": "shown note", "hidden": True}, f"{total:,} of {total:,} shown"),
    ]  # fmt: skip


def _rules(names: Sequence[str]) -> Html:
    """One rule a choice: where it is taken, records that are not found under it are not shown."""
    made = [
        f'.agenteval .filter:has([value="{name}"]:checked)~.records>li:not([data-in~="{name}"])'
        for name in names
    ]
    # Names are letters and numbers of our own making: nothing of a transcript stands in here.
    return Html(f"<style>{','.join(made)}{{display:none}}</style>") if made else Html("")
