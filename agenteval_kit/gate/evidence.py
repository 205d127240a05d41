"""What clauses may look at: the run, its summary, its verdicts, the baseline's, and the bar.

May not decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agenteval_kit.errors import did_you_mean
from agenteval_kit.records.bars import Bar
from agenteval_kit.records.trust import DimensionTrust, trust_in
from agenteval_kit.runs import Run, only_in_part
from agenteval_kit.summary import Summary, why_not_comparable

if TYPE_CHECKING:
    from agenteval_kit.judge.pairing import JudgedPair
    from agenteval_kit.judge.scores import DimensionScores
    from agenteval_kit.labels import LabelSet, SaidOfRun
    from agenteval_kit.pairwise.result import Comparison
    from agenteval_kit.pairwise.summary import MeasuredMargin, PreferenceSummary

__all__ = ["Evidence"]


@dataclass(frozen=True)
class Evidence:
    """One run under one bar, with the baseline where there is one.

    Attributes
    ----------
    bar_file : str
        Where the bar stands, for complaints about it; empty where it was made in code.
    trust : sequence of DimensionTrust
        What calibrations found; empty where there was none.
    scores : JudgedPair or None
        What judges said, if it was read before.
    labels : LabelSet or None
        What people said of transcripts; they resolve flags, and no mean counts them.
    """

    run: Run
    bar: Bar
    summary: Summary
    baseline: Run | None = None
    before: Summary | None = None
    bar_file: str = ""
    trust: Sequence[DimensionTrust] = ()
    scores: JudgedPair | None = None
    labels: LabelSet | None = None

    def not_run(self, layer: str) -> str:
        """Why a layer has no evidence, for a clause that names it."""
        known = [item.layer for item in self.summary.layers]
        return f'no check of layer "{layer}" ran.{did_you_mean(layer, known)}'.rstrip(".")

    @cached_property
    def no_baseline(self) -> str:
        """Why there is nothing to compare with; empty where there is."""
        if self.baseline is None:
            return "no baseline was given; name one with --baseline RUN"
        return why_not_comparable(self.baseline, self.run)

    @cached_property
    def in_part(self) -> str:
        """On which cases this run and its baseline are compared; empty where on all."""
        return "" if self.baseline is None else only_in_part(self.baseline.info, self.run.info)

    @cached_property
    def of_people(self) -> SaidOfRun:
        """What people said of the transcripts of this run, and what is not heard of it."""
        # Late: the formats of labels, which a bar without labels has no use for.
        from agenteval_kit.labels import SaidOfRun, said_of_run

        if self.labels is None:
            return SaidOfRun()
        return said_of_run(
            self.labels,
            (self.run.id, self.run.info.id),
            transcripts=self.run.transcripts(),
            verdicts=self.run.verdict_rows(),
        )

    @cached_property
    def judged(self) -> Mapping[str, DimensionScores]:
        """Every judged dimension by name; empty where no judge was asked."""
        return {} if self._both is None else self._both.new

    @cached_property
    def judged_before(self) -> Mapping[str, DimensionScores]:
        """The baseline's dimensions, each under this run's judge where that one judged it too."""
        return {} if self._both is None else self._both.old

    @cached_property
    def _both(self) -> JudgedPair | None:
        if self.scores is not None or not self.run.judge_stamps():
            return self.scores
        # Late: judges load numpy and the model clients, which a bar of checks has no use for.
        from agenteval_kit.judge.pairing import read_pair

        return read_pair(self.run, self.baseline)

    @cached_property
    def preferences(self) -> PreferenceSummary | None:
        """What a judge preferred, this run or its baseline; None where nobody was asked."""
        if self.baseline is None or not self.run.comparison_stamps():
            return None
        from agenteval_kit.pairwise.summary import preference_summary  # late, see _both

        return preference_summary(self.run, self.baseline.id, again=self.baseline)

    def measured_margin(self, found: Comparison) -> MeasuredMargin:
        """The noise of a comparison, or of two runs of the baseline where that is wider."""
        from agenteval_kit.pairwise.summary import measured_margin  # late, see _both

        again = self.preferences.again if self.preferences is not None else {}
        return measured_margin(found, again=again.get(found.criterion))

    def trust_of(self, dimension: DimensionScores) -> DimensionTrust:
        """Whether the judge of a dimension is trusted."""
        return trust_in(dimension.name, dimension.judged.judge_digest, self.trust)
