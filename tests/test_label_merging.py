"""Labels of two machines brought together, and a person's data taken out of them."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from label_runs import open_session, talk_run

from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.label import sample_run
from agenteval_kit.labels import (
    LabelWriter,
    add_labels,
    list_samples,
    merge_labels,
    read_labels,
    withdraw_labels,
)
from agenteval_kit.records.labels import LabelRow


def row(
    case_id: str, score: int | None, *, second: int, kind: str = "label", rater: str = "ana"
) -> LabelRow:
    """A line said at a second."""
    return LabelRow(
        kind=kind,  # type: ignore[arg-type]
        run="run",
        case_id=case_id,
        dimension="tone",
        score=score if kind == "label" else None,
        rater=rater,
        at=f"2026-03-02T09:00:{second:02d}Z",
    )


def keep(folder: Path, rows: Sequence[LabelRow]) -> Path:
    """Rows in the files of their raters."""
    for rater in dict.fromkeys(one.rater for one in rows):
        writer = LabelWriter(folder, rater)
        writer.append(one for one in rows if one.rater == rater)
        writer.close()
    return folder


def said(folder: Path) -> dict[tuple[str, str], int | None]:
    """What counts."""
    return {(one.rater, one.case_id): one.score for one in read_labels(folder).labels()}


def test_two_raters_of_two_machines_stand_side_by_side(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 2)
    sample = sample_run(run, name="first")
    with open_session(run, tmp_path / "a", "ana", sample=sample) as one:
        one.label(1)
    with open_session(run, tmp_path / "b", "ben", sample=sample) as two:
        two.label(2)

    made = merge_labels(tmp_path / "all", tmp_path / "a", tmp_path / "b")

    assert made.added == {"ana": 1, "ben": 1}
    assert list_samples(tmp_path / "all") == [sample]
    assert made.lines() == ["ana: 1 line added", "ben: 1 line added", "sample first added"]
    for name in ("a/ana.jsonl", "b/ben.jsonl"):
        merged = tmp_path / "all" / Path(name).name
        assert merged.read_bytes() == (tmp_path / name).read_bytes()


def test_merging_twice_adds_nothing(tmp_path: Path) -> None:
    keep(tmp_path / "a", [row("x", 1, second=1), row("x", 1, second=2), row("y", 2, second=3)])
    merge_labels(tmp_path / "b", tmp_path / "a")
    before = (tmp_path / "b" / "ana.jsonl").read_bytes()

    again = merge_labels(tmp_path / "b", tmp_path / "a")

    assert (again.added, again.twice) == ({"ana": 0}, ())
    assert again.lines() == ["ana: nothing new"]
    assert (tmp_path / "b" / "ana.jsonl").read_bytes() == before


def test_of_one_rater_on_two_machines_the_later_label_counts(tmp_path: Path) -> None:
    keep(tmp_path / "desk", [row("x", 1, second=1), row("x", 4, second=9)])
    keep(tmp_path / "train", [row("x", 1, second=1), row("x", 2, second=5)])

    made = merge_labels(tmp_path / "desk", tmp_path / "train")

    assert made.twice == ("ana",)
    assert said(tmp_path / "desk") == {("ana", "x"): 4}
    scores = [one.score for one in read_labels(tmp_path / "desk").rows]
    assert scores == [1, 2, 4]


def test_an_undo_takes_back_its_own_line_after_a_merge_too(tmp_path: Path) -> None:
    keep(tmp_path / "a", [row("x", 1, second=1), row("x", None, second=9, kind="undo")])
    keep(tmp_path / "b", [row("y", 2, second=5)])

    merge_labels(tmp_path / "b", tmp_path / "a")

    assert said(tmp_path / "b") == {("ana", "y"): 2}


def test_undone_on_one_machine_is_undone_on_both(tmp_path: Path) -> None:
    shared = [row("x", 1, second=1), row("y", 2, second=2)]
    keep(tmp_path / "a", [*shared, row("y", None, second=3, kind="undo")])
    keep(tmp_path / "b", [*shared, row("z", 3, second=4)])

    merge_labels(tmp_path / "b", tmp_path / "a")

    assert said(tmp_path / "b") == {("ana", "x"): 1, ("ana", "z"): 3}


def test_what_cannot_be_merged_says_why(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 4)
    for folder, seed in (("a", 0), ("b", 1)):
        sample = sample_run(run, 2, name="first", seed=seed)
        open_session(run, tmp_path / folder, folder * 3, sample=sample).close()

    with pytest.raises(ConfigError, match="there is no such folder of labels"):
        merge_labels(tmp_path / "a", tmp_path / "c")
    with pytest.raises(ConfigError, match="another sample stands there"):
        merge_labels(tmp_path / "a", tmp_path / "b")


LINES = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from([None, 1, 2, "undo"])), max_size=8
)


def stream(lines: list[tuple[str, int | str | None]], seconds: list[int]) -> list[LabelRow]:
    """One machine's lines, in order of time."""
    return [
        row(case_id, None, second=at, kind="undo")
        if what == "undo"
        else row(case_id, what, second=at)  # type: ignore[arg-type]
        for (case_id, what), at in zip(lines, sorted(seconds), strict=False)
    ]


