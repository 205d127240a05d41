"""Cases and scenarios as people write them, and the vocabulary of checks.

May not check anything: `agenteval_kit.checks` turns these specifications into checks.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from agenteval_kit.records.fields import (
    Count,
    Id,
    LayerName,
    Limit,
    Name,
    Names,
    Number,
    Pattern,
    Patterns,
    Phrases,
    RowName,
    SomeNames,
    some,
)

__all__ = [
    "CHECK_KEYS",
    "LAYERS",
    "Approval",
    "Asks",
    "AsksAfterGiven",
    "Case",
    "Checks",
    "CitedIds",
    "ForbiddenPattern",
    "IdTable",
    "MustRefuse",
    "PythonCheck",
    "Scenario",
    "ScriptLine",
    "SimulatedUser",
    "UserSpec",
]

LAYERS = ("outcome", "trajectory", "grounding", "policy", "conversation")

FROZEN = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Approval(BaseModel):
    """Before any of these tools is called, a user turn after the last one must match `when`."""

    model_config = FROZEN

    before: SomeNames
    when: Pattern


class IdTable(BaseModel):
    """Where valid identifiers stand: a CSV column or a SQLite query (first column)."""

    model_config = FROZEN

    file: StrictStr
    column: StrictStr | None = None
    query: StrictStr | None = None


class CitedIds(BaseModel):
    """Every match of `pattern` in the answer must be one of the identifiers `in`."""

    model_config = FROZEN

    pattern: Pattern
    within: list[StrictStr] | IdTable = Field(alias="in")


class ForbiddenPattern(BaseModel):
    """A pattern that may not occur in any agent turn, with the name that the row shows."""

    model_config = FROZEN

    pattern: Pattern
    name: Name | None = None


class MustRefuse(BaseModel):
    """A refusal is due: always, or whenever the user's text matches `when`."""

    model_config = FROZEN

    when: Pattern | None = None
    phrases: Phrases | None = None


class Asks(BaseModel):
    """How often the agent may ask for one field."""

    model_config = FROZEN

    pattern: Pattern
    n: Count


class AsksAfterGiven(BaseModel):
    """The agent may not ask (`ask`) for what a user turn has already given (`given`)."""

    model_config = FROZEN

    ask: Pattern
    given: Pattern


class PythonCheck(BaseModel):
    """A check of one's own: ``module:function(transcript, case) -> bool or (bool, why)``."""

    model_config = FROZEN

    call: Annotated[StrictStr, Field(pattern=r"^[\w.]+:[\w.]+$")]
    layer: LayerName = "outcome"
    name: RowName | None = None


def _as_python(value: Any) -> Any:
    if isinstance(value, str | dict):
        value = [value]
    if isinstance(value, list):
        return [{"call": item} if isinstance(item, str) else item for item in value]
    return value


def _as_forbidden(value: Any) -> Any:
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list):
        return [{"pattern": item} if isinstance(item, str) else item for item in value]
    return value


