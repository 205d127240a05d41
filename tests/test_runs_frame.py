"""All runs of a folder in one table: its grain, its stamps, and where its lines break."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import make_run, passes
from verdicts import Said, judge, spread

from agenteval_kit import plot_trend, runs_frame
from agenteval_kit.errors import ConfigError
from agenteval_kit.records import AgentStamps
from agenteval_kit.runs import Run, Selection, publish_run
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.proportion import wilson

SCALE = (1, 2, 3, 4)
STAMPS = [
    "suite", "suite_version", "suite_digest", "kind", "agent_model", "model_served",
    "agent_prompt", "prompt_digest", "source_digest", "clock", "repeats", "simulator", "judge",
    "judge_digest", "rubric", "dimension_digest", "levels", "package", "commit",
]  # fmt: skip


def made(root: Path, day: int, *, passed: int = 9, prompt: str = "v1", **how: Any) -> Run:
    """A run of ten cases, made on that day of March."""
    stamps = how.pop("agent", AgentStamps(model="rules", prompt=prompt))
    run = make_run(root, passes(10, passed), name=f"run-{day:02d}", agent=stamps, **how)
    file = run.path / "run.json"
    info = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(
        json.dumps({**info, "created": f"2026-03-{day:02d}T09:00:00Z"}), encoding="utf-8"
    )
    return Run.open(run.path)


def lines(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Chosen columns as plain values, a missing one as None."""
    chosen = frame[list(columns)].astype(object)
    return list(chosen.where(chosen.notna(), None).itertuples(index=False, name=None))


def test_a_row_is_a_run_and_a_layer_or_a_run_and_a_dimension(tmp_path: Path) -> None:
    first = made(tmp_path, 1, passed=8)
    publish_run(first, by="Kim", verdict="SHIP", bar_digest="bar-1", name="2026.03")
    scores: dict[str, Said] = spread({4: 6, 3: 3, None: 1})
    judge(made(tmp_path, 2, prompt="v2"), scores)

    frame = runs_frame(tmp_path)

    mean = anchored_mean([4] * 6 + [3] * 3 + [None], levels=SCALE)
    shares = [wilson(8, 10), wilson(9, 10)]
    wanted = pd.DataFrame(
        {
            "run_id": ["run-01", "run-02", "run-02"],
            "run": ["2026.03", "run-02", "run-02"],
            "created": ["2026-03-01T09:00:00Z"] + ["2026-03-02T09:00:00Z"] * 2,
            "published": ["2026.03", None, None],
            "layer": ["outcome", "outcome", "conversation"],
            "dimension": [None, None, "tone"],
            "score": [0.8, 0.9, 33 / 9],
            "low": [shares[0].low, shares[1].low, mean.low],
            "high": [shares[0].high, shares[1].high, mean.high],
            "n": pd.array([10, 10, 9], dtype="Int64"),
            "method": ["Wilson", "Wilson", mean.method],
            "diag": ["", "", "1 unscored"],
            "series": pd.array([0, 0, 0], dtype="Int64"),
            "what": ["", "", ""],
        }
    ).astype(dict.fromkeys(("published", "dimension"), "str"))
    pd.testing.assert_frame_equal(frame[list(wanted.columns)], wanted)
    assert list(frame.columns) == [*wanted.columns, *STAMPS]


def test_every_row_wears_the_stamps_of_what_made_it(tmp_path: Path) -> None:
    agent = AgentStamps(model="chat", model_served="chat-2026-01", prompt="v7", prompt_digest="p7")
    judge(made(tmp_path, 1, agent=agent), spread({4: 10}))

    checked, judged = runs_frame(tmp_path)[STAMPS].to_dict("records")

    shared = {
        "suite": "made", "suite_version": "1", "suite_digest": "suite-digest", "kind": "live",
        "agent_model": "chat", "model_served": "chat-2026-01", "agent_prompt": "v7",
        "prompt_digest": "p7", "repeats": 1, "package": "0",
    }  # fmt: skip
    by = {
        "judge": "judge-x", "judge_digest": "judge-1", "rubric": "made 1",
        "dimension_digest": "dimension-1", "levels": SCALE,
    }  # fmt: skip
    assert {name: value for name, value in judged.items() if value == value} == {**shared, **by}
    assert {name: value for name, value in checked.items() if value == value} == shared


def test_a_line_breaks_where_suite_or_served_model_changed(tmp_path: Path) -> None:
    served = [
        AgentStamps(model="chat", prompt="v1", model_served=name) for name in ("chat-1", "chat-2")
    ]
    made(tmp_path, 1, agent=served[0])
    made(tmp_path, 2, agent=served[0])
    made(tmp_path, 3, agent=served[1])
    made(tmp_path, 4, agent=served[1], digest="edited")

    frame = runs_frame(tmp_path)

    assert lines(frame, "run_id", "series", "what") == [
        ("run-01", 0, ""),
        ("run-02", 0, ""),
        ("run-03", 1, "served model changed"),
        ("run-04", 2, "suite changed"),
    ]


