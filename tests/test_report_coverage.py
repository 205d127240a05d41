"""Coverage, flags that people resolved, the reading list, and whether the page answers its reader.

The answers are looked for as `docs/protocol.md` says: on the first screen, in words, and right.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import Rows, make_run, passes
from people import calibrated, label, labelled
from verdicts import judge, spread, trusted

from agenteval_kit import report
from agenteval_kit.calibrate import write_calibration
from agenteval_kit.gate import decide
from agenteval_kit.records import Bar
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.release import read_release
from agenteval_kit.report.reading import open_reasons, reading_list
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.suite.promote import promote_case


def words(shown: object) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", str(shown))).split())


def with_cases(run: Run, changes: Mapping[str, Mapping[str, Any]]) -> Run:
    """The same run, its cases with other plans, written to its folder."""
    plans = tuple(plan.model_copy(update=changes.get(plan.id, {})) for plan in run.info.cases)
    info = run.info.model_copy(update={"cases": plans})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    return Run.open(run.path)


def failure(run: str, case_id: str, said: str, **more: Any) -> LabelRow:
    fields = {"rater": "ana", "at": "2026-03-03T10:00:00Z", **more}
    return LabelRow(kind="failure", run=run, case_id=case_id, failure=said, **fields)


def rows_of(shown: object) -> list[list[str]]:
    """The cells of each row of a table's body."""
    found = re.findall(r"<tr>(.*?)</tr>", str(shown), re.DOTALL)
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in found
    ]


# Coverage


def test_a_failure_mode_is_without_a_case_until_a_tag_or_an_origin_says_otherwise(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path, passes(4, 4))
    run = with_cases(
        run,
        {
            "case-001": {"tags": ("promises-a-date",)},
            "case-002": {"origin": "older/late/0"},
            "case-003": {"origin": "conv-8123"},
        },
    )
    labelled(
        tmp_path / "labels",
        [
            failure(run.id, "case-000", "Promises a date."),
            failure("older", "late", "Blames the courier"),
            failure(run.id, "case-000", "Invents a rule", turn=3),
            failure("older", "conv-8123", "invents a rule", rater="ben"),
        ],
    )

    shown = report.show_coverage(read_release(run.path, labels=tmp_path / "labels"))

    said = words(shown)
    (row,) = [cells for cells in rows_of(shown) if cells[0].casefold() == "invents a rule"]
    assert "1 failure mode without a case" in said
    assert "Failure modes without a case, of 3 that readers noted" in said
    assert row[1:3] == ["2", "ana, ben"]
    assert row[3] == "case-000, turn 3 , older/conv-8123"
    assert "With a case: Blames the courier ( case-002 , by its origin)" in said
    assert "Promises a date. ( case-001 , by its tag)" in said


def test_a_mode_has_a_case_once_its_transcript_was_promoted_and_the_draft_mark_is_off(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents", "cases", "handbook", "suites", "rubrics", "bars"):
        shutil.copytree(root / "data" / name, tmp_path / "data" / name)
    monkeypatch.chdir(tmp_path)
    suite, agent = Path("data/suites/helpdesk.yaml"), "data/agents/helpdesk_v2.yaml"
    before = run_suite(load_suite(suite, agent=agent), out=tmp_path / "before").run
    labelled(
        tmp_path / "labels", [failure("before", "other-salary", "Opens a ticket about others")]
    )

    made = promote_case(before, "other-salary", layer="trajectory")
    file = Path(made.file)
    file.write_text(file.read_text(encoding="utf-8").replace('"draft": true, ', ""))
    after = run_suite(load_suite(suite, agent=agent), out=tmp_path / "after").run

    old, new = (
        words(report.show_coverage(read_release(run.path, labels=tmp_path / "labels")))
        for run in (before, after)
    )
    assert "1 failure mode without a case" in old
    assert "without a case;" not in new
    assert "( other-salary-trajectory , by its origin)" in new


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ((), "failure modes without a case cannot be told"),
        (("read",), "Nobody who read transcripts of this suite wrote a failure down"),
    ],
)
def test_that_nobody_read_and_that_nobody_found_are_two_things(
    tmp_path: Path, kinds: tuple[str, ...], told: str
) -> None:
    run = make_run(tmp_path, passes(2, 2))
    read = [label(run, "case-000", None, kind=kind, dimension="") for kind in kinds]
    labelled(tmp_path / "data" / "labels" / run.info.suite, read)

    page = read_release(run.path)

    assert told in words(report.show_coverage(page))


