"""What people said elsewhere becomes lines of ours, or a complaint with file and line."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import (
    LABEL_FORMATS,
    LabelWriter,
    add_labels,
    import_labels,
    labels_from_frame,
    read_labels,
    write_labels_table,
)
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.rubrics import load_rubric

DOCS = Path(__file__).resolve().parent.parent / "docs"
EXPORTS = Path(__file__).parent / "golden" / "label_exports"
NOW = "2026-12-01T00:00:00Z"
ANCHORS = {level: f"what level {level} looks like" for level in (1, 2, 3, 4)}
RUBRIC = Rubric(
    name="answers",
    dimensions=[
        Dimension(name=name, definition=f"is {name}", anchors=ANCHORS)
        for name in ("groundedness", "helpful")
    ],
)
ONE = Rubric(name="one", dimensions=RUBRIC.dimensions[:1])
ITEMS = [("pol-carry", 0), ("pay-day", 0), ("001", 0), ("001", 1), ("sign", 0)]


def imported(source: Path | str, tmp_path: Path | None = None, **more: Any) -> list[LabelRow]:
    """What a text or a file gives, against the rubric and the run of this page."""
    path = source if isinstance(source, Path) else written(tmp_path, source)
    return import_labels(path, "run-1", now=NOW, **{"rubric": RUBRIC, "items": ITEMS, **more})


def written(tmp_path: Path | None, text: str, name: str = "labels.csv") -> Path:
    assert tmp_path is not None
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def said(rows: list[LabelRow]) -> list[tuple[Any, ...]]:
    return [(row.rater, row.case_id, row.repeat, row.dimension, row.score) for row in rows]


def complaints(source: Path | str, tmp_path: Path, **more: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        imported(source, tmp_path, **more)
    return [str(one).replace(f"{tmp_path}/", "") for one in caught.value.problems]


# Tables


def test_long_table_is_read_with_ids_as_text_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = (
        "\ufeffcase_id,repeat,dimension,rater,score,note\r\n"
        '001,1,groundedness,ana,4,"Section 4,\r\nthe second sentence"\r\n'
        "001,,helpful,ana,4.0,\r\n"
        "\r\n"
        "sign,0,helpful,ben,cannot tell,\r\n"
    )

    rows = imported(text, tmp_path)

    assert said(rows) == [
        ("ana", "001", 1, "groundedness", 4),
        ("ana", "001", 0, "helpful", 4),
        ("ben", "sign", 0, "helpful", None),
    ]
    assert rows[0] == LabelRow(
        run="run-1",
        case_id="001",
        repeat=1,
        dimension="groundedness",
        score=4,
        levels=(1, 2, 3, 4),
        rater="ana",
        at=NOW,
        note="Section 4,\nthe second sentence",
        design="external",
        origin="labels.csv (table)",
        undated=True,
    )


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_column_a_dimension_with_its_note(tmp_path: Path, sign: str) -> None:
    lines = [
        ["question", "case_id", "rater", "groundedness", "groundedness_note", "helpful", "note"],
        ["May I?", "sign", "ana", "3", "no section", "", "read twice"],
        ["When?", "pay-day", "ana", "NA", "unsure", "can\u2019t tell", ""],
    ]

    rows = imported("\n".join(sign.join(line) for line in lines), tmp_path)

    assert [(row.kind, row.case_id, row.dimension, row.score, row.note) for row in rows] == [
        ("label", "sign", "groundedness", 3, "no section"),
        ("note", "sign", "", None, "read twice"),
        ("note", "pay-day", "groundedness", None, "unsure"),
        ("label", "pay-day", "helpful", None, ""),
    ]


def test_a_column_a_rater(tmp_path: Path) -> None:
    text = "case_id,dimension,ana,ben,ben_note\nsign,helpful,4,2,vague\npay-day,helpful,,3,\n"

    rows = imported(text, tmp_path)

    assert said(rows) == [
        ("ana", "sign", 0, "helpful", 4),
        ("ben", "sign", 0, "helpful", 2),
        ("ben", "pay-day", 0, "helpful", 3),
    ]
    assert rows[1].note == "vague"


def test_a_rubric_of_one_dimension_needs_no_column_for_it(tmp_path: Path) -> None:
    rows = imported("case_id,score\nsign,2\n", tmp_path, rubric=ONE, rater="ana")

    assert said(rows) == [("ana", "sign", 0, "groundedness", 2)]


def test_their_words_are_mapped_to_ours(tmp_path: Path) -> None:
    text = "item,who,Quality\nsign,u7,good\npay-day,u7,dunno\n"

    rows = imported(
        text,
        tmp_path,
        mapping={
            "item": "case_id", "who": "rater", "u7": "ana", "Quality": "helpful", "good": 4,
            "dunno": "cannot tell",
        },
    )  # fmt: skip

    assert said(rows) == [
        ("ana", "sign", 0, "helpful", 4),
        ("ana", "pay-day", 0, "helpful", None),
    ]


def test_how_transcripts_were_chosen_stands_in_columns_of_the_table(tmp_path: Path) -> None:
    text = (
        "case_id,dimension,rater,score,design,stratum,inclusion,sample,at\n"
        "sign,helpful,ana,4,by_judge,low,0.25,first,2026-03-01T10:00:00+01:00\n"
        "pay-day,helpful,ana,4,,,,,\n"
    )

    rows = imported(text, tmp_path)

    chosen = [
        (row.design, row.stratum, row.inclusion, row.sample, row.at, row.undated) for row in rows
    ]
    assert chosen == [
        ("by_judge", "low", 0.25, "first", "2026-03-01T09:00:00Z", False),
        ("external", "", None, "", NOW, True),
    ]


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "N/A", "nan", "None", "<NA>", "null", "#N/A"])
def test_an_empty_cell_is_no_label_in_a_file_and_its_frame(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"case_id,rater,helpful\nsign,ana,{cell}\npay-day,ana,3\n")
    frame = pd.read_csv(path, dtype={"case_id": str})

    rows = imported(path)

    assert said(rows) == [("ana", "pay-day", 0, "helpful", 3)]
    assert said(labels_from_frame(frame, "run-1", now=NOW, rubric=RUBRIC)) == said(rows)


@pytest.mark.parametrize("cell", ["3.5", "4/5", "5", "-1", "1e0", "\u0664", "true", "0x1"])
def test_what_is_no_level_is_never_rounded_or_clamped(tmp_path: Path, cell: str) -> None:
    told = complaints(f"case_id,rater,helpful\nsign,ana,{cell}\n", tmp_path)

    remedy = '; say which level it is with --map "true=N"' if cell == "true" else ""
    if cell == "\u0664":
        remedy = '; say which level it is with --map "\u0664=N"'
    assert told == [
        f'labels.csv:2: helpful holds "{cell}"; a level (1 to 4) or "cannot tell" was wanted'
        f"{remedy}"
    ]


def test_all_complaints_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = (
        "case_id,repeat,dimension,rater,score,at\n"
        "sign,0,helpfull,ana,4,\n"
        "sing,0,helpful,ana,4,\n"
        "sign,3,helpful,ana,4,\n"
        "sign,x,helpful,,good,yesterday\n"
        "sign,0,helpful,ana/b,4,2026-03-01T10:00:00\n"
        ",0,helpful,ana,4,\n"
        "sign,0,helpful,ana\n"
        "pay-day,0,helpful,ana,4,\n"
    )

    told = complaints(text, tmp_path)

    assert sorted(told) == sorted(
        [
            'labels.csv:2: "helpfull" is no dimension of the rubric. Did you mean "helpful"?',
            'labels.csv:3: the run has no case "sing". Did you mean "sign"?',
            'labels.csv:4: case "sign" has no repeat 3 in the run; repeats count from 0',
            'labels.csv:5: repeat holds "x"; a whole number from 0 was wanted',
            'labels.csv:5: rater holds ""; a name was wanted: fill it in, or leave the column out '
            "and name the rater (--rater)",
            'labels.csv:5: at holds "yesterday"; a time with its zone was wanted, like '
            "2026-03-31T14:05:00Z",
            'labels.csv:5: score holds "good"; a level (1 to 4) or "cannot tell" was wanted; say '
            'which level it is with --map "good=N"',
            'labels.csv:6: rater "ana/b": a name starts with a letter or a digit and goes on with '
            "letters, digits, spaces, dots and dashes (80 at most); give another name with --map",
            'labels.csv:6: at holds "2026-03-01T10:00:00"; a time with its zone was wanted, like '
            "2026-03-31T14:05:00Z",
            'labels.csv:7: case_id holds ""; a case id was wanted as text, as the run has it',
            "labels.csv:8: has 4 cells; the header has 6: quote cells that hold the delimiter",
        ]
    )


def test_one_mistake_on_many_lines_is_one_complaint(tmp_path: Path) -> None:
    text = "case_id,rater,helpful\n" + "".join(f"c{i},ana,good\n" for i in range(5000))

    told = complaints(text, tmp_path, items=None)

    assert told == [
        'labels.csv:2: helpful holds "good"; a level (1 to 4) or "cannot tell" was wanted; say '
        'which level it is with --map "good=N" (and 4999 more like it)'
    ]


def test_one_rater_twice_names_both_lines_unless_their_times_differ(tmp_path: Path) -> None:
    head = "case_id,rater,helpful,at\n"
    first, second = "2026-03-01T10:00:00Z", "2026-03-01T11:00:00.5Z"

    told = complaints(f"{head}sign,ana,4,\nsign,ben,4,\nsign,ana,3,\n", tmp_path)
    rows = imported(f"{head}sign,ana,4,{second}\nsign,ana,3,{first}\n", tmp_path)

    assert told == [
        'labels.csv:4: a label of "ana" for case "sign", repeat 0 on helpful, stands at '
        "labels.csv:2 already; keep one, or give both their times in a column at: the later one "
        "counts"
    ]
    assert [(row.score, row.at) for row in rows] == [(3, first), (4, "2026-03-01T11:00:00.500000Z")]


@pytest.mark.parametrize(
    ("header", "more", "wanted"),
    [
        ("case,rater,helpful", {}, "has no column case_id, but case, rater, helpful;"),
        ("case_id,helpful", {}, "has no column rater; add it, or say who gave the labels"),
        ("case_id,rater,helpful", {"rater": "ana"}, "says itself who gave each label;"),
        ("case_id,rater,helpful,helpful", {}, 'column "helpful" stands twice;'),
        ("case_id,rater,score,helpful", {}, "has a column score and columns of dimensions"),
        ("case_id,rater,score", {}, "has a column score and no column dimension;"),
        ("case_id,rater,dimension,helpful", {}, "has a column dimension and columns of dimension"),
        ("case_id,rater,dimension", {}, "has a column dimension and no column score;"),
        ("case_id,dimension,ana,note", {}, 'column "note" says not whose note it is;'),
        ("case_id,rater,quality", {}, "holds no label that can be told: quality."),
        ("case_id,rater,helpful", {"rubric": None}, "holds no label that can be told: helpful."),
        ("case_id,rater,helpful,groundednes", {}, 'column "groundednes" is no dimension. Did you'),
        (
            "case_id,rater,helpfull",
            {},
            'Dimensions: groundedness, helpful. Did you mean "helpful"?',
        ),
        ("case_id,rater,helpful,inclusoin", {}, 'unknown column "inclusoin". Did you mean "incl'),
    ],
)
def test_a_header_that_can_be_read_in_two_ways_is_refused(
    tmp_path: Path, header: str, more: dict[str, Any], wanted: str
) -> None:
    told = complaints(header + "\n" + ",".join("1" for _ in header.split(",")), tmp_path, **more)

    assert any(one.startswith("labels.csv:1: ") and wanted in one for one in told), told


def test_a_broken_quote_is_told_at_its_line(tmp_path: Path) -> None:
    told = complaints('case_id,rater,helpful\nsign,ana,"4" x\n', tmp_path)

    assert told == [
        "labels.csv:2: is no table: ',' expected after '\"'; quote cells that hold quotes or commas"
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "case_id,rater,helpful\n"])
def test_nothing_to_import_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="nothing (to|is) import"):
        imported(text, tmp_path)


def test_a_hundred_thousand_labels_take_seconds(tmp_path: Path) -> None:
    lines = [f"case-{i},helpful,r{j},{1 + (i + j) % 4}" for i in range(25_000) for j in range(4)]
    path = written(tmp_path, "case_id,dimension,rater,score\n" + "\n".join(lines))
    items = [(f"case-{i}", 0) for i in range(25_000)]

    start = time.process_time()
    rows = import_labels(path, "run-1", now=NOW, rubric=RUBRIC, items=items)
    added = add_labels(tmp_path / "labels", rows)
    spent = time.process_time() - start

    assert added.added == dict.fromkeys(("r0", "r1", "r2", "r3"), 25_000)
    assert spent < 30  # some 6 s of one core


# Frames


def test_a_frame_says_what_its_file_says(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "case_id": ["001", "sign", "pay-day"],
            "rater": "ana",
            "helpful": pd.array([4, pd.NA, 2], dtype="Int64"),
            "groundedness": [float("nan"), 3.0, 1.0],
            "at": pd.to_datetime(["2026-03-01"] * 3, utc=True),
        }
    ).set_index("case_id")

    rows = labels_from_frame(frame, "run-1", now=NOW, rubric=RUBRIC, items=ITEMS)

    assert said(rows) == [
        ("ana", "001", 0, "helpful", 4),
        ("ana", "sign", 0, "groundedness", 3),
        ("ana", "pay-day", 0, "helpful", 2),
        ("ana", "pay-day", 0, "groundedness", 1),
    ]
    assert {row.at for row in rows} == {"2026-03-01T00:00:00Z"}


def test_a_frame_whose_ids_became_numbers_is_refused() -> None:
    frame = pd.DataFrame({"case_id": [1.0], "rater": ["ana"], "helpful": [True]})

    with pytest.raises(ConfigError) as caught:
        labels_from_frame(frame, "run-1", now=NOW, rubric=RUBRIC)

    assert [str(one) for one in caught.value.problems] == [
        "frame:1: case_id holds 1.0; a case id was wanted as text, as the run has it",
        'frame:1: helpful holds true; a level (1 to 4) or "cannot tell" was wanted',
    ]


# Label Studio and Argilla, from the files that the tools themselves wrote

LABELS = {
    ("1", "pol-carry", 0, "groundedness", 4),
    ("1", "pol-carry", 0, "helpful", 4),
    ("2", "pol-carry", 0, "groundedness", 3),
    ("2", "pol-carry", 0, "helpful", None),
    ("1", "pay-day", 0, "groundedness", 1),
    ("1", "pay-day", 0, "helpful", 2),
    ("2", "001", 1, "groundedness", 2),
    ("2", "001", 1, "helpful", 1),
}


@pytest.mark.parametrize("ending", [".json", "_min.json", ".csv", ".tsv"])
def test_every_export_of_label_studio_gives_the_same_labels(ending: str) -> None:
    rows = imported(EXPORTS / f"label_studio{ending}")

    labels = [row for row in rows if row.kind == "label"]
    notes = {(row.rater, row.dimension, row.note) for row in rows if row.note}
    assert len(labels) == len(LABELS)
    assert set(said(labels)) == LABELS
    assert notes == {
        ("1", "groundedness", "Section 4 gives ten days."),
        ("2", "", "It does not say from when on."),
    }
    assert all(row.at.startswith("2026-") and row.at != NOW for row in rows)


def test_a_task_that_was_skipped_in_label_studio_is_a_skip() -> None:
    rows = imported(EXPORTS / "label_studio.json")

    assert [(row.rater, row.case_id) for row in rows if row.kind == "skip"] == [("2", "pay-day")]


def test_predictions_and_drafts_of_label_studio_are_no_labels(tmp_path: Path) -> None:
    tasks = json.loads((EXPORTS / "label_studio.json").read_text())
    guess = {"result": tasks[0]["annotations"][0]["result"], "model_version": "m"}
    for task in tasks:
        task["predictions"] = task["drafts"] = [guess]
    path = written(tmp_path, json.dumps(tasks), "with_guesses.json")

    assert said(imported(path)) == said(imported(EXPORTS / "label_studio.json"))


def test_a_rater_of_label_studio_goes_by_address_where_the_export_has_it(tmp_path: Path) -> None:
    tasks = json.loads((EXPORTS / "label_studio.json").read_text())
    for task in tasks:
        for one in task["annotations"]:
            one["completed_by"] = {"id": one["completed_by"], "email": "ana@example.org"}
    path = written(tmp_path, json.dumps(tasks[2:]), "tasks.json")

    rows = imported(path, mapping={"ana@example.org": "ana"})

    assert {row.rater for row in imported(path)} == {"ana@example.org"}
    assert {row.rater for row in rows} == {"ana"}


def test_complaints_on_label_studio_name_the_case(tmp_path: Path) -> None:
    tasks = json.loads((EXPORTS / "label_studio.json").read_text())
    tasks[0]["annotations"][0]["result"][0]["value"]["rating"] = 5
    tasks[0]["annotations"][0]["result"][1]["value"]["choices"] = ["1", "2"]
    tasks[1]["annotations"][0]["result"].append(tasks[1]["annotations"][0]["result"][0])
    tasks[2]["data"] = {"text": "x"}
    path = written(tmp_path, json.dumps(tasks), "tasks.json")

    told = complaints(path, tmp_path)

    assert sorted(told) == sorted(
        [
            "tasks.json:1: has no case_id in the data of its task; put the case ids there when "
            "the tasks are made, or name the field that holds them with --map THEIRS=case_id. It "
            "has: id, text",
            'tasks.json:1: case pay-day: "groundedness" is answered twice by one rater; keep one',
            'tasks.json:1: case pol-carry: groundedness holds 5; a level (1 to 4) or "cannot tell" '
            "was wanted",
            'tasks.json:1: case pol-carry: helpful holds ["1", "2"]; a level (1 to 4) or "cannot '
            'tell" was wanted',
        ]
    )


def test_a_case_of_another_run_is_told_once(tmp_path: Path) -> None:
    told = complaints(EXPORTS / "label_studio.json", tmp_path, items=[("pay-days", 0), ("001", 1)])

    assert [one.partition("label_studio.json")[2] for one in told] == [
        ':1: the run has no case "pol-carry". Known: 001, pay-days. (and 4 more like it)',
        ':1: the run has no case "pay-day". Did you mean "pay-days"? (and 2 more like it)',
    ]


def test_without_a_rubric_every_rating_is_a_dimension(tmp_path: Path) -> None:
    rows = imported(EXPORTS / "label_studio.json", rubric=None)

    assert set(said([row for row in rows if row.kind == "label"])) == {
        *LABELS,
        ("1", "pol-carry", 0, "brevity", 3),
    }
    assert {row.levels for row in rows} == {()}


def test_json_min_needs_the_rubric(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name the rubric"):
        imported(EXPORTS / "label_studio_min.json", rubric=None)


YES_NO: dict[str, str | int] = {
    "yes": 4,
    "no": 1,
    "00000000-0000-4000-8000-000000000001": "ana",
    "00000000-0000-4000-8000-000000000002": "ben",
}


def test_argilla_counts_what_was_submitted(tmp_path: Path) -> None:
    rows = imported(EXPORTS / "argilla_flat.json", mapping=YES_NO)

    assert set(said([row for row in rows if row.kind == "label"])) == {
        ("ana", "pol-carry", 0, "groundedness", 4),
        ("ana", "pol-carry", 0, "helpful", 4),
        ("ben", "pol-carry", 0, "groundedness", 3),
        ("ben", "pol-carry", 0, "helpful", 1),
        ("ben", "pay-day", 0, "groundedness", 1),
        ("ben", "001", 1, "groundedness", 2),
        ("ben", "001", 1, "helpful", 1),
    }
    assert [(row.rater, row.case_id) for row in rows if row.kind == "skip"] == [("ana", "pay-day")]
    assert [row.note for row in rows if row.kind == "note"] == ["Section 4 is not quoted."]


def test_argilla_without_states_says_so_in_the_origin() -> None:
    rows = imported(EXPORTS / "argilla_records.json", mapping=YES_NO)

    labels = [row for row in rows if row.kind == "label"]
    assert len(labels) == 9
    assert {row.origin for row in labels} == {
        "argilla_records.json (Argilla, submitted or draft not said)"
    }


@pytest.mark.parametrize(
    "answers",
    [
        [
            {"user_id": "ana", "value": 3, "status": "submitted"},
            {"user_id": "ben", "value": 2, "status": "draft"},
            {"user_id": "cem", "value": 2, "status": "discarded"},
        ],
        {
            "user_id": ["ana", "ben", "cem"],
            "value": [3, 2, 2],
            "status": ["submitted", "draft", "discarded"],
        },
    ],
)
def test_argilla_of_version_one(tmp_path: Path, answers: Any) -> None:
    record = {"text": "x", "metadata": {"case_id": "sign"}, "groundedness": answers}
    path = written(tmp_path, json.dumps(record) + "\n", "feedback.jsonl")

    rows = imported(path)

    assert [(row.kind, row.rater, row.score) for row in rows] == [
        ("label", "ana", 3),
        ("skip", "cem", None),
    ]


def test_argilla_of_its_server(tmp_path: Path) -> None:
    record = {
        "metadata": {"case_id": "sign"},
        "responses": [
            {"user_id": "ana", "status": "submitted", "values": {"helpful": {"value": 4}}},
            {"user_id": "ben", "status": "discarded", "values": None},
        ],
    }
    path = written(tmp_path, json.dumps([record]), "records.json")

    assert [(row.kind, row.rater, row.score) for row in imported(path)] == [
        ("label", "ana", 4),
        ("skip", "ben", None),
    ]


@pytest.mark.parametrize(
    ("name", "more", "wanted"),
    [
        ("argilla_flat.json", {"rubric": None, "mapping": {}}, 'holds "yes"; a whole number or'),
        ("label_studio.json", {"rater": "ana"}, "says itself who gave each label; leave --rater"),
        ("label_studio.json", {"format": "studio"}, 'unknown format "studio"'),
        ("README.md", {"format": "argilla"}, "is not JSON"),
        ("argilla_flat.json", {"format": "label_studio"}, "is no task of Label Studio"),
    ],
)
def test_what_an_export_does_not_say_is_asked_for(
    name: str, more: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        imported(EXPORTS / name, **more)

    assert wanted in str(caught.value)


def test_an_export_without_any_dimension_names_what_it_asked(tmp_path: Path) -> None:
    other = Rubric(
        name="other", dimensions=[Dimension(name="tone", definition="is kind", anchors=ANCHORS)]
    )

    with pytest.raises(ConfigError) as caught:
        imported(EXPORTS / "label_studio.json", rubric=other)

    assert str(caught.value).endswith(
        "label_studio.json: no control is a dimension: groundedness, helpful, brevity; "
        "name it with --map THEIRS=OURS. Dimensions: tone"
    )


# Into a folder


@pytest.mark.parametrize(
    ("name", "mapping"),
    [("label_studio.json", {}), ("argilla_flat.json", YES_NO), ("label_studio.csv", {})],
)
def test_adding_the_same_twice_adds_nothing(
    tmp_path: Path, name: str, mapping: dict[str, str | int]
) -> None:
    rows = imported(EXPORTS / name, mapping=mapping)
    later = import_labels(
        EXPORTS / name, "run-1", now="2027-01-01T00:00:00Z", rubric=RUBRIC, mapping=mapping
    )

    first = add_labels(tmp_path, rows)
    before = read_labels(tmp_path)
    second = add_labels(tmp_path, later)

    assert sum(first.added.values()) == len(rows)
    assert (sum(second.added.values()), second.known) == (0, len(rows))
    assert read_labels(tmp_path) == before


def test_a_changed_mind_counts_and_an_older_file_does_not_undo_it(tmp_path: Path) -> None:
    def table(score: int, at: str) -> list[LabelRow]:
        text = f"case_id,rater,helpful,at\nsign,ana,{score},{at}\n"
        return imported(text, tmp_path)

    folder = tmp_path / "labels"
    add_labels(folder, table(3, "2026-03-01T10:00:00Z"))
    add_labels(folder, table(4, "2026-03-02T10:00:00Z"))
    older = add_labels(folder, table(1, "2026-02-01T10:00:00Z"))

    assert older.added == {"ana": 1}
    assert [row.score for row in read_labels(folder).rows] == [1, 3, 4]
    assert [row.score for row in read_labels(folder).labels()] == [4]


def test_a_label_given_here_stands_beside_the_imported_ones(tmp_path: Path) -> None:
    mine = LabelRow(run="run-1", case_id="sign", dimension="helpful", score=2, rater="ana", at=NOW)
    writer = LabelWriter(tmp_path / "labels", "ana")
    writer.append([mine])
    writer.close()

    added = add_labels(
        tmp_path / "labels",
        imported("case_id,rater,helpful\nsign,ana,2\npay-day,ana,1\n", tmp_path),
    )

    assert (added.added, added.known) == ({"ana": 1}, 1)
    assert said(list(read_labels(tmp_path / "labels").labels())) == [
        ("ana", "pay-day", 0, "helpful", 1),
        ("ana", "sign", 0, "helpful", 2),
    ]


def test_the_wide_frame_has_a_column_a_rater(tmp_path: Path) -> None:
    add_labels(
        tmp_path / "labels",
        imported(
            "case_id,dimension,ana,ben\nsign,helpful,4,cannot tell\n001,groundedness,,2\n", tmp_path
        ),
    )

    frame = read_labels(tmp_path / "labels").wide()

    pd.testing.assert_frame_equal(
        frame,
        pd.DataFrame(
            {
                "run": ["run-1", "run-1"],
                "case_id": ["001", "sign"],
                "repeat": [0, 0],
                "dimension": ["groundedness", "helpful"],
                "ana": pd.array([pd.NA, 4], dtype="Int64"),
                "ben": pd.array([2, pd.NA], dtype="Int64"),
            }
        ),
    )


def test_the_tables_of_the_page_are_read(tmp_path: Path) -> None:
    page = (DOCS / "labels-import.md").read_text(encoding="utf-8")
    rubric = load_rubric(DOCS.parent / "data" / "rubrics" / "support.yaml")

    tables = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)

    assert [len(imported(table, tmp_path, rubric=rubric, items=None)) for table in tables] == [
        3, 3, 4,
    ]  # fmt: skip
    assert set(re.findall(r"--[a-z]+", page)) <= {"--import", "--labels", "--rubric", "--rater",
                                                  "--sample", "--map"}  # fmt: skip


# Laws

WORDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n,;\"'\t"), max_size=12
)
IDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8)
TIMES = st.datetimes(max_value=datetime(2026, 12, 1)).map(lambda when: when.isoformat() + "Z")
ROWS = st.builds(
    LabelRow,
    kind=st.just("label"),
    run=st.just("run-1"),
    case_id=IDS,
    repeat=st.integers(0, 3),
    dimension=st.sampled_from(["groundedness", "helpful"]),
    score=st.none() | st.integers(1, 4),
    levels=st.just((1, 2, 3, 4)),
    rater=st.sampled_from(["ana", "ben", "None", "NA", "c d"]),
    at=TIMES,
    note=WORDS,
    turn=st.none() | st.integers(0, 9),
    design=st.sampled_from(["uniform", "by_judge", "by_human", "external"]),
    purpose=st.sampled_from(["tuning", "calibration"]),
    stratum=st.sampled_from(["", "low", "none", "3, 4"]),
    inclusion=st.none() | st.floats(1e-6, 1.0),
    sample=st.sampled_from(["", "first"]),
    dimension_digest=st.sampled_from(["", "0123456789ab", "123456789012"]),
    origin=st.just("elsewhere"),
)


@settings(max_examples=150)
@given(st.lists(ROWS, min_size=1, max_size=8, unique_by=lambda row: (row.rater, row.key)))
def test_labels_written_as_a_table_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[LabelRow]
) -> None:
    path = write_labels_table(tmp_path_factory.mktemp("out") / "labels.csv", rows)

    read = import_labels(path, "run-1", now=NOW, rubric=RUBRIC)

    assert sorted(read, key=lambda row: row.model_dump_json()) == sorted(
        rows, key=lambda row: row.model_dump_json()
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["data", "annotations", "result", "responses", "groundedness", "user_id", "value",
             "status", "case_id", "values", "type", "from_name", "completed_by", "annotator",
             "annotation_id", "groundedness.responses", "groundedness.responses.users", "rating",
             "metadata", "was_cancelled", "updated_at"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip
LIKELY = st.fixed_dictionaries({"data": JSON, "annotations": st.lists(JSON, max_size=2)}) | (
    st.fixed_dictionaries({"case_id": st.just("sign"), "responses": JSON})
)
CELLS = st.lists(
    st.sampled_from(["case_id", "rater", "helpful", "score", "dimension", "sign", "4", '"', "\n",
                     ",", ";", "\t", "\r", "\0", "nan", "[{", '[{"rating":4}]', "\ufeff"]),
    max_size=25,
)  # fmt: skip


@settings(max_examples=300)
@given(
    content=st.one_of(
        st.lists(LIKELY | JSON, max_size=3).map(json.dumps),
        JSON.map(json.dumps),
        CELLS.map("".join),
        st.text(max_size=30),
    ),
    format=st.none() | st.sampled_from(sorted(LABEL_FORMATS)),
    rubric=st.sampled_from([None, ONE, RUBRIC]),
)
@example('{"annotations": null, "annotator": null, "annotation_id": null}', None, None)
def test_whatever_a_file_holds_it_gives_labels_or_a_complaint(
    tmp_path_factory: pytest.TempPathFactory, content: str, format: str | None, rubric: Any
) -> None:
    path = tmp_path_factory.mktemp("in") / "file"
    path.write_text(content, encoding="utf-8", errors="replace", newline="")

    refused: tuple[Any, ...] = ()
    rows: list[LabelRow] = []
    try:
        rows = import_labels(path, "run-1", now=NOW, rubric=rubric, format=format)
    except ConfigError as error:
        refused = error.problems

    assert bool(rows) != bool(refused)
    assert all(str(path) in str(one) for one in refused)
