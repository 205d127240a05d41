"""Judges a run: one dimension a call, every reply kept, rows added as they come; resumable.

May not print, and may not read what the checks found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agenteval_kit.errors import ConfigError, InfrastructureError, did_you_mean
from agenteval_kit.judge.estimate import JudgeEstimate, estimate_calls
from agenteval_kit.judge.question import Pending, Question, make_question, refuse_same_model
from agenteval_kit.judge.result import JudgedSummary, judged_summary
from agenteval_kit.judge.work import Work
from agenteval_kit.models.asking import Asking, JudgeProgress, ask_parts, take
from agenteval_kit.models.bench import Judges, Judging, as_judges, tape_at, with_tape
from agenteval_kit.models.desk import Desk
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import AgentStamps, Dimension, JudgeStamp, Rubric, Transcript, VerdictRow
from agenteval_kit.runs import Run, RunWriter, now_text
from agenteval_kit.shown import Item

__all__ = ["JudgeResult", "estimate_run", "judge_run", "judge_transcript"]

TOGETHER = 50
"""Verdicts are written at the latest after so many."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What `judge_run` did, and what the run's verdicts come to.

    Attributes
    ----------
    summary : JudgedSummary
        All dimensions of this call, with verdicts of earlier calls of the same judges.
    kept, made : int
        Verdicts that were there already, and those added.
    replies, from_tape : int
        Replies of judges, and those of them that came from the tape.
    failed : int
        Verdicts without a row because a provider failed; the same call asks for them again.
    stopped : str
        Why it stopped early; "" if it went to its end.
    warnings : tuple of str
        What a person should know once.
    """

    run: Run
    summary: JudgedSummary
    kept: int
    made: int
    replies: int
    from_tape: int
    failed: int = 0
    stopped: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every verdict that was wanted is there."""
        return not self.stopped and not self.failed

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def judge_run(
    run: Run,
    rubric: Rubric,
    judges: Judging,
    *,
    items: Iterable[Item] = (),
    dimensions: Sequence[str] | None = None,
    never: Mapping[str, int] | None = None,
    confirm: Callable[[JudgeEstimate], bool] | None = None,
    progress: Callable[[JudgeProgress], None] | None = None,
    tape: Tape | None = None,
    again: bool = False,
) -> JudgeResult:
    """Score every transcript of a run on each dimension of a rubric; the same call resumes.

    Verdicts of the same judge digest are kept. Replies that are on the run's tape are read, not
    paid for. A verdict whose provider failed gets no row.

    Parameters
    ----------
    run : Run
        With transcripts; verdicts are added to it.
    rubric : Rubric
        From `agenteval_kit.rubrics.load_rubric`; pairwise criteria in it are passed over.
    judges
        From `load_judges`, or models: a bare model is asked at temperature 0.
    items : iterable of Case or Scenario
        ``suite.items``: expected outcomes, sentences of their own, and which dimensions apply.
        Without them no expected outcome is shown, which is another judge digest.
    dimensions : sequence of str, optional
        Only these.
    never : mapping of str to int, optional
        ``bar.never``: where a single judge scores such a level it is asked twice more.
    confirm : callable, optional
        Gets the estimate before anything is paid for; False stops.
    progress : callable, optional
        Gets a `JudgeProgress` after each verdict.
    tape : Tape, optional
        In place of the run's own.
    again : bool
        Whether verdicts of the same judges are made anew; the last one counts. With a tape that is
        `fresh` or has a `max_age` these are new samples, else the same replies again.

    Raises
    ------
    ConfigError
        Before anything is asked: no such dimension, a prompt that cannot be rendered, nothing to
        judge; or a key or a model name is refused.
    StampError
        If the agent's own model would judge and `judges` forbids it.
    """
    found = as_judges(judges)
    tape = tape or tape_at(run.tape_path, found)
    found = with_tape(found, tape)
    by_id = {item.id: item for item in items}
    questions = _questions(run, rubric, found, dimensions, never or {}, with_cases=bool(by_id))
    warnings = _unknown_dimensions(by_id.values(), rubric)
    work = Work(run, by_id, questions)
    with run.lock():
        work.look(again=again)
        writer = run.writer()
        asking: Asking[Pending] = Asking(
            partial(_write, run, writer),
            total=sum(work.wanted.values()),
            meter=found.meter,
            progress=progress,
            heard=None if found.allow_same_model else _refuse_served,
            more=Pending.ask_again,
            together=TOGETHER,
            kept=work.kept,
        )
        try:
            if confirm is not None and not confirm(estimate_calls(work.pending(), tape)):
                asking.stopped = "not confirmed; nothing was asked"
            else:
                writer.add_judges(_new_stamps(run, questions, work.wanted))
                asking.go(work.pending(), Desk(tape))
        finally:
            writer.close()
    stamped = {stamp.judge_digest for stamp in run.judge_stamps()}
    digests = {
        question.dimension.name: question.judge_digest
        for question in questions
        if question.judge_digest in stamped
    }
    summary = judged_summary(run, judges=digests)
    return JudgeResult(
        run=run,
        summary=JudgedSummary(
            run.id, tuple(one for one in summary.dimensions if one.name in digests), summary.others
        ),
        kept=asking.kept,
        made=asking.made,
        replies=asking.replies,
        from_tape=asking.from_tape,
        failed=asking.failed,
        stopped=asking.stopped,
        warnings=(*warnings, *tape.warnings, *writer.warnings, *run.warnings),
    )