def test_dimensions_without_labels_are_named_and_other_wordings_do_not_count(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path, passes(4, 4))
    scales = {"tone": (1, 2, 3, 4), "care": (1, 2, 3, 4), "depth": (1, 2, 3, 4)}
    judge(run, spread({4: 4}), name="tone", scales=scales)
    judge(run, spread({4: 4}), name="care", dimension_digest="care-1", digest="judge-2")
    labelled(
        tmp_path / "labels",
        [
            label(run, "case-000", 3),
            label(run, "case-001", 3).model_copy(update={"run": "older"}),
            label(run, "case-002", None),
            label(run, "case-000", 3, dimension="care", dimension_digest="older"),
        ],
    )

    shown = report.show_coverage(read_release(run.path, labels=tmp_path / "labels"))

    cells = {row[0]: row for row in rows_of(shown)}
    assert cells["tone"][-1] == "2, 1 of this run"
    assert cells["care"][-1] == "none"
    assert (cells["depth"][1], cells["depth"][-1]) == ("not judged", "none")
    assert "Nobody has labelled a transcript on care and depth." in words(shown)
    assert "2 dimensions without labels" in words(shown)


def test_people_who_labelled_a_run_that_nobody_judged_are_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))
    labelled(tmp_path / "labels", [label(run, "case-000", 3), label(run, "case-001", 4)])

    shown = report.show_coverage(read_release(run.path, labels=tmp_path / "labels"))

    assert ["tone", "not judged", "", "–", "–", "2"] in rows_of(shown)


def test_a_calibration_says_that_people_labelled_where_their_files_are_not_here(
    tmp_path: Path,
) -> None:
    run = judge(make_run(tmp_path, passes(4, 4)), spread({4: 4}))
    file = write_calibration(tmp_path / "calibration.json", calibrated(labelled=100))

    page = read_release(run.path, calibration=file)

    assert "Every dimension has labels" in words(report.show_coverage(page))


def history_of(root: Path, outcomes: list[dict[str, bool]]) -> list[Run]:
    made = []
    for at, each in enumerate(outcomes):
        cases: dict[str, Rows] = {name: {"outcome": passed} for name, passed in each.items()}
        run = make_run(root, cases, name=f"r{at}", digest=f"suite-{at}")
        run = with_cases(run, {name: {"digest": f"{name}-1"} for name in each})
        info = run.info.model_copy(update={"created": f"2026-03-0{at + 1}T09:00:00Z"})
        (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
        made.append(Run.open(run.path))
    return made


def never_failed(page: report.Release) -> str:
    (told,) = re.findall(r"<details>.*?</details>", str(report.show_coverage(page)), re.DOTALL)
    return words(told)


def test_a_case_that_failed_in_any_run_of_the_history_has_failed(tmp_path: Path) -> None:
    runs = history_of(
        tmp_path / "runs",
        [
            {"always": True, "once": False, "edited": False},
            {"always": True, "once": True, "edited": True},
            {"always": True, "once": True, "edited": True, "new": True},
        ],
    )
    with_cases(runs[0], {"edited": {"digest": "edited-0"}})

    said = never_failed(read_release(runs[2].path, history=tmp_path / "runs"))

    assert said.startswith("3 cases failed no check in any of the 3 runs that are shown")
    assert "always , edited (in 2), new (in 1)" in said
    assert "once" not in said


def test_without_a_history_the_baseline_counts(tmp_path: Path) -> None:
    old, new = history_of(tmp_path, [{"a": False, "b": True}, {"a": True, "b": True}])

    said = never_failed(read_release(new.path, baseline=old.path))

    assert said.startswith("1 case failed no check in either run")
    assert re.findall(r"nothing (.*?) \.", said) == ["b"]


def test_a_case_that_was_not_scored_has_not_passed(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"told": {"outcome": True}, "untold": {"outcome": None}})

    said = never_failed(read_release(run.path))

    assert said.startswith("1 case failed no check in this run")
    assert "untold" not in said


