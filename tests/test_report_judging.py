"""What notebooks show of judging and simulating: a rubric, dimensions, doubts, ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.judge import JudgeResult, judge_run
from agenteval_kit.plots import plot_verdicts
from agenteval_kit.records import Failure, Transcript
from agenteval_kit.report import show_doubtful, show_ends, show_judged, show_rubric, show_seats
from agenteval_kit.testing import ScriptedModel
from tests.judged import dimension, make_judged_run, rubric, said, talk

HOSTILE = "<script>alert(1)</script>"


def judged(tmp_path: Path, *scores: Any, panel: int = 1, **more: Any) -> JudgeResult:
    """One transcript a verdict; `scores` are told one after the other."""
    count = len(scores) // panel
    # Answers that differ: of two equal questions the second is answered from the tape.
    talks = [talk(f"c{number}", answer=f"Refund {number} is done.") for number in range(count)]
    run = make_judged_run(tmp_path, talks)
    model = ScriptedModel([said(score, **more) for score in scores])
    return judge_run(run, rubric(dimension(panel=panel)), model)


def test_a_rubric_shows_every_anchor_verbatim_with_the_top_first() -> None:
    asked = rubric(dimension(anchors={1: HOSTILE, 2: "Half of it.", 3: "All."}, panel=3))

    shown = show_rubric(asked).markup

    assert shown.index("All.") < shown.index("Half of it.") < shown.index("&lt;script&gt;")
    assert "<script" not in shown
    assert "goal (layer outcome, panel of 3)" in shown


def test_dimensions_are_shown_as_a_trend_with_what_is_unscored(tmp_path: Path) -> None:
    shown = show_judged(judged(tmp_path, 4, 2, None)).markup

    assert "a trend over the suite, not a verdict on one transcript" in shown
    assert "never calibrated" in shown
    assert "1 (mean 2.33 if lowest)" in shown
    assert "3 verdicts made now, 0 kept from before; 3 replies of judges" in shown
    # A model whose name says so is named as what it is.
    assert "These judges are SCRIPTED" in shown


def test_an_early_stop_says_how_to_resume(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk()])

    result = judge_run(run, rubric(), ScriptedModel([]), confirm=lambda _: False)

    shown = show_judged(result).markup
    assert "Stopped: not confirmed; nothing was asked. Run the same again to resume." in shown


def test_the_reading_list_begins_with_what_nobody_could_settle(tmp_path: Path) -> None:
    # c0 agrees on the lowest level, c1 splits, c2 has a majority, c3 agrees.
    result = judged(tmp_path, 1, 1, 1, 1, 2, 3, 4, 4, 3, 4, 4, 4, panel=3)

    shown = show_doubtful(result).markup

    places = [shown.index(f'<th scope="row">{case}<') for case in ("c1", "c2", "c0")]
    assert places == sorted(places)
    assert '<th scope="row">c3<' not in shown
    assert "3 verdicts to read first." in shown
    assert "no level has the majority" in shown


def test_a_long_reading_list_says_what_it_leaves_out(tmp_path: Path) -> None:
    shown = show_doubtful(judged(tmp_path, 1, 1, 1), most=2).markup

    assert "3 verdicts to read first; the first 2 stand here." in shown


def test_the_evidence_of_a_verdict_is_marked_in_the_transcript(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk(answer=f"It was refunded. {HOSTILE}")])
    quoting = dimension(evidence={"kind": "quote", "required_at": "all"})
    result = judge_run(run, rubric(quoting), ScriptedModel([said(3, quote="It was refunded.")]))

    shown = show_seats(result, "c0", "goal").markup

    assert "<mark>It was refunded.</mark>" in shown
    assert "c0 on goal: 3 of 4." in shown
    assert "<script" not in shown


def test_a_verdict_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    result = judged(tmp_path, 4)

    with pytest.raises(ConfigError, match='c0 was not judged on "gaol". Did you mean "goal"'):
        show_seats(result, "c0", "gaol")
    with pytest.raises(ConfigError, match='has no transcript of case "c9"'):
        show_seats(result, "c9", "goal")


def test_a_verdict_that_an_interrupt_left_out_is_not_judged_yet(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk()])

    result = judge_run(run, rubric(), ScriptedModel([]), confirm=lambda _: False)

    assert "c0 is not judged on goal yet." in show_seats(result, "c0", "goal").markup


def test_verdicts_of_judges_that_were_not_asked_now_are_left_out(tmp_path: Path) -> None:
    first = judged(tmp_path, 1)
    second = judge_run(first.run, rubric(), ScriptedModel([said(4)], name="other"))

    assert "no verdict stands out" in show_doubtful(second).markup


def test_ends_say_whom_a_failure_is_charged_to(tmp_path: Path) -> None:
    made: list[Transcript] = [talk("good", stop="goal_reached")]
    for kind in ("agent", "timeout", "simulator", "infrastructure"):
        failure = Failure(kind=kind, type="Broke", message=f"{kind} {HOSTILE}")  # type: ignore[arg-type]
        made.append(talk(kind, stop="agent_error", failure=failure))

    shown = show_ends(make_judged_run(tmp_path, made)).markup

    assert "5 conversations, 2 of them not scored." in shown
    assert shown.count("the simulated user: not scored") == 1
    assert shown.count(">the agent<") == 2
    assert "the user said that the goal was reached" in shown
    assert "<script" not in shown


def test_the_figure_counts_verdicts_and_names_the_lowest(tmp_path: Path) -> None:
    frame = judged(tmp_path, 4, 1, 1, None).run.verdicts_frame()

    figure = plot_verdicts(frame)

    counts = {bar.name: list(bar.x) for bar in figure.data}
    assert counts == {"1": [2], "4": [1], "unscored": [1]}
    assert figure.layout.title.text == "2 verdicts at 1: 2 on goal"
    assert json.loads(figure.to_json())["data"][0]["y"] == ["goal<br><i>n = 4</i>"]


def test_two_judges_of_one_dimension_get_a_bar_each(tmp_path: Path) -> None:
    run = judged(tmp_path, 1).run
    judge_run(run, rubric(), ScriptedModel([said(4)], name="other"))

    figure = plot_verdicts(run.verdicts_frame())

    assert all(len(bar.y) == 2 for bar in figure.data)
    assert len({name for bar in figure.data for name in bar.y}) == 2


def test_a_figure_without_verdicts_says_so_and_one_without_a_column_is_refused(
    tmp_path: Path,
) -> None:
    empty = make_judged_run(tmp_path, [talk()]).verdicts_frame()

    assert plot_verdicts(empty).layout.title.text == "Nothing was judged"
    with pytest.raises(ConfigError, match="plot_verdicts: the frame has no column judge_digest"):
        plot_verdicts(empty.drop(columns="judge_digest"))
