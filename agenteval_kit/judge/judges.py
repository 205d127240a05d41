"""The judges that a suite names, who of them sits on which seat, and the digest of it all.

May not ask anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.files import digest
from agenteval_kit.judge.prompt import SPECIMEN, build_messages, reply_schema
from agenteval_kit.models.bench import DEFAULTS, Judge, Judges
from agenteval_kit.models.limits import Limits, Meter
from agenteval_kit.models.served import served_model
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import Dimension, JudgeSpec

__all__ = ["judge_digest", "judge_name", "load_judges", "panel_of", "seats_independent"]


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
