"""A played user from a recording: what the model said for it, without the model.

May not ask anything.
"""

from __future__ import annotations

from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.models.tape import Tape, TapeModel

__all__ = ["replay_user"]


def replay_user(tape: str | Path | None, *, name: str | None = None) -> TapeModel | None:
    """The model that played the users when a tape was made, for ``run_suite(user_model=...)``.

    Parameters
    ----------
    tape : path or None
        None gives None, and the suite's own simulator is asked.
    name : str, optional
        The model's name; by default that of the tape's first row.

    Raises
    ------
    ConfigError
        If there is no such tape.
    """
    if tape is None:
        return None
    if not Path(tape).is_file():
        raise ConfigError(Problem("there is no such tape", str(tape)))
    return TapeModel(Tape(tape), name=name)
