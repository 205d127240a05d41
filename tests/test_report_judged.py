"""The judged half of the release page: what it says of judges, and what it never leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import make_run, passes
from verdicts import Said, judge, prefer, results, spread

from agenteval_kit import report
from agenteval_kit.models.chat import ChatReply, ChatRequest
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import (
    JudgeStamp,
    SeatRecord,
    Turn,
    VerdictRow,
)
from agenteval_kit.records.verdicts import Evidence
from agenteval_kit.release import draw_judged_trends, read_release
from agenteval_kit.report import Html, Release
from agenteval_kit.report.judged import ShownSeat, ShownVerdict
from agenteval_kit.report.judged_marks import distribution_mark, preference_mark
from agenteval_kit.report.verdicts import evidence_marks, verdicts_block
from agenteval_kit.runs import Run
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.pairwise import win_rate

HOSTILE = "<script>window.owned=1</script><img src=x onerror=alert(1)> \u202eevil"


def words(shown: Html) -> str:
    """What a person reads, without the markup."""
    text = re.sub(r"<svg.*?</svg>", " ", shown.markup, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def bar_file(folder: Path, text: str) -> Path:
    file = folder / "bar.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def judged_run(folder: Path, said: Mapping[str, Said], *, name: str = "new", **how: object) -> Run:
    run = make_run(folder, passes(len(said), len(said)), name=name)
    return judge(run, said, **how)  # type: ignore[arg-type]


def page_of(folder: Path, run: Run, baseline: Run | None = None, bar: str = "") -> Release:
    return read_release(
        run.path,
        baseline=None if baseline is None else baseline.path,
        bar=bar_file(folder, bar) if bar else None,
    )


# 5. dimensions


def test_a_dimension_stands_with_its_interval_its_scale_and_its_trust(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 6, 3: 14}), model="judge-1")
    page = page_of(tmp_path, run, bar="mean: {tone: 3.5}\nuntrusted: report\n")

    shown = report.show_dimensions(page)

    said = words(shown)
    assert said.startswith(
        "Judged dimensions: tone lies under the bar; no judge here was ever calibrated"
    )
    mean = anchored_mean([4] * 6 + [3] * 14, levels=(1, 2, 3, 4)).text()
    assert f"{mean} 20 cases corrected: no labels" in said
    assert "? cannot tell never calibrated one seat" in said
    assert "a trend over the suite, not a verdict on one transcript" in said
    assert 'aria-label="verdicts: 0 at 1, 0 at 2, 14 at 3, 6 at 4"' in shown.markup
    assert "SCRIPTED" not in said


@pytest.mark.parametrize(
    ("bar", "told"),
    [
        ("pass_rate: {outcome: 0.5}\n",
         "One judged dimension is reported below; no clause of this bar reads it."),
        ("pass_rate: {outcome: 0.5}\nmean: {tone: 2}\nuntrusted: report\n", ""),
    ],
)  # fmt: skip
def test_a_verdict_that_no_judge_was_asked_for_says_that_judges_spoke(
    tmp_path: Path, bar: str, told: str
) -> None:
    page = page_of(tmp_path, judged_run(tmp_path, spread({1: 20})), bar=bar)

    said = words(report.show_verdict(page))

    assert said.startswith("SHIP Run new on 20 cases: ")
    assert told in said
    assert ("no clause of this bar" in said) == bool(told)


def test_unscored_verdicts_are_told_with_their_reasons_and_the_worst_case(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 8, None: 2}))

    shown = report.show_dimensions(page_of(tmp_path, run))

    # (8 * 4 + 2 * 1) / 10
    assert "2 unscored (evidence not found 2); mean 3.40 if each of those were a 1" in words(shown)
    assert "2 unscored" in shown.markup
    assert "no clause" not in words(shown)


def test_a_dimension_without_a_score_is_not_available_and_never_nought(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({None: 3}))

    said = words(report.show_dimensions(page_of(tmp_path, run)))

    assert "n/a 0 cases" in said
    assert "all unscored" in said


def test_scripted_judges_are_said_so_wherever_their_numbers_stand(tmp_path: Path) -> None:
    old = judged_run(tmp_path / "runs", spread({4: 20}), name="old", model="scripted-judge")
    new = judged_run(tmp_path / "runs", spread({3: 20}), model="scripted-judge")
    prefer(new, results(5, 10, 5), model="scripted-judge")
    page = read_release(new.path, baseline=old.path, history=tmp_path / "runs")

    for shown in (report.show_dimensions(page), report.show_judged_trends(page)):
        assert "SCRIPTED judge: what scripted-judge says was written beforehand" in words(shown)
    assert "by scripted-judge" in words(report.show_preferences(page))
    assert "judge scripted-judge" in words(report.show_stamps(page))


def test_the_baseline_is_shown_under_the_same_judge_with_the_paired_change(tmp_path: Path) -> None:
    old = judged_run(tmp_path, spread({4: 20}), name="old")
    new = judged_run(tmp_path, spread({3: 20}))

    shown = report.show_dimensions(page_of(tmp_path, new, old))

    assert "tone fell" in words(shown)
    assert re.search(r"change −1\.00 \(−1\.\d\d to −0\.\d\d\)", words(shown))
    assert "beyond noise" in words(shown)
    assert "baseline 4.00 (3.68 to 4.00)" in shown.markup


def test_a_baseline_under_another_judge_is_not_drawn_beside(tmp_path: Path) -> None:
    old = judged_run(tmp_path, spread({4: 20}), name="old", digest="judge-0", model="judge-a")
    new = judged_run(tmp_path, spread({3: 20}))

    shown = report.show_dimensions(page_of(tmp_path, new, old))

    assert "not compared: judge changed: the judge (judge-x here, judge-a in" in words(shown)
    assert "baseline 4.00" not in shown.markup
    assert "fell" not in words(shown)


def test_the_agents_own_model_as_judge_is_said(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 20}), same_model=True)

    assert "judge = agent model" in words(report.show_dimensions(page_of(tmp_path, run)))


def test_the_verdict_gathers_clauses_that_wait_for_trust(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 20}))
    judge(run, spread({2: 20}), name="care", digest="judge-2")
    page = page_of(tmp_path, run, bar="mean: {default: 3.3}\nnever: {tone: 1}\n")

    said = words(report.show_verdict(page))

    assert (
        "three judged clauses : the judge is never calibrated; with trust mean care would fail, "
        "mean tone and never tone would pass."
    ) in said


# 6. preferences


def test_preferences_show_ties_flips_the_noise_and_the_claim(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 60), name="old")
    new = prefer(
        make_run(tmp_path, passes(60, 60), name="new"), results(27, 10, 23), flipped=["case-030"]
    )
    bar = "win_rate: {outcome: {margin: measured, max_margin: 0.2}}\n"

    shown = report.show_preferences(page_of(tmp_path, new, old, bar))

    said = words(shown)
    assert said.startswith("Against the baseline: no preference shown")
    assert "27 won, 10 tied, 23 lost in 60 pairs" in said
    assert "the order of showing changed 1 of 60" in said
    assert "is not ruled out" in said
    assert "10,000 draws, seed 0" in said
    assert "preferences: not calibrated" in said
    assert "✓ pass" in said
    assert "noise of this set: ±0.1" in shown.markup
    assert f"win rate {win_rate(27, 10, 23).text()}" in shown.markup


def test_a_run_that_was_judged_but_not_compared_says_so(tmp_path: Path) -> None:
    old = judged_run(tmp_path, spread({4: 20}), name="old")
    new = judged_run(tmp_path, spread({4: 20}))

    assert words(report.show_preferences(page_of(tmp_path, new, old))) == (
        "Win rate: this run was not compared with the baseline pair by pair."
    )


# 7. trends


def history(folder: Path) -> list[Run]:
    """Five runs: another judge at the third, another rubric at the fourth, another suite last."""
    how: list[dict[str, object]] = [
        {},
        {},
        {"digest": "judge-2"},
        {"digest": "judge-3", "dimension_digest": "dimension-2"},
        {"digest": "judge-3", "dimension_digest": "dimension-2"},
    ]
    runs = []
    for at, each in enumerate(how):
        run = make_run(
            folder / "runs", passes(20, 20), name=f"r{at}", digest="b" if at == 4 else "a"
        )
        runs.append(judge(run, spread({4: 10 + at, 3: 10 - at}), **each))  # type: ignore[arg-type]
    return runs


def test_a_judged_trend_breaks_where_judge_rubric_or_suite_changed(tmp_path: Path) -> None:
    runs = history(tmp_path)

    page = read_release(runs[-1].path, history=tmp_path / "runs")

    frame = report.judged_trends_frame(page.trends)
    assert frame["what"].tolist() == ["", "", "judge changed", "rubric changed", "suite changed"]
    assert frame["series"].tolist() == [0, 0, 1, 2, 3]
    assert frame["score"].tolist() == pytest.approx([3.5, 3.55, 3.6, 3.65, 3.7])
    assert words(report.show_judged_trends(page)).startswith(
        "5 judged runs; the judge, the rubric or the suite changed 3 times"
    )


def test_no_line_is_drawn_through_a_break_and_the_bar_stands(tmp_path: Path) -> None:
    runs = history(tmp_path)
    page = read_release(
        runs[-1].path, history=tmp_path / "runs", bar=bar_file(tmp_path, "mean: {tone: 3.3}\n")
    )

    figure = draw_judged_trends(page)

    assert [len(trace.x) for trace in figure.data] == [2, 1, 1, 1]  # type: ignore[union-attr]
    texts = [str(note.text) for note in figure.layout.annotations]  # type: ignore[union-attr]
    for said in ("judge changed", "rubric changed", "suite changed", "bar 3.3"):
        assert said in texts
    low, high = figure.layout.yaxis.range  # type: ignore[union-attr]
    drawn = [value for trace in figure.data for value in trace.y]  # type: ignore[union-attr]
    assert low < min(3.3, *drawn) and max(drawn) < high < 4.2
    assert "lowest now is tone, 3.70" in figure.layout.title.text  # type: ignore[union-attr]


def test_a_mean_that_is_not_there_is_called_trusted_by_nobody(tmp_path: Path) -> None:
    run = judge(make_run(tmp_path / "runs", passes(9, 9), name="r0"), spread({None: 9}))
    page = read_release(run.path, history=tmp_path / "runs")

    said = words(report.show_judged_trends(page))

    assert "not computable: all unscored" in said
    assert "never calibrated" not in said


def test_one_judged_run_has_no_trend_to_draw(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "runs", spread({4: 5}))
    page = read_release(run.path, history=tmp_path / "runs")

    assert isinstance(draw_judged_trends(page), Html)
    assert "One judged run".lower() in words(report.show_judged_trends(page)).lower()


# 8. verdicts beside a transcript


def with_evidence(folder: Path, *, justification: str = "It says so.", quote: str = "refunded you",
                  turns: tuple[Turn, ...] | None = None) -> Run:  # fmt: skip
    """A run of one case whose judge quotes turn 1, and whose second seat finds no evidence."""
    turns = turns or (
        Turn(role="user", text="Refund me."),
        Turn(role="assistant", text="I have refunded you in full."),
    )
    run = make_run(folder, {"a": {"grounding": True}}, turns={("a", 0): turns})
    shared = {
        "layer": "grounding", "levels": (1, 2, 3, 4), "judge": "judge-1", "judge_digest": "d",
        "rubric": "made 1", "rubric_digest": "r", "dimension_digest": "g",
    }  # fmt: skip
    seats = (
        SeatRecord(seat=0, model="judge-1", score=1, status="scored", justification=justification,
                   evidence=(Evidence(turn=1, quote=quote),)),
        SeatRecord(seat=1, model="judge-1", status="unscored",
                   reason="evidence not found: there is no turn 9", evidence=(Evidence(turn=9),)),
        SeatRecord(seat=2, model="judge-1", score=1, status="scored", evidence=(Evidence(turn=1),)),
    )  # fmt: skip
    writer = run.writer()
    writer.add_judges(
        [
            JudgeStamp(
                dimension="groundedness", definition="d", anchors={1: "a"}, seats=(), wanted=1,
                at="2026-03-02T09:00:00Z", **shared,
            )
        ]
    )  # fmt: skip
    writer.add_verdicts(
        [
            VerdictRow(
                case_id="a", dimension="groundedness", score=1, status="scored", seats=seats,
                flags=("evidence_not_found", "seat_missing"), **shared,
            )
        ]
    )  # fmt: skip
    writer.close()
    return run


def test_a_transcript_shows_its_verdicts_with_the_evidence_marked(tmp_path: Path) -> None:
    page = page_of(tmp_path, with_evidence(tmp_path))

    shown = page.shown["a", 0]

    said = words(shown)
    assert "groundedness 1 on 1 to 4 · seats 1 ? 1" in said
    assert "a seat cited a turn or words that are not there" in said
    assert "judge-1: 1 “It says so.” evidence: turn 1 “refunded you”" in said
    assert "judge-1: unscored evidence not found: there is no turn 9" in said
    assert "turn 9, which is not there" in said
    assert "<mark>refunded you</mark>" in shown.markup
    assert 'href="#t-a-0-turn-1"' in shown.markup
    assert 'href="#t-a-0-turn-9"' not in shown.markup
    assert "evidence: groundedness 1" in said


def test_what_a_judge_says_is_escaped_like_what_an_agent_says(tmp_path: Path) -> None:
    run = with_evidence(tmp_path, justification=HOSTILE, quote=HOSTILE)

    page = page_of(tmp_path, run)

    markup = page.shown["a", 0].markup + report.show_dimensions(page).markup
    assert "<script>" not in markup
    assert "<img" not in markup
    assert "\u202e" not in markup


def test_verdicts_of_an_excerpt_stand_in_the_file_of_the_whole_transcript(tmp_path: Path) -> None:
    turns = tuple(
        Turn(role="user" if at % 2 == 0 else "assistant", text=f"turn {at} " + "x" * 9000)
        for at in range(8)
    )
    run = with_evidence(tmp_path, quote="turn 1", turns=turns)
    release = page_of(tmp_path, run)

    short = report.gather_release(
        run, release.summary, judged=release.judgements, files=tmp_path / "files", characters=4000
    )

    whole = next((tmp_path / "files").glob("*.html")).read_text(encoding="utf-8")
    assert "An excerpt" in short.shown["a", 0].markup
    assert "groundedness" in whole
    assert "verdict-line" in whole


# 9. reading list


def test_the_reading_list_names_what_judges_leave_to_people(tmp_path: Path) -> None:
    cases: dict[str, dict[str, bool | None]] = {
        name: {"conversation": name != "failed-high"}
        for name in ("split", "sides", "failed-high", "passed-low", "lowest", "unscored", "fine")
    }
    run = make_run(tmp_path, cases)
    judge(
        run,
        {"split": [1, 3, 4], "sides": [2, 4, 4], "failed-high": [4, 4, 4], "passed-low": [2, 2, 2],
         "lowest": [1, 1, 1], "unscored": [None, None, None], "fine": [4, 4, 4]},
    )  # fmt: skip
    page = page_of(tmp_path, run, bar="mean: {tone: 3}\nnever: {tone: 1}\n")

    found: dict[str, list[str]] = {}
    for one in report.reading.reading_list(page):
        found.setdefault(one.why, []).append(one.case_id)

    assert found == {
        "tone: scored 1, which the bar never allows": ["lowest"],
        "tone: the panel has no majority": ["split"],
        "tone: seats on both sides of the bar of 3": ["sides"],
        "tone: scored 4, but a check of conversation failed: is it the check?": ["failed-high"],
        "tone: scored low, but every check of conversation passed": ["passed-low", "lowest"],
        "tone: a seat cited a turn or words that are not there": ["unscored"],
        # The mean of five cases says little, and its interval holds the bar.
        "tone: near its bar of 3 (mean 3.00 (1.93 to 3.74)): scored 2": ["passed-low"],
    }


def test_pairs_that_the_order_decided_are_to_be_read(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(20, 20), name="old")
    new = prefer(
        make_run(tmp_path, passes(20, 20), name="new"), results(0, 20, 0), flipped=["case-003"]
    )

    said = words(report.show_reading_list(page_of(tmp_path, new, old)))

    assert "outcome: the order of showing changed which version was preferred" in said
    assert "case-003" in said


# 10. cost


def test_what_judging_took_comes_from_the_tape_of_the_run(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 3}), model="judge-1")
    with Tape(run.tape_path) as tape:
        for at in range(2):
            request = ChatRequest(
                model="judge-1", endpoint="localhost/v1",
                messages=({"role": "user", "content": str(at)},),
            )  # fmt: skip
            tape.put(
                request,
                ChatReply(
                    message={"role": "assistant", "content": "4"}, finish="stop", model="judge-1",
                    input_tokens=100, output_tokens=20, seconds=1.5,
                ),
            )  # fmt: skip

    said = words(report.show_cost(page_of(tmp_path, run)))

    assert "requests behind what is shown 3" in said
    assert "2 on the tape of this run" in said
    assert "replies from another tape 1, of unknown cost" in said
    assert "tokens 240" in said
    # A server of one's own has no price on the list: unknown, and not nought.
    assert "unless every reply says its part. Not known at all: cost." in said


# 11. coverage, 12. method


def test_coverage_counts_dimensions_and_that_nobody_labelled_them(tmp_path: Path) -> None:
    run = judged_run(tmp_path, spread({4: 8, 1: 1, None: 1}))

    said = words(report.show_coverage(page_of(tmp_path, run)))

    assert "Cases by dimension, of 10;" in said
    assert "tone 10 1 1 none" in said


def test_method_speaks_of_judges_only_where_one_was_asked(tmp_path: Path) -> None:
    judged = page_of(tmp_path, judged_run(tmp_path, spread({4: 3})))
    plain = page_of(tmp_path, make_run(tmp_path, passes(3, 3), name="plain"))

    assert "Judged mean" in words(report.show_method(judged))
    assert "Judged mean" not in words(report.show_method(plain))
    assert "Win rate" not in words(report.show_method(judged))


# marks


def test_marks_say_in_words_what_they_draw() -> None:
    columns = distribution_mark({0: 2, 1: 0, 2: 5}, unscored=1)
    band = preference_mark(win_rate(27, 10, 23), margin=0.12, old="<old>", new="new", bar=0.38)
    empty = preference_mark(Estimate.undefined("no pairs"), margin=None, old="a", new="b")

    assert 'aria-label="verdicts: 2 at 0, 0 at 1, 5 at 2, 1 unscored"' in columns.markup
    assert "noise of this set plus or minus 0.12 about one half" in band.markup
    assert "&lt;old&gt;" in band.markup
    assert "win rate not computable: no pairs" in empty.markup


def test_no_verdict_is_no_block_and_evidence_without_words_marks_nothing() -> None:
    seat = ShownSeat("j", 3, "", "", ((1, ""), (None, "words")), "")
    verdict = ShownVerdict("tone", "conversation", (1, 4), 3, "", (seat,), (), ())

    assert verdicts_block([], place="t", turns=2) is None
    assert evidence_marks([verdict]) == {}
