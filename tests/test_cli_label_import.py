"""`agenteval label --import` on a real run: into the label files, and what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.demo import shipped_data
from agenteval_kit.label import keep_sample
from agenteval_kit.labels import read_labels, transcript_digest
from agenteval_kit.records.labels import Sample
from agenteval_kit.runs import Run

SUPPORT = str(shipped_data() / "suites" / "support.yaml")
RUBRIC = str(shipped_data() / "rubrics" / "support.yaml")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(tmp_path)
    assert main(["run", SUPPORT, "--out", "run", "--only", "refund-approved,refund-denied"]) == 0
    capsys.readouterr()
    return "run"


def label(*more: str) -> int:
    return main(["label", "run", "--rubric", RUBRIC, "--labels", "labels", *more])


def test_a_table_goes_into_the_label_files_once(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text(
        "case_id,who,groundedness\nrefund-approved,u1,fine\nrefund-denied,u1,2\n"
        "refund-denied,u2,cannot tell\n"
    )
    call = ("--import", "people.csv", "--map", "who=rater", "u1=ana", "u2=ben", "fine=4")

    first = label(*call)
    told = capsys.readouterr().out
    second = label(*call)
    again = capsys.readouterr().out

    assert (first, second) == (0, 0)
    assert (
        told
        == "ana: 2 lines added\nben: 1 line added\n3 labels read, 0 lines stood already: labels\n"
    )
    assert (
        again
        == "ana: nothing new\nben: nothing new\n3 labels read, 3 lines stood already: labels\n"
    )
    found = read_labels(Path("labels")).labels("groundedness")
    assert [(row.rater, row.case_id, row.score) for row in found] == [
        ("ana", "refund-approved", 4),
        ("ana", "refund-denied", 2),
        ("ben", "refund-denied", None),
    ]
    assert {(row.run, row.design, row.origin) for row in found} == {
        ("run", "external", "people.csv (table)")
    }


def test_an_imported_label_says_which_text_it_is_about(run: str) -> None:
    Path("people.csv").write_text("case_id,groundedness\nrefund-approved,4\n")

    label("--import", "people.csv", "--rater", "ana")

    (row,) = read_labels(Path("labels")).labels()
    read = {one.case_id: transcript_digest(one) for one in Run.open(Path(run)).transcripts()}
    assert row.transcript_digest == read["refund-approved"]


def test_nothing_is_written_where_one_rater_cannot_be(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text(
        "case_id,rater,groundedness\nrefund-approved,ana,4\nrefund-approved,Ben,4\n"
        "refund-approved,ben,4\n"
    )

    code = label("--import", "people.csv")

    assert code == 2
    assert 'rater "ben" differs from "Ben" by capitals alone' in capsys.readouterr().err
    assert list(Path("labels").glob("*.jsonl")) == []


def test_names_are_held_against_the_folder_that_is_written_to(run: str) -> None:
    Path("people.csv").write_text("case_id,groundedness\nrefund-approved,4\n")
    Path("Ana.jsonl").touch()

    assert label("--import", "people.csv", "--rater", "ana") == 0


def test_a_torn_line_that_an_import_cuts_off_is_told(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("case_id,groundedness\nrefund-approved,4\n")
    Path("labels").mkdir()
    Path("labels/ana.jsonl").write_text('{"kind": "lab', encoding="utf-8")

    assert label("--import", "people.csv", "--rater", "ana") == 0

    assert "ana.jsonl" in capsys.readouterr().err.partition("warning: ")[2]


def test_a_label_from_the_future_is_refused(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text(
        "case_id,at,groundedness\nrefund-approved,9999-01-01T00:00:00Z,4\n"
    )

    assert label("--import", "people.csv", "--rater", "ana") == 2
    assert (
        'at holds "9999-01-01T00:00:00Z", which is more than a day ahead' in capsys.readouterr().err
    )


def test_a_case_that_the_run_has_not_is_told_and_nothing_is_written(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("case_id,groundedness\nrefund-aproved,4\nrefund-denied,9\n")

    code = label("--import", "people.csv", "--rater", "ana")

    assert code == 2
    assert capsys.readouterr().err == (
        'people.csv:2: the run has no case "refund-aproved". Did you mean "refund-approved"?\n'
        'people.csv:3: groundedness holds "9"; a level (1 to 4) or "cannot tell" was wanted\n'
    )
    assert not Path("labels").exists()


def test_argilla_without_states_is_brought_in_with_a_note(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"groundedness": [{"value": 3, "user_id": "u1"}]}
    record = {"id": "refund-denied", "metadata": {}, "fields": {}, "responses": answers}
    Path("records.json").write_text(json.dumps([record]))

    code = label("--import", "records.json", "--map", "id=case_id", "u1=ana")

    assert code == 0
    assert (
        "note: the file does not say of 1 label whether it was submitted; drafts may be among "
        "them. Argilla's to_list(flatten=True) says so\n"
    ) in capsys.readouterr().err


def drawn(run: str) -> Sample:
    return keep_sample(Path("labels"), Run.open(Path(run)), name="calib", purpose="calibration")


def test_labels_without_a_time_or_a_draw_are_counted_with_the_remedy(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ben.csv").write_text("case_id,groundedness\nrefund-approved,4\nrefund-denied,2\n")

    assert label("--import", "ben.csv", "--rater", "ben") == 0

    assert capsys.readouterr().err == (
        "note: 2 labels without a time: as they may be older than the judge, half of their "
        "scenarios are kept for tuning. Add a column at (like 2026-03-31T14:05:00Z) and import "
        "again\n"
        "note: 2 labels without a draw: beside labels that were drawn they are left out of the "
        "comparison with the judge; where a sample in the folder drew the transcripts, import "
        "again with --sample NAME or a column sample\n"
    )


@pytest.mark.parametrize("column", [True, False])
def test_the_draw_of_a_standing_sample_goes_into_imported_labels(
    run: str, capsys: pytest.CaptureFixture[str], column: bool
) -> None:
    sample = drawn(run)
    text = "case_id,groundedness,at\nrefund-denied,2,2026-03-31T14:05:00Z\n"
    if column:
        text = text.replace("at\n", "at,sample\n").replace("Z\n", "Z,calib\n")
    Path("ben.csv").write_text(text)

    more = () if column else ("--sample", "calib")
    assert label("--import", "ben.csv", "--rater", "ben", *more) == 0

    assert capsys.readouterr().err == ""
    (row,) = read_labels(Path("labels")).labels()
    assert (row.sample, row.design, row.purpose) == ("calib", sample.design, "calibration")
    item = next(one for one in sample.items if one.case_id == "refund-denied")
    assert (row.stratum, row.inclusion) == (item.stratum, item.inclusion)


def test_the_same_labels_with_more_are_written_again_and_count(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(run)
    poor = "case_id,groundedness\nrefund-approved,4\nrefund-denied,2\n"
    Path("ben.csv").write_text(poor)
    label("--import", "ben.csv", "--rater", "ben")
    capsys.readouterr()
    rich = "case_id,groundedness,at\n" + "".join(
        f"{line},2026-03-31T14:05:00Z\n" for line in poor.splitlines()[1:]
    )
    Path("ben.csv").write_text(rich)
    call = ("--import", "ben.csv", "--rater", "ben", "--sample", "calib")

    label(*call)
    told = capsys.readouterr()
    label(*call)
    again = capsys.readouterr()

    assert told.out.startswith("ben: 2 lines added\n")
    assert told.err == (
        "note: labels that stood already are given again with at (2), sample (2), design (2), "
        "stratum (2), inclusion (2)\n"
    )
    assert (again.out.splitlines()[0], again.err) == ("ben: nothing new", "")
    found = read_labels(Path("labels"))
    assert len(found.rows) == 4
    assert [row.undated for row in found.rows] == [True, True, False, False]
    assert {(row.at, row.sample, row.score) for row in found.labels()} == {
        ("2026-03-31T14:05:00Z", "calib", 4),
        ("2026-03-31T14:05:00Z", "calib", 2),
    }


def test_what_a_file_says_otherwise_of_a_standing_label_is_told(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (30, 31):
        Path("ben.csv").write_text(
            f"case_id,groundedness,at\nrefund-denied,2,2026-03-{day}T14:05:00Z\n"
        )
        label("--import", "ben.csv", "--rater", "ben")

    told = capsys.readouterr()
    assert "ben: nothing new" in told.out
    assert (
        "note: the file says at (1) otherwise than the same labels that stand already; what "
        "stands there counts\n"
    ) in told.err


def test_a_sample_that_does_not_stand_in_the_folder_is_refused(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(run)
    Path("ben.csv").write_text("case_id,groundedness\nrefund-denied,2\n")

    assert label("--import", "ben.csv", "--rater", "ben", "--sample", "calbi") == 2

    assert (
        capsys.readouterr().err
        == 'labels/samples/calbi.json: there is no such sample. Did you mean "calib"?\n'
    )


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        (("--import", "none.csv", "--n", "5", "--voila"), "leave --n, --voila out"),
        (("--import", "none.csv", "--purpose", "tuning"), "leave --purpose out"),
        (("--rater", "ana", "--map", "a=b"), "--map and --format are for labels of --import"),
        ((), "who reads? name the rater with --rater NAME"),
        (("--import", "none.csv"), "none.csv: there is no such file"),
        (("--import", "none.csv", "--map", "x"), '--map "x": THEIRS=OURS was wanted'),
        (("--import", "none.csv", "--format", "cvs"), 'unknown format "cvs". Did you mean "csv"?'),
    ],
)
def test_a_call_that_cannot_be_meant_says_what_was_wanted(
    run: str, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], wanted: str
) -> None:
    assert label(*more) == 2
    assert wanted in capsys.readouterr().err


def test_the_example_of_the_page_runs(run: str) -> None:
    page = (shipped_data().parent / "docs" / "labels-import.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    Path("people.csv").write_text("case_id,rater,groundedness\nrefund-denied,ana,3\n")
    Path("rubric.yaml").write_text(Path(RUBRIC).read_text())

    exec(found[1], {"run": Run.open(Path(run))})

    assert [row.score for row in read_labels(Path("data/labels/mine")).labels()] == [3]
