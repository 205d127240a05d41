"""Reads a bar from its file, with every complaint at its line.

May not apply it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import digest, file_digest, read_yaml
from agenteval_kit.records.bars import Bar
from agenteval_kit.records.parsing import parse_record

__all__ = ["LoadedBar", "load_bar", "loaded"]


@dataclass(frozen=True, slots=True)
class LoadedBar:
    """A bar with the stamps of where it came from.

    Attributes
    ----------
    bar : Bar
        The clauses.
    digest : str
        Over the file's text (a bar changed by one character is another version), or over the
        content of a bar that was made in code.
    file : str
        As the person named it; empty for a bar made in code.
    """

    bar: Bar
    digest: str
    file: str = ""

    @property
    def name(self) -> str:
        """The bar's own name, else its file's."""
        return self.bar.name or Path(self.file).stem or "unnamed"


def load_bar(path: Path) -> LoadedBar:
    """Read a release bar.

    Raises
    ------
    ConfigError
        All problems of the file at once: not YAML, an unknown key, a threshold that is no number
        or outside its scale, or a bar without a clause.
    """
    document = read_yaml(path)
    problems = Problems()
    bar = parse_record(
        Bar,
        {} if document.value is None else document.value,
        file=str(path),
        line=lambda loc: document.line(*loc),
        what="bar",
        problems=problems,
    )
    problems.raise_any()
    assert bar is not None
    return loaded(LoadedBar(bar, file_digest(path), str(path)))


def loaded(bar: Bar | LoadedBar) -> LoadedBar:
    """A bar with its stamps, whichever way it came.

    Raises
    ------
    ConfigError
        If it has no clause: everything would pass it.
    """
    if isinstance(bar, Bar):
        bar = LoadedBar(bar, digest(bar.model_dump(mode="json")))
    if bar.bar.empty:
        raise ConfigError(
            Problem(
                "the bar names no clause, so every run would pass it; add at least one of "
                "hard_layers, critical, pass_rate, mean, never, win_rate, no_worse",
                bar.file or None,
                1 if bar.file else None,
            )
        )
    return bar
