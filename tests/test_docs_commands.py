"""What the pages say of the command line holds: the commands run, and their options exist."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.cli.options import make_parser

PAGES = ("judging", "pairwise", "planning", "gate")
COPIED = ("agents", "bars", "cases", "handbook", "rubrics", "scenarios", "suites", "tapes")


def commands_of(text: str) -> list[list[str]]:
    """The commands of the shell examples, as words."""
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[1:] for line in words if line[:1] == ["agenteval"]]


def section(text: str, heading: str) -> str:
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_the_commands_run_in_the_order_of_the_pages(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in COPIED:
        shutil.copytree(root / "data" / name, tmp_path / "data" / name)
    monkeypatch.chdir(tmp_path)
    pages = {name: (root / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}
    commands = [command for name in PAGES for command in commands_of(pages[name])]

    codes = {shlex.join(command): main(command) for command in commands}

    told = capsys.readouterr()
    assert {command.split()[0] for command in codes} == {
        "run", "judge", "compare", "plan", "withdraw",
    }  # fmt: skip
    assert set(codes.values()) == {0}
    assert "119 more on the tape" in told.err
    assert "124 replies" in told.out
    shown = re.search(r"```\n(210 pairs.*?)```", pages["pairwise"], re.DOTALL)
    assert shown is not None
    for line in shown[1].splitlines():
        assert line in told.err + told.out


@pytest.mark.parametrize(
    ("page", "command"), [("judging", "judge"), ("pairwise", "compare"), ("planning", "plan")]
)
def test_every_option_that_a_page_names_exists(root: Path, page: str, command: str) -> None:
    text = section(
        (root / "docs" / f"{page}.md").read_text(encoding="utf-8"), "On the command line"
    )
    parsers = next(
        action.choices
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    known = {name for action in parsers[command]._actions for name in action.option_strings}
    elsewhere = {name for other in ("run", "gate") for action in parsers[other]._actions
                 for name in action.option_strings}  # fmt: skip

    named = set(re.findall(r"--[a-z][a-z-]+", text))

    assert named - known - elsewhere == set()
    if page != "pairwise":  # that page refers to the options of `judge` by a link
        assert known - named - {"-h", "--help"} == set()


def test_the_page_on_reports_lists_every_notebook(root: Path) -> None:
    page = (root / "docs" / "reports.md").read_text(encoding="utf-8")
    shipped = sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))

    named = re.findall(r"^\| `(\d_\w+)` \|", section(page, "Notebooks"), re.MULTILINE)

    assert named == shipped
