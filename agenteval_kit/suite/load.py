"""From a suite file to everything that a run needs; all problems of all its files at once.

May not run anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agenteval_kit.checks import Resources, build_checks
from agenteval_kit.errors import ConfigError, Problem, Problems, StampError, did_you_mean
from agenteval_kit.files import Document, digest, file_digest, read_jsonl, read_yaml
from agenteval_kit.records import (
    CHECK_KEYS,
    AgentSpec,
    Case,
    Checks,
    Scenario,
    SuiteFile,
)
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.runs import CasePlan, Selection
from agenteval_kit.suite.resources import load_resources

__all__ = ["AgentSource", "Suite", "load_suite", "parse_clock"]

Item = Case | Scenario


@dataclass(frozen=True, slots=True)
class AgentSource:
    """An agent's specification and the folder that its relative paths resolve against."""

    spec: AgentSpec
    folder: Path
    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that was read and found sound.

    Attributes
    ----------
    file : pathlib.Path
        The suite file.
    spec : SuiteFile
        As written.
    items : tuple of Case or Scenario
        In the order of the file, after selection. Empty for a suite of recorded transcripts
        alone; `run_suite` then takes the cases from the recording.
    agent : AgentSource
        The suite's own agent, or the one that replaced it.
    clock : datetime or None
        The suite's clock, UTC.
    digest : str
        Over the content: cases, checks, clock, tables, schemas. Not over the agent.
    """

    file: Path
    spec: SuiteFile
    items: tuple[Item, ...]
    agent: AgentSource
    clock: datetime | None
    repeats: int
    selection: Selection
    resources: Resources
    digest: str
    bar: Path | None
    baseline: Path | None
    _built: dict[str, tuple[Any, ...]] = field(default_factory=dict, compare=False, repr=False)

    def checks(self, item: Item) -> tuple[Any, ...]:
        """The checks of one case: its own and the suite's; built once a suite."""
        if item.id not in self._built:
            self._built[item.id] = build_checks(
                item,
                suite=self.spec.checks,
                free_text=self.spec.free_text,
                resources=self.resources,
            )
        return self._built[item.id]

    def plan(self, item: Item) -> CasePlan:
        """What the run folder notes of one case."""
        checks = self.checks(item)
        return CasePlan(
            id=item.id,
            tags=item.tags,
            critical=item.critical,
            judge_only=not checks,
            origin=item.origin,
            broke=item.broke,
            layers=tuple(dict.fromkeys(check.layer for check in checks)),
            tools=_listed_tools(item.checks),
        )

    def now(self, item: Item) -> datetime | None:
        """The clock of one case: its own, else the suite's."""
        return parse_clock(item.clock) if item.clock is not None else self.clock


