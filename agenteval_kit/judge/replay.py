"""Judges that are asked, or that answer from a recording: whatever a notebook or a command names.

May not ask anything itself. A recording needs no key, no server and no address.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.judge.judges import load_judges
from agenteval_kit.models.bench import Judge, Judges
from agenteval_kit.models.limits import Limits
from agenteval_kit.models.tape import Tape, TapeModel
from agenteval_kit.records import JudgeSpec

__all__ = ["open_judges", "replay_judges"]


def open_judges(
    spec: JudgeSpec | Sequence[str] | str | None,
    *,
    base_url_env: str | None = None,
    replay: str | Path | None = None,
    limits: Limits | None = None,
) -> Judges:
    """The judges that a suite or a list names, or the same from a recording of them.

    Parameters
    ----------
    spec : JudgeSpec or names
        ``suite.spec.judge``, or model names.
    base_url_env : str, optional
        The environment variable that holds the address of their server; it goes before the
        address that the spec names.
    replay : path, optional
        A tape to answer from; nothing is asked then.
    limits : Limits, optional
        What all of them together may spend.

    Raises
    ------
    ConfigError
        If no judge is named, a variable is not set, or the tape holds no reply of one of them.
    """
    if spec is None or not spec:
        raise ConfigError("no judge is named; name models, or write judge: in the suite")
    if replay is not None:
        return replay_judges(spec, replay)
    if base_url_env is not None:
        spec = _as_spec(spec)
        seats = [seat.model_copy(update={"base_url_env": base_url_env}) for seat in spec.models]
        spec = spec.model_copy(update={"models": seats})
    return load_judges(spec, limits=limits)


def replay_judges(spec: JudgeSpec | Sequence[str] | str, tape: Tape | str | Path) -> Judges:
    """The judges of a spec, answering from a tape alone.

    Each stands where its replies were recorded, so the judge digests are those of the recording.
    A question that was not recorded is an error that says what differs, not a call.

    Raises
    ------
    ConfigError
        If there is no tape, or it holds no reply of a judge that is named.
    """
    if not isinstance(tape, Tape):
        if not Path(tape).is_file():
            raise ConfigError(Problem("there is no such tape", str(tape)))
        tape = Tape(tape)
    spec = _as_spec(spec)
    # Where they would be asked does not matter, so no variable has to be set.
    nowhere = {"base_url": None, "base_url_env": None}
    seats = [seat.model_copy(update=nowhere) for seat in spec.models]
    named = load_judges(spec.model_copy(update={"models": seats}))
    recorded = _endpoints(tape)
    for judge in named.models:
        if judge.model.name not in recorded:
            known = did_you_mean(judge.model.name, recorded)
            raise ConfigError(
                Problem(f'holds no reply of judge "{judge.model.name}".{known}', str(tape.path))
            )
    return Judges(
        tuple(
            Judge(
                TapeModel(tape, name=judge.model.name, endpoint=recorded[judge.model.name]),
                judge.parameters,
            )
            for judge in named.models
        ),
        named.allow_same_model,
    )


def _as_spec(spec: JudgeSpec | Sequence[str] | str) -> JudgeSpec:
    if isinstance(spec, JudgeSpec):
        return spec
    return JudgeSpec.model_validate({"models": [spec] if isinstance(spec, str) else list(spec)})


def _endpoints(tape: Tape) -> dict[str, str]:
    """By model: where it was asked when the tape was made."""
    found: dict[str, str] = {}
    for row in tape.rows():
        found.setdefault(str(row.get("model")), str((row.get("parts") or {}).get("endpoint", "")))
    return found
