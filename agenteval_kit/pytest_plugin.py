"""The gate as pytest items: one a clause of the bar, one a critical case, with the marker `evals`.

May not decide anything: it shows what `agenteval_kit.gate.decide` decided. Items are there when
they are asked for, with ``--agenteval SUITE`` or with ``-m evals`` and the ini option
``agenteval_suites``; the suite is evaluated once, when the first of its items runs.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# pytest loads this file at each start, wanted or not: the kit itself is imported inside functions.
if TYPE_CHECKING:
    from agenteval_kit.errors import AgentEvalError
    from agenteval_kit.gate import ClauseRow, Decision, LoadedBar
    from agenteval_kit.records import Bar, CheckRow
    from agenteval_kit.suite import RunResult, Suite

__all__ = ["ClauseItem", "CriticalItem", "SuiteFile"]

EVIDENCE = "evidence"
"""The item that shows what the run as a whole lacks, and every row that no other item shows."""
JUDGED = ("mean", "never", "win_rate", "open_flags")
JUDGED_UNITS = ("win_rate", "score")
COMPARED = ("no_worse", "win_rate")
"""Clauses that hold a run against its baseline."""
BASELINE = "against the baseline"
SHOWN_IDS = 12

_suites = pytest.StashKey[dict[Path, None]]()


class NotMet(Exception):
    """What an item shows when it fails; no traceback would help."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("agenteval", "agenteval-kit: the release gate as tests")
    group.addoption(
        "--agenteval",
        action="append",
        default=[],
        metavar="SUITE",
        help="evaluate this suite and show each clause of its bar as a test (may be repeated)",
    )
    group.addoption(
        "--agenteval-baseline",
        metavar="RUN",
        help="the run to compare with, in place of the suite's own baseline",
    )
    group.addoption(
        "--agenteval-runs",
        default=None,
        metavar="DIR",
        help="where run folders go (default: data/runs in the root folder)",
    )
    parser.addini(
        "agenteval_suites",
        "suite files whose gate -m evals shows, relative to this file",
        type="paths",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "evals: scores an agent; not run unless asked for")
    wanted: dict[Path, None] = {}
    if asked(config):
        here = config.invocation_params.dir
        named = [here / name for name in config.getoption("--agenteval")]
        wanted = dict.fromkeys(
            path.resolve() for path in named or config.getini("agenteval_suites")
        )
        missing = [str(path) for path in wanted if not path.is_file()]
        if missing:
            raise pytest.UsageError(f"--agenteval: no such suite: {', '.join(missing)}")
        config.args.extend(str(path) for path in wanted)
    config.stash[_suites] = wanted


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What the gate said against the baseline: of a clause that passes, a dot alone would show."""
    told = [
        text
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, text in report.user_properties
        if name == BASELINE
    ]
    if told:
        from agenteval_kit.visible import printable  # what a case is called steers no terminal

        terminalreporter.section("agenteval: against the baseline")
        for text in told:
            terminalreporter.line(printable(text))


def asked(config: pytest.Config) -> bool:
    """Whether this call of pytest asks for items that score an agent."""
    return bool(config.getoption("--agenteval")) or "evals" in config.getoption("markexpr", "")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.resolve() in parent.config.stash[_suites]:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not asked(config):
        left_out = [item for item in items if item.get_closest_marker("evals")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker("evals")]
        return
    # A suite that lies in a folder that is collected anyway would stand here twice.
    seen: set[str] = set()
    once = []
    for item in items:
        if not isinstance(item, GateItem) or item.nodeid not in seen:
            once.append(item)
        seen.add(item.nodeid)
    items[:] = once


class SuiteFile(pytest.File):
    """A suite; it is run and decided on once, when the first of its items asks."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items of the bar's clauses, of the critical cases, and of the evidence."""
        from agenteval_kit.errors import ConfigError

        try:
            suite, bar = self.suite, self.bar
        except ConfigError as error:
            raise self.CollectError(str(error)) from None
        for name in clause_names(bar.bar):
            yield ClauseItem.from_parent(self, name=name)
        if bar.bar.critical is not None:
            for case in suite.items:
                if case.critical:
                    yield CriticalItem.from_parent(self, name=f"critical[{case.id}]", case=case.id)
        yield ClauseItem.from_parent(self, name=EVIDENCE)

    @cached_property
    def suite(self) -> Suite:
        """The suite, read."""
        from agenteval_kit.suite import load_suite

        return load_suite(self.path)

    @cached_property
    def bar(self) -> LoadedBar:
        """The suite's release bar, read."""
        from agenteval_kit.errors import ConfigError, Problem
        from agenteval_kit.gate import load_bar

        if self.suite.bar is None:
            raise ConfigError(
                Problem("names no bar, so there is no clause to show; add bar:", str(self.path))
            )
        return load_bar(self.suite.bar)

    @property
    def result(self) -> RunResult:
        """The run of this call of pytest.

        Raises
        ------
        AgentEvalError
            What stopped it, the same for each item: it is not tried again for the next one.
        """
        made = self._result_or_error
        if isinstance(made, Exception):
            raise made
        return made

    @cached_property
    def _result_or_error(self) -> RunResult | AgentEvalError:
        from agenteval_kit.errors import AgentEvalError
        from agenteval_kit.suite import run_suite

        folder = self.config.getoption("--agenteval-runs")
        root = Path(folder) if folder else self.config.rootpath / "data" / "runs"
        # A warning that pytest turns into an error would be charged to the agent.
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            try:
                return run_suite(self.suite, root=root)
            except AgentEvalError as error:
                return error

    @cached_property
    def decision(self) -> Decision:
        """What the gate says of the run."""
        from agenteval_kit.gate import decide, read_known
        from agenteval_kit.runs import choose_baseline

        run = self.result.run
        named = self.config.getoption("--agenteval-baseline") or None
        baseline = choose_baseline(run, given=named, written=self.suite.baseline)
        known = read_known(run, suite=self.path)
        return decide(
            run,
            self.bar,
            baseline=baseline,
            trust=known.trust(run, self.bar.bar.trust),
            labels=known.labels,
        )

    @cached_property
    def check_rows(self) -> list[CheckRow]:
        """Every check row of the run."""
        return list(self.result.run.check_rows())

    def rows_of(self, name: str) -> list[ClauseRow]:
        """The rows of the decision that the item of this name shows; each row is some item's."""
        names = [*clause_names(self.bar.bar), EVIDENCE]
        return [row for row in self.decision.rows if item_of(row, names) == name]

    def keys_missing(self) -> str:
        """The variables that hold the judges' keys, when none is set; empty otherwise."""
        judge = self.suite.spec.judge
        seats = judge.models if judge is not None else []
        named = dict.fromkeys(seat.api_key_env or "OPENAI_API_KEY" for seat in seats)
        names = list(named) or ["OPENAI_API_KEY"]
        return "" if any(os.environ.get(name) for name in names) else ", ".join(names)


