"""The whole of what a run's checks say, by layer and by case, with its frames.

May not blend the layers: there is no score over them.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary.scores import ALL_CHECKS, CaseScore, Counts, LayerScore
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Summary"]


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
    def n(self) -> int:
        """Transcripts that were scored."""
        return self.overall.n

    @property
    def passed(self) -> int:
        """Transcripts in which every check passed."""
        return self.overall.passed

    @property
    def failed(self) -> int:
        """Transcripts in which a check failed or the agent crashed."""
        return self.overall.n - self.overall.passed

    @property
    def unscored(self) -> int:
        """Transcripts that could not be scored, missing ones among them."""
        return self.overall.unscored

    @property
    def assertions(self) -> int:
        """Check rows that passed or failed."""
        return self.overall.assertions

    @property
    def flaky(self) -> tuple[str, ...]:
        """Cases that passed in some repeats and failed in others."""
        return tuple(case.case_id for case in self.cases if case.flaky)

    @property
    def sentence(self) -> str:
        """Three numbers: assertions passed, cases failed, cases unscored."""
        total = self.overall
        share = ""
        if total.assertions:
            percent = 100 * total.assertions_passed / total.assertions
            # Rounding may not turn a miss into "100 %".
            digits = 1 if percent not in (0, 100) and round(percent) in (0, 100) else 0
            share = f" ({percent:.{digits}f} %)"
        parts = [
            f"{total.assertions_passed:,} of {counted(total.assertions, 'assertion')} passed{share}"
        ]
        what = "case" if self.repeats == 1 else "transcript"
        parts.append(f"{self.failed:,} of {counted(self.n, what)} failed")
        if self.crashes:
            parts[-1] += f" ({self.crashes:,} crashed)"
        parts.append(f"{total.unscored:,} unscored")
        if self.missing:
            parts[-1] += f" ({self.missing:,} not run yet)"
        if self.judge_only:
            parts.append(f"{self.judge_only:,} judge only")
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
        heads = ("layer", "passed", "share (95 %)", "unscored", "assertions", "doubts")
        body = "".join(
            f"<tr><th scope='row'>{html.escape(item.layer)}</th>"
            f"<td>{item.passed:,} of {item.n:,}</td>"
            f"<td>{html.escape(item.estimate.text(percent=True))}</td><td>{item.unscored:,}</td>"
            f"<td>{item.assertions_passed:,} of {item.assertions:,}</td>"
            f"<td>{html.escape(item.estimate.diag)}</td></tr>"
            for item in (*self.layers, self.overall)
        )
        head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
        return (
            f"<table><caption>{html.escape(self.sentence)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
