"""The values that a run adds up to: of one transcript, one case and one layer.

May not read a run: `agenteval_kit.summary.gather` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agenteval_kit.records import CheckRow
from agenteval_kit.runs import CasePlan
from agenteval_kit.stats.estimate import Estimate

__all__ = [
    "ALL_CHECKS",
    "CaseScore",
    "Counts",
    "LayerScore",
    "Scored",
    "Status",
    "TranscriptScore",
]

ALL_CHECKS = "all checks"
"""Stands where a layer's name would: the case counts as passed if every check of it passed."""

Scored = Literal["passed", "failed", "unscored"]
Status = Literal["passed", "failed", "unscored", "judge only", "missing"]


class Counts(NamedTuple):
    """Repeats of one case in one layer, and the assertions in them."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    assertions_passed: int = 0
    assertions_failed: int = 0
    assertions_unscored: int = 0

    @property
    def n(self) -> int:
        """Repeats that were scored."""
        return self.passed + self.failed

    @property
    def rate(self) -> float | None:
        """Share of the scored repeats that passed; None where none was scored."""
        # Not by way of `n`: a plan asks this a million times.
        scored = self.passed + self.failed
        return self.passed / scored if scored else None

    @property
    def flaky(self) -> bool:
        """Whether some repeats passed and some failed."""
        return self.passed > 0 and self.failed > 0

    def plus(self, other: Counts) -> Counts:
        """Both added up, field by field."""
        return Counts(*(left + right for left, right in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class TranscriptScore:
    """One case and repeat.

    Attributes
    ----------
    case_id, repeat
        Which transcript.
    status : str
        "failed" if a check failed or the agent crashed; "unscored" if none failed but one could
        not be told, or no check ran; "judge only" if the case has no check by design; "missing"
        if there is no transcript yet; else "passed".
    layers : mapping of str to str
        passed, failed or unscored, by layer. A crash fails every layer that the case is checked
        in, because nothing in it was seen to hold, and no other.
    failing : tuple of CheckRow
        The rows that failed.
    critical : str or None
        passed, failed or unscored over what no average may outvote: every check of a critical
        case, the invariants of another; None where there is nothing of the kind.
    crashed : bool
        The agent raised an error, did not answer in time, or neither said nor did anything.
    why : str
        Why it crashed, is unscored or is missing; else empty.
    """

    case_id: str
    repeat: int
    status: Status
    layers: Mapping[str, Scored]
    failing: tuple[CheckRow, ...] = ()
    critical: Scored | None = None
    crashed: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """One case over its repeats; `counts` is keyed by layer, and by `ALL_CHECKS`."""

    plan: CasePlan
    counts: Mapping[str, Counts]
    transcripts: tuple[TranscriptScore, ...]

    @property
    def case_id(self) -> str:
        """The case."""
        return self.plan.id

    @property
    def repeats(self) -> int:
        """Repeats wanted, scored or not."""
        return len(self.transcripts)

    @property
    def passed(self) -> int:
        """Repeats in which every check passed."""
        return self.counts[ALL_CHECKS].passed

    @property
    def n(self) -> int:
        """Repeats that were scored."""
        return self.counts[ALL_CHECKS].n

    @property
    def flaky(self) -> bool:
        """Whether some repeats passed and some failed."""
        return self.counts[ALL_CHECKS].flaky

    @property
    def status(self) -> Status:
        """The worst of its repeats: failed, then missing, then unscored, then passed."""
        found = {item.status for item in self.transcripts}
        for status in ("failed", "missing", "unscored", "judge only"):
            if status in found:
                return status
        return "passed"


@dataclass(frozen=True, slots=True)
class LayerScore:
    """One layer of a run, or `ALL_CHECKS`.

    Attributes
    ----------
    passed, n, unscored : int
        Transcripts that passed, of those scored, and those that could not be scored (missing ones
        among them).
    cases : int
        Cases with at least one scored repeat.
    estimate : Estimate
        Share passed: over transcripts (Wilson), or with repeats the mean of the cases' own shares.
    worst : float or None
        The same share with every unscored transcript counted as failed.
    assertions_passed, assertions, assertions_unscored : int
        Check rows that passed, of those scored, and those unscored.
    crashed : int
        Transcripts among the failed in which the agent crashed.
    failing, unscored_ids : tuple of str
        Cases with a failed, an unscored repeat.
    """

    layer: str
    passed: int
    n: int
    unscored: int
    cases: int
    estimate: Estimate
    worst: float | None
    assertions_passed: int
    assertions: int
    assertions_unscored: int
    crashed: int
    failing: tuple[str, ...]
    unscored_ids: tuple[str, ...]

    @property
    def unscored_share(self) -> float:
        """Unscored transcripts as a share of all that were wanted in this layer."""
        wanted = self.n + self.unscored
        return self.unscored / wanted if wanted else 0.0
