"""docs/files.md: every key of every file stands there with its default, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agenteval_kit.gate import decide, load_bar
from agenteval_kit.records import (
    AgentSpec,
    Bar,
    Case,
    Checks,
    JudgeSpec,
    Scenario,
    SuiteFile,
    UserSpec,
)
from agenteval_kit.records.bars import NoWorseClause, PassRateClause, TrustRule, WinRateClause
from agenteval_kit.records.cases import ScriptLine, SimulatedUser
from agenteval_kit.records.suites import SeatSpec, SourcesSpec
from agenteval_kit.rubrics import load_rubric, rubric_warnings
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import summarise

PAGE = Path(__file__).resolve().parent.parent / "docs" / "files.md"

TABLES: list[tuple[str, str, type[BaseModel]]] = [
    ("Suite", "key", SuiteFile),
    ("Models that judge or play users", "key of `judge`", JudgeSpec),
    ("Models that judge or play users", "key of a seat", SeatSpec),
    ("Models that judge or play users", "key of `sources`", SourcesSpec),
    ("Agent", "key", AgentSpec),
    ("Case", "key", Case),
    ("Scenario", "key", Scenario),
    ("The user", "key of `user`", UserSpec),
    ("The user", "key of a line", ScriptLine),
    ("The user", "key of `simulate`", SimulatedUser),
    ("Bar", "key", Bar),
    ("Bar", "key of `pass_rate`", PassRateClause),
    ("Bar", "key of `win_rate`", WinRateClause),
    ("Bar", "key of `no_worse`", NoWorseClause),
    ("Bar", "key of `trust`", TrustRule),
]
IDS = [f"{model.__name__}" for _, _, model in TABLES]


def section(heading: str) -> str:
    """What stands under a heading, up to the next heading of any depth."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(
        rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert found is not None, heading
    return found[1]


def table(heading: str, head: str) -> dict[str, str]:
    """The default that a table states of each key."""
    rows = section(heading).partition(f"| {head} | takes | default | means |\n")[2]
    found: dict[str, str] = {}
    for line in rows.partition("\n\n")[0].splitlines()[1:]:
        key, _, default, _ = (cell.strip() for cell in line.strip("|").split(" |"))
        assert key not in found, f"{key} stands twice"
        found[key.strip("`")] = default
    return found


def stated(model: type[BaseModel]) -> dict[str, str]:
    """The default of each field, in the words of the page."""
    found: dict[str, str] = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        default: Any = field.default
        if field.is_required():
            found[key] = "required"
        elif default is None or default in ([], {}, ()) or isinstance(default, BaseModel):
            found[key] = "none"
        else:
            found[key] = f"`{str(default).lower() if isinstance(default, bool) else default}`"
    return found


@pytest.mark.parametrize(("heading", "head", "model"), TABLES, ids=IDS)
def test_every_key_stands_in_its_table_with_its_default(
    heading: str, head: str, model: type[BaseModel]
) -> None:
    assert table(heading, head) == stated(model)


def test_every_key_of_checks_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", section("The keys of checks").partition("\n\n`tools")[0]))

    assert named == set(Checks.model_fields)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The files of the page's whole example, in a folder."""
    found = re.findall(
        r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.M
    )
    for name, text in found:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert len(found) == 8
    return tmp_path


@pytest.mark.parametrize(("name", "n"), [("suite.yaml", 3), ("talks.yaml", 1)])
def test_the_whole_suites_load_and_pass(written: Path, name: str, n: int) -> None:
    suite = load_suite(written / name)

    result = run_suite(suite, root=written / "runs")

    rows = list(result.run.check_rows())
    assert [(row.name, row.why) for row in rows if row.passed is not True] == []
    assert len(summarise(result.run).cases) == len(suite.items) == n
    assert decide(result.run, load_bar(written / "bar.yaml")).verdict == "SHIP"


def test_the_invariants_of_the_scenario_are_hard(written: Path) -> None:
    suite = load_suite(written / "talks.yaml")

    names = [check.name for check in suite.checks(suite.items[0]) if check.critical]

    assert [name for name in names if name.startswith("invariant: ")]


def test_the_rubric_loads_without_a_warning(written: Path) -> None:
    rubric = load_rubric(written / "rubric.yaml")

    assert rubric_warnings(rubric) == []


def test_the_index_names_every_page_once_and_no_other() -> None:
    folder = PAGE.parent
    pages = sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")

    named = re.findall(r"^\| \[[^\]]+\]\((\w[\w-]*\.md)\)", (folder / "README.md").read_text(
        encoding="utf-8"), re.MULTILINE)  # fmt: skip

    assert sorted(named) == pages


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", sorted(PAGE.parent.glob("*.md")), ids=lambda path: path.name)
def test_the_links_between_the_pages_lead_somewhere(page: Path) -> None:
    broken: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            broken.append(link)
        elif anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            if anchor not in map(_anchor, headings):
                broken.append(link)

    assert broken == []
