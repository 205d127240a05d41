"""Judge beside people over a whole run: what labels stand for, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from labelled import BEFORE, NOW, SCALE, label, labelled_run, people_and_judge
from verdicts import judge, scored_run

from agenteval_kit.calibrate import calibrate_run, corrected_run
from agenteval_kit.calibrate.beside import Beside, judge_beside_people
from agenteval_kit.calibrate.trust import decide_trust
from agenteval_kit.labels import LabelSet, read_labels, transcript_digest
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import LabelPair
from agenteval_kit.runs import Run

EASY = {"accuracy": 0.9, "judge_accuracy": 0.9}


def pair(
    case_id: str, human: int, said: int, *, rater: str = "anna", repeat: int = 0,
    inclusion: float | None = 1.0, design: str = "by_judge",
) -> LabelPair:  # fmt: skip
    return LabelPair(
        case_id=case_id, repeat=repeat, rater=rater, human=human, judge=said,
        inclusion=inclusion, design=design,
    )  # fmt: skip


def beside(pairs: list[LabelPair], suite: Mapping[int, int] | None = None) -> Beside:
    return judge_beside_people(pairs, SCALE, suite=suite)


def test_the_gap_is_that_of_the_run_where_scenarios_were_drawn_unevenly() -> None:
    # A: three repeats, all read, the judge wrong on each. B: one of three repeats read, and right.
    pairs = [pair("A", 4, 1, rater=who, repeat=at) for at in range(3) for who in "ab"]
    pairs += [pair("B", 4, 4, rater=who, inclusion=1 / 3) for who in "ab"]

    found = beside(pairs, {1: 3, 4: 3})

    # Three of the run's six transcripts at -1 and three at 0.
    assert found.gap.value == pytest.approx(-0.5)
    assert found.agreement.exact.value == pytest.approx(0.5)


def test_the_gaps_interval_holds_the_runs_own_gap_with_repeats_and_a_draw_by_verdict() -> None:
    held = 0
    rounds = 60
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        # 150 scenarios of 1 to 5 repeats, hard ones longer; judged 1 is read always, 4 rarely.
        made: dict[tuple[str, int], tuple[int, int, int]] = {}
        for at in range(150):
            hard = rng.random() < 0.3
            for repeat in range(5 if hard else 1):
                said = 1 if rng.random() < (0.7 if hard else 0.1) else 4
                people = [4 if rng.random() < 0.8 else 3 for _ in range(2)]
                if rng.random() < 0.2:
                    people = [1, 1]
                made[f"c{at}", repeat] = (said, *people)  # type: ignore[assignment]
        truth = float(
            np.mean([(s == a) / 2 + (s == b) / 2 - (a == b) for s, a, b in made.values()])
        )
        chance = {1: 0.9, 4: 0.35}
        pairs = [
            pair(case, human, said, rater=who, repeat=repeat, inclusion=chance[said])
            for (case, repeat), (said, *people) in made.items()
            if rng.random() < chance[said]
            for who, human in zip("ab", people, strict=True)
        ]
        suite = Counter(said for said, _, _ in made.values())
        found = judge_beside_people(pairs, SCALE, suite=suite, seed=seed).gap
        assert found.low is not None and found.high is not None
        held += found.low <= truth <= found.high

    # A 90 % interval: 3 Monte Carlo errors below it is .78. By scenario it held .47 of these.
    assert held / rounds >= 0.80, held / rounds


def test_labels_that_leave_most_of_the_run_out_are_not_trusted_on_it(tmp_path: Path) -> None:
    # Every judged failure read and right, and none of the 520 passes.
    said = {f"case-{i:04d}": 1 if i < 60 else 2 if i < 120 else 4 for i in range(640)}
    run = scored_run(tmp_path, said)
    low = {case: score for case, score in said.items() if score < 4}
    labels = label(
        tmp_path / "labels", run, {"anna": low, "ben": low}, design="by_judge", inclusion=1.0
    )

    result = calibrate_run(run, labels, now=NOW)

    found = result.of("tone")
    assert found.state == "provisional"
    assert found.reason.startswith("81% of the run has a judge score without labels; ")
    assert "81% of the run has a judge score without labels" in found.notes
    one = corrected_run(run, result, pass_at=3).dimensions["tone"]
    assert one.found is not None
    assert one.found.mean.value is None
    assert one.found.pass_rate.value is None
    assert "81% of the suite" in one.found.mean.reason


def test_a_small_hole_is_said_and_does_not_decide() -> None:
    pairs = [pair(f"c{i}", 1 + i % 2, 1 + i % 2, rater=who) for i in range(120) for who in "ab"]

    found = beside(pairs, {1: 60, 2: 60, 4: 5})

    assert found.notes == ("4% of the run has a judge score without labels",)
    assert decide_trust(found, TrustRule(), looks=1).state == "trusted"


def test_an_even_draw_of_what_tuning_left_over_is_weighed_back_to_the_run() -> None:
    # Run: 20 judged 1 (half of them right), 100 judged 4 (all right). 15 of each read for tuning.
    # Of the other 90, 4 of 1 and 36 of 4 are drawn evenly: 10 % at 1, and 17 % in the run.
    even = [
        pair(f"f{i}", 1 if i < 2 else 4, 1, inclusion=1 / 3, design="uniform") for i in range(4)
    ]
    even += [pair(f"p{i}", 4, 4, inclusion=1 / 3, design="uniform") for i in range(36)]

    found = beside(even, {1: 20, 4: 100})

    assert found.agreement.exact.value == pytest.approx(20 / 120 * 0.5 + 100 / 120)


def test_labels_drawn_by_a_verdict_without_their_chance_cannot_give_trust() -> None:
    pairs = [pair(f"c{i}", 1 + i % 4, 1 + i % 4, inclusion=None) for i in range(120)]

    found = beside(pairs, dict.fromkeys(SCALE, 100))
    decided = decide_trust(found, TrustRule(raters=1), looks=1)

    assert decided.state == "provisional"
    assert decided.reason.startswith("the chances of labels drawn by a verdict are not known; ")


def test_second_readings_of_one_score_do_not_speak_for_the_run() -> None:
    pairs = [pair(f"l{i}", 1 if i % 2 else 4, 1, rater=who) for i in range(60) for who in "ab"]
    pairs += [pair(f"u{i}", 4, 4, inclusion=60 / 940) for i in range(60)]

    found = beside(pairs, {1: 60, 4: 940})
    decided = decide_trust(found, TrustRule(), looks=1)

    assert found.doubly == 60
    assert found.notes == ("94% of the run has a judge score without a second reading",)
    assert decided.state == "provisional"
    assert decided.reason.startswith("94% of the run has a judge score without a second reading; ")
    alone = decide_trust(found, TrustRule(raters=1), looks=1)
    assert "second reading" not in alone.reason


def test_second_readings_are_weighed_by_the_judges_scores_of_the_run() -> None:
    # 30 of 1 read twice, gap -1; 30 of 4, gap 0: over a run of 100 and 900, -0.1.
    pairs = [pair(f"l{i}", 4, 1, rater=who) for i in range(30) for who in "ab"]
    pairs += [pair(f"u{i}", 4, 4, rater=who, inclusion=0.1) for i in range(30) for who in "ab"]
    # A hundred more of 4 with one label each change no gap.
    pairs += [pair(f"v{i}", 4, 4, inclusion=0.1) for i in range(100)]

    found = beside(pairs, {1: 100, 4: 900})

    assert found.gap.value == pytest.approx(-0.1)
    assert found.doubly == 60


def test_even_labels_without_a_chance_weigh_as_the_draw_that_they_are() -> None:
    # 50 of a run of 1000 evenly: one in twenty, as the ten that were drawn by the verdict.
    pairs = [pair(f"u{i}", 4, 4, inclusion=None, design="uniform") for i in range(50)]
    pairs += [pair(f"j{i}", 1, 4, inclusion=0.05) for i in range(5)]
    pairs += [pair(f"k{i}", 1, 1, inclusion=0.5) for i in range(5)]

    found = beside(pairs, {4: 900, 1: 100})

    assert found.agreement.exact.value == pytest.approx(50 / 55 * 0.9 + 0.1)
    assert "50 labels drawn evenly without a chance beside it: taken to be 0.05" in found.notes


def test_high_agreement_is_not_put_down_to_one_level_where_kappa_shows_more() -> None:
    rows = [(4, 4)] * 50 + [(1, 1)] * 3 + [(2, 2)] * 2 + [(3, 2)] + [(4, 3)] * 2 + [(3, 4)] * 2

    found = beside(
        [pair(f"c{i}", h, j, rater=who) for i, (h, j) in enumerate(rows) for who in "ab"]
    )

    # Exact .92, always saying 4 would reach .87, quadratic kappa .93 (.71 to .97).
    assert found.agreement.kappa_quadratic.low == pytest.approx(0.71, abs=0.02)
    assert found.dominated(TrustRule()) == ""
    assert "what always saying 4 would reach, 0.87" in found.dominated(TrustRule(at_least=0.8))


def test_a_constant_judge_is_named_before_the_anchors(tmp_path: Path) -> None:
    people = {f"c{i:02d}": 1 + i % 4 for i in range(26)}
    run = scored_run(tmp_path, dict.fromkeys(people, 1))
    labels = label(tmp_path / "labels", run, {"anna": people, "ben": people})

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.notes[0] == (
        "a constant judge: it gave 1 to all 26 held-out transcripts; read its replies before the "
        "anchors are touched or more is labelled"
    )
    assert found.more_labels is None
    assert not any("further labels" in line and "about 74" in line for line in found.lines()[:3])


def test_labels_changed_after_a_look_count_as_they_were(tmp_path: Path) -> None:
    said, people = people_and_judge(120, judge_accuracy=0.5, seed=3)
    run = scored_run(tmp_path, said)
    folder = tmp_path / "labels"
    first = calibrate_run(run, label(folder, run, people), now=NOW)
    # Everybody goes over to the judge where they differed.
    turned = {
        rater: {case: said[case] for case in said if own[case] != said[case]}
        for rater, own in people.items()
    }
    labels = label(folder, run, turned, at="2026-03-05T09:00:00Z")

    again = calibrate_run(run, labels, now="2026-03-06T09:00:00Z", known=first.calibration)

    before, after = first.of("tone"), again.of("tone")
    many = sum(map(len, turned.values()))
    assert after.pairs == before.pairs
    assert (after.state, after.looks) == (before.state, 1)
    assert (
        f"{many} labels were changed or taken back after a look beside the judge: what was said "
        "then counts"
    ) in after.notes
    fresh = calibrate_run(run, labels, now=NOW).of("tone")
    assert fresh.agreement.exact.value == 1.0


@pytest.mark.parametrize("how", ["undone", "cannot tell", "another wording", "tuning"])
def test_a_label_that_is_dropped_after_a_look_stays(tmp_path: Path, how: str) -> None:
    run, labels = labelled_run(tmp_path, 120, raters=1, **EASY)
    first = calibrate_run(run, labels, now=NOW)
    (gone,) = [row for row in labels.labels() if row.case_id == "case-119"]
    line = {
        "undone": gone.model_copy(update={"kind": "undo", "score": None}),
        "cannot tell": gone.model_copy(update={"score": None}),
        "another wording": gone.model_copy(update={"dimension_digest": "newer"}),
        "tuning": gone.model_copy(update={"purpose": "tuning"}),
    }[how]
    more = LabelSet(None, (*labels.rows, line))

    again = calibrate_run(run, more, now=NOW, known=first.calibration).of("tone")

    assert again.pairs == first.of("tone").pairs
    assert again.looks == 1
    # Without the file that remembers the look the label is gone; the one under the wording that
    # the judge reads is heard as it is.
    fresh = calibrate_run(run, more, now=NOW).of("tone")
    assert fresh.held_out == (120 if how == "another wording" else 119)


def test_labels_under_an_earlier_name_of_the_run_are_not_taken_for_withdrawn(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 120, raters=1, **EASY)
    texts = {one.case_id: transcript_digest(one) for one in run.transcripts()}
    before = LabelSet(
        None,
        tuple(
            row.model_copy(update={"run": "name-before", "transcript_digest": texts[row.case_id]})
            for row in labels.rows
        ),
    )
    first = calibrate_run(run, before, now=NOW)

    again = calibrate_run(run, before, now=NOW, known=first.calibration).of("tone")

    assert again.pairs == first.of("tone").pairs
    assert again.held_out == 120
    assert again.notes == ("120 scenarios held out: looked at before under this wording",)


def test_a_withdrawn_label_is_left_out_and_said(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 120, raters=1, **EASY)
    first = calibrate_run(run, labels, now=NOW)
    left = LabelSet(None, tuple(row for row in labels.rows if row.case_id != "case-007"))

    again = calibrate_run(run, left, now=NOW, known=first.calibration).of("tone")

    assert again.held_out == 119
    assert "1 label that had been looked at withdrawn and left out" in again.notes


def test_deleting_lines_after_a_look_earns_no_trust(tmp_path: Path) -> None:
    said, people = people_and_judge(160, judge_accuracy=0.7, seed=5)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people)
    first = calibrate_run(run, labels, now=NOW)
    both_differ = [case for case in said if all(said[case] != own[case] for own in people.values())]
    left = tuple(row for row in labels.rows if row.case_id not in both_differ)
    known = first.calibration

    second = calibrate_run(run, LabelSet(None, left), now=NOW, known=known)
    third = calibrate_run(run, LabelSet(None, left), now=NOW, known=second.calibration)
    unseen = calibrate_run(run, LabelSet(None, left), now=NOW)
    back = calibrate_run(run, labels, now=NOW, known=third.calibration)

    assert first.of("tone").state == "provisional"
    assert unseen.of("tone").state == "trusted"
    for found in (second.of("tone"), third.of("tone")):
        assert found.state == "provisional"
        assert found.reason.startswith(
            f"{2 * len(both_differ)} labels are no longer in the files though looked at beside the "
            "judge, and nobody can tell whether for what was said: put the lines back"
        )
    assert "no longer" not in back.of("tone").reason


def test_other_people_may_stand_in_for_one_whose_labels_were_withdrawn(tmp_path: Path) -> None:
    said, people = people_and_judge(120, accuracy=0.95, judge_accuracy=0.97, raters=3)
    run = scored_run(tmp_path, said)
    folder = tmp_path / "labels"
    first = calibrate_run(
        run, label(folder, run, {who: people[who] for who in ("rater-1", "rater-2")}), now=NOW
    )
    (folder / "rater-2.jsonl").unlink()
    known = first.calibration

    gone = calibrate_run(run, read_labels(folder), now=NOW, known=known).of("tone")
    labels = label(folder, run, {"rater-3": people["rater-3"]})
    found = calibrate_run(run, labels, now=NOW, known=known).of("tone")

    assert gone.state == "provisional"
    assert gone.reason.startswith("120 labels are no longer in the files")
    assert "no longer" not in found.reason
    assert (found.state, found.looks) == ("trusted", 2)
    assert not any(pair.rater == "rater-2" for pair in found.pairs)


def test_another_reader_of_scenarios_that_were_looked_at_is_a_further_look(tmp_path: Path) -> None:
    said, people = people_and_judge(120, judge_accuracy=0.7, raters=3, seed=3)
    run = scored_run(tmp_path, said)
    folder = tmp_path / "labels"
    # Of one reader alone no judge can be trusted, and yet who looked has seen how it does.
    alone = calibrate_run(run, label(folder, run, {"rater-1": people["rater-1"]}), now=NOW)
    both = label(folder, run, {"rater-2": people["rater-2"]})
    first = calibrate_run(run, both, now=NOW, known=alone.calibration)
    third = label(folder, run, {"rater-3": people["rater-3"]})

    second = calibrate_run(run, third, now=NOW, known=first.calibration)
    again = calibrate_run(run, third, now=NOW, known=second.calibration)

    found = second.of("tone")
    assert (first.of("tone").looks, found.looks, again.of("tone").looks) == (2, 3, 3)
    assert found.agreement.kappa_quadratic.level == pytest.approx(1 - 0.05 / 12)
    assert (
        "120 labels were first given after a look at the same scenario: that makes this a further "
        "look"
    ) in found.notes
    assert len(again.calibration.looks) == 3


def test_a_prompt_written_after_the_look_has_no_held_out_labels_left(tmp_path: Path) -> None:
    # The new judge gives what one person said: its prompt may well quote the answers.
    said, people = people_and_judge(120, judge_accuracy=0.55, seed=3)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people)
    first = calibrate_run(run, labels, now=NOW)
    changed = judge(run, people["rater-1"], digest="judge-2", dimension_digest="dimension-2")

    found = calibrate_run(changed, labels, now=NOW, known=first.calibration).of("tone")

    assert (found.state, found.held_out) == ("provisional", 0)
    assert "120 scenarios tuning: looked at under another wording or prompt" in found.notes


def test_a_label_first_given_before_the_judge_does_not_become_new_by_changing_it(
    tmp_path: Path,
) -> None:
    said, people = people_and_judge(40, raters=1)
    run = scored_run(tmp_path, said)
    folder = tmp_path / "labels"
    label(folder, run, people, at=BEFORE)
    labels = label(folder, run, people)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.held_out == 20


def read_by(people: Mapping[str, Mapping[str, int]], said: Mapping[str, int]) -> list[LabelPair]:
    return [
        pair(case, human, said[case], rater=rater, design="uniform")
        for rater, own in people.items()
        for case, human in own.items()
    ]


def test_a_third_reader_who_clicks_at_random_does_not_hide_a_judge_below_the_others() -> None:
    said, people = people_and_judge(200, accuracy=0.92, judge_accuracy=0.68)
    rng = np.random.default_rng(0)
    blind = {case: int(rng.choice(SCALE)) for case in said}

    two = beside(read_by(people, said))
    three = beside(read_by({**people, "carl": blind}, said))
    rule = TrustRule(at_least=0.3)
    alone, decided = decide_trust(two, rule, looks=1), decide_trust(three, rule, looks=1)

    assert alone.state == "not trusted"
    # Over all three pairs the gap passes; over that of the two others it is what it was.
    assert three.gap.low is not None and three.gap.low > -0.1
    assert three.without == ("carl", pytest.approx(two.gap.value))
    assert decided.state == "provisional"
    assert decided.reason.startswith(
        f"without carl the gap to a second person is {two.gap.value:.2f}"
    )
    assert decide_trust(three, TrustRule(at_least=0.3, raters=1), looks=1).state == "trusted"


def test_leaving_a_reader_out_takes_no_trust_where_all_read_alike() -> None:
    said, people = people_and_judge(200, accuracy=0.9, judge_accuracy=0.9, raters=4, seed=2)

    found = beside(read_by(people, said))

    assert decide_trust(found, TrustRule(), looks=1).state == "trusted"
    assert found.without is not None and found.without[1] > -0.1


def test_a_reader_is_not_left_out_where_hardly_a_pair_is_left() -> None:
    # Anna reads all with ben; carl and ben share 20 transcripts, on which the judge is wrong.
    said, people = people_and_judge(200, accuracy=0.95, judge_accuracy=0.95, seed=1)
    few = {case: 1 + said[case] % 4 for case in list(said)[:20]}
    ben = {**people["rater-2"], **few}

    found = beside(read_by({"anna": people["rater-1"], "ben": ben, "carl": few}, said))

    assert found.without is not None
    assert found.without[0] != "anna"


def relabelled(root: Path) -> tuple[Run, LabelSet, int]:
    """A judge below people, and 40 labels of each that they then changed to what it says."""
    said, people = people_and_judge(160, accuracy=0.85, judge_accuracy=0.62, seed=5)
    run = scored_run(root, said)
    folder = root / "labels"
    label(folder, run, people)
    bad = [case for case in said if all(said[case] != own[case] for own in people.values())][:40]
    turned = {rater: {case: said[case] for case in bad} for rater in people}
    return run, label(folder, run, turned, at="2026-03-03T12:00:00Z"), 2 * len(bad)


def test_labels_changed_before_the_first_look_do_not_make_a_judge_trusted(tmp_path: Path) -> None:
    run, labels, many = relabelled(tmp_path)
    # As if nobody had said anything else before.
    alone = LabelSet(None, labels.current)

    found = calibrate_run(run, labels, now=NOW)
    again = calibrate_run(run, labels, now=NOW, known=found.calibration)

    assert calibrate_run(run, alone, now=NOW).of("tone").state == "trusted"
    for one in (found.of("tone"), again.of("tone")):
        assert (one.state, one.looks) == ("provisional", 1)
        assert one.reason.startswith(
            f"{many} labels were changed or taken back after the judge had spoken, and as first "
            "given they find it "
        )
        assert one.entry is not None
        assert (one.entry.state, one.entry.reason) == (one.state, one.reason)


def test_labels_that_were_changed_before_the_judge_spoke_are_as_they_are(tmp_path: Path) -> None:
    run, labels, _ = relabelled(tmp_path)
    early = LabelSet(
        None,
        tuple(
            row.model_copy(update={"at": "2026-03-01T12:00:00Z"}) if row.at < NOW else row
            for row in labels.rows
        ),
    )

    found = calibrate_run(run, early, now=NOW).of("tone")

    assert not any("had spoken" in note for note in found.notes)


@pytest.mark.parametrize("how", ["undone", "cannot tell", "tuning"])
def test_labels_taken_back_before_the_first_look_are_counted(tmp_path: Path, how: str) -> None:
    run, labels = labelled_run(tmp_path, 160, **EASY)
    last = [labels.current[-1]]
    update = {
        "undone": {"kind": "undo", "score": None},
        "cannot tell": {"score": None},
        "tuning": {"purpose": "tuning"},
    }[how]
    late = {"at": "2026-03-03T12:00:00Z", **update}
    more = LabelSet(None, (*labels.rows, *(row.model_copy(update=late) for row in last)))

    found = calibrate_run(run, more, now=NOW).of("tone")

    # A scenario that is called tuning takes the labels of both readers with it.
    told = "2 labels were" if how == "tuning" else "1 label was"
    assert f"{told} changed or taken back after the judge had spoken" in found.notes
    assert found.state == "trusted"
