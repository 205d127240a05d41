"""The way back: a record of a run, or an imported transcript, becomes a draft of a case.

May not count the draft: a person reads it, mends it and takes the mark off.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.importers import import_files
from agenteval_kit.places import find_place
from agenteval_kit.records import CheckRow, Checks, Transcript
from agenteval_kit.runs import Run
from agenteval_kit.runs.suites import find_suite_file
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.promote_draft import Drafting, Found
from agenteval_kit.suite.promote_expect import merged, own_words
from agenteval_kit.suite.promote_place import Place, hold_place, read_written
from agenteval_kit.suite.promote_shape import Step, as_case, as_scenario, is_conversation
from agenteval_kit.suite.reading import parse_clock
from agenteval_kit.suite.resources import load_resources
from agenteval_kit.visible import look_of

__all__ = ["Promotion", "promote_case"]


@dataclass(frozen=True, slots=True)
class Promotion:
    """A draft that was added to a suite, and whether it fails on what it came from.

    Attributes
    ----------
    record : mapping
        The draft as it was written.
    kind : str
        case or scenario.
    file : pathlib.Path
        Where it stands.
    line : int
        Its line.
    rows : tuple of CheckRow
        What the draft's own checks find in the transcript that it came from.
    notes : tuple of str
        What a person should know before the mark is taken off.
    """

    record: Mapping[str, Any]
    kind: str
    file: Path
    line: int
    rows: tuple[CheckRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The draft's id."""
        return str(self.record["id"])

    @property
    def fails(self) -> bool:
        """Whether a check of the draft fails on the transcript that it came from."""
        return any(row.passed is False for row in self.rows)

    def lines(self) -> list[str]:
        """What was written, and whether it would have caught the failure."""
        told = [f'{self.kind} "{self.id}", a draft: {self.file}:{self.line}']
        if self.fails:
            told += [f"  fails on {self.record['origin']}: {_told(row)}" for row in self._failed()]
        else:
            told.append(
                f"  does not fail on {self.record['origin']}: no check could be drafted of what "
                f"broke there ({self.record['broke']}); write what is right before you count it"
            )
        told += [f"  note: {note}" for note in self.notes]
        told.append(
            "  read it, mend what it expects, then remove its draft mark; until then it is not run"
        )
        return told

    def as_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "id": self.id,
            "kind": self.kind,
            "file": self.file.as_posix(),
            "line": self.line,
            "origin": self.record["origin"],
            "broke": self.record["broke"],
            "fails": self.fails,
            "rows": [row.as_dict() for row in self.rows],
            "notes": list(self.notes),
        }

    def _failed(self) -> list[CheckRow]:
        return [row for row in self.rows if row.passed is False]

    def _repr_html_(self) -> str:
        body = "".join(f"<li>{html.escape(line.strip())}</li>" for line in self.lines())
        return f"<ul>{body}</ul>"


def promote_case(
    source: Run | str | Path,
    case_id: str,
    *,
    layer: str,
    repeat: int = 0,
    suite: str | Path | None = None,
    name: str | None = None,
) -> Promotion:
    """Turn a record into a draft of a case, or of a scenario where the suite holds scenarios.

    What is expected is drafted from what was seen: each check of the layer that failed, narrowed
    to the entry that did; else what the reference actions of the case want; else what the kit
    looks for in that layer by itself. A conversation in a suite of cases becomes the thread up to
    the reply that broke, and is asked for that reply.

    Parameters
    ----------
    source : Run or path
        A run, its folder, or a file of imported transcripts.
    case_id : str
        Of the record.
    layer : str
        What broke.
    repeat : int
        Of the record.
    suite : path, optional
        Where the draft goes; by default the run's own suite.
    name : str, optional
        The draft's id; by default the case and the layer.

    Returns
    -------
    Promotion
        With `fails`, which says whether the draft fails on the transcript that it came from.

    Raises
    ------
    ConfigError
        If there is no such record or suite, the suite has nothing to add to, the record was
        promoted already, or the suite would refuse the draft.
    """
    transcript, origin, home = _find(source, case_id, repeat)
    target = find_place(suite) if suite is not None else home
    if target is None:
        raise ConfigError(
            f"{origin}: its suite is not here; say which suite the draft is for with --suite"
        )
    with hold_place(target) as place:
        _refuse_twice(place, origin, layer, name)
        written = place.written
        if home is not None and home.resolve() != target.resolve():
            written = read_written(home)
        item = next((one for one in written.items if one.id == case_id), None)
        wanted = name or place.free_id(f"{case_id}-{layer}")
        return _promoted(Drafting(transcript, item, layer, wanted, place, written), origin)


def _promoted(drafting: Drafting, origin: str) -> Promotion:
    """The draft, written; nothing is written that the suite would refuse."""
    place, transcript = drafting.place, drafting.transcript
    found, notes = drafting.expectations()
    step = None
    if place.kind == "case" and is_conversation(transcript, drafting.item):
        found, step, transcript = drafting.of_one_reply(found)
        notes.append(
            "a conversation in a suite of cases: the thread up to the reply that broke, and that "
            "one reply is asked for; a suite of scenarios (--suite) gets the whole of it"
        )
    record = _record(drafting, found, step, origin)
    rows, not_told = _try(place, place.parse(record), transcript)
    if not_told:
        notes.append(
            f"these checks of the suite cannot tell of a new case: {', '.join(not_told)}; a key of "
            "the draft's own, such as python:, takes the place of the suite's"
        )
    file, line = place.add(record)
    return Promotion(record, place.kind, file, line, rows, tuple(notes))