def clause_names(clauses: Bar) -> list[str]:
    """Names of the items of a bar, in its order: a clause, or a clause with its target."""
    by_target: list[tuple[str, Iterable[str]]] = [
        ("hard_layers", clauses.hard_layers),
        ("pass_rate", clauses.pass_rate),
        ("mean", clauses.mean),
        ("never", clauses.never),
        ("win_rate", clauses.win_rate),
        ("no_worse", clauses.no_worse),
    ]
    names = [f"{clause}[{target}]" for clause, targets in by_target for target in targets]
    return names if clauses.critical is None else ["critical", *names]


def item_of(row: ClauseRow, names: list[str]) -> str:
    """The item that shows a row: its own, else its clause's default or first, else the last."""
    own = f"{row.clause}[{row.target}]" if row.target else row.clause
    of_clause = [name for name in names if name.partition("[")[0] == row.clause]
    for name in (own, f"{row.clause}[default]", *of_clause):
        if name in of_clause:
            return name
    return EVIDENCE


class GateItem(pytest.Item):
    """What the two kinds of item share: the marker, and how a failure is shown."""

    parent: SuiteFile

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.add_marker("evals")

    def require_complete(self) -> None:
        """Fail where the run has gaps that are not the agent's: nothing can be concluded."""
        result = self.parent.result
        if not result.complete:
            gaps = [f"  {case}, repeat {n}: {why}" for case, n, why in result.unscored[:SHOWN_IDS]]
            raise NotMet("\n".join([f"incomplete: {result.remedy}", *gaps]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        """Our own messages without a traceback; anything else as pytest shows it."""
        from agenteval_kit.errors import AgentEvalError

        if isinstance(excinfo.value, NotMet | AgentEvalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item comes from: the suite file."""
        return self.path, None, self.name


class ClauseItem(GateItem):
    """One clause of the bar: passes when each of its rows does, whatever the others say."""

    def runtest(self) -> None:
        """Evaluate the suite, if no item has yet, and look at the clause's rows."""
        self.require_complete()
        rows = self.parent.rows_of(self.name)
        # Properties stand in pytest's JUnit XML too, whatever becomes of the item.
        self.user_properties += [
            (BASELINE, f"{row.status}: {row.name}: {row.reason}")
            for row in rows
            if row.clause in COMPARED
        ]
        held = [row for row in rows if row.effect != "none"]
        untold = [row for row in rows if row.status == "cannot tell"]
        if held:
            if all(row.status == "cannot tell" and self._judged(row) for row in held):
                missing = self.parent.keys_missing()
                if missing:
                    pytest.skip(f"not judged: no key in {missing}")
            raise NotMet("\n".join([*map(_told, held), f"run: {self.parent.result.run.path}"]))
        if untold:
            pytest.skip("reported, not counted: " + "; ".join(row.reason for row in untold))
        if not rows and self.name != EVIDENCE:
            raise NotMet("the gate gave no row for this clause, so nothing was seen to hold")

    def _judged(self, row: ClauseRow) -> bool:
        if row.clause in JUDGED:
            return True
        clause = self.parent.bar.bar.no_worse.get(row.target)
        return row.clause == "no_worse" and clause is not None and clause.unit in JUDGED_UNITS


def _told(row: ClauseRow) -> str:
    lines = [f"{row.status}: {row.name}: {row.reason}"]
    if row.bar:
        lines.append(f"  wanted: {row.bar}")
    if row.ids:
        more = f" and {len(row.ids) - SHOWN_IDS:,} more" if len(row.ids) > SHOWN_IDS else ""
        lines.append(f"  cases: {', '.join(row.ids[:SHOWN_IDS])}{more}")
    return "\n".join(lines)


class CriticalItem(GateItem):
    """One critical case: passes when every check of it was seen to hold on every repeat."""

    def __init__(self, *, case: str, **parts: Any) -> None:
        super().__init__(**parts)
        self.case = case

    def runtest(self) -> None:
        """Evaluate the suite, if no item has yet, and look at the case's rows."""
        self.require_complete()
        rows = [row for row in self.parent.check_rows if row.case_id == self.case]
        if not rows:
            raise NotMet(f"{self.case}: nothing was checked, so nothing was seen to hold")
        bad = [row for row in rows if row.passed is not True]
        if bad:
            run = self.parent.result.run.path
            raise NotMet("\n".join([*(_shown(row) for row in bad), f"run: {run}"]))


def _shown(row: CheckRow) -> str:
    status = "failed" if row.passed is False else "unscored"
    where = f", repeat {row.repeat}" + (f", turn {row.turn}" if row.turn is not None else "")
    lines = [f"{status}: {row.case_id}: {row.layer} {row.name}{where}"]
    lines.append(f"  expected {row.expected}")
    lines.append(f"  received {row.received}")
    if row.why:
        lines.append(f"  {row.why}")
    return "\n".join(lines)
