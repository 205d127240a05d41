"""What the exports of labelling tools have in common: a transcript's place, and who says what.

May not know a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.labels.said import Said, Wanted

__all__ = ["Export", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """The transcript that an entry of an export is about, and the line that it starts on."""

    line: int
    case_id: Any
    repeat: Any


@dataclass
class Export:
    """One file being read: which names were met, and which of them are dimensions."""

    file: Path
    wanted: Wanted
    problems: Problems
    met: dict[str, bool] = field(default_factory=dict)

    def wrong(self, message: str, line: int) -> None:
        """Note what is wrong with an entry."""
        self.problems.add(message, file=self.file, line=line)

    def place(self, fields: Mapping[str, Any], line: int, *, where: str) -> Place | None:
        """Where an entry belongs; None, and a complaint, where it does not say."""
        ours = {self.wanted.ours(name): value for name, value in fields.items()}
        if "case_id" not in ours:
            self.wrong(
                f"has no case_id in {where}; put the case ids there when the tasks are made, or "
                f"name the field that holds them with --map THEIRS=case_id. It has: "
                f"{', '.join(map(str, fields)) or 'nothing'}",
                line,
            )
            return None
        return Place(line, ours["case_id"], ours.get("repeat", 0))

    def role(self, name: str, line: int) -> tuple[str, str] | None:
        """What a control or question holds; a near miss of a dimension is complained of, once."""
        role = self.wanted.role(name)
        if name not in self.met and (role is None or role[0] == "score"):
            self.met[name] = role is not None
            near = "" if role else self.wanted.near(name)
            if near:
                self.wrong(f'"{name}" is no dimension. Did you mean "{near}"?', line)
        return role

    def answers(
        self,
        place: Place,
        answers: Iterable[tuple[str, Any]],
        *,
        rater: Any,
        at: Any = "",
        origin: str = "",
    ) -> list[Said]:
        """Labels and notes of what one rater answered on one transcript.

        A note on a dimension goes with its label, another one stands for the whole transcript.
        `origin` is for labels that have something to say of where they come from.
        """
        scores: dict[str, tuple[str, Any]] = {}
        notes: dict[str, list[str]] = {}
        for name, value in answers:
            role = self.role(name, place.line)
            if role is None:
                continue
            kind, dimension = role
            if kind == "note":
                texts = value if isinstance(value, list) else [value]
                notes.setdefault(dimension, []).extend(str(one) for one in texts if one)
            elif dimension in scores:
                self.wrong(
                    f'case {place.case_id}: "{name}" is answered twice by one rater; keep one',
                    place.line,
                )
            else:
                scores[dimension] = name, value
        said = [
            Said(
                place.line, place.case_id, rater, dimension, value, place=name,
                repeat=place.repeat, note="\n".join(notes.pop(dimension, [])), at=at,
                where=f"case {place.case_id}: ", more={"origin": origin} if origin else {},
            )
            for dimension, (name, value) in scores.items()
        ]  # fmt: skip
        said += [
            Said(
                place.line, place.case_id, rater, dimension, kind="note", repeat=place.repeat,
                note="\n".join(texts), at=at, where=f"case {place.case_id}: ",
            )
            for dimension, texts in notes.items()
        ]  # fmt: skip
        return said

    def skip(self, place: Place, *, rater: Any, at: Any = "") -> Said:
        """A transcript that a rater passed over."""
        return Said(place.line, place.case_id, rater, kind="skip", repeat=place.repeat, at=at)

    def check(self, what: str) -> None:
        """Refuse a file in which nothing that was answered is a dimension.

        Raises
        ------
        ConfigError
            With what was met and what was wanted.
        """
        if self.met and not any(self.met.values()) and not self.problems:
            raise ConfigError(
                Problem(
                    f"no {what} is a dimension: {', '.join(self.met)}; name it with "
                    f"--map THEIRS=OURS. Dimensions: {self.wanted.known()}",
                    str(self.file),
                )
            )