def _record(
    drafting: Drafting, found: Sequence[Found], step: Step | None, origin: str
) -> dict[str, Any]:
    """The draft in the order in which a person reads it."""
    item, transcript = drafting.item, drafting.transcript
    target = drafting.place.written
    drafted = [one.entry for one in found]
    own = list(
        own_words(
            item, drafting.written, suite=target.spec.checks,
            but={one.key for one in drafted}, to=target.folder,
        )
    )  # fmt: skip
    if drafting.place.kind == "scenario":
        asked = as_scenario(transcript, item, others=target.items)
        named = {"checks": merged(own), "invariants": merged(drafted)}
        expected = {key: value for key, value in named.items() if value}
    else:
        asked = as_case(transcript, item, step)
        expected = merged([*drafted, *own])
    if "clock" not in asked and _other_moment(transcript.now, target.spec.clock):
        asked["clock"] = transcript.now
    told = "; ".join(dict.fromkeys(_told(one.row) for one in found))
    note = (
        "Drafted by `agenteval promote` from what was seen: "
        f"{told or 'nothing that code could decide'}."
    )
    return {
        "id": drafting.name,
        "draft": True,
        **asked,
        **expected,
        "origin": origin,
        "broke": drafting.layer,
        **({"tags": list(item.tags)} if item is not None and item.tags else {}),
        "note": f"{note} {item.note}" if item is not None and item.note else note,
    }


def _other_moment(seen: str | None, suite: str | None) -> bool:
    """Whether a transcript ran under a clock that the suite would not give its draft."""
    try:
        return seen is not None and (suite is None or parse_clock(seen) != parse_clock(suite))
    except ValueError:
        return False  # an imported text that names no moment


def _find(
    source: Run | str | Path, case_id: str, repeat: int
) -> tuple[Transcript, str, Path | None]:
    """The transcript, the text of its origin, and the suite that it was made for."""
    if not isinstance(source, Run):
        path = Path(source)
        if path.is_file():
            return _imported(path, case_id, repeat), f"{path.name}/{case_id}/{repeat}", None
        source = Run.open(path)
    home = _home(source)
    transcript = source.transcript(case_id, repeat=repeat)
    return transcript, f"{source.id}/{case_id}/{repeat}", home


def _home(run: Run) -> Path | None:
    """The suite file of a run, where it still stands and is that suite."""
    found = find_suite_file(run)
    if found is not None or run.info.suite_file is None:
        return found
    try:
        shipped = find_place(Path("data/suites") / Path(run.info.suite_file).name)
    except ConfigError:
        return None
    named = shipped.is_file() and read_written(shipped).spec.name == run.info.suite
    return shipped if named else None


def _imported(path: Path, case_id: str, repeat: int) -> Transcript:
    known: set[str] = set()
    for transcript in import_files(path):
        known.add(transcript.case_id)
        if (transcript.case_id, transcript.repeat) == (case_id, repeat):
            return transcript
    near = did_you_mean(case_id, known - {case_id})
    raise ConfigError(Problem(f'has no transcript "{case_id}", repeat {repeat}.{near}', str(path)))


def _refuse_twice(place: Place, origin: str, layer: str, name: str | None) -> None:
    for item in place.written.items:
        if name is not None and look_of(item.id) == look_of(name):
            raise ConfigError(f'{place.path}: "{item.id}" is taken; choose another id')
        if name is None and (item.origin, item.broke) == (origin, layer):
            raise ConfigError(
                f'{place.path}: "{item.id}" was promoted from {origin} for this layer already; '
                "mend that one, or give another id with --id"
            )


def _try(
    place: Place, item: Item, transcript: Transcript
) -> tuple[tuple[CheckRow, ...], list[str]]:
    """What the draft itself finds in its transcript; and what of the suite cannot tell there."""
    problems = Problems()
    at = (place.file_for(item.id), 1)
    spec = place.written.spec
    suite = (place.written.suite, 1)
    own = load_resources([(item, at)], Checks(), place=at, problems=problems)
    all_ = load_resources([(item, at)], spec.checks, place=suite, problems=problems)
    problems.raise_any()
    alone = build_checks(item, free_text=spec.free_text, resources=own)
    together = build_checks(item, suite=spec.checks, free_text=spec.free_text, resources=all_)
    rows = tuple(run_checks(transcript, item, alone))
    names = {check.name for check in alone}
    beside = [check for check in together if check.name not in names]
    untold = [row.name for row in run_checks(transcript, item, beside) if row.passed is None]
    return rows, untold if transcript.failure is None else []


def _told(row: CheckRow) -> str:
    where = f" (turn {row.turn})" if row.turn is not None else ""
    return f"{row.layer} · {row.name}{where}: {row.why}"
