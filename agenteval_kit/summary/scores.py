"""The values that a run adds up to: of one transcript, one case, one layer, and the whole.

May not read a run: `agenteval_kit.summary.gather` does.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from agenteval_kit.records import CheckRow
from agenteval_kit.runs import CasePlan
from agenteval_kit.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ALL_CHECKS",
    "CaseScore",
    "Counts",
    "LayerScore",
    "Scored",
    "Status",
    "Summary",
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
        return self.passed / self.n if self.n else None

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
        in, because nothing in it was seen to hold.
    failing : tuple of CheckRow
        The rows that failed.
    critical : str or None
        passed, failed or unscored over what no average may outvote: every check of a critical
        case, the invariants of another; None where there is nothing of the kind.
    crashed : bool
        The agent raised an error or did not answer in time.
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


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run's checks add up to. There is no score over the layers.

    Attributes
    ----------
    run_id, suite_digest : str
        Stamps of what was summed up.
    repeats : int
        Repeats a case.
    cases : tuple of CaseScore
        In the order of the suite.
    layers : tuple of LayerScore
        In the order outcome, trajectory, grounding, policy, conversation, then others by name.
    overall : LayerScore
        Over cases, each passed if all its checks passed.
    judge_only, missing, crashes, infrastructure : int
        Transcripts outside the denominator because nothing about them is checked by code; wanted
        transcripts that are not there; crashes of the agent; failures that are not the agent's.
    partial : str
        Which part of the suite the run covers; empty for the whole.
    warnings : tuple of str
        What a person should know once.
    """

    run_id: str
    suite_digest: str
    repeats: int
    cases: tuple[CaseScore, ...]
    layers: tuple[LayerScore, ...]
    overall: LayerScore
    judge_only: int
    missing: int
    crashes: int
    infrastructure: int
    partial: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def transcripts(self) -> int:
        """Transcripts that are there."""
        return sum(case.repeats for case in self.cases) - self.missing

    @property
    def flaky(self) -> tuple[str, ...]:
        """Cases that passed in some repeats and failed in others."""
        return tuple(case.case_id for case in self.cases if case.flaky)

    @property
    def sentence(self) -> str:
        """Three numbers: assertions passed, cases failed, cases unscored."""
        total = self.overall
        share = f" ({100 * total.assertions_passed / total.assertions:.0f} %)" * bool(
            total.assertions
        )
        parts = [f"{total.assertions_passed} of {total.assertions} assertions passed{share}"]
        what = "cases" if self.repeats == 1 else "transcripts"
        parts.append(f"{total.n - total.passed} of {total.n} {what} failed")
        if self.crashes:
            parts[-1] += f" ({self.crashes} crashed)"
        parts.append(f"{total.unscored} unscored")
        if self.missing:
            parts[-1] += f" ({self.missing} not run yet)"
        if self.judge_only:
            parts.append(f"{self.judge_only} judge only")
        return ", ".join(parts)

    def layer(self, name: str) -> LayerScore | None:
        """One layer (or `ALL_CHECKS`); None where no check of it is part of the run."""
        if name == ALL_CHECKS:
            return self.overall
        return next((item for item in self.layers if item.layer == name), None)

    def pass_hat(self, k: int, *, layer: str = ALL_CHECKS) -> Estimate:
        """The chance that k repeats of a case all pass, averaged over cases (pass^k).

        Raises
        ------
        ConfigError
            If k < 1.
        """
        from agenteval_kit.stats.repeats import pass_hat_k  # numpy: one repeat needs none

        counts = [case.counts[layer] for case in self.cases if layer in case.counts]
        scored = [item for item in counts if item.n]
        return pass_hat_k([item.passed for item in scored], [item.n for item in scored], k)

    def assertion_rate(self, layer: str) -> Estimate:
        """The share of assertions that passed; its interval treats a case's as one cluster."""
        from agenteval_kit.stats.mean import anchored_mean  # numpy, see pass_hat

        scores: list[int] = []
        clusters: list[str] = []
        for case in self.cases:
            found = case.counts.get(layer, Counts())
            passed, failed = found.assertions_passed, found.assertions_failed
            scores += [1] * passed + [0] * failed
            clusters += [case.case_id] * (passed + failed)
        estimate = anchored_mean(scores, levels=(0, 1), clusters=clusters, estimand="case")
        if scores and estimate.value is None:
            # One case shows no spread between cases, but its share is a fact.
            return Estimate(
                sum(scores) / len(scores), None, None, 1, method=estimate.method,
                reason="one case only",
            )  # fmt: skip
        return estimate

    def frame(self) -> pd.DataFrame:
        """One row per layer, `ALL_CHECKS` last.

        Columns: layer (str); passed, n, unscored (transcripts); score, low, high (share passed in
        [0, 1]; missing where nothing was scored); worst (share with unscored as failed); cases;
        assertions_passed, assertions, assertions_unscored; crashed; method, diag (str).
        """
        import pandas as pd  # heavy: half a second that the check command must not pay

        return pd.DataFrame.from_records(
            [
                {
                    "layer": item.layer,
                    "passed": item.passed,
                    "n": item.n,
                    "unscored": item.unscored,
                    "score": item.estimate.value,
                    "low": item.estimate.low,
                    "high": item.estimate.high,
                    "worst": item.worst,
                    "cases": item.cases,
                    "assertions_passed": item.assertions_passed,
                    "assertions": item.assertions,
                    "assertions_unscored": item.assertions_unscored,
                    "crashed": item.crashed,
                    "method": item.estimate.method,
                    "diag": item.estimate.diag or item.estimate.reason,
                }
                for item in (*self.layers, self.overall)
            ]
        )

    def cases_frame(self) -> pd.DataFrame:
        """One row per case.

        Columns: case_id, status (str); passed, n, unscored (repeats); score (share of the scored
        repeats that passed; missing where none was scored); flaky, critical (bool); failed_layers,
        tags (str, joined by ", "); origin, broke (str or missing); why (str).
        """
        import pandas as pd  # heavy, see frame

        return pd.DataFrame.from_records(
            [
                {
                    "case_id": case.case_id,
                    "status": case.status,
                    "passed": case.passed,
                    "n": case.n,
                    "unscored": case.counts[ALL_CHECKS].unscored,
                    "score": case.counts[ALL_CHECKS].rate,
                    "flaky": case.flaky,
                    "critical": case.plan.critical,
                    "failed_layers": ", ".join(
                        name
                        for name, counts in case.counts.items()
                        if counts.failed and name != ALL_CHECKS
                    ),
                    "tags": ", ".join(case.plan.tags),
                    "origin": case.plan.origin,
                    "broke": case.plan.broke,
                    "why": "; ".join(dict.fromkeys(t.why for t in case.transcripts if t.why)),
                }
                for case in self.cases
            ]
        )

    def repeats_frame(self) -> pd.DataFrame:
        """One row per layer and k: pass^k with its interval.

        Columns: layer (str), k (int, 1 to the number of repeats), score, low, high (in [0, 1];
        missing where no case has k scored repeats), n (cases), diag (str).
        """
        import pandas as pd  # heavy, see frame

        rows = []
        for layer in (*(item.layer for item in self.layers), ALL_CHECKS):
            for k in range(1, self.repeats + 1):
                one = self.pass_hat(k, layer=layer)
                rows.append((layer, k, one.value, one.low, one.high, one.n, one.diag or one.reason))
        return pd.DataFrame(rows, columns=["layer", "k", "score", "low", "high", "n", "diag"])

    def _repr_html_(self) -> str:
        heads = ("layer", "passed", "share (95 %)", "unscored", "assertions", "diag")
        body = "".join(
            f"<tr><th scope='row'>{html.escape(item.layer)}</th>"
            f"<td>{item.passed} of {item.n}</td>"
            f"<td>{html.escape(item.estimate.text(percent=True))}</td><td>{item.unscored}</td>"
            f"<td>{item.assertions_passed} of {item.assertions}</td>"
            f"<td>{html.escape(item.estimate.diag)}</td></tr>"
            for item in (*self.layers, self.overall)
        )
        head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
        return (
            f"<table><caption>{html.escape(self.sentence)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
