"""The transcripts of one cell beside each other: who gave what, and the words the judge points at.

May not trust a word of them: transcripts, notes and replies are escaped.
"""

from __future__ import annotations

from agenteval_kit.calibrate.cells import Cell, cells_of
from agenteval_kit.calibrate.compared import Compared, Disagreements
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import Transcript
from agenteval_kit.records.verdicts import FLAGS
from agenteval_kit.report.excerpt import choose_window
from agenteval_kit.report.markup import Html, Part, anchor, join, note, tag
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.report.wording import clip, minus
from agenteval_kit.text import counted

__all__ = ["show_cell"]

_LONGEST, _BUDGET, _RATERS = 400, 12_000, 6


def show_cell(
    found: Disagreements,
    dimension: str,
    *,
    human: int | None = None,
    judge: int | None = None,
    most: int = 4,
) -> Html:
    """The transcripts of one (person, judge) cell side by side, the judge's evidence marked.

    Parameters
    ----------
    found : Disagreements
        Of a run.
    dimension : str
        Which.
    human, judge : int, optional
        The cell; without them the one that weighs most.
    most : int
        How many transcripts; those first of which the most labels lie in the cell.

    Raises
    ------
    ConfigError
        If nobody labelled the dimension, or no label lies in that cell.
    """
    cells = cells_of(found, dimension)
    fitting = [
        one for one in cells if human in (None, one.human) and judge in (None, one.judge)
    ]  # fmt: skip
    if not fitting:
        if human is None and judge is None:
            return note(f"{dimension}: the judge agrees with every person.")
        known = ", ".join(f"{one.human} and {one.judge}" for one in cells)
        raise ConfigError(
            f"{dimension}: no label lies at person {human}, judge {judge}; cells are "
            f"{known or 'none'}."
        )
    cell = fitting[0]
    shown = cell.rows[:most]
    texts = _transcripts(found, {one.key for one in shown})
    more = f"; the first {most} stand here" if len(cell.rows) > most else ""
    lead = (
        f"{dimension}, person {cell.human}, judge {cell.judge}: "
        f"{counted(len(cell.rows), 'transcript')}{more}. Marked: the words that the judge "
        "points at."
    )
    return join(
        [
            tag("p", {"class": "lead"}, lead),
            tag(
                "div",
                {"class": "beside"},
                *(_column(one, texts.get(one.key), cell) for one in shown),
            ),
        ]
    )


def _transcripts(found: Disagreements, keys: set[tuple[str, int]]) -> dict[object, Transcript]:
    return {
        (one.case_id, one.repeat): one
        for one in found.run.transcripts()
        if (one.case_id, one.repeat) in keys
    }


def _column(one: Compared, transcript: Transcript | None, cell: Cell) -> Html:
    name = one.case_id if one.repeat == 0 else f"{one.case_id}, repeat {one.repeat}"
    parts: list[Part] = [tag("h4", None, name), tag("p", {"class": "note"}, _scores(one))]
    for rater, words in (*one.failures, *one.notes):
        said = join([tag("b", None, f"{rater}: "), clip(words, _LONGEST)])
        parts.append(tag("p", {"class": "note", "dir": "auto"}, said))
    if one.justification:
        words = clip(one.justification, _LONGEST)
        parts.append(tag("p", {"class": "note", "dir": "auto"}, tag("b", None, "judge: "), words))
    flags = [] if one.verdict is None else [FLAGS.get(flag, flag) for flag in one.verdict.flags]
    if flags:
        parts.append(tag("p", {"class": "note mid"}, "; ".join(flags)))
    if transcript is None:
        parts.append(note("Its transcript is not in the run any more."))
        return tag("div", None, *parts)
    evidence: dict[int, list[str]] = {}
    for item in one.evidence:
        if item.turn is not None:
            evidence.setdefault(item.turn, []).extend([item.quote] if item.quote else [])
    if not evidence:
        parts.append(note("The judge points at nothing in it."))
    there = [turn for turn in evidence if 0 <= turn < len(transcript.turns)]
    place = anchor("cell", cell.scale.name, cell.human, cell.judge, one.case_id, one.repeat)
    parts.append(
        transcript_html(
            transcript,
            place=place,
            window=choose_window(transcript, focus=there, budget=_BUDGET),
            evidence=evidence,
            open_at=max(there, default=None),
            ends=False,
        )
    )
    return tag("div", None, *parts)


def _scores(one: Compared) -> str:
    judge = "unscored" if one.judge is None else str(one.judge)
    given = list(one.humans.items())
    if len(given) <= _RATERS:
        people = ", ".join(f"{rater} {score}" for rater, score in given)
    else:
        scores = [score for _, score in given]
        counts = ", ".join(f"{scores.count(level)} gave {level}" for level in sorted(set(scores)))
        people = f"{len(given):,} people, {counts}"
    apart = "" if one.difference is None else f" ({one.difference:+.2g} from their mean)"
    return minus(f"People: {people}. Judge: {judge}{apart}.")
