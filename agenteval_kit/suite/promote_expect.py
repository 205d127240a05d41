"""Expectations for a draft: the checks that failed, each narrowed to the entry that did.

May not invent a right answer: what no check and no reference action says is left to a person.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.checks.asks import ASK_PATTERNS
from agenteval_kit.errors import Problems
from agenteval_kit.records import CHECK_KEYS, Case, CheckRow, Checks, Scenario, Transcript
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.promote_place import Written
from agenteval_kit.suite.resources import load_resources

__all__ = [
    "Entry",
    "entries_of",
    "failing_rows",
    "merged",
    "own_words",
    "reference_entries",
    "shipped_entries",
    "stated_calls",
]

WHOLE = frozenset({"tools", "tools_exact", "tools_any_order", "markers", "promises"})
"""Lists that are one check together; every other list or mapping is a check an entry."""

NOT_DONE = frozenset({"recorded_reward"})
"""What a recording brought along says that something failed, not what the agent did."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the vocabulary with a single entry, and how it reads.

    `where` and `strict` are those that the key was read with; None where nothing was said.
    """

    key: str
    value: Any
    where: str | None = None
    strict: bool | None = None

    def checks(self) -> dict[str, Any]:
        """As the keys of a case."""
        return merged([self])


def merged(entries: Iterable[Entry]) -> dict[str, Any]:
    """Entries as the keys of a case: those of one key together, in the order of the vocabulary."""
    found: dict[str, Any] = {}
    where: dict[str, str] = {}
    strict = False
    for entry in sorted(entries, key=lambda one: CHECK_KEYS.index(one.key)):
        before = found.get(entry.key)
        if isinstance(before, dict):
            found[entry.key] = {**before, **entry.value}
        elif isinstance(before, list) and entry.key not in WHOLE:
            found[entry.key] = [*before, *(one for one in entry.value if one not in before)]
        else:
            found[entry.key] = entry.value
        if entry.where is not None:
            where[entry.key] = entry.where
        strict = strict or bool(entry.strict)
    if where:
        found["where"] = where
    if strict:
        found["strict"] = True
    return found


def entries_of(item: Item | None, written: Written, *, to: Path) -> Iterator[Entry]:
    """Every entry that a case is checked with: its own keys, else the suite's of the same name.

    Parameters
    ----------
    item : Case or Scenario or None
        None where a transcript is of no case.
    written : Written
        Its suite.
    to : pathlib.Path
        Relative paths are rewritten to be read from this folder.
    """
    own = [item.checks] if item is not None else []
    if isinstance(item, Scenario):
        fields = {"final_state": item.final_state, "markers": item.markers}
        stated = {key: value for key, value in fields.items() if value is not None}
        own += [item.invariants, Checks(**stated)]
    suite = written.spec.checks
    taken = {key for checks in own for key in checks.model_fields_set}
    where: dict[str, str] = {}
    strict = None
    for checks in (suite, *own):
        where.update(checks.where or {})
        strict = strict if checks.strict is None else checks.strict
    for checks, base in ((suite, written.suite.parent), *((one, written.folder) for one in own)):
        for key, value in _stated(checks).items():
            if checks is suite and key in taken:
                continue
            for one in _split(key, _moved(key, value, base, to)):
                yield Entry(key, one, where.get(key), strict)


def own_words(
    item: Item | None, written: Written, *, suite: Checks, but: Collection[str], to: Path
) -> Iterator[Entry]:
    """What a case says in place of a suite's key of the same name, also where that is nothing.

    Without it the suite's key would hold for the draft, which never held for the case. Keys in
    `but` have been drafted.
    """
    if item is None:
        return
    both = [item.checks] + ([item.invariants] if isinstance(item, Scenario) else [])
    for checks in both:
        stated = checks.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for key, value in stated.items():
            if key in CHECK_KEYS and key in suite.model_fields_set and key not in but:
                where = (checks.where or {}).get(key)
                yield Entry(key, _moved(key, value, written.folder, to), where, checks.strict)


def shipped_entries(layer: str) -> Iterator[Entry]:
    """What the kit can look for in a layer where nobody has said what is right."""
    if layer == "grounding":
        yield Entry("figures_traceable", True, "every")
    elif layer == "policy":
        for key in ("promises", "no_phone_numbers", "no_emails"):
            yield Entry(key, True)
    elif layer == "trajectory":
        yield Entry("max_identical_calls", 1)
    elif layer == "conversation":
        for name, pattern in ASK_PATTERNS.items():
            yield Entry("asks_at_most", {name: {"pattern": pattern, "n": 1}})


def reference_entries(
    item: Item | None, transcript: Transcript, *, known: frozenset[str]
) -> Iterator[Entry]:
    """What the reference actions of a case want and the agent did not do, or did beside them.

    Actions are read where `expected_outcome` (or else `reference`) writes them as calls:
    ``cancel_reservation(reservation_id="Z7GOZK")``. `known` are the tools that some case of the
    suite has in its reference: one of them that this case does not name may not be called.
    """
    wanted = stated_calls(item)
    if item is None or not (wanted or known):
        return
    made = [(call.name, call.arguments) for _, call in transcript.calls() if call.error is None]
    lacking: list[str] = []
    for name in dict.fromkeys(name for name, _ in wanted):
        due = [arguments for one, arguments in wanted if one == name]
        done = [arguments for one, arguments in made if one == name]
        if len(done) < len(due):
            lacking += [name] * len(due)
        if any(one not in due for one in done):
            yield Entry("arguments", {name: {"enum": due}})
    if lacking:
        yield Entry("tools_any_order", lacking)
    beside = {name for name, _ in made if name in known} - {name for name, _ in wanted}
    for name in sorted(beside):
        yield Entry("forbidden_tools", [name])


def stated_calls(item: Item | None) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the expected outcome of a case is written as, or else its reference."""
    if item is None:
        return []
    text = item.expected_outcome
    if text is None and isinstance(item, Case):
        text = item.reference  # with every look-up on the way, which are not what should come out
    return list(_calls(text)) if text else []


