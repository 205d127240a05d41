"""One criterion and one judge: what is sent for a pair, and the digest of how it is asked.

May not send anything. Values are put in once and never read again as a template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agenteval_kit.errors import ConfigError, StampError
from agenteval_kit.files import digest
from agenteval_kit.models.bench import Judge, Judges, Judging, as_judges, capped
from agenteval_kit.models.chat import ChatModel, ChatRequest
from agenteval_kit.models.names import is_same_model
from agenteval_kit.models.template import check_placeholders, fill, placeholders
from agenteval_kit.pairwise.reply import REPLY, SCHEMA
from agenteval_kit.pairwise.shown import CANDIDATE_INPUTS, REQUEST_INPUTS, ShownPair, check_inputs
from agenteval_kit.records import AgentStamps, Dimension, Rubric
from agenteval_kit.rubrics import dimension_digest
from agenteval_kit.shown import block, quoted

__all__ = ["Instrument", "make_instruments", "refuse_same_model"]

_SPLIT = "<!-- data -->"
_NAMES = ("name", "definition", "not_rewarded", "reply", "inputs", "first", "second")
_NEEDED = ("definition", "reply", "first", "second")


@dataclass(frozen=True, slots=True)
class Instrument:
    """One criterion as one judge is asked for it.

    Attributes
    ----------
    judge_digest : str
        Over the rendered prompt, what is shown of a candidate, model, endpoint, parameters and
        clock. Not over the two versions: A against A is measured by the same instrument.
    """

    criterion: Dimension
    model: ChatModel
    parameters: Mapping[str, Any]
    clock: str | None
    judge_digest: str
    criterion_digest: str

    @property
    def judge(self) -> str:
        """The judge's name."""
        return self.model.name

    def request(
        self, pair: ShownPair, *, order: int, repeat: int, attempt: int, cap: int | None
    ) -> ChatRequest:
        """What to ask: in order 0 the old side stands first, in order 1 the new one."""
        return ChatRequest(
            model=self.model.name,
            endpoint=self.model.endpoint,
            messages=_messages(self.criterion, pair, order=order),
            schema=SCHEMA,
            parameters=capped(self.parameters, cap),
            repeat=repeat,
            order=order,
            attempt=attempt,
        )


def make_instruments(
    criteria: Dimension | Rubric | Sequence[Dimension],
    judges: Judging,
    *,
    clock: str | None,
    agents: Mapping[str, AgentStamps],
) -> list[Instrument]:
    """Every criterion with every judge; each is an instrument of its own, never blended.

    Raises
    ------
    ConfigError
        If there is no pairwise criterion, a criterion has a scale or a panel, a prompt names what
        nothing fills, or no judge is named, or one twice.
    StampError
        If an agent's own model would judge and the judges forbid it.
    """
    chosen = _criteria(criteria)
    found = as_judges(judges)
    each = _each_once(found)
    if not found.allow_same_model:
        for judge in each:
            refuse_same_model(judge.model.name, agents)
    return [_instrument(one, judge, clock) for one in chosen for judge in each]


def _each_once(judges: Judges) -> tuple[Judge, ...]:
    names = [(one.model.name, one.model.endpoint, str(one.parameters)) for one in judges.models]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f'judge "{name[0]}" is named twice; name it once')
    return judges.models


def refuse_same_model(name: str, agents: Mapping[str, AgentStamps]) -> None:
    """Refuse a judge that is the model of one of the agents.

    Raises
    ------
    StampError
        If it is.
    """
    for side, agent in agents.items():
        if is_same_model(name, agent):
            raise StampError(
                f'judge "{name}" is the model of the {side} agent ({agent.model}), and this suite '
                "says allow_same_model: false; name another judge"
            )


def _criteria(given: Dimension | Rubric | Sequence[Dimension]) -> list[Dimension]:
    if isinstance(given, Rubric):
        chosen = given.pairwise()
        if not chosen:
            raise ConfigError(
                f"rubric {given.name} has no pairwise criterion, so there is nothing to compare "
                "by; add one with kind: pairwise"
            )
    else:
        chosen = [given] if isinstance(given, Dimension) else list(given)
    if not chosen:
        raise ConfigError("no criterion is given, so there is nothing to compare by")
    for one in chosen:
        if one.kind != "pairwise":
            raise ConfigError(
                f'dimension "{one.name}" has a scale; to compare by it, write a criterion with '
                "kind: pairwise"
            )
        if one.panel > 1:
            raise ConfigError(
                f'criterion "{one.name}" wants a panel of {one.panel}; a comparison has none: '
                "drop panel, and name several judges to see each by itself"
            )
        check_inputs(one)
    return chosen


def _instrument(criterion: Dimension, judge: Judge, clock: str | None) -> Instrument:
    template = criterion.prompt or _template()
    what = f'the prompt of criterion "{criterion.name}"'
    check_placeholders(template, _NAMES, what=what)
    missing = [name for name in _NEEDED if name not in placeholders(template)]
    if missing:
        raise ConfigError(
            f"{what} has no {{{{{missing[0]}}}}}, and a judge cannot compare without it"
        )
    return Instrument(
        criterion=criterion,
        model=judge.model,
        parameters=dict(judge.parameters),
        clock=clock,
        criterion_digest=dimension_digest(criterion),
        judge_digest=digest(
            {
                "kind": "pairwise",
                "prompt": list(_messages(criterion, _specimen(criterion), order=0)),
                "shows": [name for name in CANDIDATE_INPUTS if name in criterion.inputs],
                "schema": SCHEMA,
                "model": judge.model.name,
                "endpoint": judge.model.endpoint,
                "parameters": dict(judge.parameters),
                "clock": clock,
            }
        ),
    )


def _specimen(criterion: Dimension) -> ShownPair:
    """One of everything that the criterion shows: the digest is taken over what it gives."""
    request = {"now": ["now"], "question": quoted("A question.")}
    request |= {name: quoted(name) for name in REQUEST_INPUTS if name in criterion.inputs}
    return ShownPair(request, tuple(quoted("One.")), tuple(quoted("Two.")))


@cache
def _template() -> str:
    return files("agenteval_kit").joinpath("prompts/pairwise.md").read_text(encoding="utf-8")


def _messages(criterion: Dimension, pair: ShownPair, *, order: int) -> tuple[dict[str, Any], ...]:
    first, second = (pair.old, pair.new) if order == 0 else (pair.new, pair.old)
    earns = [f"- {text}" for text in criterion.not_rewarded]
    values = {
        "name": criterion.name,
        "definition": criterion.definition.strip(),
        "not_rewarded": "\n".join(["These make neither candidate better:", *earns])
        if earns
        else "",
        "reply": REPLY,
        "inputs": pair.blocks(),
        "first": block("candidate_a", list(first)),
        "second": block("candidate_b", list(second)),
    }
    # Split before anything is put in: a transcript may hold the same mark.
    head, mark, tail = (criterion.prompt or _template()).partition(_SPLIT)
    if not mark:
        return ({"role": "user", "content": fill(head, values).strip()},)
    return (
        {"role": "system", "content": fill(head, values).strip()},
        {"role": "user", "content": fill(tail, values).strip()},
    )
