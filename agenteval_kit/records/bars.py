"""A release bar as people write it: thresholds live here and nowhere else.

May not apply them: `agenteval_kit.gate` does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

__all__ = ["Bar", "NoWorseClause", "PassRateClause", "TrustRule", "WinRateClause"]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)
# Strict: "0.9" in quotes and true are mistakes, not thresholds.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[Number, Field(ge=0, le=1)]
Margin = Annotated[Number, Field(gt=0, le=0.5)]


class PassRateClause(BaseModel):
    """At least this share must pass.

    `unit` is "cases" (mean per-case rate over repeats, pass^1) or "assertions"; `pass_all: k`
    asks for pass^k in place of pass^1.
    """

    model_config = FROZEN

    at_least: Annotated[Share, Field(gt=0)]
    unit: Literal["cases", "assertions"] = "cases"
    pass_all: Annotated[StrictInt, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_question(self) -> PassRateClause:
        if self.pass_all is not None and self.unit == "assertions":
            raise ValueError(
                "pass_all asks that a case passes k times, so it counts cases; "
                "drop unit: assertions or pass_all"
            )
        return self


def _as_rate(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            layer: item if isinstance(item, dict | PassRateClause) else {"at_least": item}
            for layer, item in value.items()
        }
    return value


class WinRateClause(BaseModel):
    """Smoke alarm: the win rate may not fall under one half by more than the margin."""

    model_config = FROZEN

    against: Literal["baseline"] = "baseline"
    margin: Margin | Literal["measured"] = "measured"
    max_margin: Margin = 0.10


class NoWorseClause(BaseModel):
    """The claim: not worse than the baseline by more than the margin (non-inferiority)."""

    model_config = FROZEN

    against: Literal["baseline"] = "baseline"
    margin: Annotated[Number, Field(gt=0)]
    unit: Literal["win_rate", "pass_share", "score"] = "pass_share"

    @model_validator(mode="after")
    def _margin_leaves_something(self) -> NoWorseClause:
        most = {"win_rate": 0.5, "pass_share": 1.0}.get(self.unit)
        if most is not None and self.margin >= most:
            raise ValueError(
                f"a margin of {self.margin:g} is the largest drop there can be ({most:g}) or more, "
                f"so nothing could fail; shares are written from 0 to 1 (5 points are 0.05)"
            )
        return self


class TrustRule(BaseModel):
    """When a judged dimension is trusted (see the calibration docs)."""

    model_config = FROZEN

    statistic: Literal["kappa_quadratic", "kappa_linear", "kappa", "exact", "ac2"] = (
        "kappa_quadratic"
    )
    at_least: Number = 0.4
    on: Literal["bound", "estimate"] = "bound"
    min_labels: Annotated[StrictInt, Field(ge=1)] = 100
    gap_margin: Annotated[Number, Field(ge=0)] = 0.10
    raters: Annotated[StrictInt, Field(ge=1)] = 2

    @property
    def beyond_chance(self) -> bool:
        """Whether the statistic is a kappa: near 0 for who always says the commonest level."""
        return self.statistic.startswith("kappa")

    @model_validator(mode="after")
    def _a_number_of_its_own(self) -> TrustRule:
        if not self.beyond_chance and "at_least" not in self.model_fields_set:
            raise ValueError(
                f"statistic: {self.statistic} needs its own at_least: the default of 0.4 is meant "
                f"for a kappa, and a judge that always says one level may reach it; write for "
                f"example at_least: 0.8, or drop the statistic"
            )
        return self


class Bar(BaseModel):
    """Each key is a clause, or one clause a name.

    `max_unscored`, `untrusted`, `open_flags`, `bar_applies_to` and `trust` say how the others are
    read; they are no clauses that a release could rest on.
    """

    model_config = FROZEN

    name: StrictStr | None = None
    hard_layers: list[StrictStr] = []
    critical: Literal["all"] | None = None
    pass_rate: Annotated[dict[StrictStr, PassRateClause], BeforeValidator(_as_rate)] = {}
    mean: dict[StrictStr, Number] = {}
    never: dict[StrictStr, StrictInt] = {}
    win_rate: dict[StrictStr, WinRateClause] = {}
    no_worse: dict[StrictStr, NoWorseClause] = {}
    max_unscored: Share = 0.02
    untrusted: Literal["review", "report", "hold"] = "review"
    open_flags: Literal["review", "report"] = "review"
    bar_applies_to: Literal["estimate", "bound"] = "estimate"
    trust: TrustRule = TrustRule()

    @field_validator("hard_layers")
    @classmethod
    def _no_layer_twice(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("names a layer twice; keep one")
        return value

    @property
    def empty(self) -> bool:
        """Whether nothing here could ever hold a release."""
        return not (
            self.hard_layers
            or self.critical
            or self.pass_rate
            or self.mean
            or self.never
            or self.win_rate
            or self.no_worse
        )
