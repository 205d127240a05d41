"""The first screen of a release: the verdict with the clauses that made it so, and the stamps.

May not decide: it shows what the gate said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agenteval_kit.report.answers import show_answers
from agenteval_kit.report.facts import Spent, spent
from agenteval_kit.report.links import record_link
from agenteval_kit.report.markup import Html, Part, badge, join, note, tag, with_code
from agenteval_kit.report.release import Release
from agenteval_kit.report.sheet import style_sheet
from agenteval_kit.report.standing import cases_in_words, unread
from agenteval_kit.report.tables import Column, facts, table
from agenteval_kit.report.views import ClauseView
from agenteval_kit.report.wording import count_word, in_points, listed, minus, sentence
from agenteval_kit.runs import Run, release_of
from agenteval_kit.text import counted

__all__ = ["show_clauses", "show_stamps", "show_verdict", "style"]

UNTRUSTED = ("not trusted", "provisional", "stale", "never calibrated")
"""States of trust in which a judged clause cannot tell."""
_COLOURS = {"SHIP": "ok", "HOLD": "no", "REVIEW": "mid"}
_SHOWN_IDS = 6


def style() -> Html:
    """The style sheet, for a live notebook; the rendered page has it in its head already."""
    return Html(f"<style data-sheet>{style_sheet()}</style>")


def show_verdict(release: Release) -> Html:
    """SHIP, HOLD or REVIEW in large letters, what broke, and the clauses that made it so."""
    decision = release.decision
    if decision is None:
        told = tag("p", None, "No bar was given, so nothing is decided.")
        body = tag("div", None, told, show_answers(release))
        return tag("section", {"class": "verdict mid"}, tag("b", None, "NO BAR"), body)
    made_it = [row for row in decision.rows if row.effect in ("HOLD", "REVIEW")]
    if decision.verdict == "SHIP":
        made_it = [row for row in decision.rows if row.status == "pass"]
    said = f"{_called(release)} on {cases_in_words(release)}: {_in_a_sentence(decision.rows)}"
    aside = unread(release)
    made_it.sort(key=lambda row: row.effect != "HOLD")
    reasons: Part = None
    if made_it:
        shown = [row for row in made_it if not _distrusted(row)]
        items = [_clause(row, release) for row in shown]
        items += _distrust([row for row in made_it if _distrusted(row)])
        reasons = tag("ol", None, *(tag("li", None, item) for item in items))
    return join(
        [
            tag(
                "section",
                {"class": f"verdict {_COLOURS[decision.verdict]}", "aria-label": "the verdict"},
                tag("b", None, decision.verdict),
                tag(
                    "div",
                    None,
                    tag("p", None, said),
                    show_answers(release),
                    reasons,
                    tag("div", {"class": "note"}, aside) if aside else None,
                ),
            ),
            *_banners(release),
        ]
    )


def _called(release: Release) -> str:
    """What is decided on: the name of the release, else of the run; the heading names none."""
    published = release_of(release.run)
    return f"Run {release.run.id}" if published is None else f"Release {published.name}"


def _distrusted(row: ClauseView) -> bool:
    return row.status == "cannot tell" and row.trust in UNTRUSTED and not row.people


def _distrust(rows: Sequence[ClauseView]) -> list[Html]:
    """Clauses that an untrusted judge keeps from being told, in one item a state of trust."""
    found = []
    for state in dict.fromkeys(row.trust for row in rows):
        mine = [row for row in rows if row.trust == state]
        would = {
            word: [row.name for row in mine if f"it would {word}: " in row.reason]
            for word in ("fail", "pass")
        }
        told = [f"{listed(names)} would {word}" for word, names in would.items() if names]
        rest = len(mine) - sum(map(len, would.values()))
        if rest:
            told.append(f"{count_word(rest)} would not be told even so")
        many = len(mine)
        clauses = "one judged clause" if many == 1 else f"{count_word(many)} judged clauses"
        said = f": the judge is {state}" + (f"; with trust {', '.join(told)}." if told else ".")
        found.append(join([badge("cannot tell"), " ", tag("b", None, clauses), said]))
    return found


def _in_a_sentence(rows: Sequence[ClauseView]) -> str:
    failed = sum(row.status == "fail" for row in rows)
    untold = sum(row.status == "cannot tell" for row in rows)
    passed = len(rows) - failed - untold
    if not failed and not untold:
        return f"all {count_word(passed)} clauses pass." if passed > 1 else "the one clause passes."
    parts: list[str] = []
    for many, one, more in (
        (failed, "fails", "fail"),
        (untold, "cannot be told", "cannot be told"),
        (passed, "passes", "pass"),
    ):
        if many:
            noun = "" if parts else (" clause" if many == 1 else " clauses")
            parts.append(f"{count_word(many)}{noun} {one if many == 1 else more}")
    return f"{', '.join(parts)}."


def _clause(row: ClauseView, release: Release) -> Html:
    return join(
        [
            badge(row.status),
            " ",
            tag("b", None, row.name),
            ": ",
            with_code(minus(row.reason)),
            _links(row.ids, release),
        ]
    )


def _links(ids: tuple[str, ...], release: Release) -> Part:
    if not ids:
        return "."
    links = join((record_link(name, release) for name in ids[:_SHOWN_IDS]), between=", ")
    more = f" and {len(ids) - _SHOWN_IDS:,} more" if len(ids) > _SHOWN_IDS else ""
    return join([" (", links, f"{more})."])


def _banners(release: Release) -> list[Part]:
    said: list[str] = []
    if release.baseline is not None and release.not_comparable:
        said.append(f"Not compared with the baseline: {release.not_comparable}.")
    if release.comparison is not None and release.comparison.in_part:
        told = release.comparison.in_part
        said.append(f"{told[:1].upper()}{told[1:]}.")
    if release.summary.missing:
        said.append(
            f"The run is incomplete: {counted(release.summary.missing, 'transcript')} missing."
        )
    notes = release.decision.notes if release.decision is not None else release.summary.warnings
    said += [text for text in notes if text != release.run.info.data_note]
    warned: list[Part] = [tag("p", {"class": "banner"}, text) for text in dict.fromkeys(said)]
    return [*warned, _data_note(release)]


_KINDS = {"recorded": "recorded transcripts", "simulated": "simulated for a demonstration"}


def _data_note(release: Release) -> Part:
    """What the data is, in the suites' own words; what both runs say is said once."""
    new = release.run.info
    old = release.baseline.info if release.baseline is not None else None
    kinds = {new.kind} | ({old.kind} if old is not None else set())
    head = None
    if kinds & _KINDS.keys():
        words = [f"this release: {_KINDS.get(new.kind, 'a live agent')}"]
        if old is not None and old.kind != new.kind:
            words.append(f"the baseline: {_KINDS.get(old.kind, 'a live agent')}")
        elif old is not None:
            words = [f"both runs: {_KINDS[new.kind]}"]
        head = f"{sentence('; '.join(words))}, not a live agent. "
    mine, theirs = _sentences(new.data_note), _sentences(old.data_note if old is not None else None)
    both = [item for item in mine if item in theirs]
    parts = [" ".join(both or ([] if theirs else mine))]
    for name, own in (("This release", mine), ("The baseline", theirs)):
        rest = [item for item in own if item not in both]
        if rest and theirs:
            parts.append(f"{name}: {' '.join(rest)}")
    text = " ".join(part for part in parts if part)
    if not head and not text:
        return None
    return tag("p", {"class": "note data-note"}, tag("b", None, head) if head else None, text)


