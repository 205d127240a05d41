"""A rubric as people write it: dimensions, and on each a scale in words.

May not read files or hold a threshold: those live in the bar.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from agenteval_kit.errors import did_you_mean
from agenteval_kit.records.cases import LAYERS

__all__ = ["DATA_PLACEHOLDERS", "INPUTS", "TEXT_PLACEHOLDERS", "Dimension", "EvidenceSpec",
           "ReplyNames", "Rubric"]  # fmt: skip

# Built when first used: checking a suite imports these and needs none of them.
FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)

INPUTS: dict[str, str] = {
    "transcript": "every turn with its tool calls",
    "question": "what the user asked first",
    "answer": "the final answer alone",
    "output": "the structured record that the agent returned",
    "sources": "the retrieved passages",
    "expected_outcome": "the case's own expected outcome, where it has one",
    "rubric": "the case's own sentence; cases without one are not asked",
    "system": "the agent's own instructions, where the transcript holds them",
}
"""What a judge may be shown, by name."""

_OTHER_NAMES = {
    "answer": ("response", "final_answer", "candidate", "reply"),
    "expected_outcome": ("reference", "expected", "reference_answer", "ground_truth",
                         "expected_answer"),
    "question": ("input", "user_input", "query", "prompt"),
    "rubric": ("case_rubric",),
    "sources": ("passages", "retrieved_passages", "context", "contexts", "retrieved_context",
                "documents", "retrieved"),
    "transcript": ("conversation", "messages", "dialogue", "turns"),
}  # fmt: skip
_INPUT_NAMES = {other: name for name, others in _OTHER_NAMES.items() for other in others}

TEXT_PLACEHOLDERS = ("name", "definition", "anchors", "levels", "not_rewarded", "evidence", "reply")
DATA_PLACEHOLDERS = ("inputs", "now", *INPUTS)
_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_FOREIGN = re.compile(r"(?<!\{)\$?\{([A-Za-z_][\w.]*)\}(?!\})")

Name = Annotated[StrictStr, Field(pattern=r"^[\w.-]+$", max_length=80)]
Text = Annotated[StrictStr, Field(min_length=1)]
Level = Annotated[StrictInt, Field(ge=0, le=100)]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _known_inputs(value: list[str]) -> list[str]:
    found = [_INPUT_NAMES.get(name, name) for name in value]
    for name in found:
        if name not in INPUTS:
            raise ValueError(f'"{name}" is nothing that a judge can be shown.'
                             f"{did_you_mean(name, INPUTS)}")  # fmt: skip
    if not found:
        raise ValueError("is empty, so the judge would be shown nothing; name transcript or answer")
    return list(dict.fromkeys(found))


def _verbatim(value: str) -> str:
    for pattern in (_PLACEHOLDER, _FOREIGN):
        found = pattern.search(value)
        if found:
            raise ValueError(
                f'"{found[0]}" looks like a placeholder, but this text reaches the judge as it '
                "stands; write it without braces"
            )
    return value


Inputs = Annotated[list[StrictStr], BeforeValidator(_as_list), AfterValidator(_known_inputs)]
Verbatim = Annotated[Text, AfterValidator(_verbatim)]


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError(f"is {value}; a panel wants an odd number of seats, so that it can decide")
    return value


class EvidenceSpec(BaseModel):
    """What a verdict has to show: turns, words quoted from them, or nothing.

    At the levels of `required_at` it has to show something; wherever it shows something, code
    looks it up.
    """

    model_config = FROZEN

    kind: Literal["turns", "quote", "none"] = "turns"
    required_at: Literal["all"] | list[Level] = "all"


class ReplyNames(BaseModel):
    """How the fields of the judge's reply are called.

    With `claim` the evidence is one text or null: the words that offend against the scale.
    """

    model_config = FROZEN

    score: StrictStr = "score"
    justification: StrictStr = "justification"
    claim: StrictStr | None = None


class Dimension(BaseModel):
    """One scale: what it is about, and what each level looks like.

    Attributes
    ----------
    definition : str
        What is judged; of a pairwise criterion, what makes one answer better.
    anchors : dict of int to str
        What can be observed at each level.
    scale : tuple of int
        The levels; those of the anchors where none is given.
    inputs : list of str
        What the judge is shown, see `INPUTS`.
    not_rewarded : list of str
        What must not raise a score.
    panel : int
        Seats, an odd number.
    prompt : str or None
        A template of its own in place of the shipped one.
    """

    model_config = FROZEN

    name: Name
    kind: Literal["absolute", "pairwise"] = "absolute"
    layer: Name = "conversation"
    definition: Verbatim
    anchors: dict[Level, Verbatim] = {}
    scale: tuple[Level, ...] = ()
    inputs: Inputs = ["transcript"]
    evidence: EvidenceSpec = EvidenceSpec()
    not_rewarded: Annotated[list[Verbatim], BeforeValidator(_as_list)] = ["length", "politeness"]
    panel: Annotated[StrictInt, Field(ge=1, le=15), AfterValidator(_odd)] = 1
    prompt: Text | None = None
    reply: ReplyNames = ReplyNames()

    @model_validator(mode="before")
    @classmethod
    def _read_common_shape(cls, value: Any) -> Any:
        """Take ``criterion, scale, inputs, anchors, output`` as they stand."""
        return _from_common_shape(dict(value)) if isinstance(value, dict) else value

    @field_validator("scale", mode="before")
    @classmethod
    def _read_scale(cls, value: Any) -> Any:
        return _levels(value)

    @field_validator("anchors", mode="before")
    @classmethod
    def _read_anchors(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        read: dict[Any, Any] = {}
        for key, text in value.items():
            level = int(key) if isinstance(key, str) and re.fullmatch(r"\d{1,6}", key) else key
            if level in read:
                raise ValueError(f"level {level} stands twice; keep one")
            read[level] = text
        return read

    @model_validator(mode="after")
    def _is_whole(self) -> Dimension:
        if self.kind == "pairwise":
            if self.anchors or self.scale:
                raise ValueError("a pairwise criterion has no scale; drop anchors and scale")
            return self
        levels = self.levels
        if len(levels) < 2:
            raise ValueError("has fewer than two levels; describe each level under anchors")
        for level in self.anchors:
            if level not in levels:
                raise ValueError(f"anchor {level} is no level of the scale {span(levels)}")
        if not self.anchors:
            raise ValueError("has no anchors; describe what can be observed at each level")
        wanted = self.evidence.required_at
        for level in [] if wanted == "all" else wanted:
            if level not in levels:
                raise ValueError(f"required_at names {level}, no level of {span(levels)}")
        if self.prompt is not None:
            _check_prompt(self.prompt)
        return self

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels, lowest first; empty for a pairwise criterion."""
        return tuple(sorted(self.scale or self.anchors))

    @property
    def evidence_at(self) -> frozenset[int]:
        """The levels at which a verdict has to show something."""
        if self.evidence.kind == "none":
            return frozenset()
        wanted = self.evidence.required_at
        return frozenset(self.levels if wanted == "all" else wanted)


