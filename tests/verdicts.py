"""Verdicts and preferences made by hand: rows and stamps through the real writer.

May not replace anything of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from builders import make_run

from agenteval_kit.judge.panel import decide
from agenteval_kit.records import (
    ComparisonStamp,
    JudgeStamp,
    PreferenceRow,
    SeatRecord,
    VerdictRow,
)
from agenteval_kit.records.trust import DimensionTrust
from agenteval_kit.records.verdicts import SeatStamp
from agenteval_kit.runs import Run

Said = int | None | Sequence[int | None]
"""What one judge says of a transcript, or what each seat of a panel does; None is unscored."""

SCALE = (1, 2, 3, 4)


def judge(
    run: Run,
    said: Mapping[str, Said | list[Said]],
    *,
    name: str = "tone",
    layer: str = "conversation",
    levels: tuple[int, ...] = SCALE,
    digest: str = "judge-1",
    model: str = "judge-x",
    again: Mapping[str, Sequence[int | None]] | None = None,
    repeats: bool = False,
    wanted: int | None = None,
    transcripts: int | None = None,
    scales: Mapping[str, tuple[int, ...]] | None = None,
    dimension_digest: str = "dimension-1",
    same_model: bool = False,
    justification: str = "It says so.",
    anchor: str = "It sounds like",
) -> Run:
    """Add a stamp and a verdict a case (with `repeats`, a list of them) to a run."""
    keyed = [
        (case_id, repeat, one)
        for case_id, each in said.items()
        for repeat, one in enumerate(each if repeats else [each])  # type: ignore[arg-type]
    ]
    rows = [
        _row(case_id, repeat, one, (again or {}).get(case_id, ()), model, justification)
        for case_id, repeat, one in keyed
    ]
    shared = {
        "layer": layer,
        "levels": levels,
        "judge": model,
        "judge_digest": digest,
        "rubric": "made 1",
        "rubric_digest": "rubric-1",
        "dimension_digest": dimension_digest,
    }
    writer = run.writer()
    writer.add_judges(
        [
            JudgeStamp(
                dimension=name,
                definition="How it sounds.",
                anchors={level: f"{anchor} {level}." for level in levels},
                seats=(SeatStamp(model=model),),
                wanted=len(rows) if wanted is None else wanted,
                transcripts=transcripts,
                scales=dict(scales or {name: levels}),
                at="2026-03-02T09:00:00Z",
                **shared,
            )
        ]
    )
    writer.add_verdicts(
        VerdictRow(dimension=name, same_model=same_model, **shared, **row) for row in rows
    )
    writer.close()
    return run


def scored_run(root: Path, said: Mapping[str, Said], *, name: str = "run", **how: object) -> Run:
    """A run of judge-only cases with a verdict each."""
    run = make_run(root, {case_id: {} for case_id in said}, judge_only=said, name=name)
    return judge(run, said, **how)  # type: ignore[arg-type]


def spread(counts: Mapping[int | None, int]) -> dict[str, Said]:
    """Cases by how many score each level: {4: 3, 3: 7} is three of 4 and seven of 3."""
    scores = [level for level, count in counts.items() for _ in range(count)]
    return {f"case-{index:03d}": score for index, score in enumerate(scores)}


def trusted(*names: str, digest: str = "judge-1") -> list[DimensionTrust]:
    """Calibrations that trust the judge on these dimensions."""
    return [DimensionTrust(dimension=one, judge_digest=digest, state="trusted") for one in names]


def _row(
    case_id: str,
    repeat: int,
    said: Said,
    again: Sequence[int | None],
    model: str,
    justification: str,
) -> dict[str, object]:
    each = [said] if said is None or isinstance(said, int) else list(said)
    seats = [_seat(number, score, model, justification) for number, score in enumerate(each)]
    found = decide(seats)
    return {
        "case_id": case_id,
        "repeat": repeat,
        "score": found.score,
        "status": "unscored" if found.score is None else "scored",
        "reason": found.reason,
        "seats": tuple(seats),
        "again": tuple(
            _seat(1 + number, score, model, justification) for number, score in enumerate(again)
        ),
        "flags": found.flags,
    }


def _seat(number: int, score: int | None, model: str, justification: str) -> SeatRecord:
    return SeatRecord(
        seat=number,
        model=model,
        score=score,
        status="unscored" if score is None else "scored",
        reason="evidence not found: there is no turn 9" if score is None else "",
        justification=justification,
    )


def prefer(
    run: Run,
    outcomes: Mapping[str, str | Sequence[str | None] | None],
    *,
    old: str = "old",
    criterion: str = "outcome",
    layer: str = "outcome",
    digest: str = "pair-1",
    model: str = "judge-x",
    wanted: int | None = None,
    flipped: Sequence[str] = (),
    same_model: tuple[str, ...] = (),
    same_agent: bool = False,
) -> Run:
    """Add a stamp and a preference a case (old, new, tie, None: unscored) to a run."""
    keyed = [
        (case_id, repeat, one)
        for case_id, each in outcomes.items()
        for repeat, one in enumerate([each] if each is None or isinstance(each, str) else each)
    ]
    shared = {
        "criterion": criterion, "layer": layer, "old": old, "new": run.id, "judge": model,
        "judge_digest": digest, "criterion_digest": "criterion-1", "same_agent": same_agent,
    }  # fmt: skip
    writer = run.writer()
    writer.add_comparisons(
        [
            ComparisonStamp(
                definition="Which helps more.",
                wanted=len(keyed) if wanted is None else wanted,
                at="2026-03-02T09:00:00Z",
                **shared,  # type: ignore[arg-type]
            )
        ]
    )
    writer.add_preferences(
        PreferenceRow(
            case_id=case_id,
            repeat=repeat,
            outcome=outcome,  # type: ignore[arg-type]
            reason="the judge refused" if outcome is None else "",
            flipped=None if outcome is None else case_id in flipped,
            same_model=same_model,  # type: ignore[arg-type]
            **shared,  # type: ignore[arg-type]
        )
        for case_id, repeat, outcome in keyed
    )
    writer.close()
    return run


def results(won: int, tied: int, lost: int, *, unscored: int = 0) -> dict[str, str | None]:
    """Cases by who was preferred."""
    each = ["new"] * won + ["tie"] * tied + ["old"] * lost + [None] * unscored
    return {f"case-{index:03d}": one for index, one in enumerate(each)}