def _sentences(text: str | None) -> list[str]:
    return re.split(r"(?<=[.!?]) +", text) if text else []


def show_stamps(release: Release) -> Html:
    """What was evaluated: who and which version produced these numbers."""
    info = release.run.info
    took = spent(release.facts)
    pairs: list[tuple[str, Part]] = [
        ("agent", _model(release.run, release)),
        ("prompt", _prompt(release.run)),
        ("judge", ", ".join(release.judgements.judges) or "not judged in this run"),
        ("suite", f"{info.suite} {info.suite_version} · {info.suite_digest}"),
    ]
    rubrics = {
        f"{one.stamp.rubric} · {one.stamp.rubric_digest}" for one in release.judgements.dimensions
    }
    if rubrics:
        pairs.append(("rubric", ", ".join(sorted(rubrics))))
    if release.decision is not None:
        pairs.append(("bar", f"{release.decision.bar.name} · {release.decision.bar.digest}"))
    if release.baseline is not None:
        named = f"{release.baseline.info.agent.prompt} · {release.baseline.id}"
        before = release_of(release.baseline)
        if before is not None:
            named += f" · published as {before.name} on {before.verdict}"
        pairs.append(("baseline", named))
    pairs += [
        (
            "clock",
            f"{info.clock}{' (frozen)' if info.frozen_clock else ''}" if info.clock else "none",
        ),
        ("size", f"{counted(len(info.cases), 'case')} × {info.repeats}"),
        ("cost", _cost(took.cost_usd)),
        ("model replies", _replies(took, info.kind)),
        ("run", release.run.id),
        ("made", info.created),
        ("package", f"{info.package}{f' · {info.commit[:9]}' if info.commit else ''}"),
    ]
    if info.simulator is not None:
        pairs.append(("simulated user", info.simulator))
    return facts(pairs)


