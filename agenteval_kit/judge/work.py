"""The work of one call of `judge_run`: which verdicts are wanted, and which are there.

May not ask or write anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agenteval_kit.errors import ConfigError
from agenteval_kit.judge.question import Pending, Question
from agenteval_kit.records import Transcript
from agenteval_kit.runs import Run
from agenteval_kit.shown import Item

__all__ = ["Work"]

Key = tuple[str, int, str, str]
"""Case, repeat, dimension, judge digest."""


@dataclass(slots=True)
class Work:
    """What one call of `judge_run` has to do.

    Attributes
    ----------
    wanted : Counter
        Verdicts by judge digest.
    kept : int
        Those of them that are there.
    """

    run: Run
    items: Mapping[str, Item]
    questions: Sequence[Question]
    wanted: Counter[str] = field(default_factory=Counter)
    there: set[Key] = field(default_factory=set)
    kept: int = 0

    def look(self, *, again: bool = False) -> None:
        """Count what is wanted and what is there; with `again`, as if no verdict were.

        Raises
        ------
        ConfigError
            If there is nothing to judge.
        """
        by_digest = {question.judge_digest: question for question in self.questions}
        for row in () if again else self.run.verdict_rows():
            question = by_digest.get(row.judge_digest)
            if question is None:
                continue
            doubtful = (
                question.never is not None
                and row.score is not None
                and row.score <= question.never
                and row.confirmed(question.never) is None
            )
            if not doubtful:
                self.there.add((row.case_id, row.repeat, row.dimension, row.judge_digest))
        for _, question, key in self._wanted():
            self.wanted[question.judge_digest] += 1
            self.kept += key in self.there
        if not self.wanted:
            raise ConfigError(
                f"nothing was judged: run {self.run.id} has no transcript that any dimension of "
                "the rubric applies to"
            )

    def pending(self) -> Iterator[Pending]:
        """Every verdict that is still to be made."""
        before: Pending | None = None
        for transcript, question, key in self._wanted():
            if key in self.there:
                continue
            agent = transcript.stamps or self.run.info.agent
            item = self.items.get(transcript.case_id)
            same = before if before is not None and before.transcript is transcript else None
            before = Pending(
                question,
                transcript,
                item,
                agent,
                # What the dimensions of one transcript share is found out once.
                ordered=same.ordered if same else None,
                agent_digest=same.agent_digest if same else "",
            )
            yield before

    def _wanted(self) -> Iterator[tuple[Transcript, Question, Key]]:
        for transcript in self.run.transcripts():
            item = self.items.get(transcript.case_id)
            for question in self.questions:
                if question.applies(item):
                    key = (
                        transcript.case_id, transcript.repeat, question.dimension.name,
                        question.judge_digest,
                    )  # fmt: skip
                    yield transcript, question, key