class Rubric(BaseModel):
    """A named set of dimensions."""

    model_config = FROZEN

    name: Name
    version: StrictStr = "1"
    note: StrictStr | None = None
    dimensions: Annotated[list[Dimension], Field(min_length=1)]

    @field_validator("dimensions")
    @classmethod
    def _no_name_twice(cls, value: list[Dimension]) -> list[Dimension]:
        names = [(one.name, one.kind) for one in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f'dimension "{name[0]}" stands twice; rename one')
        return value

    def absolute(self) -> list[Dimension]:
        """The dimensions that are scored on a scale."""
        return [one for one in self.dimensions if one.kind == "absolute"]

    def pairwise(self) -> list[Dimension]:
        """The criteria by which two answers are compared."""
        return [one for one in self.dimensions if one.kind == "pairwise"]


def span(levels: tuple[int, ...]) -> str:
    """Levels as people say them: "1 to 4", or a list where some are left out."""
    if levels == tuple(range(levels[0], levels[-1] + 1)):
        return f"{levels[0]} to {levels[-1]}"
    return ", ".join(map(str, levels))


def _from_common_shape(value: dict[str, Any]) -> dict[str, Any]:
    criterion = value.pop("criterion", None)
    if isinstance(criterion, str):
        if "name" not in value and re.fullmatch(r"[\w.-]{1,80}", criterion):
            value["name"] = criterion
        value.setdefault("definition", criterion)
    name = value.get("name")
    if "layer" not in value and name in LAYERS:
        value["layer"] = name
    evidence = value.get("evidence")
    if isinstance(evidence, str):
        value["evidence"] = evidence = {"kind": evidence}
    if "output" in value:
        names = _reply_names(value.pop("output"))
        value.setdefault("reply", names)
        if names.get("claim") is not None:
            evidence = value.setdefault("evidence", {"kind": "quote"})
    if isinstance(evidence, dict) and evidence.get("kind") == "quote":
        value["evidence"] = evidence = dict(evidence)
        # A clean top score has nothing to quote.
        if "required_at" not in evidence:
            below = _below_top(value)
            if below:
                evidence["required_at"] = below
    return value


