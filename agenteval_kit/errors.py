"""The errors that a person can meet, as one tree.

Nothing here may import the rest of the package.

::

    AgentEvalError
    ├── ConfigError            a file or an argument that a person can mend      exit code 2
    │   └── StampError         a score would stand without, or under a wrong, stamp
    ├── InfrastructureError    the provider or the network failed, not the agent exit code 3
    │   └── QuotaExhausted     no more calls now; the run stays resumable
    ├── BudgetReached          a limit on calls, tokens or money; resumable      exit code 3
    └── UserInterrupt          Ctrl-C; what arrived is kept; resumable           exit code 3
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "AgentEvalError",
    "BudgetReached",
    "ConfigError",
    "InfrastructureError",
    "Problem",
    "Problems",
    "QuotaExhausted",
    "StampError",
    "UserInterrupt",
    "did_you_mean",
]


class AgentEvalError(Exception):
    """Every error that this package raises on purpose derives from this one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in one place.

    Attributes
    ----------
    message : str
        What came, what was wanted, and the next step, in one or two sentences.
    file : str or None
        The file as the person named it.
    line : int or None
        Line in the file, counted from 1.
    """

    message: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        if not self.line:  # of what is not in the file yet, or of the whole
            return f"{self.file}: {self.message}"
        return f"{self.file}:{self.line}: {self.message}"


class ConfigError(AgentEvalError):
    """A configuration that a person can mend; nothing was scored.

    Parameters
    ----------
    problems : str or Problem or sequence of Problem
        All problems found, not just the first.
    """

    def __init__(self, problems: str | Problem | Sequence[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback: the words alone, as the terminal does."""
        return str(self).splitlines()


class StampError(ConfigError):
    """A score would stand without a stamp, or under the stamp of another version."""


class InfrastructureError(AgentEvalError):
    """The provider, the network or the machine failed; the agent is not to blame.

    An agent may raise it too, to say that its own back end was down.
    """


class QuotaExhausted(InfrastructureError):
    """The provider says that the quota is used up; asking again now would be wasted."""


class BudgetReached(AgentEvalError):
    """A limit on calls, tokens or money that a person set was reached; the run is resumable."""


class UserInterrupt(AgentEvalError):
    """A person stopped the run; all that had arrived is on disk and the run is resumable."""


class Problems:
    """Collects what is wrong, so that all of it is reported at once."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, message: str, *, file: str | Path | None = None, line: int | None = None) -> None:
        """Note one more problem."""
        self._found.append(Problem(message, None if file is None else str(file), line))

    def extend(self, error: ConfigError) -> None:
        """Note all problems of an error that was caught."""
        self._found.extend(error.problems)

    def __bool__(self) -> bool:
        return bool(self._found)

    def raise_any(self) -> None:
        """Raise one `ConfigError` with everything noted, or do nothing.

        Raises
        ------
        ConfigError
            If at least one problem was noted.
        """
        if self._found:
            raise ConfigError(self._found)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give the sentence that ends a complaint about an unknown name.

    Returns
    -------
    str
        `` Did you mean "x"?`` with a leading space when a known name is near, else the list of
        known names when it is short, else nothing.
    """
    options = sorted(known)
    near = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if near:
        return f' Did you mean "{near[0]}"?'
    if 0 < len(options) <= 12:
        return " Known: " + ", ".join(options) + "."
    return ""