def _model(run: Run, release: Release) -> str:
    agent = run.info.agent
    served = {item.model_served for item in release.facts.values() if item.model_served}
    served |= {agent.model_served} if agent.model_served else set()
    others = sorted(served - {agent.model})
    return f"{agent.model} (served as {', '.join(others)})" if others else agent.model


def _prompt(run: Run) -> str:
    agent = run.info.agent
    digest = agent.prompt_digest or agent.source_digest
    return f"{agent.prompt} · {digest}" if digest else agent.prompt


def _replies(took: Spent, kind: str) -> str:
    if kind != "live":
        return "none asked for: recorded"
    return f"{took.model_calls:,}, {took.from_tape:,} from the tape"


def _cost(cost: float | None) -> Part:
    return None if cost is None else f"{cost:.2f} USD"


def show_clauses(release: Release) -> Html:
    """Every clause of the bar: what was wanted, what came, and what follows."""
    if release.decision is None:
        return note("No bar was given.")
    rows = release.decision.rows
    shown = table(
        [
            "clause",
            "result",
            Column("wanted", "note"),
            Column("measured, 95 %", "number"),
            Column("n", "number"),
            "why",
        ],
        [
            (
                row.name,
                badge(row.status),
                row.bar,
                _measured(row),
                "" if row.estimate is None else f"{row.estimate.n:,}",
                join([with_code(minus(row.reason)), _links(row.ids, release)]),
            )
            for row in rows
        ],
        caption=f"The clauses of the bar {release.decision.bar.name}. A clause without evidence "
        "cannot be told; it never passes.",
    )
    words = f"All {len(rows)} clauses of the bar" if len(rows) > 1 else "The clause of the bar"
    return tag("details", {"class": "clauses"}, tag("summary", None, words), shown)


def _measured(row: ClauseView) -> str:
    if row.estimate is None:
        return ""
    if row.trust:
        # Judged: a mean or a change on the judge's scale, or a rate; a level's share is one too.
        return minus(row.estimate.text(percent=row.clause == "never"))
    if row.clause == "no_worse":
        return in_points(row.estimate)
    return row.estimate.text(percent=row.clause in ("pass_rate", "hard_layers", "critical"))
