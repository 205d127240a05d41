"""Who judges: models with what is sent beside the messages, and the tape that they share.

May not ask anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.records.verdicts import SeatStamp

__all__ = ["DEFAULTS", "LARGER", "Judge", "Judges", "Judging", "as_judges", "cap_of", "capped",
           "tape_at", "with_tape"]  # fmt: skip

DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 1024}
LARGER = 4
"""By how much the cap on tokens grows when a reply was cut."""

_CAPS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Judge:
    """A model with what is sent beside the messages."""

    model: ChatModel
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULTS))

    def stamp(self) -> SeatStamp:
        """Who sits here, and how it is asked."""
        return SeatStamp(
            model=self.model.name, endpoint=self.model.endpoint, parameters=dict(self.parameters)
        )


@dataclass(frozen=True, slots=True)
class Judges:
    """The models that may sit on a panel, in order.

    Attributes
    ----------
    models : tuple of Judge
        Seat `i` of a panel is the model `i`, from the first again where there are fewer.
    allow_same_model : bool
        Whether the agent's own model may judge; it is then said so on every row.
    meter : Meter or None
        What all of them spent together.
    """

    models: tuple[Judge, ...]
    allow_same_model: bool = True
    meter: Meter | None = None


Judging = Judges | Judge | ChatModel | Sequence[Judge | ChatModel]


def as_judges(judges: Judging) -> Judges:
    """Judges from whatever names them: a bare model is asked at temperature 0.

    Raises
    ------
    ConfigError
        If there is none.
    """
    if isinstance(judges, Judges):
        return judges
    each = list(judges) if isinstance(judges, Sequence) else [judges]
    if not each:
        raise ConfigError("no judge is named; give a model")
    return Judges(tuple(one if isinstance(one, Judge) else Judge(one) for one in each))


def cap_of(parameters: Mapping[str, Any]) -> int | None:
    """The cap on a reply's tokens; None where none is sent."""
    return next((parameters[name] for name in _CAPS if name in parameters), None)


def capped(parameters: Mapping[str, Any], cap: int | None) -> dict[str, Any]:
    """The same parameters with another cap, under the name that they have for it."""
    name = next((one for one in _CAPS if one in parameters), _CAPS[0])
    return {**parameters, name: cap} if cap is not None else dict(parameters)


def tape_at(path: Path, judges: Judges) -> Tape:
    """The tape at a path: the judges' own where it is the same file, since two would tear it."""
    for judge in judges.models:
        tape = getattr(judge.model, "tape", None)
        if isinstance(tape, Tape) and tape.path.resolve() == path.resolve():
            return tape
    return Tape(path)


def with_tape(judges: Judges, tape: Tape) -> Judges:
    """The same judges, with served models that had no tape writing on this one themselves.

    A reply is then on the tape before it leaves the engine, whatever becomes of the caller.
    """
    taped: dict[int, ChatModel] = {}
    for one in judges.models:
        model = one.model
        if isinstance(model, OpenAIModel) and model.tape is None and id(model) not in taped:
            # One for all that it sits as: a model keeps one pace.
            taped[id(model)] = model.with_tape(tape)
    return replace(
        judges,
        models=tuple(
            replace(one, model=taped.get(id(one.model), one.model)) for one in judges.models
        ),
    )
