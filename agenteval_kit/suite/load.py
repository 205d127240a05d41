"""From a suite file to everything that a run needs; all problems of all its files at once.

May not run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agenteval_kit.checks import Resources, build_checks
from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_yaml
from agenteval_kit.records import Bar, SuiteFile
from agenteval_kit.records.suites import SeatSpec
from agenteval_kit.runs import CasePlan, Selection, waiting
from agenteval_kit.suite.digests import CaseDigests, contents, suite_digest
from agenteval_kit.suite.items import Item, Place, listed_tools, read_cases_anyway, read_items
from agenteval_kit.suite.reading import collector_paused, parse_clock, parse_document, read_clock
from agenteval_kit.suite.resources import load_resources
from agenteval_kit.suite.selection import select
from agenteval_kit.suite.source import AgentSource, find_agent

__all__ = ["Suite", "load_suite"]


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
    baseline : pathlib.Path, str or None
        What the suite names: a run folder, a published name, or ``latest``.
    drafts : tuple of str
        Cases that wait for a person: they are read, and neither run nor counted. One that the
        selection names by its id is run all the same, and stands in `items`.
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
    baseline: Path | str | None
    simulator: SeatSpec | None = None
    drafts: tuple[str, ...] = ()
    _contents: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    _digests: list[CaseDigests] = field(default_factory=list, compare=False, repr=False)
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
        # Made of a case that was parsed already: nothing is left to validate.
        return CasePlan.model_construct(
            id=item.id,
            tags=item.tags,
            critical=item.critical,
            judge_only=not checks,
            origin=item.origin,
            broke=item.broke,
            layers=tuple(dict.fromkeys(check.layer for check in checks)),
            tools=listed_tools(item.checks),
            digest=self._case_digests().of(item),
        )

    def _case_digests(self) -> CaseDigests:
        if not self._digests:
            self._digests.append(CaseDigests(self.spec, self.resources, self._contents))
        return self._digests[0]

    def now(self, item: Item) -> datetime | None:
        """The clock of one case: its own, else the suite's."""
        return parse_clock(item.clock) if item.clock is not None else self.clock


def load_suite(
    path: str | Path,
    *,
    agent: str | Path | None = None,
    repeats: int | None = None,
    bar: str | Path | None = None,
    only: Sequence[str] | None = None,
    tag: str | None = None,
    shard: str | None = None,
    simulator: str | None = None,
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
    simulator : str, optional
        The model that plays the users, in place of the suite's.

    Raises
    ------
    ConfigError
        Everything that is wrong in any of the files, each with file and line.
    StampError
        If the agent has no model or prompt stamp.
    """
    with collector_paused():
        return _load(
            Path(path),
            agent=agent,
            repeats=repeats,
            bar=bar,
            only=only,
            tag=tag,
            shard=shard,
            simulator=simulator,
        )


def _load(
    file: Path,
    *,
    agent: str | Path | None,
    repeats: int | None,
    bar: str | Path | None,
    only: Sequence[str] | None,
    tag: str | None,
    shard: str | None,
    simulator: str | None,
) -> Suite:
    problems = Problems()
    document = read_yaml(file)
    spec = parse_document(SuiteFile, document, "suite", problems)
    if spec is None:
        read_cases_anyway(document, problems)
        problems.raise_any()
        raise AssertionError
    clock = read_clock(spec.clock, problems, file=file, line=document.line("clock"))
    source = find_agent(spec, document, agent, problems)
    asks = source is not None and source.spec.kind != "recorded"
    written = read_items(spec, document, problems, asks=asks)
    named = frozenset(only or ())
    items = [pair for pair in written if not pair[0].draft or pair[0].id in named]
    drafts = tuple(item.id for item, _ in written if item.draft)
    folder = file.parent
    resources = load_resources(
        items, spec.checks, place=(file, document.line("checks")), problems=problems
    )
    problems.raise_any()
    assert source is not None
    wanted = Selection(only=tuple(only) if only is not None else None, tag=tag, shard=shard)
    if drafts and not items:
        raise ConfigError(Problem(f"nothing was evaluated: {waiting(drafts)}", str(file)))
    if spec.recorded is not None and not items:
        # The cases are those of the recording, so that is where the filter is applied.
        chosen: list[Item] = []
    else:
        chosen = select([item for item, _ in items], wanted, file)
    if not chosen and spec.recorded is None:
        raise ConfigError(Problem("nothing was evaluated: the suite has no cases", str(file)))
    texts = contents(item for item, _ in items)
    suite = Suite(
        file=file,
        spec=spec,
        items=tuple(chosen),
        agent=source,
        clock=clock,
        repeats=repeats if repeats is not None else spec.repeats,
        selection=wanted,
        resources=resources,
        digest=suite_digest(spec, texts.values(), resources),
        bar=_optional_path(bar, spec.bar, folder),
        baseline=_baseline(spec.baseline, folder),
        simulator=SeatSpec(name=simulator) if simulator is not None else spec.simulator,
        drafts=tuple(name for name in drafts if name not in named),
        _contents=texts,
    )
    _try_checks(suite, items, problems)
    _try_bar(suite, problems)
    problems.raise_any()
    return suite


def _optional_path(given: str | Path | None, written: str | None, folder: Path) -> Path | None:
    if given is not None:
        return Path(given)
    return folder / written if written is not None else None


def _baseline(written: str | None, folder: Path) -> Path | str | None:
    """A run folder beside the suite, else what was written: a published name is no path."""
    if written is None or not (folder / written / "run.json").is_file():
        return written
    return folder / written


def _try_bar(suite: Suite, problems: Problems) -> None:
    """Read the bar once, so that a broken one is told before anything is paid for."""
    if suite.bar is None:
        return
    try:
        document = read_yaml(suite.bar)
    except ConfigError as error:
        problems.extend(error)
        return
    parse_document(Bar, document, "bar", problems)


def _try_checks(suite: Suite, items: list[tuple[Item, Place]], problems: Problems) -> None:
    """Build every check once, so that a check that cannot be built is told before anything runs."""
    for item, (file, line) in items:
        try:
            suite.checks(item)
        except ConfigError as error:
            for problem in error.problems:
                problems.add(f'"{item.id}": {problem.message}', file=file, line=line)
