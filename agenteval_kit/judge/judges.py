"""Who judges: models with their parameters, who sits on which seat, and the digest of it all.

May not ask anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.files import digest
from agenteval_kit.judge.prompt import SPECIMEN, build_messages, reply_schema
from agenteval_kit.models.chat import ChatModel
from agenteval_kit.models.limits import Limits, Meter
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.served import served_model
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import Dimension, JudgeSpec
from agenteval_kit.records.verdicts import SeatStamp

__all__ = ["CAPS", "DEFAULTS", "Judge", "Judges", "as_judges", "judge_digest",
           "judge_name", "load_judges", "panel_of", "seats_independent", "with_tape"]  # fmt: skip

CAPS = ("max_tokens", "max_completion_tokens")
DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 1024}


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


def load_judges(
    spec: JudgeSpec | Sequence[str] | str,
    *,
    tape: Tape | None = None,
    limits: Limits | None = None,
    max_concurrency: int = 32,
    timeout: float = 120.0,
) -> Judges:
    """The judges that a suite or a command line names, ready for `judge_run`.

    Parameters
    ----------
    spec : JudgeSpec, or names
        ``suite.spec.judge``, or model names as on the command line.
    tape : Tape, optional
        Where their replies are kept and looked for first; `judge_run` uses the run's own where
        none is given.
    limits : Limits, optional
        What all of them together may spend.
    max_concurrency : int
        Requests in flight at most, of each model.
    timeout : float
        Seconds for one request.

    Raises
    ------
    ConfigError
        If no model is named, or the variable of a base URL is not set.
    """
    if not isinstance(spec, JudgeSpec):
        names = [spec] if isinstance(spec, str) else list(spec)
        if not names:
            raise ConfigError("no judge is named; give --judge MODEL, or judge: in the suite")
        spec = JudgeSpec.model_validate({"models": names})
    meter = Meter(limits)
    made: list[Judge] = []
    for seat in spec.models:
        model = served_model(
            seat.name,
            "the judge",
            base_url=seat.base_url,
            base_url_env=seat.base_url_env,
            api_key_env=seat.api_key_env,
            tape=tape,
            timeout=timeout,
            max_concurrency=max_concurrency,
            meter=meter,
        )
        made.append(Judge(model, _parameters({**spec.parameters, **seat.parameters})))
    return Judges(tuple(made), spec.allow_same_model, meter)


def as_judges(judges: Judges | Judge | ChatModel | Sequence[Judge | ChatModel]) -> Judges:
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


def with_tape(judges: Judges, tape: Tape) -> Judges:
    """The same judges, with served models that had no tape writing on this one themselves.

    A reply is then on the tape before it leaves the engine, whatever becomes of the caller.
    """
    return replace(
        judges,
        models=tuple(
            replace(one, model=one.model.with_tape(tape))
            if isinstance(one.model, OpenAIModel) and one.model.tape is None
            else one
            for one in judges.models
        ),
    )


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    made = {**DEFAULTS, **given}
    if "max_completion_tokens" in given and "max_tokens" not in given:
        del made["max_tokens"]
    # Null takes a default out: for models that have no such parameter.
    return {name: value for name, value in made.items() if value is not None}


def panel_of(dimension: Dimension, judges: Judges) -> tuple[Judge, ...]:
    """Who sits on the seats of one dimension."""
    models = judges.models
    return tuple(models[seat % len(models)] for seat in range(dimension.panel))


def seats_independent(panel: Sequence[Judge]) -> bool:
    """Whether no model sits twice at temperature 0, where it would say the same twice."""
    kinds = [
        (one.model.name, one.model.endpoint)
        for one in panel
        if not one.parameters.get("temperature", 1)
    ]
    return len(set(kinds)) == len(kinds)


def judge_name(panel: Sequence[Judge]) -> str:
    """The models of a panel, each once, with the number of its seats where it has several."""
    names = [one.model.name for one in panel]
    return " + ".join(
        name if names.count(name) == 1 else f"{name} ×{names.count(name)}"
        for name in dict.fromkeys(names)
    )


def judge_digest(dimension: Dimension, panel: Sequence[Judge], *, clock: str | None) -> str:
    """Digest of everything that can change a verdict but the transcript.

    It is taken over the prompt as it is rendered, so a letter of the template, of the definition
    or of an anchor changes it, and another dimension's text never does.
    """
    transcript, item = SPECIMEN
    return digest(
        {
            "prompt": list(build_messages(dimension, transcript, item, clock=None)),
            "schema": reply_schema(dimension),
            "scale": list(dimension.levels),
            "evidence": [dimension.evidence.kind, sorted(dimension.evidence_at)],
            "seats": [one.stamp().model_dump() for one in panel],
            "clock": clock,
        }
    )
