"""A person's answer to one verdict, as a line among the labels; the verdict stays as it is.

May not change a verdict or a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.labels import LabelWriter
from agenteval_kit.records import VerdictRow
from agenteval_kit.records.labels import LabelRow, Review
from agenteval_kit.runs import Run, now_text

__all__ = ["review_verdict"]


def review_verdict(
    folder: str | Path,
    rater: str,
    *,
    run: Run,
    verdict: VerdictRow,
    answer: Literal["confirm", "overrule"],
    score: int | None = None,
    reason: str,
    now: Callable[[], str] = now_text,
) -> LabelRow:
    """Confirm or overrule one verdict, with a name, a time and a reason.

    Such verdicts were not picked at random, so no estimate counts the answer; it resolves the
    flag that brought somebody to look.

    Parameters
    ----------
    score : int or None
        Where the verdict is overruled: the right level, or None for "cannot be told".

    Raises
    ------
    ConfigError
        Without a reason, for a level that the scale has not, and where the answer and the score
        contradict each other.
    InfrastructureError
        If it cannot be written.
    """
    where = f'verdict on "{verdict.dimension}" of case "{verdict.case_id}"'
    if not reason.strip():
        raise ConfigError(f"{where}: a review says why; give a reason")
    if answer not in ("confirm", "overrule"):
        raise ConfigError(f'{where}: answer is "{answer}"; it wants confirm or overrule')
    if score is not None and score not in verdict.levels:
        raise ConfigError(
            f"{where}: {score} is no level; levels are {', '.join(map(str, verdict.levels))}"
        )
    if answer == "confirm" and score not in (None, verdict.score):
        raise ConfigError(f"{where}: it says {verdict.score}, so {score} would overrule it")
    if answer == "overrule" and score == verdict.score:
        raise ConfigError(f"{where}: it says {score} already, so that would confirm it")
    row = LabelRow(
        kind="review",
        run=run.id,
        case_id=verdict.case_id,
        repeat=verdict.repeat,
        dimension=verdict.dimension,
        score=verdict.score if answer == "confirm" else score,
        levels=verdict.levels,
        rubric=verdict.rubric,
        rubric_digest=verdict.rubric_digest,
        dimension_digest=verdict.dimension_digest,
        rater=rater,
        at=now(),
        note=reason.strip(),
        review=Review(judge_digest=verdict.judge_digest, verdict=verdict.score, answer=answer),
    )
    writer = LabelWriter(Path(folder), row.rater)
    try:
        writer.append([row])
    except OSError as error:
        raise InfrastructureError(
            f"{writer.path}: the review was not saved: {error.strerror}"
        ) from None
    finally:
        writer.close()
    return row
