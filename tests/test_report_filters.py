"""What records are found under: every choice leaves just the records that it names."""

from __future__ import annotations

import html
import re
from pathlib import Path

from builders import make_run, passes
from verdicts import judge

from agenteval_kit import report
from agenteval_kit.release import read_release
from agenteval_kit.report import Release
from agenteval_kit.runs import Run


def left_by(page: Release, choice: str) -> set[str]:
    """The records that a choice of the filter leaves, by the rules that stand on the page."""
    made = str(report.show_records(page))
    found = dict(re.findall(r'value="(\w+)"[^>]*>([^<]+) \(\d', made))
    names = {html.unescape(words): name for name, words in found.items()}
    name = names[choice]
    (rules,) = re.findall(r"<style>([^<]*)\{display:none\}</style>", made)
    assert f'[value="{name}"]:checked)~.records>li:not([data-in~="{name}"])' in rules
    rows = re.findall(r'<li data-in="([^"]*)" data-name="([^"]*)"[^>]*>', made)
    return {case_id for marks, case_id in rows if name in marks.split()}


def choices(page: Release) -> list[str]:
    """Everything that is offered, with how many records it leaves."""
    made = str(report.show_records(page)).partition("<fieldset")[2]
    return [html.unescape(one) for one in re.findall(r'value="\w+"[^>]*>([^<]+)<', made)]


def judged_release(folder: Path) -> Release:
    """Four judged cases with two repeats each, and a bar with a hard layer."""
    rows = {
        "a": [{"outcome": True}, {"outcome": True}],
        "b": [{"outcome": False}, {"outcome": True}],
        "c": [{"policy": False}, {"policy": False}],
        "d": [{"outcome": None}, {"outcome": True}],
    }
    run = make_run(folder, rows)
    said = {"a": [4, 4], "b": [4, 2], "c": [[1, 3, 4], 3], "d": [1, None]}
    judge(run, said, repeats=True)  # type: ignore[arg-type]
    bar = folder / "bar.yaml"
    bar.write_text("hard_layers: [policy]\n", encoding="utf-8")
    return read_release(Run.open(run.path).path, bar=bar)


def test_each_choice_leaves_the_records_that_it_names(tmp_path: Path) -> None:
    page = judged_release(tmp_path)

    assert left_by(page, "hard fail") == {"c"}
    assert left_by(page, "outcome fails") == {"b"}
    assert left_by(page, "outcome unscored") == {"d"}
    # The lowest of the repeats counts; where a panel has no majority there is no score.
    assert left_by(page, "tone 1") == {"d"}
    assert left_by(page, "tone 2 or lower") == {"b", "d"}
    assert left_by(page, "tone 3 or lower") == {"b", "c", "d"}
    assert left_by(page, "tone unscored") == {"c", "d"}
    # A panel that is split, and a seat that gave no score.
    assert left_by(page, "tone flagged") == {"c", "d"}


def test_nothing_is_offered_that_leaves_no_record(tmp_path: Path) -> None:
    page = read_release(make_run(tmp_path, passes(3, 3)).path)

    assert choices(page) == ["all (3)", "passing (3)"]


def test_counts_stand_in_the_order_in_which_they_are_worth_reading(tmp_path: Path) -> None:
    page = judged_release(tmp_path)

    assert choices(page) == [
        "all (4)", "flaky (1)", "failing (1)", "passing (2)", "hard fail (1)",
        "outcome fails (1)", "outcome unscored (1)", "policy fails (1)",
        "tone 1 (1)", "tone 2 or lower (2)", "tone 3 or lower (3)", "tone unscored (2)",
        "tone flagged (2)",
    ]  # fmt: skip


def test_a_name_in_the_filter_is_text(tmp_path: Path) -> None:
    evil = "<script>x{}\"'"
    page = read_release(make_run(tmp_path, {"a": {evil: False}}).path)

    made = str(report.show_records(page))

    assert "<script" not in made
    assert left_by(page, f"{evil} fails") == {"a"}
    rules = re.findall(r"<style>(.*?)</style>", made)
    assert evil not in "".join(rules)
