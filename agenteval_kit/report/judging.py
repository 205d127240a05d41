"""A rubric, what judges made of a run, and which verdicts to read: for notebooks that judge.

May not score or decide; a mean of judges is shown as the trend that it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records import Dimension, Rubric, SeatRecord, VerdictRow
from agenteval_kit.records.trust import DimensionTrust, trust_in
from agenteval_kit.records.verdicts import FLAGS
from agenteval_kit.report.calibrated import ceiling_mark
from agenteval_kit.report.marks import interval_mark, scale_mark
from agenteval_kit.report.markup import Html, Part, anchor, join, note, tag, with_code
from agenteval_kit.report.tables import Column, table
from agenteval_kit.report.transcript import transcript_html
from agenteval_kit.report.wording import clip
from agenteval_kit.text import counted

if TYPE_CHECKING:
    # What judges is loaded by whoever asks judges, not by the pull-request command.
    from agenteval_kit.judge import JudgedDimension, JudgeResult

__all__ = ["show_doubtful", "show_judged", "show_rubric", "show_seats"]

_LONGEST = 300
_SCRIPTED = "scripted-"
# What a person should look at first stands first.
_FIRST = ("panel_split", "evidence_not_found", "panel_disagreement", "seat_missing",
          "instruction_in_transcript")  # fmt: skip


def show_rubric(rubric: Rubric) -> Html:
    """Each dimension with its definition and every anchor as the judge reads them."""
    parts: list[Part] = []
    for one in rubric.dimensions:
        rows: list[list[Part]] = [
            [str(level), one.anchors.get(level, "(between the levels around it)")]
            for level in reversed(one.levels)
        ]
        caption = f"{one.name} ({_facts(one)}). {one.definition}"
        columns: list[Column | str] = [
            Column("level", "number"),
            "what stands in the record at that level",
        ]
        parts.append(table(columns, rows, caption=caption, empty="a criterion without a scale"))
    return join(parts)


def _facts(one: Dimension) -> str:
    told = [f"layer {one.layer}"]
    if one.kind == "pairwise":
        told.append("two answers compared")
    elif one.panel > 1:
        told.append(f"panel of {one.panel}")
    return ", ".join(told)


def show_judged(result: JudgeResult, *, trust: Sequence[DimensionTrust] = ()) -> Html:
    """One row a dimension: mean with interval, n, what is unscored, how often seats disagree.

    Parameters
    ----------
    result : JudgeResult
        Of `judge_run`.
    trust : sequence of DimensionTrust, optional
        Which judges are trusted (see `gate.read_known`); without it none was ever calibrated.
    """
    dimensions = result.summary.dimensions
    low = min((one.stamp.levels[0] for one in dimensions), default=0)
    high = max((one.stamp.levels[-1] for one in dimensions), default=1)
    columns: list[Column | str] = [
        "dimension",
        Column("mean", "number"),
        Column(scale_mark(low, high), "figure", label="on the scale"),
        Column("n", "number"),
        "unscored",
        "seats disagree",
        Column("judge and doubts", "note"),
    ]
    known = {one.name: trust_in(one.name, one.judge_digest, trust) for one in dimensions}
    rows = [_judged_row(one, known[one.name], low, high) for one in dimensions]
    calibrated = any(one.state != "never calibrated" for one in known.values())
    caption = (
        "Mean over cases with a 95 % interval (anchored Bayesian bootstrap over the levels of the "
        f"scale). {'A' if calibrated else 'Not calibrated: a'} trend over the suite, not a verdict "
        "on one transcript. "
        "Unscored: with the mean if all of those were at the lowest level. Seats disagree: share "
        "of panel verdicts whose seats do not all agree, with Wilson's interval."
    )
    scripted = any(_SCRIPTED in one.stamp.judge for one in dimensions)
    said = "These judges are SCRIPTED: no model gave these scores." if scripted else None
    return join(
        [
            note(said) if said else None,
            table(columns, rows, caption=caption, empty="nothing was judged"),
            note(_done(result)),
            *(note(f"warning: {warning}") for warning in result.warnings),
        ]
    )


def _judged_row(one: JudgedDimension, trust: DimensionTrust, low: int, high: int) -> list[Part]:
    waiting = one.unscored + one.missing
    worst = f" (mean {one.worst:.2f} if lowest)" if waiting and one.worst is not None else ""
    state = f"{trust.state} ({trust.reason})" if trust.reason else trust.state
    doubts = (one.layer, one.stamp.judge, state, one.diag)
    return [
        join([one.name, ceiling_mark(trust.rubric_state)]),
        one.estimate.text(),
        interval_mark(one.estimate, low=low, high=high),
        f"{one.n:,}",
        f"{waiting}{worst}",
        "" if one.disagreement is None else one.disagreement.text(percent=True),
        with_code("; ".join(part for part in doubts if part)),
    ]


def _done(result: JudgeResult) -> str:
    told = (
        f"{counted(result.made, 'verdict')} made now, {result.kept:,} kept from before; "
        f"{counted(result.replies, 'reply')} of judges, {result.from_tape:,} of them from a tape."
    )
    if result.failed:
        told += f" {counted(result.failed, 'verdict')} without an answer yet; run the same "
        told += "again to resume."
    if result.stopped:
        told += f" Stopped: {result.stopped}. Run the same again to resume."
    return told


def show_doubtful(result: JudgeResult, *, most: int = 20) -> Html:
    """The verdicts to read first: splits, missing evidence, disagreement, unscored, lowest level.

    Parameters
    ----------
    result : JudgeResult
        Of `judge_run`.
    most : int
        How many rows are shown; the caption says how many there are.
    """
    found = sorted(_doubtful(result), key=lambda one: one[0])
    rows: list[list[Part]] = [
        [
            row.case_id if result.run.repeats == 1 else f"{row.case_id}, repeat {row.repeat}",
            row.dimension,
            "unscored" if row.score is None else str(row.score),
            why,
            join([_seat_line(seat) for seat in row.seats], between=tag("br", None)),
        ]
        for _, why, row in found[:most]
    ]
    columns: list[Column | str] = [
        "case", "dimension", Column("score", "number"), Column("why", "note"),
        Column("what the seats said", "prose"),
    ]  # fmt: skip
    more = f"; the first {most} stand here" if len(found) > most else ""
    caption = f"{counted(len(found), 'verdict')} to read first{more}."
    return table(columns, rows, caption=caption, empty="no verdict stands out")


def _doubtful(result: JudgeResult) -> Iterator[tuple[int, str, VerdictRow]]:
    for row in _rows(result):
        flags = sorted((flag for flag in row.flags if flag in _FIRST), key=_FIRST.index)
        if flags:
            yield _FIRST.index(flags[0]), "; ".join(FLAGS[flag] for flag in flags), row
        elif row.score is None:
            yield len(_FIRST), f"unscored: {clip(row.reason, _LONGEST)}", row
        elif row.score == row.levels[0]:
            yield len(_FIRST) + 1, "the lowest level of its scale", row


def _rows(result: JudgeResult) -> Iterator[VerdictRow]:
    digests = {one.judge_digest for one in result.summary.dimensions}
    for row in result.run.verdict_rows():
        if row.judge_digest in digests:
            yield row


def _seat_line(seat: SeatRecord) -> Html:
    said = clip(seat.justification or seat.reply, _LONGEST)
    score = "unscored" if seat.score is None else str(seat.score)
    reason = f" ({clip(seat.reason, _LONGEST)})" if seat.reason else ""
    return join([tag("b", None, f"{seat.model}: {score}"), f"{reason} {said}"])


def show_seats(result: JudgeResult, case_id: str, dimension: str, *, repeat: int = 0) -> Html:
    """One verdict: what each seat said, and the transcript with the evidence marked.

    Raises
    ------
    ConfigError
        If that case was not judged on that dimension.
    """
    rows = list(_rows(result))
    found = [one for one in rows if (one.case_id, one.repeat) == (case_id, repeat)]
    row = next((one for one in found if one.dimension == dimension), None)
    transcript = result.run.transcript(case_id, repeat=repeat)
    if row is None:
        asked = [one.name for one in result.summary.dimensions]
        if result.complete or (asked and dimension not in asked):
            known = did_you_mean(dimension, {one.dimension for one in found} or asked)
            raise ConfigError(f'{case_id} was not judged on "{dimension}".{known}')
        return note(f"{case_id} is not judged on {dimension} yet.")
    cited = [item for seat in row.seats for item in seat.evidence if item.turn is not None]
    evidence: dict[int, list[str]] = {}
    for item in cited:
        assert item.turn is not None
        evidence.setdefault(item.turn, []).extend([item.quote] if item.quote else [])
    last = max((turn for turn in evidence if 0 <= turn < len(transcript.turns)), default=None)
    return join(
        [
            _seats(row.seats, caption=_caption(row)),
            transcript_html(
                transcript,
                place=anchor("verdict", case_id, repeat, dimension),
                evidence=evidence,
                open_at=last,
            ),
        ]
    )


def _caption(row: VerdictRow) -> str:
    score = f"unscored: {row.reason}" if row.score is None else f"{row.score} of {row.levels[-1]}"
    flags = "".join(f"; {FLAGS[flag]}" for flag in row.flags)
    return f"{row.case_id} on {row.dimension}: {score}{flags}."


def _seats(seats: Sequence[SeatRecord], *, caption: str) -> Html:
    rows: list[list[Part]] = [
        [
            seat.model,
            "unscored" if seat.score is None else str(seat.score),
            ", ".join(f"turn {one.turn}" for one in seat.evidence if one.turn is not None),
            clip(seat.justification or seat.reply, _LONGEST),
            "; ".join(
                part
                for part in (
                    clip(seat.reason, _LONGEST),
                    f"repaired: {seat.repaired}" if seat.repaired else "",
                    f"asked {seat.attempts} times" if seat.attempts > 1 else "",
                )
                if part
            ),
        ]
        for seat in seats
    ]
    columns: list[Column | str] = [
        "seat", Column("score", "number"), "evidence", Column("why", "prose"),
        Column("notes", "note"),
    ]  # fmt: skip
    return table(columns, rows, caption=caption, empty="nobody was asked")
