"""A rater's session: what is shown, what reaches the disk, and what survives a kill."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from label_runs import RUBRIC, open_session, talk, talk_run
from verdicts import judge

from agenteval_kit.errors import ConfigError
from agenteval_kit.label import Session, keep_sample, review_verdict, sample_run
from agenteval_kit.label.shown import LONGEST
from agenteval_kit.labels import merge_labels, read_labels, read_sample
from agenteval_kit.records import Dimension, Rubric, Source, ToolCall, Transcript, Turn
from agenteval_kit.report import show_labelled
from agenteval_kit.rubrics import dimension_digest, rubric_digest
from agenteval_kit.runs import Run

TESTS = Path(__file__).resolve().parent


def lines(folder: Path, rater: str = "ana") -> list[dict[str, Any]]:
    """The rater's file, line by line."""
    path = folder / f"{rater}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def order(session: Session) -> list[tuple[str, int]]:
    """In which order the transcripts are read."""
    found = []
    for position in range(session.total):
        session.go(position)
        found.append(session.item)
    return found


def score_of(session: Session, dimension: str = "tone") -> tuple[bool, int | None]:
    """Whether the open transcript is labelled, and how."""
    own = next(one for one in session.view()["dimensions"] if one["name"] == dimension)
    return own["answered"], own["score"]


def test_a_label_is_this_line_on_disk(tmp_path: Path) -> None:
    run = judge(talk_run(tmp_path, 1), {"case-000": 2})
    sample = sample_run(run, name="first", now=lambda: "2026-03-02T08:00:00Z")
    session = open_session(run, tmp_path / "labels", sample=sample)

    session.note("names no address")
    session.mark(3)
    session.label(2)

    # A golden line: another shape is another file format, and old labels would not be read.
    assert lines(tmp_path / "labels")[-1] == {
        "run": "run",
        "case_id": "case-000",
        "transcript_digest": sample.items[0].transcript_digest,
        "dimension": "tone",
        "score": 2,
        "levels": [1, 2, 3, 4],
        "rubric": "made 7",
        "rubric_digest": rubric_digest(RUBRIC),
        "dimension_digest": dimension_digest(RUBRIC.dimensions[0]),
        "rater": "ana",
        "at": "2026-03-02T09:00:02Z",
        "note": "names no address",
        "turn": 3,
        "sample": "first",
        "design": "uniform",
        "purpose": "tuning",
        "stratum": "1-2",
        "inclusion": 1.0,
    }
    assert read_sample(tmp_path / "labels" / "samples" / "first.json") == sample


def test_two_raters_read_in_orders_of_their_own_that_stay(tmp_path: Path) -> None:
    run, folder = talk_run(tmp_path, 12), tmp_path / "labels"
    with open_session(run, folder, "ana") as one, open_session(run, folder, "ben") as two:
        first, second = order(one), order(two)

    with open_session(run, folder, "ana") as again:
        assert order(again) == first
    assert first != second
    assert sorted(first) == sorted(second) == [(f"case-{at:03d}", 0) for at in range(12)]


def test_a_label_goes_to_the_next_dimension_then_to_the_next_transcript(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels", dimensions=None)
    assert (session.position, session.dimension) == (0, "tone")

    session.label(3)
    assert (session.position, session.dimension) == (0, "facts")
    session.label(None)
    assert (session.position, session.dimension) == (1, "tone")
    session.choose("facts")
    session.label(1)
    assert (session.position, session.dimension) == (1, "tone")
    session.label(4)

    assert session.finished
    assert session.progress == {"done": 2, "skipped": 0, "total": 2, "labels": 4}
    assert [(one["dimension"], one.get("score")) for one in lines(tmp_path / "labels")] == [
        ("tone", 3), ("facts", None), ("facts", 1), ("tone", 4),
    ]  # fmt: skip


def test_what_was_skipped_comes_again_at_the_end(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 3), tmp_path / "labels")

    session.skip()
    session.label(1)
    assert session.position == 2
    session.label(1)

    assert session.position == 0
    assert (session.finished, session.progress["skipped"]) == (False, 1)
    session.label(4)
    assert (session.finished, session.progress["skipped"]) == (True, 0)


