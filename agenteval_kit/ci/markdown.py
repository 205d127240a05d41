"""A decision, or what the checks found, as a comment under a pull request.

May not be longer than a comment may be, and may not leave out the verdict to fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.ci.plain import code, listed_ids, plain, row
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import write_atomic
from agenteval_kit.summary import ALL_CHECKS
from agenteval_kit.summary.pairing import points
from agenteval_kit.text import counted

if TYPE_CHECKING:
    from agenteval_kit.gate import ClauseRow, Decision
    from agenteval_kit.records import CheckRow
    from agenteval_kit.runs import RunInfo
    from agenteval_kit.stats.estimate import Estimate
    from agenteval_kit.summary import LayerScore, PairedLayer, Summary, TranscriptScore

__all__ = ["LONGEST", "check_markdown", "decision_markdown", "write_markdown"]

LONGEST = 65_536
"""What a comment on GitHub may hold, in characters; here no more than that in bytes."""
_MARKS = {"pass": "✓ pass", "fail": "✗ fail", "cannot tell": "? cannot tell"}
_LAYERS, _REASONS, _HARD = 20, 5, 3
_ROOM = 400  # for the line that says what did not fit, and the end of the folded part


def decision_markdown(decision: Decision, *, link: str | None = None) -> str:
    """SHIP, HOLD or REVIEW with the layers, what broke and why; every clause folded below.

    Parameters
    ----------
    decision : Decision
        From `agenteval_kit.decide`.
    link : str, optional
        Where the whole report is.
    """
    summary, stamps = decision.summary, decision.stamps
    pairs = {pair.layer: pair for pair in decision.pairs}
    head = [
        f"## {decision.verdict}: {_who(stamps)}",
        "",
        f"On {_size(summary)}{_made(stamps)}: {_counted(decision)}.{_linked(link)}",
        "",
        *_layers(summary, verdicts=decision.layers, pairs=pairs or None),
        "",
        *_hard(decision.hard_fails, summary),
        *_moved(pairs.get(ALL_CHECKS), decision),
        *_reasons(decision),
        "",
        _stamps(stamps, bar=f"{plain(decision.bar.name, longest=60)} · {decision.bar_digest}"),
    ]
    if decision.baseline_stamps:
        head.append(f"<br>{_stamps(decision.baseline_stamps, word='against ')}")
    head += [f"<br>note: {plain(text, longest=600)}" for text in decision.notes[:5]]
    every = [_clause_row(one) for one in decision.rows]
    heads = ("clause", "", "measured (95 %)", "n", "wanted", "judge", "why")
    return _whole(head, f"All {len(every):,} clauses", heads, every)


def check_markdown(
    info: RunInfo, summary: Summary, *, complete: bool = True, link: str | None = None
) -> str:
    """What the checks found: the layers, and which cases failed on what.

    Parameters
    ----------
    info : RunInfo
        The stamps of the run.
    summary : Summary
        What its checks add up to.
    complete : bool
        Whether every transcript arrived.
    link : str, optional
        Where more stands.
    """
    verdict = "PASS" if not (summary.failed or summary.unscored) else "FAIL"
    if not summary.failed and summary.unscored:
        verdict = "UNSCORED"
    if not complete:
        verdict = "INCOMPLETE"
    stamps = {**info.stamps(), "run": info.id, "kind": info.kind, "package": info.package}
    bad = [
        item
        for case in summary.cases
        for item in case.transcripts
        if item.status not in ("passed", "judge only")
    ]
    notes = [*summary.warnings, *([info.data_note] if info.data_note else [])]
    head = [
        f"## {verdict}: {_who(stamps)}",
        "",
        f"On {_size(summary)}{_made(stamps)}: {plain(summary.sentence)}.{_linked(link)}",
        "",
        *_layers(summary),
        "",
        *_failed(bad, summary),
        "",
        _stamps(stamps),
        *(f"<br>note: {plain(text, longest=600)}" for text in notes[:5]),
    ]
    every = [
        row(
            (
                code(_named(item, summary.repeats)), item.status, plain(one.layer, longest=60),
                plain(one.name, longest=80), "" if one.turn is None else str(one.turn),
                plain(one.why), plain(one.expected, longest=120),
                plain(one.received, longest=120),
            )
        )
        for item in bad
        for one in item.failing
    ]  # fmt: skip
    heads = ("case", "", "layer", "check", "turn", "why", "expected", "received")
    return _whole(head, f"All {len(every):,} failed checks", heads, every)


def write_markdown(path: Path, text: str) -> None:
    """Write a summary to its file.

    Raises
    ------
    ConfigError
        If the path is a folder.
    """
    if path.is_dir():
        raise ConfigError(f"--markdown {path}: is a folder; name a file")
    write_atomic(path, text)


def _who(stamps: Mapping[str, Any]) -> str:
    agent = stamps["agent"]
    said = f"{stamps['suite']} {stamps['suite_version']}, {agent['model']} {agent['prompt']}"
    return plain(said, longest=200)


def _size(summary: Summary) -> str:
    many = counted(len(summary.cases), "case")
    return many if summary.repeats == 1 else f"{many} × {summary.repeats}"


def _made(stamps: Mapping[str, Any]) -> str:
    """How the agent's side came to be, where no agent ran."""
    return "" if stamps["kind"] == "live" else f" ({stamps['kind']})"


