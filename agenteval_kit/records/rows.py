"""The rows that instruments write: one check of one case and repeat.

May not compute: a row is what a check found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CheckRow"]


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What one check found in one transcript.

    Attributes
    ----------
    case_id, repeat
        Which transcript.
    layer : str
        outcome, trajectory, grounding, policy, conversation or a name of one's own.
    name : str
        The check, unique within a case: ``expect.category``, ``must_include "30"``.
    passed : bool or None
        None is unscored; `why` says why.
    expected, received : str
        What was wanted and what came, as text.
    turn : int or None
        Where.
    why : str
        One sentence; empty for a plain pass.
    critical : bool
        A failure that no average may outvote: the case is critical, or the check is an invariant.
    """

    case_id: str
    repeat: int
    layer: str
    name: str
    passed: bool | None
    expected: str = ""
    received: str = ""
    turn: int | None = None
    why: str = ""
    critical: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The row as it is written: keys always in the same order."""
        return {
            "case_id": self.case_id,
            "repeat": self.repeat,
            "layer": self.layer,
            "name": self.name,
            "passed": self.passed,
            "expected": self.expected,
            "received": self.received,
            "turn": self.turn,
            "why": self.why,
            "critical": self.critical,
        }
