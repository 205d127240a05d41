"""Cases and scenarios of a suite, and everything about them that can be wrong.

May not build their checks.
"""

from __future__ import annotations

from pathlib import Path

from agenteval_kit.errors import ConfigError, Problems, did_you_mean
from agenteval_kit.files import Document, read_jsonl, read_yaml
from agenteval_kit.records import CHECK_KEYS, Case, Checks, Scenario, SuiteFile
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.suite.reading import parse_document, read_clock
from agenteval_kit.visible import look_of

__all__ = ["Item", "Place", "check_item", "listed_tools", "read_cases_anyway", "read_items"]

Item = Case | Scenario
Place = tuple[Path, int]
"""File and line."""


def read_items(
    spec: SuiteFile, document: Document, problems: Problems, *, asks: bool
) -> list[tuple[Item, Place]]:
    """Every case or scenario that a suite names, with its place; complaints go to `problems`.

    `asks` says that an agent is to be asked, so that each case needs something to ask.
    """
    folder = document.file.parent
    found: list[tuple[Item, Place]] = []
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
        check_item(item, spec, file, at, problems, asks=asks)
    return found


def check_item(
    item: Item, spec: SuiteFile, file: Path, line: int, problems: Problems, *, asks: bool
) -> None:
    """What a suite refuses of one case, whatever the others are; complaints go to `problems`."""
    read_clock(item.clock, problems, file=file, line=line, field=f'clock" of "{item.id}')
    _check_tools(item, spec, file, line, problems)
    if isinstance(item, Case):
        _check_asserts(item, spec, file, line, problems)
        if asks and item.input is None and not item.messages and not item.thread:
            problems.add(
                f'case "{item.id}" has neither input nor messages, so there is nothing to '
                "ask; add input",
                file=file,
                line=line,
            )


def _case_rows(path: Path, problems: Problems) -> list[tuple[Item, Place]]:
    found: list[tuple[Item, Place]] = []
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


def _scenario_rows(path: Path, problems: Problems) -> list[tuple[Item, Place]]:
    found: list[tuple[Item, Place]] = []
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
            scenario = parse_document(Scenario, document, "scenario", problems)
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


def _check_ids(found: list[tuple[Item, Place]], problems: Problems) -> None:
    seen: dict[str, tuple[str, Path, int]] = {}
    for item, (file, line) in found:
        key = look_of(item.id)
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
            how = "in case" if other.casefold() == item.id.casefold() else "in what nobody sees"
            problems.add(
                f'id "{item.id}" differs only {how} from "{other}" on {where}; rename one',
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


def listed_tools(checks: Checks) -> tuple[str, ...] | None:
    """Tools that a case names as due or forbidden; None where it says nothing of what is due."""
    keys = ("tools", "tools_exact", "tools_any_order")
    if not any(getattr(checks, key) for key in keys):
        return None
    listed = (name for key in (*keys, "forbidden_tools") for name in getattr(checks, key) or [])
    return tuple(dict.fromkeys(listed))


def _check_asserts(item: Case, spec: SuiteFile, file: Path, line: int, problems: Problems) -> None:
    judged = item.rubric or item.expected_outcome or item.reference or item.dimensions
    if item.draft:
        return  # what it is to assert is for the person to write who takes the mark off
    if not item.checks.given() and not judged and not spec.checks.given():
        problems.add(
            f'case "{item.id}" asserts nothing: it has no check and no rubric; add one '
            "(`tools: []` asserts nothing, `no_tools: true` does)",
            file=file,
            line=line,
        )


def read_cases_anyway(document: Document, problems: Problems) -> None:
    """A broken suite file must not hide what is broken in its cases file."""
    value = document.value if isinstance(document.value, dict) else {}
    cases = value.get("cases")
    if isinstance(cases, str):
        _case_rows(document.file.parent / cases, problems)
