"""What labels say of judges, on the page, in a notebook and in a comparison: people come first."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from builders import make_run, passes
from people import calibrated, label, labelled
from verdicts import judge, spread

from agenteval_kit import report
from agenteval_kit.calibrate import write_calibration
from agenteval_kit.compare import compare_checks
from agenteval_kit.gate import Known
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.release import read_release
from agenteval_kit.report import Html, Release
from agenteval_kit.runs import Run

PEOPLE = {"exact": {"value": 0.55, "low": 0.44, "high": 0.66, "n": 80}}
JUDGE = {
    "exact": {"value": 0.9, "low": 0.82, "high": 0.95, "n": 80},
    "kappa_quadratic": {"value": 0.1, "low": -0.1, "high": 0.3, "n": 80},
}


def words(shown: Html) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", " ", shown.markup))
    return " ".join(text.split())


def judged_run(folder: Path, *, name: str = "new", digest: str = "judge-1") -> Run:
    run = make_run(folder, passes(20, 20), name=name)
    return judge(run, spread({4: 6, 3: 14}), digest=digest)


def page_of(
    folder: Path, run: Run, known: Calibration, *, bar: str = "mean: {tone: 3}\n"
) -> Release:
    (folder / "bar.yaml").write_text(bar, encoding="utf-8")
    file = write_calibration(folder / "calibration.json", known)
    return read_release(run.path, bar=folder / "bar.yaml", calibration=file)


def test_an_ambiguous_rubric_stands_before_every_number_of_its_judge(tmp_path: Path) -> None:
    known = calibrated(
        state="not trusted",
        reason="kappa_quadratic 0.10 (-0.10 to 0.30) against 0.4",
        rubric_state="rubric ambiguous",
        ceiling=PEOPLE,
        agreement=JUDGE,
        more_labels=None,
    )

    page = page_of(tmp_path, judged_run(tmp_path), known)

    said = words(report.show_dimensions(page))
    assert said.startswith("Judged dimensions: the rubric of tone is ambiguous; ")
    assert said.index("tone conversation rubric ambiguous") < said.index(" 20 cases ")
    assert said.index("55 % (44 to 66 %)") < said.index("90 % (82 to 95 %)")
    (row,) = [row for row in page.decision.rows if row.clause == "mean"]  # type: ignore[union-attr]
    assert row.reason.startswith("rubric ambiguous; judge not trusted (")


def test_of_a_trusted_judge_the_table_of_agreement_alone_says_why(tmp_path: Path) -> None:
    reason = "kappa_quadratic 0.80 (0.70 to 0.90) against 0.4"
    trusted = calibrated(state="trusted", reason=reason, ceiling=PEOPLE, agreement=JUDGE)
    not_yet = calibrated(state="provisional", reason=reason, agreement=JUDGE)
    run = judged_run(tmp_path)

    assert reason not in words(report.show_dimensions(page_of(tmp_path, run, trusted)))
    assert reason in words(report.show_dimensions(page_of(tmp_path, run, not_yet)))


def test_what_holds_of_each_dimension_is_said_once_under_them(tmp_path: Path) -> None:
    run = judged_run(tmp_path)
    judge(run, spread({4: 6, 3: 14}), name="care", digest="judge-2")
    both = [
        calibrated(name, digest=digest, notes=["alpha has no weights", f"{name} alone"])
        for name, digest in (("tone", "judge-1"), ("care", "judge-2"))
    ]

    known = Calibration(name="two", dimensions=[one.dimensions[0] for one in both])

    said = words(report.show_dimensions(page_of(tmp_path, run, known)))

    assert said.count("lpha has no weights") == 1
    assert said.endswith("On each of these dimensions: alpha has no weights.")
    assert "Tone alone" in said


def test_the_page_says_that_one_level_dominates(tmp_path: Path) -> None:
    note = "exact agreement 0.93 is high only because one level dominates: always saying 4 would "
    known = calibrated(
        state="provisional", reason="too few failures", agreement=JUDGE, more_labels=40,
        notes=[f"{note}reach 0.91"], labelled=100, held_out=80, raters=["ana", "ben"], doubly=100,
    )  # fmt: skip

    said = words(report.show_dimensions(page_of(tmp_path, judged_run(tmp_path), known)))

    assert "provisional about 40 more labels" in said
    assert "always saying 4 would reach 0.91" in said
    assert "100, 80 held out 2 raters, 100 by two or more ceiling unknown" in said


def test_a_command_in_the_reason_of_trust_is_code(tmp_path: Path) -> None:
    known = calibrated(state="provisional", reason="run `agenteval calibrate <RUN>` again")

    shown = report.show_dimensions(page_of(tmp_path, judged_run(tmp_path), known)).markup

    assert "run <code>agenteval calibrate &lt;RUN&gt;</code> again" in shown
    assert "`" not in shown


@pytest.mark.parametrize(
    ("held_out", "reason", "told"),
    [
        (0, "ceiling unknown: no doubly labelled transcripts", "no label held out"),
        (9, "ceiling unknown: no doubly labelled transcripts",
         "nothing held out was labelled by two people"),
        (9, "one scenario only", "one scenario only"),
    ],
)  # fmt: skip
def test_a_gap_that_is_not_there_has_the_reason_that_holds(
    tmp_path: Path, held_out: int, reason: str, told: str
) -> None:
    known = calibrated(
        state="provisional", reason="too few", ceiling=PEOPLE, labelled=16, held_out=held_out,
        doubly=16, raters=["ana", "ben"], gap={"value": None, "reason": reason},
    )  # fmt: skip

    said = words(report.show_dimensions(page_of(tmp_path, judged_run(tmp_path), known)))

    assert f"16 by two or more 55 % (44 to 66 %) no label held out {told}" in said
    assert (reason in said) == (reason == told)


def test_a_stale_judge_is_called_so_wherever_its_numbers_stand(tmp_path: Path) -> None:
    old, new = judged_run(tmp_path, name="old"), judged_run(tmp_path)
    known = Known(calibrated(digest="judge-0"))
    trust = known.trust(new)

    (pair,) = compare_checks(old, new, trust=trust).dimensions_frame().to_dict("records")
    page = page_of(tmp_path, new, calibrated(digest="judge-0"))

    assert pair["trust"] == "stale"
    assert "cannot tell stale one seat" in words(report.show_dimensions(page))
    assert "the judge is stale; with trust mean tone would pass" in words(report.show_verdict(page))


def test_a_trend_says_under_each_mean_whether_its_judge_was_trusted(tmp_path: Path) -> None:
    history = tmp_path / "runs"
    history.mkdir()
    judged_run(history, name="a", digest="judge-0")
    new = judged_run(history, name="b")
    file = write_calibration(tmp_path / "calibration.json", calibrated())

    page = read_release(new.path, history=history, calibration=file)

    said = words(report.show_judged_trends(page))
    assert re.search(r"3\.30 \([^)]*\) trusted .* 3\.30 \([^)]*\) stale", said)


def test_coverage_counts_the_transcripts_that_people_labelled(tmp_path: Path) -> None:
    run = judged_run(tmp_path)
    rows = [label(run, "case-000", 3), label(run, "case-000", 3, rater="ben"),
            label(run, "case-001", 3), label(run, "case-002", None)]  # fmt: skip
    labelled(tmp_path / "labels", rows)

    page = read_release(run.path, labels=tmp_path / "labels")

    assert page.judgements.labelled == {"tone": 2}


@pytest.mark.parametrize("state", ["trusted", "provisional"])
def test_what_was_corrected_stands_beside_the_raw_mean(tmp_path: Path, state: str) -> None:
    pairs = [
        {"case_id": f"case-{n:03d}", "rater": "ana", "human": 3, "judge": 4 if n < 6 else 3,
         "inclusion": 1.0, "design": "uniform"}
        for n in range(20)
    ]  # fmt: skip
    known = calibrated(state=state, pairs=pairs, run="new")

    page = page_of(tmp_path, judged_run(tmp_path), known)

    found = page.judgements.corrected["tone"].found
    assert found is not None
    assert f"20 cases; 20 of 20 transcripts labelled corrected {found.mean.text()}" in words(
        report.show_dimensions(page)
    )
    assert (found.mean.value or 0) < (found.raw_mean.value or 0)


def test_what_people_said_stands_in_the_reading_list(tmp_path: Path) -> None:
    cases = {f"case-{n:03d}": [4, 4, 4] for n in range(20)}
    run = judge(make_run(tmp_path, passes(20, 20), name="new"), {**cases, "case-003": [4, 4, 2]})
    rows = [
        label(run, "case-001", 3),
        label(run, "case-002", 2),
        label(run, "case-003", 3),
        label(run, "case-004", 1, dimension_digest="older"),
    ]
    labelled(tmp_path / "labels", rows)
    (tmp_path / "bar.yaml").write_text("mean: {tone: 2.5}\n", encoding="utf-8")

    page = read_release(run.path, bar=tmp_path / "bar.yaml", labels=tmp_path / "labels")
    said = words(report.show_reading_list(page))

    assert "case-002 (ana 2, the judge 4)" in said
    assert "tone: a person and the judge are two levels apart or more" in said
    assert "case-003 tone: seats on both sides of the bar of 2.5 4 (4, 4, 2) ana 3" in said
    assert "case-001" not in said
    assert "case-004" not in said