# Flags, and who resolved them


PANEL = {f"case-{n:03d}": [4, 4, 4] for n in range(20)}
FLAGGED = {**PANEL, "case-003": [4, 4, 2], "case-004": [4, 3, 2], "case-005": [4, 2, 4]}
MEAN = "mean: {tone: 2.5}\n"


def flagged_run(root: Path, *, said: Mapping[str, Any] = FLAGGED, **more: Any) -> Run:
    return judge(make_run(root, passes(20, 20), name="new"), said, **more)


def page_of(root: Path, run: Run, *, bar: str = MEAN) -> report.Release:
    (root / "bar.yaml").write_text(bar, encoding="utf-8")
    file = write_calibration(root / "calibration.json", calibrated())
    labels = root / "labels" if (root / "labels").is_dir() else None
    return read_release(run.path, bar=root / "bar.yaml", labels=labels, calibration=file)


def test_a_resolved_flag_says_who_when_which_level_and_why(tmp_path: Path) -> None:
    run = flagged_run(tmp_path)
    review = {"judge_digest": "judge-1", "verdict": 4, "answer": "overrule"}
    labelled(
        tmp_path / "labels",
        [
            label(run, "case-003", 2, kind="review", review=review, note="It never says sorry."),
            label(run, "case-004", 3, rater="ben", at="2026-03-04T11:30:00Z"),
        ],
    )

    shown = report.show_reading_list(page_of(tmp_path, run))

    cells = [row for row in rows_of(shown) if row[0] in ("case-003", "case-004", "case-005")]
    assert "3 verdicts were flagged: 2 resolved by a person, one waits" in words(shown)
    assert cells == [
        ["case-003", "tone: seats on both sides of the bar of 2.5", "4 (4, 4, 2)", "ana 2",
         "2026-03-03 10:00", "ana: It never says sorry."],
        ["case-004", "tone: the panel has no majority", "unscored (4, 3, 2)", "ben 3",
         "2026-03-04 11:30", "no reason given"],
    ]  # fmt: skip


def test_a_resolved_flag_leaves_the_list_and_an_open_one_stays(tmp_path: Path) -> None:
    run = flagged_run(tmp_path)
    labelled(
        tmp_path / "labels",
        [
            label(run, "case-003", 4),
            label(run, "case-004", 3, dimension_digest="older"),
            label(run, "case-005", None),
        ],
    )
    page = page_of(tmp_path, run)

    left = {one.case_id for one in open_reasons(page) if one.flag}

    assert {one.case_id for one in reading_list(page) if one.flag} == {
        "case-003", "case-004", "case-005",
    }  # fmt: skip
    assert left == {"case-004", "case-005"}


def test_the_page_and_the_gate_count_the_same_flags(tmp_path: Path) -> None:
    run = flagged_run(tmp_path)
    labels = labelled(tmp_path / "labels", [label(run, "case-003", 4), label(run, "case-004", 3)])
    page = page_of(tmp_path, run)

    decision = decide(
        run, Bar.model_validate({"mean": {"tone": 2.5}}), trust=trusted("tone"), labels=labels
    )

    (row,) = [row for row in decision.rows if row.clause == "open_flags"]
    assert row.ids == tuple(dict.fromkeys(one.case_id for one in open_reasons(page) if one.flag))
    assert "2 flagged verdicts were resolved" in row.reason
    said = words(report.show_reading_list(page))
    assert "3 verdicts were flagged: 2 resolved by a person, one waits" in said
    assert "The bar waits for people on one case of these" in said


def test_a_flag_that_no_clause_waits_for_is_said_to_be_one(tmp_path: Path) -> None:
    cases: dict[str, Rows] = {name: {"conversation": name != "odd"} for name in ("odd", "even")}
    run = judge(make_run(tmp_path, cases), {"odd": [4, 4, 4], "even": [4, 4, 4]})

    said = words(report.show_reading_list(page_of(tmp_path, run)))

    assert "One verdict was flagged: none resolved by a person, one waits" in said
    assert "The bar waits for people on no case of these" in said


