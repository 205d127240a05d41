"""A transcript with the line that it was read from, on its way from a format to the caller.

May not read anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from agenteval_kit.records import Transcript

__all__ = ["Placed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """What a format's reader hands on.

    Attributes
    ----------
    transcript : Transcript
    line : int
        Where it starts, from 1.
    model_served : str or None
        The model that the recording names; it completes the stamps that a person gives.
    """

    transcript: Transcript
    line: int
    model_served: str | None = None
