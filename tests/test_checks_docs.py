"""docs/checks.md: every key has an example that passes and one that fails, and both are run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from strategies import case_of, told

from agenteval_kit.checks import Resources, build_checks, run_checks
from agenteval_kit.records import CHECK_KEYS, CheckRow, Transcript

PAGE = Path(__file__).resolve().parent.parent / "docs" / "checks.md"


def polite(transcript: Transcript, case: object) -> tuple[bool, str]:
    """The function of the page's own example."""
    return "good morning" in transcript.answer.lower(), "no greeting"


def examples() -> list[tuple[str, dict[str, Any]]]:
    """The fenced examples, each with the heading that it stands under."""
    found: list[tuple[str, dict[str, Any]]] = []
    for section in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        key = section.partition("\n")[0].strip()
        for block in re.findall(r"```yaml\n(.*?)```", section, re.DOTALL):
            found.append((key, yaml.safe_load(block)))
    return found


EXAMPLES = examples()
IDS = [f"{key}-{position}" for position, (key, _) in enumerate(EXAMPLES)]


def rows_of(example: dict[str, Any], lines: list[dict[str, Any]]) -> list[CheckRow]:
    case = case_of(example["check"])
    checks = build_checks(case, resources=Resources(functions={"examples:polite": polite}))
    return run_checks(told(lines), case, checks)


def test_every_key_has_an_example() -> None:
    assert {key for key, _ in EXAMPLES} == set(CHECK_KEYS)
    assert all(key in example["check"] for key, example in EXAMPLES)


@pytest.mark.parametrize(("key", "example"), EXAMPLES, ids=IDS)
def test_what_the_page_says_passes_passes(key: str, example: dict[str, Any]) -> None:
    rows = rows_of(example, example["passes"])

    assert rows
    assert [row for row in rows if row.passed is not True] == []
    assert all(row.name.startswith(key) and not row.why.strip() for row in rows if key != "python")


@pytest.mark.parametrize(("key", "example"), EXAMPLES, ids=IDS)
def test_what_the_page_says_fails_fails_and_says_why(key: str, example: dict[str, Any]) -> None:
    rows = rows_of(example, example["fails"])

    failed = [row for row in rows if row.passed is False]
    assert [row.why for row in failed][:1] == [example["says"]]
    assert all(row.expected and row.received for row in failed)


def test_the_example_of_a_failed_call_is_shown_with_its_turn() -> None:
    example = dict(EXAMPLES)["max_calls"]

    row = rows_of(example, example["fails"])[0]

    assert (row.expected, row.received, row.turn) == ("at most 1", "2", 0)


def compared() -> list[tuple[str, str, bool, bool, bool]]:
    """The rows of the table of `expect`: expected, one received, free text, strict, equal."""
    section = PAGE.read_text(encoding="utf-8").partition("## How `expect` compares")[2]
    found: list[tuple[str, str, bool, bool, bool]] = []
    for line in section.partition("## outcome")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        wanted = cells[0].split("`")[1]
        for came in cells[1].split(", "):
            received = came.strip("`") if came != "absent" else ""
            equal = cells[2].startswith("equal")
            options = ("free_text" in cells[0], "strict" in cells[0])
            found.append((wanted, received, *options, equal))
    return found


@pytest.mark.parametrize(("wanted", "came", "free", "strict", "equal"), compared())
def test_the_table_of_expect(wanted: str, came: str, free: bool, strict: bool, equal: bool) -> None:
    output = {"path": yaml.safe_load(came)} if came else {"other": 1}
    case = case_of({"expect": {"path": yaml.safe_load(wanted)}, "strict": strict})
    checks = build_checks(case, free_text=["path"] if free else [])

    rows = run_checks(told([{"output": output}]), case, checks)

    assert [row.passed for row in rows] == [equal]


def test_the_table_of_expect_was_read() -> None:
    assert len(compared()) == 17
