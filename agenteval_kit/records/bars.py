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
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
)

__all__ = ["AgainstClause", "Bar", "NoWorseClause", "PassRateClause", "TrustRule", "WinRateClause"]

FROZEN = ConfigDict(frozen=True, extra="forbid")
Share = Annotated[float, Field(ge=0, le=1)]


class PassRateClause(BaseModel):
    """At least this share must pass.

    `unit` is "cases" (mean per-case rate over repeats, pass^1) or "assertions"; `pass_all: k`
    asks for pass^k in place of pass^1.
    """

    model_config = FROZEN

    at_least: Share
    unit: Literal["cases", "assertions"] = "cases"
    pass_all: Annotated[StrictInt, Field(ge=1)] | None = None


def _as_rate(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            layer: {"at_least": item} if isinstance(item, int | float) else item
            for layer, item in value.items()
        }
    return value


class WinRateClause(BaseModel):
    """Smoke alarm: the win rate may not fall under one half by more than the margin."""

    model_config = FROZEN

    against: Literal["baseline"] = "baseline"
    margin: Annotated[float, Field(gt=0, le=0.5)] | Literal["measured"] = "measured"
    max_margin: Annotated[float, Field(gt=0, le=0.5)] = 0.10


class NoWorseClause(BaseModel):
    """The claim: not worse than the baseline by more than the margin (non-inferiority)."""

    model_config = FROZEN

    against: Literal["baseline"] = "baseline"
    margin: Annotated[float, Field(gt=0)]
    unit: Literal["win_rate", "pass_share", "score"] = "pass_share"


AgainstClause = WinRateClause | NoWorseClause


class TrustRule(BaseModel):
    """When a judged dimension is trusted (see the calibration docs)."""

    model_config = FROZEN

    statistic: Literal["kappa_quadratic", "kappa_linear", "kappa", "exact", "ac2"] = (
        "kappa_quadratic"
    )
    at_least: float = 0.4
    on: Literal["bound", "estimate"] = "bound"
    min_labels: Annotated[StrictInt, Field(ge=1)] = 100
    gap_margin: Annotated[float, Field(ge=0)] = 0.10
    raters: Annotated[StrictInt, Field(ge=1)] = 2


class Bar(BaseModel):
    """Each key is a clause, or one clause a name."""

    model_config = FROZEN

    name: StrictStr | None = None
    hard_layers: list[StrictStr] = []
    critical: Literal["all"] | None = None
    pass_rate: Annotated[dict[StrictStr, PassRateClause], BeforeValidator(_as_rate)] = {}
    mean: dict[StrictStr, float] = {}
    never: dict[StrictStr, StrictInt] = {}
    win_rate: dict[StrictStr, WinRateClause] = {}
    no_worse: dict[StrictStr, NoWorseClause] = {}
    max_unscored: Share = 0.02
    untrusted: Literal["review", "report", "hold"] = "review"
    open_flags: Literal["review", "report"] = "review"
    bar_applies_to: Literal["estimate", "bound"] = "estimate"
    trust: TrustRule = TrustRule()
    allow_empty: StrictBool = False

    @field_validator("hard_layers")
    @classmethod
    def _no_layer_twice(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("names a layer twice; keep one")
        return value