def test_a_dimension_breaks_where_its_own_judge_or_rubric_changed(tmp_path: Path) -> None:
    for day, tone, care in (
        (1, {}, {}),
        (2, {"digest": "other"}, {}),
        (3, {"digest": "other"}, {"dimension_digest": "edited"}),
    ):
        run = made(tmp_path, day)
        judge(run, spread({4: 10}), **tone)
        judge(run, spread({4: 10}), name="care", **{"digest": "care-1", **care})

    frame = runs_frame(tmp_path)

    judged = frame[frame["dimension"].notna()]
    assert lines(judged, "run_id", "dimension", "series", "what") == [
        ("run-01", "tone", 0, ""),
        ("run-01", "care", 0, ""),
        ("run-02", "tone", 1, "judge changed"),
        ("run-02", "care", 0, ""),
        ("run-03", "tone", 1, ""),
        ("run-03", "care", 1, "rubric changed"),
    ]
    assert set(frame[frame["dimension"].isna()]["series"]) == {0}


def test_half_a_run_is_in_the_table_and_in_no_line(tmp_path: Path) -> None:
    made(tmp_path, 1)
    made(tmp_path, 2, missing=[("case-000", 0)])
    made(tmp_path, 3, selection=Selection(tag="common"), digest="edited")
    made(tmp_path, 4)

    frame = runs_frame(tmp_path)

    half = "incomplete: 1 transcript missing"
    assert lines(frame, "run_id", "n", "series", "what") == [
        ("run-01", 10, 0, ""),
        ("run-02", 9, None, half),
        ("run-03", 10, None, "a part of the suite (--tag common)"),
        ("run-04", 10, 0, ""),
    ]
    assert frame["diag"][1].startswith(half)


def test_a_run_that_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path) -> None:
    broken = made(tmp_path, 1)
    (broken.path / "checks.jsonl").write_text('{"no": "row"}\n', encoding="utf-8")
    made(tmp_path, 2)

    frame = runs_frame(tmp_path)

    assert lines(frame, "run_id", "layer", "score", "series", "what") == [
        ("run-01", None, None, None, "cannot be read"),
        ("run-02", "outcome", 0.9, 0, ""),
    ]
    assert frame["diag"][0] == (
        f"cannot be read: {broken.path / 'checks.jsonl'}:1: is not a check row"
    )


@pytest.mark.parametrize(
    ("how", "diag"),
    [
        ({"wanted": 12}, "2 not judged yet"),
        ({"same_model": True}, "judge = agent model"),
        ({"model": "scripted-judge"}, "SCRIPTED judge"),
    ],
)
def test_doubts_about_a_judge_stand_beside_its_mean(
    tmp_path: Path, how: dict[str, Any], diag: str
) -> None:
    judge(made(tmp_path, 1), spread({4: 5, 3: 5}), **how)

    frame = runs_frame(tmp_path)

    assert frame["diag"][1] == diag


def test_what_nobody_could_score_is_missing_and_not_nought(tmp_path: Path) -> None:
    judge(made(tmp_path, 1), spread({None: 10}))

    row = runs_frame(tmp_path).iloc[1]

    assert row[["score", "low", "high"]].isna().all()
    assert "10 unscored" in row["diag"]


def test_suites_are_apart(tmp_path: Path) -> None:
    made(tmp_path, 1)
    made(tmp_path, 2, suite="other", digest="another")
    made(tmp_path, 3)

    both, one = runs_frame(tmp_path), runs_frame(tmp_path, "made")

    assert lines(both, "run_id", "what") == [("run-01", ""), ("run-02", ""), ("run-03", "")]
    assert list(one["run_id"]) == ["run-01", "run-03"]
    with pytest.raises(ConfigError, match=r"holds runs of 2 suites \(made, other\); draw one"):
        plot_trend(both)


def test_a_layer_and_a_dimension_of_one_name_are_drawn_apart(tmp_path: Path) -> None:
    for day in (1, 2):
        run = made(tmp_path, day)
        judge(run, spread({4: 5, 3: 5}), name="outcome")
    made(tmp_path, 3, selection=Selection(tag="common"))

    figure = plot_trend(runs_frame(tmp_path), bars={"outcome (judged)": 3.3})

    # One panel in shares, the other on the scale of its dimension.
    assert [panel.tickformat for panel in (figure.layout.yaxis, figure.layout.yaxis2)] == [
        ".0%",
        ".1f",
    ]
    drawn = [list(trace.y) for trace in figure.data if trace.mode and "lines" in trace.mode]
    assert drawn[0] == [0.9, 0.9]
    assert drawn[-1] == [3.5, 3.5]
    assert figure.layout.title.text.startswith("2 runs, no break: ")


@pytest.mark.parametrize(
    ("folder", "suite", "complaint"),
    [
        ("nowhere", None, "nowhere: is no folder; `agenteval run` makes runs in data/runs"),
        (".", "other", "holds no run of suite other; `agenteval run` makes runs in data/runs"),
    ],
)
def test_no_run_is_said_so(tmp_path: Path, folder: str, suite: str | None, complaint: str) -> None:
    made(tmp_path, 1)

    with pytest.raises(ConfigError) as caught:
        runs_frame(tmp_path / folder, suite)

    assert str(caught.value).endswith(complaint)
