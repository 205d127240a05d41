"""Pairs from JSON Lines: `input, criterion, candidate_a, candidate_b`, one object a line.

May not know of runs: rows and replies go to a folder that the caller names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import digest, read_jsonl
from agenteval_kit.models.asking import JudgeProgress
from agenteval_kit.models.bench import Judging, as_judges, tape_at, with_tape
from agenteval_kit.models.tape import Tape
from agenteval_kit.pairwise.compare import ask_pairs, result_of, stamp_of
from agenteval_kit.pairwise.instrument import Instrument, make_instruments
from agenteval_kit.pairwise.pairs import Pair
from agenteval_kit.pairwise.pending import Versions
from agenteval_kit.pairwise.result import PairwiseResult
from agenteval_kit.pairwise.shown import ShownPair
from agenteval_kit.pairwise.tally import measured
from agenteval_kit.pairwise.work import PairwiseEstimate, Wanted
from agenteval_kit.records import Dimension
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.runs import RunWriter
from agenteval_kit.runs.preferences import read_preferences
from agenteval_kit.shown import quoted, reads_like_an_order

__all__ = ["PairLine", "compare_lines", "read_pairs"]


class PairLine(BaseModel):
    """One pair as it is written.

    Attributes
    ----------
    id : str or None
        By default the number of the line.
    input : object
        What both answered: text as it is, anything else as JSON.
    criterion : str
        The name of a criterion that is given, or its text.
    candidate_a, candidate_b : object
        The old side and the new one; null is a missing side.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    repeat: Annotated[StrictInt, Field(ge=0)] = 0
    input: Any
    criterion: Annotated[StrictStr, Field(min_length=1)]
    candidate_a: Any
    candidate_b: Any
    expected_outcome: StrictStr | None = None
    rubric: StrictStr | None = None


def read_pairs(path: str | Path) -> list[PairLine]:
    """The pairs of a JSON Lines file; those without an id are named after their line.

    Raises
    ------
    ConfigError
        All problems of the file at once: an unknown key, a missing one, an id with the same
        criterion and repeat twice, no pair at all.
    """
    file = Path(path)
    problems = Problems()
    found: list[PairLine] = []
    seen: dict[tuple[str, int, str], int] = {}
    for row in read_jsonl(file):
        made = parse_record(
            PairLine, row.value, file=str(file), line=lambda _, at=row.line: at,  # type: ignore[misc]
            what="pair", problems=problems,
        )  # fmt: skip
        if made is None:
            continue
        named = made.id or f"line-{row.line:04d}"
        key = (named, made.repeat, made.criterion)
        if key in seen:
            problems.add(
                f'pair "{named}" stands twice, first on line {seen[key]}; give each its own id, or '
                "a repeat number",
                file=file,
                line=row.line,
            )
        seen.setdefault(key, row.line)
        found.append(made.model_copy(update={"id": named}))
    problems.raise_any()
    if not found:
        raise ConfigError(Problem("nothing was compared: the file holds no pair", str(file)))
    return found