def parse_clock(text: str) -> datetime:
    """Read a clock: ISO 8601 with an offset; the moment comes back in UTC.

    Raises
    ------
    ValueError
        With what was wanted, in plain words.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f'"{text}" is not a clock ({error}); write it like 2026-03-02T09:00:00+00:00'
        ) from None
    if moment.tzinfo is None:
        raise ValueError(
            f'"{text}" has no offset, so it names no moment; write it like '
            f"{moment.isoformat()}+00:00"
        )
    return moment.astimezone(UTC)


def load_suite(
    path: str | Path,
    *,
    agent: str | Path | None = None,
    repeats: int | None = None,
    bar: str | Path | None = None,
    only: Sequence[str] | None = None,
    tag: str | None = None,
    shard: str | None = None,
) -> Suite:
    """Read a suite with its cases, agent, tables and schemas.

    Parameters
    ----------
    path : path
        The suite file (YAML).
    agent : path, optional
        Another agent file in place of the suite's; it brings its own stamps.
    repeats, bar : optional
        In place of the suite's.
    only : sequence of str, optional
        Case ids to keep.
    tag : str, optional
        Keep cases with this tag.
    shard : str, optional
        ``"2/5"`` keeps every fifth case, starting with the second.

    Raises
    ------
    ConfigError
        Everything that is wrong in any of the files, each with file and line.
    StampError
        If the agent has no model or prompt stamp.
    """
    file = Path(path)
    problems = Problems()
    document = read_yaml(file)
    spec = _parse(SuiteFile, document, "suite", problems)
    if spec is None:
        _read_cases_anyway(document, problems)
        problems.raise_any()
        raise AssertionError
    clock = _clock(spec.clock, problems, file=file, line=document.line("clock"))
    source = _agent(spec, document, agent, problems)
    items = _items(spec, document, problems)
    folder = file.parent
    resources = load_resources(items, spec.checks, folder=folder, problems=problems)
    problems.raise_any()
    assert source is not None
    chosen, selection = _select([item for item, _ in items], only, tag, shard, file)
    if not chosen and spec.recorded is None:
        raise ConfigError(Problem("nothing was evaluated: the suite has no cases", str(file)))
    suite = Suite(
        file=file,
        spec=spec,
        items=tuple(chosen),
        agent=source,
        clock=clock,
        repeats=repeats if repeats is not None else spec.repeats,
        selection=selection,
        resources=resources,
        digest=_suite_digest(spec, [item for item, _ in items], resources, folder),
        bar=_optional_path(bar, spec.bar, folder),
        baseline=_optional_path(None, spec.baseline, folder),
    )
    _try_checks(suite, items, problems)
    problems.raise_any()
    return suite


def _parse(kind: type[Any], document: Document, what: str, problems: Problems) -> Any:
    value = document.value
    if not isinstance(value, dict):
        problems.add(f"a {what} file wants key: value pairs", file=document.file, line=1)
        return None
    return parse_record(
        kind,
        value,
        file=str(document.file),
        line=lambda loc: document.line(*loc),
        what=what,
        problems=problems,
    )


def _read_cases_anyway(document: Document, problems: Problems) -> None:
    """A broken suite file must not hide what is broken in its cases file."""
    value = document.value if isinstance(document.value, dict) else {}
    cases = value.get("cases")
    if isinstance(cases, str):
        _case_rows(document.file.parent / cases, problems)


def _clock(
    text: str | None, problems: Problems, *, file: Path, line: int, field: str = "clock"
) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_clock(text)
    except ValueError as error:
        problems.add(f'"{field}": {error}', file=file, line=line)
        return None


def _agent(
    spec: SuiteFile, document: Document, other: str | Path | None, problems: Problems
) -> AgentSource | None:
    file = document.file
    line = document.line("agent")
    if other is not None:
        path = Path(other)
        if path.suffix not in (".yaml", ".yml"):
            raise StampError(
                Problem(
                    f'--agent "{other}" names no agent file, so its results would have no stamps; '
                    "write a YAML file with call, model and prompt, and name that"
                )
            )
        return _agent_file(path, problems)
    if isinstance(spec.agent, str):
        return _agent_file(file.parent / spec.agent, problems, named=(file, line))
    given = spec.agent
    if given is None and spec.recorded is None:
        problems.add(
            "names no agent; add agent: {call, model, prompt} or a path to an agent file",
            file=file,
            line=1,
        )
        return None
    given = given or AgentSpec()
    if spec.recorded is not None and given.kind == "chat":
        given = given.model_copy(update={"recorded": spec.recorded})
    source = AgentSource(given, file.parent, file, line)
    _require_stamps(source, problems)
    return source


def _agent_file(
    path: Path, problems: Problems, *, named: tuple[Path, int] | None = None
) -> AgentSource | None:
    if not path.is_file() and named is not None:
        problems.add(f'"agent": there is no file {path}', file=named[0], line=named[1])
        return None
    try:
        document = read_yaml(path)
    except ConfigError as error:
        problems.extend(error)
        return None
    spec = _parse(AgentSpec, document, "agent", problems)
    if spec is None:
        return None
    source = AgentSource(spec, path.parent, path, 1)
    _require_stamps(source, problems)
    return source


def _require_stamps(source: AgentSource, problems: Problems) -> None:
    spec = source.spec
    # A recording may carry its own stamps; that is settled when it is read.
    if spec.kind == "recorded" and spec.model is None and spec.prompt is None:
        return
    missing = [name for name in ("model", "prompt") if getattr(spec, name) is None]
    if missing:
        problems.add(
            f"the agent has no {' and no '.join(missing)} stamp, and a score without its stamps "
            f"is refused; add {' and '.join(f'{name}: <name of the version>' for name in missing)}",
            file=source.file,
            line=source.line,
        )


def _items(
    spec: SuiteFile, document: Document, problems: Problems
) -> list[tuple[Item, tuple[Path, int]]]:
    folder = document.file.parent
    found: list[tuple[Item, tuple[Path, int]]] = []
    named = spec.cases or spec.scenarios
    if named is None:
        return found
    path = folder / named
    line = document.line("cases" if spec.cases else "scenarios")
    if not path.exists():
        key = "cases" if spec.cases else "scenarios"
        problems.add(f'"{key}": there is no file {path}', file=document.file, line=line)
        return found
    found = _case_rows(path, problems) if spec.cases else _scenario_rows(path, problems)
    _check_ids(found, problems)
    for item, (file, at) in found:
        _clock(item.clock, problems, file=file, line=at, field=f'clock" of "{item.id}')
        _check_tools(item, spec, file, at, problems)
        if isinstance(item, Case):
            _check_asserts(item, spec, file, at, problems)
    return found


def _case_rows(path: Path, problems: Problems) -> list[tuple[Item, tuple[Path, int]]]:
    found: list[tuple[Item, tuple[Path, int]]] = []
    try:
        for row in read_jsonl(path):
            name = row.value.get("id")
            case = parse_record(
                Case,
                row.value,
                file=str(path),
                line=lambda _, at=row.line: at,  # type: ignore[misc]
                what=f'case "{name}"' if isinstance(name, str) else "case",
                problems=problems,
                also_known=(*CHECK_KEYS, "strict", "where", "question"),
            )
            if case is not None:
                found.append((case, (path, row.line)))
    except ConfigError as error:
        problems.extend(error)
        return found
    if not found and not problems:
        problems.add("nothing was evaluated: the file holds no case", file=path)
    return found


def _scenario_rows(path: Path, problems: Problems) -> list[tuple[Item, tuple[Path, int]]]:
    found: list[tuple[Item, tuple[Path, int]]] = []
    if path.is_dir():
        files = sorted(item for item in path.iterdir() if item.suffix in (".yaml", ".yml"))
        if not files:
            problems.add("nothing was evaluated: the folder holds no scenario", file=path)
        for file in files:
            try:
                document = read_yaml(file)
            except ConfigError as error:
                problems.extend(error)
                continue
            scenario = _parse(Scenario, document, "scenario", problems)
            if scenario is not None:
                found.append((scenario, (file, 1)))
        return found
    try:
        for row in read_jsonl(path):
            scenario = parse_record(
                Scenario,
                row.value,
                file=str(path),
                line=lambda _, at=row.line: at,  # type: ignore[misc]
                what=f'scenario "{row.value.get("id")}"',
                problems=problems,
            )
            if scenario is not None:
                found.append((scenario, (path, row.line)))
    except ConfigError as error:
        problems.extend(error)
    return found


def _check_ids(found: list[tuple[Item, tuple[Path, int]]], problems: Problems) -> None:
    seen: dict[str, tuple[str, Path, int]] = {}
    for item, (file, line) in found:
        key = item.id.casefold()
        if key not in seen:
            seen[key] = (item.id, file, line)
            continue
        other, first_file, first_line = seen[key]
        where = f"line {first_line}" if first_file == file else f"{first_file}:{first_line}"
        if other == item.id:
            problems.add(
                f'id "{item.id}" stands twice, first on {where}; rename one', file=file, line=line
            )
        else:
            problems.add(
                f'id "{item.id}" differs only in case from "{other}" on {where}; rename one',
                file=file,
                line=line,
            )


def _check_tools(item: Item, spec: SuiteFile, file: Path, line: int, problems: Problems) -> None:
    if spec.tools is None:
        return
    both = [item.checks] + ([item.invariants] if isinstance(item, Scenario) else [])
    for checks in both:
        for key, name in _tool_names(checks):
            if name not in spec.tools and name != "*":
                problems.add(
                    f'unknown tool "{name}" in "{key}" of "{item.id}".'
                    f"{did_you_mean(name, spec.tools)}",
                    file=file,
                    line=line,
                )


def _tool_names(checks: Checks) -> list[tuple[str, str]]:
    named: list[tuple[str, str]] = []
    for key in ("tools", "tools_exact", "tools_any_order", "forbidden_tools"):
        named += [(key, name) for name in getattr(checks, key) or []]
    for key in ("max_calls", "arguments", "not_null"):
        named += [(key, name) for name in getattr(checks, key) or {}]
    named += [("before", name) for pair in checks.before or [] for name in pair]
    if checks.approval is not None:
        named += [("approval", name) for name in checks.approval.before]
    named += [("claims", name) for name in (checks.claims or {}).values()]
    return named


def _listed_tools(checks: Checks) -> tuple[str, ...] | None:
    keys = ("tools", "tools_exact", "tools_any_order")
    if not any(getattr(checks, key) for key in keys):
        return None
    listed = (name for key in (*keys, "forbidden_tools") for name in getattr(checks, key) or [])
    return tuple(dict.fromkeys(listed))


def _check_asserts(item: Case, spec: SuiteFile, file: Path, line: int, problems: Problems) -> None:
    judged = item.rubric or item.expected_outcome or item.reference or item.dimensions
    if not item.checks.given() and not judged and not spec.checks.given():
        problems.add(
            f'case "{item.id}" asserts nothing: it has no check and no rubric; add one '
            "(`tools: []` asserts nothing, `no_tools: true` does)",
            file=file,
            line=line,
        )


def _select(
    items: list[Item],
    only: Sequence[str] | None,
    tag: str | None,
    shard: str | None,
    file: Path,
) -> tuple[list[Item], Selection]:
    kept = items
    if only is not None:
        known = {item.id for item in items}
        unknown = [name for name in only if name not in known]
        if unknown and items:
            raise ConfigError(
                [
                    Problem(f'--only: no case "{name}".{did_you_mean(name, known)}', str(file))
                    for name in unknown
                ]
            )
        kept = [item for item in kept if item.id in set(only)]
    if tag is not None:
        tags = {name for item in items for name in item.tags}
        kept = [item for item in kept if tag in item.tags]
        if not kept:
            raise ConfigError(
                Problem(
                    f'nothing was evaluated: no case has the tag "{tag}".{did_you_mean(tag, tags)}',
                    str(file),
                )
            )
    if shard is not None:
        part, of = _shard(shard)
        kept = kept[part - 1 :: of]
        if not kept:
            raise ConfigError(Problem(f"nothing was evaluated: shard {shard} is empty", str(file)))
    return kept, Selection(only=tuple(only) if only is not None else None, tag=tag, shard=shard)


def _shard(text: str) -> tuple[int, int]:
    part, _, of = text.partition("/")
    if not (part.isdigit() and of.isdigit() and 1 <= int(part) <= int(of)):
        raise ConfigError(f'--shard "{text}" wants i/n with 1 <= i <= n, like 2/5')
    return int(part), int(of)


def _suite_digest(spec: SuiteFile, items: list[Item], resources: Resources, folder: Path) -> str:
    named = spec.model_dump(
        mode="json",
        exclude={"agent", "bar", "baseline", "judge", "rubric", "labels", "calibration",
                 "recorded", "cases", "scenarios", "repeats", "data_note"},
    )  # fmt: skip
    tables: Mapping[str, Any] = {
        "ids": {name: sorted(ids) for name, ids in resources.ids.items()},
        "schemas": dict(resources.schemas),
        "functions": {name: _source_digest(made) for name, made in resources.functions.items()},
    }
    return digest(
        {
            "suite": named,
            "items": [item.model_dump(mode="json", exclude_unset=True) for item in items],
            "tables": tables,
        }
    )


def _source_digest(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return file_digest(Path(code.co_filename)) if code is not None else repr(function)


def _optional_path(given: str | Path | None, written: str | None, folder: Path) -> Path | None:
    if given is not None:
        return Path(given)
    return folder / written if written is not None else None


def _try_checks(
    suite: Suite, items: list[tuple[Item, tuple[Path, int]]], problems: Problems
) -> None:
    """Build every check once, so that a check that cannot be built is told before anything runs."""
    for item, (file, line) in items:
        try:
            suite.checks(item)
        except ConfigError as error:
            for problem in error.problems:
                problems.add(f'"{item.id}": {problem.message}', file=file, line=line)