def test_a_skipped_transcript_that_is_taken_up_is_skipped_no_more(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels", dimensions=None)
    session.skip()
    session.back()

    session.label(1)

    assert session.progress == {"done": 0, "skipped": 0, "total": 2, "labels": 1}
    assert not session.view()["skipped"]


def test_back_reopens_what_was_just_left_and_a_changed_mind_is_a_new_line(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 3), tmp_path / "labels")
    session.label(1)

    session.back()
    assert (session.position, score_of(session)) == (0, (True, 1))
    session.label(2)

    assert session.position == 1
    assert [one["score"] for one in lines(tmp_path / "labels")] == [1, 2]
    assert [row.score for row in read_labels(tmp_path / "labels").labels()] == [2]


def test_the_same_label_again_writes_nothing(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels")
    session.note("short")
    session.label(1)
    before = lines(tmp_path / "labels")

    session.back()
    session.label(1)
    session.back()
    session.note(" short ")
    session.mark(None)

    assert lines(tmp_path / "labels") == before


def test_a_note_after_the_label_is_a_new_line_that_keeps_the_level(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels")
    session.label(3)
    session.back()

    session.note("too long")

    (row,) = read_labels(tmp_path / "labels").labels()
    assert (row.score, row.note) == (3, "too long")
    assert session.position == 0


def test_undo_takes_one_line_back_and_stands_where_it_was_given(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 3), tmp_path / "labels", dimensions=None)
    for score in (1, 0, 2):
        session.label(score)
    assert (session.position, session.dimension) == (1, "facts")

    session.undo()
    assert (session.position, session.dimension) == (1, "tone")
    session.undo()
    assert (session.position, session.dimension) == (0, "facts")
    assert score_of(session) == (True, 1)

    assert [row.dimension for row in read_labels(tmp_path / "labels").labels()] == ["tone"]
    session.undo()
    with pytest.raises(ConfigError, match="there is nothing to undo"):
        session.undo()


def test_undo_does_not_reach_into_another_run_or_a_review(tmp_path: Path) -> None:
    one = judge(talk_run(tmp_path, 1, name="one"), {"case-000": 2})
    two = talk_run(tmp_path, 1, name="two", about="two ")
    with open_session(one, tmp_path / "labels") as session:
        session.label(2)
    (verdict,) = one.verdict_rows()

    with open_session(two, tmp_path / "labels") as session:
        with pytest.raises(ConfigError, match='case "case-000" of "one", sample "none"'):
            session.undo()
        review_verdict(tmp_path / "labels", "ana", run=one, verdict=verdict, answer="confirm",
                       reason="agreed")  # fmt: skip
        with pytest.raises(ConfigError, match="a review"):
            session.undo()
    assert len(lines(tmp_path / "labels")) == 2


def test_a_new_session_stands_at_the_first_unfinished_transcript(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 4)
    with open_session(run, tmp_path / "labels") as session:
        session.label(1)
        session.skip()
        session.label(2)

    with open_session(run, tmp_path / "labels") as again:
        assert again.position == 3
        assert again.progress == {"done": 2, "skipped": 1, "total": 4, "labels": 2}
        again.go(2)
        assert score_of(again) == (True, 2)


def test_labels_under_other_words_are_asked_for_again(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    with open_session(run, tmp_path / "labels", dimensions=None) as session:
        for score in (1, 0, 2, 1):
            session.label(score)
    edited = RUBRIC.model_copy(
        update={
            "dimensions": [
                RUBRIC.dimensions[0].model_copy(update={"definition": "How it reads."}),
                RUBRIC.dimensions[1],
            ]
        }
    )

    with open_session(run, tmp_path / "labels", rubric=edited, dimensions=None) as again:
        assert again.progress["done"] == 0
        assert again.progress["labels"] == 2
        assert '2 labels on "tone" given under other words' in again.view()["message"]
        again.label(4)
        assert (again.position, again.dimension) == (1, "tone")


def test_a_run_whose_folder_was_renamed_goes_on_where_it_was_left(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    sample = sample_run(run, name="first")
    with open_session(run, tmp_path / "labels", sample=sample) as session:
        session.label(2)
    moved = Run.open(run.path.rename(tmp_path / "moved"))

    with open_session(moved, tmp_path / "labels", sample=sample) as again:
        assert again.progress == {"done": 1, "skipped": 0, "total": 3, "labels": 1}
        again.label(3)
    page = str(show_labelled(read_labels(tmp_path / "labels"), sample)._repr_html_())
    assert re.findall(r"<td[^>]*>(\d+)</td>", page)[:2] == ["2", "2"]
    assert keep_sample(tmp_path / "labels", moved, name="first") == sample
    with open_session(moved, tmp_path / "labels", sample=sample) as again:
        again.undo()
        again.undo()
        assert again.progress["labels"] == 0


def test_where_an_anchor_is_put_back_the_labels_under_it_are_there_again(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    edited = RUBRIC.model_copy(
        update={
            "dimensions": [RUBRIC.dimensions[0].model_copy(update={"definition": "How it reads."})]
        }
    )
    with open_session(run, tmp_path / "labels") as session:
        session.label(2)
    with open_session(run, tmp_path / "labels", rubric=edited) as session:
        session.label(4)

    with open_session(run, tmp_path / "labels") as again:
        assert (again.finished, score_of(again)) == (True, (True, 2))


def test_a_name_is_one_name_whatever_keyboard_made_it(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    for name in ("Zoe\u0308", "Zo\u00eb"):
        with open_session(run, tmp_path / "labels", name) as session:
            session.label(2)

    assert read_labels(tmp_path / "labels").raters == ("Zo\u00eb",)
    assert [one.name for one in (tmp_path / "labels").glob("*.jsonl")] == ["Zo\u00eb.jsonl"]


def test_a_name_that_differs_from_anothers_in_capitals_alone_is_refused(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    open_session(run, tmp_path / "labels", "Rater-A").label(2)

    with pytest.raises(ConfigError) as refused:
        open_session(run, tmp_path / "labels", "rater-a")

    assert str(refused.value) == (
        f'rater "rater-a": "Rater-A" has labelled in {tmp_path / "labels"} already; give that '
        "name if it is the same person, or one that differs by more than capitals"
    )
    open_session(run, tmp_path / "labels", "Rater-A").close()


def test_another_sample_of_the_run_starts_anew(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    with open_session(run, tmp_path / "labels") as session:
        session.label(1)
    sample = sample_run(run, name="second")

    with open_session(run, tmp_path / "labels", sample=sample) as again:
        assert again.progress["labels"] == 0


def test_a_second_process_as_the_same_rater_is_refused_in_words(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    code = (
        "import sys; from pathlib import Path; from label_runs import open_session\n"
        "from agenteval_kit.runs import Run\n"
        "open_session(Run.open(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    call = [sys.executable, "-c", code, str(run.path), str(tmp_path / "labels")]

    with open_session(run, tmp_path / "labels"):
        second = subprocess.run(call, cwd=TESTS, capture_output=True, text=True)
    third = subprocess.run(call, cwd=TESTS, capture_output=True, text=True)

    assert 'somebody is labelling as "ana" already' in second.stderr
    assert third.returncode == 0


def test_the_same_cell_run_again_takes_over_and_both_stay_true(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    old = open_session(run, tmp_path / "labels")
    old.label(1)
    new = open_session(run, tmp_path / "labels")
    new.label(2)

    # The cell's old screen is still there, and somebody clicks in it.
    old.go(1)
    assert score_of(old) == (False, None)
    old.label(2)
    assert score_of(old) != (True, 1)
    new.close()
    old.label(3)

    assert old.finished
    assert [one["score"] for one in lines(tmp_path / "labels")] == [1, 2, 3]


def test_a_merge_beside_an_open_session_loses_no_label(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 4)
    session = open_session(run, tmp_path / "labels")
    session.note("first")
    session.label(1)
    with open_session(run, tmp_path / "laptop") as other:
        other.go(3)
        other.label(4)

    made = merge_labels(tmp_path / "labels", tmp_path / "laptop")
    session.label(2)

    assert made.twice == ("ana",)
    assert [one.get("score") for one in lines(tmp_path / "labels")] == [None, 4, 1, 2]
    assert session.progress["labels"] == 3


def test_a_case_withdrawn_beside_an_open_session_is_told_and_not_shown(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    session = open_session(run, tmp_path / "labels")
    gone = session.item[0]
    session.go(1)
    run.withdraw(gone, by="dpo", reason="asked to")

    assert session.handle({"op": "go", "position": 0})["ok"]
    view = session.view()

    assert view["turns"] == []
    assert "cannot be read where it stood" in view["error"]
    assert not session.handle({"op": "label", "score": 1})["ok"]


@given(
    message=st.dictionaries(
        st.sampled_from(["op", "score", "text", "turn", "position", "dimension", "place", "seen"]),
        st.one_of(
            st.sampled_from(["label", "note", "mark", "failure", "go", "choose", "whole", "back"]),
            st.none(), st.booleans(), st.integers(-2, 5), st.floats(), st.text(max_size=5),
            st.lists(st.integers(), max_size=2),
        ),
    )
)  # fmt: skip
def test_no_message_raises_through_a_widget(
    message: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("any")
    with open_session(talk_run(top, 2), top / "labels") as session:
        came = session.handle(message)
        json.dumps(session.view())

        assert came["ok"] == (not came["error"])
        read_labels(top / "labels")


def test_nothing_of_a_judge_a_stratum_or_another_rater_is_in_the_view(tmp_path: Path) -> None:
    run = judge(
        talk_run(tmp_path, 4),
        {f"case-{at:03d}": 1 + at for at in range(4)},
        model="judge-of-seville",
        justification="Quite a justification.",
    )
    sample = sample_run(run, 3, name="first")
    with open_session(run, tmp_path / "labels", "ben", sample=sample) as other:
        other.note("what ben thinks")
        other.failure("what ben saw")
        other.label(1)

    with open_session(run, tmp_path / "labels", sample=sample) as session:
        shown = [json.dumps(session.view()) for at in range(3) for _ in [session.go(at)]]

    for secret in ("seville", "justification", "judge-1", "ben", "inclusion", "stratum", "1-2"):
        assert not any(secret in one for one in shown), secret


def test_the_view_holds_what_a_reader_needs(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    session = Session(run, RUBRIC, tmp_path / "labels", "ana", expected={"case-000": "found"})
    session.note("so so")
    session.failure("says it twice", turn=1)

    view = session.view()

    assert view["item"] == {"case_id": "case-000", "repeat": 0}
    assert view["expected"] == "found"
    assert [one["role"] for one in view["turns"]] == ["user", "assistant", "tool", "assistant"]
    (call,) = view["turns"][1]["calls"]
    assert call["name"] == "find"
    assert json.loads(call["arguments"]) == {"what": "case-000 0"}
    assert (call["result"], call["result_turn"]) == ("found case-000 0", 2)
    assert view["turns"][2]["answers"] == 1
    tone = view["dimensions"][0]
    assert (tone["levels"], tone["anchors"]["2"]) == ([1, 2, 3, 4], RUBRIC.dimensions[0].anchors[2])
    assert (tone["answered"], tone["score"], tone["note"]) == (False, None, "so so")
    assert view["failures"] == [{"text": "says it twice", "turn": 1}]
    assert view["saved_at"]
    json.dumps(view, allow_nan=False)


def test_a_long_tool_result_is_cut_and_can_be_had_whole(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    long = "x" * (LONGEST + 12_345)
    call = ToolCall(id="1", name="find", arguments={}, result=long, result_turn=1)
    writer = run.writer()
    writer.add_transcripts(
        [
            Transcript(
                case_id="long",
                turns=(Turn(role="assistant", calls=(call,)), Turn(role="tool", text=long)),
                sources=(Source(id="s", text=long),),
            )
        ]
    )
    writer.close()
    session = open_session(run, tmp_path / "labels")
    session.go([case_id for case_id, _ in order(session)].index("long"))

    view = session.view()

    assert view["turns"][0]["calls"][0]["result"].endswith("\n… 12,345 characters left out")
    places = {one["place"] for one in view["cut"]}
    assert places == {"turns/0/calls/0/result", "turns/1/text", "sources/0/text"}
    came = session.handle({"op": "whole", "place": "turns/0/calls/0/result"})
    assert came == {"ok": True, "error": "", "text": long}
    assert not session.handle({"op": "whole", "place": "turns/7/text"})["ok"]


def test_hostile_text_acts_nowhere(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    writer = run.writer()
    evil = "\x1b[31m\u202eevil<script>"
    writer.add_transcripts(
        [Transcript(case_id="evil\u202e", turns=(Turn(role="user", text=evil),))]
    )
    writer.close()
    session = open_session(run, tmp_path / "labels")
    session.go(next(at for at, key in enumerate(order(session)) if key[0] != "case-000"))

    session.note("copied \u202e here")
    view = session.view()

    shown = json.dumps(view, ensure_ascii=False)
    assert not any(sign in shown for sign in ("\x1b", "\u202e"))
    assert "<script>" in view["turns"][0]["text"]
    assert lines(tmp_path / "labels")[-1]["note"] == "copied ⟦U+202E⟧ here"


def test_a_hundred_transcripts_are_viewed_in_no_time(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 100)
    session = open_session(run, tmp_path / "labels", dimensions=None)
    started = time.perf_counter()

    for _ in range(50):
        session.go((session.position + 1) % 100)
        session.view()

    # 10 ms each are promised; a machine under load gets five times that.
    assert (time.perf_counter() - started) / 50 < 0.05


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"op": "label", "score": 5}, '"tone" has no level 5'),
        ({"op": "label", "score": True}, '"tone" has no level True'),
        ({"op": "label", "score": "3"}, "has no level '3'"),
        ({"op": "label", "score": 3.0}, "has no level 3.0"),
        ({"op": "label"}, '"label" wants "score"'),
        ({"op": "label", "score": 3, "rater": "ben"}, '"label" does not take "rater"'),
        ({"op": "close"}, "\"op\" holds 'close'; it wants one of label, note"),
        ({"op": ["label"]}, "\"op\" holds ['label']"),
        ({}, '"op" holds None'),
        ("label", '"op" holds None'),
        (None, '"op" holds None'),
        ({"op": "go", "position": 9}, "there is no position 9; it goes from 0 to 1"),
        ({"op": "go", "position": "1"}, "there is no position '1'"),
        ({"op": "choose", "dimension": "tome"}, 'Did you mean "tone"?'),
        ({"op": "choose", "dimension": "facts"}, '"facts" is not asked for in this session'),
        ({"op": "choose", "dimension": ["tone"]}, "is no text"),
        ({"op": "note", "text": 7}, "a note is a text of up to 10,000 characters"),
        ({"op": "note", "text": "x" * 10_001}, "a note is a text"),
        ({"op": "failure", "text": " "}, "nothing was written"),
        ({"op": "failure", "text": "x", "turn": 4}, "there is no turn 4; turns go from 0 to 3"),
        ({"op": "mark", "turn": -1}, "there is no turn -1"),
        ({"op": "mark", "turn": "1"}, "there is no turn '1'"),
        ({"op": "whole", "place": ["x"]}, "no text was cut"),
        ({"op": "undo"}, "there is nothing to undo"),
        ({"op": "label", "score": 3, "seen": 1}, "another transcript has come up meanwhile"),
    ],
)
def test_a_bad_message_is_an_error_in_words_and_changes_nothing(
    tmp_path: Path, message: Any, told: str
) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels")

    came = session.handle(message)

    assert not came["ok"]
    assert told in came["error"]
    assert session.view()["error"] == came["error"]
    assert (session.position, session.progress["labels"]) == (0, 0)
    assert not (tmp_path / "labels" / "ana.jsonl").exists()
    assert session.handle({"op": "label", "score": 3}) == {"ok": True, "error": ""}
    assert session.view()["error"] == ""


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    run, other = talk_run(tmp_path, 2), talk_run(tmp_path, 2, name="other", about="other ")
    pairs = Rubric(
        name="pairs", dimensions=[Dimension(name="better", kind="pairwise", definition="Which.")]
    )
    labels = tmp_path / "labels"

    for how, told in (
        ({"dimensions": ("tone", "fact")}, '"fact" is no dimension of it. Did you mean "facts"'),
        ({"rubric": pairs, "dimensions": None}, "has pairwise criteria only"),
        ({"rubric": None}, "dimensions were named, but no rubric was given"),
        ({"sample": sample_run(other, name="x")}, 'drawn from run "other", and this is "run"'),
    ):
        with pytest.raises(ConfigError) as caught:
            open_session(run, labels, **how)  # type: ignore[arg-type]
        assert told in str(caught.value)
    with pytest.raises(ConfigError, match="a name starts with a letter or a digit"):
        open_session(run, labels, "../ana")
    with pytest.raises(ConfigError, match="has no transcript to read"):
        open_session(talk_run(tmp_path, 1, name="mute", silent=("case-000",)), labels)


def test_a_sample_whose_transcripts_changed_or_went_is_refused_by_name(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    sample = sample_run(run, name="first")
    file = run.path / "transcripts.jsonl"
    kept = [
        line for line in file.read_text(encoding="utf-8").splitlines() if "case-000" not in line
    ]
    file.write_text("\n".join(kept).replace("case-001 0 is", "case-001 0 was") + "\n", "utf-8")

    with pytest.raises(ConfigError) as caught:
        open_session(run, tmp_path / "labels", sample=sample)

    told = [str(one) for one in caught.value.problems]
    assert len(told) == 2
    assert any('case "case-000", repeat 0 is not in' in one for one in told)
    assert any('case "case-001", repeat 0 reads otherwise than when' in one for one in told)


def test_a_withdrawn_case_leaves_the_sample_and_that_is_said(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    sample = sample_run(run, name="first")
    run.withdraw("case-001", by="dpo", reason="asked to")

    session = open_session(run, tmp_path / "labels", sample=sample)

    assert session.total == 2
    assert "1 transcript withdrawn since the draw" in session.view()["message"]


def test_failures_first_needs_no_rubric_and_ends_when_all_is_read(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 2), tmp_path / "labels", rubric=None, dimensions=None)

    session.mark(3)
    session.failure("gives no address")
    session.next()
    assert not session.handle({"op": "label", "score": 1})["ok"]
    session.next()

    assert session.finished
    assert [(one.get("kind"), one.get("turn")) for one in lines(tmp_path / "labels")] == [
        ("note", 3), ("failure", 3), ("read", None), ("read", None),
    ]  # fmt: skip
    session.undo()
    assert not session.finished


def test_a_full_disk_is_told_and_moves_nothing(tmp_path: Path) -> None:
    run, folder = talk_run(tmp_path, 2), tmp_path / "labels"
    folder.mkdir()
    (folder / "ana.jsonl").symlink_to("/dev/full")
    session = open_session(run, folder)

    came = session.handle({"op": "label", "score": 3})

    assert not came["ok"]
    assert "this was NOT saved: No space left on device" in came["error"]
    assert (session.position, score_of(session)) == (0, (False, None))


def test_a_disk_that_fills_up_within_a_line_leaves_no_half_line(tmp_path: Path) -> None:
    session = open_session(talk_run(tmp_path, 3), tmp_path / "labels")
    session.label(1)
    file = tmp_path / "labels" / "ana.jsonl"
    whole = file.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 40, hard))
    try:
        came = session.handle({"op": "label", "score": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert "NOT saved" in came["error"]
    assert file.read_bytes() == whole
    assert session.handle({"op": "label", "score": 2})["ok"]
    assert [one["score"] for one in lines(tmp_path / "labels")] == [1, 2]


WORKER = """
import sys
from pathlib import Path
from label_runs import open_session
from agenteval_kit.runs import Run

session = open_session(Run.open(Path(sys.argv[1])), Path(sys.argv[2]), dimensions=None)
print("open", flush=True)
while True:
    # The tone stays open, so that the session stays here; another level each time is a line.
    session.choose("facts")
    score = 1 - (session.view()["dimensions"][1]["score"] or 0)
    key = session.item
    session.label(score)
    print(key[0], score, flush=True)
"""


@pytest.mark.slow
def test_a_kill_between_two_keys_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    run, folder = talk_run(tmp_path, 3), tmp_path / "labels"
    for millisecond in (1, 3, 8, 15, 29):
        before = len(read_labels(folder).rows) if folder.exists() else 0
        with subprocess.Popen(
            [sys.executable, "-c", WORKER, str(run.path), str(folder)],
            cwd=TESTS, stdout=subprocess.PIPE, text=True,
        ) as worker:  # fmt: skip
            assert worker.stdout is not None
            assert worker.stdout.readline() == "open\n"
            time.sleep(millisecond / 1000)
            os.kill(worker.pid, signal.SIGKILL)
            said = [tuple(line.split()) for line in worker.stdout.read().splitlines() if line]

        kept = [(row.case_id, str(row.score)) for row in read_labels(folder).rows[before:]]

        # The last line may be on disk and its acknowledgement not yet printed, or half printed.
        whole = [one for one in said if len(one) == 2 and one[1] in ("0", "1")]
        assert kept[: len(whole)] == whole
        assert len(kept) <= len(whole) + 1


def test_a_torn_line_is_cut_off_and_told(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    with open_session(run, tmp_path / "labels") as session:
        session.label(1)
    file = tmp_path / "labels" / "ana.jsonl"
    file.write_bytes(file.read_bytes() + b'{"run":"run","case_')

    with open_session(run, tmp_path / "labels") as session:
        assert "the last line was torn and is dropped" in session.view()["message"]
        session.label(2)

    assert [one["score"] for one in lines(tmp_path / "labels")] == [1, 2]


def test_a_review_says_who_when_and_why_and_leaves_the_verdict(tmp_path: Path) -> None:
    run = judge(talk_run(tmp_path, 1), {"case-000": 2})
    (verdict,) = run.verdict_rows()
    how = {"run": run, "verdict": verdict, "now": lambda: "2026-03-02T10:00:00Z"}

    row = review_verdict(tmp_path, "ben", answer="overrule", score=4, reason="It is there.", **how)

    assert read_labels(tmp_path / "ben.jsonl").reviews() == (row,)
    assert (row.score, row.note, row.at) == (4, "It is there.", "2026-03-02T10:00:00Z")
    assert row.review is not None
    assert (row.review.answer, row.review.verdict, row.review.judge_digest) == (
        "overrule", 2, "judge-1",
    )  # fmt: skip
    assert list(run.verdict_rows()) == [verdict]
    for answer, score, reason, told in (
        ("overrule", 4, " ", "a review says why"),
        ("overrule", 9, "x", "9 is no level; levels are 1, 2, 3, 4"),
        ("overrule", 2, "x", "it says 2 already, so that would confirm it"),
        ("confirm", 4, "x", "it says 2, so 4 would overrule it"),
        ("deny", None, "x", "it wants confirm or overrule"),
    ):
        with pytest.raises(ConfigError, match=told):
            review_verdict(tmp_path, "ben", answer=answer, score=score, reason=reason, **how)


def test_opening_a_session_loads_nothing_heavy() -> None:
    code = "import agenteval_kit.label, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"numpy", "pandas", "scipy", "openai", "anywidget", "ipywidgets"})


def test_ten_thousand_transcripts_are_not_held_in_memory(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 1)
    writer = run.writer()
    writer.add_transcripts(
        Transcript(case_id=f"c{at:05d}", turns=talk(f"{at}")) for at in range(10_000)
    )
    writer.close()
    sample = sample_run(run, 100, name="first")
    started = time.perf_counter()

    session = open_session(run, tmp_path / "labels", sample=sample)

    assert session.total == 100
    assert len(session._shelf._kept) <= 8
    assert time.perf_counter() - started < 5


def test_the_run_is_never_written_to(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    before = {file.name: file.read_bytes() for file in run.path.iterdir()}
    session = open_session(Run.open(run.path), tmp_path / "labels")

    session.label(1)
    session.failure("x")

    assert {file.name: file.read_bytes() for file in run.path.iterdir()} == before
