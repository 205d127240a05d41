"""A suite file and an agent file as people write them.

May not load what they name: `agenteval_kit.suite` does.
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
    model_validator,
)

from agenteval_kit.records.cases import Checks

__all__ = ["AgentSpec", "JudgeSpec", "SeatSpec", "SourcesSpec", "SuiteFile"]

FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)
Target = Annotated[StrictStr, Field(pattern=r"^[\w./-]+:[\w.]+$")]


class AgentSpec(BaseModel):
    """How an agent is called, and its stamps.

    Exactly one way: `call` (``module:function`` or ``module:Class``), `url` (HTTP), `recorded`
    (a transcripts file), or neither of them, which is a chat model with `prompt_file` and `tools`
    on any OpenAI-compatible endpoint.
    """

    model_config = FROZEN

    model: StrictStr | None = None
    prompt: StrictStr | None = None
    note: StrictStr | None = None
    simulated: StrictBool = False
    call: Target | None = None
    url: StrictStr | None = None
    headers_env: dict[StrictStr, StrictStr] | None = None
    recorded: StrictStr | None = None
    prompt_file: StrictStr | None = None
    tools: Target | None = None
    base_url: StrictStr | None = None
    base_url_env: StrictStr | None = None
    api_key_env: StrictStr = "OPENAI_API_KEY"
    parameters: dict[StrictStr, Any] = {}
    response_schema: dict[StrictStr, Any] | StrictStr | None = None
    max_steps: Annotated[StrictInt, Field(ge=1, le=200)] = 12
    timeout: Annotated[float, Field(gt=0)] = 120.0

    @model_validator(mode="after")
    def _one_way(self) -> AgentSpec:
        ways = [name for name in ("call", "url", "recorded") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise ValueError(f"names {' and '.join(ways)}; an agent is called in one way")
        return self

    @property
    def kind(self) -> Literal["call", "http", "recorded", "chat"]:
        """Which ready-made agent this describes."""
        if self.call is not None:
            return "call"
        if self.url is not None:
            return "http"
        if self.recorded is not None:
            return "recorded"
        return "chat"


class SeatSpec(BaseModel):
    """One model that may sit on a panel, with the endpoint it is served from."""

    model_config = FROZEN

    name: StrictStr
    base_url: StrictStr | None = None
    base_url_env: StrictStr | None = None
    api_key_env: StrictStr | None = None
    parameters: dict[StrictStr, Any] = {}


def _as_seats(value: Any) -> Any:
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list):
        return [{"name": item} if isinstance(item, str) else item for item in value]
    return value


def _as_seat(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class JudgeSpec(BaseModel):
    """Which models judge."""

    model_config = FROZEN

    models: Annotated[list[SeatSpec], BeforeValidator(_as_seats), Field(min_length=1)]
    allow_same_model: StrictBool = True
    parameters: dict[StrictStr, Any] = {}


class SourcesSpec(BaseModel):
    """Whose results are the retrieved passages of a transcript."""

    model_config = FROZEN

    tools: list[StrictStr]


class SuiteFile(BaseModel):
    """A suite as it is written; relative paths resolve against the file."""

    model_config = FROZEN

    name: Annotated[StrictStr, Field(pattern=r"^[\w.-]+$", max_length=80)]
    version: StrictStr
    cases: StrictStr | None = None
    scenarios: StrictStr | None = None
    recorded: StrictStr | None = None
    agent: AgentSpec | StrictStr | None = None
    clock: StrictStr | None = None
    freeze_clock: StrictBool = False
    repeats: Annotated[StrictInt, Field(ge=1, le=1000)] = 1
    tools: list[StrictStr] | None = None
    sources: SourcesSpec | None = None
    free_text: list[StrictStr] = []
    checks: Checks = Checks()
    rubric: StrictStr | None = None
    judge: JudgeSpec | None = None
    simulator: Annotated[SeatSpec, BeforeValidator(_as_seat)] | None = None
    bar: StrictStr | None = None
    baseline: StrictStr | None = None
    labels: StrictStr | None = None
    calibration: StrictStr | None = None
    data_note: StrictStr | None = None

    @model_validator(mode="after")
    def _has_cases(self) -> SuiteFile:
        if self.cases is not None and self.scenarios is not None:
            raise ValueError("names cases and scenarios; a suite has one of them")
        if self.cases is None and self.scenarios is None and self.recorded is None:
            raise ValueError("names nothing to evaluate; give cases, scenarios or recorded")
        return self