@given(
    shared=LINES,
    mine=LINES,
    theirs=LINES,
    seconds=st.lists(st.integers(10, 30), min_size=16, max_size=16),
)
def test_merging_either_way_gives_the_same_labels_and_twice_gives_no_more(
    shared: list[tuple[str, int | str | None]],
    mine: list[tuple[str, int | str | None]],
    theirs: list[tuple[str, int | str | None]],
    seconds: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    top = tmp_path_factory.mktemp("merge")
    begun = stream(shared, [0, 1, 2, 3, 4, 5, 6, 7])
    one = [*begun, *stream(mine, seconds[:8])]
    two = [*begun, *stream(theirs, seconds[8:])]
    for name in ("ab", "ba"):
        keep(top / name, one if name == "ab" else two)
    keep(top / "a", one)
    keep(top / "b", two)
    for name in ("a", "b", "ab", "ba"):
        (top / name).mkdir(exist_ok=True)

    merge_labels(top / "ab", top / "b")
    merge_labels(top / "ba", top / "a")
    left, right = read_labels(top / "ab"), read_labels(top / "ba")

    assert said(top / "ab") == said(top / "ba")
    assert left.digest == right.digest
    again = merge_labels(top / "ab", top / "a", top / "b")
    assert not any(again.added.values())
    assert read_labels(top / "ab").rows == left.rows
    # Nothing that anybody said and nobody took back is lost.
    spoken = {one_row.model_dump_json() for one_row in (*one, *two) if one_row.kind != "undo"}
    assert spoken == {line.model_dump_json() for line in left.rows if line.kind != "undo"}


def test_a_withdrawn_case_leaves_no_word_in_the_labels(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 3)
    for rater in ("ana", "ben"):
        with open_session(run, tmp_path / "labels", rater) as session:
            session.note(f"{session.item[0]} is rude")
            session.label(2)
            session.label(3)
            session.undo()
            session.label(4)
            session.failure(f"{session.item[0]} lies")
    before = said(tmp_path / "labels")

    code = main(["withdraw", str(run.path), "case-001", "--by", "privacy office", "--reason",
                 "asked to", "--labels", str(tmp_path / "labels")])  # fmt: skip

    assert code == 0
    for rater in ("ana", "ben"):
        assert "case-001" not in (tmp_path / "labels" / f"{rater}.jsonl").read_text("utf-8")
    after = said(tmp_path / "labels")
    assert after == {key: score for key, score in before.items() if key[1] != "case-001"}
    (note,) = (tmp_path / "labels" / "withdrawn" / "labels.jsonl").read_text("utf-8").splitlines()
    told = json.loads(note)
    assert (told["case_id"], told["by"], told["reason"]) == (
        "case-001",
        "privacy office",
        "asked to",
    )
    assert sum(told["rows"].values()) > 0


def test_a_case_is_withdrawn_from_labels_of_an_earlier_name_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = talk_run(tmp_path, 3)
    with open_session(run, tmp_path / "labels") as session:
        for score in (1, 2, 3):
            session.label(score)
    keep(tmp_path / "labels", [row("case-001", 1, second=1).model_copy(update={"run": "apart"})])
    moved = run.path.rename(tmp_path / "moved")

    code = main(["withdraw", str(moved), "case-001", "--by", "privacy office", "--reason",
                 "asked to", "--labels", str(tmp_path / "labels")])  # fmt: skip

    told = capsys.readouterr()
    left = [one for one in read_labels(tmp_path / "labels").rows if one.case_id == "case-001"]
    assert (code, [one.run for one in left]) == (0, ["apart"])
    assert f"1 line of case-001 removed from {tmp_path / 'labels'}" in told.out
    assert "1 line of a case of that name" in told.err
    assert "is of other runs and stays: apart" in told.err


def test_withdrawing_touches_no_other_run_and_says_what_is_missing(tmp_path: Path) -> None:
    folder = keep(tmp_path / "labels", [row("x", 1, second=1)])

    removed = withdraw_labels(folder, ["other"], case_id="x", by="me", reason="why", at="now")

    assert removed == {}
    assert said(folder) == {("ana", "x"): 1}
    with pytest.raises(ConfigError, match="there is no such folder of labels"):
        withdraw_labels(tmp_path / "no", ["run"], case_id="x", by="me", reason="why", at="now")


def several_raters() -> list[LabelRow]:
    """Lines of three raters; those of the second take most room."""
    many = [row(f"c{at:03d}", 1, second=at, rater="ben") for at in range(50)]
    return [row("a", 1, second=1), *many, row("a", 2, second=1, rater="cem")]


def test_a_disk_that_fills_up_half_way_leaves_the_lines_of_no_rater(tmp_path: Path) -> None:
    before = keep(tmp_path / "labels", [row("z", 3, second=0)]) / "ana.jsonl"
    was = before.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, hard))
    try:
        with pytest.raises(InfrastructureError) as full:
            add_labels(tmp_path / "labels", several_raters())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert [path.name for path in (tmp_path / "labels").glob("*")
            if not path.name.endswith(".lock")] == ["ana.jsonl"]  # fmt: skip
    assert before.read_bytes() == was
    assert str(full.value) == (
        f"{tmp_path / 'labels' / 'ben.jsonl'}: cannot be written: File too large; no line of ana, "
        "ben, cem is written. Make room and run the same command again: what stands is not added "
        "twice"
    )
    added = add_labels(tmp_path / "labels", several_raters()).added
    assert added == {"ana": 1, "ben": 50, "cem": 1}
    assert before.read_bytes().startswith(was)


def test_what_stands_is_said_where_a_file_cannot_take_its_place_and_the_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def failing(there: Path, path: str) -> None:
        if path.endswith("ben.jsonl"):
            raise OSError(5, "Input/output error")
        replace(there, path)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(
        InfrastructureError, match="the lines of ana are written, those of ben, cem are not"
    ):
        add_labels(tmp_path, several_raters())
    monkeypatch.setattr(os, "replace", replace)

    added = add_labels(tmp_path, several_raters()).added

    assert added == {"ana": 0, "ben": 50, "cem": 1}