def _below_top(value: dict[str, Any]) -> list[int]:
    try:
        levels = sorted(int(one) for one in _levels(value.get("scale")) or value.get("anchors", {}))
    except (TypeError, ValueError):
        return []
    return levels[:-1]


def _levels(value: Any) -> Any:
    if value is None:
        return ()
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d{1,3})\s*(?:-|\u2013|to|\.\.)\s*(\d{1,3})\s*", value)
        if found is None:
            raise ValueError(f'"{value}" is no scale; write it like 1-4 or [1, 4]')
        value = [int(found[1]), int(found[2])]
    if isinstance(value, list | tuple) and all(type(one) is int for one in value):
        if len(value) == 2:
            low, high = value
            if not 0 <= low < high <= 100:
                raise ValueError(f"{low} to {high} is no scale; the lower level comes first")
            return tuple(range(low, high + 1))
        if len(set(value)) != len(value):
            raise ValueError("names a level twice; keep one")
        return tuple(value)
    return value


_SCORE_NAMES = ("score", "rating", "grade", "level")
_WHY_NAMES = ("justification", "reason", "reasoning", "rationale", "explanation", "why", "note")
_CLAIM_NAMES = ("offending_claim", "offending_span", "offending_quote", "claim", "quote", "span")


def _reply_names(output: Any) -> dict[str, Any]:
    """The names of the reply's fields, from any way in which people write an output down."""
    if isinstance(output, dict | list):
        names = [str(name) for name in output]
    else:
        names = re.findall(r"[A-Za-z_]\w*", str(output))

    def first(known: tuple[str, ...]) -> str | None:
        return next((name for name in names if name in known), None)

    return {
        "score": first(_SCORE_NAMES) or "score",
        "justification": first(_WHY_NAMES) or "justification",
        "claim": first(_CLAIM_NAMES),
    }


def _check_prompt(prompt: str) -> None:
    known = (*TEXT_PLACEHOLDERS, *DATA_PLACEHOLDERS)
    named = _PLACEHOLDER.findall(prompt)
    for name in named:
        if name not in known:
            raise ValueError(f'the prompt holds "{{{{{name}}}}}", which is not defined.'
                             f"{did_you_mean(name, known)}")  # fmt: skip
    foreign = _FOREIGN.search(prompt)
    if foreign:
        raise ValueError(
            f'the prompt holds "{foreign[0]}"; placeholders are written {{{{name}}}}, so this '
            "would reach the judge as it stands"
        )
    if "anchors" not in named:
        raise ValueError("the prompt has no {{anchors}}, so the judge would not see the scale")
    if "reply" not in named:
        raise ValueError("the prompt has no {{reply}}, so the judge would not know how to answer")
    if not set(named) & {"inputs", *INPUTS}:
        raise ValueError("the prompt has no {{inputs}}, so the judge would be shown nothing")
