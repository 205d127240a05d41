"""Where a draft goes: the file or folder of cases of a suite, to which it is added and no more.

May not rewrite what stands there: not a byte of the other lines changes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Literal

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import hold, read_yaml
from agenteval_kit.records import AgentSpec, Case, Scenario, SuiteFile
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.suite.items import Item, check_item, read_items
from agenteval_kit.suite.reading import parse_document
from agenteval_kit.visible import look_of

__all__ = ["Place", "Written", "hold_place", "read_written", "yaml_text"]


@dataclass(frozen=True, slots=True)
class Written:
    """What a suite says of its cases; `folder` is where their relative paths begin."""

    suite: Path
    spec: SuiteFile
    items: tuple[Item, ...]
    folder: Path

    @property
    def plays_back(self) -> bool:
        """Whether the suite's agent is a recording, which holds nothing of a new case."""
        agent = self.spec.agent
        if self.spec.recorded is not None or isinstance(agent, AgentSpec):
            return self.spec.recorded is not None or getattr(agent, "recorded", None) is not None
        file = self.suite.parent / agent if isinstance(agent, str) else None
        return file is not None and file.is_file() and "recorded" in read_yaml(file).value


@dataclass(frozen=True, slots=True)
class Place:
    """The file of cases of one suite.

    Attributes
    ----------
    written : Written
        What stands there.
    path : pathlib.Path
        The JSON Lines file, or the folder with a YAML file a scenario.
    kind : str
        case or scenario.
    """

    written: Written
    path: Path
    kind: Literal["case", "scenario"]

    def file_for(self, name: str) -> Path:
        """The file in which an id would stand; an id is no path, whatever it holds."""
        if not self.path.is_dir():
            return self.path
        plain = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "draft"
        return self.path / f"{plain}.yaml"

    def free_id(self, wanted: str) -> str:
        """The id, or with a number after it where it is taken."""
        taken = {look_of(item.id) for item in self.written.items}
        name, count = wanted, 1
        while look_of(name) in taken or (self.path.is_dir() and self.file_for(name).exists()):
            count += 1
            name = f"{wanted}-{count}"
        return name

    def parse(self, record: Mapping[str, Any]) -> Item:
        """The record as the suite would read it.

        Raises
        ------
        ConfigError
            Everything that the suite would refuse.
        """
        problems = Problems()
        file = self.file_for(str(record["id"]))
        kind: type[Case] | type[Scenario] = Case if self.kind == "case" else Scenario
        item = parse_record(
            kind,
            dict(record),
            file=str(file),
            line=lambda _: 1,
            what=f'the draft "{record["id"]}"',
            problems=problems,
        )
        if item is not None:
            check_item(item, self.written.spec, file, 1, problems, asks=False)
        problems.raise_any()
        assert item is not None
        return item

    def add(self, record: Mapping[str, Any]) -> tuple[Path, int]:
        """Write the record behind what stands there; file and line of it.

        Raises
        ------
        ConfigError
            If there is a file of that name, which no draft replaces.
        """
        file = self.file_for(str(record["id"]))
        if not self.path.is_dir():
            return file, _append(file, json.dumps(record, ensure_ascii=False))
        try:
            stream = file.open("xb", buffering=0)
        except FileExistsError:
            raise ConfigError(Problem("is there already; choose another id", str(file))) from None
        with stream:
            try:
                _write(stream, yaml_text(record).encode(), 0)
            except OSError:
                file.unlink()
                raise
        return file, 1


def read_written(suite: Path) -> Written:
    """The cases of a suite, drafts too; none where it names a recording alone.

    Raises
    ------
    ConfigError
        Everything that is wrong in the suite or its cases.
    """
    problems = Problems()
    document = read_yaml(suite)
    spec = parse_document(SuiteFile, document, "suite", problems)
    problems.raise_any()
    items = read_items(spec, document, problems, asks=False)
    problems.raise_any()
    path = suite.parent / (spec.cases or spec.scenarios or ".")
    return Written(
        suite=suite,
        spec=spec,
        items=tuple(item for item, _ in items),
        folder=path if path.is_dir() else path.parent,
    )


@contextmanager
def hold_place(suite: Path) -> Iterator[Place]:
    """Where a draft for this suite goes, and what stands there until it is written.

    Another who promotes to it waits: two drafts would take the same id or the same file.

    Raises
    ------
    ConfigError
        Everything that is wrong in the suite or its cases, or if it names a recording alone.
    """
    with hold(_place(read_written(suite)).path):
        yield _place(read_written(suite))


def _place(written: Written) -> Place:
    named = written.spec.cases or written.spec.scenarios
    if named is None:
        raise ConfigError(
            Problem(
                "names a recording and no file of cases, so there is nothing to add a draft to; "
                "name a suite with cases or scenarios with --suite",
                str(written.suite),
            )
        )
    path = Path(os.path.normpath(written.suite.parent / named))
    return Place(written, path, "case" if written.spec.cases else "scenario")


def _append(file: Path, line: str) -> int:
    with file.open("rb+", buffering=0) as stream:
        before = stream.read()
        last = before.rfind(b"\n") + 1
        ends = b"\r\n" if before[:last].endswith(b"\r\n") else b"\n"
        head = b"" if last == len(before) else ends
        _write(stream, head + line.encode("utf-8", "backslashreplace") + ends, len(before))
        return (before + head).count(b"\n") + 1


def _write(stream: FileIO, block: bytes, size: int) -> None:
    """Write all of it, or leave the file as long as it was: a full disk takes half a line."""
    try:
        while block:
            block = block[stream.write(block) :]
        os.fsync(stream.fileno())
    except OSError as error:
        error.filename = str(stream.name)
        stream.truncate(size)
        raise


_NO_TEXT = re.compile(r"[-+.~\d]|(?i:true|false|null|yes|no|on|off|y|n)$|$")
"""How a text begins that some reader of YAML takes for a number, a date or a word of its own."""
_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Ends of lines that a reader of YAML would fold."""


def yaml_text(record: Mapping[str, Any]) -> str:
    """A record as YAML that reads back as the same."""
    import yaml  # late: only who writes a scenario needs the writer

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: Any, value: str) -> Any:
        style = '"' if _NO_TEXT.match(value) or _BREAKS.search(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    # YAML has no way to write half a character, which a model may well have said.
    whole = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
    return str(
        yaml.dump(json.loads(whole), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    )