def estimate_run(
    run: Run,
    rubric: Rubric,
    judges: Judging,
    *,
    items: Iterable[Item] = (),
    dimensions: Sequence[str] | None = None,
    tape: Tape | None = None,
) -> JudgeEstimate:
    """What `judge_run` with the same arguments would still ask, without asking it.

    Raises
    ------
    ConfigError
        As `judge_run` raises it before anything is asked.
    """
    found = as_judges(judges)
    by_id = {item.id: item for item in items}
    questions = _questions(run, rubric, found, dimensions, {}, with_cases=bool(by_id))
    work = Work(run, by_id, questions)
    work.look()
    return estimate_calls(work.pending(), tape or tape_at(run.tape_path, found))


def judge_transcript(
    transcript: Transcript,
    dimension: Dimension,
    judges: Judging,
    *,
    item: Item | None = None,
    tape: Tape,
    agent: AgentStamps | None = None,
    clock: str | None = None,
) -> VerdictRow:
    """Score one transcript on one dimension, outside of any run.

    Raises
    ------
    ConfigError
        If the prompt cannot be rendered, or a key or a model name is refused.
    InfrastructureError
        If a provider failed: there is no verdict then.
    """
    rubric = Rubric.model_construct(name=dimension.name, dimensions=[dimension])
    question = make_question(rubric, dimension, with_tape(as_judges(judges), tape), clock=clock)
    stamps = agent or transcript.stamps or AgentStamps(model="", prompt="")
    pending = Pending(question, transcript, item, stamps)
    desk = Desk(tape)
    for told in desk.run(ask_parts(pending)):
        take(told, desk)
    if pending.error is not None:
        raise pending.error
    return pending.row()


def _write(run: Run, writer: RunWriter, rows: list[VerdictRow]) -> None:
    try:
        writer.add_verdicts(rows)
    except OSError as error:
        raise InfrastructureError(
            f"{run.path}: verdicts cannot be written ({error.strerror}); make room and run the "
            "same command to resume: the replies are on the tape"
        ) from None


def _refuse_served(pending: Pending, name: str) -> None:
    refuse_same_model(name, pending.agent)


def _new_stamps(
    run: Run, questions: Sequence[Question], wanted: Mapping[str, int]
) -> list[JudgeStamp]:
    """Who judges what, where the run does not say the same already."""
    there = len(run.done())
    last = {stamp.dimension: stamp for stamp in run.judge_stamps()}
    made = []
    for question in questions:
        before = last.get(question.dimension.name)
        stamp = question.stamp(
            wanted=wanted[question.judge_digest], transcripts=there, at=now_text()
        )
        if before is None or before.model_copy(update={"at": stamp.at}) != stamp:
            made.append(stamp)
    return made


def _questions(
    run: Run,
    rubric: Rubric,
    judges: Judges,
    names: Sequence[str] | None,
    never: Mapping[str, int],
    *,
    with_cases: bool,
) -> list[Question]:
    chosen = rubric.absolute()
    known = [one.name for one in chosen]
    for name in names or ():
        if name not in known:
            raise ConfigError(
                f'rubric {rubric.name} has no dimension "{name}".{did_you_mean(name, known)}'
            )
    if names is not None:
        chosen = [one for one in chosen if one.name in names]
    if not chosen:
        raise ConfigError(
            f"rubric {rubric.name} has no dimension with a scale, so there is nothing to judge; "
            "pairwise criteria are for `agenteval compare`"
        )
    made = [
        make_question(
            rubric,
            one,
            judges,
            clock=run.info.clock,
            never=never.get(one.name),
            with_cases=with_cases,
        )
        for one in chosen
    ]
    if not judges.allow_same_model:
        for question in made:
            for judge in question.panel:
                refuse_same_model(judge.model.name, run.info.agent)
    return made


def _unknown_dimensions(items: Iterable[Item], rubric: Rubric) -> list[str]:
    known = [one.name for one in rubric.dimensions]
    listed = Counter(name for item in items for name in item.dimensions or ())
    return [
        f'rubric {rubric.name} has no dimension "{name}", which {count} '
        f"{'case lists' if count == 1 else 'cases list'}.{did_you_mean(name, known)}"
        for name, count in listed.items()
        if name not in known
    ]
