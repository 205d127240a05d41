"""Hard fails stand in the order in which they are to be read, and the page says which."""

from __future__ import annotations

import re
from pathlib import Path

from builders import Rows, make_run
from test_report_sections import release, words

from agenteval_kit import report
from agenteval_kit.records.bars import Bar
from agenteval_kit.runs import Run

BAR = Bar(hard_layers=["policy"], critical="all")


def made_of(root: Path, failing: set[str], *, n: int = 13, name: str) -> Run:
    """Cases with a check of a hard layer; the last but one is critical too."""
    names = [f"case-{at:02d}" for at in range(n)]
    cases: dict[str, Rows] = {one: {"policy": one not in failing} for one in names}
    return make_run(root, cases, name=name, critical=[names[-2]])


def cards(made: report.Html) -> list[str]:
    return re.findall(r"<article.*?(case-\d\d)", str(made), flags=re.DOTALL)


def test_the_gravest_hard_fail_comes_first_and_one_that_broke_before_an_old_one(
    tmp_path: Path,
) -> None:
    every = {f"case-{at:02d}" for at in range(13)}
    old = made_of(tmp_path, every - {"case-12", "case-05"}, name="old")
    page = release(made_of(tmp_path, every, name="new"), old, bar=BAR)

    made = report.show_hard_fails(page)

    assert cards(made)[:4] == ["case-11", "case-05", "case-12", "case-00"]
    assert len(cards(made)) == 10
    # Each card holds its transcript: the ten that stand open are those that were read.
    assert {case for case, _ in page.hard_shown} == set(cards(made))
    assert (
        "Gravest first: what is critical and of a hard layer both, then what the baseline passed, "
        "else as in the suite." in words(made)
    )


def test_one_hard_fail_has_no_order_and_without_a_baseline_none_is_named(tmp_path: Path) -> None:
    one = release(made_of(tmp_path, {"case-03"}, name="one"), bar=BAR)
    two = release(made_of(tmp_path, {"case-03", "case-11"}, name="two"), bar=BAR)

    assert "Gravest" not in words(report.show_hard_fails(one))
    assert "of a hard layer both, else as in the suite." in words(report.show_hard_fails(two))
    assert cards(report.show_hard_fails(two)) == ["case-11", "case-03"]