def _linked(link: str | None) -> str:
    return "" if link is None else f" [The report](<{link}>)"


def _counted(decision: Decision) -> str:
    told: list[str] = []
    for status, one, more in (
        ("fail", "fails", "fail"), ("cannot tell", "cannot be told", "cannot be told"),
        ("pass", "passes", "pass"),
    ):  # fmt: skip
        many = sum(row.status == status for row in decision.rows)
        if many:
            noun = "" if told else f" clause{'' if many == 1 else 's'}"
            told.append(f"{many:,}{noun} {one if many == 1 else more}")
    return ", ".join(told)


def _layers(
    summary: Summary,
    *,
    verdicts: Mapping[str, str] | None = None,
    pairs: Mapping[str, PairedLayer] | None = None,
) -> Iterator[str]:
    """The table of the layers; with a decision also their verdicts, with a baseline the change."""
    heads = ["layer", "passed", "share (95 %)"]
    if verdicts is not None:
        heads.insert(1, "bar")
    if pairs is not None:
        heads += ["against the baseline", "broken", "fixed"]
    yield row(heads)
    yield row(["---"] * len(heads))
    for layer in (*summary.layers[:_LAYERS], summary.overall):
        name = "*every check*" if layer.layer == ALL_CHECKS else plain(layer.layer, longest=60)
        cells = [name, _passed(layer), _share(layer)]
        if verdicts is not None:
            cells.insert(1, _MARKS.get(verdicts.get(layer.layer, ""), "–"))
        if pairs is not None:
            pair = pairs.get(layer.layer)
            cells += ["–", "", ""] if pair is None else _change(pair)
        yield row(cells)
    if len(summary.layers) > _LAYERS:
        yield row([counted(len(summary.layers) - _LAYERS, "more layer"), *[""] * (len(heads) - 1)])


def _passed(layer: LayerScore) -> str:
    said = f"{layer.passed:,} of {layer.n:,}"
    return said + (f", {layer.unscored:,} unscored" if layer.unscored else "")


def _share(layer: LayerScore) -> str:
    text = layer.estimate.text(percent=True)
    # Of repeats it is not the share of the transcripts in the cell before.
    return text if layer.n == layer.cases else f"mean over {counted(layer.cases, 'case')} {text}"


def _change(pair: PairedLayer) -> list[str]:
    if pair.difference.value is None:
        return [plain(pair.difference.reason), "", ""]
    return [
        f"{points(pair.difference)}, n = {pair.n:,}", f"{len(pair.worse):,}",
        f"{len(pair.better):,}",
    ]  # fmt: skip


def _hard(fails: Sequence[CheckRow], summary: Summary) -> Iterator[str]:
    """An entry a case: what fails in each repeat would hide what fails in another case."""
    if not fails:
        return
    by_case: dict[str, list[CheckRow]] = {}
    for one in fails:
        by_case.setdefault(one.case_id, []).append(one)
    said = []
    for name, rows in list(by_case.items())[:_HARD]:
        first = rows[0]
        turn = "" if first.turn is None else f" turn {first.turn}"
        many = _of_repeats(len({one.repeat for one in rows}), summary)
        said.append(
            f"{code(name)}{many}{turn} {plain(first.name, longest=60)}: "
            f"{plain(first.why, longest=120)}{_more_checks(rows)}"
        )
    more = f"; and {listed_ids(list(by_case)[_HARD:], most=5)}" if len(by_case) > _HARD else ""
    yield f"- **Hard fails ({len(by_case):,}):** {'; '.join(said)}{more}"


def _of_repeats(k: int, summary: Summary, what: str = "") -> str:
    if summary.repeats == 1:
        return ""
    return f" ({k:,} of {counted(summary.repeats, 'repeat')}{what})"


def _more_checks(rows: Sequence[CheckRow]) -> str:
    """How many other checks failed in the same case."""
    more = len({(one.layer, one.name) for one in rows}) - 1
    return f" and {counted(more, 'more check')}" if more > 0 else ""


def _moved(pair: PairedLayer | None, decision: Decision) -> Iterator[str]:
    """Which cases broke and which were fixed; or why that cannot be said."""
    if decision.refused:
        yield f"- **Not compared:** {plain(decision.refused)}"
    if pair is None:
        return
    words = ("Worse", "Better") if pair.repeated else ("Broken", "Fixed")
    for word, ids in zip(words, (pair.worse, pair.better), strict=True):
        yield f"- **{word} ({len(ids):,}):** {listed_ids(ids) or 'none'}"
    if decision.in_part:
        yield f"- {plain(decision.in_part)}"


