"""What the page reads of a decision and a comparison, so that it need not know who made them.

May not hold a value: `agenteval_kit.gate` and `agenteval_kit.compare` make these.
"""

# The members are described where they are made; repeating that here would only drift.
# ruff: noqa: D102

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from agenteval_kit.records import CheckRow
from agenteval_kit.records.bars import Bar
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.summary import PairedLayer

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.pairing import PairedDimension

__all__ = [
    "BarView",
    "ClauseView",
    "ComparisonView",
    "DecisionView",
    "PartingView",
    "RecordView",
]


class BarView(Protocol):
    """What the page reads of a bar (see `agenteval_kit.gate.LoadedBar`)."""

    @property
    def bar(self) -> Bar: ...
    @property
    def digest(self) -> str: ...
    @property
    def name(self) -> str: ...


class ClauseView(Protocol):
    """What the page reads of a clause's row (see `agenteval_kit.gate.ClauseRow`)."""

    @property
    def clause(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def bar(self) -> str: ...
    @property
    def threshold(self) -> float | None: ...
    @property
    def estimate(self) -> Estimate | None: ...
    @property
    def layer(self) -> str: ...
    @property
    def ids(self) -> tuple[str, ...]: ...
    @property
    def effect(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def trust(self) -> str: ...
    @property
    def people(self) -> tuple[str, ...]: ...


class DecisionView(Protocol):
    """What the page reads of a decision (see `agenteval_kit.gate.Decision`)."""

    @property
    def verdict(self) -> str: ...
    @property
    def rows(self) -> Sequence[ClauseView]: ...
    @property
    def hard_fails(self) -> tuple[CheckRow, ...]: ...
    @property
    def bar(self) -> BarView: ...
    @property
    def layers(self) -> Mapping[str, str]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    def as_dict(self) -> dict[str, Any]: ...


class PartingView(Protocol):
    """Where two transcripts of a case part (see `agenteval_kit.compare.Parting`)."""

    @property
    def turn(self) -> int: ...
    @property
    def role(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def old(self) -> str: ...
    @property
    def new(self) -> str: ...


class RecordView(Protocol):
    """What the page reads of a case of both runs (see `agenteval_kit.compare.RecordChange`)."""

    @property
    def case_id(self) -> str: ...
    @property
    def repeat(self) -> int: ...
    @property
    def turn_parting(self) -> PartingView | None: ...
    @property
    def call_parting(self) -> PartingView | None: ...


class ComparisonView(Protocol):
    """What the page reads of a comparison (see `agenteval_kit.compare.Comparison`)."""

    @property
    def layers(self) -> Sequence[PairedLayer]: ...
    @property
    def overall(self) -> PairedLayer | None: ...
    @property
    def records(self) -> Sequence[RecordView]: ...
    @property
    def dimensions(self) -> Sequence[PairedDimension]: ...
    @property
    def only_old(self) -> tuple[str, ...]: ...
    @property
    def stamps(self) -> Mapping[str, tuple[str, str]]: ...
    @property
    def refused(self) -> str: ...
    @property
    def in_part(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    def frame(self) -> pd.DataFrame: ...
