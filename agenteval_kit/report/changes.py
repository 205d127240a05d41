"""What changed against the baseline beside the scores: cost and time, the prompt, the bar, stamps.

May not turn an unknown into 0.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from agenteval_kit.records.bars import Bar
from agenteval_kit.report.facts import Spent, spent
from agenteval_kit.report.markup import Html, Part, absent, badge, join, tag, with_code
from agenteval_kit.report.release import Release
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.wording import minus
from agenteval_kit.text import counted

__all__ = ["show_changes", "show_cost"]

_LONGEST_DIFF = 400


def show_cost(release: Release) -> Html:
    """Cost, tokens and time of this run beside the baseline's; what is unknown is called so."""
    now = spent(release.facts)
    was = spent(release.old_facts) if release.baseline is not None else None
    shown = [_measures(one) for one in (now, was) if one is not None]
    rows: list[list[Part]] = [[name, *(one[name] for one in shown)] for name in shown[0]]
    rows, unknown = _known(rows)
    columns: list[Column | str] = ["of the agent", Column("this release", "number")]
    if was is not None:
        columns.append(Column("baseline", "number"))
    caption = (
        "Sums over the run; seconds and turns are per transcript. A sum is not known unless every "
        f"transcript says its part.{unknown}"
    )
    return join(
        [
            tag("h2", {"id": "cost"}, _cost_finding(now, was)),
            table(columns, rows, caption=caption, compact=True),
            _judging(release),
        ]
    )


def _judging(release: Release) -> Part:
    """What the judges took, as the run's tape says; nothing where none was asked."""
    took = release.judgements.spent
    if took is None:
        return None
    elsewhere = max(took.asked - took.kept, 0)
    kept = f"{took.kept:,} on the tape of this run"
    if took.kept:
        kept += f", {took.first[:10]} to {took.last[:10]}"
    rows: list[list[Part]] = [
        ["requests behind what is shown", f"{took.asked:,}"],
        ["replies", kept],
        ["cost", None if took.usd is None else f"{took.usd:,.2f} USD"],
        ["tokens", None if took.tokens is None else f"{took.tokens:,}"],
        ["seconds of waiting, all replies", _seconds(took.seconds)],
    ]
    if elsewhere:
        rows.insert(2, ["replies from another tape", f"{elsewhere:,}, of unknown cost"])
    rows, unknown = _known(rows)
    caption = (
        "Judging. Each reply was kept before it was used and is never paid for again; a sum is "
        f"not known unless every reply says its part.{unknown}"
    )
    columns: list[Column | str] = ["of judging", Column("judges", "number")]
    return table(columns, rows, caption=caption, compact=True)


def _known(rows: list[list[Part]]) -> tuple[list[list[Part]], str]:
    """The rows that hold something, and a sentence that names the others."""
    empty = [str(row[0]) for row in rows if not any(row[1:])]
    told = f" Not known at all: {'; '.join(empty)}." if empty else ""
    return [row for row in rows if any(row[1:])], told


def _measures(took: Spent) -> dict[str, Part]:
    n = took.transcripts

    def known(shown: str | None, count: int) -> Part:
        return shown or (f"not known ({count:,} of {n:,} say)" if count else None)

    return {
        "cost": known(
            None if took.cost_usd is None else f"{took.cost_usd:,.2f} USD", took.cost_known
        ),
        "tokens": known(None if took.tokens is None else f"{took.tokens:,}", took.tokens_known),
        "seconds, median": known(_seconds(took.seconds), took.seconds_known),
        "seconds, 90th percentile": known(_seconds(took.slow), took.seconds_known),
        "turns, mean": "–" if took.turns is None else f"{took.turns:.1f}",
        "tool calls, mean": "–" if took.calls is None else f"{took.calls:.1f}",
        "agent's model replies": f"{took.model_calls:,} ({took.from_tape:,} from the tape)"
        if took.model_calls
        else "none",
    }