def compare_lines(
    pairs: Sequence[PairLine] | str | Path,
    judges: Judging,
    *,
    out: str | Path,
    criteria: Sequence[Dimension] = (),
    names: tuple[str, str] = ("candidate_a", "candidate_b"),
    confirm: Callable[[PairwiseEstimate], bool] | None = None,
    progress: Callable[[JudgeProgress], None] | None = None,
    tape: Tape | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> PairwiseResult:
    """Which of two candidates is preferred, line by line; the same call resumes.

    As `compare_runs`, with ``candidate_a`` in the place of the old run and ``candidate_b`` in that
    of the new one; the win rate is that of ``candidate_b``.

    Parameters
    ----------
    pairs : sequence of PairLine, or path
        From `read_pairs`, or the file.
    judges
        As in `compare_runs`.
    out : path
        The folder for rows (``preferences.jsonl``) and replies (``calls.jsonl``).
    criteria : sequence of Dimension, optional
        Criteria that lines name; a line that names none of them holds the criterion's text.
    names : tuple of str
        What the two candidates are called in the rows.
    confirm, progress, tape, level, draws, seed
        As in `compare_runs`.

    Raises
    ------
    ConfigError
        If the file or a criterion cannot be read, or a key or a model name is refused.
    """
    lines = read_pairs(pairs) if isinstance(pairs, str | Path) else list(pairs)
    folder = Path(out)
    by_text = {line.criterion: _criterion(line.criterion, criteria) for line in lines}
    judges = as_judges(judges)
    tape = tape or tape_at(folder / "calls.jsonl", judges)
    judges = with_tape(judges, tape)
    instruments = make_instruments(list(by_text.values()), judges, clock=None, agents={})
    versions = Versions(*names)
    source = _FromLines(lines, by_text, instruments, versions)
    torn: list[str] = []
    there = {row.key: row.flags for row in read_preferences(folder, warn=torn)}
    writer = RunWriter(folder)
    try:
        stamps = [
            stamp_of(one, versions, wanted=source.count(one.criterion)) for one in instruments
        ]
        writer.add_comparisons(stamps)
        asked = ask_pairs(
            source,
            there,
            judges,
            total=sum(1 for _ in source.pairs()),
            tape=tape,
            writer=writer,
            confirm=confirm,
            progress=progress,
        )
    finally:
        writer.close()
    found = measured(read_preferences(folder, warn=[]), stamps, level=level, draws=draws, seed=seed)
    return result_of(asked, found, (*torn, *tape.warnings, *writer.warnings))


@dataclass(frozen=True, slots=True)
class _FromLines:
    lines: Sequence[PairLine]
    by_text: dict[str, Dimension]
    instruments: Sequence[Instrument]
    versions: Versions

    def pairs(self) -> Iterator[Wanted]:
        for line in self.lines:
            assert line.id is not None  # read_pairs names every line
            criterion = self.by_text[line.criterion]
            for instrument in self.instruments:
                if instrument.criterion is criterion:
                    make = partial(_pair, line, line.id)
                    yield Wanted(instrument, self.versions, line.id, line.repeat, make)

    def count(self, criterion: Dimension) -> int:
        """How many lines are compared by a criterion."""
        return sum(self.by_text[line.criterion] is criterion for line in self.lines)


def _pair(line: PairLine, case_id: str) -> Pair:
    sides = (line.candidate_a, line.candidate_b)
    gone = [name for name, side in zip(("candidate_a", "candidate_b"), sides, strict=True)
            if side is None]  # fmt: skip
    if gone:
        return Pair(
            case_id, line.repeat, reason=f"missing: {' and '.join(gone)}", flags=("missing",)
        )
    old, new = (_text(side) for side in sides)
    request = {"question": quoted(_text(line.input))}
    for name in ("expected_outcome", "rubric"):
        said = getattr(line, name)
        if said:
            request[name] = quoted(said)
    flags = ("instruction_in_candidate",) if any(map(reads_like_an_order, (old, new))) else ()
    if old == new:
        return Pair(
            case_id, line.repeat, outcome="tie", reason="identical outputs",
            flags=("identical", *flags),
        )  # fmt: skip
    shown = ShownPair(request, tuple(_shown(old)), tuple(_shown(new)))
    return Pair(case_id, line.repeat, shown, (old, new), flags=flags)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _shown(text: str) -> list[str]:
    return quoted(text) if text else ["(no text)"]


def _criterion(text: str, criteria: Sequence[Dimension]) -> Dimension:
    for one in criteria:
        if one.name == text:
            return one
    name = text if re.fullmatch(r"[\w.-]{1,80}", text) else f"criterion-{digest(text)}"
    try:
        return Dimension(name=name, kind="pairwise", layer="outcome", definition=text)
    except ValueError as error:
        reason = str(error).splitlines()[2].strip()
        raise ConfigError(f'criterion "{text[:60]}" cannot be used: {reason}') from None
