"""What to label next, and whether a judge has drifted."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_run
from labelled import BEFORE, NOW, label, labelled_run, people_and_judge
from verdicts import judge, scored_run

from agenteval_kit.calibrate import anchor_drift, calibrate_run, corrected_run, label_next
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import LabelSet, read_sample, write_sample


def test_failures_come_first_while_trust_lacks_them(tmp_path: Path) -> None:
    said = {f"c{i:03d}": 4 if i < 90 else 2 for i in range(100)}
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, {"anna": {f"c{i:03d}": 4 for i in range(40)}})

    found = label_next(run, labels, now=NOW, n=12)

    assert found.sample is not None
    drawn = {one.name: one.drawn for one in found.sample.strata}
    assert drawn == {"score 1": 0, "score 2": 10, "score 3": 0, "score 4": 2}
    assert found.reasons["score 2"] == (
        "10 more, 0 of 10 labelled so far; trust asks for 10 labelled transcripts outside the "
        "commonest score"
    )
    assert {one.inclusion for one in found.sample.items} == {1.0, 2 / 50}
    assert len(found.frame()) == 12


def test_the_bar_draws_labels_to_the_scores_beside_it(tmp_path: Path) -> None:
    said, _ = people_and_judge(200, shares=(0.25, 0.25, 0.25, 0.25), accuracy=0.99)
    # People say 2 or 3 of what the judge gives a 2, and agree with it elsewhere.
    told = {
        case: (2 + index % 2 if score == 2 else score)
        for index, (case, score) in enumerate(said.items())
    }
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, {"anna": dict(list(told.items())[:80])})

    found = label_next(run, labels, now=NOW, n=20, pass_at=3)

    assert found.sample is not None
    drawn = {one.name: one.drawn for one in found.sample.strata}
    assert max(drawn, key=lambda name: drawn[name]) == "score 2"
    assert "share at 3 or more" in found.reasons["score 2"]


def test_what_is_drawn_is_not_labelled_is_not_tuning_and_depends_on_the_seed_only(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 60)
    rows = tuple(
        row.model_copy(update={"purpose": "tuning"}) if row.case_id < "case-010" else row
        for row in labels.rows
        if row.case_id < "case-030"
    )
    some = LabelSet(None, rows)

    found = label_next(run, some, now=NOW, n=10, seed=3)

    assert found.sample is not None
    cases = {one.case_id for one in found.sample.items}
    assert min(cases) >= "case-030"
    assert found == label_next(run, LabelSet(None, rows[::-1]), now=NOW, n=10, seed=3)
    assert cases != {
        one.case_id
        for one in label_next(run, some, now=NOW, n=10, seed=4).sample.items  # type: ignore[union-attr]
    }
    assert found.sample.purpose == "calibration"
    assert found.sample.apart is not None
    assert set(found.sample.apart) == {row.case_id for row in rows}
    path = write_sample(tmp_path / "labels", found.sample)
    assert read_sample(path) == found.sample


def test_its_labels_can_be_used_beside_the_first_sample(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 120, raters=1)
    truth = {row.case_id: row.score for row in labels.labels()}
    folder = tmp_path / "two"
    first = label(folder, run, {"anna": dict(list(truth.items())[:40])}, inclusion=40 / 120)
    drawn = label_next(run, first, now=NOW, n=20).sample
    assert drawn is not None
    for item in drawn.items:
        both = label(
            folder, run, {"anna": {item.case_id: truth[item.case_id]}},
            inclusion=item.inclusion, design=drawn.design, stratum=item.stratum, sample="next",
        )  # fmt: skip

    result = calibrate_run(run, both, now=NOW)

    found = result.of("tone")
    assert found.held_out == 60
    one = corrected_run(run, result).dimensions["tone"].found
    assert one is not None and one.design == "by_judge"
    # Both weigh each score of the judge by its share of the run: the same table.
    assert found.agreement.exact.value == pytest.approx(one.exact.value, abs=0.02)


def test_labels_of_one_person_ask_for_a_second(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 30, raters=1)

    found = label_next(run, labels, now=NOW, n=5)

    assert found.sample is None
    assert len(found.second) == 5
    assert "a second person on" in found.lines()[0]
    assert found.notes == ("only 0 of 5: the other judged transcripts are labelled",)
    assert found.frame().empty


def test_without_a_verdict_there_is_nothing_to_draw_by(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": None})
    (run.path / "judges.jsonl").unlink()

    with pytest.raises(ConfigError, match="holds no verdict; judge it"):
        label_next(run, LabelSet(None, ()), now=NOW)


def test_unscored_transcripts_are_not_drawn_and_said(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": None, "b": 3})

    found = label_next(run, LabelSet(None, ()), now=NOW)

    assert found.sample is not None
    assert [one.case_id for one in found.sample.items] == ["b"]
    assert "not drawn: 1 unscored transcript" in found.notes[1]


def test_a_judge_that_moved_half_a_set_down_has_drifted(tmp_path: Path) -> None:
    said = {f"c{i:02d}": 3 for i in range(40)}
    old = scored_run(tmp_path, said, name="old")
    new = scored_run(
        tmp_path, {case: 2 if i % 2 else 3 for i, case in enumerate(said)}, name="new",
        digest="judge-2", model="judge-y",
    )  # fmt: skip

    found = anchor_drift(old.verdict_rows(), new.verdict_rows(), dimension="tone")

    assert found.found.change.difference.value == pytest.approx(-0.5)
    assert found.found.exact.value == pytest.approx(0.5)
    assert found.found.drifted is True
    assert len(found.moved) == 20
    assert found.frame().loc[0].to_list() == ["c01", 0, 3, 2]
    assert found.sentence().startswith("tone, judge-x to judge-y: drifted; mean -0.5")


def test_the_same_scores_show_no_drift_and_no_overlap_compares_nothing(tmp_path: Path) -> None:
    old = scored_run(tmp_path, {f"c{i:02d}": 1 + i % 4 for i in range(40)}, name="old")
    other = scored_run(tmp_path, {f"d{i:02d}": 2 for i in range(40)}, name="other", digest="j2")

    same = anchor_drift(
        old.verdict_rows(), old.verdict_rows(), dimension="tone", again=old.verdict_rows()
    )
    apart = anchor_drift(old.verdict_rows(), other.verdict_rows(), dimension="tone")
    nothing = anchor_drift(old.verdict_rows(), [], dimension="tone")

    assert same.found.drifted is False and same.moved == ()
    assert "no drift shown" in same.sentence()
    assert "and on 100 % (91 to 100 %) asked twice before" in same.sentence()
    for one in (apart, nothing):
        assert not one.comparable
        assert "not comparable" in one.sentence() and "the trend breaks here" in one.sentence()


def test_a_judge_that_moved_every_score_is_not_said_to_have_stayed(tmp_path: Path) -> None:
    # Half of them up, half down: the mean says nothing.
    said = {f"c{i:02d}": 2 + i % 2 for i in range(50)}
    old = scored_run(tmp_path, said, name="old")
    same = scored_run(tmp_path, said, name="again")
    new = scored_run(
        tmp_path, {case: 5 - score for case, score in said.items()}, name="new", digest="judge-2"
    )

    once = anchor_drift(old.verdict_rows(), new.verdict_rows(), dimension="tone")
    twice = anchor_drift(
        old.verdict_rows(), new.verdict_rows(), dimension="tone", again=same.verdict_rows()
    )

    assert once.found.change.within_noise is True
    assert once.found.drifted is None and once.comparable
    assert "mean unchanged; mean" in once.sentence()
    assert "the same score on 0.0 % (0.0 to 7.1 %)" in once.sentence()
    assert twice.found.drifted is True
    with pytest.raises(ConfigError, match="again: verdicts of judge-2 on tone, and old has those"):
        anchor_drift(
            old.verdict_rows(), same.verdict_rows(), dimension="tone", again=new.verdict_rows()
        )


def test_two_judges_on_one_side_or_two_scales_are_refused(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 3, "b": 2})
    judge(run, {"a": 3}, digest="judge-2")
    wide = scored_run(tmp_path, {"a": 5, "b": 1}, levels=(1, 2, 3, 4, 5), name="wide")
    plain = scored_run(tmp_path, {"a": 3, "b": 2}, name="plain")

    with pytest.raises(ConfigError, match="old: verdicts of 2 judges on tone"):
        anchor_drift(run.verdict_rows(), [], dimension="tone")
    with pytest.raises(ConfigError, match="scored on two scales"):
        anchor_drift(plain.verdict_rows(), wide.verdict_rows(), dimension="tone")


def test_tuning_labels_do_not_count_as_if_they_could_carry_trust(tmp_path: Path) -> None:
    said = {f"c{i:03d}": 1 if i < 40 else 4 for i in range(200)}
    run = scored_run(tmp_path, said)
    read = [*list(said)[:15], *list(said)[100:115]]
    labels = label(
        tmp_path / "labels", run, {"anna": {case: said[case] for case in read}}, purpose="tuning"
    )

    found = label_next(run, labels, now=NOW, n=12)

    assert found.sample is not None
    assert found.reasons["score 1"] == (
        "10 more, 0 of 40 labelled so far; trust asks for 10 labelled transcripts outside the "
        "commonest score"
    )
    assert not {one.case_id for one in found.sample.items} & set(read)
    assert found.second == ()
    assert found.notes == (
        "used for tuning: 30 scenarios, not to be held out and not drawn; labels there do not "
        "count here",
    )


def test_what_everybody_could_not_tell_is_not_drawn_again(tmp_path: Path) -> None:
    said = {f"c{i:02d}": 4 for i in range(12)}
    run = scored_run(tmp_path, said)
    some = dict.fromkeys(list(said)[:9])
    labels = label(tmp_path / "labels", run, {"anna": some, "ben": {"c00": 4}})

    found = label_next(run, labels, now=NOW, n=5)

    assert found.sample is not None
    assert {one.case_id for one in found.sample.items} == {"c09", "c10", "c11"}
    assert {one.inclusion for one in found.sample.items} == {1.0}
    assert "not drawn again: 8 transcripts that nobody could tell" in found.notes


def test_repeats_of_what_cannot_be_held_out_are_not_drawn(tmp_path: Path) -> None:
    # Twenty scenarios of two repeats; the first repeat was labelled before the judge was changed.
    said = {f"c{i:02d}": [4, 3] for i in range(20)}
    run = make_run(tmp_path, {case: {} for case in said}, judge_only=said, name="run", repeats=2)
    judge(run, said, repeats=True)
    labels = label(tmp_path / "labels", run, {"anna": dict.fromkeys(said, 4)}, at=BEFORE)
    known = calibrate_run(run, labels, now=NOW).calibration
    (entry,) = known.dimensions
    tuning = {pair.case_id for pair in entry.pairs if pair.half == "tuning"}

    found = label_next(run, labels, now=NOW, n=40, known=known)

    assert len(tuning) == 10
    assert found.sample is not None
    assert {one.case_id for one in found.sample.items} == set(said) - tuning
    # What was looked at under another wording is spent for this one.
    judge(run, said, repeats=True, digest="judge-2", dimension_digest="d-2", anchor="Sounds")
    other = label_next(run, labels, now=NOW, n=40, known=known)
    assert other.sample is None


def test_labels_that_were_not_drawn_do_not_count_beside_those_that_are(tmp_path: Path) -> None:
    said = {f"c{i:03d}": 1 if i < 40 else 4 for i in range(100)}
    run = scored_run(tmp_path, said)
    picked = {f"c{i:03d}": 1 for i in range(20)}
    labels = label(tmp_path / "labels", run, {"anna": picked}, design="by_human", inclusion=None)

    found = label_next(run, labels, now=NOW, n=10)

    assert found.reasons["score 1"].startswith("10 more, 0 of 40 labelled so far; trust asks")
    assert found.sample is not None
    assert not {one.case_id for one in found.sample.items} & set(picked)