def _seconds(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def _cost_finding(now: Spent, was: Spent | None) -> str:
    if now.cost_usd is None:
        return "Cost is not known"
    if was is None or was.cost_usd is None or was.cost_usd == 0:
        return f"Cost {now.cost_usd:,.2f} USD"
    change = round(100 * (now.cost_usd / was.cost_usd - 1))
    told = minus(f"{change:+d}") if change else "0"
    return f"Cost {now.cost_usd:,.2f} USD, {told} % against the baseline"


def show_changes(release: Release) -> Html:
    """What differs between the two versions: stamps, the prompt line by line, the bar."""
    if release.baseline is None:
        said = "there is no baseline; name a run with `baseline` to see it."
        return absent("changes", "What changed", said)
    parts: list[Part] = [tag("h2", {"id": "changes"}, "What changed since the baseline")]
    stamps = release.comparison.stamps if release.comparison is not None else {}
    if stamps:
        columns: list[Column | str] = ["stamp", "baseline", "this release"]
        rows = [(name, old, new) for name, (old, new) in stamps.items()]
        parts.append(table(columns, rows, caption="Stamps that differ."))
    else:
        parts.append(tag("p", {"class": "lead"}, "No stamp differs."))
    parts.append(_prompt(release.baseline.info.prompt_text, release.run.info.prompt_text))
    parts.append(_bar(release))
    return join(parts)


def _prompt(old: str | None, new: str | None) -> Html:
    heading = tag("h3", None, "The prompt")
    if old is None or new is None:
        which = "either run" if old is None and new is None else (
            "the baseline" if old is None else "this run")  # fmt: skip
        said = f"The text of the prompt is not known for {which}, so it cannot be compared."
        return join([heading, tag("p", {"class": "note"}, said)])
    if old == new:
        return join([heading, tag("p", {"class": "note"}, "Its text has not changed.")])
    lines = list(
        difflib.unified_diff(
            old.splitlines(), new.splitlines(), "baseline", "this release", lineterm="", n=2
        )
    )
    shown = [_diff_line(line) for line in lines[2:_LONGEST_DIFF]]
    if len(lines) > _LONGEST_DIFF:
        shown.append(
            tag("span", {"class": "note"}, counted(len(lines) - _LONGEST_DIFF, "more line"))
        )
    return join(
        [
            heading,
            tag("pre", {"class": "diff", "tabindex": 0}, join(shown, between="\n")),
        ]
    )


def _diff_line(line: str) -> Html:
    if line.startswith("+"):
        return tag("ins", None, line)
    if line.startswith("-"):
        return tag("del", None, line)
    return tag("span", {"class": "note"}, line) if line.startswith("@@") else join([line])


def _bar(release: Release) -> Part:
    if release.decision is None:
        return None
    heading = tag("h3", None, "The bar")
    if release.old_bar is None:
        said = (
            "The bar that the baseline was held to is not known; give it with `--baseline-bar` "
            "(in a notebook: `baseline_bar`) to see every threshold old and new."
        )
        return join([heading, tag("p", {"class": "note"}, with_code(said))])
    old, new = (dict(_thresholds(bar)) for bar in (release.old_bar, release.decision.bar.bar))
    rows: list[list[Part]] = []
    for name in dict.fromkeys([*new, *old]):
        if old.get(name) != new.get(name):
            rows.append(
                [
                    name,
                    old.get(name, "not asked"),
                    new.get(name, "not asked"),
                    badge("fail", words="lowered") if _lowered(name, old, new) else "changed",
                ]
            )
    if not rows:
        return join([heading, tag("p", {"class": "note"}, "Not changed.")])
    columns: list[Column | str] = [
        "clause", Column("baseline", "number"), Column("this release", "number"), "how",
    ]  # fmt: skip
    return join([heading, table(columns, rows, caption="Thresholds that differ, old and new.")])


def _thresholds(bar: Bar) -> Iterator[tuple[str, str]]:
    for key, value in bar.model_dump(mode="json", exclude={"name"}).items():
        yield from _leaves(key, value)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{name} {key}", item)
    elif isinstance(value, list):
        yield from ((f"{name} {item}", "asked") for item in value)
    elif value is not None:
        yield name, f"{value:g}" if isinstance(value, float) else str(value)


def _lowered(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether the new bar is easier to pass in this place."""
    was, now = old.get(name), new.get(name)
    if was is None or now is None:
        return now is None and not name.endswith(("unit", "applies_to"))
    try:
        before, after = float(was), float(now)
    except ValueError:
        return (was, now) in _EASIER
    # A larger margin and more unscored are easier; so is a smaller share or mean.
    return after > before if "margin" in name or name == "max_unscored" else after < before


_EASIER = {("hold", "review"), ("hold", "report"), ("review", "report"), ("bound", "estimate")}
