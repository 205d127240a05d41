"""Lines of ours from what files say: each value read strictly, each complaint with its line.

May not know a format: each format's own module does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from agenteval_kit.errors import ConfigError, Problems, did_you_mean
from agenteval_kit.labels.folder import checked_rater
from agenteval_kit.labels.reading import CLOCK_AHEAD
from agenteval_kit.labels.said import CANNOT_TELL, Said, Wanted, is_missing
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.records.rubrics import span

__all__ = ["make_rows"]

_CANNOT_TELL = frozenset({CANNOT_TELL, "cannot_tell", "can't tell", "can not tell"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}(?:[.,]0+)?")
# Each near name of an unknown case is looked for among all cases of the run.
_NEAR_NAMES = 10
# What a control of Label Studio answers, as its tables and JSON-MIN hold it.
_CONTROLS = {"rating", "number", "choices"}


def make_rows(
    said: Iterable[Said], *, file: str, origin: str, wanted: Wanted, problems: Problems
) -> list[tuple[int, LabelRow]]:
    """Lines of ours with the lines that they came from; every complaint goes into `problems`.

    A label whose score is missing is no label: its words, if it has any, stay as a note.
    """
    making = _Making(file, origin, wanted)
    try:
        return [(one.line, row) for one in said if (row := making.row(one)) is not None]
    finally:
        making.tell(problems)


class _Wrong(Exception):
    pass


class _Making:
    def __init__(self, file: str, origin: str, wanted: Wanted) -> None:
        self.file, self.origin, self.wanted = file, origin, wanted
        self.items = None if wanted.items is None else frozenset(wanted.items)
        self.cases = frozenset(case for case, _ in self.items or ())
        self.draws = {
            (name, item.case_id, item.repeat): {
                "sample": name,
                "design": sample.design,
                "purpose": sample.purpose,
                "stratum": item.stratum,
                "inclusion": item.inclusion,
            }
            for name, sample in wanted.samples.items()
            for item in sample.items
        }
        self.near: dict[str, str] = {}
        self.raters: dict[str, str] = {}
        # Each wording once, with its first line and how many more: a column of 100,000 bad cells
        # is one complaint.
        self.complaints: dict[str, list[int]] = {}
        self.misfits = Problems()

    def tell(self, problems: Problems) -> None:
        try:
            self.misfits.raise_any()
        except ConfigError as error:
            for problem in error.problems:
                self.complain(problem.message, problem.line or 0)
        for message, lines in self.complaints.items():
            rest = len(lines) - 1
            more = f" (and {rest} more like it)" if rest else ""
            problems.add(message + more, file=self.file, line=lines[0])

    def complain(self, message: str, line: int) -> None:
        self.complaints.setdefault(message, []).append(line)

    def row(self, one: Said) -> LabelRow | None:
        kind = one.kind
        if kind == "label" and is_missing(one.score):
            kind = "note"
        if kind == "note" and not one.note:
            return None
        readers: dict[str, Callable[[Said], Any]] = {
            "run": self._run,
            "case_id": self._case,
            "repeat": self._repeat,
            "rater": self._rater,
            "at": self._at,
        }
        if kind == "label":
            readers["score"] = self._score
        read: dict[str, Any] = {}
        for name, reader in readers.items():
            try:
                read[name] = reader(one)
            except _Wrong as error:
                self.complain(one.where + str(error), one.line)
        if len(read) < len(readers):
            return None
        if self.items is not None and (read["case_id"], read["repeat"]) not in self.items:
            # The case is named already.
            self.complain(self._unknown(read["case_id"], read["repeat"]), one.line)
            return None
        levels = self.wanted.levels.get(one.dimension, ()) if kind == "label" else ()
        sample = one.more.get("sample") or self.wanted.sample
        return parse_record(
            LabelRow,
            {
                "design": self.wanted.design,
                "transcript_digest": self.wanted.texts.get((read["case_id"], read["repeat"]), ""),
                "origin": self.origin,
                **{name: value for name, value in one.more.items() if name != "run"},
                # The sample itself knows best what a column was typed from.
                **self.draws.get((sample, read["case_id"], read["repeat"]), {}),
                **read,
                "undated": is_missing(one.at),
                "kind": kind,
                "dimension": one.dimension,
                "levels": levels,
                "note": one.note,
            },
            file=self.file,
            line=lambda _: one.line,
            what="label",
            problems=self.misfits,
        )

    def _run(self, one: Said) -> str:
        run = one.more.get("run", self.wanted.run)
        if run != self.wanted.run:
            raise _Wrong(
                f'is of run "{run}"; labels of "{self.wanted.run}" were wanted: import each run '
                "apart"
            )
        return self.wanted.run

    def _case(self, one: Said) -> str:
        value = one.case_id
        if type(value) is int:
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise _Wrong(
                f"case_id holds {_shown(value)}; a case id was wanted as text, as the run has it"
            )
        return value

    def _unknown(self, case_id: str, repeat: int) -> str:
        if case_id in self.cases:
            return f'case "{case_id}" has no repeat {repeat} in the run; repeats count from 0'
        if case_id not in self.near:
            few = len(self.near) < _NEAR_NAMES
            self.near[case_id] = did_you_mean(case_id, self.cases) if few else ""
        return f'the run has no case "{case_id}".{self.near[case_id]}'

    def _repeat(self, one: Said) -> int:
        value = one.repeat
        if is_missing(value):
            return 0
        if type(value) is float and value.is_integer():
            value = int(value)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(?:\.0+)?", value.strip()):
            value = int(value.strip().partition(".")[0])
        if type(value) is not int or value < 0:
            raise _Wrong(f"repeat holds {_shown(value)}; a whole number from 0 was wanted")
        return value

    def _rater(self, one: Said) -> str:
        value = str(one.rater) if type(one.rater) is int else one.rater
        if not isinstance(value, str) or not value.strip():
            remedy = (
                "the export has to say who answered"
                if one.where
                else "fill it in, or leave the column out and name the rater (--rater)"
            )
            raise _Wrong(f"rater holds {_shown(value)}; a name was wanted: {remedy}")
        name = self.wanted.ours(value.strip())
        if name not in self.raters:
            try:
                checked_rater(name)
                self.raters[name] = ""
            except ConfigError as error:
                self.raters[name] = f"{error}; give another name with --map"
        if self.raters[name]:
            raise _Wrong(self.raters[name])
        return name

    def _at(self, one: Said) -> str:
        value = one.at.isoformat() if isinstance(one.at, datetime) else one.at
        if is_missing(value):
            return self.wanted.now
        try:
            when = datetime.fromisoformat(value.strip())
        except (AttributeError, ValueError):
            when = None
        if when is None or when.tzinfo is None:
            raise _Wrong(
                f"at holds {_shown(value)}; a time with its zone was wanted, like "
                "2026-03-31T14:05:00Z"
            )
        try:
            when = when.astimezone(UTC)
        except OverflowError:
            raise _Wrong(f"at holds {_shown(value)}, which is no time of this calendar") from None
        if when > datetime.fromisoformat(self.wanted.now) + CLOCK_AHEAD:
            raise _Wrong(
                f"at holds {_shown(value)}, which is more than a day ahead of the clock here"
            )
        return when.replace(tzinfo=None).isoformat() + "Z"

    def _score(self, one: Said) -> int | None:
        levels = self.wanted.levels.get(one.dimension)
        if levels is None and self.wanted.levels:
            raise _Wrong(
                f'"{one.dimension}" is no dimension of the rubric.'
                f"{did_you_mean(one.dimension, self.wanted.levels)}"
            )
        value = _unpacked(one.score)
        if isinstance(value, str):
            value = self.wanted.mapping.get(value.strip(), value.strip())
        if isinstance(value, str):
            if value.lower().replace("\u2019", "'") in _CANNOT_TELL:
                return None
            if _WHOLE.fullmatch(value):
                value = int(re.split("[.,]", value)[0])
        elif type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is int and (levels is None or value in levels):
            return value
        wanted = f"a level ({span(levels)})" if levels else "a whole number"
        text = str(one.score).strip()
        known = isinstance(one.score, str) and not re.search(r"[0-9]", text)
        remedy = f'; say which level it is with --map "{text}=N"' if known else ""
        raise _Wrong(
            f'{one.place or "score"} holds {_shown(one.score)}; {wanted} or "{CANNOT_TELL}" was '
            f"wanted{remedy}"
        )


def _unpacked(value: Any) -> Any:
    """The one value of a list or of a control of Label Studio, which its tables hold as JSON."""
    if isinstance(value, str) and value.startswith(("[{", '{"')):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    for _ in range(3):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and len(value) == 1 and set(value) <= _CONTROLS:
            value = next(iter(value.values()))
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
