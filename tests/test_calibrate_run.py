"""A calibration from files to words: ceiling, judge, trust, and how it is lost and mended."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from judged import dimension as made_dimension
from judged import rubric as made_rubric
from labelled import AFTER, BEFORE, NOW, SCALE, label, labelled_run, people_and_judge
from statsmodels.stats.inter_rater import cohens_kappa
from verdicts import judge, scored_run

from agenteval_kit.calibrate import (
    CalibrationResult,
    calibrate_run,
    label_next,
    read_calibration,
    write_calibration,
)
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import LabelSet, read_labels, transcript_digest, write_sample
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.records.labels import LabelRow, Review
from agenteval_kit.records.trust import trust_in
from agenteval_kit.runs import Run

EASY = {"accuracy": 0.9, "judge_accuracy": 0.9}


def test_a_judge_as_good_as_people_is_trusted_on_enough_labels(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 160, **EASY)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "trusted"
    assert found.reason.startswith("kappa_quadratic 0.9")
    assert "gap to a second person" in found.reason
    assert (found.held_out, found.looks, found.more_labels) == (160, 1, None)
    assert found.entry is not None
    assert found.entry.trust().trusted


def test_points_are_those_of_plain_pandas_and_statsmodels(tmp_path: Path) -> None:
    said, people = people_and_judge(60, raters=1, seed=4)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    mine, theirs = pd.Series(said), pd.Series(people["rater-1"])
    table = pd.crosstab(mine, theirs).reindex(index=SCALE, columns=SCALE, fill_value=0)
    assert found.agreement.exact.value == pytest.approx((mine == theirs).mean())
    assert found.agreement.kappa_quadratic.value == pytest.approx(
        cohens_kappa(table.to_numpy(), wt="quadratic").kappa
    )
    result = calibrate_run(run, labels, now=NOW)
    assert (result.confusion_frame("tone").to_numpy() == table.to_numpy()).all()


def test_two_raters_on_a_transcript_count_half_each(tmp_path: Path) -> None:
    # a: one of two agrees, b: both, c: its only label does not. (1/2 + 1 + 0) / 3.
    run = scored_run(tmp_path, {"a": 4, "b": 3, "c": 1})
    labels = label(
        tmp_path / "labels", run, {"anna": {"a": 4, "b": 3, "c": 2}, "ben": {"a": 3, "b": 3}}
    )

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.agreement.exact.value == pytest.approx(1.5 / 3)
    # a: 1/2 - 0, b: 1 - 1; c has one label.
    assert found.gap.value == pytest.approx(0.25)
    assert found.held_out == 3


def test_sampling_weights_undo_a_failure_weighted_draw(tmp_path: Path) -> None:
    # The run: 20 scored 1, 80 scored 4. Labelled: 10 of each; the judge is right on 5 of the
    # failures and on 9 of the others. Weighted: .2 x .5 + .8 x .9.
    verdicts = {f"f{i:02d}": 1 for i in range(20)} | {f"g{i:02d}": 4 for i in range(80)}
    run = scored_run(tmp_path, verdicts)
    said = {f"f{i:02d}": 1 if i < 5 else 2 for i in range(10)}
    said |= {f"g{i:02d}": 4 if i < 9 else 3 for i in range(10)}
    chance = {case: 0.5 if case[0] == "f" else 0.125 for case in said}
    labels = label(
        tmp_path / "labels", run, {"anna": said}, inclusion=chance, design="by_judge",
    )  # fmt: skip

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.agreement.exact.value == pytest.approx(0.2 * 0.5 + 0.8 * 0.9)


def test_thirty_labels_are_provisional_with_their_figures(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 30, **EASY)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert (found.state, found.more_labels) == ("provisional", 70)
    assert found.reason.startswith("30 labelled transcripts, below 100; kappa_quadratic 0.")
    assert "at 30 it is 0: the rule asks for 100" in found.chance.diag


def test_agreement_that_one_level_makes_is_spelled_out_and_not_trusted(
    root: Path, tmp_path: Path
) -> None:
    # 94 of 100 alike, and always saying 4 would give 91.
    people = {f"c{i:03d}": 4 if i < 91 else 2 for i in range(100)}
    said = {case: 4 if i < 89 or i >= 96 else 2 for i, case in enumerate(people)}
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, {"anna": people, "ben": people})

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.agreement.exact.value == pytest.approx(0.94)
    assert found.state == "provisional"
    assert found.reason.startswith("kappa_quadratic 0.")
    sentence = (
        "exact agreement 0.94 (0.88 to 0.97) is not shown to lie above what always saying 4 would "
        "reach, 0.91"
    )
    assert sentence in found.reason
    page = " ".join((root / "docs" / "calibration.md").read_text(encoding="utf-8").split())
    assert sentence in page


def test_too_few_failures_ask_for_failures_not_for_labels(tmp_path: Path) -> None:
    people = {f"c{i:03d}": 4 if i else 3 for i in range(120)}
    run = scored_run(tmp_path, dict.fromkeys(people, 4))
    labels = label(tmp_path / "labels", run, {"anna": people, "ben": people})

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "provisional"
    assert found.reason.startswith("too few failures: 1 transcript outside the commonest score")
    assert found.more_labels is None


def test_a_judge_that_errs_is_not_trusted(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 200, accuracy=0.97, judge_accuracy=0.4)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "not trusted"
    assert found.gap.high is not None and found.gap.high < -0.10


def test_one_rater_leaves_the_ceiling_unknown_unless_the_rule_accepts_it(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 150, raters=1, **EASY)

    strict = calibrate_run(run, labels, now=NOW).of("tone")
    alone = calibrate_run(run, labels, now=NOW, rule=TrustRule(raters=1)).of("tone")

    assert strict.state == "provisional"
    assert strict.reason.startswith(
        "ceiling unknown: no doubly labelled transcripts; let a second person read the same "
        f"{strict.held_out} held-out transcripts (`agenteval label RUN --rater NAME`, "
    )
    assert alone.state == "trusted"
    assert alone.reason.endswith("ceiling unknown")


def test_on_the_estimate_the_words_say_so(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 40, **EASY)
    rule = TrustRule(on="estimate", min_labels=30)

    found = calibrate_run(run, labels, now=NOW, rule=rule).of("tone")

    assert found.state == "trusted"
    assert "decided on the point, not on the bound" in found.reason


def test_trust_on_labels_from_elsewhere_says_so(tmp_path: Path) -> None:
    said, people = people_and_judge(150, **EASY)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people, design="external", inclusion=None)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "trusted"
    assert found.reason.endswith("on labels that were not drawn from the run")


def test_more_than_two_raters_have_a_gap_over_all_pairs(tmp_path: Path) -> None:
    # One transcript a scenario: J agrees with 2 of 3; of their 3 pairs 1 agrees. 2/3 - 1/3.
    run = scored_run(tmp_path, {"a": 4, "b": 4})
    each = {"anna": {"a": 4, "b": 4}, "ben": {"a": 4, "b": 4}, "carl": {"a": 3, "b": 3}}
    labels = label(tmp_path / "labels", run, each)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.gap.value == pytest.approx(1 / 3)
    assert found.beside.kappa_gap.reason == "more than two raters: see the gap in exact agreement"


def test_what_cannot_be_used_is_counted_and_said(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": None, "c": 2, "d": 3})
    folder = tmp_path / "labels"
    label(folder, run, {"anna": {"a": 4, "b": 3, "c": None, "d": 3}})
    label(folder, run, {"anna": {"zz": 2}})
    label(folder, run, {"ben": {"a": 7}}, levels=(1, 7))
    label(folder, run, {"ben": {"d": 1}}, wording="another")
    other = Run(run.path, run.info.model_copy(update={"id": "other"}))
    labels = label(folder, other, {"ben": {"c": 1}})

    result = calibrate_run(run, labels, now=NOW)

    found = result.of("tone")
    assert found.held_out == 2
    told = " | ".join(found.notes)
    assert "1 label says that it cannot be told" in told
    assert "1 label is no level of [1, 2, 3, 4]" in told
    assert "1 labelled transcript is unscored by the judge" in told
    assert "1 labelled transcript was not judged" in told
    assert "1 label was given under another wording than the judge reads" in told
    assert result.notes == ("1 label is of other runs",)


def test_a_review_is_no_blind_label(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    review = LabelRow(
        kind="review", run=run.info.id, case_id="a", dimension="tone", score=1, rater="anna",
        at=AFTER, review=Review(judge_digest="judge-1", verdict=4, answer="overrule"),
    )  # fmt: skip

    result = calibrate_run(run, LabelSet(None, (review,)), now=NOW)

    assert result.of("tone").state == "never calibrated"
    assert result.notes == ("1 review is left out: who reviews has seen the verdict",)


@pytest.mark.parametrize("judged", [True, False])
def test_without_labels_or_verdicts_nothing_is_calibrated(tmp_path: Path, judged: bool) -> None:
    run = scored_run(tmp_path, {"a": 4} if judged else {})
    if not judged:
        run = Run.open(run.path)
        (run.path / "judges.jsonl").unlink()
    said: dict[str, dict[str, int | None]] = {} if judged else {"anna": {"a": 4}, "ben": {"a": 4}}
    (tmp_path / "labels").mkdir()
    labels = label(tmp_path / "labels", run, said)

    result = calibrate_run(run, labels, now=NOW)

    found = result.of("tone")
    assert found.state == "never calibrated"
    assert found.reason == ("nobody has labelled it" if judged else "nobody has judged it")
    assert found.ceiling.known is not judged
    assert result.calibration.dimensions == ()
    assert result.calibration.looks == ()


def test_one_label_and_equal_labels_give_figures_or_reasons(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4})
    one = calibrate_run(run, label(tmp_path / "one", run, {"anna": {"a": 4}}), now=NOW).of("tone")
    same = {f"c{i}": 4 for i in range(110)}
    flat = scored_run(tmp_path, same, name="flat")
    labels = label(tmp_path / "same", flat, {"anna": same, "ben": same})

    all_equal = calibrate_run(flat, labels, now=NOW).of("tone")

    assert (one.state, one.held_out) == ("provisional", 1)
    assert one.agreement.exact.value == 1.0
    assert one.agreement.kappa_quadratic.value is None
    assert all_equal.state == "provisional"
    assert "too few failures: 0" in all_equal.reason
    assert all_equal.agreement.exact.value == 1.0


def test_an_unscored_judge_is_no_evidence(tmp_path: Path) -> None:
    cases = {f"c{i}": None for i in range(5)}
    run = scored_run(tmp_path, cases)
    labels = label(tmp_path / "labels", run, {"anna": dict.fromkeys(cases, 3)})

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "provisional"
    assert found.reason == "no held-out label with a score beside it"
    assert found.more_labels == 100


def test_an_edited_anchor_spends_what_was_held_out_and_restoring_it_restores_trust(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 160, **EASY)
    said = {row.case_id: row.score for row in run.verdict_rows()}
    first = calibrate_run(run, labels, now=NOW)
    # Labels that do not say which wording they were given under.
    unsaid = LabelSet(
        None, tuple(row.model_copy(update={"dimension_digest": ""}) for row in labels.rows)
    )
    judge(run, said, digest="judge-2", dimension_digest="dimension-2", anchor="It rings like")

    second = calibrate_run(run, unsaid, now=NOW, known=first.calibration)
    strict = calibrate_run(run, labels, now=NOW, known=first.calibration)
    back = calibrate_run(run, labels, now=NOW, known=second.calibration, judges={"tone": "judge-1"})

    assert first.of("tone").state == "trusted"
    assert second.of("tone").state == "provisional"
    assert second.of("tone").held_out == 0
    assert (
        "160 scenarios tuning: looked at under another wording or prompt" in second.of("tone").notes
    )
    assert strict.of("tone").held_out == 0
    assert "the ceiling is of labels given under another wording" in strict.of("tone").notes
    known = second.calibration.trust()
    assert trust_in("tone", "judge-1", known).trusted
    assert not trust_in("tone", "judge-2", known).trusted
    assert trust_in("tone", "judge-3", known).state == "stale"
    assert back.of("tone").state == "trusted"
    assert back.of("tone").looks == 1


def test_another_judge_on_the_same_held_out_labels_pays_for_the_look(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 160, **EASY)
    first = calibrate_run(run, labels, now=NOW)
    again = calibrate_run(run, labels, now="2026-03-05T09:00:00Z", known=first.calibration)
    said = {row.case_id: row.score for row in run.verdict_rows()}
    judge(run, said, digest="judge-2", model="judge-y")

    other = calibrate_run(run, labels, now=NOW, known=again.calibration).of("tone")

    assert again.of("tone").looks == 1
    assert len(again.calibration.looks) == 1
    assert len(again.calibration.dimensions) == 1
    assert other.looks == 2
    assert other.held_out == 160
    # The second look has 0.05 / (2 x 3), and each end of the gap as much.
    assert other.agreement.kappa_quadratic.level == pytest.approx(1 - 0.05 / 6)
    assert other.gap.level == pytest.approx(1 - 0.10 / 6)
    assert (
        "look 2 at these labels or of this judge: its intervals err at most once in 120, those of "
        "all looks together once in 13"
    ) in other.reason
    assert other.agreement.kappa_quadratic.low is not None
    assert other.agreement.kappa_quadratic.low < first.of("tone").agreement.kappa_quadratic.low


def test_another_panel_under_the_same_anchors_is_no_other_wording(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 20)
    said = {row.case_id: row.score for row in run.verdict_rows()}
    judge(run, said, digest="judge-2", dimension_digest="dimension-with-three-seats")

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.stamp is not None and found.stamp.judge_digest == "judge-2"
    assert not any("another wording" in note for note in found.notes)


def test_a_look_at_fewer_labels_than_the_rule_asks_for_is_free(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 120, **EASY)
    part = LabelSet(None, tuple(row for row in labels.rows if row.case_id < "case-060"))
    early = calibrate_run(run, part, now=NOW)

    late = calibrate_run(run, labels, now=NOW, known=early.calibration)

    assert late.of("tone").looks == 1
    assert [one.transcripts for one in late.calibration.looks] == [60, 120]


def test_labels_older_than_the_judge_are_halved_and_both_halves_kept(tmp_path: Path) -> None:
    said, people = people_and_judge(80)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people, at=BEFORE)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.held_out == 40
    halves = pd.Series([pair.half for pair in found.pairs]).value_counts()
    assert halves.to_dict() == {"held out": 80, "tuning": 80}
    assert found.entry is not None and found.entry.held_out == 40


def test_a_sample_drawn_by_the_judge_proves_that_it_is_older_than_its_labels(
    tmp_path: Path,
) -> None:
    said, people = people_and_judge(40)
    run = scored_run(tmp_path, said)
    folder = tmp_path / "labels"
    labels = label(folder, run, people, at=BEFORE)
    drawn = label_next(run, LabelSet(None, ()), now="2026-02-01T09:00:00Z").sample
    assert drawn is not None
    write_sample(folder, drawn)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.held_out == 40
    assert calibrate_run(run, LabelSet(None, labels.rows), now=NOW).of("tone").held_out == 20


def test_a_label_of_another_text_is_left_out(tmp_path: Path) -> None:
    run = scored_run(tmp_path, {"a": 4, "b": 3})
    texts = {one.case_id: transcript_digest(one) for one in run.transcripts()}
    folder = tmp_path / "labels"
    label(folder, run, {"anna": {"a": 4}}, transcript_digest=texts["a"])
    labels = label(folder, run, {"anna": {"b": 3}}, transcript_digest="another")

    result = calibrate_run(run, labels, now=NOW)

    assert result.of("tone").held_out == 1
    assert result.notes == ("1 label is of a transcript that reads otherwise, or is not there",)


def test_tuning_labels_never_carry_trust(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 160, **EASY)
    rows = tuple(row.model_copy(update={"purpose": "tuning"}) for row in labels.rows)

    found = calibrate_run(run, LabelSet(None, rows), now=NOW).of("tone")

    assert found.held_out == 0
    assert found.state == "provisional"
    assert found.ceiling.doubly == 160


def test_a_judge_changed_while_people_disagree_is_warned_of(tmp_path: Path) -> None:
    said, people = people_and_judge(120, accuracy=0.5, judge_accuracy=0.5)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people)
    first = calibrate_run(run, labels, now=NOW)
    judge(run, said, digest="judge-2", model="judge-y")

    found = calibrate_run(run, labels, now=NOW, known=first.calibration).of("tone")

    assert first.of("tone").ceiling.state == "rubric ambiguous"
    assert found.notes[0] == (
        "the judge was changed (judge-x to judge-y) while the anchors were not settled: rubric "
        "ambiguous; mend the anchors first and the judge last"
    )


@pytest.mark.parametrize("revised", [True, False])
def test_a_dimension_that_two_revisions_did_not_mend_is_for_people(
    tmp_path: Path, revised: bool
) -> None:
    # Not revised: the anchors stay, and only the prompt or the panel gives another digest.
    known: Calibration | None = None
    for revision in range(3):
        wording = f"wording-{revision}"
        said, people = people_and_judge(200, accuracy=0.97, judge_accuracy=0.4, seed=revision)
        said = {f"{revision}-{case}": score for case, score in said.items()}
        run = scored_run(
            tmp_path, said, name=f"run-{revision}", digest=f"j{revision}",
            dimension_digest=wording, anchor=f"{revision}: it sounds like" if revised else "Like",
        )  # fmt: skip
        renamed = {
            rater: {f"{revision}-{case}": score for case, score in own.items()}
            for rater, own in people.items()
        }
        labels = label(tmp_path / f"labels-{revision}", run, renamed, wording=wording)
        result = calibrate_run(run, labels, now=NOW, known=known)
        known = result.calibration

    assert result.of("tone").state == "not trusted"
    told = (
        "not trusted after 2 revisions of the anchors: let people score this dimension instead "
        "of a judge"
    )
    assert (told in result.of("tone").notes) is revised


def test_a_run_that_is_calibrated_again_does_not_hide_what_was_found_on_another_since(
    tmp_path: Path,
) -> None:
    judge_said, people = people_and_judge(30)
    first = scored_run(tmp_path, judge_said, name="first")
    second = scored_run(tmp_path, judge_said, name="second")
    one = label(tmp_path / "labels", first, people)
    before = calibrate_run(first, one, now=NOW)
    both = label(tmp_path / "labels", second, people)
    since = calibrate_run(second, both, now=NOW, known=before.calibration)

    # The labels of the other run give the set another digest, and say nothing of this one.
    again = calibrate_run(first, both, now=NOW, known=since.calibration).calibration
    more = label(tmp_path / "labels", first, {"rater-3": people["rater-1"]})
    told = calibrate_run(first, more, now=NOW, known=again).calibration

    names = [run.info.id for run in (first, second)]
    assert [names.index(entry.run) for entry in again.dimensions] == [0, 1]
    assert [names.index(entry.run) for entry in told.dimensions] == [0, 1, 0]


def test_the_rubric_as_it_stands_now_is_held_against_the_judged_wording(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 20)
    rubric = made_rubric(made_dimension("tone"), made_dimension("depth"))

    result = calibrate_run(run, labels, now=NOW, rubric=rubric)

    assert "tone reads otherwise in the rubric now than when it was judged" in (
        result.of("tone").notes
    )
    assert result.of("depth").state == "never calibrated"


def test_names_that_are_not_there_are_refused_with_the_nearest(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 4)

    with pytest.raises(ConfigError, match=r'dimension "tonne" was neither.*"tone"'):
        calibrate_run(run, labels, now=NOW, dimensions=["tonne"])
    with pytest.raises(ConfigError, match=r'no judge judge-9 on "tone"; there is judge-1'):
        calibrate_run(run, labels, now=NOW, judges={"tone": "judge-9"})
    with pytest.raises(ConfigError, match=r'"tonne" was neither judged nor labelled'):
        calibrate_run(run, labels, now=NOW).of("tonne")


def test_a_calibration_is_written_whole_and_read_back_equal(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 30)
    run = Run(run.path, run.info.model_copy(update={"data_note": "SCRIPTED for a test"}))
    result = calibrate_run(run, labels, now=NOW)
    path = tmp_path / "calibrations" / "first.json"

    write_calibration(path, result.calibration)

    back = read_calibration(path)
    unsealed = tuple(one.model_copy(update={"seal": ""}) for one in back.dimensions)
    assert back.model_copy(update={"dimensions": unsealed, "seal": ""}) == result.calibration
    assert (result.calibration.name, result.calibration.note) == ("labels", "SCRIPTED for a test")
    entry = read_calibration(path).dimensions[0]
    assert entry.ceiling["exact"].value == result.of("tone").ceiling.agreement.exact.value
    assert set(entry.agreement) == {
        "exact", "within_one", "kappa_quadratic", "ac2_quadratic", "alpha",
    }  # fmt: skip
    assert "by chance" in entry.agreement["within_one"].diag
    with pytest.raises(ConfigError, match="there is no calibration yet"):
        read_calibration(tmp_path / "nowhere.json")
    path.write_text('{"name": "x", "trusted": true}\n')
    with pytest.raises(ConfigError, match='unknown key "trusted"'):
        read_calibration(path)


def test_words_and_tables_say_the_ceiling_before_the_judge(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 30)
    result = calibrate_run(run, labels, now=NOW)

    lines, frame = result.lines(), result.agreement_frame()

    assert lines[0].startswith("tone: ") and "people agree exactly on" in lines[0]
    assert lines[1].startswith("judge judge-x with people on 30 held-out transcripts")
    assert lines[3].startswith("provisional: 30 labelled transcripts, below 100; ")
    assert list(frame["statistic"]) == [
        "exact", "within one", "quadratic kappa", "Gwet's AC2", "Krippendorff's alpha",
    ]  # fmt: skip
    assert frame.columns.get_loc("people") < frame.columns.get_loc("judge")
    # 30 labels leave kappa and the gap open: more than the 70 that the least number asks for.
    assert result.frame().loc[0, "more_labels"] == result.of("tone").more_labels
    assert result.of("tone").more_labels > 70
    assert len(result.ceiling_frame()) == 5
    hostile = CalibrationResult(result.calibration, result.dimensions, ("<script>",))
    assert "<script>" not in hostile._repr_html_()


def test_reading_the_file_of_labels_again_gives_the_same_calibration(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 40)

    one = calibrate_run(run, labels, now=NOW)
    other = calibrate_run(run, read_labels(tmp_path / "labels"), now=NOW)

    assert one.calibration == other.calibration


def test_a_calibration_is_named_by_its_labels_from_within_their_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = labelled_run(tmp_path, 40)
    monkeypatch.chdir(tmp_path / "labels")

    made = calibrate_run(run, read_labels(Path(".")), now=NOW)

    assert made.calibration.name == "labels"


def test_labels_that_do_not_say_which_text_was_read_are_counted_beside_trust(
    tmp_path: Path,
) -> None:
    said, people = people_and_judge(20, raters=1)
    run = scored_run(tmp_path, said)
    texts = {one.case_id: transcript_digest(one) for one in run.transcripts()}
    for case, text in list(texts.items())[:18]:
        one = {"rater-1": {case: people["rater-1"][case]}}
        label(tmp_path / "labels", run, one, transcript_digest=text)
    labels = label(
        tmp_path / "labels", run, {"rater-1": {c: people["rater-1"][c] for c in list(texts)[18:]}}
    )

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.entry is not None
    assert (found.held_out, found.entry.untold) == (20, 2)
    assert found.notes[-1].startswith("2 held-out labels do not say which text was read: ")
    assert found.entry.notes == found.notes


def test_pairs_keep_the_wording_that_the_person_read(tmp_path: Path) -> None:
    said, people = people_and_judge(20, raters=1)
    run = scored_run(tmp_path, said)
    (one, *others), mine = list(said), people["rater-1"]
    label(tmp_path / "labels", run, {"rater-1": {case: mine[case] for case in others}})
    labels = label(tmp_path / "labels", run, {"rater-1": {one: mine[one]}}, wording="older")

    found = calibrate_run(run, labels, now=NOW)

    pairs = {pair.case_id: (pair.dimension_digest, pair.half) for pair in found.of("tone").pairs}
    assert pairs.pop(one) == ("older", "tuning")
    assert set(pairs.values()) == {("dimension-1", "held out")}


def test_a_file_that_did_not_keep_the_wording_is_read_and_what_changed_since_is_open(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 20, raters=1)
    first = calibrate_run(run, labels, now=NOW).calibration
    (entry,) = first.dimensions
    bare = tuple(pair.model_copy(update={"dimension_digest": ""}) for pair in entry.pairs)
    older = first.model_copy(update={"dimensions": (entry.model_copy(update={"pairs": bare}),)})
    known = read_calibration(write_calibration(tmp_path / "older.json", older))
    case = entry.pairs[0].case_id
    other = 1 if entry.pairs[0].human != 1 else 2
    changed = label(tmp_path / "labels", run, {"rater-1": {case: other}})

    found = calibrate_run(run, changed, now=NOW, known=known).of("tone")

    kept = {pair.case_id: pair.dimension_digest for pair in found.pairs}
    assert kept.pop(case) == ""
    assert set(kept.values()) == {"dimension-1"}
    assert (
        "1 of them was looked at before a calibration kept under which wording a label was given"
    ) in found.notes
