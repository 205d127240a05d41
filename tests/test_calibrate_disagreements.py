"""Where people and judges differ: rows, cells, notes, signs, and what measuring again takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from judged import dimension, make_judged_run, rubric, talk
from judged import said as reply
from scipy.stats import spearmanr
from verdicts import Said, judge

from agenteval_kit.calibrate import calibrate_run
from agenteval_kit.calibrate.again import recalibration
from agenteval_kit.calibrate.cells import cells_of, people_cells
from agenteval_kit.calibrate.compared import Disagreements
from agenteval_kit.calibrate.disagreements import disagreements
from agenteval_kit.calibrate.said import group_notes
from agenteval_kit.calibrate.signs import judge_signs, lengths_frame, preference_lengths
from agenteval_kit.calibrate.spread import spread_of
from agenteval_kit.errors import ConfigError
from agenteval_kit.judge import judge_run
from agenteval_kit.labels import LabelSet, LabelWriter, read_labels
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.records import PreferenceRow
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.labels import LabelRow, Review
from agenteval_kit.runs import Run
from agenteval_kit.stats.length import length_correlation
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.raters import said_of, true_shares
from agenteval_kit.testing import ScriptedServer, say

Scores = Mapping[str, int | None]
AT = "2026-03-02T10:00:00Z"


def label(rater: str, case_id: str, score: int | None, **more: Any) -> LabelRow:
    fields = {"run": "run", "dimension": "tone", "levels": (1, 2, 3, 4), "at": AT, **more}
    return LabelRow(rater=rater, case_id=case_id, score=score, **fields)


def remark(rater: str, case_id: str, **more: Any) -> LabelRow:
    return LabelRow(rater=rater, case_id=case_id, run="run", at=AT, **more)


def given(people: Mapping[str, Scores], *more: LabelRow, **fields: Any) -> LabelSet:
    """Labels of raters, as they would be read from their files."""
    rows = [
        label(rater, case_id, score, **fields)
        for rater, scores in people.items()
        for case_id, score in scores.items()
    ]
    return LabelSet(None, (*rows, *more))


def run_of(folder: Path, said: Mapping[str, Said | list[Said]], **how: Any) -> Run:
    """A judged run; each case answers with ten words more than the one before it."""
    repeats = max((len(one) for one in said.values() if how.get("repeats")), default=1)  # type: ignore[arg-type]
    made = [
        talk(case_id, answer=" ".join(["word"] * (10 + 10 * at)), repeat=repeat)
        for at, case_id in enumerate(said)
        for repeat in range(repeats)
    ]
    return judge(make_judged_run(folder, made), said, **how)


def cases(scores: Sequence[int | None]) -> dict[str, int | None]:
    return {f"c{at:02d}": score for at, score in enumerate(scores)}


def found_of(
    folder: Path, judged: Sequence[int | None], people: Mapping[str, Sequence[int]]
) -> Disagreements:
    run = run_of(folder, cases(judged))
    return disagreements(run, given({rater: cases(them) for rater, them in people.items()}))


# one row a transcript and dimension


def test_a_row_holds_every_score_and_the_furthest_stands_first(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"near": 3, "far": 4, "same": 2, "people": 2})
    labels = given(
        {
            "anna": {"near": 2, "far": 1, "same": 2, "people": 2},
            "ben": {"near": 3, "far": 2, "same": 2, "people": 1},
        }
    )

    frame = disagreements(run, labels).frame()

    # Judge minus the mean of the people: 4 - 1.5, 3 - 2.5, 2 - 1.5; all the same is no row.
    assert frame["case_id"].tolist() == ["far", "near", "people"]
    assert frame["difference"].tolist() == [2.5, 0.5, 0.5]
    assert frame["humans"].tolist() == ["anna 1, ben 2", "anna 2, ben 3", "anna 2, ben 1"]
    assert frame["people_differ"].tolist() == [True, True, True]
    assert frame["seats"].tolist() == ["4", "3", "2"]
    assert frame["justification"].unique().tolist() == ["It says so."]
    assert frame["judge_digest"].unique().tolist() == ["judge-1"]


def test_a_changed_mind_and_a_label_taken_back_are_read_from_the_files(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"c0": 4, "c1": 4})
    writer = LabelWriter(tmp_path / "labels", "anna")
    writer.append([label("anna", "c0", 1), label("anna", "c0", 4), label("anna", "c1", 1)])
    writer.append([remark("anna", "c1", kind="undo")])
    writer.close()

    found = disagreements(run, read_labels(tmp_path / "labels"))

    assert [one.humans for one in found.compared] == [{"anna": 4}]
    assert found.rows == ()
    assert found.frame().empty


def test_what_is_no_score_is_said_and_compared_with_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"c0": 4, "c1": None, "c2": 4})
    labels = given({"anna": {"c0": None, "c1": 2, "c2": 1, "gone": 1}}, dimension_digest="older")

    found = disagreements(run, labels)

    assert [one.case_id for one in found.rows] == ["c2"]
    assert found.compared[0].judge is None
    assert found.warnings == (
        'compared with nothing: 1 label of "cannot tell"',
        "not in the run run: 1 labelled transcript",
        "some labelled transcripts were not drawn from the run: shares leave them out where "
        "others were, and else are of these transcripts, and not of the run",
        "tone: 3 labels were given under another wording: no other is there, so these are shown",
    )
    spread = spread_of(found, "tone")
    assert (spread.labelled, spread.unscored, spread.differs.n) == (2, 1, 1)


def test_without_a_judge_people_are_compared_with_each_other(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0"), talk("c1")])
    labels = given({"anna": {"c0": 1, "c1": 2}, "ben": {"c0": 4, "c1": 2}})

    found = disagreements(run, labels)

    assert [one.case_id for one in found.rows] == ["c0"]
    assert found.rows[0].difference is None
    assert found.scales["tone"].levels == (1, 2, 3, 4)
    assert cells_of(found, "tone") == ()
    assert [(one.low, one.high, one.pairs) for one in people_cells(found, "tone")] == [(1, 4, 1)]
    assert found.warnings[-1] == "tone: no judge scored it; people are compared with each other"


def test_an_overruled_verdict_is_listed_and_counted_nowhere(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"c0": 4, "c1": 4})
    answers = [
        label("anna", "c1", 1, kind="review", note="It was never refunded.",
              review=Review(judge_digest="judge-1", verdict=4, answer="overrule")),
        label("anna", "c0", 4, kind="review",
              review=Review(judge_digest="judge-1", verdict=4, answer="confirm")),
    ]  # fmt: skip

    found = disagreements(run, given({"ben": {"c0": 4}}, *answers))

    assert [row.case_id for row in found.overruled] == ["c1"]
    assert found.rows == ()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            {"dimensions": ["tune"]},
            'nobody labelled "tune"; labelled are tone. Did you mean "tone"?',
        ),
        (
            {"judges": {"tone": "judge-2"}},
            'no judge judge-2 on "tone"; there is judge-1. Did you mean "judge-1"?',
        ),
    ],
)  # fmt: skip
def test_a_name_that_is_not_there_is_refused(
    tmp_path: Path, how: dict[str, Any], words: str
) -> None:
    run = run_of(tmp_path, {"c0": 4})

    with pytest.raises(ConfigError) as error:
        disagreements(run, given({"anna": {"c0": 1}}), **how)

    assert str(error.value) == words


def test_labels_of_another_run_or_another_scale_are_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"c0": 4})

    with pytest.raises(ConfigError) as other:
        disagreements(run, given({"anna": {"c0": 1}}, run="run-7"))
    with pytest.raises(ConfigError, match="none of its labels says a level"):
        disagreements(run, given({"anna": {"c0": None}}))
    with pytest.raises(ConfigError) as text:
        disagreements(run, given({"anna": {"c0": 1}}, transcript_digest="another"))
    with pytest.raises(ConfigError) as scale:
        disagreements(run, given({"anna": {"c0": 6}}, levels=()))

    assert str(other.value) == (
        "there is no label with a score of run run; the labels are of run-7. See `agenteval label`."
    )
    assert str(text.value) == (
        "there is no label with a score of run run; 1 label is of a transcript that reads "
        "otherwise or is not there. See `agenteval label`."
    )
    assert str(scale.value) == (
        'labels of "tone" say 6, but the scale is 1, 2, 3, 4. They were given on another scale: '
        "leave them out, or judge again with the rubric that the raters read."
    )


def test_the_evidence_is_that_of_the_seats_that_gave_the_score(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0", answer="Refunded: 79.00 GBP, as you asked.")])
    scale = rubric(dimension("tone", panel=3, evidence={"kind": "quote"}))
    replies = {
        "one": reply(4, quote="79.00 GBP"),
        "two": reply(4, quote="as you asked"),
        "odd": reply(1, quote="Refunded"),
    }
    with ScriptedServer(lambda asked: say(replies[asked.body["model"]])) as server:
        seats = [OpenAIModel(name, base_url=server.base_url) for name in replies]
        judge_run(run, scale, seats)

    row = disagreements(run, given({"anna": {"c0": 2}})).rows[0]

    assert (row.judge, row.difference) == (4, 2)
    assert [(one.turn, one.quote) for one in row.evidence] == [
        (1, "79.00 GBP"),
        (1, "as you asked"),
    ]
    assert row.verdict is not None
    assert row.verdict.flags == ("panel_disagreement",)


# cells


def test_cells_are_ordered_by_share_times_distance(tmp_path: Path) -> None:
    # Ten transcripts: three times person 3 and judge 4 (3 x 1), twice person 1 and judge 4 (2 x 3).
    found = found_of(
        tmp_path, [4] * 5 + [2] * 5, {"anna": [3, 3, 3, 1, 1, 2, 2, 2, 2, 2]}
    )  # fmt: skip

    first, second = cells_of(found, "tone")

    assert (first.human, first.judge, first.labels, first.steps) == (1, 4, 2, 3)
    assert (second.human, second.judge, second.labels, second.steps) == (3, 4, 3, 1)
    assert first.share.text() == wilson(2, 10).text()
    assert first.share.method == "Wilson"
    assert second.share.value == pytest.approx(0.3)
    assert first.whose == "one reader only"
    assert [one.case_id for one in first.rows] == ["c03", "c04"]


def test_two_readers_of_one_transcript_count_half_each(tmp_path: Path) -> None:
    found = found_of(tmp_path, [4, 4, 4, 4], {"anna": [1, 4, 4, 4], "ben": [4, 4, 4, 4]})

    (cell,) = cells_of(found, "tone")

    assert cell.labels == 1
    assert cell.share.value == pytest.approx(0.125)
    assert spread_of(found, "tone").differs.value == pytest.approx(0.125)
    assert spread_of(found, "tone").people.text() == wilson(1, 4).text()


def test_whose_fault_a_cell_is_is_told_by_the_second_reader(tmp_path: Path) -> None:
    judged = [4] * 12
    both_low = found_of(tmp_path / "a", judged, {"anna": [2] * 12, "ben": [2] * 11 + [3]})
    split = found_of(tmp_path / "b", judged, {"anna": [2] * 12, "ben": [4] * 12})
    half = found_of(tmp_path / "c", [4, 4], {"anna": [2, 2], "ben": [2, 4], "cleo": [4, 2]})

    misread = cells_of(both_low, "tone")[0]
    ambiguous = cells_of(split, "tone")[0]

    # Anna's twelve and ben's eleven labels of 2: each has one second reading, 2 or 3. On a scale
    # where the judge says 4, 2 is nearer to 2, and 3 as near to both.
    assert (misread.whose, misread.near_person, misread.near_judge, misread.between) == (
        "judge misreads", 22, 0, 1,
    )  # fmt: skip
    # Eleven transcripts with everybody at 2, and one where the other says 3: 11.5 of 12.
    assert misread.second.value == pytest.approx(11.5 / 12)
    assert misread.why == (
        f"{misread.second.text(percent=True)} of second readings are nearer to 2 than to the "
        "judge's 4, as near to both counting half (12 scenarios)"
    )
    assert (ambiguous.whose, ambiguous.near_person, ambiguous.near_judge) == (
        "anchor ambiguous", 0, 12,
    )  # fmt: skip
    # On each of the two transcripts one of two others agrees with a person who gave 2.
    assert cells_of(half, "tone")[0].whose == "as often as not"
    assert cells_of(half, "tone")[0].why.endswith("too few to be sure")


def test_second_readers_near_the_person_are_on_the_persons_side(tmp_path: Path) -> None:
    # Nobody gives the judge's 1, and no two people the same level: the judge stands alone.
    found = found_of(tmp_path, [1] * 20, {"anna": [3] * 20, "ben": [4] * 20})

    cells = cells_of(found, "tone")

    assert {cell.whose for cell in cells} == {"judge misreads"}
    assert spread_of(found, "tone").only == 1


def test_raters_in_another_order_give_the_same_cells(tmp_path: Path) -> None:
    judged, anna, ben = [4, 3, 2, 4, 1, 3], [3, 3, 1, 1, 1, 4], [4, 2, 2, 1, 2, 4]
    one = found_of(tmp_path / "a", judged, {"anna": anna, "ben": ben})
    other = found_of(tmp_path / "b", judged, {"ben": ben, "anna": anna})

    cells = [(cell.human, cell.judge, cell.share) for cell in cells_of(one, "tone")]
    assert cells == [(cell.human, cell.judge, cell.share) for cell in cells_of(other, "tone")]
    assert spread_of(one, "tone").differs == spread_of(other, "tone").differs
    pairs = [(cell.low, cell.high, cell.share) for cell in people_cells(one, "tone")]
    assert pairs == [(cell.low, cell.high, cell.share) for cell in people_cells(other, "tone")]


def test_a_transcript_drawn_rarely_weighs_more(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"low": 4, "high": 4})
    rows = [
        label("anna", "low", 1, design="by_judge", inclusion=1.0),
        label("anna", "high", 4, design="by_judge", inclusion=0.25),
    ]

    found = disagreements(run, LabelSet(None, tuple(rows)))
    (cell,) = cells_of(found, "tone")

    # One transcript stands for itself, the other for four: 1 of 5.
    assert cell.share.value == pytest.approx(0.2)
    assert cell.share.diag == ""
    unknown = disagreements(run, given({"anna": {"low": 1, "high": 4}}))
    assert cells_of(unknown, "tone")[0].share.diag == (
        "of these transcripts: how they were drawn is open"
    )


def test_each_score_gets_its_share_and_what_was_not_drawn_is_left_out(tmp_path: Path) -> None:
    # Twenty transcripts, 15 judged 4. Two of the 4s were labelled (one differs), two of the 1s
    # (none does), and a 4 that somebody brought in.
    run = run_of(tmp_path, cases([4] * 15 + [1] * 5))
    rows = [
        label("anna", "c00", 1, design="by_judge", inclusion=0.2),
        label("anna", "c01", 4, design="by_judge", inclusion=0.2),
        label("anna", "c15", 1, design="by_judge", inclusion=1.0),
        label("anna", "c16", 1, design="by_judge", inclusion=1.0),
        label("anna", "c02", 1, design="external"),
    ]

    found = disagreements(run, LabelSet(None, tuple(rows)))

    (cell,) = cells_of(found, "tone")
    assert cell.share.value == pytest.approx(15 / 20 * 1 / 2)
    assert cell.labels == 2
    assert cell.share.diag.startswith("1 transcript was not drawn from the run and left out")
    assert spread_of(found, "tone").differs.value == pytest.approx(0.375)
    some = disagreements(run, LabelSet(None, tuple(rows[:2])))
    assert spread_of(some, "tone").differs.value == pytest.approx(0.5)
    assert spread_of(some, "tone").differs.diag == (
        "25% of the run has a judge score without such a transcript"
    )


def test_labels_that_a_calibration_leaves_out_are_left_out_here_too(tmp_path: Path) -> None:
    run = run_of(tmp_path, cases([4] * 3))
    people = {"anna": cases([1] * 3)}
    good = [label("ben", f"c{at:02d}", 4, dimension_digest="dimension-1") for at in range(3)]
    other = given(people, *good, transcript_digest="another text")
    older = given(people, *good, dimension_digest="older")

    for labels, words in (
        (other, "3 labels are of a transcript that reads otherwise, or is not there"),
        (older, "tone: 3 labels were given under another wording: left out"),
    ):
        found = disagreements(run, labels)
        pairs = calibrate_run(run, labels, now=AT).of("tone").beside
        assert {rater for one in found.compared for rater in one.humans} == {"ben"}
        assert words in found.warnings
        assert pairs.agreement.exact.value == 1 - (spread_of(found, "tone").differs.value or 0)


def test_the_newest_of_a_label_under_two_names_of_a_run_is_compared(tmp_path: Path) -> None:
    run = run_of(tmp_path, cases([4]))
    moved = Run.open(run.path.rename(run.path.with_name("moved")))
    rows = (
        label("anna", "c00", 4, run=run.info.id, at="2026-03-09T10:00:00Z"),
        label("anna", "c00", 1, run="moved"),
    )

    (one,) = disagreements(moved, LabelSet(None, rows)).compared

    assert one.humans == {"anna": 4}


def test_repeats_of_a_case_are_one_scenario(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"c0": [4, 4, 4], "c1": [4, 4, 4]}, repeats=True)
    rows = [
        label("anna", case_id, 1 if case_id == "c0" else 4, repeat=repeat)
        for case_id in ("c0", "c1")
        for repeat in range(3)
    ]

    (cell,) = cells_of(disagreements(run, LabelSet(None, tuple(rows))), "tone")

    assert cell.labels == 3
    assert cell.share.n == 2
    assert cell.share.value == pytest.approx(0.5)
    assert "only 2 scenarios" in cell.share.diag


def test_milder_and_harsher_add_up_to_what_differs(tmp_path: Path) -> None:
    found = found_of(tmp_path, [4, 4, 1, 2], {"anna": [2, 4, 3, 2]})

    spread = spread_of(found, "tone")

    assert (spread.milder.value, spread.harsher.value, spread.differs.value) == (0.25, 0.25, 0.5)
    assert spread.people.reason == "nobody else labelled them"


# what the notes say


def test_notes_are_grouped_by_the_failure_or_word_that_most_share(tmp_path: Path) -> None:
    run = run_of(tmp_path, cases([4] * 6))
    labels = LabelSet(
        None,
        (
            label("anna", "c00", 1, note="The refund was promised before it was approved"),
            label("anna", "c01", 1, note="Promised a REFUND"),
            label("ben", "c01", 2, note="refund!"),
            label("anna", "c02", 2, note="No source for the refund."),
            label("anna", "c03", 2, note="Made-up policy"),
            label("anna", "c04", 2),
            label("anna", "c05", 2, note="Rude."),
            remark("anna", "c03", kind="failure", failure="invented rule"),
            remark("anna", "c05", kind="failure", failure="Invented  rule"),
        ),
    )

    shared = group_notes(disagreements(run, labels).rows)

    refund, invented = shared.groups
    assert (refund.word, refund.kind) == ("refund", "word")
    assert sorted(one.case_id for one in refund.rows) == ["c00", "c01", "c02"]
    assert refund.also == ("promised",)
    assert (invented.word, invented.kind) == ("invented rule", "failure")
    assert sorted(one.case_id for one in invented.rows) == ["c03", "c05"]
    assert shared.alone == ()
    assert [one.case_id for one in shared.silent] == ["c04"]
    assert shared.frame()["transcripts"].tolist() == [3, 2]


def test_notes_that_share_nothing_stand_alone(tmp_path: Path) -> None:
    run = run_of(tmp_path, cases([4, 4]))
    labels = LabelSet(
        None, (label("anna", "c00", 1, note="Too curt"), label("anna", "c01", 1, note="Wrong sum"))
    )

    shared = group_notes(disagreements(run, labels).rows)

    assert shared.groups == ()
    assert len(shared.alone) == 2


# signs


def test_panels_and_lost_evidence_are_rates_over_all_verdicts(tmp_path: Path) -> None:
    said: dict[str, Any] = {
        "c0": [4, 4, 4],
        "c1": [4, 4, 1],
        "c2": [4, 3, 1],
        "c3": [4, None, None],
    }
    run = run_of(tmp_path, said)

    (sign,) = judge_signs(run)

    # One seat alone is no panel: three are counted, two differ, one has no majority.
    assert sign.verdicts == 4
    assert sign.disagreement.text() == wilson(2, 3).text()
    assert sign.split.text() == wilson(1, 3).text()
    # One of three seats decides nothing, and no majority neither.
    assert sign.unscored.text() == wilson(2, 4).text()
    assert sign.evidence_lost.text() == wilson(1, 4).text()
    single = judge_signs(run_of(tmp_path / "one", {"c0": 4}))[0]
    assert single.disagreement.reason == "one seat only"


def test_length_is_held_against_the_judge_and_against_people(tmp_path: Path) -> None:
    # The judge gives more to longer answers; people give the shortest the most.
    judged, anna = [1, 1, 2, 2, 3, 3, 4, 4, 4, 4], [4, 4, 4, 3, 3, 3, 2, 2, 1, 1]
    found = found_of(tmp_path, judged, {"anna": anna})

    (sign,) = judge_signs(found.run, found)
    frame = lengths_frame(found)

    words = list(range(10, 110, 10))
    assert sorted(frame["words"]) == words
    assert sign.length.judge.value == pytest.approx(spearmanr(judged, words)[0])
    assert sign.length.people.value == pytest.approx(spearmanr(anna, words)[0])
    assert sign.length.judge_same.value == pytest.approx(sign.length.judge.value)
    apart = [one - other for one, other in zip(judged, anna, strict=True)]
    assert sign.length.apart.value == pytest.approx(spearmanr(apart, words)[0])
    assert sign.length.apart.low is not None
    assert sign.length.apart.low > 0


def test_a_judge_that_gives_one_level_goes_by_nothing(tmp_path: Path) -> None:
    found = found_of(tmp_path, [1] * 6, {"anna": [1, 2, 2, 3, 4, 4]})

    (sign,) = judge_signs(found.run, found)

    assert sign.length.judge.reason == "no variation: all scores are equal"
    assert sign.length.apart.reason == "the judge gave 1 to all 6"
    assert sign.length.people.value is not None


def test_a_win_rate_by_length_is_read_from_the_preferences(tmp_path: Path) -> None:
    old = make_judged_run(tmp_path, [talk(f"c{at}", answer="a b c") for at in range(6)], name="old")
    new = make_judged_run(
        tmp_path, [talk(f"c{at}", answer="word " * (at + 1)) for at in range(6)], name="new"
    )  # fmt: skip
    writer = new.writer()
    writer.add_preferences(
        PreferenceRow(
            case_id=f"c{at}", criterion="helps", layer="outcome", old="old", new="new",
            outcome="new" if at > 2 else "old", judge="judge-x", judge_digest="d",
            by="code" if at == 5 else "judge",
        )
        for at in range(6)
    )  # fmt: skip
    writer.close()

    bias = preference_lengths(new, old)["helps by judge-x"]

    # Five pairs are left: lost where shorter (1, 2, 3 words), won where longer (4, 5).
    assert bias.n == 5
    assert bias.shorter.value == 0.0
    assert bias.longer.value == 1.0
    with pytest.raises(ConfigError, match="was not compared with new"):
        preference_lengths(new, new)


# Spearman with an interval


def test_the_rank_correlation_is_scipys_with_ties_and_missing_values() -> None:
    scores = [1, 2, 2, 4, None, 3, 4, 1, 2, 3]
    words = [10, 20, 20, 40, 50, 35, None, 12, 33, 20]
    kept = [(a, b) for a, b in zip(scores, words, strict=True) if a is not None and b is not None]
    wanted = spearmanr([a for a, _ in kept], [b for _, b in kept])[0]

    found = length_correlation(scores, words)

    assert found.value == pytest.approx(wanted)
    assert found.n == 8
    assert found.diag == "2 left out: no score or no length; only 8 scenarios"
    assert length_correlation(scores, words) == found
    assert length_correlation(scores, words, seed=1) != found


@pytest.mark.parametrize(
    ("scores", "words", "reason"),
    [
        ([], [], "n = 0"),
        ([3], [10], "n = 1"),
        ([3, 3, 3, 3, 3], [1, 2, 3, 4, 5], "no variation: all scores are equal"),
        ([1, 2, 3, 4, 1], [7, 7, 7, 7, 7], "no variation: all lengths are equal"),
        ([None, None, None, None, None], [1, 2, 3, 4, 5], "n = 0"),
    ],
)
def test_a_rank_correlation_that_is_not_there_says_why(
    scores: list[int | None], words: list[int], reason: str
) -> None:
    assert length_correlation(scores, words).reason == reason


def test_repeats_widen_the_interval_of_a_rank_correlation() -> None:
    scores = [1, 4, 2, 3, 4, 2, 1, 3, 3, 4]
    words = [12, 30, 25, 20, 44, 15, 18, 28, 16, 35]
    alone = length_correlation(scores, words)
    names = [f"c{at}" for at in range(10)]

    repeated = length_correlation(scores * 5, words * 5, clusters=names * 5)
    pooled = length_correlation(scores * 5, words * 5)

    assert repeated.n == 10
    assert repeated.value == pytest.approx(alone.value)
    assert repeated.half_width == pytest.approx(alone.half_width, rel=0.1)
    assert pooled.half_width is not None
    assert repeated.half_width is not None
    assert pooled.half_width < 0.6 * repeated.half_width


def test_the_interval_of_a_rank_correlation_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)

    def drawn(n: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        # A skewed scale of four levels, and lengths that go with what lies under it.
        under = rng.normal(size=n)
        along = 0.5 * under + np.sqrt(0.75) * rng.normal(size=n)
        return np.digitize(under, (-1.9, -1.2, -0.2)) + 1.0, np.round(np.exp(4 + 0.4 * along))

    truth = spearmanr(*drawn(400_000))[0]
    made = [length_correlation(*drawn(50), draws=500, seed=at) for at in range(300)]

    held = sum(one.low <= truth <= one.high for one in made if one.low is not None and one.high)
    # 0.95 less two Monte Carlo errors, and less the 0.02 that resampling is known to miss.
    assert all(one.low is not None for one in made)
    assert 0.90 <= held / len(made) <= 0.985


def test_score_that_rarely_varies_gives_no_interval() -> None:
    found = length_correlation([4] * 19 + [3], list(range(20)))

    assert found.value is not None
    assert found.low is None
    assert found.reason == "36 % of the resamples show no variation"


# what measuring again takes


def test_after_a_rewrite_fresh_labels_are_counted_and_their_chance(tmp_path: Path) -> None:
    judged = [1, 2, 3, 4] * 10
    anna = judged
    ben = [1, 2, 3, 4] * 8 + [2, 3, 4, 3] * 2
    found = found_of(tmp_path, judged, {"anna": anna, "ben": ben})

    need = recalibration(found, "tone", replicates=60)

    # They agree on 32 of 40; labels at 9, 10, 11 and 10, and one more that is spread over all.
    assert need.accuracy is not None
    alike = (said_of(need.accuracy, 4) ** 2).sum(axis=0)
    truth = true_shares([9.25, 10.25, 11.25, 10.25], need.accuracy)
    assert alike @ truth == pytest.approx(0.8, abs=1e-3)
    assert need.looked_at == 40
    assert need.left == 0
    assert [n for n, _ in need.chances] == [100, 200, 400]
    assert need.labels == 200
    told = " ".join(need.lines())
    assert "what was looked at here counts as tuning: 40 labelled transcripts" in told
    assert "about 200 fresh transcripts, each read by 2" in told
    assert "this run has 0 in scenarios that nobody labelled, so run more cases" in told


def test_where_failures_are_missing_more_labels_do_not_help(tmp_path: Path) -> None:
    found = found_of(tmp_path, [4] * 60, {"anna": [4] * 59 + [3]})

    need = recalibration(found, "tone", rule=TrustRule(min_labels=20), replicates=40)

    assert need.labels is None
    assert "or more failures among them" in need.lines()[1]
    assert need.source == "people taken to be right 80 % of the time: one rater"


def test_people_who_hardly_agree_give_no_chance(tmp_path: Path) -> None:
    found = found_of(tmp_path, [1] * 8, {"anna": [1, 2, 3, 4] * 2, "ben": [2, 3, 4, 1] * 2})

    need = recalibration(found, "tone")

    assert need.accuracy is None
    assert need.chances == ()
    assert need.lines()[1] == (
        "To decide again: 100 fresh transcripts at least, each read by 2. How likely they settle "
        "it cannot be told: two people agree on 0 % of 8 transcripts, too few to take one of them "
        "for right; mend the anchors first."
    )