def _reasons(decision: Decision) -> Iterator[str]:
    """The clauses that made the verdict so, those that hold it first."""
    made_it = [one for one in decision.rows if one.effect != "none"]
    made_it.sort(key=lambda one: one.effect != "HOLD")
    for one in made_it[:_REASONS]:
        name = f"{_MARKS[one.status]} **{plain(one.name, longest=80)}**"
        n = "" if one.estimate is None else f"; n = {one.estimate.n:,}"
        ids = f"; cases: {listed_ids(one.ids, most=5)}" if one.ids else ""
        yield f"- {name}: {plain(one.reason)}{n}{ids}"
    if len(made_it) > _REASONS:
        yield f"- and {counted(len(made_it) - _REASONS, 'more clause')}, below"
    if decision.verdict == "REVIEW" and not made_it:
        yield "- no clause that a release could rest on was told"


def _failed(bad: Sequence[TranscriptScore], summary: Summary) -> Iterator[str]:
    """An entry a case: those that no average may outvote first, then what failed."""
    by_case: dict[str, list[TranscriptScore]] = {}
    for item in sorted(bad, key=_rank):
        by_case.setdefault(item.case_id, []).append(item)
    for name, items in list(by_case.items())[:_REASONS]:
        status = items[0].status
        alike = [item for item in items if item.status == status]
        failing = [one for item in alike for one in item.failing]
        failing.sort(key=lambda one: not one.critical)
        why = plain(items[0].why)
        if failing:
            why = plain(f"{failing[0].layer} · {failing[0].name}: {failing[0].why}")
        others = Counter(item.status for item in items[len(alike) :])
        told = "".join(f", {count:,} {other}" for other, count in others.items())
        many = _of_repeats(len(alike), summary, told)
        yield f"- **{status}** {code(name)}{many}: {why}{_more_checks(failing)}"
    if len(by_case) > _REASONS:
        rest = list(by_case)[_REASONS:]
        yield f"- and {counted(len(rest), 'more case')}: {listed_ids(rest, most=20)}"


def _rank(item: TranscriptScore) -> tuple[bool, int]:
    order = ("failed", "unscored", "missing")
    at = order.index(item.status) if item.status in order else len(order)
    return (item.critical != "failed", at)


def _named(item: TranscriptScore, repeats: int) -> str:
    return item.case_id if repeats == 1 else f"{item.case_id} #{item.repeat}"


def _stamps(stamps: Mapping[str, Any], *, word: str = "", bar: str = "") -> str:
    """Which suite, agent, judge, bar and package stand behind the numbers, on one line."""
    agent = stamps["agent"]
    prompt = agent.get("prompt_digest") or agent.get("source_digest")
    parts = [
        f"suite {stamps['suite']} {stamps['suite_version']} · {stamps['suite_digest']}",
        f"agent {agent['model']}",
        f"prompt {agent['prompt']}" + (f" · {prompt}" if prompt else ""),
        f"clock {stamps['clock'] or 'the wall clock'}",
        *_judges(stamps.get("judges", ())),
        f"agenteval-kit {stamps['package']}",
        f"run {stamps['run']}",
    ]
    if "release" in stamps:
        parts.append(f"published as {stamps['release']} on {stamps['verdict']}")
    told = [plain(part, longest=200) for part in parts]
    return f"<sub>{word}{', '.join([*told, *([f'bar {bar}'] if bar else [])])}</sub>"


def _judges(judges: Sequence[Mapping[str, Any]]) -> list[str]:
    each = [
        f"{'SCRIPTED ' if one['scripted'] else ''}judge {one['judge']} · {one['judge_digest']} "
        f"({one['of']}{', rubric ' + one['rubric'] if 'rubric' in one else ''})"
        for one in judges
    ]
    return each[:8] + ([counted(len(each) - 8, "more judge")] if len(each) > 8 else [])


def _clause_row(one: ClauseRow) -> str:
    return row(
        (
            plain(one.name, longest=80), _MARKS[one.status], _measured(one.estimate),
            "" if one.estimate is None else f"{one.estimate.n:,}", plain(one.bar, longest=120),
            plain(one.trust, longest=60), plain(one.reason),
        )
    )  # fmt: skip


def _measured(estimate: Estimate | None) -> str:
    return "" if estimate is None else plain(estimate.text())


def _whole(head: Sequence[str], title: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """The head, and as much of the folded table as a comment has room for."""
    if not rows:
        return "\n".join([*head, ""])
    lines = [
        *head, "", f"<details><summary>{title}</summary>", "", row(heads),
        row(["---"] * len(heads)),
    ]  # fmt: skip
    room = LONGEST - _ROOM - sum(len(line.encode()) + 1 for line in lines)
    shown = 0
    for one in rows:
        room -= len(one.encode()) + 1
        if room < 0:
            break
        lines.append(one)
        shown += 1
    if shown < len(rows):
        lines += ["", f"{len(rows) - shown:,} more do not fit here; the report has all of them."]
    return "\n".join([*lines, "", "</details>", ""])
