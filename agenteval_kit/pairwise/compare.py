"""Compares two runs, or two columns of a file: each pair twice, with the order swapped.

May not apply a bar, and writes rows only to the new run's folder or to the one that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.asking import Asking, JudgeProgress, estimate_wholes
from agenteval_kit.models.bench import Judges, Judging, as_judges, tape_at, with_tape
from agenteval_kit.models.desk import Desk
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.tape import Tape
from agenteval_kit.pairwise.instrument import Instrument, make_instruments, refuse_same_model
from agenteval_kit.pairwise.pairs import RunPairs, require_comparable
from agenteval_kit.pairwise.pending import Pending, Versions
from agenteval_kit.pairwise.result import Comparison, PairwiseResult
from agenteval_kit.pairwise.shown import REQUEST_INPUTS
from agenteval_kit.pairwise.tally import measured
from agenteval_kit.pairwise.work import Key, PairwiseEstimate, Source, Wanted, still_wanted
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.records.preferences import ComparisonStamp
from agenteval_kit.runs import Run, RunWriter, now_text
from agenteval_kit.shown import Item

__all__ = ["Criteria", "compare_runs"]

Criteria = Dimension | Rubric | Sequence[Dimension]


def compare_runs(
    old: Run,
    new: Run,
    criteria: Criteria,
    judges: Judging,
    *,
    items: Iterable[Item] | None = None,
    confirm: Callable[[PairwiseEstimate], bool] | None = None,
    progress: Callable[[JudgeProgress], None] | None = None,
    tape: Tape | None = None,
    again: bool = False,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PairwiseResult:
    """Which of two runs is preferred, case by case; the same call resumes.

    Each pair is judged twice with the positions swapped; where the two orders disagree it is a
    tie and a position flip. Identical outputs tie without a call; a side whose agent crashed
    loses without a call; a missing side is unscored. Rows go to the new run's preferences, kept
    by judge digest and old run; replies to the new run's tape. Two runs of one agent measure the
    noise: A against A. Not for grounding or policy: those have an absolute answer.

    Parameters
    ----------
    old, new : Run
        Of one suite. Repeat i is paired with repeat i.
    criteria : Dimension, Rubric, or several
        With ``kind: pairwise``; see ``data/rubrics/outcome_pairwise.yaml``.
    judges
        From `load_judges`, or models: a bare model is asked at temperature 0. Several are several
        instruments, each with rows and a result of its own.
    items : iterable of Case or Scenario, optional
        ``suite.items``; needed where a criterion shows the case's expected outcome or sentence.
    confirm : callable, optional
        Gets the estimate before anything is paid for; False stops.
    progress : callable, optional
        Gets a `JudgeProgress` after each pair.
    tape : Tape, optional
        In place of the new run's own.
    again : bool
        Whether preferences of the same judges are made anew; the last one counts.
    level, draws, seed
        Of the intervals and of the resampling.

    Raises
    ------
    ConfigError
        Before anything is asked: the runs are not comparable, a criterion has a scale or cannot
        be rendered, items are needed; or a key or a model name is refused.
    StampError
        If an agent's own model would judge and `judges` forbids it.
    """
    require_comparable(old, new)
    agents = {"old": old.info.agent, "new": new.info.agent}
    judges = as_judges(judges)
    tape = tape or tape_at(new.tape_path, judges)
    judges = with_tape(judges, tape)
    instruments = make_instruments(criteria, judges, clock=new.info.clock, agents=agents)
    if items is None:
        _require_items(instruments)
    versions = Versions(old.id, new.id, agents)
    pairs = RunPairs(old, new, {item.id: item for item in items or ()})
    wanted = len(pairs.wanted())
    if not wanted:
        raise ConfigError(
            f"nothing was compared: runs {old.id} and {new.id} have no case in common"
        )
    with new.lock():
        there = () if again else new.preference_rows(old=old.id)
        rows = {row.key: row.flags for row in there}
        writer = new.writer()
        try:
            stamps = [stamp_of(one, versions, wanted=wanted) for one in instruments]
            writer.add_comparisons(stamps)
            asked = ask_pairs(
                _FromRuns(pairs, instruments, versions),
                rows,
                judges,
                total=wanted * len(instruments),
                tape=tape,
                writer=writer,
                confirm=confirm,
                progress=progress,
            )
        finally:
            writer.close()
    found = measured(new.preference_rows(old=old.id), stamps, level=level, draws=draws, seed=seed)
    warnings = (*pairs.warnings, *tape.warnings, *writer.warnings, *old.warnings, *new.warnings)
    return result_of(asked, found, warnings)


@dataclass(frozen=True, slots=True)
class _FromRuns:
    runs: RunPairs
    instruments: Sequence[Instrument]
    versions: Versions

    def pairs(self) -> Iterator[Wanted]:
        for key, old, new in self.runs.transcripts():
            for instrument in self.instruments:
                make = partial(self.runs.pair, instrument.criterion, key, old, new)
                yield Wanted(instrument, self.versions, *key, make)


def ask_pairs(
    source: Source,
    there: Mapping[Key, tuple[str, ...]],
    judges: Judges,
    *,
    total: int,
    tape: Tape,
    writer: RunWriter,
    confirm: Callable[[PairwiseEstimate], bool] | None,
    progress: Callable[[JudgeProgress], None] | None,
) -> Asking[Pending]:
    """Tell the estimate where it is wanted, and ask for every pair that has no row."""
    meter = judges.meter or getattr(judges.models[0].model, "meter", None)
    asking: Asking[Pending] = Asking(
        writer.add_preferences,
        total=total,
        meter=meter if isinstance(meter, Meter) else None,
        progress=progress,
        heard=None if judges.allow_same_model else _refuse_served,
    )
    pairs = partial(still_wanted, source, there, asking)
    if confirm is not None and not confirm(PairwiseEstimate(*estimate_wholes(pairs(), tape))):
        asking.stopped = "not confirmed; nothing was asked"
    else:
        asking.go(pairs(), Desk(tape))
    return asking


def _refuse_served(pending: Pending, name: str) -> None:
    refuse_same_model(name, pending.versions.agents)


def stamp_of(instrument: Instrument, versions: Versions, *, wanted: int) -> ComparisonStamp:
    """Who compares what, by what."""
    return ComparisonStamp(
        old=versions.old,
        new=versions.new,
        criterion=instrument.criterion.name,
        layer=instrument.criterion.layer,
        definition=instrument.criterion.definition,
        criterion_digest=instrument.criterion_digest,
        judge=instrument.judge,
        judge_digest=instrument.judge_digest,
        endpoint=instrument.model.endpoint,
        parameters=dict(instrument.parameters),
        clock=instrument.clock,
        same_agent=versions.same_agent,
        wanted=wanted,
        at=now_text(),
    )


def result_of(
    asked: Asking[Pending], comparisons: tuple[Comparison, ...], warnings: Iterable[str]
) -> PairwiseResult:
    """What was done, and what it came to."""
    return PairwiseResult(
        comparisons=comparisons,
        kept=asked.kept,
        made=asked.made,
        replies=asked.replies,
        from_tape=asked.from_tape,
        failed=asked.failed,
        stopped=asked.stopped,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _require_items(instruments: Sequence[Instrument]) -> None:
    for one in instruments:
        wanted = [name for name in REQUEST_INPUTS if name in one.criterion.inputs]
        if wanted:
            raise ConfigError(
                f'criterion "{one.criterion.name}" shows the case\'s {" and ".join(wanted)}; pass '
                "items=suite.items"
            )