class Checks(BaseModel):
    """All keys that decide something by code; the same in cases, scenarios and suites."""

    model_config = FROZEN

    # outcome
    expect: dict[StrictStr, Any] | None = None
    equals: Any = None
    must_include: Phrases | None = None
    must_not_include: Phrases | None = None
    matches: Patterns | None = None
    must_not_match: Patterns | None = None
    json_schema: dict[StrictStr, Any] | StrictStr | None = None
    required_fields: SomeNames | None = None
    final_state: dict[StrictStr, Any] | None = None
    recorded_reward: Number | None = None
    # trajectory
    tools: Names | None = None
    tools_exact: Names | None = None
    tools_any_order: Names | None = None
    no_tools: StrictBool | None = None
    forbidden_tools: SomeNames | None = None
    max_calls: dict[StrictStr, Count] | None = None
    max_identical_calls: Annotated[StrictInt, Field(ge=1)] | None = None
    before: list[tuple[StrictStr, StrictStr]] | None = None
    arguments: dict[StrictStr, dict[StrictStr, Any]] | None = None
    not_null: dict[StrictStr, SomeNames] | None = None
    markers: SomeNames | None = None
    approval: Approval | None = None
    # grounding
    cited_ids: CitedIds | None = None
    figures_traceable: StrictBool | None = None
    read_back: dict[StrictStr, Any] | None = None
    # policy
    forbidden_patterns: (
        Annotated[list[ForbiddenPattern], BeforeValidator(_as_forbidden), AfterValidator(some)]
        | None
    ) = None
    no_phone_numbers: StrictBool | StrictStr | None = None
    no_emails: StrictBool | None = None
    promises: StrictBool | Phrases | None = None
    must_refuse: StrictBool | MustRefuse | None = None
    must_not_refuse: StrictBool | None = None
    claims: dict[Pattern, StrictStr] | None = None
    # conversation
    asks_at_most: dict[StrictStr, Asks] | None = None
    asks_after_given: dict[StrictStr, AsksAfterGiven] | None = None
    max_turns: Count | None = None
    max_words: Count | None = None
    max_chars: Count | None = None
    max_tokens: Count | None = None
    max_cost_usd: Limit | None = None
    max_seconds: Limit | None = None
    # any layer
    python: Annotated[list[PythonCheck], BeforeValidator(_as_python)] | None = None
    # how the others read
    strict: StrictBool | None = None
    where: dict[StrictStr, Literal["final", "every"]] | None = None

    @field_validator("where")
    @classmethod
    def _where_names_checks(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for key in value or {}:
            if key not in WHERE_KEYS:
                raise ValueError(
                    f'"{key}" reads no text of the agent; '
                    f"where: takes {', '.join(sorted(WHERE_KEYS))}"
                )
        return value

    def given(self) -> list[str]:
        """Names of the keys that assert something, in the order of the vocabulary."""
        named = self.model_fields_set
        found = [
            key
            for key in CHECK_KEYS
            if key in named and (getattr(self, key) is not None or key == "equals")
        ]
        # `tools: []` and `no_phone_numbers: false` say nothing; `max_turns: 0`, which equals
        # false in Python, does.
        return [
            key
            for key in found
            if key in ("equals", "tools_exact")
            or not (getattr(self, key) is False or getattr(self, key) in ([], {}))
        ]


WHERE_KEYS = frozenset(
    {
        "must_include", "must_not_include", "matches", "must_not_match", "cited_ids",
        "figures_traceable", "forbidden_patterns", "no_phone_numbers", "no_emails", "promises",
        "must_refuse", "must_not_refuse", "claims",
    }
)  # fmt: skip

CHECK_KEYS = tuple(key for key in Checks.model_fields if key not in ("strict", "where"))
"""Every key that asserts something, in the order in which rows are written."""


_LOOSE_KEYS = frozenset(Checks.model_fields)


class Case(BaseModel):
    """One input with its expectations. In a file the check keys stand beside the others."""

    model_config = FROZEN

    id: Id
    input: Any = None
    messages: list[dict[str, Any]] | None = None
    thread: list[dict[str, Any]] | dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    clock: StrictStr | None = None
    checks: Checks = Checks()
    critical: StrictBool = False
    rubric: StrictStr | None = None
    expected_outcome: StrictStr | None = None
    reference: StrictStr | None = None
    dimensions: list[StrictStr] | None = None
    origin: StrictStr | None = None
    broke: StrictStr | None = None
    tags: tuple[StrictStr, ...] = ()
    note: StrictStr | None = None
    draft: StrictBool = False

    @model_validator(mode="before")
    @classmethod
    def _gather_checks(cls, value: Any) -> Any:
        """Move check keys that stand beside the others under `checks`; `question` is `input`."""
        if not isinstance(value, dict) or isinstance(value.get("checks"), Checks):
            return value
        inner = value.get("checks", {})
        if not isinstance(inner, dict):
            return value
        loose = {key: item for key, item in value.items() if key in _LOOSE_KEYS}
        rest = {key: item for key, item in value.items() if key not in _LOOSE_KEYS}
        twice = sorted(set(loose) & set(inner))
        if twice:
            raise ValueError(f'"{twice[0]}" stands both in the case and under checks; keep one')
        if "question" in rest:
            if "input" in rest:
                raise ValueError('"question" and "input" are the same thing; keep one')
            rest["input"] = rest.pop("question")
        rest["checks"] = {**inner, **loose}
        return rest

    @model_validator(mode="after")
    def _has_input(self) -> Case:
        if self.input is not None and self.messages is not None:
            raise ValueError('"input" and "messages" both stand here; keep one')
        return self


class ScriptLine(BaseModel):
    """One thing that the scripted user says; with `when`, only if the agent's last text matches."""

    model_config = FROZEN

    say: Annotated[StrictStr, Field(min_length=1)]
    when: Pattern | None = None


def _as_lines(value: Any) -> Any:
    if isinstance(value, list):
        return [{"say": item} if isinstance(item, str) else item for item in value]
    return value


class SimulatedUser(BaseModel):
    """Limits of a user that a model plays."""

    model_config = FROZEN

    max_turns: Annotated[StrictInt, Field(ge=1, le=200)] = 12


class UserSpec(BaseModel):
    """Who plays the user: a script, or a model."""

    model_config = FROZEN

    script: Annotated[list[ScriptLine], BeforeValidator(_as_lines)] | None = None
    simulate: SimulatedUser | None = None
    stop_when: Pattern | None = None

    @model_validator(mode="after")
    def _one_of(self) -> UserSpec:
        if (self.script is None) == (self.simulate is None):
            raise ValueError("wants exactly one of script and simulate")
        return self


class Scenario(BaseModel):
    """The multi-turn counterpart of a case. Its invariants are all hard."""

    model_config = FROZEN

    id: Id
    persona: StrictStr | None = None
    goal: StrictStr | None = None
    opening: StrictStr
    known: dict[StrictStr, Any] = {}
    user: UserSpec
    clock: StrictStr | None = None
    state: dict[str, Any] | None = None
    final_state: dict[StrictStr, Any] | None = None
    markers: SomeNames | None = None
    checks: Checks = Checks()
    invariants: Checks = Checks()
    max_turns: Annotated[StrictInt, Field(ge=1, le=500)] = 30
    expected_outcome: StrictStr | None = None
    dimensions: list[StrictStr] | None = None
    critical: StrictBool = False
    rubric: StrictStr | None = None
    origin: StrictStr | None = None
    broke: StrictStr | None = None
    tags: tuple[StrictStr, ...] = ()
    note: StrictStr | None = None
    draft: StrictBool = False