def failing_rows(
    entries: Iterable[Entry],
    transcript: Transcript,
    *,
    item: Item | None,
    name: str,
    free_text: Collection[str],
    at: Path,
) -> Iterator[tuple[Entry, CheckRow]]:
    """The entries that fail on a transcript, each with its row.

    They are tried as a case of the id `name`, since a check may know the cases of a suite by
    theirs. An entry whose table, schema or module cannot be found from the file `at` is passed
    over.
    """
    plain: Item = item if item is not None else Case(id=name)
    for entry in entries:
        if entry.key in NOT_DONE:
            continue
        alone: dict[str, Any] = {"id": name, "checks": Checks(**entry.checks())}
        if isinstance(plain, Scenario):
            alone |= {"invariants": Checks(), "final_state": None, "markers": None}
        trial = plain.model_copy(update=alone)
        problems = Problems()
        resources = load_resources([(trial, (at, 1))], Checks(), place=(at, 1), problems=problems)
        if problems:
            continue
        checks = build_checks(trial, free_text=free_text, resources=resources)
        for row in run_checks(transcript, trial, checks):
            if row.passed is False and row.name != "agent_completed":
                yield entry, row


def _stated(checks: Checks) -> dict[str, Any]:
    return {
        key: value
        for key, value in checks.model_dump(mode="json", by_alias=True, exclude_unset=True).items()
        if key in CHECK_KEYS and (value is not None or key == "equals") and value is not False
    }


def _split(key: str, value: Any) -> Iterator[Any]:
    if key in ("json_schema", "approval", "cited_ids", "equals", "must_refuse") or key in WHOLE:
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield {name: one}
    elif isinstance(value, list):
        for one in value:
            yield [one]
    else:
        yield value


def _moved(key: str, value: Any, base: Path, to: Path) -> Any:
    """A value whose path is read from another folder than before."""

    def moved(path: str) -> str:
        return Path(os.path.relpath(base / path, to)).as_posix()

    if key == "json_schema" and isinstance(value, str):
        return moved(value)
    if key == "cited_ids" and isinstance(value["in"], dict):
        return {**value, "in": {**value["in"], "file": moved(value["in"]["file"])}}
    return value


_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_NEXT = re.compile(r"\s*(,|\))")


def _calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for found in _CALL.finditer(text):
        arguments = _arguments(text, found.end())
        if arguments is not None:
            yield found[1], arguments


def _arguments(text: str, at: int) -> dict[str, Any] | None:
    """Named arguments with JSON values up to the closing bracket; None if it is no such call."""
    made: dict[str, Any] = {}
    if text[at : at + 1] == ")":
        return made
    while (named := _NAME.match(text, at)) is not None:
        try:
            made[named[1]], at = json.JSONDecoder().raw_decode(text, named.end())
        except ValueError:
            return None
        ends = _NEXT.match(text, at)
        if ends is None:
            return None
        at = ends.end()
        if ends[1] == ")":
            return made
    return None
