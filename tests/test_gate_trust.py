"""The gate and people: flags that labels resolve, who outvotes whom, and what trust goes stale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from people import calibrated, label, labelled
from verdicts import Said, judge, scored_run, spread, trusted

from agenteval_kit.calibrate import read_calibration, write_calibration
from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import ClauseRow, Decision, Known, decide, read_known
from agenteval_kit.labels import transcript_digest
from agenteval_kit.records import Bar
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.records.trust import DimensionTrust
from agenteval_kit.runs import Run

FINE: dict[str, Said] = {f"c{number}": [4, 4, 4] for number in range(80)}


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


def row_of(decision: Decision, clause: str) -> ClauseRow:
    (found,) = [row for row in decision.rows if row.clause == clause]
    return found


# flags


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (None, "REVIEW"),
        ({}, "SHIP"),
        ({"score": None}, "REVIEW"),
        ({"dimension": "care"}, "REVIEW"),
        ({"repeat": 1}, "REVIEW"),
        ({"run": "another"}, "REVIEW"),
        ({"dimension_digest": "older"}, "REVIEW"),
        ({"dimension_digest": ""}, "SHIP"),
    ],
)
def test_a_label_on_that_transcript_and_dimension_resolves_its_flag(
    tmp_path: Path, told: dict[str, object] | None, verdict: str
) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    rows = [label(run, "odd", 3).model_copy(update=told)] if told is not None else []
    bar = bar_of(mean={"tone": 2.5})

    decision = decide(run, bar, trust=trusted("tone"), labels=labelled(tmp_path / "labels", rows))

    assert decision.verdict == verdict


def test_the_row_says_how_many_flags_were_resolved_and_by_whom(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2], "split": [4, 3, 2], "left": [4, 2, 4]})
    rows = [label(run, "odd", 3), label(run, "odd", 4, rater="ben"), label(run, "split", 3)]
    labels = labelled(tmp_path / "labels", rows)

    row = row_of(
        decide(run, bar_of(mean={"tone": 2.5}), trust=trusted("tone"), labels=labels), "open_flags"
    )

    assert (row.status, row.ids) == ("cannot tell", ("left",))
    assert row.reason == (
        "1 with seats on both sides of 2.5 (tone): a person has to read these; "
        "2 flagged verdicts were resolved by a label (ana 2, ben 1)"
    )


def test_a_label_of_an_older_wording_is_counted_and_not_heard(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    labels = labelled(tmp_path / "labels", [label(run, "odd", 3, dimension_digest="older")])

    row = row_of(
        decide(run, bar_of(mean={"tone": 2.5}), trust=trusted("tone"), labels=labels), "open_flags"
    )

    assert row.reason.endswith("1 label was given under an older wording and not heard (tone)")


def test_a_label_under_the_same_words_of_another_panel_is_heard(tmp_path: Path) -> None:
    # Another panel or prompt gives the dimension another digest; a person reads the same.
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    judge(run, {**FINE, "odd": [4, 4, 2]}, digest="judge-2", dimension_digest="dimension-2")
    rows = [label(run, "odd", 3, dimension_digest="dimension-1")]
    labels = labelled(tmp_path / "labels", rows)

    row = row_of(
        decide(run, bar_of(mean={"tone": 2.5}), trust=trusted("tone"), labels=labels), "open_flags"
    )

    assert "1 flagged verdict was resolved by a label (ana 1)" in row.reason


def test_a_label_of_another_text_or_run_resolves_nothing_and_either_name_of_the_run_does(
    tmp_path: Path,
) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    bar = bar_of(mean={"tone": 2.5})

    def verdict(**changed: object) -> str:
        row = label(run, "odd", 3).model_copy(update=changed)
        labels = labelled(tmp_path / "labels", [row])
        (tmp_path / "labels" / "ana.jsonl").unlink()
        return decide(run, bar, trust=trusted("tone"), labels=labels).verdict

    read = transcript_digest(next(one for one in run.transcripts() if one.case_id == "odd"))
    assert verdict(transcript_digest="another text") == "REVIEW"
    assert verdict(run="another run") == "REVIEW"
    assert verdict(transcript_digest=read) == "SHIP"
    assert verdict(run=run.info.id) == "SHIP"


def test_a_review_resolves_a_flag_and_no_mean_counts_it(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    review = {"judge_digest": "judge-1", "verdict": 4, "answer": "overrule"}
    rows = [label(run, "odd", 1, kind="review", review=review)]
    bar = bar_of(mean={"tone": 2.5})

    before = decide(run, bar, trust=trusted("tone"))
    after = decide(run, bar, trust=trusted("tone"), labels=labelled(tmp_path / "labels", rows))

    assert (before.verdict, after.verdict) == ("REVIEW", "SHIP")
    assert row_of(before, "mean") == row_of(after, "mean")


@pytest.mark.parametrize("score", [99, -5, 0])
def test_what_is_no_level_of_the_scale_resolves_nothing_and_is_counted(
    tmp_path: Path, score: int
) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    labels = labelled(tmp_path / "labels", [label(run, "odd", score, levels=())])
    bar = bar_of(mean={"tone": 2.5}, never={"tone": 1})

    decision = decide(run, bar, trust=trusted("tone"), labels=labels)

    said = "1 label was no level of the scale and not heard"
    assert decision.verdict == "REVIEW"
    assert said in row_of(decision, "open_flags").reason
    assert row_of(decision, "never").status == "pass"
    assert said in row_of(decision, "never").reason


@pytest.mark.parametrize(
    ("confirmed", "judge_digest", "verdict"),
    [(4, "judge-1", "SHIP"), (3, "judge-1", "REVIEW"), (4, "judge-2", "REVIEW")],
)
def test_a_review_that_confirms_what_no_judge_said_resolves_nothing(
    tmp_path: Path, confirmed: int, judge_digest: str, verdict: str
) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    review = {"judge_digest": judge_digest, "verdict": confirmed, "answer": "confirm"}
    labels = labelled(tmp_path / "labels", [label(run, "odd", None, kind="review", review=review)])

    decision = decide(run, bar_of(mean={"tone": 2.5}), trust=trusted("tone"), labels=labels)

    said = "1 review that confirms what no judge of the run says: not heard"
    assert decision.verdict == verdict
    assert (said in decision.notes) == (verdict == "REVIEW")


def test_a_decision_says_which_labels_it_did_not_hear(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    rows = [
        label(run, "odd", 3, transcript_digest="another text"),
        label(run, "nowhere", 3),
        label(run, "c1", 4),
    ]
    labels = labelled(tmp_path / "labels", rows)
    bar = bar_of(mean={"tone": 2.5})

    deaf = decide(run, bar, trust=trusted("tone"))
    decision = decide(run, bar, trust=trusted("tone"), labels=labels)

    assert decision.notes == (
        "1 label of a transcript that reads otherwise, or is not there: not heard",
        "1 line of people about transcripts that the run has not: not heard",
        "2 labels do not say which text was read, and are taken to be of this run",
    )
    assert deaf.notes == ("no labels of people were there to read: nobody resolves a flag",)
    assert decide(run, bar_of(hard_layers=["outcome"])).notes == ()


def test_a_label_that_was_undone_resolves_nothing(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**FINE, "odd": [4, 4, 2]})
    undo = label(run, "odd", None, kind="undo", dimension="")
    labels = labelled(tmp_path / "labels", [label(run, "odd", 3), undo])

    assert (
        decide(run, bar_of(mean={"tone": 2.5}), trust=trusted("tone"), labels=labels).verdict
        == "REVIEW"
    )


# never


SURE, ONCE, NONE = (1, (1, 1)), (1, ()), (4, ())


@pytest.mark.parametrize(
    ("judged", "people", "status"),
    [
        (NONE, (), "pass"),
        (NONE, (1,), "cannot tell"),
        (NONE, (1, 1), "fail"),
        (NONE, (1, 3), "cannot tell"),
        (NONE, (1, 1, 3), "fail"),
        (NONE, (3, 3), "pass"),
        (ONCE, (), "cannot tell"),
        (ONCE, (1,), "fail"),
        (ONCE, (3,), "pass"),
        (ONCE, (1, 3), "cannot tell"),
        (SURE, (), "fail"),
        (SURE, (1,), "fail"),
        (SURE, (3,), "cannot tell"),
        (SURE, (3, 3), "pass"),
        (SURE, (1, 3), "cannot tell"),
    ],
)
def test_judge_and_people_at_a_level_that_is_never_allowed(
    tmp_path: Path, judged: tuple[int, Sequence[int]], people: Sequence[int], status: str
) -> None:
    score, again = judged
    run = scored_run(tmp_path, {**spread({4: 40}), "odd": score}, again={"odd": again})
    rows = [label(run, "odd", level, rater=f"p{at}") for at, level in enumerate(people)]
    labels = labelled(tmp_path / "labels", rows)

    row = row_of(
        decide(run, bar_of(never={"tone": 1}), trust=trusted("tone"), labels=labels), "never"
    )

    assert row.status == status
    assert (row.ids == ("odd",)) == (status != "pass")
    assert row.reason.startswith("people give 1 to 1 transcript (p0 to 1") == (1 in people)


@pytest.mark.parametrize("untrusted", ["review", "report", "hold"])
def test_a_person_at_that_level_is_heard_whatever_the_judge_is_worth(
    tmp_path: Path, untrusted: str
) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    bar = bar_of(never={"tone": 1}, untrusted=untrusted)
    one = labelled(tmp_path / "one", [label(run, "case-000", 1)])
    two = labelled(
        tmp_path / "two", [label(run, "case-000", 1), label(run, "case-000", 1, rater="ben")]
    )

    alone, both = (row_of(decide(run, bar, labels=each), "never") for each in (one, two))

    assert alone.effect == ("HOLD" if untrusted == "hold" else "REVIEW")
    assert "reported, not counted" not in alone.reason
    assert (both.status, both.effect) == ("fail", "HOLD")


def test_a_verdict_that_people_overruled_is_said(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {**spread({4: 40}), "odd": 1})
    labels = labelled(tmp_path / "labels", [label(run, "odd", 3)])

    row = row_of(
        decide(run, bar_of(never={"tone": 1}), trust=trusted("tone"), labels=labels), "never"
    )

    assert row.reason.startswith("no other of 41 verdicts says 1; ")
    assert row.reason.endswith("; 1 overruled by people (read by ana)")


def test_verdicts_that_stand_and_those_overruled_add_up_to_what_the_judge_said(
    tmp_path: Path,
) -> None:
    run = scored_run(tmp_path, {**spread({4: 40}), "odd": 1, "even": 1})
    labels = labelled(tmp_path / "labels", [label(run, "odd", 3)])

    row = row_of(
        decide(run, bar_of(never={"tone": 1}), trust=trusted("tone"), labels=labels), "never"
    )

    assert row.reason.startswith("1 of 42 verdicts say 1, and a single judge was asked once")
    assert row.reason.endswith("; 1 more overruled by people (read by ana)")


# trust


def states(known: Known, run: Run, rule: TrustRule | None = None) -> list[tuple[str, str]]:
    return [(one.state, one.reason) for one in known.trust(run, rule)]


def test_a_judge_that_was_calibrated_is_trusted(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    assert states(Known(calibrated()), run, TrustRule()) == [("trusted", "")]


@pytest.mark.parametrize("state", ["trusted", "provisional"])
def test_the_row_says_that_labels_do_not_say_which_text_was_read(
    tmp_path: Path, state: str
) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    known = Known(calibrated(state=state, reason="found", untold=3))

    (found,) = known.trust(run, TrustRule())
    rows = decide(run, bar_of(mean={"tone": 3}), trust=[found]).rows
    (row,) = [one for one in rows if one.trust]

    assert (
        "3 held-out labels do not say which text was read: whether it reads so in this run nobody "
        "could check"
    ) in row.reason


def test_nothing_calibrated_says_where_it_was_looked_for(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    assert states(Known(missing="tone.json is not there yet"), run) == [
        ("never calibrated", "tone.json is not there yet")
    ]
    assert states(Known(calibrated("care")), run) == [("never calibrated", "")]


def test_a_calibration_under_another_rule_is_provisional(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    assert states(Known(calibrated()), run, TrustRule(min_labels=30)) == [
        (
            "provisional",
            "calibrated under another rule; run `agenteval calibrate` with this bar",
        )
    ]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"dimension_digest": "older"}, "the wording of tone changed since it was calibrated; "),
        ({"seats": [{"model": "judge-y"}], "judge": "judge-y"},
         "the judge was judge-y when it was calibrated, and is judge-x; "),
        ({"seats": [{"model": "judge-x", "endpoint": "http://127.0.0.1:1/v1"}]},
         "the judge's server was http://127.0.0.1:1/v1 when it was calibrated, and is not noted; "),
        ({"seats": [{"model": "judge-x", "parameters": {"temperature": 1}}]},
         "the judge's parameters changed since it was calibrated; "),
        ({"seats": [{"model": "judge-x"}]},
         "the prompt, its clock or its evidence changed since; "),
    ],
)  # fmt: skip
def test_a_stale_judge_says_what_changed(
    tmp_path: Path, changed: dict[str, object], why: str
) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    assert states(Known(calibrated(digest="judge-0", **changed)), run) == [
        ("stale", f"{why}calibrated as judge judge-0; this one is judge-1")
    ]


@pytest.mark.parametrize(
    ("rubric", "wording", "state", "why"),
    [
        ("made", {"tone": "dimension-1"}, "trusted", ""),
        ("made", {"tone": "edited"}, "stale",
         "the wording of tone changed since it was judged; judge again"),
        ("made", {"care": "dimension-1"}, "stale", "the rubric has no tone any more"),
        ("another", {"tone": "dimension-1"}, "trusted", ""),
        ("another", {"care": "edited"}, "trusted", ""),
        ("another", {"tone": "edited"}, "stale",
         "the suite's rubric is another now, with other words for tone; judge again, or name "
         "made 1 in the suite"),
    ],
)  # fmt: skip
def test_an_edited_anchor_makes_verdicts_stale_before_anybody_judges_again(
    tmp_path: Path, rubric: str, wording: dict[str, str], state: str, why: str
) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    known = Known(calibrated(), rubric=rubric, wording=wording)

    assert states(known, run) == [(state, why)]


def test_a_wording_that_people_cannot_agree_on_stands_before_the_judge(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    known = Known(
        calibrated(digest="judge-0", rubric_state="rubric ambiguous", seats=[{"model": "other"}])
    )

    row = row_of(decide(run, bar_of(mean={"tone": 3.3}), trust=known.trust(run)), "mean")

    assert row.reason.startswith("rubric ambiguous; judge stale (the judge was ")


def test_of_two_judges_each_has_its_own_trust(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    judge(run, spread({4: 40}), digest="judge-2", model="judge-y")

    found = {one.judge_digest: one.state for one in Known(calibrated()).trust(run)}

    assert found == {"judge-1": "trusted", "judge-2": "stale"}


def test_of_two_runs_that_part_over_one_judge_the_run_itself_counts_and_else_the_later(
    tmp_path: Path,
) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    here, there = run.info.id, "another"

    def found(*entries: tuple[str, str]) -> DimensionTrust:
        every = [calibrated(run=name, state=state).dimensions[0] for name, state in entries]
        known = Calibration(name="made", dimensions=tuple(every))
        entry = known.of("tone", "judge-1", run=here)
        (one,) = Known(known).trust(run)
        assert entry is not None
        assert entry.state == one.state
        return one

    own = found((here, "trusted"), (there, "not trusted"))
    later = found(("older", "trusted"), (there, "not trusted"))
    alike = found((here, "trusted"), (there, "trusted"))

    assert (own.state, alike.state, later.state) == ("trusted", "trusted", "not trusted")
    assert own.note.startswith("by labels of run another the same judge is not trusted")
    assert later.reason == "by labels of run older the same judge is trusted"
    assert "labels of run" not in alike.note


def test_a_rubric_that_was_given_another_name_still_has_its_words_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_rubric(tmp_path, noted="made.yaml", stands_at="project/made.yaml")
    monkeypatch.chdir(tmp_path)
    rubric = tmp_path / "project" / "rubric.yaml"
    text = rubric.read_text(encoding="utf-8")
    rubric.write_text(text.replace("name: made", "name: renamed", 1), encoding="utf-8")

    (found,) = read_known(Run.open(run.path), calibration=tmp_path / "found.json").trust(run)

    assert found.state == "stale"
    assert found.reason == (
        "the suite's rubric is renamed now, with other words for tone; judge again, or name made 1 "
        "in the suite"
    )


def test_files_that_were_named_have_to_be_there(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))

    with pytest.raises(ConfigError) as first:
        read_known(run, calibration=tmp_path / "none.json")
    with pytest.raises(ConfigError) as second:
        read_known(run, labels=tmp_path / "none")

    assert str(first.value) == (
        f"{tmp_path / 'none.json'}: there is no such calibration; "
        "`agenteval calibrate RUN` writes one"
    )
    assert str(second.value) == f"{tmp_path / 'none'}: there is no such file or folder of labels"


def test_a_named_folder_without_a_label_is_no_folder_of_labels(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    (tmp_path / "labels").mkdir()

    with pytest.raises(ConfigError) as error:
        read_known(run, labels=tmp_path / "labels")

    assert str(error.value) == (
        f"{tmp_path / 'labels'}: holds no label; name the folder that holds them"
    )


def test_a_run_without_a_suite_here_knows_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = scored_run(tmp_path, spread({4: 40}))

    assert read_known(run) == Known()


@pytest.mark.parametrize("started_in", [".", "notebooks"])
def test_the_files_of_a_suite_are_found_from_a_project_and_from_its_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_in: str
) -> None:
    (tmp_path / "notebooks").mkdir()
    run = scored_run(tmp_path, spread({4: 40}))
    info = run.info.model_copy(update={"suite_file": "suites/made.yaml"})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "made.yaml").write_text(
        "name: made\ncalibration: ../found.json\nlabels: ../said\n", encoding="utf-8"
    )
    write_calibration(tmp_path / "found.json", calibrated())
    labelled(tmp_path / "said", [label(run, "case-000", 3)])
    monkeypatch.chdir(tmp_path / started_in)

    known = read_known(Run.open(run.path))

    assert known.calibration is not None
    assert known.calibration.trust() == calibrated().trust()
    assert known.labels is not None
    assert known.labels.raters == ("ana",)


@pytest.mark.parametrize("suite", ["data/suites/made.yaml", "suites/made.yaml", "made.yaml", None])
@pytest.mark.parametrize("started_in", [".", "notebooks", "data/suites", "../elsewhere"])
def test_labels_and_calibrations_are_those_of_the_project_wherever_it_is_asked_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str | None, started_in: str
) -> None:
    project = tmp_path / "project"
    for folder in ("data/runs", "data/suites", "suites", "notebooks", "../elsewhere/data/labels"):
        (project / folder).mkdir(parents=True)
    run = scored_run(project / "data" / "runs", spread({4: 40}))
    info = run.info.model_copy(update={"suite_file": suite})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    if suite is not None:
        (project / suite).write_text("name: made\n", encoding="utf-8")
    write_calibration(project / "data" / "calibrations" / "made.json", calibrated())
    labelled(project / "data" / "labels" / "made", [label(run, "case-000", 3)])
    monkeypatch.chdir(project / started_in)

    known = read_known(Run.open(run.path))

    assert known.calibration is not None
    assert known.labels is not None
    assert known.labels.raters == ("ana",)


def test_a_suite_of_another_name_that_stands_there_now_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = scored_run(tmp_path, spread({4: 40}))
    info = run.info.model_copy(update={"suite_file": "suite.yaml"})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    Path("suite.yaml").write_text("name: other\ncalibration: found.json\n", encoding="utf-8")
    write_calibration(Path("found.json"), calibrated())

    assert read_known(Run.open(run.path)) == Known()


@pytest.mark.parametrize(
    ("noted", "stands_at"),
    [
        ("suites/made.yaml", "project/suites/made.yaml"),
        ("made.yaml", "project/made.yaml"),
        ("made.yaml", "project/suites/made.yaml"),
        ("made.yaml", "project/data/suites/made.yaml"),
    ],
)
def test_an_edited_anchor_is_seen_from_wherever_the_run_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: str, stands_at: str
) -> None:
    run = with_rubric(tmp_path, noted=noted, stands_at=stands_at)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    (found,) = read_known(Run.open(run.path), calibration=tmp_path / "found.json").trust(run)

    assert found.state == "stale"
    assert found.reason == "the wording of tone changed since it was judged; judge again"


def test_where_the_rubric_is_not_here_a_row_that_passes_says_that_nobody_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_rubric(tmp_path, noted="gone.yaml", stands_at="far/off/made.yaml")
    monkeypatch.chdir(tmp_path)
    known = read_known(Run.open(run.path), calibration=tmp_path / "found.json")

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=known.trust(run))

    assert decision.verdict == "SHIP"
    assert row_of(decision, "mean").reason.endswith(
        "; rubric made 1 is not here: nobody could see whether it has changed"
    )


def with_rubric(tmp_path: Path, *, noted: str, stands_at: str) -> Run:
    """A trusted judge's run in project/runs; its suite's rubric says other words than it read."""
    (tmp_path / "project" / "runs").mkdir(parents=True)
    run = scored_run(tmp_path / "project" / "runs", spread({4: 40}))
    info = run.info.model_copy(update={"suite_file": noted})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    suite = tmp_path / stands_at
    suite.parent.mkdir(parents=True, exist_ok=True)
    suite.write_text("name: made\nrubric: rubric.yaml\n", encoding="utf-8")
    (suite.parent / "rubric.yaml").write_text(
        'name: made\nversion: "1"\ndimensions:\n  - name: tone\n    layer: conversation\n'
        "    definition: How it sounds now.\n    anchors:\n"
        + "".join(f"      {level}: It sounds like {level}.\n" for level in (4, 3, 2, 1)),
        encoding="utf-8",
    )
    write_calibration(tmp_path / "found.json", calibrated())
    return Run.open(run.path)


# what is shipped


def trusted_by_nobody(found: Calibration) -> list[str]:
    """Dimensions that are trusted although a script judged, or nobody labelled."""
    return [
        one.dimension
        for one in found.dimensions
        if one.state == "trusted"
        and (
            not one.seats
            or any(seat.model.startswith("scripted") for seat in one.seats)
            or not one.raters
            or any(rater.startswith("scripted") for rater in one.raters)
        )
    ]


def test_no_shipped_calibration_trusts_what_nobody_said(root: Path) -> None:
    files = sorted((root / "data" / "calibrations").glob("*.json"))
    script = calibrated(seats=[{"model": "scripted-judge-a"}], raters=["ana"])

    found = {file.name: trusted_by_nobody(read_calibration(file)) for file in files}

    assert {name: each for name, each in found.items() if each} == {}
    # What the walk would find, were it there.
    assert trusted_by_nobody(script) == trusted_by_nobody(calibrated()) == ["tone"]
    assert trusted_by_nobody(calibrated(raters=["ana"])) == []


@pytest.mark.parametrize("suite", ["support", "helpdesk"])
def test_the_judges_of_a_shipped_suite_are_trusted_by_nobody(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(root / "data" / "suites" / f"{suite}.yaml")
    tape = str(root / "data" / "tapes" / f"{suite}.jsonl")
    assert main(["run", file, "--out", "run"]) == 0
    assert main(["judge", "run", "--suite", file, "--replay", tape]) == 0

    found = read_known(Run.open(Path("run")), suite=Path(file)).trust(Run.open(Path("run")))

    assert found
    assert {one.state for one in found} <= {"never calibrated", "provisional"}


def test_a_torn_line_of_a_rater_is_said_with_the_decision(tmp_path: Path) -> None:
    run = scored_run(tmp_path, spread({4: 40}))
    labelled(tmp_path / "labels", [label(run, "case-000", 3)])
    with (tmp_path / "labels" / "ana.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"kind": "lab')
    labels = read_known(run, labels=tmp_path / "labels").labels

    decision = decide(run, bar_of(mean={"tone": 3.3}), trust=trusted("tone"), labels=labels)

    assert sum("ana.jsonl:2" in note for note in decision.notes) == 1
