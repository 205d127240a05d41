"""What a bar said of a run: a row a clause, and the verdict they make.

May not compute a clause.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from agenteval_kit.gate.bars import LoadedBar
from agenteval_kit.records import CheckRow
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import ALL_CHECKS, PairedLayer, Summary, pair_layer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["STATUS", "ClauseRow", "Decision", "Status", "Verdict", "unique"]

Status = Literal["pass", "fail", "cannot tell"]
Verdict = Literal["SHIP", "HOLD", "REVIEW"]

STATUS: dict[str, Status] = {"pass": "pass", "fail": "fail", "undecided": "cannot tell"}
"""What the three answers of a claim are for a clause."""

UNTOLD = {"review": "REVIEW", "report": "none", "hold": "HOLD"}
NO_SUBSTANCE = ("max_unscored", "whole_suite", "open_flags")
"""Clauses that ask whether there is evidence at all: a release cannot rest on them alone."""


def unique(ids: Iterable[str]) -> tuple[str, ...]:
    """Cases to look at, each once, in their order."""
    return tuple(dict.fromkeys(ids))


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One clause of the bar, applied.

    Attributes
    ----------
    clause, target : str
        The key in the bar, and the layer or dimension it is about (empty where it is the run).
    status : str
        pass, fail, or cannot tell: evidence that is not there never passes.
    reason : str
        Why, with the numbers.
    bar : str
        What was wanted, in words.
    threshold : float or None
        The number in the bar.
    estimate : Estimate or None
        What was compared with it.
    layer : str
        The layer whose verdict this row is part of; empty where it is none's.
    ids : tuple of str
        Cases to look at.
    if_untold : str
        What "cannot tell" does to the verdict: review, report (nothing) or hold.
    trust : str
        For judged clauses: whether the dimension's judge is trusted.
    people : tuple of str
        Who said what this row waits for or fails by, whatever its judge is worth.
    """

    clause: str
    target: str
    status: Status
    reason: str
    bar: str = ""
    threshold: float | None = None
    estimate: Estimate | None = None
    layer: str = ""
    ids: tuple[str, ...] = ()
    if_untold: Literal["review", "report", "hold"] = "review"
    trust: str = ""
    people: tuple[str, ...] = ()

    @property
    def effect(self) -> str:
        """What the row does to the verdict: none, REVIEW or HOLD."""
        if self.status == "cannot tell":
            return UNTOLD[self.if_untold]
        return "HOLD" if self.status == "fail" else "none"

    @property
    def name(self) -> str:
        """The clause with its target: "pass_rate outcome"."""
        return f"{self.clause} {self.target}".strip()

    def as_dict(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        made = asdict(self)
        made["ids"] = list(self.ids)
        made["people"] = list(self.people)
        made["effect"] = self.effect
        return made


@dataclass(frozen=True, slots=True)
class Decision:
    """SHIP, HOLD or REVIEW, and every row that made it so.

    Attributes
    ----------
    verdict : str
        HOLD if a clause fails; REVIEW if none fails but one cannot be told; SHIP if all pass.
    rows : tuple of ClauseRow
        In the order of the bar.
    hard_fails : tuple of CheckRow
        Failed checks of hard layers and critical cases: no score buys them back.
    bar : LoadedBar
        The bar with its digest.
    summary, baseline_summary : Summary
        What was decided on; the baseline's is None where there is none.
    stamps, baseline_stamps : mapping
        Which run, suite, agent, clock and package, and which judges a clause read; of a baseline
        that was published also its `release` and the `verdict` then. Empty where there is none.
    notes : tuple of str
        What a person should know once.
    refused, in_part : str
        Why the run may not be compared with its baseline, and on which cases it is where the suite
        was edited in between; empty where neither holds.
    """

    verdict: Verdict
    rows: tuple[ClauseRow, ...]
    hard_fails: tuple[CheckRow, ...]
    bar: LoadedBar
    summary: Summary
    stamps: Mapping[str, Any]
    baseline_summary: Summary | None
    baseline_stamps: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    refused: str = ""
    in_part: str = ""

    @property
    def run_id(self) -> str:
        """The run that was decided on."""
        return self.summary.run_id

    @property
    def baseline_id(self) -> str | None:
        """The run it was compared with."""
        return None if self.baseline_summary is None else self.baseline_summary.run_id

    @property
    def pairs(self) -> tuple[PairedLayer, ...]:
        """Each layer, then all checks, against the baseline; empty where that may not be.

        A clause may look at one layer of these; this is what moved, whatever a clause asked.
        """
        before = self.baseline_summary
        if before is None or self.refused:
            return ()
        names = [layer.layer for layer in self.summary.layers]
        return tuple(pair_layer(before, self.summary, name) for name in (*names, ALL_CHECKS))

    @property
    def bar_digest(self) -> str:
        """Which version of the bar was applied."""
        return self.bar.digest

    @property
    def layers(self) -> dict[str, Status]:
        """The verdict of each layer that a counted clause is about: its worst row."""
        found: dict[str, Status] = {}
        order: tuple[Status, ...] = ("pass", "cannot tell", "fail")
        for row in self.rows:
            reported = row.status == "cannot tell" and row.effect == "none"
            if row.layer and not reported:
                had = found.get(row.layer, "pass")
                found[row.layer] = max(had, row.status, key=order.index)
        return found

    @property
    def sentence(self) -> str:
        """The verdict with the clauses that made it so."""
        made_it = [row for row in self.rows if row.effect == self.verdict]
        if self.verdict == "SHIP":
            told = sum(row.status == "pass" for row in self.rows)
            rest = len(self.rows) - told
            tail = f"; {rest} reported, not counted" if rest else ""
            passing = "the one clause passes" if told == 1 else f"all {told} clauses pass"
            return f"SHIP: {passing}{tail}"
        if not made_it:
            return f"{self.verdict}: no clause that a release could rest on was told"
        what = "; ".join(f"{row.name}: {row.reason}" for row in made_it)
        return f"{self.verdict}: {what}"

    def frame(self) -> pd.DataFrame:
        """One row per clause.

        Columns: clause, target, status (pass, fail, cannot tell), effect (none, REVIEW, HOLD),
        bar, reason, trust (str); score, low, high (in the clause's own unit; missing where
        there is none), n (independent units, or missing), ids (str, joined by ", "), diag.
        """
        import pandas as pd  # heavy: half a second that the check command must not pay

        frame = pd.DataFrame.from_records(
            [
                {
                    "clause": row.clause,
                    "target": row.target,
                    "status": row.status,
                    "effect": row.effect,
                    "bar": row.bar,
                    "score": row.estimate.value if row.estimate else None,
                    "low": row.estimate.low if row.estimate else None,
                    "high": row.estimate.high if row.estimate else None,
                    "n": row.estimate.n if row.estimate else None,
                    "trust": row.trust,
                    "reason": row.reason,
                    "ids": ", ".join(row.ids),
                    "diag": row.estimate.diag if row.estimate else "",
                }
                for row in self.rows
            ]
        )
        return frame.astype({"score": float, "low": float, "high": float, "n": "Int64"})

    def as_dict(self) -> dict[str, Any]:
        """The decision as plain JSON values, for machines and for the report."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "run": dict(self.stamps),
            "baseline": dict(self.baseline_stamps) or None,
            "bar": {
                "name": self.bar.name,
                "digest": self.bar.digest,
                "clauses": self.bar.bar.model_dump(mode="json", exclude_unset=True),
            },
            "layers": self.layers,
            "changes": [
                {
                    "layer": pair.layer,
                    "n": pair.n,
                    "difference": pair.difference.value,
                    "low": pair.difference.low,
                    "high": pair.difference.high,
                    "level": pair.difference.level,
                    "method": pair.difference.method,
                    "diag": pair.difference.diag or pair.difference.reason,
                    "broken": list(pair.worse),
                    "fixed": list(pair.better),
                }
                for pair in self.pairs
            ],
            "refused": self.refused,
            "rows": [row.as_dict() for row in self.rows],
            "hard_fails": [row.as_dict() for row in self.hard_fails],
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        heads = ("clause", "status", "bar", "measured (95 %)", "n", "reason", "cases")
        body = "".join(
            f"<tr><th scope='row'>{html.escape(row.name)}</th><td>{row.status}</td>"
            f"<td>{html.escape(row.bar)}</td>"
            f"<td>{html.escape(row.estimate.text()) if row.estimate else ''}</td>"
            f"<td>{f'{row.estimate.n:,}' if row.estimate else ''}</td>"
            f"<td>{html.escape(row.reason)}</td><td>{html.escape(', '.join(row.ids))}</td></tr>"
            for row in self.rows
        )
        head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
        return (
            f"<table><caption>{html.escape(self.sentence)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
