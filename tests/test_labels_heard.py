"""Calibration, disagreements and the gate hear the same labels of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled import AFTER, NOW, SCALE, label
from verdicts import judge, scored_run

from agenteval_kit.calibrate import calibrate_run
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import (
    LabelSet,
    LabelWriter,
    hear_people,
    read_labels,
    said_of_run,
    transcript_digest,
)
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.runs import Run, wordings_of

LATER = "2026-03-05T09:00:00Z"


def renamed(run: Run) -> Run:
    """The run under another name of its folder."""
    return Run.open(run.path.rename(run.path.with_name("moved")))


def two_names(folder: Path, run: Run) -> LabelSet:
    """One rater on one transcript: the newer line goes by the run's id and stands first."""
    writer = LabelWriter(folder, "anna")
    for name, score, at in ((run.info.id, 4, LATER), (run.id, 1, AFTER)):
        writer.append(
            [
                LabelRow(
                    run=name, case_id="a", dimension="tone", score=score, levels=SCALE,
                    rater="anna", at=at, dimension_digest="dimension-1", design="uniform",
                    inclusion=1.0,
                )
            ]
        )  # fmt: skip
    writer.close()
    return read_labels(folder)


@pytest.mark.parametrize("other", ["ana", "ANA M"])
def test_one_person_under_two_spellings_is_not_two_people(tmp_path: Path, other: str) -> None:
    first = "Ana" if other == "ana" else "Ana  m"
    for file, rater in (("1.jsonl", first), ("2.jsonl", other)):
        row = {
            "run": "r",
            "case_id": "a",
            "dimension": "tone",
            "score": 1,
            "rater": rater,
            "at": AFTER,
        }
        (tmp_path / file).write_text(json.dumps(row) + "\n", encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        read_labels(tmp_path)

    assert str(error.value) == (
        f'{tmp_path / "2.jsonl"}: rater "{other}" differs from "{first}" in '
        f"{tmp_path / '1.jsonl'} by capitals or blanks alone; give one person one name, or two "
        "people names that differ by more"
    )


@pytest.mark.parametrize("rater", ["ana ", " ana", "\tana"])
def test_a_rater_with_blanks_at_the_ends_is_refused(tmp_path: Path, rater: str) -> None:
    row = {"run": "r", "case_id": "a", "dimension": "tone", "score": 1, "rater": rater, "at": AFTER}
    (tmp_path / "ana.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        read_labels(tmp_path)

    assert "ana.jsonl:1" in str(error.value)
    assert "blanks at its ends" in str(error.value)


@pytest.mark.parametrize("at", ["zzz", "2026-03-01", "2026-03-01T10:00:00", ""])
def test_a_line_that_tells_no_time_is_refused(tmp_path: Path, at: str) -> None:
    row = {"run": "r", "case_id": "a", "dimension": "tone", "score": 1, "rater": "ana", "at": at}
    (tmp_path / "ana.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    with pytest.raises(ConfigError, match="is no time with its zone"):
        read_labels(tmp_path)


def test_of_two_names_of_a_run_the_newest_label_counts_and_not_the_last_line(
    tmp_path: Path,
) -> None:
    run = renamed(scored_run(tmp_path, {"a": 4}))
    labels = two_names(tmp_path / "labels", run)

    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    result = calibrate_run(run, labels, now=NOW)

    assert run.id != run.info.id
    assert [row.score for row in said.rows] == [4]
    assert [pair.human for pair in result.of("tone").pairs] == [4]
    assert result.notes == ("1 label was given again under the other name of the run",)
    heard = hear_people(said.rows, dimension="tone", wordings={"dimension-1"}, levels=SCALE)
    assert [row.score for row in heard.said["a", 0].values()] == [4]


def test_labels_that_do_not_know_their_text_ask_for_no_transcript(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    labels = label(tmp_path / "labels", run, {"anna": {"a": 3}})
    read = iter(run.transcripts())

    said = said_of_run(labels, (run.id, run.info.id), transcripts=read)

    assert [row.score for row in said.rows] == [3]
    assert len(list(read)) == 1


def test_notes_and_failures_add_up_and_another_text_is_left_out(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    writer = LabelWriter(tmp_path / "labels", "anna")
    shared = {"run": run.id, "case_id": "a", "rater": "anna", "at": AFTER}
    writer.append(
        [
            LabelRow(kind="failure", failure="too long", **shared),
            LabelRow(kind="failure", failure="rude", **shared),
            LabelRow(dimension="tone", score=2, transcript_digest="another", **shared),
        ]
    )
    writer.close()

    said = said_of_run(read_labels(tmp_path / "labels"), (run.id,), transcripts=run.transcripts())

    assert [row.failure for row in said.rows] == ["too long", "rude"]
    assert said.other_text == 1


def test_another_panel_is_another_digest_and_the_same_wording(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    judge(run, {"a": 4}, digest="judge-2", dimension_digest="dimension-2")
    judge(run, {"a": 4}, digest="judge-3", dimension_digest="dimension-3", anchor="Sounds")
    first, _, third = stamps = run.judge_stamps()

    assert wordings_of(first, stamps) == {"dimension-1", "dimension-2"}
    assert wordings_of(third, stamps) == {"dimension-3"}


def test_a_label_that_does_not_say_its_wording_is_heard_and_said(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": 3})
    labels = label(tmp_path / "labels", run, {"anna": {"a": 4, "b": 3}}, wording="")

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.held_out == 2
    assert (
        "2 labels do not say their wording and are taken to be of the one that the judge reads"
        in found.notes
    )


def worded(made: Run, score: int, wording: str, at: str, **more: object) -> LabelRow:
    """What anna says of case a under one wording."""
    fields = {
        "run": made.id, "case_id": "a", "dimension": "tone", "score": score, "levels": SCALE,
        "rater": "anna", "at": at, "dimension_digest": wording, **more,
    }  # fmt: skip
    return LabelRow.model_validate(fields)


def written(folder: Path, rows: list[LabelRow]) -> LabelSet:
    writer = LabelWriter(folder, "anna")
    writer.append(rows)
    writer.close()
    return read_labels(folder)


def test_where_an_anchor_is_put_back_the_label_under_it_counts_again(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    rows = [
        worded(run, 3, "dimension-1", AFTER),
        worded(run, 2, "dimension-2", LATER),
    ]
    labels = written(tmp_path / "labels", rows)

    result = calibrate_run(run, labels, now=NOW)
    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    heard = hear_people(said.rows, dimension="tone", wordings={"dimension-1"}, levels=SCALE)

    assert [pair.human for pair in result.of("tone").pairs] == [3]
    assert not [note for note in result.of("tone").notes if "another wording" in note]
    assert ([row.score for row in heard.said["a", 0].values()], heard.older) == ([3], 0)
    # One label a rater and thing, for whoever wants one: what was said last.
    assert [row.score for row in labels.labels()] == [2]


def test_under_one_wording_the_last_label_counts_and_an_undone_one_does_not(
    tmp_path: Path,
) -> None:
    run = scored_run(tmp_path, {"a": 4})
    undo = LabelRow(kind="undo", run=run.id, case_id="a", rater="anna", at=LATER)
    rows = [
        worded(run, 3, "dimension-1", AFTER),
        worded(run, 2, "dimension-2", AFTER),
        worded(run, 1, "dimension-1", LATER),
        undo,
    ]
    labels = written(tmp_path / "labels", rows)

    assert [(row.score, row.dimension_digest) for row in labels.by_wording] == [
        (3, "dimension-1"),
        (2, "dimension-2"),
    ]


def test_labels_of_a_renamed_run_are_heard_by_the_text_that_was_read(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": 2})
    text = {one.case_id: transcript_digest(one) for one in run.transcripts()}
    read = {"transcript_digest": text["a"], "run": "before"}
    other = {"case_id": "b", "run": "another", "transcript_digest": "another text"}
    rows = [
        worded(run, 3, "dimension-1", AFTER, **read),
        # One text of this name stands here word for word, one does not: it is another run.
        worded(run, 1, "dimension-1", AFTER, run="another", transcript_digest=text["a"]),
        worded(run, 1, "dimension-1", AFTER, **other),
    ]
    labels = written(tmp_path / "labels", rows)

    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    result = calibrate_run(run, labels, now=NOW)

    assert [(row.run, row.score) for row in said.rows] == [("before", 3)]
    assert said.names == {run.id, run.info.id, "before"}
    assert result.notes == ("2 labels are of other runs",)


def test_a_line_of_a_time_to_come_is_refused_with_its_place_and_a_clock_may_be_a_day_ahead(
    tmp_path: Path,
) -> None:
    file = tmp_path / "anna.jsonl"
    about = '"run": "r", "case_id": "a", "dimension": "tone", "score": 3, "rater": "anna"'
    lines = [
        f'{{{about}, "at": "2026-03-05T09:00:00Z"}}\n',
        f'{{{about}, "at": "2026-03-05T09:00:01Z"}}\n',
    ]
    file.write_text(lines[0])

    (ahead,) = read_labels(tmp_path, now="2026-03-04T09:00:00Z").rows
    file.write_text("".join(lines))
    with pytest.raises(ConfigError) as refused:
        read_labels(tmp_path, now="2026-03-04T09:00:00Z")
    file.write_text(lines[0].replace("2026-", "9026-"))
    with pytest.raises(ConfigError, match="9026-03-05T09:00:00Z is more than a day ahead"):
        read_labels(tmp_path)

    assert ahead.at == "2026-03-05T09:00:00Z"
    assert str(refused.value) == (
        f'{file}:2: "at" in label: 2026-03-05T09:00:01Z is more than a day ahead of the clock here '
        "(2026-03-04T09:00:00Z); correct the time in the line, or the clock"
    )
