"""Failures first: counted, grouped by the reader, and a rubric that nobody uses unread."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from label_runs import open_session, talk_run

from agenteval_kit.errors import ConfigError
from agenteval_kit.label import collect_failures, rubric_skeleton
from agenteval_kit.labels import LabelSet, read_labels
from agenteval_kit.rubrics import load_rubric


def read_by_two(root: Path) -> LabelSet:
    """Four transcripts read by ana, two by ben; one is clean, one skipped by both."""
    run = talk_run(root, 4)
    said = {
        "case-000": [("Gives no address.", 3), ("lies", None)],
        "case-001": [("gives  no address", 1)],
        "case-002": [("no street named", None)],
    }
    for rater, cases in (("ana", tuple(said)), ("ben", ("case-000", "case-001"))):
        with open_session(run, root / "labels", rater, rubric=None, dimensions=None) as session:
            for position in range(session.total):
                session.go(position)
                case_id = session.item[0]
                if case_id not in cases:
                    session.handle({"op": "next" if rater == "ana" else "skip"})
                    continue
                for text, turn in said[case_id]:
                    session.failure(text, turn=turn)
    return read_labels(root / "labels")


def test_equal_wordings_are_one_failure_counted_by_transcript(tmp_path: Path) -> None:
    modes = collect_failures(read_by_two(tmp_path))

    # Case 0 and 1 by both raters: two transcripts, not four; case 3 was read and is clean.
    assert [one.transcripts for one in modes.modes] == [2, 1, 1]
    assert [one.name for one in modes.modes[1:]] == ["lies", "no street named"]
    assert sorted(modes.modes[0].wordings) == ["Gives no address.", "gives  no address"]
    assert modes.modes[0].raters == ("ana", "ben")
    assert set(modes.modes[0].examples) == {("case-000", 0, 3), ("case-001", 0, 1)}
    assert (modes.read, modes.clean) == (4, 1)


def test_the_reader_groups_wordings_under_a_name(tmp_path: Path) -> None:
    labels = read_by_two(tmp_path)

    modes = collect_failures(
        labels, groups={"address missing": ["gives no address", "No street named"]}
    )

    frame = modes.frame()
    pd.testing.assert_frame_equal(
        frame[["failure", "transcripts", "read", "wordings"]],
        pd.DataFrame(
            {
                "failure": ["address missing", "lies"],
                "transcripts": [3, 1],
                "read": [4, 4],
                "wordings": [3, 1],
            }
        ),
    )
    assert frame["raters"].tolist() == ["ana, ben", "ana, ben"]
    assert "case-001, turn 1" in frame["examples"][0]
    assert "4 transcripts read, 1 of them without a failure" in modes._repr_html_()


def test_a_wording_that_nobody_wrote_or_that_stands_twice_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        collect_failures(
            read_by_two(tmp_path), groups={"a": ["lies", "no street name"], "b": ["LIES"]}
        )

    assert [str(one) for one in caught.value.problems] == [
        'group "a": nobody wrote "no street name". Did you mean "no street named"?',
        '"LIES" stands in the groups "a" and "b"; keep one',
    ]


def test_no_failures_is_a_table_without_rows(tmp_path: Path) -> None:
    modes = collect_failures(LabelSet(None, ()))

    assert (modes.modes, modes.read, len(modes.frame())) == ((), 0, 0)
    with pytest.raises(ConfigError, match="nothing to begin with"):
        rubric_skeleton(modes, name="made")


def test_a_skeleton_is_refused_until_every_draft_is_written(tmp_path: Path) -> None:
    modes = collect_failures(read_by_two(tmp_path))
    path = tmp_path / "rubric.yaml"

    text = rubric_skeleton(modes, name="My support", path=path)

    assert path.read_text(encoding="utf-8") == text
    assert "# Seen in 2 of 4 transcripts read, by ana, ben." in text
    assert "case-001, turn 1" in text
    with pytest.raises(ConfigError) as caught:
        load_rubric(path)
    drafts = [one for one in caught.value.problems if "is still a draft" in one.message]
    assert len(drafts) == 3 * 5
    lines = text.splitlines()
    assert all("DRAFT" in lines[one.line - 1] for one in drafts if one.line is not None)

    # Written by hand, it is a rubric like any other.
    path.write_text(text.replace("DRAFT: ", "Seen: "), encoding="utf-8")
    names = [one.name for one in load_rubric(path).dimensions]
    assert names[1:] == ["lies", "no_street_named"]
    assert load_rubric(path).name == "my_support"


def test_a_skeleton_survives_whatever_people_write(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    with open_session(run, tmp_path / "labels", rubric=None, dimensions=None) as session:
        for text in ("it's {{odd}}: #1", "%", "!", "line\nbreak", "name: x\n- y", "é" * 300):
            session.failure(text)
    modes = collect_failures(read_labels(tmp_path / "labels"))

    text = rubric_skeleton(modes, name="x")

    dimensions = yaml.safe_load(text)["dimensions"]
    assert len({one["name"] for one in dimensions}) == len(dimensions) == 6
    path = tmp_path / "rubric.yaml"
    path.write_text(text.replace("DRAFT: ", "Seen: "), encoding="utf-8")
    assert len(load_rubric(path).dimensions) == 6


def test_a_file_that_stands_there_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(ConfigError, match="is there already; name another file"):
        rubric_skeleton(collect_failures(read_by_two(tmp_path)), name="x", path=path)
    assert path.read_text(encoding="utf-8") == "mine"
