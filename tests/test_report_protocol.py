"""The protocol of `docs/protocol.md`: the page alone answers four questions, on its first screen.

Each answer is looked for in words, and held against what the rows of the run say.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from builders import make_run, passes
from people import calibrated
from releases_made import (
    PAGES,
    hold_hard,
    hold_rate,
    review_flags,
    review_judge,
    ship_alone,
    ship_beside,
)
from verdicts import judge

from agenteval_kit import report
from agenteval_kit.calibrate import write_calibration
from agenteval_kit.cli import main
from agenteval_kit.release import read_release
from agenteval_kit.render import render_release
from agenteval_kit.report.answers import ANSWERS
from agenteval_kit.report.reading import gravest
from agenteval_kit.runs import Run
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.score_interval import tango


class FirstScreen(HTMLParser):
    """What stands open before the first section: its text, links, and the answers by question."""

    VOID = frozenset({"br", "img", "input", "meta", "link", "hr", "path", "line", "circle", "rect"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self.answers: dict[str, str] = {}
        self.answer_links: dict[str, list[str]] = {}
        self.asked = ""
        self.over = False
        self.feed(page)

    def hidden(self) -> bool:
        return any(
            name in ("script", "style", "head", "template", "svg")
            or (name == "details" and "open" not in attributes)
            for name, attributes in self.stack
        )

    def in_answers(self) -> bool:
        return any(attributes.get("class") == "answers" for _, attributes in self.stack)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.over = self.over or tag == "h2"
        if tag in self.VOID or self.over:
            return
        if self.in_answers() and tag == "div":
            self.asked = ""
        self.stack.append((tag, dict(attrs)))
        target = dict(attrs).get("href")
        if tag == "a" and target and not self.hidden():
            self.links.append(target)
            if self.asked:
                self.answer_links[self.asked].append(target)

    def handle_endtag(self, tag: str) -> None:
        if not self.over and tag in [name for name, _ in self.stack]:
            while self.stack.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.over or self.hidden():
            return
        self.text.append(data)
        if not self.in_answers():
            return
        if self.stack[-1][0] == "b" and not self.asked:
            self.asked = data.strip().removesuffix(":")
            self.answers[self.asked], self.answer_links[self.asked] = "", []
        elif self.asked:
            self.answers[self.asked] += data


def first_screen(page: report.Release) -> FirstScreen:
    """The sections that come before the first heading, as the notebook shows them."""
    shown = (report.show_verdict(page), report.show_stamps(page), report.show_clauses(page))
    return FirstScreen("".join(map(str, shown)))


def broken_between(old: Run | None, new: Run) -> set[str]:
    """Cases in which every check passed before and one fails now: from the rows on disk."""

    def passed(run: Run) -> dict[str, bool]:
        found: dict[str, bool] = {}
        for row in run.check_rows():
            found[row.case_id] = found.get(row.case_id, True) and row.passed is True
        return found

    before = passed(old) if old is not None else {}
    return {name for name, fine in passed(new).items() if not fine and before.get(name)}


def ids_in(text: str, run: Run) -> set[str]:
    return {plan.id for plan in run.info.cases if re.search(rf"\b{re.escape(plan.id)}\b", text)}


def hard_failing(page: report.Release, run: Run) -> set[str]:
    """Cases that are critical, or fail in a layer in which no failure is bought back."""
    layers = page.decision.bar.bar.hard_layers if page.decision is not None else ()
    failed = {row.case_id for row in run.check_rows() if row.layer in layers and not row.passed}
    return failed | {plan.id for plan in run.info.cases if plan.critical}


def protocol_page(root: Path, made: Any) -> tuple[report.Release, Run, Run | None, str]:
    run, old, bar, verdict = made(root)
    (root / "bar.yaml").write_text(bar, encoding="utf-8")
    known = None
    if made is review_flags:
        known = write_calibration(root / "calibration.json", calibrated())
    page = read_release(
        run.path,
        baseline=old.path if old is not None else None,
        bar=root / "bar.yaml",
        calibration=known,
    )
    return page, run, old, verdict


@pytest.mark.parametrize("made", PAGES)
def test_the_first_screen_answers_the_four_questions(tmp_path: Path, made: Any) -> None:
    page, run, old, verdict = protocol_page(tmp_path, made)

    seen = first_screen(page)

    assert tuple(seen.answers) == ANSWERS
    may, broke, first, sure = seen.answers.values()
    # May it ship: the gate's word, and the same in plain ones.
    assert verdict in " ".join(seen.text).split()
    opening = {"SHIP": "Yes", "HOLD": "No:", "REVIEW": "Not yet:"}[verdict]
    assert may.strip().startswith(opening)
    # What broke: the cases that the rows on disk say, and no other; or why that cannot be said.
    comparable = old is not None and old.info.suite == run.info.suite
    if comparable:
        named = [name for name in sorted(broken_between(old, run)) if name in ids_in(broke, run)]
        grave = hard_failing(page, run)
        assert set(named) <= broken_between(old, run)
        assert len(named) == min(6, len(broken_between(old, run)))
        # Where not all can be named, none that is grave gives way to one that is not.
        assert set(named) <= grave or grave & broken_between(old, run) <= set(named)
    else:
        why = "Without a baseline" if old is None else "Nothing is held against the baseline"
        assert broke.strip().startswith(why)
    # Which to read first: one transcript, linked to its place on the page, with the reason.
    (link,) = seen.answer_links["Read first"]
    assert f'id="{link.removeprefix("#")}"' in str(report.show_records(page))
    (case_id,) = ids_in(first, run)
    assert len(first.replace(case_id, "").split()) > 3
    broken = broken_between(old if comparable else None, run)
    if broken:
        assert case_id in broken
    # How sure: never without a word.
    assert len(sure.split()) > 4


@pytest.mark.parametrize("made", PAGES)
def test_the_answers_fit_one_screen(tmp_path: Path, made: Any) -> None:
    page, *_ = protocol_page(tmp_path, made)

    seen = first_screen(page)

    # Of 37 lines of 15 words that a screen of 1280 by 900 holds, the answers take a third.
    assert sum(len(answer.split()) for answer in seen.answers.values()) < 37 * 15 / 3
    shown = str(report.show_verdict(page))
    assert "<ol" not in shown or shown.index('class="answers"') < shown.index("<ol")


@pytest.mark.parametrize(
    ("made", "case_id"),
    [(hold_hard, "case-007"), (hold_rate, "case-008"), (review_flags, "case-003"),
     (review_judge, "case-018")],
)  # fmt: skip
def test_what_to_read_first_is_what_decides_most(tmp_path: Path, made: Any, case_id: str) -> None:
    page, run, *_ = protocol_page(tmp_path, made)

    assert ids_in(first_screen(page).answers["Read first"], run) == {case_id}


def test_first_comes_the_critical_case_of_a_hard_layer_where_it_went_wrong(tmp_path: Path) -> None:
    good = {"outcome": True, "policy": True}
    cases = {"a-outcome": good, "b-policy": good, "c-both": good, "d-stood": good}
    bad = {"a-outcome": {"outcome": False, "policy": True}, "b-policy": {**good, "policy": False}}
    both = {"outcome": False, "policy": False}
    critical = ["a-outcome", "c-both", "d-stood"]
    old = make_run(tmp_path, {**cases, "d-stood": both}, critical=critical, name="old")
    new = make_run(tmp_path, {**cases, **bad, "d-stood": both, "c-both": both}, critical=critical)
    (tmp_path / "bar.yaml").write_text("hard_layers: [policy]\ncritical: all\n", encoding="utf-8")
    page = read_release(new.path, baseline=old.path, bar=tmp_path / "bar.yaml")
    assert page.decision is not None

    said = first_screen(page).answers["Read first"].strip()

    assert said.startswith("c-both")
    why = "it is critical, fails hard layer policy and broke since the baseline."
    assert said.endswith(f"First because {why}")
    # Of one case the earliest turn: the last sentence often follows from an act before it.
    early = replace(page.decision.hard_fails[0], turn=3)
    last = replace(early, turn=5)
    assert gravest([last, early], page) is early
    assert gravest([replace(last, turn=None), early], page) is early


def test_what_passes_in_no_repeat_broke_and_the_rest_passes_less_often(tmp_path: Path) -> None:
    yes, no = {"outcome": True}, {"outcome": False}
    old = make_run(tmp_path, {name: [yes, yes] for name in "abcd"}, name="old")
    new = make_run(tmp_path, {"a": [yes, no], "b": [no, no], "c": [no, no], "d": [yes, yes]})

    broke = first_screen(read_release(new.path, baseline=old.path)).answers["What broke"]

    assert broke.strip().startswith(
        "Two cases broke (b, c), passing in no repeat now; one passes less often (a); "
        "none passes more often."
    )


def sure_of(root: Path, made: Any) -> str:
    return " ".join(first_screen(protocol_page(root, made)[0]).text)


def test_how_sure_is_told_with_the_numbers_of_the_run(tmp_path: Path) -> None:
    said = {}
    for made in (ship_alone, hold_rate, hold_hard, review_judge, review_flags):
        (tmp_path / made.__name__).mkdir()
        said[made] = sure_of(tmp_path / made.__name__, made)

    # 35 of 35: the exact one-sided bound, by the arithmetic
    assert (
        f"up to {100 * (1 - 0.05 ** (1 / 35)):.2g} % in outcome is not ruled out"
        in said[ship_alone]
    )
    assert "Under the bar with the whole interval: outcome 40 % (bar 90 %)." in said[hold_rate]
    assert wilson(8, 20).text(percent=True) in said[hold_rate]  # in the clause
    assert "Certain, as checks are exact: the failures of hard_layers policy" in said[hold_hard]
    assert "waits for labels that make the judge trusted" in said[review_judge]
    assert "Judges are trusted on no dimension" in said[review_judge]
    assert "waits for a person to read what is flagged" in said[review_flags]
    assert "Judges are trusted on every judged dimension" in said[review_flags]


def test_what_moved_beyond_noise_is_told_with_its_way_and_interval(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "still").mkdir()

    moved = first_screen(protocol_page(tmp_path / "moved", hold_rate)[0]).answers["What broke"]
    still = first_screen(protocol_page(tmp_path / "still", ship_beside)[0]).answers["What broke"]

    # 18 of 20 before, 8 now: ten broken, none mended; the interval is Tango's
    change = tango(10, 0, 20)
    low, high = (f"−{abs(round(100 * end))}" for end in (change.low or 0, change.high or 0))
    assert f"Outcome fell, −50 points ({low} to {high})." in moved
    assert "none is mended" in moved
    assert "No layer moved beyond noise." in still
    assert "one is mended" in still


def test_an_interval_that_holds_the_bar_is_never_called_sure(tmp_path: Path) -> None:
    (tmp_path / "bar.yaml").write_text("pass_rate: {outcome: 0.85}\n", encoding="utf-8")
    run = make_run(tmp_path, passes(20, 18))

    sure = first_screen(read_release(run.path, bar=tmp_path / "bar.yaml")).answers["How sure"]

    assert "Could be on either side of the bar: outcome 90 % (bar 85 %)." in sure
    assert "whole interval" not in sure


def test_an_untrusted_mean_under_its_bar_is_told_though_no_clause_fails(tmp_path: Path) -> None:
    (tmp_path / "bar.yaml").write_text("mean: {tone: 3.9}\n", encoding="utf-8")
    run = judge(make_run(tmp_path, passes(40, 40)), {f"case-{n:03d}": 2 + n % 2 for n in range(40)})

    sure = first_screen(read_release(run.path, bar=tmp_path / "bar.yaml")).answers["How sure"]

    assert "Under the bar with the whole interval: tone 2.50 (bar 3.9)." in sure


# The order of the page


ORDER = ("hard", "layers", "repeats", "judged", "trends", "records", "reading", "cost", "changes",
         "coverage", "method")  # fmt: skip


def test_the_rendered_page_answers_first_and_keeps_the_order_of_its_sections(
    tmp_path: Path,
) -> None:
    run, old, bar, _ = hold_hard(tmp_path / "runs")
    (tmp_path / "bar.yaml").write_text(bar, encoding="utf-8")

    made = render_release(run, baseline=old, bar=tmp_path / "bar.yaml", out=tmp_path / "page.html")

    page = made.html.read_text(encoding="utf-8")
    seen = FirstScreen(page[page.index("<body") :])
    assert tuple(seen.answers) == ANSWERS
    assert ids_in(seen.answers["What broke"], run) == {"case-007", "case-011"}
    assert f'id="{seen.answer_links["Read first"][0].removeprefix("#")}"' in page
    places = [page.index(f'id="{name}"') for name in ORDER]
    assert places == sorted(places)


def test_each_section_is_one_public_call_in_the_notebook(root: Path) -> None:
    cells = json.loads((root / "notebooks" / "7_release.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

    calls = re.findall(r"report\.(show_\w+)\(page\)", source)

    assert set(calls) <= set(report.__all__)
    assert len(calls) == len(set(calls))
    assert calls == [
        "show_verdict", "show_stamps", "show_clauses", "show_hard_fails", "show_layers",
        "show_repeats", "show_dimensions", "show_preferences", "show_trends",
        "show_judged_trends", "show_records", "show_reading_list", "show_cost", "show_changes",
        "show_coverage", "show_method",
    ]  # fmt: skip


def test_the_pages_of_the_protocol_are_one_of_each_verdict(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents", "bars", "cases", "handbook", "rubrics", "suites"):
        shutil.copytree(root / "data" / name, tmp_path / "data" / name)
    monkeypatch.chdir(tmp_path)
    text = (root / "docs" / "protocol.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = [shlex.split(line)[1:] for line in block.splitlines()]
    reports = [words for words in commands if words[0] == "report"]

    ran = [main(words) for words in commands if words[0] == "run"]
    # The gate decides what the page shows, and takes the same words but for the file.
    asked = [words[1 : words.index("--out")] for words in reports]
    codes = [main(["gate", *words, "--review-exit", "4"]) for words in asked]

    assert ran == [0, 0]
    assert codes == [1, 0, 4]
