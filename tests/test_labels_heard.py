"""Calibration, disagreements and the gate hear the same labels of a run."""

from __future__ import annotations

from pathlib import Path

from labelled import AFTER, NOW, SCALE, label
from verdicts import judge, scored_run

from agenteval_kit.calibrate import calibrate_run
from agenteval_kit.labels import (
    LabelSet,
    LabelWriter,
    hear_people,
    read_labels,
    said_of_run,
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
    heard = hear_people(said.rows, dimension="tone", wordings={"dimension-1"})
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