def test_a_level_that_is_never_allowed_waits_as_long_as_the_gate_does(tmp_path: Path) -> None:
    run = flagged_run(tmp_path, said={**PANEL, "case-003": [1, 1, 1]})
    bar = "never: {tone: 1}\n"
    labelled(tmp_path / "labels", [label(run, "case-003", 3)])

    one_person = page_of(tmp_path, run, bar=bar)
    labelled(tmp_path / "labels", [label(run, "case-003", 3, rater="ben")])
    two_people = page_of(tmp_path, run, bar=bar)

    (waiting,) = [one for one in open_reasons(one_person) if one.flag]
    assert waiting.aside == "ana 3; the bar waits for one more person"
    assert [one for one in open_reasons(two_people) if one.flag] == []
    (row,) = [row for row in two_people.decision.rows if row.clause == "never"]  # type: ignore[union-attr]
    assert row.status == "pass"


def test_flags_that_nobody_read_say_how_to_resolve_them(tmp_path: Path) -> None:
    said = words(report.show_reading_list(page_of(tmp_path, flagged_run(tmp_path))))

    assert "3 verdicts were flagged: none resolved by a person, 3 wait" in said
    assert "agenteval review RUN CASE DIMENSION --rater NAME" in said


# Near the bar, and people against judges


def test_failures_are_to_be_read_where_the_rate_could_be_on_either_side(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 18), failures={("case-019", 0): "agent"})
    (tmp_path / "near.yaml").write_text("pass_rate: {outcome: 0.85}\n", encoding="utf-8")
    (tmp_path / "far.yaml").write_text("pass_rate: {outcome: 0.5}\n", encoding="utf-8")

    near = list(reading_list(read_release(run.path, bar=tmp_path / "near.yaml")))
    far = list(reading_list(read_release(run.path, bar=tmp_path / "far.yaml")))

    # Wilson at 18 of 20 is 70 to 97 %; a crash is no doubtful check
    assert [(one.case_id, one.why) for one in near if "near" in one.why] == [
        ("case-018", "outcome: near its bar of 85 % (90 % (70 to 97 %)): is each failure one?")
    ]
    assert not [one for one in far if "near" in one.why]


def test_verdicts_just_under_the_bar_are_to_be_read_until_a_person_has(tmp_path: Path) -> None:
    scores = {f"case-{n:03d}": 4 if n < 6 else 3 for n in range(20)}
    run = judge(make_run(tmp_path, passes(20, 20)), {**scores, "case-019": 2})
    labelled(tmp_path / "labels", [label(run, "case-010", 3)])

    page = page_of(tmp_path, run, bar="mean: {tone: 3.3}\n")

    found = {one.case_id for one in reading_list(page) if "near its bar of 3.3" in one.why}
    assert found == {name for name, score in scores.items() if score == 3} - {
        "case-010", "case-019",
    }  # fmt: skip


def test_people_count_against_a_judge_when_far_or_all_across_the_bar(tmp_path: Path) -> None:
    run = judge(make_run(tmp_path, passes(20, 20)), spread({4: 20}))
    said = {
        "case-000": (2, 4), "case-001": (3, 3), "case-002": (3, 4), "case-003": (4, 4),
    }  # fmt: skip
    labelled(
        tmp_path / "labels",
        [
            label(run, name, level, rater=rater)
            for name, levels in said.items()
            for rater, level in zip(("ana", "ben"), levels, strict=True)
        ],
    )

    page = page_of(tmp_path, run, bar="mean: {tone: 3.5}\n")

    found = [(one.case_id, one.why, one.aside) for one in reading_list(page) if one.aside]
    assert found == [
        ("case-000", "tone: a person and the judge are two levels apart or more",
         "ana 2, ben 4, the judge 4"),
        ("case-001", "tone: people are on the other side of the bar of 3.5 than the judge",
         "ana 3, ben 3, the judge 4"),
    ]  # fmt: skip
